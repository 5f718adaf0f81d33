//! One metric against one criterion on one group of edits; metrics against votes; metrics against each other.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{ALL, BY_MODEL, Evidence, OVERALL, Plan, Subject, Ties};
use crate::domain::{Criterion, ModelVote, Outcome};
use crate::stats::agreement::{
    Agreement, HUMAN_TIE, PairTable, TiePolicy, agreement_of, no_pairs, tie_threshold_of, vote_agreement, vote_tie_threshold,
};
use crate::stats::correlation::{Correlation, PerItem, area_under_curve, per_item_of};
use crate::stats::intervals::{Comparison as Paired, Interval, Mean, compare_sheets, items_needed, table_intervals};
use crate::stats::people::median;
use crate::stats::resampled::{ColumnIntervals, column_intervals_of};
use crate::stats::sheet::{Cell, Names, Sheet};
use crate::stats::undefined;

/// The agreement under another treatment of ties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyShare {
    /// In words.
    pub policy: String,
    #[serde(with = "undefined")]
    pub macro_mean: Outcome<f64>,
    #[serde(with = "undefined")]
    pub micro_mean: Outcome<f64>,
    pub compared: usize,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub metric: String,
    pub criterion: String,
    /// `all`, or what the edits are split by.
    pub split: String,
    /// `all`, or the group of the split.
    pub group: String,
    /// Edits that have both values.
    pub complete: usize,
    pub agreement: Agreement,
    #[serde(with = "undefined")]
    pub macro_interval: Outcome<Interval>,
    #[serde(with = "undefined")]
    pub micro_interval: Outcome<Interval>,
    /// The same pairs under every tie policy.
    pub by_policy: Vec<PolicyShare>,
    #[serde(with = "undefined")]
    pub spearman: Outcome<f64>,
    #[serde(with = "undefined")]
    pub spearman_interval: Outcome<Interval>,
    #[serde(with = "undefined")]
    pub kendall_tau_b: Outcome<f64>,
    #[serde(with = "undefined", default = "undefined::not_saved")]
    pub kendall_tau_b_interval: Outcome<Interval>,
    #[serde(with = "undefined")]
    pub pearson: Outcome<f64>,
    #[serde(with = "undefined", default = "undefined::not_saved")]
    pub pearson_interval: Outcome<Interval>,
    /// Spearman's ρ within each item, mean over items.
    pub spearman_per_item: PerItem,
    #[serde(with = "undefined", default = "undefined::not_saved")]
    pub spearman_per_item_interval: Outcome<Interval>,
    /// Kendall's τ-b within each item, mean over items.
    pub kendall_per_item: PerItem,
    #[serde(with = "undefined", default = "undefined::not_saved")]
    pub kendall_per_item_interval: Outcome<Interval>,
    /// Area under the curve for telling good edits from others.
    #[serde(with = "undefined")]
    pub area_under_curve: Outcome<f64>,
    #[serde(with = "undefined", default = "undefined::not_saved")]
    pub area_under_curve_interval: Outcome<Interval>,
    /// Which edits are good.
    pub good: String,
    /// Items needed for the width that the plan aims at.
    #[serde(with = "undefined")]
    pub items_needed: Outcome<usize>,
    /// What to know before believing the line.
    pub notes: Vec<String>,
}

/// One line to compute.
pub(super) struct Job<'a> {
    metric: &'a str,
    criterion: &'a str,
    split: &'a str,
    group: &'a str,
}

/// Parts and the criterion of the paper that asks for the same.
const OWN_CRITERION: [(&str, Criterion); 4] = [
    ("modify", Criterion::Modification),
    ("preserve", Criterion::Preservation),
    ("size", Criterion::Size),
    ("position", Criterion::Position),
];

