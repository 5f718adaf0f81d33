//! Agreement of a metric with people, pair of models by pair of models (`bpm.md` section 8).
//!
//! For two models and every item that both edited, people prefer one edit (or neither) and so does the metric; the share of
//! preferences that coincide is the agreement of that pair of models. The paper's number is the plain mean over pairs.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::people::in_order;
use super::sheet::{Cell, Names, Numbers, Sheet};
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
            Self::Calibrated(threshold) => format!("ties count; metric differences up to {} are ties", short(threshold)),
        }
    }
}

/// Six digits, for words: 0.1 and not 0.09999999999999987.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = (5 - value.abs().log10().floor() as i32).clamp(0, 15) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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

/// How far two differences of values of that size may lie apart and still be the same difference: 0.3 − 0.2 is not 0.4 − 0.3 in floating point.
fn noise(a: f64, b: f64) -> f64 {
    1e-12 * a.abs().max(b.abs())
}

/// Human means that differ by less are a tie: means of the same answers in another order may differ in the last bit.
pub(super) const HUMAN_TIE: f64 = 1e-9;

/// Agreement of the metric in `rows` with people. Several edits of one model for one item are each compared.
pub fn agreement(rows: &[Row], policy: TiePolicy) -> Agreement {
    agreement_of(&Names::of_rows(rows).of(rows), policy)
}

pub(super) fn agreement_of(sheet: &Sheet<'_>, policy: TiePolicy) -> Agreement {
    PairTable::new(sheet, policy).summary(policy, || no_pairs(sheet))
}

/// Agreement of a metric with votes: every vote is one comparison. `metric` gives the value of a model's edit of an item.
pub fn vote_agreement(votes: &[ModelVote], metric: impl Fn(&str, &str) -> Option<f64>, policy: TiePolicy) -> Agreement {
    PairTable::of_votes(votes, metric, policy).summary(policy, || Outcome::NotApplicable("there are no votes".into()))
}

pub(super) fn no_pairs(sheet: &Sheet<'_>) -> Outcome<f64> {
    let models = sheet.models();
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
    /// Names of the items.
    pub(super) names: Vec<&'a str>,
    /// Where the cells of each item begin; one more at the end.
    starts: Vec<usize>,
    /// Index of the pair of models, counts.
    cells: Vec<(u32, Counts)>,
}

impl<'a> PairTable<'a> {
    pub(super) fn new(sheet: &Sheet<'a>, policy: TiePolicy) -> Self {
        let mut table = Unsorted::default();
        let mut edits: Vec<Cell> = Vec::new();
        for item in sheet.items() {
            table.names.push(sheet.names.items[item[0].item as usize]); // no chunk is empty
            table.starts.push(table.cells.len());
            edits.clear();
            edits.extend_from_slice(item);
            edits.sort_by_key(|cell| cell.model);
            let models: Vec<&[Cell]> = edits.chunk_by(|a, b| a.model == b.model).collect();
            for (i, first) in models.iter().enumerate() {
                for second in &models[i + 1..] {
                    let mut counts = Counts::default();
                    for (a, b) in first.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
                        judge(known(a.human - b.human), [known(a.metric), known(b.metric)], policy, &mut counts);
                    }
                    table.add([first[0].model, second[0].model], counts);
                }
            }
        }
        table.sorted(&sheet.names.models)
    }

    /// Every vote is one comparison of its item.
    pub(super) fn of_votes(votes: &'a [ModelVote], metric: impl Fn(&str, &str) -> Option<f64>, policy: TiePolicy) -> Self {
        let mut numbers = Numbers::default();
        let mut items: BTreeMap<&str, BTreeMap<[u32; 2], Counts>> = BTreeMap::new();
        for vote in votes {
            let (first, second, preference) = in_order(vote);
            let human = match preference {
                Preference::First => 1.0,
                Preference::Second => -1.0,
                Preference::Tie | Preference::BothBad => 0.0,
            };
            let pair = [numbers.of(first), numbers.of(second)];
            let counts = items.entry(&vote.item).or_default().entry(pair).or_default();
            judge(Some(human), [metric(&vote.item, first), metric(&vote.item, second)], policy, counts);
        }
        let (places, models) = numbers.sorted();
        let mut table = Unsorted::default();
        for (name, pairs) in items {
            table.names.push(name);
            table.starts.push(table.cells.len());
            for (pair, counts) in pairs {
                table.add(pair.map(|number| places[number as usize]), counts);
            }
        }
        table.sorted(&models)
    }

    /// The same comparisons, of the pairs that hold `model` only.
    pub(super) fn with_model(&self, model: &str) -> Self {
        let kept: Vec<usize> = (0..self.pairs.len()).filter(|&at| self.pairs[at].contains(&model)).collect();
        let pairs = kept.iter().map(|&at| self.pairs[at]).collect();
        let (mut starts, mut cells) = (vec![0], Vec::new());
        for item in 0..self.names.len() {
            let own = self.of_item(item).iter();
            cells.extend(own.filter_map(|(pair, counts)| Some((kept.binary_search(&(*pair as usize)).ok()? as u32, *counts))));
            starts.push(cells.len());
        }
        Self { pairs, names: self.names.clone(), starts, cells }
    }

    /// The cells of one item: index of the pair of models, counts.
    pub(super) fn of_item(&self, item: usize) -> &[(u32, Counts)] {
        &self.cells[self.starts[item]..self.starts[item + 1]]
    }

    /// The items with a compared pair.
    pub(super) fn compared(&self) -> Vec<usize> {
        (0..self.names.len()).filter(|&item| self.of_item(item).iter().any(|(_, counts)| counts.compared > 0)).collect()
    }

    /// The result over all items; `nothing` says why there is none when no pair of models shares an item.
    pub(super) fn summary(&self, policy: TiePolicy, nothing: impl Fn() -> Outcome<f64>) -> Agreement {
        let mut sums = vec![Counts::default(); self.pairs.len()];
        for (pair, counts) in &self.cells {
            sums[*pair as usize].add(counts);
        }
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
        Agreement { policy, pairs, macro_mean, micro_mean, counts, items: self.compared().len() }
    }
}

