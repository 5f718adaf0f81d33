//! The page of a running session: the instruction, the pictures, and the form beside them.

use egui::{
    Align2, Button, CentralPanel, FontId, Frame, Grid, Label, Margin, Panel, ProgressBar, RichText, ScrollArea, Sense, TextEdit, Ui, vec2,
};

use super::panes::{PaneSpec, panes_ui};
use super::{forms, ranking, results, send};
use crate::domain::{Parts, ProtocolKind};
use crate::editor::{Cell, Form, Row, SessionRun, letter};
use crate::gui::context::Context;
use crate::gui::people::keys::{RatingKey, SHOW_SOURCE, keys_of};
use crate::gui::people::{OpenSession, PeopleAction};
use crate::gui::pictures::{Slot, Wanted};
use crate::gui::widgets::{self, section};

/// Draws the page.
pub fn run_ui(ui: &mut Ui, cx: &Context<'_>, open: &OpenSession) {
    let palette = cx.palette(ui);
    let frame = Frame::new().fill(palette.panel.0).inner_margin(Margin::symmetric(12, 6));
    Panel::top("session").frame(frame).resizable(false).show(ui, |ui| head_ui(ui, cx, &open.run));
    let frame = Frame::new().fill(palette.panel.0).inner_margin(Margin::symmetric(12, 6));
    Panel::bottom("session keys").frame(frame).resizable(false).show(ui, |ui| keys_ui(ui, cx, open.run.kind()));
    let width = (ui.available_width() * 0.27).clamp(300.0, 420.0);
    let frame = Frame::new().fill(palette.panel.0).inner_margin(Margin::same(12));
    Panel::right("session form").frame(frame).resizable(false).exact_size(width).show(ui, |ui| side_ui(ui, cx, open));
    CentralPanel::default().frame(Frame::new().fill(palette.canvas.0)).show(ui, |ui| pictures_ui(ui, cx, open));
}

fn head_ui(ui: &mut Ui, cx: &Context<'_>, run: &SessionRun) {
    let palette = cx.palette(ui);
    let progress = run.progress();
    ui.horizontal(|ui| {
        ui.label(RichText::new(&run.setup().name).strong().color(palette.text_strong.0));
        ui.label(RichText::new(format!("rater {}", run.rater())).color(palette.text_dim.0));
        if run.is_blind() {
            let meaning = "Names of models and all scores are hidden until you are done.";
            ui.label(RichText::new("◑ blind").color(palette.info.0)).on_hover_text(meaning);
        }
        widgets::right(ui, |ui| {
            let leave = ui.button("Leave").on_hover_text("Back to the list. The session waits at this task; nothing half done is kept.");
            if leave.clicked() {
                send(cx, PeopleAction::Close);
            }
            let skipped = if progress.skipped > 0 { format!(", {} skipped", progress.skipped) } else { String::new() };
            ui.label(format!("{} of {}{skipped}", progress.done, progress.total));
            let share = progress.done as f32 / progress.total.max(1) as f32;
            ui.add(ProgressBar::new(share).desired_width(160.0).desired_height(8.0));
        });
    });
}

fn keys_ui(ui: &mut Ui, cx: &Context<'_>, kind: ProtocolKind) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(10.0, 4.0);
        keys_of(kind).for_each(|key| key_ui(ui, cx, key));
    });
}

/// A key with what it does, as one piece that goes to the next line as a whole.
fn key_ui(ui: &mut Ui, cx: &Context<'_>, key: &RatingKey) {
    let palette = cx.palette(ui);
    let cap = ui.painter().layout_no_wrap(key.key.to_owned(), FontId::monospace(11.0), palette.text.0);
    let does = ui.painter().layout_no_wrap(key.does.to_owned(), FontId::proportional(11.5), palette.text_dim.0);
    let cap_size = cap.size() + vec2(10.0, 2.0);
    let size = vec2(cap_size.x + 5.0 + does.size().x, cap_size.y.max(does.size().y));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let words = format!("{} {}", key.key, key.does);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, words.clone()));
    let cap_rect = Align2::LEFT_CENTER.align_size_within_rect(cap_size, rect);
    ui.painter().rect_filled(cap_rect, 3.0, palette.raised.0);
    ui.painter().galley(cap_rect.min + vec2(5.0, 1.0), cap, palette.text.0);
    let at = Align2::RIGHT_CENTER.align_size_within_rect(does.size(), rect).min;
    ui.painter().galley(at, does, palette.text_dim.0);
}

