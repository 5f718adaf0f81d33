//! Agreement between people: Krippendorff's α, Cohen's and Fleiss' κ, ICC, per cent agreement; checked against the Python
//! packages krippendorff, statsmodels and pingouin.
//!
//! A table holds one line per unit (an edit under one criterion) and one cell per rater; `None` is no answer. A cell that
//! is not finite counts as none.

use serde::{Deserialize, Serialize};

use super::sheet::LARGEST;
use super::undefined;
use crate::domain::Outcome;

/// One unit: an answer per rater, in the same order of raters for all units.
pub type Unit = Vec<Option<f64>>;

/// What differences between values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Values are names: equal or not.
    Nominal,
    /// Values are ordered.
    Ordinal,
    /// Differences of values mean something.
    Interval,
}

/// The answers of a unit that exist.
fn answers(unit: &[Option<f64>]) -> Vec<f64> {
    unit.iter().flatten().copied().filter(|v| v.abs() <= LARGEST).collect()
}

/// Krippendorff's α over any number of raters with missing answers (Krippendorff, "Computing Krippendorff's
/// alpha-reliability", 2011). Units with fewer than two answers do not count.
pub fn krippendorff_alpha(units: &[Unit], level: Level) -> Outcome<f64> {
    let pairable: Vec<Vec<f64>> = units.iter().map(|unit| answers(unit)).filter(|a| a.len() > 1).collect();
    if pairable.is_empty() {
        return Outcome::NotApplicable("no unit has answers of two raters".into());
    }
    let mut values: Vec<f64> = pairable.iter().flatten().copied().collect();
    values.sort_by(f64::total_cmp);
    if values.iter().all(|v| *v == values[0]) {
        return Outcome::NotApplicable(format!("one value only ({})", values[0]));
    }
    let scale = Scale::new(&values, level);
    let n = values.len() as f64;
    let mut observed = 0.0;
    for unit in &pairable {
        let mut sum = 0.0;
        for (i, a) in unit.iter().enumerate() {
            for b in &unit[i + 1..] {
                sum += 2.0 * scale.distance(*a, *b);
            }
        }
        observed += sum / (unit.len() as f64 - 1.0);
    }
    let expected = scale.expected();
    Outcome::Value(1.0 - (n - 1.0) * observed / expected)
}

/// Distances between values. For ordered values the distance of the method, the values between two plus half of their own,
/// is the difference of the middles of their places in the sorted row, so both orders of values are one formula.
struct Scale {
    level: Level,
    /// Value, place, count; sorted.
    places: Vec<(f64, f64, f64)>,
}

impl Scale {
    fn new(sorted: &[f64], level: Level) -> Self {
        let mut places = Vec::new();
        let mut before = 0.0;
        for run in sorted.chunk_by(|a, b| a == b) {
            let count = run.len() as f64;
            let place = if level == Level::Ordinal { before + count / 2.0 } else { run[0] };
            places.push((run[0], place, count));
            before += count;
        }
        Self { level, places }
    }

    fn distance(&self, a: f64, b: f64) -> f64 {
        if self.level == Level::Nominal {
            return f64::from(u8::from(a != b));
        }
        (self.place(a) - self.place(b)).powi(2)
    }

    fn place(&self, value: f64) -> f64 {
        if self.level == Level::Interval {
            return value;
        }
        self.places.binary_search_by(|p| p.0.total_cmp(&value)).map_or(value, |at| self.places[at].1)
    }

    /// The sum of distances over all ordered pairs of values.
    fn expected(&self) -> f64 {
        let n: f64 = self.places.iter().map(|p| p.2).sum();
        if self.level == Level::Nominal {
            return n * n - self.places.iter().map(|p| p.2 * p.2).sum::<f64>();
        }
        let mean = self.places.iter().map(|p| p.1 * p.2).sum::<f64>() / n;
        2.0 * n * self.places.iter().map(|p| p.2 * (p.1 - mean).powi(2)).sum::<f64>()
    }
}

/// How far apart two different answers are for [`cohen_kappa`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// All differences weigh the same.
    #[default]
    None,
    /// By the distance of the values.
    Linear,
    /// By the square of that distance.
    Quadratic,
}

