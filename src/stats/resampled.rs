//! Intervals of the correlations of two columns, and of the area under the curve: items are drawn, and whoever was drawn twice counts twice.
//! Values are sorted once for all resamples, so that a set of 100,000 edits is resampled thousands of times in seconds.

use serde::{Deserialize, Serialize};

use super::agreement::Row;
use super::correlation::{Correlation, kendall_tau_b};
use super::intervals::{Bootstrap, Interval, NO_RESAMPLES, intervals};
use super::sheet::{self, Names, Sheet};
use super::undefined;
use crate::domain::Outcome;

/// How sure each number about two columns is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnIntervals {
    #[serde(with = "undefined")]
    pub spearman: Outcome<Interval>,
    #[serde(with = "undefined")]
    pub pearson: Outcome<Interval>,
    #[serde(with = "undefined")]
    pub kendall_tau_b: Outcome<Interval>,
    /// Of the mean over items.
    #[serde(with = "undefined")]
    pub spearman_per_item: Outcome<Interval>,
    /// Of the mean over items.
    #[serde(with = "undefined")]
    pub kendall_per_item: Outcome<Interval>,
    /// Which edits are good stays as it is for all edits.
    #[serde(with = "undefined")]
    pub area_under_curve: Outcome<Interval>,
}

impl ColumnIntervals {
    /// Why there are none at all.
    pub fn none(why: &Outcome<Interval>) -> Self {
        let [spearman, pearson, kendall_tau_b, spearman_per_item, kendall_per_item, area_under_curve] = [(); 6].map(|()| why.clone());
        Self { spearman, pearson, kendall_tau_b, spearman_per_item, kendall_per_item, area_under_curve }
    }
}

/// τ-b needs sorting in each resample; above this many edits that takes minutes.
const KENDALL_EDITS: usize = 5000;

/// The intervals over all edits of `rows`, of which those with a human mean of at least `good_from` are good.
pub fn column_intervals(rows: &[Row], good_from: f64, settings: Bootstrap) -> ColumnIntervals {
    column_intervals_of(&Names::of_rows(rows).of(rows), |human| human >= good_from, settings)
}

pub(super) fn column_intervals_of(sheet: &Sheet<'_>, is_good: impl Fn(f64) -> bool, settings: Bootstrap) -> ColumnIntervals {
    if settings.resamples == 0 {
        return ColumnIntervals::none(&Outcome::NotApplicable(NO_RESAMPLES.into()));
    }
    let mut columns = Columns::new(sheet, is_good);
    let items = columns.per_item.len();
    if items < 2 {
        return ColumnIntervals::none(&Outcome::NotApplicable(format!("{items} item(s) with both values; an interval needs two")));
    }
    let mut times = vec![0_u32; items];
    let found = intervals(items, settings, |drawn| {
        times.fill(0);
        drawn.iter().for_each(|&item| times[item] += 1);
        columns.statistics(&times)
    });
    match <[Outcome<Interval>; 6]>::try_from(found) {
        Ok([spearman, pearson, kendall_tau_b, spearman_per_item, kendall_per_item, area_under_curve]) => {
            ColumnIntervals { spearman, pearson, kendall_tau_b, spearman_per_item, kendall_per_item, area_under_curve }
        }
        Err(_) => ColumnIntervals::none(&Outcome::NotApplicable("no edit has both values".into())),
    }
}

/// Two columns of the edits that have both values, item by item.
struct Columns {
    item_of: Vec<u32>,
    metric: Vec<f64>,
    human: Vec<f64>,
    good: Vec<bool>,
    ranks: ResampledRanks,
    /// Spearman's ρ and Kendall's τ-b within each item that has them.
    per_item: Vec<[Option<f64>; 2]>,
}

impl Columns {
    fn new(sheet: &Sheet<'_>, is_good: impl Fn(f64) -> bool) -> Self {
        let (mut item_of, mut metric, mut human, mut per_item) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for item in sheet.items() {
            let (of_metric, of_human) = sheet::complete(item);
            if of_metric.is_empty() {
                continue; // drawing it would draw nothing
            }
            let within = |which: Correlation| which.of(&of_metric, &of_human).value().copied();
            per_item.push([within(Correlation::Spearman), within(Correlation::KendallTauB)]);
            item_of.resize(item_of.len() + of_metric.len(), per_item.len() as u32 - 1); // more items do not fit into memory
            metric.extend(of_metric);
            human.extend(of_human);
        }
        let good = human.iter().map(|human| is_good(*human)).collect();
        Self { ranks: ResampledRanks::new([&metric, &human]), item_of, metric, human, good, per_item }
    }

