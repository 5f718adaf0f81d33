//! The edits on which a metric and people differ most.

use serde::{Deserialize, Serialize};

use super::{Evidence, OVERALL};
use crate::stats::correlation::ranks;

/// An edit that a metric places elsewhere than people do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    pub item: String,
    pub model: String,
    pub metric: String,
    pub criterion: String,
    pub value: f64,
    pub human: f64,
    /// Place of the metric's value among all compared edits, 0 (worst) to 1 (best), ties in the middle.
    pub metric_place: f64,
    /// Place of the human mean, likewise.
    pub human_place: f64,
}

impl Mismatch {
    /// Metric's place minus people's place: positive where the metric is too kind.
    pub fn gap(&self) -> f64 {
        self.metric_place - self.human_place
    }
}

/// Where a metric and people place one edit among all edits that have both values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Index into [`Evidence::subjects`].
    pub subject: usize,
    /// Higher is better.
    pub value: f64,
    pub human: f64,
    /// Place of the metric's value, 0 (worst) to 1 (best), ties in the middle.
    pub metric_place: f64,
    /// Place of the human mean, likewise.
    pub human_place: f64,
}

impl Placed {
    /// Metric's place minus people's place: positive where the metric is too kind.
    pub fn gap(&self) -> f64 {
        self.metric_place - self.human_place
    }
}

/// The edits that have both values, in the order of the subjects, with their places; of a single edit both are 0.
pub fn places(evidence: &Evidence, metric: &str, criterion: &str) -> Vec<Placed> {
    let complete: Vec<(usize, f64, f64)> = evidence
        .subjects
        .iter()
        .enumerate()
        .filter_map(|(at, subject)| Some((at, *subject.metrics.get(metric)?, *subject.human.get(criterion)?)))
        .filter(|(_, value, human)| value.is_finite() && human.is_finite())
        .collect();
    let places = |values: Vec<f64>| -> Vec<f64> {
        let last = values.len().saturating_sub(1).max(1) as f64;
        ranks(&values).into_iter().map(|rank| (rank - 1.0) / last).collect()
    };
    let metric_places = places(complete.iter().map(|row| row.1).collect());
    let human_places = places(complete.iter().map(|row| row.2).collect());
    let both = metric_places.into_iter().zip(human_places);
    complete
        .into_iter()
        .zip(both)
        .map(|((subject, value, human), (metric_place, human_place))| Placed { subject, value, human, metric_place, human_place })
        .collect()
}

/// The `most` edits whose places differ most, furthest first.
pub fn mismatches(evidence: &Evidence, metric: &str, criterion: &str, most: usize) -> Vec<Mismatch> {
    let mut apart: Vec<Placed> = places(evidence, metric, criterion).into_iter().filter(|placed| placed.gap() != 0.0).collect();
    let name = |placed: &Placed| {
        let subject = &evidence.subjects[placed.subject];
        (&subject.item, &subject.model)
    };
    // The names make the order the same whatever the order of the rows.
    apart.sort_by(|a, b| b.gap().abs().total_cmp(&a.gap().abs()).then_with(|| name(a).cmp(&name(b))));
    apart.truncate(most);
    let mismatch = |placed: Placed| Mismatch {
        item: evidence.subjects[placed.subject].item.clone(),
        model: evidence.subjects[placed.subject].model.clone(),
        metric: metric.to_owned(),
        criterion: criterion.to_owned(),
        value: placed.value,
        human: placed.human,
        metric_place: placed.metric_place,
        human_place: placed.human_place,
    };
    apart.into_iter().map(mismatch).collect()
}

/// Of the overall against the overall impression, or else of the first metric against the first criterion.
pub(super) fn first_metric(evidence: &Evidence, criteria: &[String], most: usize) -> Vec<Mismatch> {
    let prefer = |names: &[String]| names.iter().find(|name| *name == OVERALL).or(names.first()).cloned();
    match (prefer(&evidence.metrics), prefer(criteria)) {
        (Some(metric), Some(criterion)) => mismatches(evidence, &metric, &criterion, most),
        _ => Vec::new(),
    }
}
