//! The rater's form: five questions answered 1 to 5 by key or click, and a comment.

use egui::{Button, Label, RichText, Role, Sense, TextEdit, Ui, vec2};

use crate::domain::{CRITERIA, Criterion, Rating};
use crate::editor::{CANNOT_JUDGE, EditDetails};
use crate::gui::context::{Action, Context};
use crate::gui::people::rating_words;
use crate::gui::settings::Settings;
use crate::gui::widgets::{self, section};

/// Draws the tab.
pub fn rate_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails) {
    let palette = cx.palette(ui);
    rater_ui(ui, cx);
    elsewhere_ui(ui, cx);
    section(ui, palette, "Your answers");
    for (index, criterion) in CRITERIA.into_iter().enumerate() {
        question_ui(ui, cx, index, criterion);
    }
    ui.add_space(4.0);
    let keys = "1–5 answer · 0 can’t judge · ← → or Tab another question · ↓ next edit · N next unrated";
    ui.add(Label::new(RichText::new(keys).size(11.5).color(palette.text_dim.0)).wrap());
    section(ui, palette, "Comment");
    comment_ui(ui, cx);
    saved_ui(ui, cx);
    others_ui(ui, cx, details);
}

/// What the rater said in a session or under another rubric: it counts, and it is not on this form.
fn elsewhere_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let Some(rating) = &cx.state.rating.elsewhere else { return };
    let context = rating.context.as_ref();
    let asked = match context.and_then(|context| context.rubric.as_ref()) {
        Some(rubric) => format!("under “{}”", rubric.name),
        None => "under another rubric".to_owned(),
    };
    let place = if context.is_some_and(|context| context.session.is_some()) { "in a session, " } else { "" };
    let text =
        format!("You answered {place}{asked}. {}. Each of these counts until you answer the same question here.", rating_words(rating));
    ui.add(Label::new(RichText::new(text).size(12.0).color(palette.warning.0)).wrap());
}

pub fn rater_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    ui.horizontal(|ui| {
        let label = ui.label("Rater");
        let mut rater = cx.settings.rater.clone();
        let missing = cx.settings.rater.trim().is_empty();
        let room = ui.available_width() - if missing { 128.0 } else { 16.0 };
        let edit = TextEdit::singleline(&mut rater).hint_text("your name").desired_width(room.clamp(60.0, 150.0));
        let response = ui.add(edit).labelled_by(label.id).on_hover_text("Ratings are kept under this name.");
        if response.changed() {
            cx.send(Action::SetSettings(Settings { rater, ..cx.settings.clone() }));
        }
        if missing {
            ui.label(RichText::new("⚠ needed to rate").size(12.0).color(palette.warning.0));
        }
    });
}

fn question_ui(ui: &mut Ui, cx: &Context<'_>, index: usize, criterion: Criterion) {
    let palette = cx.palette(ui);
    let active = cx.state.rating.active == index;
    let fill = if active { palette.raised.0 } else { palette.panel.0 };
    let frame = egui::Frame::new().fill(fill).corner_radius(4).inner_margin(egui::Margin::symmetric(8, 5));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 4.0;
        let title = format!("{} {}", if active { "▶" } else { "   " }, criterion.name());
        let color = if active { palette.text_strong.0 } else { palette.text.0 };
        ui.horizontal(|ui| {
            let question = ui.add(Label::new(RichText::new(title).strong().color(color)).sense(Sense::click()));
            let question = question.on_hover_text(criterion.question());
            widgets::name(&question, Role::RadioButton, active, format!("Question {}", criterion.name()));
            // Tab moves between questions; the number keys answer the one that has the focus.
            if question.clicked() || question.gained_focus() {
                cx.send(Action::MarkQuestion(index));
            }
            widgets::right(ui, |ui| {
                ui.spacing_mut().item_spacing.x = 2.0;
                ui.spacing_mut().button_padding.x = 3.0;
                answer_ui(ui, cx, index, criterion, CANNOT_JUDGE);
                for answer in (1..=5u8).rev() {
                    answer_ui(ui, cx, index, criterion, answer);
                }
            });
        });
        if active {
            ui.add(Label::new(RichText::new(criterion.question()).size(12.0).color(palette.text_dim.0)).wrap());
        }
    });
}