    /// In the order of [`ColumnIntervals`], when each item stands as often as `times` says.
    fn statistics(&mut self, times: &[u32]) -> Vec<Outcome<f64>> {
        let drawn: Vec<f64> = self.item_of.iter().map(|&item| f64::from(times[item as usize])).collect();
        let all: f64 = drawn.iter().sum();
        self.ranks.rank(&drawn);
        let [metric_ranks, human_ranks] = &self.ranks.ranks;
        vec![
            weighted_pearson(metric_ranks, human_ranks, &drawn, all),
            weighted_pearson(&self.metric, &self.human, &drawn, all),
            self.kendall(times),
            self.mean_within(times, 0),
            self.mean_within(times, 1),
            self.area(metric_ranks, &drawn),
        ]
    }

    fn kendall(&self, times: &[u32]) -> Outcome<f64> {
        if self.metric.len() > KENDALL_EDITS {
            return Outcome::NotApplicable(format!("τ-b is resampled for at most {KENDALL_EDITS} edits"));
        }
        let again = |column: &[f64]| -> Vec<f64> {
            let each = column.iter().zip(&self.item_of);
            each.flat_map(|(value, item)| std::iter::repeat_n(*value, times[*item as usize] as usize)).collect()
        };
        kendall_tau_b(&again(&self.metric), &again(&self.human))
    }

    fn mean_within(&self, times: &[u32], which: usize) -> Outcome<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for (of_item, &times) in self.per_item.iter().zip(times) {
            if let Some(value) = of_item[which] {
                sum += f64::from(times) * value;
                count += f64::from(times);
            }
        }
        if count == 0.0 { Outcome::NotApplicable("no item with a coefficient was drawn".into()) } else { Outcome::Value(sum / count) }
    }

    fn area(&self, ranks: &[f64], drawn: &[f64]) -> Outcome<f64> {
        let (mut places, mut good, mut bad) = (0.0, 0.0, 0.0);
        for ((is_good, rank), times) in self.good.iter().zip(ranks).zip(drawn) {
            if *is_good {
                places += times * rank;
                good += times;
            } else {
                bad += times;
            }
        }
        if good == 0.0 || bad == 0.0 {
            return Outcome::NotApplicable("only good or only bad edits were drawn".into());
        }
        Outcome::Value((places - good * (good + 1.0) / 2.0) / (good * bad))
    }
}

/// Two columns in the order of their values, so that the ranks of a resample need no sorting: whoever was drawn twice takes two places.
struct ResampledRanks {
    /// By column: the edits in the order of their values, and where runs of equal values end.
    orders: [(Vec<u32>, Vec<usize>); 2],
    ranks: [Vec<f64>; 2],
}

impl ResampledRanks {
    fn new(columns: [&[f64]; 2]) -> Self {
        let orders = columns.map(|values| {
            let mut order: Vec<u32> = (0..values.len() as u32).collect();
            order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
            let mut ends = Vec::new();
            for run in order.chunk_by(|&a, &b| values[a as usize] == values[b as usize]) {
                ends.push(ends.last().copied().unwrap_or(0) + run.len());
            }
            (order, ends)
        });
        Self { ranks: columns.map(|values| vec![0.0; values.len()]), orders }
    }

    /// The mid-ranks of both columns when each edit stands as often as `drawn` says.
    fn rank(&mut self, drawn: &[f64]) {
        for ((order, ends), ranks) in self.orders.iter().zip(&mut self.ranks) {
            let (mut from, mut before) = (0, 0.0);
            for &end in ends {
                let run = &order[from..end];
                let own: f64 = run.iter().map(|&edit| drawn[edit as usize]).sum();
                run.iter().for_each(|&edit| ranks[edit as usize] = before + (own + 1.0) / 2.0);
                before += own;
                from = end;
            }
        }
    }
}

/// Pearson's r where each pair stands as often as `times` says.
fn weighted_pearson(x: &[f64], y: &[f64], times: &[f64], all: f64) -> Outcome<f64> {
    if all < 2.0 {
        return Outcome::NotApplicable(format!("{all} value(s); two are needed"));
    }
    let constant = |column: &[f64]| {
        let mut drawn = column.iter().zip(times).filter(|(_, times)| **times > 0.0).map(|(value, _)| value);
        let first = drawn.next();
        drawn.all(|value| Some(value) == first)
    };
    if constant(x) || constant(y) {
        return Outcome::NotApplicable("a column is constant".into());
    }
    let mean = |column: &[f64]| column.iter().zip(times).map(|(value, times)| value * times).sum::<f64>() / all;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for ((x, y), times) in x.iter().zip(y).zip(times) {
        let (x, y) = (x - mean_x, y - mean_y);
        xy += times * x * y;
        xx += times * x * x;
        yy += times * y * y;
    }
    let r = xy / (xx.sqrt() * yy.sqrt());
    if r.is_finite() { Outcome::Value(r.clamp(-1.0, 1.0)) } else { Outcome::NotApplicable("the spread is too small or too large".into()) }
}
