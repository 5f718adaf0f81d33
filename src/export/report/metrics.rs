//! The sections about metrics against people: a table that fits the page, and what is needed more rarely folded below it.

use super::html::escape;
use super::notes;
use super::plots::{Dot, dots, scatter as scatter_plot};
use super::sections::{missing, number, table, undefined, with_interval};
use super::words::{TURNED, is_distance, is_of_zone, marked_metric, metric_words};
use super::{ACROSS, ReportExtras};
use crate::stats::comparison::{ALL, Comparison, Line};

/// The lines with what is looked at first.
fn lines_table(comparison: &Comparison, lines: &[&Line]) -> String {
    let head = ["metric", "criterion", "edits", "pairs", "macro", "Spearman ρ", "ρ within items", "AUC"];
    let row = |line: &&Line| {
        let group =
            if line.split == ALL { String::new() } else { format!(" <small>{}: {}</small>", escape(&line.split), escape(&line.group)) };
        vec![
            escape(&marked_metric(comparison, &line.metric)),
            escape(&line.criterion),
            format!("{}{group}", line.complete),
            line.agreement.counts.compared.to_string(),
            with_interval(&line.agreement.macro_mean, &line.macro_interval),
            with_interval(&line.spearman, &line.spearman_interval),
            number(&line.spearman_per_item.mean),
            number(&line.area_under_curve),
        ]
    };
    let mut text = table(&head, lines.iter().map(row));
    text.push_str(&format!("<details><summary>More statistics of these lines</summary>{}</details>\n", rest_table(comparison, lines)));
    text
}

/// What the first table leaves out, so that it fits.
fn rest_table(comparison: &Comparison, lines: &[&Line]) -> String {
    let head = ["metric", "criterion", "edits", "micro", "Kendall τ-b", "Pearson r", "Kendall within items", "items needed"];
    let row = |line: &&Line| {
        let needed = line.items_needed.value().map_or_else(|| undefined(&line.items_needed), usize::to_string);
        let group = if line.split == ALL { ALL.to_owned() } else { format!("{}: {}", line.split, line.group) };
        vec![
            escape(&marked_metric(comparison, &line.metric)),
            escape(&line.criterion),
            escape(&group),
            with_interval(&line.agreement.micro_mean, &line.micro_interval),
            number(&line.kendall_tau_b),
            number(&line.pearson),
            number(&line.kendall_per_item.mean),
            needed,
        ]
    };
    table(&head, lines.iter().map(row))
}

/// A dot for each line that has a number.
fn plot(comparison: &Comparison, lines: &[&Line]) -> String {
    let dot = |line: &&Line| {
        let value = *line.agreement.macro_mean.value()?;
        let label = format!("{} · {}", marked_metric(comparison, &line.metric), line.criterion);
        Some(Dot { label, value, interval: line.macro_interval.value().copied() })
    };
    let shown: Vec<Dot> = lines.iter().filter_map(dot).collect();
    if shown.is_empty() { String::new() } else { dots(&shown, [0.0, 1.0], Some((0.5, "chance without ties"))) }
}

pub(super) fn metrics(comparison: &Comparison) -> String {
    let lines: Vec<&Line> = comparison.lines.iter().filter(|line| line.split == ALL).collect();
    if lines.is_empty() {
        return notes::folded(comparison);
    }
    let (zones, whole): (Vec<&Line>, Vec<&Line>) = lines.iter().copied().partition(|line| is_of_zone(&line.metric));
    let mut text = format!(
        "<h2>Metrics against people</h2>\n{}{}{}",
        plot(comparison, &whole),
        lines_table(comparison, &whole),
        notes::folded(comparison)
    );
    text.push_str(&about_numbers(comparison, &lines));
    if !zones.is_empty() {
        text.push_str(&format!(
            "<details><summary>Metrics inside and outside of the region ({} lines)</summary>{}{}</details>\n",
            zones.len(),
            plot(comparison, &zones),
            lines_table(comparison, &zones)
        ));
    }
    text.push_str(&policies(comparison, &lines));
    let groups: Vec<&Line> = comparison.lines.iter().filter(|line| line.split != ALL).collect();
    if !groups.is_empty() {
        text.push_str(&format!(
            "<details><summary>By group of edits ({} lines)</summary>{}</details>\n",
            groups.len(),
            lines_table(comparison, &groups)
        ));
    }
    text
}

