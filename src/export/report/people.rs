//! The section about people: how raters and voters agree, and the habits of each.

use std::collections::BTreeMap;

use super::html::escape;
use super::sections::{missing, number, table};
use super::words::{no_pairs_words, one_rater_words};
use crate::stats::comparison::Comparison;
use crate::stats::people::BetweenRaters;

pub(super) fn people(comparison: &Comparison) -> String {
    let mut text = String::from("<h2>People against each other</h2>\n");
    if comparison.between_raters_all.is_empty() && comparison.between_voters.is_empty() {
        text.push_str("<p class=\"dim\">Nobody rated or voted, so there is nothing to compare.</p>\n");
        return text;
    }
    if !comparison.between_raters_all.is_empty() {
        text.push_str(&raters(comparison));
    }
    if !comparison.between_voters.is_empty() {
        text.push_str(&voters(comparison));
    }
    text.push_str(&disagreements(comparison));
    text
}

fn between_row(criterion: &str, model: &str, found: &BetweenRaters) -> Vec<String> {
    vec![
        escape(criterion),
        escape(model),
        found.raters.len().to_string(),
        found.edits_with_two.to_string(),
        number(&found.percent),
        number(&found.alpha_nominal),
        number(&found.alpha_ordinal),
        number(&found.alpha_interval),
        found.edits_with_all.map_or_else(|| missing("–", "it was not kept with this comparison"), |count| count.to_string()),
        number(&found.fleiss_kappa),
        number(&found.icc_single),
        number(&found.icc_mean),
    ]
}

fn raters(comparison: &Comparison) -> String {
    let mut text = String::new();
    if comparison.between_raters_all.values().all(|found| found.raters.len() < 2) {
        text.push_str("<p class=\"dim\">One rater for each criterion, so there is no agreement between raters.</p>\n");
    } else {
        let mut rows = Vec::new();
        for (criterion, all) in comparison.between_raters_all.iter().filter(|(_, all)| all.raters.len() > 1) {
            rows.push(between_row(criterion, "all models", all));
            let by_model = comparison.between_raters.get(criterion).into_iter().flatten();
            rows.extend(by_model.map(|(model, found)| between_row(criterion, model, found)));
        }
        let head = [
            "criterion",
            "model",
            "raters",
            "edits",
            "equal",
            "α nominal",
            "α ordinal",
            "α interval",
            "of all raters",
            "Fleiss κ",
            "ICC(2,1)",
            "ICC(2,k)",
        ];
        text.push_str(&table(&head, rows));
        text.push_str(
            "<p class=\"dim\">Edits: those that two raters or more answered. Of all raters: those that everyone answered, which Fleiss' κ and \
             the intraclass correlations are over.</p>\n",
        );
        if let Some(words) = one_rater_words(&comparison.between_raters_all) {
            text.push_str(&format!("<p class=\"dim\">{}</p>\n", escape(&words)));
        }
        text.push_str(&pairs("Cohen's κ of every pair of raters, all models", &comparison.between_raters_all, true));
    }
    let habits =
        comparison.raters.iter().flat_map(|(criterion, raters)| raters.iter().map(move |(rater, report)| (criterion, rater, report)));
    let rows = habits.map(|(criterion, rater, report)| {
        vec![
            escape(criterion),
            escape(rater),
            report.answers.to_string(),
            number(&report.bias),
            number(&report.spread),
            number(&report.with_others),
            number(&report.self_consistency),
            report.median_seconds.value().map_or_else(|| number(&report.median_seconds), |seconds| format!("{seconds:.1}")),
        ]
    });
    let head = ["criterion", "rater", "answers", "bias", "spread", "ρ with others", "equal when repeated", "seconds"];
    text.push_str(&format!("<details><summary>Each rater</summary>{}</details>\n", table(&head, rows)));
    text
}

/// Cohen's κ by criterion and pair of raters, with what is left out and why.
fn pairs(title: &str, criteria: &BTreeMap<String, BetweenRaters>, weighted: bool) -> String {
    let rows = criteria.iter().flat_map(|(criterion, found)| found.cohen_kappa.iter().map(move |pair| (criterion, pair)));
    let rows: Vec<Vec<String>> = rows
        .map(|(criterion, pair)| {
            let mut row = vec![escape(criterion), escape(&pair.raters.join(" – ")), number(&pair.kappa)];
            row.extend(weighted.then(|| number(&pair.quadratic)));
            row
        })
        .collect();
    let mut text = String::new();
    if !rows.is_empty() {
        let head: &[&str] = if weighted { &["criterion", "raters", "κ", "κ, quadratic weights"] } else { &["criterion", "voters", "κ"] };
        text.push_str(&format!("<details><summary>{title}</summary>{}</details>\n", table(head, rows)));
    }
    for (criterion, why) in criteria.iter().filter_map(|(criterion, found)| Some((criterion, no_pairs_words(found)?))) {
        text.push_str(&format!("<p class=\"dim\">{}: {}.</p>\n", escape(criterion), escape(&why)));
    }
    text
}

fn voters(comparison: &Comparison) -> String {
    let rows = comparison.between_voters.iter().map(|(criterion, found)| {
        vec![
            escape(criterion),
            found.raters.len().to_string(),
            found.edits_with_two.to_string(),
            number(&found.percent),
            number(&found.alpha_nominal),
            number(&found.fleiss_kappa),
        ]
    });
    let head = ["votes on", "voters", "pairs with two voters", "equal", "α nominal", "Fleiss κ"];
    let mut text = format!("<h3>Voters</h3>{}", table(&head, rows));
    text.push_str(&pairs("Cohen's κ of every pair of voters", &comparison.between_voters, false));
    let habits =
        comparison.voters.iter().flat_map(|(criterion, voters)| voters.iter().map(move |(voter, report)| (criterion, voter, report)));
    let rows = habits.map(|(criterion, voter, report)| {
        vec![
            escape(criterion),
            escape(voter),
            report.votes.to_string(),
            number(&report.first_share),
            number(&report.tie_share),
            number(&report.with_others),
        ]
    });
    let head = ["votes on", "voter", "votes", "decided for the first (left)", "ties or both bad", "as the others"];
    text.push_str(&format!("<details><summary>Each voter</summary>{}</details>\n", table(&head, rows)));
    text
}

fn disagreements(comparison: &Comparison) -> String {
    if comparison.disagreements.is_empty() {
        return String::new();
    }
    let rows = comparison.disagreements.iter().map(|found| {
        let answers: Vec<String> = found.answers.iter().map(|(rater, value)| format!("{}: {value}", escape(rater))).collect();
        vec![escape(&found.item), escape(&found.model), escape(&found.criterion), format!("{}", found.spread), answers.join(", ")]
    });
    format!(
        "<details><summary>Edits on which people disagree most</summary>{}</details>\n",
        table(&["item", "model", "criterion", "spread", "answers"], rows)
    )
}
