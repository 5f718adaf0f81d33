//! How sure a number is: bootstrap over items, a paired test of two metrics, and the items needed for a given width.
//!
//! Items are resampled, not edits: edits of one item are judged against each other and are not independent.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::agreement::{Counts, PairTable, Row, TiePolicy, macro_mean};
use super::random::Random;
use super::sheet::{Names, Sheet};
use super::undefined;
use crate::domain::Outcome;

/// How to resample; the same settings on the same rows give the same interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    pub resamples: usize,
    /// The share of resamples inside the interval.
    pub level: f64,
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { resamples: 2000, level: 0.95, seed: 1 }
    }
}

/// A percentile interval (Efron 1979), with linear interpolation between resamples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    pub level: f64,
    pub resamples: usize,
    /// Resamples on which the statistic was not defined; the interval is over the others.
    pub undefined: usize,
    pub seed: u64,
}

/// Which mean over pairs of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Mean {
    /// The plain mean over pairs of models (the paper's).
    #[default]
    Macro,
    /// Over all compared pairs together.
    Micro,
}

/// Why there is no interval, and no p, while nothing is drawn.
pub(super) const NO_RESAMPLES: &str = "no resamples were drawn";

/// The interval of a statistic of `items` things, given as the indices of those drawn.
pub fn interval(items: usize, settings: Bootstrap, mut statistic: impl FnMut(&[usize]) -> Outcome<f64>) -> Outcome<Interval> {
    if settings.resamples == 0 {
        return Outcome::NotApplicable(NO_RESAMPLES.into());
    }
    intervals(items, settings, |drawn| vec![statistic(drawn)]).pop().unwrap_or_else(|| Outcome::NotApplicable("no statistic".into()))
}

/// The intervals of several statistics over the same resamples.
pub fn intervals(items: usize, settings: Bootstrap, mut statistics: impl FnMut(&[usize]) -> Vec<Outcome<f64>>) -> Vec<Outcome<Interval>> {
    let mut random = Random::new(settings.seed);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut drawn = vec![0; items];
    for _ in 0..settings.resamples {
        drawn.fill_with(|| random.below(items));
        for (at, value) in statistics(&drawn).into_iter().enumerate() {
            if columns.len() <= at {
                columns.resize_with(at + 1, Vec::new);
            }
            columns[at].extend(value.value());
        }
    }
    columns.into_iter().map(|column| percentiles(column, items, settings)).collect()
}

fn percentiles(mut values: Vec<f64>, items: usize, settings: Bootstrap) -> Outcome<Interval> {
    if items < 2 {
        return Outcome::NotApplicable(format!("{items} item(s); an interval needs two"));
    }
    if !(settings.level > 0.0 && settings.level < 1.0) {
        return Outcome::NotApplicable(format!("a level of {}; it must lie between 0 and 1", settings.level));
    }
    let undefined = settings.resamples - values.len();
    if values.is_empty() || undefined > values.len() {
        return Outcome::NotApplicable(format!("not defined on {undefined} of {} resamples", settings.resamples));
    }
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (values.len() - 1) as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(values.len() - 1);
        values[below] + (values[above] - values[below]) * (place - below as f64)
    };
    let tail = (1.0 - settings.level) / 2.0;
    Outcome::Value(Interval {
        low: at(tail),
        high: at(1.0 - tail),
        level: settings.level,
        resamples: settings.resamples,
        undefined,
        seed: settings.seed,
    })
}

/// The interval of the agreement with people.
pub fn agreement_interval(rows: &[Row], policy: TiePolicy, mean: Mean, settings: Bootstrap) -> Outcome<Interval> {
    let names = Names::of_rows(rows);
    let table = PairTable::new(&names.of(rows), policy);
    if table.pairs.is_empty() {
        return Outcome::NotApplicable("no item has edits of two models".into());
    }
    let [by_pair, all] = table_intervals(&table, settings);
    match mean {
        Mean::Macro => by_pair,
        Mean::Micro => all,
    }
}