/// The row of the edit shown at `place`.
fn row_at<'a>(cx: &Context<'a>, open: &OpenSession, place: usize) -> Option<&'a Row> {
    let edit = open.run.task()?.shown.get(place)?;
    cx.state.queue.row(*open.rows.get(edit)?)
}

fn pictures_ui(ui: &mut Ui, cx: &Context<'_>, open: &OpenSession) {
    let palette = cx.palette(ui);
    let Some(task) = open.run.task() else { return };
    let first = row_at(cx, open, 0);
    Frame::new().fill(palette.background.0).inner_margin(Margin::symmetric(16, 10)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        let words = first.map_or("", |row| &*row.instruction);
        ui.add(Label::new(RichText::new(words).size(18.0).strong().color(palette.text_strong.0)).wrap());
        // One line of fixed height, so that the pictures do not move when they come.
        ui.label(RichText::new(if loads(cx, open) { "Loading the pictures…" } else { " " }).size(12.0).color(palette.text_dim.0));
    });
    let source = first.map(|row| row.source.clone());
    let typing = ui.ctx().text_edit_focused();
    let to_source = !typing && ui.input(|input| input.key_down(SHOW_SOURCE));
    let active = match &open.run.form {
        Form::Ranking { active, .. } => Some(*active),
        Form::Rubric { .. } | Form::Pair(_) => None,
    };
    let mut specs = vec![PaneSpec { title: "Source".to_owned(), path: source.clone(), marked: false }];
    for place in 0..task.shown.len() {
        let row = row_at(cx, open, place);
        let mut title = match open.run.kind() {
            ProtocolKind::Rubric => "Edit".to_owned(),
            ProtocolKind::Pairwise | ProtocolKind::Ranking => letter(place),
        };
        // On a check the name of the model would be a lie.
        if !open.run.is_blind()
            && !task.role.is_check()
            && let Some(row) = row.filter(|row| !row.model.is_empty())
        {
            title = format!("{title} · {}", row.model);
        }
        if to_source {
            title.push_str(" · source");
        }
        let show_source = to_source || open.run.shows_source_as_edit();
        let path = if show_source { source.clone() } else { row.map(|row| row.edited.clone()) };
        specs.push(PaneSpec { title, path, marked: active == Some(place) });
    }
    panes_ui(ui, cx, &specs);
}

/// Whether a picture of the task is not on the screen yet; answers are taken from then on.
fn loads(cx: &Context<'_>, open: &OpenSession) -> bool {
    let places = open.run.task().map_or(0, |task| task.shown.len());
    let rows: Vec<&Row> = (0..places).filter_map(|place| row_at(cx, open, place)).collect();
    let edits = rows.iter().filter(|_| !open.run.shows_source_as_edit()).map(|row| &row.edited);
    let mut paths = rows.first().map(|row| &row.source).into_iter().chain(edits);
    paths.any(|path| !matches!(cx.pictures.get(&Wanted::Full(path.clone())), Some(Slot::Ready(_) | Slot::Failed(_))))
}

fn side_ui(ui: &mut Ui, cx: &Context<'_>, open: &OpenSession) {
    let palette = cx.palette(ui);
    ScrollArea::vertical().id_salt("session form").auto_shrink(false).show(ui, |ui| {
        match &open.run.form {
            Form::Rubric { given, active } => {
                if let Some(rubric) = open.run.setup().protocol.rubric() {
                    forms::rubric_ui(ui, cx, rubric, given, *active);
                }
            }
            Form::Pair(vote) => forms::pair_ui(ui, cx, *vote),
            Form::Ranking { ranks, active } => ranking::ranking_ui(ui, cx, ranks, *active),
        }
        section(ui, palette, "Comment");
        comment_ui(ui, cx, &open.run);
        ui.add_space(6.0);
        buttons_ui(ui, cx, &open.run);
        said_ui(ui, cx, &open.run);
        if !open.run.is_blind() {
            scores_ui(ui, cx, open);
        }
        if let Some(live) = &open.live {
            section(ui, cx.palette(ui), "Agreement so far");
            results::agreement_ui(ui, cx, live, open.run.kind(), false);
        }
    });
}

