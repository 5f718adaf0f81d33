//! The setup of a new session, with a preview of what raters will see.

use egui::{
    Button, CentralPanel, Checkbox, ComboBox, DragValue, Frame, Grid, Label, Margin, Panel, RichText, ScrollArea, TextEdit, Ui, vec2,
};

use super::{forms, plural, rubric_editor, send};
use crate::domain::{Protocol, ProtocolKind, Rubric, SessionSetup};
use crate::editor::repeat_count;
use crate::gui::context::Context;
use crate::gui::people::{PeopleAction, SetupDraft};
use crate::gui::widgets::{self, section};

/// Draws the page.
pub fn setup_ui(ui: &mut Ui, cx: &Context<'_>, draft: &SetupDraft) {
    let palette = cx.palette(ui);
    let mut edited = draft.clone();
    let frame = Frame::new().fill(palette.panel.0).inner_margin(Margin::symmetric(16, 12));
    Panel::right("session preview").frame(frame).resizable(false).exact_size((ui.available_width() * 0.36).clamp(300.0, 460.0)).show(
        ui,
        |ui| {
            ScrollArea::vertical().id_salt("preview").auto_shrink(false).show(ui, |ui| preview_ui(ui, cx, draft));
        },
    );
    let frame = Frame::new().fill(palette.background.0).inner_margin(Margin::symmetric(24, 16));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.heading(RichText::new("New session").color(palette.text_strong.0));
            widgets::right(ui, |ui| buttons_ui(ui, cx, draft));
        });
        problems_ui(ui, cx, draft);
        ScrollArea::vertical().id_salt("setup").auto_shrink(false).show(ui, |ui| {
            fields_ui(ui, cx, &mut edited);
            if let Protocol::Rubric { rubric } = &mut edited.setup.protocol {
                section(ui, palette, "Rubric");
                rubric_editor::editor_ui(ui, cx, rubric, &mut edited.open_question);
            }
        });
    });
    if edited != *draft {
        send(cx, PeopleAction::EditSetup(Box::new(edited)));
    }
}

fn buttons_ui(ui: &mut Ui, cx: &Context<'_>, draft: &SetupDraft) {
    let palette = cx.palette(ui);
    let fine = problems(draft).is_empty();
    let words = RichText::new("Save and begin").color(palette.on_accent.0).strong();
    let begin = ui.add_enabled(fine, Button::new(words).fill(palette.accent.0));
    if begin
        .on_hover_text("Saves the session in the project. It cannot be changed then, so that all raters are asked the same.  [Ctrl+Enter]")
        .clicked()
    {
        send(cx, PeopleAction::CreateSession);
    }
    if ui.button("Cancel").on_hover_text("[Esc]").clicked() {
        send(cx, PeopleAction::CancelSetup);
    }
}

/// What keeps the session from being made. Edits are chosen when it is made; the draft knows how many they will be.
fn problems(draft: &SetupDraft) -> Vec<String> {
    let mut problems: Vec<String> = draft.setup.protocol.rubric().map(Rubric::problems).unwrap_or_default();
    if draft.setup.name.trim().is_empty() {
        problems.push("the session needs a name".to_owned());
    }
    if draft.edits == 0 {
        problems.push("the filter of the queue leaves no edit to rate".to_owned());
    } else if draft.plain_tasks == 0 {
        problems.push("no item has two edits to compare".to_owned());
    }
    problems
}

/// One line, so that nothing jumps; the rest is in its tooltip.
fn problems_ui(ui: &mut Ui, cx: &Context<'_>, draft: &SetupDraft) {
    let palette = cx.palette(ui);
    let problems = problems(draft);
    let (text, color) = match problems.as_slice() {
        [] => (tasks_in_words(draft), palette.text_dim.0),
        [one] => (format!("⚠ {one}"), palette.warning.0),
        [one, rest @ ..] => (format!("⚠ {one} (and {} more)", rest.len()), palette.warning.0),
    };
    let label = ui.add(Label::new(RichText::new(text).color(color)).truncate());
    if problems.len() > 1 {
        label.on_hover_text(problems.join("\n"));
    }
    ui.separator();
}

