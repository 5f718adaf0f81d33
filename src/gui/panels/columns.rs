//! The dialog for a table of ratings: its first rows, a choice for each column, and what is not understood.

use egui::{Align, Button, Checkbox, ComboBox, Layout, RichText, ScrollArea, TextEdit, Ui, vec2};
use egui_extras::{Column as TableColumn, TableBuilder};

use crate::domain::CRITERIA;
use crate::engine::opinions::{Role, TableFormat, TablePreview};
use crate::gui::columns::{ColumnsAction, ColumnsDraft};
use crate::gui::context::{Action, Context};
use crate::gui::widgets::{right, section};

use super::rate::plural;

/// Draws the dialog's content.
pub fn columns_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let Some(draft) = &cx.state.columns else { return };
    ui.label(RichText::new(draft.table.display().to_string()).color(palette.text_dim.0));
    match &draft.preview {
        None => {
            ui.spinner();
        }
        Some(Err(why)) => {
            ui.label(RichText::new(format!("⚠ {why}")).color(palette.bad.0));
        }
        Some(Ok(preview)) => preview_ui(ui, cx, draft, preview),
    }
}

fn preview_ui(ui: &mut Ui, cx: &Context<'_>, draft: &ColumnsDraft, preview: &TablePreview) {
    let palette = cx.palette(ui);
    let has_choice = preview.format == TableFormat::Columns;
    section(ui, palette, if has_choice { "What each column holds" } else { "What the table is" });
    if !has_choice {
        // Its columns have their meaning already.
        ui.add(egui::Label::new(format!("Read as {}: {}.", preview.format, preview.read_as)).wrap());
    }
    let rows = match (preview.rows.len(), preview.row_count) {
        (_, 1) => "Its only row.".to_owned(),
        (shown, all) if shown == all => format!("All {all} rows."),
        (shown, all) => format!("The first {shown} of {all} rows."),
    };
    ui.label(RichText::new(rows).size(12.0).color(palette.text_dim.0));
    let bar = egui::scroll_area::ScrollBarVisibility::AlwaysVisible;
    ScrollArea::horizontal().auto_shrink([false, true]).scroll_bar_visibility(bar).show(ui, |ui| table_ui(ui, cx, draft, preview));
    section(ui, palette, "What comes out");
    let text = match &preview.objection {
        Some(why) => RichText::new(format!("⚠ {why}")).color(palette.warning.0),
        None if preview.matched + preview.matched_votes == 0 => {
            let text = "⚠ Nothing is about an edit of this project: item and model must be written as in the project.";
            RichText::new(text).color(palette.warning.0)
        }
        None => {
            let about = |count: usize, what: &str, matched: usize| {
                (count > 0).then(|| format!("{}, {matched} of them about edits of this project", plural(count, what)))
            };
            let said = [about(preview.ratings, "rating", preview.matched), about(preview.votes, "vote", preview.matched_votes)];
            RichText::new(format!("{}.", said.into_iter().flatten().collect::<Vec<_>>().join("; ")))
        }
    };
    ui.add(egui::Label::new(text).wrap());
    if preview.problem_count > 0 {
        let text = match preview.problem_count {
            1 => "1 thing is not understood or odd:".to_owned(),
            count => format!("{count} things are not understood or odd:"),
        };
        ui.label(RichText::new(text).color(palette.warning.0));
        ScrollArea::vertical().max_height(110.0).auto_shrink([false, true]).id_salt("problems").show(ui, |ui| {
            for problem in &preview.problems {
                ui.label(RichText::new(problem).size(12.0));
            }
            if preview.problem_count > preview.problems.len() {
                ui.label(RichText::new(format!("… and {} more", preview.problem_count - preview.problems.len())).size(12.0));
            }
        });
    }
    ui.add_space(10.0);
    right(ui, |ui| {
        let text = RichText::new("Import ratings").strong().color(palette.on_accent.0);
        let button = ui.add_enabled(draft.is_ready(), Button::new(text).fill(palette.accent.0));
        let button = button.on_hover_text("Adds the ratings and votes to the project. What is there already is not added again.");
        if button.on_disabled_hover_text(draft.hindrance().unwrap_or_default()).clicked() {
            cx.send(Action::Columns(ColumnsAction::Import));
        }
        if draft.reading || draft.importing {
            ui.spinner();
        }
    });
}

/// Width of a column: room for the choice and for a criterion and a rater.
const WIDTH: f32 = 132.0;
/// Height of the choices: of a role alone, and with criterion, rater and direction of an answer.
const ROLE_HEIGHT: f32 = 56.0;
const ANSWER_HEIGHT: f32 = 172.0;

