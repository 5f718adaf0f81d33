//! How raters agree with each other, the habits of each, and the edits on which they differ most.

use std::collections::BTreeMap;

use egui::{Label, RichText, Ui};

use super::cells::{Head, Reasons, count_ui, table_staying_ui, value_ui, words_ui};
use super::pick::edit_link;
use crate::domain::Outcome;
use crate::export::{no_pairs_words, one_rater_words};
use crate::gui::context::Context;
use crate::gui::panels::queue::model_name;
use crate::gui::widgets::section;
use crate::stats::comparison::Comparison;
use crate::stats::people::{BetweenRaters, PairKappa, RaterReport, VoterReport};

const AGREEMENT: [Head<'static>; 11] = [
    Head::new("criterion", "", 100.0),
    Head::new("model", "", 90.0),
    Head::new("edits", "Edits that two raters or more answered.", 42.0),
    Head::new("equal", "Share of equal pairs of answers to the same edit.", 50.0),
    Head::new("α nom.", "Krippendorff's α, nominal.", 52.0),
    Head::new("α ord.", "Krippendorff's α, ordinal.", 52.0),
    Head::new("α int.", "Krippendorff's α, interval.", 52.0),
    Head::new(
        "of all",
        "Edits that every rater answered: Fleiss' κ and the intraclass correlations to the right are over these alone.",
        42.0,
    ),
    Head::new("Fleiss κ", "Over the edits that every rater answered.", 56.0),
    Head::new(
        "ICC(2,1)",
        "Intraclass correlation: the same raters, one answer, absolute agreement; over the edits that every rater answered.",
        60.0,
    ),
    Head::new("ICC(2,k)", "The same for the mean of the raters.", 60.0),
];

const PAIRS: [Head<'static>; 4] = [
    Head::new("criterion", "", 100.0),
    Head::new("raters", "", 210.0),
    Head::new("Cohen κ", "Over what both answered: 1 is perfect, 0 is chance.", 64.0),
    Head::new("quadratic", "Cohen's κ with differences weighed by the square of their steps.", 64.0),
];

const VOTERS: [Head<'static>; 6] = [
    Head::new("votes on", "", 100.0),
    Head::new("voter", "", 150.0),
    Head::new("votes", "", 54.0),
    Head::new("first", "Share of the decided votes that went to the edit shown first (left); 0.5 when the side does not matter.", 54.0),
    Head::new("ties", "Share of ties and of both bad.", 54.0),
    Head::new("as others", "Share of the others' votes on the same pairs that are the same.", 66.0),
];

const HABITS: [Head<'static>; 8] = [
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
    if found.between_raters_all.is_empty() {
        words_ui(ui, palette, "Nobody has rated an edit: people voted only.");
    } else {
        section(ui, palette, "Agreement between raters");
        between_ui(ui, cx, &between_lines(found));
        if let Some(words) = one_rater_words(&found.between_raters_all) {
            words_ui(ui, palette, &words);
        }
        kappas_ui(ui, cx, "pairs of raters", &found.between_raters_all);
        section(ui, palette, "Habits of each rater");
        habits_ui(ui, cx, &found.raters);
    }
    if !found.between_voters.is_empty() {
        section(ui, palette, "Agreement between voters");
        voters_ui(ui, cx, found);
    }
    if !found.disagreements.is_empty() {
        section(ui, palette, "Raters differ most about");
        for about in &found.disagreements {
            let answers: Vec<String> = about.answers.iter().map(|(rater, value)| format!("{rater} {value}")).collect();
            edit_link(ui, cx, &about.item, &about.model, &format!("{}: {}", about.criterion, answers.join(", ")));
        }
    }
}

/// Criterion, model (empty: all) and the agreement, all models of a criterion first. What one rater alone answered has none.
fn between_lines(found: &Comparison) -> Vec<(&str, &str, &BetweenRaters)> {
    let mut lines = Vec::new();
    for (criterion, all) in &found.between_raters_all {
        if all.raters.len() < 2 {
            continue;
        }
        lines.push((criterion.as_str(), "", all));
        let by_model = found.between_raters.get(criterion).into_iter().flatten();
        lines.extend(by_model.map(|(model, of)| (criterion.as_str(), model.as_str(), of)));
    }
    lines
}