/// Cohen's κ of two raters over the units that both answered (Cohen 1960; weighted: Cohen 1968).
pub fn cohen_kappa(first: &[Option<f64>], second: &[Option<f64>], weights: Weights) -> Outcome<f64> {
    let finite = |v: &Option<f64>| v.filter(|v| v.is_finite());
    let pairs: Vec<(f64, f64)> = first.iter().zip(second).filter_map(|(a, b)| Some((finite(a)?, finite(b)?))).collect();
    if pairs.is_empty() {
        return Outcome::NotApplicable("no unit was answered by both raters".into());
    }
    let mut values: Vec<f64> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let code = |v: f64| values.iter().position(|x| *x == v).unwrap_or_default(); // every value is in the list
    // On a scale of 1 to 5, 2 and 5 are three steps apart, also where nobody answered 3 or 4.
    let weight = |a: usize, b: usize| match weights {
        Weights::None => f64::from(u8::from(a != b)),
        Weights::Linear => (values[a] - values[b]).abs(),
        Weights::Quadratic => (values[a] - values[b]).powi(2),
    };
    let n = pairs.len() as f64;
    let mut margins = vec![[0.0; 2]; values.len()];
    let mut observed = 0.0;
    for (a, b) in pairs.iter().map(|(a, b)| (code(*a), code(*b))) {
        margins[a][0] += 1.0 / n;
        margins[b][1] += 1.0 / n;
        observed += weight(a, b) / n;
    }
    let mut expected = 0.0;
    for (a, row) in margins.iter().enumerate() {
        for (b, column) in margins.iter().enumerate() {
            expected += row[0] * column[1] * weight(a, b);
        }
    }
    if expected == 0.0 {
        return Outcome::NotApplicable(format!("both raters gave one value only ({})", values[0]));
    }
    Outcome::Value(1.0 - observed / expected)
}

/// Fleiss' κ over the units that every rater answered (Fleiss 1971).
pub fn fleiss_kappa(units: &[Unit]) -> Outcome<f64> {
    let complete = match complete_units(units) {
        Ok(complete) => complete,
        Err(why) => return Outcome::NotApplicable(why),
    };
    let raters = complete[0].len() as f64;
    let mut values: Vec<f64> = complete.iter().flatten().copied().collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let n = complete.len() as f64;
    let mut shares = vec![0.0; values.len()];
    let mut agreement = 0.0;
    for unit in &complete {
        let mut squares = 0.0;
        for (share, value) in shares.iter_mut().zip(&values) {
            let count = unit.iter().filter(|v| *v == value).count() as f64;
            *share += count / (n * raters);
            squares += count * count;
        }
        agreement += (squares - raters) / (raters * (raters - 1.0)) / n;
    }
    let chance: f64 = shares.iter().map(|s| s * s).sum();
    if values.len() < 2 {
        return Outcome::NotApplicable(format!("one value only ({})", values[0]));
    }
    Outcome::Value((agreement - chance) / (1.0 - chance))
}

/// The units with an answer of every rater; an error when there are none, or fewer than two raters.
fn complete_units(units: &[Unit]) -> Result<Vec<Vec<f64>>, String> {
    let raters = units.iter().map(Vec::len).max().unwrap_or(0);
    if raters < 2 {
        return Err(format!("{raters} rater(s); two are needed"));
    }
    let complete: Vec<Vec<f64>> = units.iter().map(|unit| answers(unit)).filter(|a| a.len() == raters).collect();
    if complete.is_empty() { Err("no unit was answered by every rater".into()) } else { Ok(complete) }
}

/// The share of pairs of answers to the same unit that are equal.
pub fn percent_agreement(units: &[Unit]) -> Outcome<f64> {
    let (mut equal, mut all) = (0_usize, 0_usize);
    for unit in units {
        let answers = answers(unit);
        for (i, a) in answers.iter().enumerate() {
            all += answers.len() - i - 1;
            equal += answers[i + 1..].iter().filter(|b| *b == a).count();
        }
    }
    if all == 0 { Outcome::NotApplicable("no unit has answers of two raters".into()) } else { Outcome::Value(equal as f64 / all as f64) }
}

/// Which intraclass correlation (Shrout and Fleiss 1979).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Icc {
    /// Other raters for each unit, one answer.
    OneOne,
    /// The same raters, a sample of all raters, one answer: absolute agreement.
    TwoOne,
    /// The same raters, the only ones of interest, one answer: consistency.
    ThreeOne,
    /// As `TwoOne`, for the mean of the raters.
    TwoMean,
    /// As `ThreeOne`, for the mean of the raters.
    ThreeMean,
}

