//! Correlation of two columns, and the area under the curve. Textbook formulas; checked against scipy.

use serde::{Deserialize, Serialize};

use super::agreement::Row;
use super::sheet::{self, Names, Sheet};
use super::undefined;
use crate::domain::Outcome;

/// Which correlation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correlation {
    Pearson,
    Spearman,
    KendallTauB,
}

impl Correlation {
    /// All, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Pearson, Self::Spearman, Self::KendallTauB];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pearson => "Pearson r",
            Self::Spearman => "Spearman ρ",
            Self::KendallTauB => "Kendall τ-b",
        }
    }

    /// The coefficient of two columns of equal length.
    pub fn of(self, x: &[f64], y: &[f64]) -> Outcome<f64> {
        match self {
            Self::Pearson => pearson(x, y),
            Self::Spearman => spearman(x, y),
            Self::KendallTauB => kendall_tau_b(x, y),
        }
    }
}

/// Why two columns have no correlation, if they have none.
fn undefined(x: &[f64], y: &[f64]) -> Option<String> {
    if x.len() != y.len() {
        return Some(format!("columns of {} and {} values", x.len(), y.len()));
    }
    if x.len() < 2 {
        return Some(format!("{} value(s); two are needed", x.len()));
    }
    for (name, column) in [("first", x), ("second", y)] {
        if column.iter().any(|v| !v.is_finite()) {
            return Some(format!("the {name} column holds a value that is not a number"));
        }
        if column.iter().all(|v| *v == column[0]) {
            return Some(format!("the {name} column is constant ({})", column[0]));
        }
    }
    None
}

/// Pearson's r.
pub fn pearson(x: &[f64], y: &[f64]) -> Outcome<f64> {
    if let Some(why) = undefined(x, y) {
        return Outcome::NotApplicable(why);
    }
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        let (a, b) = (a - mean_x, b - mean_y);
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    let r = xy / (xx.sqrt() * yy.sqrt());
    if r.is_finite() {
        Outcome::Value(r.clamp(-1.0, 1.0))
    } else {
        Outcome::NotApplicable("the spread is too small or too large for floating point".into())
    }
}

/// Ranks from 1, ties sharing the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let same = order[start..].iter().take_while(|&&i| values[i] == values[order[start]]).count().max(1);
        for &i in &order[start..start + same] {
            ranks[i] = start as f64 + (same as f64 + 1.0) / 2.0;
        }
        start += same;
    }
    ranks
}

/// Spearman's ρ: Pearson's r of the ranks.
pub fn spearman(x: &[f64], y: &[f64]) -> Outcome<f64> {
    match undefined(x, y) {
        Some(why) => Outcome::NotApplicable(why),
        None => pearson(&ranks(x), &ranks(y)),
    }
}

/// Kendall's τ-b, in n log n (Knight, "A computer method for calculating Kendall's tau", 1966).
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Outcome<f64> {
    if let Some(why) = undefined(x, y) {
        return Outcome::NotApplicable(why);
    }
    let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    pairs.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal).then(a.1.total_cmp(&b.1)));
    let all = pair_count(pairs.len());
    let ties_x = tied_pairs(&pairs, |a, b| a.0 == b.0);
    let ties_both = tied_pairs(&pairs, |a, b| a == b);
    let mut column: Vec<f64> = pairs.iter().map(|p| p.1).collect();
    let mut buffer = column.clone();
    let swaps = sort_counting(&mut column, &mut buffer);
    let sorted: Vec<(f64, f64)> = column.iter().map(|&v| (v, 0.0)).collect();
    let ties_y = tied_pairs(&sorted, |a, b| a.0 == b.0);
    let numerator = all - ties_x - ties_y + ties_both - 2.0 * swaps;
    Outcome::Value(numerator / ((all - ties_x).sqrt() * (all - ties_y).sqrt()))
}

fn pair_count(n: usize) -> f64 {
    n as f64 * (n as f64 - 1.0) / 2.0
}

/// Pairs within runs of equal neighbours.
fn tied_pairs(sorted: &[(f64, f64)], same: impl Fn(&(f64, f64), &(f64, f64)) -> bool) -> f64 {
    sorted.chunk_by(|a, b| same(a, b)).map(|run| pair_count(run.len())).sum()
}

/// Merge sort that counts how many pairs stood in falling order.
fn sort_counting(values: &mut [f64], buffer: &mut [f64]) -> f64 {
    let n = values.len();
    if n < 2 {
        return 0.0;
    }
    let half = n / 2;
    let mut swaps = {
        let (left, right) = values.split_at_mut(half);
        let (buffer_left, buffer_right) = buffer.split_at_mut(half);
        sort_counting(left, buffer_left) + sort_counting(right, buffer_right)
    };
    let (mut i, mut j) = (0, half);
    for slot in buffer.iter_mut() {
        let take_left = j == n || (i < half && values[i] <= values[j]);
        if take_left {
            *slot = values[i];
            i += 1;
        } else {
            swaps += (half - i) as f64;
            *slot = values[j];
            j += 1;
        }
    }
    values.copy_from_slice(buffer);
    swaps
}

/// The mean over items of the correlation between metric and people within the item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerItem {
    #[serde(with = "undefined")]
    pub mean: Outcome<f64>,
    /// Items that have a coefficient.
    pub items: usize,
    /// Items without one (fewer than two complete edits, or one of the columns constant).
    pub undefined: usize,
}

/// Correlates within each item and takes the plain mean over items that have a coefficient.
pub fn per_item(rows: &[Row], which: Correlation) -> PerItem {
    per_item_of(&Names::of_rows(rows).of(rows), which)
}

pub(super) fn per_item_of(sheet: &Sheet<'_>, which: Correlation) -> PerItem {
    let (mut sum, mut known, mut all) = (0.0, 0_usize, 0_usize);
    for item in sheet.items() {
        let (metric, human) = sheet::complete(item);
        all += 1;
        if let Outcome::Value(value) = which.of(&metric, &human) {
            sum += value;
            known += 1;
        }
    }
    let mean = if known == 0 {
        Outcome::NotApplicable(format!("no item of {all} has two edits that differ in both columns"))
    } else {
        Outcome::Value(sum / known as f64)
    };
    PerItem { mean, items: known, undefined: all - known }
}

/// Area under the curve: the chance that a good edit scores above a bad one, ties half.
pub fn area_under_curve(scores: &[f64], good: &[bool]) -> Outcome<f64> {
    if scores.len() != good.len() {
        return Outcome::NotApplicable(format!("{} scores and {} labels", scores.len(), good.len()));
    }
    if scores.iter().any(|v| !v.is_finite()) {
        return Outcome::NotApplicable("a score is not a number".into());
    }
    let positive = good.iter().filter(|g| **g).count() as f64;
    let negative = good.len() as f64 - positive;
    if positive == 0.0 || negative == 0.0 {
        return Outcome::NotApplicable(format!("{positive} good and {negative} bad edits; at least one of each is needed"));
    }
    let sum: f64 = ranks(scores).iter().zip(good).filter(|(_, g)| **g).map(|(rank, _)| rank).sum();
    Outcome::Value((sum - positive * (positive + 1.0) / 2.0) / (positive * negative))
}