/// The intervals of the macro and of the micro mean over the items of a table that have a comparison.
pub(super) fn table_intervals(table: &PairTable<'_>, settings: Bootstrap) -> [Outcome<Interval>; 2] {
    let compared = table.compared();
    let none = |why: String| [Outcome::NotApplicable(why.clone()), Outcome::NotApplicable(why)];
    if compared.len() < 2 {
        return none(format!("{} item(s) with a comparison; an interval needs two", compared.len()));
    }
    if settings.resamples == 0 {
        return none(NO_RESAMPLES.into());
    }
    let shares = SharesByItem::new(table, &compared);
    let found = intervals(compared.len(), settings, |drawn| {
        let sums = shares.sums(drawn);
        vec![mean_of(&sums, Mean::Macro), mean_of(&sums, Mean::Micro)]
    });
    found.try_into().unwrap_or_else(|_| none("no statistic".into()))
}

/// What the mean of a resample needs of a table, close together in memory: most of the time of an interval goes into reading it.
struct SharesByItem {
    pairs: usize,
    /// Where the cells of each item begin; one more at the end.
    starts: Vec<usize>,
    /// Pair of models, pairs of edits compared, pairs of edits right.
    cells: Vec<(u32, u32, f64)>,
}

impl SharesByItem {
    fn new(table: &PairTable<'_>, items: &[usize]) -> Self {
        let mut starts = vec![0];
        let mut cells = Vec::new();
        for &item in items {
            let compared = table.of_item(item).iter().filter(|(_, counts)| counts.compared > 0);
            // A count above four thousand million does not fit into memory before it does not fit here.
            cells.extend(compared.map(|(pair, counts)| (*pair, counts.compared as u32, counts.right)));
            starts.push(cells.len());
        }
        Self { pairs: table.pairs.len(), starts, cells }
    }

    /// What is compared and right by pair of models, over the items drawn.
    fn sums(&self, drawn: &[usize]) -> Vec<Counts> {
        let mut sums = vec![Counts::default(); self.pairs];
        drawn.iter().for_each(|&item| self.add(item, &mut sums));
        sums
    }

    fn add(&self, item: usize, sums: &mut [Counts]) {
        for &(pair, compared, right) in &self.cells[self.starts[item]..self.starts[item + 1]] {
            let sum = &mut sums[pair as usize];
            sum.compared += compared as usize;
            sum.right += right;
        }
    }
}

fn mean_of(sums: &[Counts], mean: Mean) -> Outcome<f64> {
    match mean {
        Mean::Macro => macro_mean(sums),
        Mean::Micro => {
            let (right, compared) = sums.iter().fold((0.0, 0), |(r, c), s| (r + s.right, c + s.compared));
            if compared == 0 { Outcome::NotApplicable("no pair left".into()) } else { Outcome::Value(right / compared as f64) }
        }
    }
}

/// Two metrics on the same edits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Agreement of the first minus agreement of the second.
    pub difference: f64,
    #[serde(with = "undefined")]
    pub interval: Outcome<Interval>,
    /// Two-sided p of "the two are exchangeable": within each item drawn by coin the metrics change places.
    pub p_value: f64,
    /// Items with a compared pair.
    pub items: usize,
    /// Edits left out because one of the metrics or the rating is missing.
    pub left_out: usize,
}