/// Intraclass correlation over the units that every rater answered.
pub fn icc(units: &[Unit], which: Icc) -> Outcome<f64> {
    let complete = match complete_units(units) {
        Ok(complete) if complete.len() > 1 => complete,
        Ok(_) => return Outcome::NotApplicable("one complete unit; two are needed".into()),
        Err(why) => return Outcome::NotApplicable(why),
    };
    let (n, k) = (complete.len() as f64, complete[0].len() as f64);
    let total: f64 = complete.iter().flatten().sum();
    let grand = total / (n * k);
    let rows: f64 = complete.iter().map(|u| (u.iter().sum::<f64>() / k - grand).powi(2)).sum::<f64>() * k;
    let columns: f64 = (0..complete[0].len()).map(|j| (complete.iter().map(|u| u[j]).sum::<f64>() / n - grand).powi(2)).sum::<f64>() * n;
    let all: f64 = complete.iter().flatten().map(|v| (v - grand).powi(2)).sum();
    // Not by the sum of squares: the mean of equal values may differ from them in the last bit.
    if complete.iter().flatten().all(|v| *v == complete[0][0]) {
        return Outcome::NotApplicable(format!("one value only ({})", complete[0][0]));
    }
    let error = (all - rows - columns).max(0.0);
    let (between, raters) = (rows / (n - 1.0), columns / (k - 1.0));
    let residual = error / ((n - 1.0) * (k - 1.0));
    let within = (error + columns) / (n * (k - 1.0));
    let (top, bottom) = match which {
        Icc::OneOne => (between - within, between + (k - 1.0) * within),
        Icc::TwoOne => (between - residual, between + (k - 1.0) * residual + k * (raters - residual) / n),
        Icc::ThreeOne => (between - residual, between + (k - 1.0) * residual),
        Icc::TwoMean => (between - residual, between + (raters - residual) / n),
        Icc::ThreeMean => (between - residual, between),
    };
    // What is left of numbers that cancel is their rounding, and dividing by it gives any number.
    if bottom.abs() <= 1e-12 * (between.abs() + within.abs() + residual.abs() + raters.abs()) {
        Outcome::NotApplicable("no spread to compare with".into())
    } else {
        Outcome::Value(top / bottom)
    }
}

/// How one rater answers beside the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaterHabit {
    pub answers: usize,
    /// Mean of own answer minus the mean of the others on the same unit.
    #[serde(with = "undefined")]
    pub bias: Outcome<f64>,
    /// Standard deviation of own answers (n − 1).
    #[serde(with = "undefined")]
    pub spread: Outcome<f64>,
}

/// Bias and spread of each rater, in the order of the cells.
pub fn habits(units: &[Unit]) -> Vec<RaterHabit> {
    let own = |rater: usize| -> Vec<f64> {
        units.iter().filter_map(|unit| unit.get(rater).copied().flatten().filter(|v| v.is_finite())).collect()
    };
    let habit = |(rater, (mine, others)): (usize, (Vec<f64>, Vec<f64>))| {
        let bias = if mine.is_empty() {
            Outcome::NotApplicable("no unit was answered by another rater too".into())
        } else {
            Outcome::Value(mine.iter().zip(&others).map(|(mine, others)| mine - others).sum::<f64>() / mine.len() as f64)
        };
        let own = own(rater);
        let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
        let spread = if own.len() < 2 {
            Outcome::NotApplicable(format!("{} answer(s); two are needed", own.len()))
        } else {
            Outcome::Value((own.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (own.len() - 1) as f64).sqrt())
        };
        RaterHabit { answers: own.len(), bias, spread }
    };
    beside_others(units).into_iter().enumerate().map(habit).collect()
}

/// For each rater: own answers with the mean of the others' to the same unit, over the units where both exist.
pub(super) fn beside_others(units: &[Unit]) -> Vec<(Vec<f64>, Vec<f64>)> {
    let raters = units.iter().map(Vec::len).max().unwrap_or(0);
    let mut columns = vec![(Vec::new(), Vec::new()); raters];
    let mut given: Vec<(usize, f64)> = Vec::new();
    for unit in units {
        given.clear();
        given.extend(unit.iter().enumerate().filter_map(|(rater, cell)| Some((rater, cell.filter(|v| v.is_finite())?))));
        if given.len() < 2 {
            continue;
        }
        for (rater, own) in &given {
            // Summed anew for each rater: the sum less one answer would have another last bit, and equal means would no longer tie.
            let others: f64 = given.iter().filter(|(other, _)| other != rater).map(|(_, value)| value).sum();
            columns[*rater].0.push(*own);
            columns[*rater].1.push(others / (given.len() - 1) as f64);
        }
    }
    columns
}
