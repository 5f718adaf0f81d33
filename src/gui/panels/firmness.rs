//! How firm a score is: the overall against the box threshold, and against the growth of the mask.

use egui::{Label, RichText, Stroke, Ui, vec2};
use egui_plot::{AxisHints, Line, LineStyle, Plot, PlotPoints, VLine};

use crate::domain::Score;
use crate::editor::{Band, Cell, EditDetails};
use crate::engine::SensitivityPoint;
use crate::engine::audit::Sensitivity;
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::rescore::{AuditAction, Reveal, ShownScore, combined};
use crate::gui::widgets::{self, section};

use super::score::reveal;

/// Height of a plot, in points.
const PLOT: f32 = 96.0;

/// Draws the section; what it shows is computed when it is opened.
pub fn firmness_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, shown: &ShownScore<'_>) {
    let palette = cx.palette(ui);
    let audit = &cx.state.audit;
    reveal(ui, cx, Reveal::Sensitivity);
    section(ui, palette, "Sensitivity");
    let label = if audit.sensitivity_open { "Hide how firm the score is" } else { "How firm is the score?" };
    if ui.button(label).on_hover_text(Command::ShowSensitivity.tooltip(ui.ctx())).clicked() {
        cx.send(Action::Do(Command::ShowSensitivity));
    }
    if !audit.sensitivity_open {
        let text = "Would another box threshold or a slightly other mask give another score?";
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
        return;
    }
    if !shown.pending.is_none() {
        ui.label(RichText::new("It is computed once the score is complete.").size(12.0).color(palette.text_dim.0));
        return;
    }
    let Some(asked) = audit.sensitivity_of(details.id, shown.score.profile) else {
        cx.send(Action::Audit(AuditAction::WantSensitivity { edit: details.id, all: false }));
        return;
    };
    match &asked.result {
        None => {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label(RichText::new("Trying thresholds and masks…").color(palette.text_dim.0));
            });
        }
        Some(Err(why)) => {
            ui.add(Label::new(RichText::new(format!("⚠ {why}")).color(palette.bad.0)).wrap());
        }
        Some(Ok(sensitivity)) => curves_ui(ui, cx, details, shown, sensitivity),
    }
}

/// The overall at each setting; unscored where a network has to be asked first.
fn overalls(points: &[SensitivityPoint], details: &EditDetails, score: &Score) -> Vec<(f64, Cell)> {
    let overall = |point: &SensitivityPoint| {
        if !point.pending.is_none() {
            return Cell::Unscored;
        }
        let Some(range) = &details.audit.range else { return Cell::NotApplicable };
        let score = Score::of_parts(score.profile, score.global, point.parts.clone());
        (&combined(&score, range).overall).into()
    };
    points.iter().map(|point| (point.at, overall(point))).collect()
}

fn curves_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, shown: &ShownScore<'_>, sensitivity: &Sensitivity) {
    let palette = cx.palette(ui);
    let by_threshold = overalls(&sensitivity.by_box_threshold, details, shown.score);
    let by_growth = overalls(&sensitivity.by_growth, details, shown.score);
    if by_threshold.is_empty() && by_growth.is_empty() {
        ui.label(RichText::new("The whole picture was to change: no box and no mask takes part.").color(palette.text_dim.0));
        return;
    }
    verdict_ui(ui, cx, (&by_threshold, sensitivity.box_threshold), &by_growth);
    let waiting = sensitivity.pending();
    if waiting > 0 {
        ui.horizontal_wrapped(|ui| {
            let text =
                format!("{waiting} of {} thresholds choose boxes that the segmenter or the encoder has not seen.", by_threshold.len());
            ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
            let tooltip = "Asks the networks for what is missing, in the background.";
            if ui.button("Compute them").on_hover_text(tooltip).clicked() {
                cx.send(Action::Audit(AuditAction::WantSensitivity { edit: details.id, all: true }));
            }
        });
    }
    if !by_threshold.is_empty() {
        curve_ui(ui, cx, "overall against the box threshold", &by_threshold, sensitivity.box_threshold);
    }
    if by_growth.is_empty() {
        ui.label(RichText::new("There is no mask to grow or shrink.").size(12.0).color(palette.text_dim.0));
    } else {
        curve_ui(ui, cx, "overall against growth of the mask (px of 500)", &by_growth, 0.0);
    }
}