/// Which metric is held against which criterion: everything against the overall impression, parts against their own criterion,
/// and everything against criteria that the paper does not have.
pub(super) fn pairings<'a>(metrics: &'a [String], criteria: &'a [String]) -> Vec<(&'a str, &'a str)> {
    let own = |metric: &str| OWN_CRITERION.iter().find(|(part, _)| *part == metric).map(|(_, criterion)| criterion.name());
    let is_own = |criterion: &str| OWN_CRITERION.iter().any(|(_, own)| own.name() == criterion);
    let mut found = Vec::new();
    for criterion in criteria.iter().filter(|criterion| !is_own(criterion)) {
        found.extend(metrics.iter().map(|metric| (metric.as_str(), criterion.as_str())));
    }
    for metric in metrics {
        let criterion = criteria.iter().find(|criterion| own(metric) == Some(criterion.as_str()));
        found.extend(criterion.map(|criterion| (metric.as_str(), criterion.as_str())));
    }
    found
}

/// The lines of the report: all edits first, then each group of each split.
pub(super) fn jobs<'a>(evidence: &'a Evidence, criteria: &'a [String], splits: &'a [String]) -> Vec<Job<'a>> {
    let mut groups = vec![(ALL, ALL)];
    for split in splits {
        let names: BTreeSet<&str> = if split == BY_MODEL {
            evidence.subjects.iter().map(|subject| subject.model.as_str()).collect()
        } else {
            evidence.subjects.iter().filter_map(|subject| subject.labels.get(split)).flatten().map(String::as_str).collect()
        };
        groups.extend(names.into_iter().map(|group| (split.as_str(), group)));
    }
    let pairings = pairings(&evidence.metrics, criteria);
    let of_group = |(split, group): (&'a str, &'a str)| pairings.iter().map(move |&(metric, criterion)| (metric, criterion, split, group));
    groups.into_iter().flat_map(of_group).map(|(metric, criterion, split, group)| Job { metric, criterion, split, group }).collect()
}

/// What a metric and people say of the edits of a group.
pub(super) fn sheet<'a>(names: &'a Names<'a>, evidence: &Evidence, [metric, criterion]: [&str; 2], [split, group]: [&str; 2]) -> Sheet<'a> {
    names.sheet(|row| {
        let subject = &evidence.subjects[row]; // the names are those of the subjects
        belongs(subject, split, group).then(|| [subject.metrics.get(metric).copied(), subject.human.get(criterion).copied()])
    })
}

/// Whether an edit belongs to a group.
pub(super) fn belongs(subject: &Subject, split: &str, group: &str) -> bool {
    split == ALL || subject.labels.get(split).is_some_and(|groups| groups.iter().any(|own| own == group))
}

pub(super) fn line(names: &Names<'_>, evidence: &Evidence, job: &Job<'_>, plan: &Plan) -> Line {
    let by_model = job.split == BY_MODEL;
    let rows = sheet(names, evidence, [job.metric, job.criterion], if by_model { [ALL, ALL] } else { [job.split, job.group] });
    let (policy, mut notes) = policy_of(plan.ties, &rows);
    let all = PairTable::new(&rows, policy);
    let nothing = || if all.pairs.is_empty() { no_pairs(&rows) } else { all.summary(policy, || no_pairs(&rows)).macro_mean };
    let by_one = by_model.then(|| (all.with_model(job.group), rows.of_model(job.group)));
    let (table, own) = by_one.as_ref().map_or((&all, &rows), |(table, own)| (table, own));
    let found = table.summary(policy, nothing);
    let (metrics, humans) = own.complete();
    let [macro_interval, micro_interval] = table_intervals(table, plan.bootstrap);
    let by_policy = if by_model { Vec::new() } else { by_policy(&rows) };
    if found.items == 1 {
        notes.push("one item is compared: the number says next to nothing, and no interval exists".to_owned());
    }
    if macro_interval.value().is_some_and(|interval| interval.high <= interval.low) {
        notes.push(format!(
            "all {} compared items say the same, so the interval has no width; with few items that is no certainty",
            found.items
        ));
    }
    notes.extend(few_levels(&metrics, &found, &by_policy));
    let good = Good::new(&humans, plan.good_from);
    let intervals = match &good {
        Ok(good) => column_intervals_of(own, |human| good.is(human), plan.bootstrap),
        Err(why) => ColumnIntervals::none(&Outcome::NotApplicable(why.clone())),
    };
    let area = good.as_ref().map_or_else(|why| Outcome::NotApplicable(why.clone()), |good| good.area(&metrics, &humans));
    Line {
        metric: job.metric.to_owned(),
        criterion: job.criterion.to_owned(),
        split: job.split.to_owned(),
        group: job.group.to_owned(),
        complete: metrics.len(),
        micro_interval,
        items_needed: macro_interval.clone().and_then(|interval| items_needed(&interval, found.items, plan.width)),
        macro_interval,
        by_policy,
        spearman: Correlation::Spearman.of(&metrics, &humans),
        spearman_interval: intervals.spearman,
        kendall_tau_b: Correlation::KendallTauB.of(&metrics, &humans),
        kendall_tau_b_interval: intervals.kendall_tau_b,
        pearson: Correlation::Pearson.of(&metrics, &humans),
        pearson_interval: intervals.pearson,
        spearman_per_item: per_item_of(own, Correlation::Spearman),
        spearman_per_item_interval: intervals.spearman_per_item,
        kendall_per_item: per_item_of(own, Correlation::KendallTauB),
        kendall_per_item_interval: intervals.kendall_per_item,
        area_under_curve: area,
        area_under_curve_interval: intervals.area_under_curve,
        good: good.map(|good| good.words).unwrap_or_default(),
        agreement: found,
        notes,
    }
}

