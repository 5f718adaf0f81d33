//! Agreement of a metric with people, pair of models by pair of models (`bpm.md` section 8).
//!
//! For two models and every item that both edited, people prefer one edit (or neither) and so does the metric; the share of
//! preferences that coincide is the agreement of that pair of models. The paper's number is the plain mean over pairs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::people::in_order;
use super::undefined;
use crate::domain::{ModelVote, Outcome, Preference};

/// One edit: what a metric and what people say of it, both higher is better (give a distance with its sign turned).
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub item: String,
    pub model: String,
    /// `None` (or not finite): the metric has no value here.
    pub metric: Option<f64>,
    /// Mean over raters; `None` (or not finite): nobody rated it.
    pub human: Option<f64>,
}

/// What happens where people or the metric see no difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum TiePolicy {
    /// The paper: human ties are dropped, metric ties are wrong.
    #[default]
    Paper,
    /// Human ties are dropped, metric ties count as half right.
    MetricTiesHalf,
    /// Human ties and metric ties are dropped.
    MetricTiesDropped,
    /// Nothing is dropped: a metric difference of at most the threshold is a tie, and a tie is right where people tie
    /// (Deutsch, Foster and Freitag, "Ties matter", EMNLP 2023). See [`best_tie_threshold`].
    Calibrated(f64),
}

impl TiePolicy {
    /// The policy in words, for tables.
    pub fn words(self) -> String {
        match self {
            Self::Paper => "human ties dropped, metric ties wrong".into(),
            Self::MetricTiesHalf => "human ties dropped, metric ties half right".into(),
            Self::MetricTiesDropped => "human and metric ties dropped".into(),
            Self::Calibrated(threshold) => format!("ties count; metric differences up to {threshold} are ties"),
        }
    }
}

/// Where the compared pairs come from.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Pairs that count.
    pub compared: usize,
    /// Of these, how many the metric gets right (halves are possible).
    pub right: f64,
    /// Pairs where people see no difference (dropped, except by [`TiePolicy::Calibrated`]).
    pub human_ties: usize,
    /// Pairs where people see a difference and the metric none.
    pub metric_ties: usize,
    /// Pairs left out because the metric has no value for one of the two.
    pub missing_metric: usize,
    /// Pairs left out because nobody rated one of the two.
    pub missing_human: usize,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.compared += other.compared;
        self.right += other.right;
        self.human_ties += other.human_ties;
        self.metric_ties += other.metric_ties;
        self.missing_metric += other.missing_metric;
        self.missing_human += other.missing_human;
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut sum = *self;
        sum.add(other);
        sum
    }

    /// The share that is right, or why there is none.
    pub fn share(&self) -> Outcome<f64> {
        if self.compared > 0 {
            return Outcome::Value(self.right / self.compared as f64);
        }
        let why = match (self.human_ties, self.missing_metric, self.missing_human) {
            (0, 0, 0) => "no item has edits of both models".to_owned(),
            (ties, 0, 0) => format!("no pair left: people see no difference in {ties}"),
            (ties, metric, human) => format!("no pair left: {ties} human ties, {metric} without a metric value, {human} not rated"),
        };
        Outcome::NotApplicable(why)
    }
}

/// Agreement on one pair of models, names in alphabetical order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelPair {
    pub models: [String; 2],
    #[serde(with = "undefined")]
    pub share: Outcome<f64>,
    pub counts: Counts,
}

/// Agreement of one metric with people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    pub policy: TiePolicy,
    /// Every pair of models that share an item, in alphabetical order.
    pub pairs: Vec<ModelPair>,
    /// The paper's number: the plain mean over the pairs of models that have a share.
    #[serde(with = "undefined")]
    pub macro_mean: Outcome<f64>,
    /// The share over all compared pairs of edits together.
    #[serde(with = "undefined")]
    pub micro_mean: Outcome<f64>,
    /// Sums over all pairs of models.
    pub counts: Counts,
    /// Items with at least one compared pair.
    pub items: usize,
}

/// Human means that differ by less are a tie: means of the same answers in another order may differ in the last bit.
const HUMAN_TIE: f64 = 1e-9;

/// Agreement of the metric in `rows` with people. Several edits of one model for one item are each compared.
pub fn agreement(rows: &[Row], policy: TiePolicy) -> Agreement {
    PairTable::new(rows, policy).summary(policy, || no_pairs(rows))
}

/// Agreement of a metric with votes: every vote is one comparison. `metric` gives the value of a model's edit of an item.
pub fn vote_agreement(votes: &[ModelVote], metric: impl Fn(&str, &str) -> Option<f64>, policy: TiePolicy) -> Agreement {
    PairTable::of_votes(votes, metric, policy).summary(policy, || Outcome::NotApplicable("there are no votes".into()))
}

