//! How sure Krippendorff's α is: items are drawn. The coincidences of answers add up over units, so a resample adds matrices of as many
//! rows as there are different answers instead of going through all answers again (Krippendorff, "Computing Krippendorff's
//! alpha-reliability", 2011).

use serde::{Deserialize, Serialize};

use super::intervals::{Bootstrap, Interval, NO_RESAMPLES, intervals};
use super::raters::{Level, Unit};
use super::undefined;
use crate::domain::Outcome;

/// The interval of α at each level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlphaIntervals {
    #[serde(with = "undefined")]
    pub nominal: Outcome<Interval>,
    #[serde(with = "undefined")]
    pub ordinal: Outcome<Interval>,
    #[serde(with = "undefined")]
    pub interval: Outcome<Interval>,
}

impl AlphaIntervals {
    /// Why there are none.
    pub fn none(why: &str) -> Self {
        let none = || Outcome::NotApplicable(why.to_owned());
        Self { nominal: none(), ordinal: none(), interval: none() }
    }
}

impl Default for AlphaIntervals {
    /// Of a comparison that was saved before these were computed.
    fn default() -> Self {
        let [nominal, ordinal, interval] = [(); 3].map(|()| undefined::not_saved());
        Self { nominal, ordinal, interval }
    }
}

/// More different answers than this are no scale of answers.
const VALUES: usize = 64;

/// The intervals over units of which each belongs to the item of that number; items are drawn, because units of one item depend on each other.
pub fn alpha_intervals(units: &[Unit], item_of: &[usize], settings: Bootstrap) -> AlphaIntervals {
    if settings.resamples == 0 {
        return AlphaIntervals::none(NO_RESAMPLES);
    }
    let given = |unit: &Unit| -> Vec<f64> { unit.iter().flatten().copied().filter(|value| value.is_finite()).collect() };
    let pairable: Vec<(usize, Vec<f64>)> =
        item_of.iter().zip(units).map(|(item, unit)| (*item, given(unit))).filter(|(_, given)| given.len() > 1).collect();
    let mut values: Vec<f64> = pairable.iter().flat_map(|(_, given)| given.iter().copied()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.len() > VALUES {
        return AlphaIntervals::none(&format!("{} different answers; α is resampled for at most {VALUES}", values.len()));
    }
    let items = Coincidences::new(&pairable, &values);
    let found = intervals(items.starts.len() - 1, settings, |drawn| {
        let sums = items.sums(drawn, values.len());
        [Level::Nominal, Level::Ordinal, Level::Interval].map(|level| alpha_of(&sums, &values, level)).into()
    });
    match <[Outcome<Interval>; 3]>::try_from(found) {
        Ok([nominal, ordinal, interval]) => AlphaIntervals { nominal, ordinal, interval },
        Err(_) => AlphaIntervals::none("no unit has answers of two raters"),
    }
}

/// The coincidences of each item that has some: cell of the matrix, and how much.
struct Coincidences {
    starts: Vec<usize>,
    cells: Vec<(u32, f64)>,
}

impl Coincidences {
    fn new(pairable: &[(usize, Vec<f64>)], values: &[f64]) -> Self {
        let mut by_item: Vec<&(usize, Vec<f64>)> = pairable.iter().collect();
        by_item.sort_by_key(|(item, _)| *item);
        let place = |value: f64| values.partition_point(|known| *known < value);
        let (mut starts, mut cells) = (vec![0], Vec::new());
        for item in by_item.chunk_by(|a, b| a.0 == b.0) {
            for (_, given) in item {
                let share = 1.0 / (given.len() - 1) as f64;
                for (i, a) in given.iter().enumerate() {
                    for b in &given[i + 1..] {
                        let (a, b) = (place(*a), place(*b));
                        // At most 64 values, so the cell fits.
                        cells.extend([(a, b), (b, a)].map(|(a, b)| ((a * values.len() + b) as u32, share)));
                    }
                }
            }
            starts.push(cells.len());
        }
        Self { starts, cells }
    }

    fn sums(&self, drawn: &[usize], values: usize) -> Vec<f64> {
        let mut sums = vec![0.0; values * values];
        for &item in drawn {
            for (cell, share) in &self.cells[self.starts[item]..self.starts[item + 1]] {
                sums[*cell as usize] += share;
            }
        }
        sums
    }
}

/// α of a matrix of coincidences, row by row.
fn alpha_of(coincidences: &[f64], values: &[f64], level: Level) -> Outcome<f64> {
    let counts: Vec<f64> = coincidences.chunks(values.len().max(1)).map(|row| row.iter().sum()).collect();
    if counts.iter().filter(|count| **count > 0.0).count() < 2 {
        return Outcome::NotApplicable("one value only".into());
    }
    let mut before = 0.0;
    let places: Vec<f64> = counts
        .iter()
        .zip(values)
        .map(|(count, value)| {
            before += count;
            if level == Level::Ordinal { before - count / 2.0 } else { *value }
        })
        .collect();
    let distance = |a: usize, b: usize| if level == Level::Nominal { f64::from(u8::from(a != b)) } else { (places[a] - places[b]).powi(2) };
    let (mut observed, mut expected) = (0.0, 0.0);
    for (a, row) in coincidences.chunks(values.len()).enumerate() {
        for (b, cell) in row.iter().enumerate() {
            observed += cell * distance(a, b);
            expected += counts[a] * counts[b] * distance(a, b);
        }
    }
    Outcome::Value(1.0 - (counts.iter().sum::<f64>() - 1.0) * observed / expected)
}
