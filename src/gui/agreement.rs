//! The table of the agreement page, computed on a thread of its own whenever rows change.

use std::sync::Arc;

use crate::domain::{Criterion, Outcome, Zone};
use crate::editor::{Measure, Row};
use crate::stats::correlation::{complete, kendall_tau_b, pearson, spearman};
use crate::stats::{Agreement, Row as StatRow, TiePolicy, agreement};

/// One measure against people.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub measure: Measure,
    /// Edits that have both numbers.
    pub edits: usize,
    pub pearson: Outcome<f64>,
    pub spearman: Outcome<f64>,
    pub kendall: Outcome<f64>,
    /// Mean over model pairs of the share of items where the measure prefers the edit that people prefer.
    pub pairwise: Outcome<f64>,
}

/// Agreement of one pair of models.
#[derive(Clone, Debug, PartialEq)]
pub struct PairLine {
    pub first: Arc<str>,
    pub second: Arc<str>,
    /// Items on which people prefer one of the two and the overall has a value for both.
    pub items: usize,
    /// Share agreed on, one a measure in the order of the table's lines.
    pub shares: Vec<Outcome<f64>>,
}

/// Everything on the right of the agreement page.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub criterion: Criterion,
    /// The part of the picture that the lines of other metrics are of.
    pub zone: Zone,
    /// How ties are counted, in words.
    pub ties: String,
    pub lines: Vec<Line>,
    pub pairs: Vec<PairLine>,
}

/// Every number turned so that higher is better.
fn stat_rows(rows: &[Row], measure: &Measure, criterion: Criterion) -> Vec<StatRow> {
    rows.iter()
        .map(|row| StatRow {
            item: row.item.to_string(),
            model: row.model.to_string(),
            metric: measure.oriented(row),
            human: row.people_on(criterion),
        })
        .collect()
}

/// Computes the table with the paper's tie policy (`bpm.md` section 8): BPM, its parts, and the other metrics of one zone.
pub fn compute(rows: &[Row], criterion: Criterion, zone: Zone) -> Table {
    let policy = TiePolicy::Paper;
    let mut lines = Vec::new();
    let mut agreements: Vec<Agreement> = Vec::new();
    for measure in Measure::offered(rows, zone) {
        let stat_rows = stat_rows(rows, &measure, criterion);
        let (metric, human, _) = complete(&stat_rows);
        let found = agreement(&stat_rows, policy);
        lines.push(Line {
            measure,
            edits: metric.len(),
            pearson: pearson(&metric, &human),
            spearman: spearman(&metric, &human),
            kendall: kendall_tau_b(&metric, &human),
            pairwise: found.macro_mean.clone(),
        });
        agreements.push(found);
    }
    // Every agreement lists the same pairs of models in the same order: pairs depend on items and models alone.
    let overall = agreements.first().map(|found| found.pairs.as_slice()).unwrap_or_default();
    let pairs = overall
        .iter()
        .enumerate()
        .map(|(index, pair)| PairLine {
            first: pair.models[0].as_str().into(),
            second: pair.models[1].as_str().into(),
            items: pair.counts.compared,
            shares: agreements
                .iter()
                .map(|found| {
                    found.pairs.get(index).map_or_else(|| Outcome::NotApplicable("no such pair".into()), |pair| pair.share.clone())
                })
                .collect(),
        })
        .collect();
    Table { criterion, zone, ties: policy.words(), lines, pairs }
}
