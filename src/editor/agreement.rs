//! Points of the scatter: a number of the metric against what people say.

use super::row::{Row, RowId};
use crate::domain::{Criterion, Parts};

/// A number of the metric that can be compared with people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    Overall,
    /// Index into [`Parts::NAMES`].
    Part(usize),
}

impl Measure {
    /// All measures, in the order they are offered.
    pub const ALL: [Self; 5] = [Self::Overall, Self::Part(0), Self::Part(1), Self::Part(2), Self::Part(3)];

    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Overall => "BPM",
            Self::Part(index) => Parts::NAMES.get(index).copied().unwrap_or("?"),
        }
    }

    /// Its value for a row.
    pub fn of(self, row: &Row) -> Option<f64> {
        match self {
            Self::Overall => row.overall.value(),
            Self::Part(index) => row.parts.get(index).and_then(|cell| cell.value()),
        }
    }
}

/// One edit in the scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasurePoint {
    pub row: RowId,
    /// Index into the rows.
    pub index: usize,
    pub human: f64,
    pub metric: f64,
}

/// The edits that have both the number and a human mean.
pub fn measure_points(rows: &[Row], measure: Measure, criterion: Criterion) -> Vec<MeasurePoint> {
    rows.iter()
        .enumerate()
        .filter_map(|(index, row)| Some(MeasurePoint { row: row.id, index, human: row.people_on(criterion)?, metric: measure.of(row)? }))
        .collect()
}