/// A threshold is close to the one in use within this, a growth of the mask within so many pixels of the canvas.
const CLOSE: (f64, f64) = (0.05, 5.0);

const VERDICT: &str = "Over box thresholds 0.05 to 0.60 and masks shrunk or grown by up to 20 px of the 500×500 canvas. Fragile: the overall moves \
                       by at least 0.2, a tenth of its scale, or has no value at a threshold within 0.05 (a mask within 5 px) of the one in use.";

fn verdict_ui(ui: &mut Ui, cx: &Context<'_>, (by_threshold, now): (&[(f64, Cell)], f64), by_growth: &[(f64, Cell)]) {
    let palette = cx.palette(ui);
    // 0.35 − 0.3 is a little more than 0.05 in binary.
    let close = |away: f64, limit: f64| away.abs() <= limit + 1e-9;
    let thresholds = by_threshold.iter().map(|&(at, overall)| (overall, close(at - now, CLOSE.0)));
    let growths = by_growth.iter().map(|&(at, overall)| (overall, close(at, CLOSE.1)));
    let band = Band::of(thresholds.chain(growths));
    let (sign, words, color) = match &band {
        None => ("–", "The overall has no value at any of these settings.".to_owned(), palette.text_dim.0),
        Some(band) if band.is_fragile() => ("⚠", band.words(), palette.warning.0),
        Some(band) => ("✔", band.words(), palette.good.0),
    };
    ui.add(Label::new(RichText::new(format!("{sign} {words}")).strong().color(color)).wrap()).on_hover_text(VERDICT);
}

fn curve_ui(ui: &mut Ui, cx: &Context<'_>, name: &str, points: &[(f64, Cell)], now: f64) {
    let palette = cx.palette(ui);
    ui.label(RichText::new(name).size(12.0).color(palette.text_dim.0));
    let values = || points.iter().filter_map(|(_, overall)| overall.value());
    let (least, greatest) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    if least > greatest {
        ui.label(RichText::new("no value").italics().color(palette.text_dim.0));
        return;
    }
    // A flat line is shown as flat, not blown up to fill the plot.
    let (middle, half) = ((least + greatest) / 2.0, ((greatest - least) / 2.0).max(0.1) * 1.1);
    let mut plot = Plot::new(("sensitivity", name))
        .height(PLOT)
        .include_y(middle - half)
        .include_y(middle + half)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        // Room for half of the last number of the axis, and numbers also where the panel is narrow.
        .set_margin_fraction(vec2(0.06, 0.06))
        .custom_x_axes(vec![AxisHints::new_x().label_spacing(24.0..=36.0)])
        .grid_color(palette.outline.0);
    // All settings that were tried, also those without a value.
    for (at, _) in points.first().into_iter().chain(points.last()) {
        plot = plot.include_x(*at);
    }
    let shown = plot.show(ui, |plot_ui| {
        plot_ui.vline(VLine::new("now", now).stroke(Stroke::new(1.5, palette.text_strong.0)).style(LineStyle::dashed_loose()));
        for run in runs(points) {
            plot_ui.line(Line::new("overall", PlotPoints::from(run)).stroke(Stroke::new(2.0, palette.accent.0)));
        }
    });
    widgets::name(&shown.response, egui::Role::Image, false, name);
    shown.response.on_hover_text("The dashed line marks the setting of the score. Gaps: no value there, or not computed yet.");
}

/// Stretches without a gap.
fn runs(points: &[(f64, Cell)]) -> Vec<Vec<[f64; 2]>> {
    let stretches = points.split(|(_, overall)| overall.value().is_none()).filter(|run| !run.is_empty());
    stretches.map(|run| run.iter().filter_map(|(at, overall)| overall.value().map(|value| [*at, value])).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_broken_where_it_has_no_value() {
        let value = Cell::Value;
        let points = [(0.0, Cell::Unscored), (1.0, value(5.0)), (2.0, value(6.0)), (3.0, Cell::NotApplicable), (4.0, value(7.0))];
        assert_eq!(runs(&points), [vec![[1.0, 5.0], [2.0, 6.0]], vec![[4.0, 7.0]]]);
    }
}
