//! The lines of a comparison as CSV: one line a row, an empty cell and its reason where a statistic is not defined.

use std::io::Write;

use crate::domain::{Outcome, escaped_cell};
use crate::stats::Interval;
use crate::stats::comparison::{Comparison, Line};

const HEADER: [&str; 27] = [
    "metric",
    "criterion",
    "split",
    "group",
    "edits",
    "items",
    "compared",
    "human_ties",
    "metric_ties",
    "macro",
    "macro_low",
    "macro_high",
    "micro",
    "micro_low",
    "micro_high",
    "spearman",
    "spearman_low",
    "spearman_high",
    "kendall_tau_b",
    "pearson",
    "spearman_per_item",
    "kendall_per_item",
    "area_under_curve",
    "items_needed",
    "tie_policy",
    "why_undefined",
    "notes",
];

/// Writes the table with a header.
pub(super) fn write(comparison: &Comparison, file: &mut dyn Write) -> Result<(), String> {
    let mut table = csv::Writer::from_writer(file);
    table.write_record(HEADER).map_err(|error| error.to_string())?;
    for line in &comparison.lines {
        table.write_record(cells(line).iter().map(|cell| escaped_cell(cell).into_owned())).map_err(|error| error.to_string())?;
    }
    table.flush().map_err(|error| error.to_string())
}

fn cells(line: &Line) -> Vec<String> {
    let number = |outcome: &Outcome<f64>| outcome.value().map(f64::to_string).unwrap_or_default();
    let ends = |outcome: &Outcome<Interval>| {
        outcome.value().map_or_else(|| [String::new(), String::new()], |found| [found.low.to_string(), found.high.to_string()])
    };
    let counts = &line.agreement.counts;
    let mut cells = vec![line.metric.clone(), line.criterion.clone(), line.split.clone(), line.group.clone()];
    let whole = [line.complete, line.agreement.items, counts.compared, counts.human_ties, counts.metric_ties];
    cells.extend(whole.map(|count| count.to_string()));
    cells.push(number(&line.agreement.macro_mean));
    cells.extend(ends(&line.macro_interval));
    cells.push(number(&line.agreement.micro_mean));
    cells.extend(ends(&line.micro_interval));
    cells.push(number(&line.spearman));
    cells.extend(ends(&line.spearman_interval));
    let rest = [&line.kendall_tau_b, &line.pearson, &line.spearman_per_item.mean, &line.kendall_per_item.mean, &line.area_under_curve];
    cells.extend(rest.map(number));
    cells.push(line.items_needed.value().map(usize::to_string).unwrap_or_default());
    cells.push(line.agreement.policy.words());
    cells.push(line.agreement.macro_mean.why().unwrap_or_default().to_owned());
    cells.push(line.notes.join("; "));
    cells
}