fn tasks_in_words(draft: &SetupDraft) -> String {
    let repeats = repeat_count(draft.plain_tasks, draft.setup.repeat_percent);
    let checks = usize::from(draft.setup.checks).min(draft.plain_tasks);
    let total = draft.plain_tasks + repeats + checks;
    let mut extra = Vec::new();
    if repeats > 0 {
        extra.push(format!("{repeats} of them repeated"));
    }
    if checks > 0 {
        extra.push(plural(checks, "attention check"));
    }
    let extra = if extra.is_empty() { String::new() } else { format!(", with {}", extra.join(" and ")) };
    format!("{} for each rater{extra}, about {}", plural(total, "task"), plural(draft.edits, "edit"))
}

fn fields_ui(ui: &mut Ui, cx: &Context<'_>, draft: &mut SetupDraft) {
    let palette = cx.palette(ui);
    let dim = |text: &str| RichText::new(text).size(12.0).color(palette.text_dim.0);
    let setup = &mut draft.setup;
    Grid::new("session setup").num_columns(2).spacing(vec2(16.0, 9.0)).min_col_width(100.0).show(ui, |ui| {
        let label = ui.label("Name");
        ui.add(TextEdit::singleline(&mut setup.name).desired_width(280.0)).labelled_by(label.id);
        ui.end_row();
        ui.label("Protocol");
        ui.horizontal(|ui| protocol_ui(ui, &mut setup.protocol));
        ui.end_row();
        if let Protocol::Rubric { rubric } = &mut setup.protocol {
            let label = ui.label("Start from");
            preset_ui(ui, rubric, label.id);
            ui.end_row();
        }
        ui.label("Edits");
        ui.horizontal(|ui| {
            let all = cx.state.queue.rows().len();
            ui.radio_value(&mut draft.only_shown, false, format!("all {all}"));
            let shown = format!("the {} that the queue shows", cx.state.queue.shown().len());
            let meaning = "The search and the filters of the queue choose the edits of the session.";
            ui.radio_value(&mut draft.only_shown, true, shown).on_hover_text(meaning);
        });
        ui.end_row();
        ui.label("Blind");
        ui.horizontal(|ui| blind_ui(ui, setup));
        ui.end_row();
        ui.label("Agreement");
        let live = Checkbox::new(&mut setup.live_agreement, "show raters how they agree, after each answer");
        ui.add(live).on_hover_text("Per cent and Krippendorff’s α between the raters so far. Never before an answer.");
        ui.end_row();
        let label = ui.label("Repeated");
        ui.horizontal(|ui| {
            ui.add(DragValue::new(&mut setup.repeat_percent).range(0..=100).suffix(" %")).labelled_by(label.id);
            ui.label(dim("asked twice, to see how far a rater agrees with themselves"));
        });
        ui.end_row();
        let label = ui.label("Checks");
        ui.horizontal(|ui| {
            ui.add(DragValue::new(&mut setup.checks).range(0..=200)).labelled_by(label.id);
            ui.label(dim(check_in_words(setup.protocol.kind())));
        });
        ui.end_row();
        if let Some(text) = checks_judged_by(setup) {
            ui.label("");
            let color = if text.starts_with('⚠') { palette.warning.0 } else { palette.text_dim.0 };
            ui.add(Label::new(RichText::new(text).size(12.0).color(color)).wrap());
            ui.end_row();
        }
        let label = ui.label("Seed");
        ui.horizontal(|ui| {
            ui.add(DragValue::new(&mut setup.seed)).labelled_by(label.id);
            ui.label(dim("with the rater’s name it gives the rater’s own order"));
        });
        ui.end_row();
    });
}