/// The policy to use, and what to know about it.
fn policy_of(ties: Ties, rows: &Sheet<'_>) -> (TiePolicy, Vec<String>) {
    match ties {
        Ties::As(policy) => (policy, Vec::new()),
        Ties::Fitted => match tie_threshold_of(rows) {
            Outcome::Value(threshold) => (TiePolicy::Calibrated(threshold), Vec::new()),
            Outcome::NotApplicable(why) | Outcome::Failed(why) => {
                (TiePolicy::Calibrated(0.0), vec![format!("no tie threshold could be fitted ({why}); only equal values tie")])
            }
        },
    }
}

/// The paper's policy, its variants, and ties counted with the best threshold.
fn by_policy(rows: &Sheet<'_>) -> Vec<PolicyShare> {
    let fitted = tie_threshold_of(rows).value().copied();
    let policies = [TiePolicy::Paper, TiePolicy::MetricTiesHalf, TiePolicy::MetricTiesDropped];
    let share = |policy: TiePolicy, words: String| {
        let found = agreement_of(rows, policy);
        PolicyShare { policy: words, compared: found.counts.compared, macro_mean: found.macro_mean, micro_mean: found.micro_mean }
    };
    let mut shares: Vec<PolicyShare> = policies.into_iter().map(|policy| share(policy, policy.words())).collect();
    if let Some(threshold) = fitted {
        shares.push(share(TiePolicy::Calibrated(threshold), fitted_words(threshold)));
    }
    shares
}

fn fitted_words(threshold: f64) -> String {
    format!("{} (fitted on these data)", TiePolicy::Calibrated(threshold).words())
}

/// A metric of so few values ties often, which the paper's policy counts as wrong.
const FEW: usize = 3;

/// Explains an agreement that ties pull down.
fn few_levels(values: &[f64], found: &Agreement, by_policy: &[PolicyShare]) -> Option<String> {
    let mut levels = values.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let wrong = found.policy == TiePolicy::Paper && found.counts.metric_ties > 0;
    if levels.is_empty() || levels.len() > FEW || !wrong {
        return None;
    }
    let half = by_policy.get(1).and_then(|share| share.macro_mean.value().map(|value| format!("; with ties half right it is {value:.3}")));
    Some(format!(
        "it has {}, so it ties in {} of {} compared pairs, and ties count as wrong: below 0.5 is not worse than chance{}",
        if levels.len() == 1 { "the same value everywhere".to_owned() } else { format!("only {} different values", levels.len()) },
        found.counts.metric_ties,
        found.counts.compared,
        half.unwrap_or_default()
    ))
}