/// How to read the numbers.
fn about_numbers(comparison: &Comparison, lines: &[&Line]) -> String {
    let turned = if lines.iter().any(|line| is_distance(&line.metric)) { format!(" {TURNED}") } else { String::new() };
    format!(
        "<p class=\"dim\">Macro: for each pair of models, the share of items where people prefer one edit and the metric the same one; plain \
         mean over pairs of models. Micro: over all pairs of edits together. Intervals: {} %, percentile bootstrap over items, {} resamples, seed {}. \
         Items needed: for an interval {} wide.{turned}</p>\n",
        comparison.plan.bootstrap.level * 100.0,
        comparison.plan.bootstrap.resamples,
        comparison.plan.bootstrap.seed,
        comparison.plan.width
    )
}

fn policies(comparison: &Comparison, lines: &[&Line]) -> String {
    let policies = lines.iter().flat_map(|line| line.by_policy.iter().map(move |share| (line, share)));
    let rows = policies.map(|(line, share)| {
        vec![
            escape(&marked_metric(comparison, &line.metric)),
            escape(&line.criterion),
            escape(&share.policy),
            share.compared.to_string(),
            number(&share.macro_mean),
            number(&share.micro_mean),
        ]
    });
    let table = table(&["metric", "criterion", "ties", "pairs", "macro", "micro"], rows);
    format!("<details><summary>The same under other treatments of ties</summary>{table}</details>\n")
}

pub(super) fn scatter(comparison: &Comparison, extras: &ReportExtras) -> String {
    let Some(line) = comparison.lines.first().filter(|_| !extras.points.is_empty()) else { return String::new() };
    let name = metric_words(comparison, &line.metric);
    let plot = scatter_plot(&extras.points, &format!("people: {} (mean)", line.criterion), name);
    format!("<h2>{} against people, edit by edit</h2>\n{plot}\n", escape(name))
}

pub(super) fn model_pairs(comparison: &Comparison) -> String {
    let lines: Vec<&Line> =
        comparison.lines.iter().filter(|line| line.split == ALL && line.criterion == comparison.lines[0].criterion).collect();
    let Some(first) = lines.first().filter(|line| !line.agreement.pairs.is_empty()) else { return String::new() };
    let (zones, whole): (Vec<&Line>, Vec<&Line>) = lines.iter().copied().partition(|line| is_of_zone(&line.metric));
    let mut text = format!("<h2>By pair of models, on {}</h2>\n", escape(&first.criterion));
    text.push_str(&pair_tables(comparison, first, &whole));
    if !zones.is_empty() {
        let tables = pair_tables(comparison, first, &zones);
        text.push_str(&format!("<details><summary>Metrics inside and outside of the region</summary>{tables}</details>\n"));
    }
    text
}

/// Pairs of models down, metrics across, as many tables as it takes for each to fit the page.
fn pair_tables(comparison: &Comparison, first: &Line, lines: &[&Line]) -> String {
    let tables = lines.chunks(ACROSS).map(|lines| {
        let names: Vec<String> = lines.iter().map(|line| marked_metric(comparison, &line.metric)).collect();
        let mut head = vec!["pair of models", "pairs"];
        head.extend(names.iter().map(String::as_str));
        let rows = first.agreement.pairs.iter().map(|pair| {
            let mut row = vec![escape(&pair.models.join(" – ")), pair.counts.compared.to_string()];
            for line in lines {
                let own = line.agreement.pairs.iter().find(|own| own.models == pair.models);
                row.push(own.map_or_else(|| missing("–", "the metric has no values for these models"), |own| number(&own.share)));
            }
            row
        });
        table(&head, rows)
    });
    tables.collect()
}