/// Compares the agreement of two metrics with people over the edits where both have a value.
pub fn compare(first: &[Row], second: &[Row], policy: TiePolicy, mean: Mean, settings: Bootstrap) -> Outcome<Comparison> {
    let known = |rows: &[Row]| -> BTreeSet<(String, String)> {
        let complete = |r: &&Row| r.metric.is_some_and(f64::is_finite) && r.human.is_some_and(f64::is_finite);
        rows.iter().filter(complete).map(|r| (r.item.clone(), r.model.clone())).collect()
    };
    let (in_first, in_second) = (known(first), known(second));
    let shared = |rows: &[Row]| -> Vec<Row> {
        let both = |r: &&Row| {
            let key = (r.item.clone(), r.model.clone());
            in_first.contains(&key) && in_second.contains(&key)
        };
        rows.iter().filter(both).cloned().collect()
    };
    let (a, b) = (shared(first), shared(second));
    let left_out = first.len().max(second.len()) - a.len();
    let (names_a, names_b) = (Names::of_rows(&a), Names::of_rows(&b));
    compare_sheets([&names_a.of(&a), &names_b.of(&b)], left_out, policy, mean, settings)
}

/// Compares two metrics over the same edits; `left_out` is how many were left out because one of the two or the rating is missing.
pub(super) fn compare_sheets(
    sheets: [&Sheet<'_>; 2],
    left_out: usize,
    policy: TiePolicy,
    mean: Mean,
    settings: Bootstrap,
) -> Outcome<Comparison> {
    if settings.resamples == 0 {
        return Outcome::NotApplicable(NO_RESAMPLES.into());
    }
    let [table_a, table_b] = sheets.map(|sheet| PairTable::new(sheet, policy));
    if table_a.pairs.is_empty() || table_a.names != table_b.names || table_a.pairs != table_b.pairs {
        return Outcome::NotApplicable("the two metrics share no item with edits of two models".into());
    }
    // Where nothing is compared (one edit, or people see no difference), nothing can be drawn.
    let compared: Vec<usize> = BTreeSet::from_iter(table_a.compared().into_iter().chain(table_b.compared())).into_iter().collect();
    let items = compared.len();
    let (a, b) = (SharesByItem::new(&table_a, &compared), SharesByItem::new(&table_b, &compared));
    let difference = |a: &[Counts], b: &[Counts]| mean_of(a, mean).and_then(|a| mean_of(b, mean).map(|b| a - b));
    let totals = |table: &PairTable<'_>| table.summary(policy, || Outcome::NotApplicable(String::new())).pairs;
    let counts = |table: &PairTable<'_>| -> Vec<Counts> { totals(table).into_iter().map(|pair| pair.counts).collect() };
    let seen = match difference(&counts(&table_a), &counts(&table_b)) {
        Outcome::Value(seen) => seen,
        Outcome::NotApplicable(why) | Outcome::Failed(why) => return Outcome::NotApplicable(why),
    };
    let interval = interval(items, settings, |drawn| difference(&a.sums(drawn), &b.sums(drawn)));
    let mut random = Random::new(settings.seed ^ 0x5161_6e66);
    let mut as_far = 0;
    for _ in 0..settings.resamples {
        let (mut mixed_a, mut mixed_b) = (a.sums(&[]), b.sums(&[]));
        for item in 0..items {
            let (own, other) = if random.coin() { (&a, &b) } else { (&b, &a) };
            own.add(item, &mut mixed_a);
            other.add(item, &mut mixed_b);
        }
        as_far += usize::from(difference(&mixed_a, &mixed_b).value().is_some_and(|d| d.abs() >= seen.abs() - 1e-12));
    }
    let p_value = (1 + as_far) as f64 / (1 + settings.resamples) as f64;
    Outcome::Value(Comparison { difference: seen, interval, p_value, items, left_out })
}

/// The items needed for an interval of the given width, if the width falls with the square root of their number.
pub fn items_needed(now: &Interval, items: usize, width: f64) -> Outcome<usize> {
    if !(width > 0.0 && width.is_finite()) {
        return Outcome::NotApplicable(format!("a width of {width}; it must be above 0"));
    }
    if now.high <= now.low {
        return Outcome::NotApplicable("the interval has no width, so it says nothing about how widths fall".into());
    }
    let ratio = (now.high - now.low) / width;
    Outcome::Value((items as f64 * ratio * ratio).ceil() as usize)
}
