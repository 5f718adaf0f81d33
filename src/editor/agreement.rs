//! Points of the scatter: a number about each edit against what people say.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::row::{Row, RowId};
use crate::domain::{Baseline, Better, Criterion, Parts, Zone, column_better};

/// A number about each edit that can be compared with people.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    Overall,
    /// Index into [`Parts::NAMES`].
    Part(usize),
    /// A named column of the rows: a baseline of one zone (`ssim`, `ssim.outside`), or any other number.
    Column(Arc<str>),
}

impl Measure {
    /// BPM and its parts, in the order they are offered.
    pub const OWN: [Self; 5] = [Self::Overall, Self::Part(0), Self::Part(1), Self::Part(2), Self::Part(3)];

    /// The metric's own numbers, then the columns of `zone` that some row has: baselines in their order, others by name.
    ///
    /// A column that is no baseline speaks of the whole picture.
    pub fn offered(rows: &[Row], zone: Zone) -> Vec<Self> {
        let mut names: BTreeSet<(usize, &Arc<str>)> = BTreeSet::new();
        for (name, _) in rows.iter().flat_map(|row| row.columns.iter()) {
            let (place, of) = Self::read(name).map_or((usize::MAX, Zone::Whole), |(baseline, zone)| (baseline as usize, zone));
            if of == zone {
                names.insert((place, name));
            }
        }
        Self::OWN.into_iter().chain(names.into_iter().map(|(_, name)| Self::Column(Arc::clone(name)))).collect()
    }

    /// The baseline and zone that a column is of.
    fn read(column: &str) -> Option<(Baseline, Zone)> {
        let (name, zone) = column.split_once('.').unwrap_or((column, Zone::Whole.name()));
        Some((Baseline::from_name(name)?, Zone::ALL.into_iter().find(|known| known.name() == zone)?))
    }

    /// Its name on screen.
    pub fn label(&self) -> String {
        match self {
            Self::Overall => "BPM".to_owned(),
            Self::Part(index) => Parts::NAMES.get(*index).copied().unwrap_or("?").to_owned(),
            Self::Column(name) => match Self::read(name) {
                Some((baseline, Zone::Whole)) => baseline.label().to_owned(),
                Some((baseline, zone)) => format!("{} {}", baseline.label(), zone.name()),
                None => name.to_string(),
            },
        }
    }

    /// What it is, where the name does not say.
    pub fn definition(&self) -> Option<&'static str> {
        match self {
            Self::Column(name) => Self::read(name).map(|(baseline, _)| baseline.definition()),
            Self::Overall | Self::Part(_) => None,
        }
    }

    /// Which end is the good one.
    pub fn better(&self) -> Better {
        match self {
            Self::Overall | Self::Part(_) => Better::Higher,
            Self::Column(name) => column_better(name),
        }
    }

    /// Its value for a row.
    pub fn of(&self, row: &Row) -> Option<f64> {
        match self {
            Self::Overall => row.overall.value(),
            Self::Part(index) => row.parts.get(*index).and_then(|cell| cell.value()),
            Self::Column(name) => row.column(name),
        }
    }

    /// Its value turned so that higher is better, for statistics.
    pub fn oriented(&self, row: &Row) -> Option<f64> {
        self.of(row).map(|value| self.better().oriented(value))
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
pub fn measure_points(rows: &[Row], measure: &Measure, criterion: Criterion) -> Vec<MeasurePoint> {
    rows.iter()
        .enumerate()
        .filter_map(|(index, row)| Some(MeasurePoint { row: row.id, index, human: row.people_on(criterion)?, metric: measure.of(row)? }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::{Cell, Flags};

    fn row(columns: &[(&str, f64)]) -> Row {
        Row {
            id: RowId(1),
            item: "i".into(),
            instruction: "Make it red".into(),
            model: "m".into(),
            source: "s.png".into(),
            edited: "e.png".into(),
            parts: [Cell::Value(0.5); 4],
            overall: Cell::Value(1.5),
            columns: columns.iter().map(|(name, value)| ((*name).into(), *value)).collect(),
            people: [None; 5],
            raters: 0,
            simulated: false,
            flags: Flags::NONE,
        }
    }

    #[test]
    fn columns_of_a_zone_are_offered_after_the_own_numbers() {
        let rows = [row(&[("custom", 3.0), ("l1", 0.25), ("l1.outside", 0.5), ("ssim", 0.75)]), row(&[("clip-i", 0.9)])];
        let labels = |zone| Measure::offered(&rows, zone).iter().skip(Measure::OWN.len()).map(Measure::label).collect::<Vec<_>>();
        assert_eq!(labels(Zone::Whole), ["L1", "SSIM", "CLIP-I", "custom"]);
        assert_eq!(labels(Zone::Outside), ["L1 outside"]);
        assert_eq!(labels(Zone::Inside), [""; 0]);
    }

    #[test]
    fn statistics_see_every_measure_with_its_good_end_up() {
        let row = row(&[("l1", 0.25), ("ssim", 0.75)]);
        let of = |name: &str| Measure::Column(name.into());
        assert_eq!((of("l1").of(&row), of("l1").oriented(&row)), (Some(0.25), Some(-0.25)));
        assert_eq!(of("ssim").oriented(&row), Some(0.75));
        assert_eq!(of("psnr").of(&row), None);
        assert_eq!(Measure::Overall.oriented(&row), Some(1.5));
    }
}
