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

/// The `most` edits whose places differ most, furthest first.
pub fn mismatches(evidence: &Evidence, metric: &str, criterion: &str, most: usize) -> Vec<Mismatch> {
    let complete: Vec<_> = evidence
        .subjects
        .iter()
        .filter_map(|subject| Some((subject, *subject.metrics.get(metric)?, *subject.human.get(criterion)?)))
        .filter(|(_, value, human)| value.is_finite() && human.is_finite())
        .collect();
    if complete.len() < 2 {
        return Vec::new();
    }
    let places = |values: Vec<f64>| -> Vec<f64> {
        let last = (values.len() - 1) as f64;
        ranks(&values).into_iter().map(|rank| (rank - 1.0) / last).collect()
    };
    let metric_places = places(complete.iter().map(|row| row.1).collect());
    let human_places = places(complete.iter().map(|row| row.2).collect());
    let mut found: Vec<Mismatch> = complete
        .iter()
        .zip(metric_places.iter().zip(&human_places))
        .map(|((subject, value, human), (metric_place, human_place))| Mismatch {
            item: subject.item.clone(),
            model: subject.model.clone(),
            metric: metric.to_owned(),
            criterion: criterion.to_owned(),
            value: *value,
            human: *human,
            metric_place: *metric_place,
            human_place: *human_place,
        })
        .filter(|found| found.gap() != 0.0)
        .collect();
    // The names make the order the same whatever the order of the rows.
    found.sort_by(|a, b| b.gap().abs().total_cmp(&a.gap().abs()).then_with(|| (&a.item, &a.model).cmp(&(&b.item, &b.model))));
    found.truncate(most);
    found
}

/// Of the overall against the overall impression, or else of the first metric against the first criterion.
pub(super) fn first_metric(evidence: &Evidence, criteria: &[String], most: usize) -> Vec<Mismatch> {
    let prefer = |names: &[String]| names.iter().find(|name| *name == OVERALL).or(names.first()).cloned();
    match (prefer(&evidence.metrics), prefer(criteria)) {
        (Some(metric), Some(criterion)) => mismatches(evidence, &metric, &criterion, most),
        _ => Vec::new(),
    }
}
