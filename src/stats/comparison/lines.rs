//! One metric against one criterion on one group of edits; metrics against votes; metrics against each other.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{ALL, BY_MODEL, Evidence, OVERALL, Plan, Subject, Ties};
use crate::domain::{Criterion, ModelVote, Outcome};
use crate::stats::agreement::{Agreement, PairTable, Row, TiePolicy, agreement, best_tie_threshold, vote_agreement};
use crate::stats::correlation::{Correlation, PerItem, area_under_curve, complete, per_item};
use crate::stats::intervals::{Comparison as Paired, Interval, Mean, compare, correlation_interval, items_needed, table_interval};
use crate::stats::people::median;
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
    /// Only for all edits: it takes long.
    #[serde(with = "undefined")]
    pub spearman_interval: Outcome<Interval>,
    #[serde(with = "undefined")]
    pub kendall_tau_b: Outcome<f64>,
    #[serde(with = "undefined")]
    pub pearson: Outcome<f64>,
    /// Spearman's ρ within each item, mean over items.
    pub spearman_per_item: PerItem,
    /// Kendall's τ-b within each item, mean over items.
    pub kendall_per_item: PerItem,
    /// Area under the curve for telling good edits from others.
    #[serde(with = "undefined")]
    pub area_under_curve: Outcome<f64>,
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

pub(super) fn row(subject: &Subject, metric: &str, criterion: &str) -> Row {
    Row {
        item: subject.item.clone(),
        model: subject.model.clone(),
        metric: subject.metrics.get(metric).copied(),
        human: subject.human.get(criterion).copied(),
    }
}

/// Whether an edit belongs to a group.
pub(super) fn belongs(subject: &Subject, split: &str, group: &str) -> bool {
    split == ALL || subject.labels.get(split).is_some_and(|groups| groups.iter().any(|own| own == group))
}

pub(super) fn line(evidence: &Evidence, job: &Job<'_>, plan: &Plan) -> Line {
    let by_model = job.split == BY_MODEL;
    let in_group = |subject: &&Subject| by_model || belongs(subject, job.split, job.group);
    let rows: Vec<Row> = evidence.subjects.iter().filter(in_group).map(|subject| row(subject, job.metric, job.criterion)).collect();
    let (policy, mut notes) = policy_of(plan.ties, &rows);
    let all = PairTable::new(&rows, policy);
    let table = if by_model { all.with_model(job.group) } else { all };
    let nothing = || agreement(&rows, policy).macro_mean;
    let found = table.summary(policy, nothing);
    let own: Vec<Row> = if by_model { rows.iter().filter(|row| row.model == job.group).cloned().collect() } else { rows.clone() };
    let (metrics, humans, _) = complete(&own);
    let macro_interval = table_interval(&table, Mean::Macro, plan.bootstrap);
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
    let (area, good) = area(&metrics, &humans, plan.good_from);
    Line {
        metric: job.metric.to_owned(),
        criterion: job.criterion.to_owned(),
        split: job.split.to_owned(),
        group: job.group.to_owned(),
        complete: metrics.len(),
        micro_interval: table_interval(&table, Mean::Micro, plan.bootstrap),
        items_needed: macro_interval.clone().and_then(|interval| items_needed(&interval, found.items, plan.width)),
        macro_interval,
        by_policy,
        spearman: Correlation::Spearman.of(&metrics, &humans),
        spearman_interval: if job.split == ALL {
            correlation_interval(&own, Correlation::Spearman, plan.bootstrap)
        } else {
            Outcome::NotApplicable("computed for all edits only".into())
        },
        kendall_tau_b: Correlation::KendallTauB.of(&metrics, &humans),
        pearson: Correlation::Pearson.of(&metrics, &humans),
        spearman_per_item: per_item(&own, Correlation::Spearman),
        kendall_per_item: per_item(&own, Correlation::KendallTauB),
        area_under_curve: area,
        good,
        agreement: found,
        notes,
    }
}

/// The policy to use, and what to know about it.
fn policy_of(ties: Ties, rows: &[Row]) -> (TiePolicy, Vec<String>) {
    match ties {
        Ties::As(policy) => (policy, Vec::new()),
        Ties::Fitted => match best_tie_threshold(rows) {
            Outcome::Value(threshold) => (TiePolicy::Calibrated(threshold), Vec::new()),
            Outcome::NotApplicable(why) | Outcome::Failed(why) => {
                (TiePolicy::Calibrated(0.0), vec![format!("no tie threshold could be fitted ({why}); only equal values tie")])
            }
        },
    }
}