fn no_pairs(rows: &[Row]) -> Outcome<f64> {
    let mut models: Vec<&str> = rows.iter().map(|row| row.model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    Outcome::NotApplicable(match models.len() {
        0 => "there are no edits".into(),
        1 => format!("all edits are of one model ({})", models[0]),
        n => format!("no item has edits of two of the {n} models"),
    })
}

/// The plain mean of the shares of the pairs of models that have one.
pub(super) fn macro_mean(sums: &[Counts]) -> Outcome<f64> {
    let shares: Vec<f64> = sums.iter().filter(|c| c.compared > 0).map(|c| c.right / c.compared as f64).collect();
    if shares.is_empty() {
        let mut all = Counts::default();
        for counts in sums {
            all.add(counts);
        }
        return all.share();
    }
    Outcome::Value(shares.iter().sum::<f64>() / shares.len() as f64)
}

/// Counts by item and pair of models, so that items can be resampled without comparing again.
pub(super) struct PairTable<'a> {
    pub(super) pairs: Vec<[&'a str; 2]>,
    /// Names of the items, in the order of `items`.
    pub(super) names: Vec<&'a str>,
    /// For each item, its cells: index of the pair of models, counts.
    pub(super) items: Vec<Vec<(usize, Counts)>>,
}

impl<'a> PairTable<'a> {
    pub(super) fn new(rows: &'a [Row], policy: TiePolicy) -> Self {
        let mut by_item: BTreeMap<&str, BTreeMap<&str, Vec<&Row>>> = BTreeMap::new();
        for row in rows {
            by_item.entry(&row.item).or_default().entry(&row.model).or_default().push(row);
        }
        let mut index: BTreeMap<[&str; 2], Vec<(usize, Counts)>> = BTreeMap::new();
        for (at, models) in by_item.values().enumerate() {
            let models: Vec<_> = models.iter().collect();
            for (i, (a, rows_a)) in models.iter().enumerate() {
                for (b, rows_b) in &models[i + 1..] {
                    let mut counts = Counts::default();
                    for (row_a, row_b) in rows_a.iter().flat_map(|a| rows_b.iter().map(move |b| (a, b))) {
                        compare(row_a, row_b, policy, &mut counts);
                    }
                    index.entry([a, b]).or_default().push((at, counts));
                }
            }
        }
        Self::from_cells(by_item.keys().copied().collect(), index)
    }

    /// Every vote is one comparison of its item.
    pub(super) fn of_votes(votes: &'a [ModelVote], metric: impl Fn(&str, &str) -> Option<f64>, policy: TiePolicy) -> Self {
        let names: Vec<&str> = votes.iter().map(|vote| vote.item.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
        let mut cells: BTreeMap<[&str; 2], BTreeMap<usize, Counts>> = BTreeMap::new();
        for vote in votes {
            let (first, second, preference) = in_order(vote);
            let human = match preference {
                Preference::First => 1.0,
                Preference::Second => -1.0,
                Preference::Tie | Preference::BothBad => 0.0,
            };
            // Every item is among the names.
            let at = names.binary_search(&vote.item.as_str()).unwrap_or_default();
            let counts = cells.entry([first, second]).or_default().entry(at).or_default();
            judge(Some(human), [metric(&vote.item, first), metric(&vote.item, second)], policy, counts);
        }
        let index = cells.into_iter().map(|(pair, cells)| (pair, cells.into_iter().collect())).collect();
        Self::from_cells(names, index)
    }

    fn from_cells(names: Vec<&'a str>, index: BTreeMap<[&'a str; 2], Vec<(usize, Counts)>>) -> Self {
        let mut items = vec![Vec::new(); names.len()];
        let mut pairs = Vec::with_capacity(index.len());
        for (at, (pair, cells)) in index.into_iter().enumerate() {
            pairs.push(pair);
            for (item, counts) in cells {
                items[item].push((at, counts));
            }
        }
        Self { pairs, names, items }
    }

    /// The same comparisons, of the pairs that hold `model` only.
    pub(super) fn with_model(&self, model: &str) -> Self {
        let kept: Vec<usize> = (0..self.pairs.len()).filter(|&at| self.pairs[at].contains(&model)).collect();
        let pairs = kept.iter().map(|&at| self.pairs[at]).collect();
        let cells = |cells: &Vec<(usize, Counts)>| -> Vec<(usize, Counts)> {
            cells.iter().filter_map(|(pair, counts)| Some((kept.binary_search(pair).ok()?, *counts))).collect()
        };
        Self { pairs, names: self.names.clone(), items: self.items.iter().map(cells).collect() }
    }

    /// The result over all items; `nothing` says why there is none when no pair of models shares an item.
    pub(super) fn summary(&self, policy: TiePolicy, nothing: impl Fn() -> Outcome<f64>) -> Agreement {
        let all: Vec<usize> = (0..self.items.len()).collect();
        let sums = self.sums(&all);
        let mut counts = Counts::default();
        for pair in &sums {
            counts.add(pair);
        }
        let share = |[a, b]: &[&str; 2], counts: &Counts| ModelPair {
            models: [(*a).to_owned(), (*b).to_owned()],
            share: counts.share(),
            counts: *counts,
        };
        let pairs = self.pairs.iter().zip(&sums).map(|(pair, counts)| share(pair, counts)).collect();
        let micro_mean = if self.pairs.is_empty() { nothing() } else { counts.share() };
        let macro_mean = if self.pairs.is_empty() { nothing() } else { macro_mean(&sums) };
        let items = self.items.iter().filter(|cells| cells.iter().any(|(_, counts)| counts.compared > 0)).count();
        Agreement { policy, pairs, macro_mean, micro_mean, counts, items }
    }

    /// Counts by pair of models over the given items (an item may stand several times).
    pub(super) fn sums(&self, chosen: &[usize]) -> Vec<Counts> {
        let mut sums = vec![Counts::default(); self.pairs.len()];
        for &item in chosen {
            for (pair, counts) in &self.items[item] {
                sums[*pair].add(counts);
            }
        }
        sums
    }
}

/// Compares two edits of one item.
fn compare(a: &Row, b: &Row, policy: TiePolicy, counts: &mut Counts) {
    let finite = |value: Option<f64>| value.filter(|v| v.is_finite());
    let human = finite(a.human).zip(finite(b.human)).map(|(a, b)| a - b);
    judge(human, [a.metric, b.metric], policy, counts);
}

/// One comparison: how far people prefer the first of two edits (negative: the second), and the metric's values of both.
fn judge(human: Option<f64>, metric: [Option<f64>; 2], policy: TiePolicy, counts: &mut Counts) {
    let Some(human) = human else {
        counts.missing_human += 1;
        return;
    };
    let [Some(metric_a), Some(metric_b)] = metric.map(|value| value.filter(|v| v.is_finite())) else {
        counts.missing_metric += 1;
        return;
    };
    let human_tie = human.abs() < HUMAN_TIE;
    let metric = metric_a - metric_b;
    let metric_tie = match policy {
        TiePolicy::Calibrated(threshold) => metric.abs() <= threshold,
        _ => metric_a == metric_b,
    };
    counts.human_ties += usize::from(human_tie);
    counts.metric_ties += usize::from(!human_tie && metric_tie);
    let calibrated = matches!(policy, TiePolicy::Calibrated(_));
    if (human_tie && !calibrated) || (metric_tie && policy == TiePolicy::MetricTiesDropped) {
        return;
    }
    counts.compared += 1;
    counts.right += match (human_tie, metric_tie) {
        (true, true) => 1.0,
        (true, false) => 0.0,
        (false, true) => {
            if policy == TiePolicy::MetricTiesHalf {
                0.5
            } else {
                0.0
            }
        }
        (false, false) => f64::from(u8::from((human > 0.0) == (metric > 0.0))),
    };
}

/// The threshold for [`TiePolicy::Calibrated`] that makes the micro share largest; the smallest of equally good ones.
///
/// Fit it on other data than is reported, or say that it was fitted on them.
pub fn best_tie_threshold(rows: &[Row]) -> Outcome<f64> {
    let mut differences: Vec<(f64, bool, bool)> = Vec::new(); // metric distance, human tie, same direction
    let mut by_item: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        by_item.entry(&row.item).or_default().push(row);
    }
    for edits in by_item.values() {
        for (i, a) in edits.iter().enumerate() {
            for b in edits[i + 1..].iter().filter(|b| b.model != a.model) {
                let (Some(ma), Some(mb), Some(ha), Some(hb)) = (a.metric, b.metric, a.human, b.human) else { continue };
                if [ma, mb, ha, hb].iter().all(|v| v.is_finite()) {
                    differences.push(((ma - mb).abs(), (ha - hb).abs() < HUMAN_TIE, (ha > hb) == (ma > mb)));
                }
            }
        }
    }
    if differences.is_empty() {
        return Outcome::NotApplicable("no pair of edits has metric values and ratings".into());
    }
    differences.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Above the threshold: right where people prefer the same edit; up to it: right where people tie.
    let mut right: i64 = differences.iter().filter(|d| !d.1 && d.2 && d.0 > 0.0).count() as i64;
    right += differences.iter().filter(|d| d.0 == 0.0 && d.1).count() as i64;
    let (mut best, mut threshold) = (right, 0.0);
    let mut at = differences.iter().take_while(|d| d.0 == 0.0).count();
    while at < differences.len() {
        let value = differences[at].0;
        while at < differences.len() && differences[at].0 == value {
            let (_, human_tie, same) = differences[at];
            right += i64::from(human_tie) - i64::from(!human_tie && same);
            at += 1;
        }
        if right > best {
            (best, threshold) = (right, value);
        }
    }
    Outcome::Value(threshold)
}