/// A table whose pairs of models stand in the order in which they came.
#[derive(Default)]
struct Unsorted<'a> {
    names: Vec<&'a str>,
    starts: Vec<usize>,
    cells: Vec<(u32, Counts)>,
    pairs: HashMap<[u32; 2], u32>,
}

impl<'a> Unsorted<'a> {
    fn add(&mut self, pair: [u32; 2], counts: Counts) {
        let next = self.pairs.len() as u32; // four thousand million pairs do not fit into memory
        self.cells.push((*self.pairs.entry(pair).or_insert(next), counts));
    }

    /// Pairs in alphabetical order; the numbers of models are places in `models`.
    fn sorted(mut self, models: &[&'a str]) -> PairTable<'a> {
        let mut pairs: Vec<([u32; 2], u32)> = self.pairs.into_iter().collect();
        pairs.sort_unstable();
        let mut places = vec![0; pairs.len()];
        for (place, (_, number)) in pairs.iter().enumerate() {
            places[*number as usize] = place as u32;
        }
        self.cells.iter_mut().for_each(|(pair, _)| *pair = places[*pair as usize]);
        self.starts.push(self.cells.len());
        let pairs = pairs.into_iter().map(|(pair, _)| pair.map(|model| models[model as usize])).collect();
        PairTable { pairs, names: self.names, starts: self.starts, cells: self.cells }
    }
}

/// NaN stands for none.
fn known(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value)
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
        TiePolicy::Calibrated(threshold) => metric.abs() <= threshold + noise(metric_a, metric_b),
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
    tie_threshold_of(&Names::of_rows(rows).of(rows))
}

pub(super) fn tie_threshold_of(sheet: &Sheet<'_>) -> Outcome<f64> {
    let mut differences = Vec::new();
    for edits in sheet.items() {
        for (i, a) in edits.iter().enumerate() {
            for b in edits[i + 1..].iter().filter(|b| b.model != a.model) {
                differences.extend(Difference::of([a.metric, b.metric], a.human - b.human));
            }
        }
    }
    best_threshold(differences)
}

/// The same for votes.
pub(super) fn vote_tie_threshold(votes: &[ModelVote], metric: impl Fn(&str, &str) -> Option<f64>) -> Outcome<f64> {
    let difference = |vote: &ModelVote| {
        let human = match vote.preference {
            Preference::First => 1.0,
            Preference::Second => -1.0,
            Preference::Tie | Preference::BothBad => 0.0,
        };
        Difference::of([metric(&vote.item, &vote.first)?, metric(&vote.item, &vote.second)?], human)
    };
    best_threshold(votes.iter().filter_map(difference).collect())
}

/// Two edits as a threshold sees them.
struct Difference {
    metric: f64,
    /// How exact the metric's difference is.
    noise: f64,
    human_tie: bool,
    same_direction: bool,
}

impl Difference {
    /// `None` where a value is missing.
    fn of([a, b]: [f64; 2], human: f64) -> Option<Self> {
        let metric = a - b;
        (!metric.is_nan() && !human.is_nan()).then(|| Self {
            metric: metric.abs(),
            noise: noise(a, b),
            human_tie: human.abs() < HUMAN_TIE,
            same_direction: (human > 0.0) == (metric > 0.0),
        })
    }
}

fn best_threshold(mut differences: Vec<Difference>) -> Outcome<f64> {
    if differences.is_empty() {
        return Outcome::NotApplicable("no pair of edits has metric values and ratings".into());
    }
    differences.sort_by(|a, b| a.metric.total_cmp(&b.metric));
    // Above the threshold: right where people prefer the same edit; up to it: right where people tie.
    let mut right: i64 = differences.iter().filter(|d| !d.human_tie && d.same_direction && d.metric > d.noise).count() as i64;
    right += differences.iter().filter(|d| d.metric <= d.noise && d.human_tie).count() as i64;
    let (mut best, mut threshold) = (right, 0.0);
    differences.retain(|d| d.metric > d.noise);
    let mut at = 0;
    while at < differences.len() {
        let mut value = differences[at].metric;
        while at < differences.len() && differences[at].metric <= value + differences[at].noise {
            let Difference { metric, human_tie, same_direction, .. } = differences[at];
            right += i64::from(human_tie) - i64::from(!human_tie && same_direction);
            value = metric;
            at += 1;
        }
        if right > best {
            (best, threshold) = (right, value);
        }
    }
    Outcome::Value(threshold)
}
