//! The weight α of the paper over a sweep, with a held-out half and a warning.

use egui::{RichText, Ui};
use egui_plot::{Line, MarkerShape, Plot, PlotPoints, Points, VLine};

use super::cells::{Head, Reasons, table_ui, value_ui, words_ui};
use crate::domain::{Outcome, PaperWeights};
use crate::gui::context::Context;
use crate::gui::widgets::section;
use crate::stats::comparison::{Comparison, Weights};

pub(super) fn weights_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    section(ui, palette, "The weight between the parts");
    words_ui(ui, palette, "BPM = α · (modify + preserve) + (1 − α) · (size + position), for local edits.");
    let Some(weights) = &found.weights else {
        words_ui(ui, palette, "No local edit has all four parts and a rating, so no weight can be judged.");
        return;
    };
    words_ui(ui, palette, &format!("Pairwise agreement with people on overall over {} local edits.", weights.edits));
    curve_ui(ui, cx, weights);
    section(ui, palette, "On other items than it was chosen on");
    match &weights.held_out {
        Outcome::Value(test) => {
            let text = format!(
                "Chosen on {} items: α = {:.1}, agreement {:.3}. On the other {} items: {:.3}.",
                test.items_chosen, test.alpha, test.agreement_on_chosen, test.items_held_out, test.agreement_held_out
            );
            ui.add(egui::Label::new(RichText::new(text).color(palette.text_strong.0)).wrap());
        }
        Outcome::NotApplicable(why) | Outcome::Failed(why) => words_ui(ui, palette, &format!("No held-out test: {why}")),
    }
    ui.add(egui::Label::new(RichText::new(format!("⚠ {}", weights.warning)).color(palette.warning.0)).wrap());
    table_of(ui, cx, weights);
}

fn curve_ui(ui: &mut Ui, cx: &Context<'_>, weights: &Weights) {
    let palette = cx.palette(ui);
    let points: Vec<[f64; 2]> = weights.sweep.iter().filter_map(|at| Some([at.alpha, *at.agreement.value()?])).collect();
    let plot = Plot::new("weights")
        .height(220.0)
        .x_axis_label("α")
        .y_axis_label("pairwise agreement")
        .allow_scroll(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_boxed_zoom(false)
        .show_grid(true)
        .grid_color(palette.outline.0)
        .set_margin_fraction(egui::vec2(0.04, 0.12));
    let shown = plot.show(ui, |plot| {
        plot.vline(VLine::new("the paper's α", PaperWeights::default().alpha).color(palette.text_dim.0));
        if let Outcome::Value(test) = &weights.held_out {
            plot.vline(VLine::new("chosen on half of the items", test.alpha).color(palette.warning.0));
        }
        plot.line(Line::new("agreement", PlotPoints::from(points.clone())).color(palette.accent.0));
        plot.points(Points::new("agreement", PlotPoints::from(points)).color(palette.accent.0).shape(MarkerShape::Circle).radius(4.0));
    });
    crate::gui::widgets::name(&shown.response, egui::Role::Canvas, false, "Agreement by weight");
    words_ui(ui, palette, "Vertical lines: the paper's α (0.7), and the one chosen on half of the items.");
}

const HEADS: [Head<'static>; 2] = [Head::new("α", "", 60.0), Head::new("agreement", "Plain mean over the pairs of models.", 90.0)];

fn table_of(ui: &mut Ui, cx: &Context<'_>, weights: &Weights) {
    table_ui(ui, cx, "weights table", &HEADS, weights.sweep.len(), |row| {
        let Some(at) = weights.sweep.get(row.index()) else { return };
        row.col(|ui| {
            ui.label(RichText::new(format!("{:.1}", at.alpha)).monospace());
        });
        row.col(|ui| value_ui(ui, &at.agreement));
    });
    let mut reasons = Reasons::default();
    weights.sweep.iter().for_each(|at| reasons.add(&format!("α = {:.1}", at.alpha), &at.agreement));
    reasons.ui(ui, cx.palette(ui));
}