/// The paper's policy, its variants, and ties counted with the best threshold.
fn by_policy(rows: &[Row]) -> Vec<PolicyShare> {
    let fitted = best_tie_threshold(rows).value().copied();
    let policies = [TiePolicy::Paper, TiePolicy::MetricTiesHalf, TiePolicy::MetricTiesDropped];
    let share = |policy: TiePolicy, words: String| {
        let found = agreement(rows, policy);
        PolicyShare { policy: words, compared: found.counts.compared, macro_mean: found.macro_mean, micro_mean: found.micro_mean }
    };
    let mut shares: Vec<PolicyShare> = policies.into_iter().map(|policy| share(policy, policy.words())).collect();
    if let Some(threshold) = fitted {
        let policy = TiePolicy::Calibrated(threshold);
        shares.push(share(policy, format!("{} (fitted on these data)", policy.words())));
    }
    shares
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
        "it has {} value(s), so it ties in {} of {} compared pairs, and ties count as wrong: below 0.5 is not worse than chance{}",
        levels.len(),
        found.counts.metric_ties,
        found.counts.compared,
        half.unwrap_or_default()
    ))
}

fn area(metrics: &[f64], humans: &[f64], good_from: Option<f64>) -> (Outcome<f64>, String) {
    match (good_from, median(humans.to_vec(), "no edit has both values")) {
        (Some(from), _) => {
            let good: Vec<bool> = humans.iter().map(|human| *human >= from).collect();
            (area_under_curve(metrics, &good), format!("human mean of at least {from}"))
        }
        (None, Outcome::Value(middle)) => {
            let good: Vec<bool> = humans.iter().map(|human| *human > middle).collect();
            (area_under_curve(metrics, &good), format!("human mean above the median, {middle}"))
        }
        (None, Outcome::NotApplicable(why) | Outcome::Failed(why)) => (Outcome::NotApplicable(why), String::new()),
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
    let policy = match plan.ties {
        Ties::As(policy) => policy,
        Ties::Fitted => TiePolicy::Paper,
    };
    let mut lines = Vec::new();
    for (criterion, votes) in &by_criterion {
        for metric in &evidence.metrics {
            let value = |item: &str, model: &str| subjects.get(&(item, model))?.metrics.get(metric).copied();
            let table = PairTable::of_votes(votes, value, policy);
            let share = |policy: TiePolicy| {
                let found = vote_agreement(votes, value, policy);
                PolicyShare {
                    policy: policy.words(),
                    compared: found.counts.compared,
                    macro_mean: found.macro_mean,
                    micro_mean: found.micro_mean,
                }
            };
            lines.push(VoteLine {
                metric: metric.clone(),
                criterion: (*criterion).to_owned(),
                votes: votes.len(),
                both_bad: votes.iter().filter(|vote| vote.preference == crate::domain::Preference::BothBad).count(),
                agreement: vote_agreement(votes, value, policy),
                macro_interval: table_interval(&table, Mean::Macro, plan.bootstrap),
                micro_interval: table_interval(&table, Mean::Micro, plan.bootstrap),
                by_policy: [TiePolicy::Paper, TiePolicy::MetricTiesHalf, TiePolicy::MetricTiesDropped].map(share).into(),
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
}

/// With more metrics than this only the first is compared with the others.
const ALL_PAIRS: usize = 6;

pub(super) fn significance(evidence: &Evidence, criteria: &[String], plan: &Plan) -> Vec<Significance> {
    let metrics = &evidence.metrics;
    let firsts = if metrics.len() <= ALL_PAIRS { metrics.len() } else { 1 };
    let overall: Vec<&String> = criteria.iter().filter(|name| *name == OVERALL).collect();
    let asked = if overall.is_empty() { criteria.iter().collect() } else { overall };
    let policy = match plan.ties {
        Ties::As(policy) => policy,
        // A threshold for each metric would compare the thresholds too.
        Ties::Fitted => TiePolicy::Paper,
    };
    let mut found = Vec::new();
    for criterion in asked {
        let rows = |metric: &String| -> Vec<Row> { evidence.subjects.iter().map(|subject| row(subject, metric, criterion)).collect() };
        let tables: Vec<Vec<Row>> = metrics.iter().map(rows).collect();
        let pairs: Vec<(usize, usize)> = (0..firsts).flat_map(|i| (i + 1..metrics.len()).map(move |j| (i, j))).collect();
        let results: Vec<Outcome<Paired>> =
            pairs.par_iter().map(|&(i, j)| compare(&tables[i], &tables[j], policy, Mean::Macro, plan.bootstrap)).collect();
        let corrected = holm(&results.iter().map(|result| result.value().map(|paired| paired.p_value)).collect::<Vec<_>>());
        for (((i, j), result), p) in pairs.into_iter().zip(results).zip(corrected) {
            let why = || Outcome::NotApplicable(result.why().unwrap_or("not compared").to_owned());
            found.push(Significance {
                first: metrics[i].clone(),
                second: metrics[j].clone(),
                criterion: criterion.clone(),
                p_holm: p.map_or_else(why, Outcome::Value),
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
