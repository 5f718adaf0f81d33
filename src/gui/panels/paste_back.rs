//! Only the region of the edit on the source: what would remain of the edit if it were confined to where it belongs.

use egui::{Button, Grid, Label, RichText, Slider, Ui, vec2};

use crate::domain::Parts;
use crate::editor::EditDetails;
use crate::engine::paste_back::MOST_FEATHER;
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::rescore::{AuditAction, Reveal, ShownScore, combined};
use crate::gui::widgets::{command_button, outcome_text, section};

use super::score::reveal;

const MEANING: &str = "The pixels of the region come from the edit, all others from the source, exactly. The edge is soft inwards over the feather, in \
                       pixels of the source; values are mixed as stored (sRGB).";

/// Draws the section.
pub fn paste_back_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, shown: &ShownScore<'_>) {
    let palette = cx.palette(ui);
    reveal(ui, cx, Reveal::PasteBack);
    section(ui, palette, "Paste back");
    let audit = &cx.state.audit;
    let asked = audit.pasted.as_ref().filter(|asked| asked.edit == details.id && audit.pasted_shown);
    let nothing = nothing_to_paste(shown);
    ui.horizontal_wrapped(|ui| {
        let label = if audit.pasted_shown { "Show the edit again" } else { "Show only the region on the source" };
        let button = ui.add_enabled(audit.pasted_shown || nothing.is_none(), Button::new(label));
        if button.on_hover_text(format!("{MEANING}\n{}", Command::ShowPasteBack.tooltip(ui.ctx()))).clicked() {
            cx.send(Action::Do(Command::ShowPasteBack));
        }
        command_button(ui, cx, Command::SavePasteBack, audit.stand_in(details.id).is_some());
    });
    if let Some(why) = nothing {
        ui.add(Label::new(RichText::new(why).size(12.0).color(palette.text_dim.0)).wrap());
        return;
    }
    if !audit.pasted_shown {
        let text = "What would remain of the edit if it were confined to its region, and what would that score?";
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
        return;
    }
    ui.horizontal(|ui| {
        let label = ui.label("Feather");
        let mut feather = audit.feather();
        let span = Slider::new(&mut feather, 0.0..=MOST_FEATHER).logarithmic(true).smallest_positive(1.0);
        let slider = ui.add(span.fixed_decimals(0).suffix(" px")).labelled_by(label.id);
        // Each picture is scored, so it is made when the slider rests.
        let done = slider.drag_stopped() || (slider.changed() && !slider.dragged());
        if slider.on_hover_text(MEANING).changed() || done {
            cx.send(Action::Audit(AuditAction::SetFeather { feather, done }));
        }
    });
    match asked.and_then(|asked| asked.result.as_ref()) {
        None => {
            ui.horizontal(|ui| {
                ui.spinner();
                let text = if shown.pending.is_none() { "Pasting the region…" } else { "Waiting for the corrected region…" };
                ui.label(RichText::new(text).color(palette.text_dim.0));
            });
        }
        Some(Err(why)) => {
            ui.add(Label::new(RichText::new(format!("⚠ {why}")).color(palette.bad.0)).wrap());
        }
        Some(Ok(pasted)) => match &pasted.score {
            None => {
                ui.label(RichText::new("… Its score is being computed.").size(12.0).color(palette.text_dim.0));
            }
            Some(Err(why)) => {
                let text = format!("⚠ The pasted picture has no score: {why}");
                ui.add(Label::new(RichText::new(text).color(palette.bad.0)).wrap());
            }
            Some(Ok(score)) => {
                let edit = (&shown.score.parts, shown.combined.as_ref().map(|combined| combined.overall.clone()));
                let overall = details.audit.range.as_ref().map(|range| combined(score, range).overall);
                table_ui(ui, cx, edit, (&score.parts, overall));
            }
        },
    }
}

/// Why there is nothing to paste; `None` when there is something, or when it is not known yet.
fn nothing_to_paste(shown: &ShownScore<'_>) -> Option<&'static str> {
    match &shown.score.mask {
        _ if shown.pending.has("preserve") => None,
        None => Some("The whole picture was to change: there is no region to paste back."),
        Some(mask) if mask.is_empty() => {
            Some("The edit mask is empty: there is no region to paste back. Draw one, or lower the box threshold.")
        }
        Some(_) => None,
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