/// By which questions attention checks are judged, or that none can.
fn checks_judged_by(setup: &SessionSetup) -> Option<String> {
    let rubric = setup.protocol.rubric().filter(|_| setup.checks > 0)?;
    let telling: Vec<&str> = rubric.telling().map(|question| question.name.as_str()).collect();
    Some(if telling.is_empty() {
        "⚠ No question can tell that nothing was edited, so checks will not be judged. Open a question below and say what its answer \
         is “for the unedited source”."
            .to_owned()
    } else {
        format!("judged by: {}", telling.join(", "))
    })
}

const fn check_in_words(kind: ProtocolKind) -> &'static str {
    match kind {
        ProtocolKind::Rubric => "the source is shown as the edit; an attentive rater sees that nothing was done",
        ProtocolKind::Pairwise => "the same edit on both sides; an attentive rater sees a tie",
        ProtocolKind::Ranking => "one edit is shown twice; an attentive rater gives both the same rank",
    }
}

fn protocol_ui(ui: &mut Ui, protocol: &mut Protocol) {
    for (kind, label, meaning) in [
        (ProtocolKind::Rubric, "Rubric", "Questions about one edit at a time."),
        (ProtocolKind::Pairwise, "Pairwise", "Which of two edits of an item is better: A, B, tie, both bad."),
        (ProtocolKind::Ranking, "Ranking", "All edits of an item in order, ties allowed."),
    ] {
        let button = ui.add(Button::selectable(protocol.kind() == kind, label)).on_hover_text(meaning);
        widgets::name(&button, egui::Role::RadioButton, protocol.kind() == kind, format!("Protocol {label}"));
        if button.clicked() && protocol.kind() != kind {
            *protocol = match kind {
                ProtocolKind::Rubric => Protocol::Rubric { rubric: Rubric::paper() },
                ProtocolKind::Pairwise => Protocol::Pairwise,
                ProtocolKind::Ranking => Protocol::Ranking,
            };
        }
    }
}

fn preset_ui(ui: &mut Ui, rubric: &mut Rubric, label: egui::Id) {
    let presets = Rubric::presets();
    let known = presets.iter().find(|preset| **preset == *rubric);
    let shown = known.map_or_else(|| format!("{} (changed)", rubric.name), |preset| preset.name.clone());
    let combo = ComboBox::from_id_salt("rubric preset").selected_text(shown).width(280.0).show_ui(ui, |ui| {
        for preset in &presets {
            if ui.selectable_label(*preset == *rubric, &preset.name).clicked() {
                rubric.clone_from(preset);
            }
        }
    });
    combo.response.labelled_by(label);
}

fn blind_ui(ui: &mut Ui, setup: &mut SessionSetup) {
    let blind = Checkbox::new(&mut setup.blind, "hide the names of models and all scores");
    ui.add(blind).on_hover_text("Everywhere in the window, until the rater is done.");
}

fn preview_ui(ui: &mut Ui, cx: &Context<'_>, draft: &SetupDraft) {
    let palette = cx.palette(ui);
    section(ui, palette, "What raters will see");
    match &draft.setup.protocol {
        Protocol::Rubric { rubric } => {
            forms::rubric_preview_ui(ui, cx, rubric);
            let version = format!("Version {}: kept with every rating; any change of words makes another one.", rubric.version());
            ui.add_space(6.0);
            ui.add(Label::new(RichText::new(version).size(11.5).color(palette.text_dim.0)).wrap());
        }
        Protocol::Pairwise => {
            ui.label("The source and two edits, A and B. Keys 1 to 4:");
            crate::domain::Preference::ALL.iter().enumerate().for_each(|(index, vote)| {
                ui.label(format!("{}  {}", index + 1, vote.label()));
            });
            ui.label("X  Can’t judge");
        }
        Protocol::Ranking => {
            ui.add(
                Label::new(
                    "The source and all edits of an item, A, B, C, …: dragged to their ranks, or ranked by digit keys. Ties are allowed.",
                )
                .wrap(),
            );
        }
    }
}