fn answer_ui(ui: &mut Ui, cx: &Context<'_>, index: usize, criterion: Criterion, answer: u8) {
    let palette = cx.palette(ui);
    let chosen = cx.state.rating.answer(index) == Some(answer);
    let text = RichText::new(if answer == CANNOT_JUDGE { "?".to_owned() } else { answer.to_string() }).monospace();
    let button = if chosen {
        Button::new(text.color(palette.on_accent.0).strong()).fill(palette.accent.0)
    } else {
        Button::new(text).fill(palette.field.0)
    };
    let response = ui.add(button.min_size(vec2(22.0, 24.0)));
    let said = if answer == CANNOT_JUDGE { "can’t judge".to_owned() } else { answer.to_string() };
    widgets::name(&response, Role::RadioButton, chosen, format!("{} {said}", criterion.name()));
    let meaning = match answer {
        CANNOT_JUDGE => "can’t judge",
        1 => "bad",
        2 => "poor",
        3 => "fair",
        4 => "good",
        _ => "very good",
    };
    if response.on_hover_text(meaning).clicked() {
        cx.send(Action::Answer(index, answer));
    }
}

fn comment_ui(ui: &mut Ui, cx: &Context<'_>) {
    let mut comment = cx.state.rating.comment.clone();
    let edit = TextEdit::multiline(&mut comment).desired_rows(2).desired_width(f32::INFINITY).hint_text("What should others know?");
    let response = ui.add(edit);
    response.widget_info(|| egui::WidgetInfo::labeled(Role::TextInput, true, "Comment"));
    if response.changed() {
        cx.send(Action::DraftComment(comment));
    }
    if response.lost_focus() {
        cx.send(Action::SaveComment);
    }
}

/// One line of fixed height, so that saving moves nothing.
fn saved_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let draft = &cx.state.rating;
    let (text, color) = if cx.state.saving {
        ("Saving…", palette.text_dim.0)
    } else if draft.dirty {
        ("The comment is saved when you leave the field.", palette.text_dim.0)
    } else if draft.is_empty() {
        ("Every answer is saved at once.", palette.text_dim.0)
    } else if draft.is_complete() {
        ("✔ Saved, all five answered", palette.good.0)
    } else {
        ("✔ Saved", palette.good.0)
    };
    ui.label(RichText::new(text).size(12.0).color(color));
}

/// One answer of another rater; where there is none, why.
fn other_ui(ui: &mut Ui, rating: &Rating, criterion: &str) {
    match rating.values.get(criterion) {
        Some(value) => drop(ui.label(RichText::new(format!("{value}")).monospace())),
        None => {
            let unjudged = rating.context.as_ref().is_some_and(|context| context.cannot_judge.iter().any(|name| name == criterion));
            let why = if unjudged { "this rater says that it cannot be judged" } else { "this rater gave no answer" };
            ui.label(RichText::new(if unjudged { "?" } else { "–" }).monospace()).on_hover_text(why);
        }
    }
}

fn others_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails) {
    let palette = cx.palette(ui);
    let own = cx.settings.rater_name();
    let others: Vec<_> = details.ratings.iter().filter(|rating| rating.simulated || rating.rater != own).collect();
    if others.is_empty() {
        return;
    }
    section(ui, palette, "Other raters");
    egui::Grid::new("other raters").num_columns(6).spacing(vec2(8.0, 4.0)).min_col_width(30.0).show(ui, |ui| {
        ui.set_min_width(84.0);
        ui.label("");
        for criterion in CRITERIA {
            let short: String = criterion.name().chars().take(4).collect();
            ui.label(RichText::new(short).size(11.0).color(palette.text_dim.0)).on_hover_text(criterion.name());
        }
        ui.end_row();
        for rating in others {
            // A name that says it already needs no remark.
            let remark = if rating.simulated && !rating.rater.contains("simulated") { " (simulated)" } else { "" };
            let label = ui.add(Label::new(RichText::new(format!("{}{remark}", rating.rater)).size(12.0)).extend());
            if !rating.comment.is_empty() {
                label.on_hover_text(&rating.comment);
            }
            for criterion in CRITERIA {
                other_ui(ui, rating, criterion.name());
            }
            ui.end_row();
        }
    });
}
