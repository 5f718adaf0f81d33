//! The seven fields read out of the instruction, to be put right by a person.

use egui::{Button, ComboBox, Grid, Label, RichText, TextEdit, Ui, vec2};

use crate::domain::{EditType, Parse, ParseOrigin};
use crate::editor::EditDetails;
use crate::gui::context::{Action, Context};
use crate::gui::widgets::section;

const KINDS: [EditType; 7] = [
    EditType::Add,
    EditType::Remove,
    EditType::Replace,
    EditType::ChangeColor,
    EditType::ChangeTexture,
    EditType::ChangeSize,
    EditType::Other,
];
const SIZES: [&str; 4] = ["bigger", "smaller", "unchanged", "none"];
const POSITIONS: [&str; 7] = ["left", "right", "above", "below", "inside", "unchanged", "none"];

/// Draws the tab.
pub fn parse_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails) {
    let palette = cx.palette(ui);
    let Some(draft) = &cx.state.parse_draft else {
        ui.add_space(8.0);
        ui.label("Nobody has read this instruction yet.");
        if ui.button("Read it with the rules").clicked() {
            cx.send(Action::ReadInstruction);
        }
        return;
    };
    let origin = match draft.origin {
        ParseOrigin::Rules => "Read by the built-in rules",
        ParseOrigin::Llm => "Read by a language model",
        ParseOrigin::Import => "Came with the data",
        ParseOrigin::Person => "Put right by a person",
    };
    ui.label(RichText::new(origin).color(palette.text_dim.0));
    if let Some(why) = &draft.doubtful {
        ui.add(Label::new(RichText::new(format!("⚠ doubtful: {why}")).color(palette.warning.0)).wrap());
    }
    if draft.more_edits {
        let text = "⚠ The instruction asks for more than one edit; these fields hold the first.";
        ui.add(Label::new(RichText::new(text).color(palette.warning.0)).wrap());
    }
    section(ui, palette, "Fields");
    let mut edited = draft.clone();
    fields_ui(ui, &mut edited);
    if edited != *draft {
        cx.send(Action::DraftParse(edited));
    }
    ui.add_space(8.0);
    let unsaved = details.parse.as_ref() != Some(draft);
    ui.horizontal(|ui| {
        if ui.add_enabled(unsaved, Button::new("Save parse")).on_hover_text("Keeps the fields; the old ones stay in the history.").clicked()
        {
            cx.send(Action::SaveParse);
        }
        if ui.add_enabled(unsaved, Button::new("Revert")).on_hover_text("Goes back to what is saved.").clicked() {
            cx.send(Action::RevertParse);
        }
        if ui.button("Read again").on_hover_text("Reads the instruction with the built-in rules.").clicked() {
            cx.send(Action::ReadInstruction);
        }
    });
    if unsaved {
        let text = "These fields are not saved. They stay here while you look at other edits.";
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
    }
    stale_ui(ui, cx, details);
    section(ui, palette, "What the words mean");
    let text = "none: nothing (an addition has no original part, a removal no edited part). all: the whole picture. \
                Fields are lower case; every word counts as a whole word.";
    ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
}

/// Says when the score that is shown was made with other fields than those that are saved, and whether anything is left to do.
fn stale_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails) {
    let palette = cx.palette(ui);
    let (Some(shown), Some(saved)) = (cx.state.audit.shown(details), &details.parse) else { return };
    if same_fields(&shown.score.parse, saved) {
        return;
    }
    let (text, color) = if cx.state.audit.is_waiting(details.id) {
        ("… The score is being made with these fields.", palette.info.0)
    } else {
        ("⚠ The score was made with other fields. Score this edit again to use these.", palette.warning.0)
    };
    ui.add(Label::new(RichText::new(text).color(color)).wrap());
}

fn same_fields(a: &Parse, b: &Parse) -> bool {
    Parse::FIELDS.iter().all(|name| a.field(name) == b.field(name))
}

fn fields_ui(ui: &mut Ui, parse: &mut Parse) {
    Grid::new("parse").num_columns(2).spacing(vec2(10.0, 8.0)).show(ui, |ui| {
        for name in Parse::FIELDS {
            let label = ui.label(name.replace('_', " "));
            let Some(text) = parse.field_mut(name) else { continue };
            let choices: Option<Vec<&str>> = match name {
                "edit_type" => Some(KINDS.map(EditType::word).to_vec()),
                "size" => Some(SIZES.to_vec()),
                "position" => Some(POSITIONS.to_vec()),
                _ => None,
            };
            match choices {
                Some(choices) => {
                    let combo = ComboBox::from_id_salt(name).selected_text(text.clone()).width(ui.available_width() - 12.0);
                    let response = combo.show_ui(ui, |ui| {
                        for choice in choices {
                            ui.selectable_value(text, choice.to_owned(), choice);
                        }
                    });
                    response.response.labelled_by(label.id);
                }
                None => {
                    ui.add(TextEdit::singleline(text).desired_width(f32::INFINITY)).labelled_by(label.id);
                }
            }
            ui.end_row();
        }
    });
}