/// A human mean as people read it: at most four decimals.
fn four_decimals(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Which edits are good.
struct Good {
    from: f64,
    /// An edit at `from` itself is good.
    inclusive: bool,
    words: String,
}

impl Good {
    fn new(humans: &[f64], good_from: Option<f64>) -> Result<Self, String> {
        match (good_from, median(humans.to_vec(), "no edit has both values")) {
            (Some(from), _) => Ok(Self { from, inclusive: true, words: format!("human mean of at least {}", four_decimals(from)) }),
            (None, Outcome::Value(from)) => {
                Ok(Self { from, inclusive: false, words: format!("human mean above the median, {}", four_decimals(from)) })
            }
            (None, Outcome::NotApplicable(why) | Outcome::Failed(why)) => Err(why),
        }
    }

    /// Human means that differ less than ties do are the same here too.
    fn is(&self, human: f64) -> bool {
        if self.inclusive { human > self.from - HUMAN_TIE } else { human >= self.from + HUMAN_TIE }
    }

    fn area(&self, metrics: &[f64], humans: &[f64]) -> Outcome<f64> {
        let good: Vec<bool> = humans.iter().map(|human| self.is(*human)).collect();
        area_under_curve(metrics, &good)
    }
}

/// One metric against votes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoteLine {
    pub metric: String,
    pub criterion: String,
    pub votes: usize,
    /// Votes that both edits are bad; they count as ties.
    pub both_bad: usize,
    pub agreement: Agreement,
    #[serde(with = "undefined")]
    pub macro_interval: Outcome<Interval>,
    #[serde(with = "undefined")]
    pub micro_interval: Outcome<Interval>,
    pub by_policy: Vec<PolicyShare>,
}

pub(super) fn vote_lines(evidence: &Evidence, plan: &Plan) -> Vec<VoteLine> {
    let mut by_criterion: BTreeMap<&str, Vec<ModelVote>> = BTreeMap::new();
    for vote in &evidence.votes {
        by_criterion.entry(&vote.criterion).or_default().push(vote.clone());
    }
    let subjects: BTreeMap<(&str, &str), &Subject> =
        evidence.subjects.iter().map(|subject| ((subject.item.as_str(), subject.model.as_str()), subject)).collect();
    let mut lines = Vec::new();
    for (criterion, votes) in &by_criterion {
        for metric in &evidence.metrics {
            let value = |item: &str, model: &str| subjects.get(&(item, model))?.metrics.get(metric).copied();
            let fitted = vote_tie_threshold(votes, value).value().copied();
            let policy = match plan.ties {
                Ties::As(policy) => policy,
                // Without a vote on two values nothing is compared, and any threshold is as good.
                Ties::Fitted => TiePolicy::Calibrated(fitted.unwrap_or(0.0)),
            };
            let table = PairTable::of_votes(votes, value, policy);
            let share = |policy: TiePolicy, words: String| {
                let found = vote_agreement(votes, value, policy);
                PolicyShare { policy: words, compared: found.counts.compared, macro_mean: found.macro_mean, micro_mean: found.micro_mean }
            };
            let [macro_interval, micro_interval] = table_intervals(&table, plan.bootstrap);
            let policies = [TiePolicy::Paper, TiePolicy::MetricTiesHalf, TiePolicy::MetricTiesDropped];
            let mut by_policy: Vec<PolicyShare> = policies.map(|policy| share(policy, policy.words())).into();
            by_policy.extend(fitted.map(|threshold| share(TiePolicy::Calibrated(threshold), fitted_words(threshold))));
            lines.push(VoteLine {
                metric: metric.clone(),
                criterion: (*criterion).to_owned(),
                votes: votes.len(),
                both_bad: votes.iter().filter(|vote| vote.preference == crate::domain::Preference::BothBad).count(),
                agreement: vote_agreement(votes, value, policy),
                macro_interval,
                micro_interval,
                by_policy,
            });
        }
    }
    lines
}

/// Two metrics on the same edits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Significance {
    pub first: String,
    pub second: String,
    pub criterion: String,
    #[serde(with = "undefined")]
    pub result: Outcome<Paired>,
    /// p after Holm's correction for all comparisons of this criterion (Holm 1979).
    #[serde(with = "undefined")]
    pub p_holm: Outcome<f64>,
    /// How many comparisons the correction is for; 0 where that was not saved.
    #[serde(default)]
    pub family: usize,
}