fn between_ui(ui: &mut Ui, cx: &Context<'_>, lines: &[(&str, &str, &BetweenRaters)]) {
    if lines.is_empty() {
        return;
    }
    let palette = cx.palette(ui);
    table_staying_ui(ui, cx, "between", (&AGREEMENT, 2), lines.len(), |row| {
        let Some((criterion, model, of)) = lines.get(row.index()) else { return };
        let name = if model.is_empty() { RichText::new("all models").strong() } else { RichText::new(model_name(model)) };
        for text in [RichText::new(*criterion), name] {
            row.col(|ui| {
                ui.add(Label::new(text).truncate());
            });
        }
        row.col(|ui| count_ui(ui, of.edits_with_two));
        for value in [&of.percent, &of.alpha_nominal, &of.alpha_ordinal, &of.alpha_interval] {
            row.col(|ui| value_ui(ui, value));
        }
        row.col(|ui| match of.edits_with_all {
            Some(count) => count_ui(ui, count),
            None => value_ui(ui, &Outcome::NotApplicable("it was not kept with this comparison".to_owned())),
        });
        for value in [&of.fleiss_kappa, &of.icc_single, &of.icc_mean] {
            row.col(|ui| value_ui(ui, value));
        }
    });
    let mut reasons = Reasons::default();
    for (criterion, model, of) in lines {
        reasons.add(&format!("α of {criterion} {model}"), &of.alpha_ordinal);
    }
    reasons.ui(ui, palette);
}

/// Cohen's κ of every pair of raters, and which pairs are left out and why.
fn kappas_ui(ui: &mut Ui, cx: &Context<'_>, salt: &str, criteria: &BTreeMap<String, BetweenRaters>) {
    let palette = cx.palette(ui);
    let lines: Vec<(&str, &PairKappa)> =
        criteria.iter().flat_map(|(criterion, found)| found.cohen_kappa.iter().map(move |pair| (criterion.as_str(), pair))).collect();
    ui.add_space(8.0);
    if !lines.is_empty() {
        table_staying_ui(ui, cx, salt, (&PAIRS, 2), lines.len(), |row| {
            let Some((criterion, pair)) = lines.get(row.index()) else { return };
            for text in [(*criterion).to_owned(), pair.raters.join(" – ")] {
                row.col(|ui| {
                    ui.add(Label::new(text).truncate());
                });
            }
            row.col(|ui| value_ui(ui, &pair.kappa));
            row.col(|ui| value_ui(ui, &pair.quadratic));
        });
    }
    for (criterion, why) in criteria.iter().filter_map(|(criterion, found)| Some((criterion, no_pairs_words(found)?))) {
        words_ui(ui, palette, &format!("{criterion}: {why}."));
    }
}

/// How voters agree, and how each of them votes.
fn voters_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let value = |outcome: &crate::domain::Outcome<f64>| {
        outcome.value().map_or_else(|| format!("undefined ({})", outcome.why().unwrap_or_default()), |value| format!("{value:.3}"))
    };
    for (criterion, voters) in &found.between_voters {
        let text = format!(
            "Votes on {criterion}: {} voters, {} pairs that two voted on, equal {}, α nominal {}, Fleiss κ {}",
            voters.raters.len(),
            voters.edits_with_two,
            value(&voters.percent),
            value(&voters.alpha_nominal),
            value(&voters.fleiss_kappa)
        );
        words_ui(ui, palette, &text);
    }
    kappas_ui(ui, cx, "pairs of voters", &found.between_voters);
    let lines: Vec<(&str, &str, &VoterReport)> = found
        .voters
        .iter()
        .flat_map(|(criterion, voters)| voters.iter().map(move |(voter, report)| (criterion.as_str(), voter.as_str(), report)))
        .collect();
    section(ui, palette, "Habits of each voter");
    table_staying_ui(ui, cx, "voters", (&VOTERS, 2), lines.len(), |row| {
        let Some((criterion, voter, report)) = lines.get(row.index()) else { return };
        for text in [*criterion, *voter] {
            row.col(|ui| {
                ui.add(Label::new(text).truncate());
            });
        }
        row.col(|ui| count_ui(ui, report.votes));
        for value in [&report.first_share, &report.tie_share, &report.with_others] {
            row.col(|ui| value_ui(ui, value));
        }
    });
}

fn habits_ui(ui: &mut Ui, cx: &Context<'_>, raters: &BTreeMap<String, BTreeMap<String, RaterReport>>) {
    let lines: Vec<(&str, &str, &RaterReport)> = raters
        .iter()
        .flat_map(|(criterion, raters)| raters.iter().map(move |(rater, report)| (criterion.as_str(), rater.as_str(), report)))
        .collect();
    let palette = cx.palette(ui);
    table_staying_ui(ui, cx, "habits", (&HABITS, 2), lines.len(), |row| {
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
}
