//! How raters agree with each other, the habits of each, and the edits on which they differ most.

use std::collections::BTreeMap;

use egui::{Label, RichText, Ui};

use super::cells::{Head, ROW, Reasons, count_ui, table_ui, value_ui, words_ui};
use super::pick::edit_link;
use crate::gui::context::Context;
use crate::gui::panels::queue::model_name;
use crate::gui::widgets::section;
use crate::stats::comparison::Comparison;
use crate::stats::people::{BetweenRaters, RaterReport};

const AGREEMENT: [Head; 9] = [
    Head::new("criterion", "", 100.0),
    Head::new("model", "", 90.0),
    Head::new("edits", "Edits that two raters or more answered.", 42.0),
    Head::new("equal", "Share of equal pairs of answers to the same edit.", 50.0),
    Head::new("α nom.", "Krippendorff's α, nominal.", 52.0),
    Head::new("α ord.", "Krippendorff's α, ordinal.", 52.0),
    Head::new("α int.", "Krippendorff's α, interval.", 52.0),
    Head::new("Fleiss κ", "", 56.0),
    Head::new("ICC(2,1)", "Intraclass correlation: the same raters, one answer, absolute agreement.", 60.0),
];

const HABITS: [Head; 8] = [
    Head::new("criterion", "", 100.0),
    Head::new("rater", "", 110.0),
    Head::new("answers", "", 54.0),
    Head::new("bias", "Mean of own answer minus the mean of the others on the same edit.", 54.0),
    Head::new("spread", "Standard deviation of own answers.", 54.0),
    Head::new("with others", "Spearman's ρ with the mean of the others.", 72.0),
    Head::new("repeated", "Share of repeated tasks that were answered the same.", 62.0),
    Head::new("seconds", "Median time for an answer.", 56.0),
];

pub(super) fn raters_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    if found.between_raters_all.is_empty() && found.between_voters.is_empty() {
        words_ui(ui, palette, "Nobody has rated an edit yet.");
        return;
    }
    section(ui, palette, "Agreement between raters");
    between_ui(ui, cx, &between_lines(found));
    section(ui, palette, "Habits of each rater");
    habits_ui(ui, cx, &found.raters);
    for (criterion, voters) in &found.between_voters {
        let value = |outcome: &crate::domain::Outcome<f64>| {
            outcome.value().map_or_else(|| format!("undefined ({})", outcome.why().unwrap_or_default()), |value| format!("{value:.3}"))
        };
        let text = format!(
            "Votes on {criterion}: {} voters, equal {}, α nominal {}",
            voters.raters.len(),
            value(&voters.percent),
            value(&voters.alpha_nominal)
        );
        words_ui(ui, palette, &text);
    }
    if !found.disagreements.is_empty() {
        section(ui, palette, "Raters differ most about");
        for about in &found.disagreements {
            let answers: Vec<String> = about.answers.iter().map(|(rater, value)| format!("{rater} {value}")).collect();
            edit_link(ui, cx, &about.item, &about.model, &format!("{}: {}", about.criterion, answers.join(", ")));
        }
    }
}

/// Criterion, model (empty: all) and the agreement, all models of a criterion first.
fn between_lines(found: &Comparison) -> Vec<(&str, &str, &BetweenRaters)> {
    let mut lines = Vec::new();
    for (criterion, all) in &found.between_raters_all {
        lines.push((criterion.as_str(), "", all));
        let by_model = found.between_raters.get(criterion).into_iter().flatten();
        lines.extend(by_model.map(|(model, of)| (criterion.as_str(), model.as_str(), of)));
    }
    lines
}

fn between_ui(ui: &mut Ui, cx: &Context<'_>, lines: &[(&str, &str, &BetweenRaters)]) {
    let palette = cx.palette(ui);
    table_ui(ui, cx, "between", &AGREEMENT, |body| {
        body.rows(ROW, lines.len(), |mut row| {
            let Some((criterion, model, of)) = lines.get(row.index()) else { return };
            let name = if model.is_empty() { RichText::new("all models").strong() } else { RichText::new(model_name(model)) };
            for text in [RichText::new(*criterion), name] {
                row.col(|ui| {
                    ui.add(Label::new(text).truncate());
                });
            }
            row.col(|ui| count_ui(ui, of.edits_with_two));
            for value in [&of.percent, &of.alpha_nominal, &of.alpha_ordinal, &of.alpha_interval, &of.fleiss_kappa, &of.icc_single] {
                row.col(|ui| value_ui(ui, value));
            }
        });
    });
    let mut reasons = Reasons::default();
    for (criterion, model, of) in lines {
        reasons.add(&format!("α of {criterion} {model}"), &of.alpha_ordinal);
    }
    reasons.ui(ui, palette);
}

fn habits_ui(ui: &mut Ui, cx: &Context<'_>, raters: &BTreeMap<String, BTreeMap<String, RaterReport>>) {
    let lines: Vec<(&str, &str, &RaterReport)> = raters
        .iter()
        .flat_map(|(criterion, raters)| raters.iter().map(move |(rater, report)| (criterion.as_str(), rater.as_str(), report)))
        .collect();
    let palette = cx.palette(ui);
    table_ui(ui, cx, "habits", &HABITS, |body| {
        body.rows(ROW, lines.len(), |mut row| {
            let Some((criterion, rater, report)) = lines.get(row.index()) else { return };
            let warned = report.runs_against();
            let name = if warned { RichText::new(format!("⚠ {rater}")).color(palette.warning.0) } else { RichText::new(*rater) };
            row.col(|ui| {
                ui.add(Label::new(*criterion).truncate());
            });
            row.col(|ui| {
                let label = ui.add(Label::new(name).truncate());
                if warned {
                    label.on_hover_text("Answers run against those of the others: is the scale reversed?");
                }
            });
            row.col(|ui| count_ui(ui, report.answers));
            for value in [&report.bias, &report.spread, &report.with_others, &report.self_consistency, &report.median_seconds] {
                row.col(|ui| value_ui(ui, value));
            }
        });
    });
}