fn table_ui(ui: &mut Ui, cx: &Context<'_>, draft: &ColumnsDraft, preview: &TablePreview) {
    let palette = cx.palette(ui);
    let has_answer = draft.columns.0.iter().any(|column| matches!(column.role, Role::Answer { .. }));
    TableBuilder::new(ui)
        .id_salt("columns of the table")
        .striped(true)
        .vscroll(false)
        .cell_layout(Layout::top_down(Align::Min))
        .columns(TableColumn::exact(WIDTH), preview.header.len())
        .header(if has_answer { ANSWER_HEIGHT } else { ROLE_HEIGHT }, |mut header| {
            for name in &preview.header {
                header.col(|ui| match preview.format {
                    TableFormat::Columns => choice_ui(ui, cx, draft, name),
                    _ => drop(ui.add(egui::Label::new(RichText::new(name).strong()).truncate())),
                });
            }
        })
        .body(|mut body| {
            for cells in &preview.rows {
                body.row(20.0, |mut row| {
                    for (name, cell) in preview.header.iter().zip(cells) {
                        let used = draft.chosen(name).is_some() || preview.format != TableFormat::Columns;
                        let color = if used { palette.text.0 } else { palette.text_dim.0 };
                        row.col(|ui| {
                            ui.add(egui::Label::new(RichText::new(cell).size(12.0).color(color)).truncate());
                        });
                    }
                });
            }
        });
}

/// The choices of one column: its role and, for an answer, criterion, rater and direction.
fn choice_ui(ui: &mut Ui, cx: &Context<'_>, draft: &ColumnsDraft, name: &str) {
    let palette = cx.palette(ui);
    let chosen = draft.chosen(name);
    ui.add(egui::Label::new(RichText::new(name).strong().color(palette.text_strong.0)).truncate());
    let choose = |role: Option<Role>| cx.send(Action::Columns(ColumnsAction::Choose { column: name.to_owned(), role }));
    let word = match chosen.map(|column| &column.role) {
        None => "not used".to_owned(),
        Some(Role::Answer { .. }) => "an answer".to_owned(),
        Some(role) => role.to_string(),
    };
    let combo = ComboBox::from_id_salt(("role", name)).width(WIDTH - 16.0).selected_text(word).show_ui(ui, |ui| {
        if ui.selectable_label(chosen.is_none(), "not used").clicked() {
            choose(None);
        }
        let is_answer = chosen.is_some_and(|column| matches!(column.role, Role::Answer { .. }));
        if ui.selectable_label(is_answer, "an answer").clicked() && !is_answer {
            choose(Some(Role::Answer { criterion: name.to_owned(), rater: None }));
        }
        for (word, role) in Role::WORDS {
            if ui.selectable_label(chosen.is_some_and(|column| column.role == role), word).clicked() {
                choose(Some(role));
            }
        }
    });
    crate::gui::widgets::name(&combo.response, egui::Role::ComboBox, false, format!("Role of column {name}"));
    let Some((Role::Answer { criterion, rater }, column)) = chosen.map(|column| (&column.role, column)) else { return };
    let known = CRITERIA.map(crate::domain::Criterion::name).join(", ");
    if let Some(text) = committed(ui, ("criterion", name), criterion, "asked", &format!("What was asked: {known}, or a word of your own."))
    {
        let criterion = if text.is_empty() { name.to_owned() } else { text };
        choose(Some(Role::Answer { criterion, rater: rater.clone() }));
    }
    let hint = "Whose answers these are, if each rater has a column; empty: the column of the rater says so.";
    if let Some(text) = committed(ui, ("rater", name), rater.as_deref().unwrap_or_default(), "answers of", hint) {
        choose(Some(Role::Answer { criterion: criterion.clone(), rater: (!text.is_empty()).then_some(text) }));
    }
    let mut lower = column.lower_is_better;
    let check = ui.add(Checkbox::new(&mut lower, RichText::new("lower is better").size(11.0)));
    if check.on_hover_text("Values are turned around, so that higher is better.").changed() {
        cx.send(Action::Columns(ColumnsAction::LowerIsBetter { column: name.to_owned(), on: lower }));
    }
}

/// A text field that reports its text once it is left, so that the table is not read again at every letter.
fn committed(ui: &mut Ui, id: (&str, &str), now: &str, hint: &str, tooltip: &str) -> Option<String> {
    let id = ui.make_persistent_id(id);
    let label = ui.label(RichText::new(hint).size(11.0).color(ui.visuals().weak_text_color()));
    let mut text = ui.data(|data| data.get_temp::<String>(id)).unwrap_or_else(|| now.to_owned());
    let field = ui.add_sized(vec2(WIDTH - 10.0, 18.0), TextEdit::singleline(&mut text).font(egui::TextStyle::Small));
    let field = field.labelled_by(label.id).on_hover_text(tooltip);
    if field.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, text));
        return None;
    }
    ui.data_mut(|data| data.remove::<String>(id));
    let text = text.trim();
    (field.lost_focus() && text != now).then(|| text.to_owned())
}
