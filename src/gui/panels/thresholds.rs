//! Other thresholds of the detector, tried on what runs keep: which boxes they would choose, and which parts those would give.

use egui::{Grid, Label, RichText, Slider, Ui, vec2};

use crate::domain::{Outcome, Parts, RegionRole, Score, Side};
use crate::editor::{EditDetails, Thresholds};
use crate::engine::SensitivityPoint;
use crate::gui::context::{Action, Context};
use crate::gui::rescore::{AuditAction, ShownScore, combined};
use crate::gui::widgets::outcome_text;

const BOXES: &str = "Boxes above this confidence are used (the metric: 0.30). Moving it shows on the pictures which boxes would be used; no network \
                     is asked.";
const TEXT: &str = "Words above this probability make the label of a box (the metric: 0.25). No part of the score depends on it.";

/// The sliders, and while they are moved what they would change.
pub fn thresholds_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, shown: &ShownScore<'_>) {
    let palette = cx.palette(ui);
    let now = cx.state.overlays.preview().unwrap_or(Thresholds::METRIC);
    let mut next = now;
    Grid::new("thresholds").num_columns(2).spacing(vec2(10.0, 4.0)).show(ui, |ui| {
        for (name, value, tip) in [("box threshold", &mut next.boxes, BOXES), ("text threshold", &mut next.text, TEXT)] {
            let label = ui.label(name);
            ui.spacing_mut().slider_width = (ui.available_width() - 70.0).clamp(60.0, 160.0);
            let slider = Slider::new(value, Thresholds::LIMITS.0..=Thresholds::LIMITS.1).step_by(0.01).fixed_decimals(2);
            ui.add(slider).labelled_by(label.id).on_hover_text(tip);
            ui.end_row();
        }
    });
    if next.rounded() != now {
        cx.send(Action::PreviewThresholds(next));
    }
    let Some(preview) = cx.state.overlays.preview() else {
        let text = "Move a threshold to see on the pictures what it would choose.";
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
        return;
    };
    ui.horizontal_wrapped(|ui| {
        let mask_is_known = preview.boxes == Thresholds::METRIC.boxes || cx.state.tried_mask(details.id).is_some();
        let text = if mask_is_known {
            "⚠ Preview: the pictures show what these thresholds would choose, not what was scored."
        } else {
            "⚠ Preview: the pictures show the boxes that these thresholds would choose. The mask on them is still that of the score: that of \
             the new boxes is not known yet."
        };
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.warning.0)).wrap());
        if ui.button("Reset thresholds").on_hover_text("Back to the thresholds of the metric.  [Esc]").clicked() {
            cx.send(Action::PreviewThresholds(Thresholds::METRIC));
        }
    });
    for (side, role, name) in [(Side::Source, RegionRole::Original, "source"), (Side::Edit, RegionRole::Edited, "edit")] {
        if cx.state.tools.draws(details.id, side, role) {
            let text = format!("A person's boxes count on the {name}: thresholds do not change them.");
            ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
        }
    }
    parts_ui(ui, cx, details, shown, preview);
}

/// The parts that the box threshold would give, as far as what is cached tells.
fn parts_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, shown: &ShownScore<'_>, preview: Thresholds) {
    let palette = cx.palette(ui);
    let say = |ui: &mut Ui, text: &str| {
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
    };
    if preview.boxes == Thresholds::METRIC.boxes {
        return say(ui, "The text threshold changes labels alone; the parts stay as they are.");
    }
    if !shown.pending.is_none() {
        return say(ui, "The parts at this threshold are computed once the score is complete.");
    }
    let Some(asked) = cx.state.audit.sensitivity_of(details.id, shown.score.profile) else {
        cx.send(Action::Audit(AuditAction::WantSensitivity { edit: details.id, all: false }));
        return;
    };
    match &asked.result {
        None => {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label(RichText::new("Judging at other thresholds…").color(palette.text_dim.0));
            });
        }
        Some(Err(why)) => {
            let text = format!("⚠ The parts at this threshold are not known: {why}");
            ui.add(Label::new(RichText::new(text).size(12.0).color(palette.bad.0)).wrap());
        }
        Some(Ok(sensitivity)) => {
            let at = |point: &&SensitivityPoint| (point.at - f64::from(preview.boxes)).abs() < 0.005;
            match sensitivity.by_box_threshold.iter().find(at) {
                Some(point) => point_ui(ui, cx, details, shown, point),
                None => say(ui, "At this threshold nothing was judged."),
            }
        }
    }
}

fn point_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, shown: &ShownScore<'_>, point: &SensitivityPoint) {
    let palette = cx.palette(ui);
    let waits = |part: &str| -> Option<&'static str> {
        let network = if point.pending.boxes {
            "detector"
        } else if part == "preserve" {
            "segmenter"
        } else {
            "encoder"
        };
        point.pending.has(part).then_some(network)
    };
    Grid::new("parts at a threshold").num_columns(3).spacing(vec2(10.0, 4.0)).show(ui, |ui| {
        for heading in ["", "scored", &format!("at {:.2}", point.at)] {
            ui.label(RichText::new(heading).size(11.0).color(palette.text_dim.0));
        }
        ui.end_row();
        for name in Parts::NAMES {
            let (Some(scored), Some(there)) = (shown.score.parts.get(name), point.parts.get(name)) else { continue };
            ui.label(name);
            ui.label(outcome_text(scored, palette));
            match waits(name) {
                Some(network) => ui.label(RichText::new(format!("waits for the {network}")).size(11.5).italics().color(palette.info.0)),
                None => ui.label(outcome_text(there, palette)),
            };
            ui.end_row();
        }
        let range = details.audit.range.as_ref().filter(|_| point.pending.is_none());
        if let (Some(range), Some(scored)) = (range, &shown.combined) {
            let there = Score::of_parts(shown.score.profile, shown.score.global, point.parts.clone());
            let overall: Outcome<f64> = combined(&there, range).overall;
            ui.label(RichText::new("overall").strong());
            ui.label(outcome_text(&scored.overall, palette));
            ui.label(outcome_text(&overall, palette));
            ui.end_row();
        }
    });
    if !point.pending.is_none() {
        ui.horizontal_wrapped(|ui| {
            let text = "These boxes are new to a network: what waits for it is not known yet.";
            ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
            if ui.button("Ask the networks").on_hover_text("Computes what is missing, in the background.").clicked() {
                cx.send(Action::Audit(AuditAction::WantSensitivity { edit: details.id, all: true }));
            }
        });
    }
}