/// With more metrics than this only one is compared with the others (see [`Plan::first`]).
pub const ALL_PAIRS: usize = 6;

/// Pairs of metrics to compare, as places in `metrics`: all, or those of one metric when there are many.
fn pairs_of(metrics: &[String], first: Option<&str>) -> Vec<(usize, usize)> {
    let chosen = first.and_then(|name| metrics.iter().position(|metric| metric == name));
    let many = metrics.len() > ALL_PAIRS;
    match (chosen, many) {
        (None, false) => (0..metrics.len()).flat_map(|i| (i + 1..metrics.len()).map(move |j| (i, j))).collect(),
        (chosen, _) => {
            let first = chosen.unwrap_or(0);
            (0..metrics.len()).filter(|&other| other != first).map(|other| (first, other)).collect()
        }
    }
}

pub(super) fn significance(names: &Names<'_>, evidence: &Evidence, criteria: &[String], plan: &Plan) -> Vec<Significance> {
    let metrics = &evidence.metrics;
    let overall: Vec<&String> = criteria.iter().filter(|name| *name == OVERALL).collect();
    let asked = if overall.is_empty() { criteria.iter().collect() } else { overall };
    let policy = match plan.ties {
        Ties::As(policy) => policy,
        // A threshold for each metric would compare the thresholds too; a note says so.
        Ties::Fitted => TiePolicy::Paper,
    };
    let mut found = Vec::new();
    for criterion in asked {
        let sheets: Vec<Sheet<'_>> = metrics.iter().map(|metric| sheet(names, evidence, [metric, criterion], [ALL, ALL])).collect();
        let paired = |i: usize, j: usize| {
            let both = |(a, b): (&Cell, &Cell)| !a.metric.is_nan() && !b.metric.is_nan() && !a.human.is_nan();
            // All edits are in both sheets, in the same order.
            let keep: Vec<bool> = sheets[i].cells.iter().zip(&sheets[j].cells).map(both).collect();
            let shared = |at: usize| sheets[at].filtered(&keep);
            let left_out = keep.iter().filter(|keep| !**keep).count();
            compare_sheets([&shared(i), &shared(j)], left_out, policy, Mean::Macro, plan.bootstrap)
        };
        let pairs = pairs_of(metrics, plan.first.as_deref());
        let results: Vec<Outcome<Paired>> = pairs.par_iter().map(|&(i, j)| paired(i, j)).collect();
        let family = results.iter().filter(|result| result.value().is_some()).count();
        let corrected = holm(&results.iter().map(|result| result.value().map(|paired| paired.p_value)).collect::<Vec<_>>());
        for (((i, j), result), p) in pairs.into_iter().zip(results).zip(corrected) {
            let why = || Outcome::NotApplicable(result.why().unwrap_or("not compared").to_owned());
            found.push(Significance {
                first: metrics[i].clone(),
                second: metrics[j].clone(),
                criterion: criterion.clone(),
                p_holm: p.map_or_else(why, Outcome::Value),
                family,
                result,
            });
        }
    }
    found
}

/// Holm's step-down correction (Holm, "A simple sequentially rejective multiple test procedure", 1979), in the order given.
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|&i| p_values[i].is_some()).collect();
    let value = |i: usize| p_values[i].unwrap_or(1.0); // only those with a value are in the order
    order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
    let (mut corrected, mut least) = (vec![None; p_values.len()], 0.0_f64);
    for (rank, &i) in order.iter().enumerate() {
        least = least.max(((order.len() - rank) as f64 * value(i)).min(1.0));
        corrected[i] = Some(least);
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The median of 3, 11/3 and 5 is 11/3.
    #[test]
    fn good_is_said_without_the_digits_of_storage() {
        let words = |from: Option<f64>| Good::new(&[3.0, 11.0 / 3.0, 5.0], from).map(|good| good.words);
        assert_eq!(words(None).as_deref(), Ok("human mean above the median, 3.6667"));
        assert_eq!(words(Some(4.0)).as_deref(), Ok("human mean of at least 4"));
    }
}
