//! Only the region of the edit on the source: what would remain of the edit if it were confined to where it belongs.

use egui::{Grid, Label, RichText, Slider, Ui, vec2};

use crate::domain::Parts;
use crate::editor::EditDetails;
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::rescore::{AuditAction, ShownScore, combined};
use crate::gui::widgets::{command_button, outcome_text, section};

const MEANING: &str = "The pixels of the region come from the edit, all others from the source, exactly. The edge is soft inwards over the feather, in \
                       pixels of the source; values are mixed as stored (sRGB).";

/// Draws the section.
pub fn paste_back_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, shown: &ShownScore<'_>) {
    let palette = cx.palette(ui);
    if shown.score.mask.is_none() {
        return;
    }
    section(ui, palette, "Paste back");
    let audit = &cx.state.audit;
    let asked = audit.pasted.as_ref().filter(|asked| asked.edit == details.id && audit.pasted_shown);
    ui.horizontal(|ui| {
        let label = if audit.pasted_shown { "Show the edit again" } else { "Show only the region on the source" };
        if ui.button(label).on_hover_text(format!("{MEANING}\n{}", Command::ShowPasteBack.tooltip(ui.ctx()))).clicked() {
            cx.send(Action::Do(Command::ShowPasteBack));
        }
        command_button(ui, cx, Command::SavePasteBack, audit.stand_in(details.id).is_some());
    });
    if !audit.pasted_shown {
        return;
    }
    ui.horizontal(|ui| {
        let label = ui.label("Feather");
        let mut feather = audit.feather();
        let slider = ui.add(Slider::new(&mut feather, 0.0..=40.0).fixed_decimals(0).suffix(" px")).labelled_by(label.id);
        // Each picture is scored, so it is made when the slider rests.
        let done = slider.drag_stopped() || (slider.changed() && !slider.dragged());
        if slider.on_hover_text(MEANING).changed() || done {
            cx.send(Action::Audit(AuditAction::SetFeather { feather, done }));
        }
    });
    match asked.and_then(|asked| asked.result.as_ref()) {
        None => {
            ui.spinner();
        }
        Some(Err(why)) => {
            ui.add(Label::new(RichText::new(format!("⚠ {why}")).color(palette.bad.0)).wrap());
        }
        Some(Ok(pasted)) => match &pasted.score {
            None => {
                ui.label(RichText::new("… Its score is being computed.").size(12.0).color(palette.text_dim.0));
            }
            Some(score) => {
                let edit = (&shown.score.parts, shown.combined.as_ref().map(|combined| combined.overall.clone()));
                let overall = details.audit.range.as_ref().map(|range| combined(score, range).overall);
                table_ui(ui, cx, edit, (&score.parts, overall));
            }
        },
    }
}

type Numbers<'a> = (&'a Parts, Option<crate::domain::Outcome<f64>>);

/// The parts of the edit beside those of the pasted picture.
fn table_ui(ui: &mut Ui, cx: &Context<'_>, edit: Numbers<'_>, pasted: Numbers<'_>) {
    let palette = cx.palette(ui);
    Grid::new("pasted parts").num_columns(3).spacing(vec2(14.0, 4.0)).show(ui, |ui| {
        for heading in ["", "edit", "pasted back"] {
            ui.label(RichText::new(heading).size(11.0).color(palette.text_dim.0));
        }
        ui.end_row();
        for name in Parts::NAMES {
            let (Some(before), Some(after)) = (edit.0.get(name), pasted.0.get(name)) else { continue };
            ui.label(name);
            ui.label(outcome_text(before, palette));
            ui.label(outcome_text(after, palette));
            ui.end_row();
        }
        if let (Some(before), Some(after)) = (&edit.1, &pasted.1) {
            ui.label(RichText::new("overall").strong());
            ui.label(outcome_text(before, palette));
            ui.label(outcome_text(after, palette));
            ui.end_row();
        }
    });
}