fn comment_ui(ui: &mut Ui, cx: &Context<'_>, run: &SessionRun) {
    let mut comment = run.comment.clone();
    let edit = TextEdit::singleline(&mut comment).desired_width(f32::INFINITY).hint_text("What should others know?  [C]");
    let response = ui.add(edit).on_hover_text("Saved together with the answer. Esc leaves the field, Ctrl+Enter saves.");
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Comment"));
    if cx.state.people.focus_comment {
        response.request_focus();
    }
    if response.changed() {
        send(cx, PeopleAction::Comment(comment));
    }
}

fn buttons_ui(ui: &mut Ui, cx: &Context<'_>, run: &SessionRun) {
    let palette = cx.palette(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if run.kind() != ProtocolKind::Pairwise {
            let words = RichText::new("Save, next").color(palette.on_accent.0).strong();
            let save = ui.add(Button::new(words).shortcut_text(widgets::key_hint(palette, "[Enter]", true)).fill(palette.accent.0));
            widgets::name(&save, egui::Role::Button, false, "Save, next");
            if save.on_hover_text("Keeps all answers at once.").clicked() {
                send(cx, PeopleAction::Submit);
            }
        }
        for (label, key, meaning, action) in [
            ("Can’t judge", "[X]", "Nothing can be said about this task.", PeopleAction::CannotJudge),
            ("Skip", "[S]", "Comes back when the others are done.", PeopleAction::Skip),
            ("Back", "[Backspace]", "To the task before, to correct it.", PeopleAction::Back),
        ] {
            let button = ui.add(Button::new(label).shortcut_text(key));
            widgets::name(&button, egui::Role::Button, false, label);
            if button.on_hover_text(meaning).clicked() {
                send(cx, action);
            }
        }
    });
}

/// One line of fixed height: what is known of this task.
fn said_ui(ui: &mut Ui, cx: &Context<'_>, run: &SessionRun) {
    let palette = cx.palette(ui);
    let text = match run.said() {
        Some(said) if said.answer.is_answer() => "Answered before; saving again corrects it, both are kept.",
        Some(_) => "Skipped before.",
        None => "An answer is saved as a whole or not at all.",
    };
    ui.label(RichText::new(text).size(11.5).color(palette.text_dim.0));
}

/// The numbers of the metric, where they may be seen.
fn scores_ui(ui: &mut Ui, cx: &Context<'_>, open: &OpenSession) {
    let palette = cx.palette(ui);
    let Some(task) = open.run.task().filter(|task| !task.role.is_check()) else { return };
    section(ui, palette, "Scores");
    // One column a number and one line an edit: no number is torn from its name, however narrow the form is.
    Grid::new("session scores").num_columns(2 + Parts::NAMES.len()).spacing(vec2(8.0, 3.0)).min_col_width(0.0).show(ui, |ui| {
        ui.label("");
        for name in ["BPM"].into_iter().chain(Parts::NAMES) {
            ui.label(RichText::new(name).size(11.0).color(palette.text_dim.0));
        }
        ui.end_row();
        for place in 0..task.shown.len() {
            let Some(row) = row_at(cx, open, place) else { continue };
            let letter = if task.shown.len() > 1 { letter(place) } else { String::new() };
            ui.label(RichText::new(letter).size(12.0));
            [row.overall].into_iter().chain(row.parts).for_each(|cell| cell_ui(ui, cx, cell));
            ui.end_row();
        }
    });
}

/// A score; where there is none, what that means.
fn cell_ui(ui: &mut Ui, cx: &Context<'_>, cell: Cell) {
    let label = ui.label(widgets::cell_text(cell, cx.palette(ui)));
    let why = match cell {
        Cell::Value(_) => return,
        Cell::NotApplicable => "It has no meaning here; the Score tab of the Audit page says why.",
        Cell::Failed => "Scoring failed; the Score tab of the Audit page says why.",
        Cell::Unscored => "The edit is not scored yet.",
    };
    label.on_hover_text(why);
}
