//! The ground-truth test of the paper: items with one edit known to be good and others known to be worse (changed too little,
//! changed too much). How often does the metric prefer the good one?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::undefined;
use crate::domain::Outcome;

/// One edit of an item whose best edit is known.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownEdit {
    pub item: String,
    /// What kind of edit this is ("good", "over-preserved", …) or the model's name.
    pub kind: String,
    /// Higher is better; `None` (or not finite): the metric has no value here.
    pub metric: Option<f64>,
    /// The edit is the good one of its item.
    pub good: bool,
}

/// How often the good edit wins over one kind of worse edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Against {
    pub kind: String,
    #[serde(with = "undefined")]
    pub share: Outcome<f64>,
    pub right: usize,
    pub compared: usize,
}

/// The result of the test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroundTruth {
    /// The share of items where the good edit scores strictly above every worse one.
    #[serde(with = "undefined")]
    pub share: Outcome<f64>,
    pub right: usize,
    /// Items where every edit has a value.
    pub items: usize,
    /// By kind of worse edit, in alphabetical order.
    pub against: Vec<Against>,
    /// Items left out because the metric has no value for one of their edits.
    pub missing_metric: usize,
    /// Items left out because they have not exactly one good and at least one worse edit.
    pub unmarked: usize,
}

/// Runs the test. A tie with a worse edit counts as wrong. Only `kinds` are compared when it is not empty.
pub fn ground_truth(edits: &[KnownEdit], kinds: &[&str]) -> GroundTruth {
    let mut by_item: BTreeMap<&str, Vec<&KnownEdit>> = BTreeMap::new();
    for edit in edits.iter().filter(|e| e.good || kinds.is_empty() || kinds.contains(&e.kind.as_str())) {
        by_item.entry(&edit.item).or_default().push(edit);
    }
    let (mut right, mut items, mut missing_metric, mut unmarked) = (0, 0, 0, 0);
    let mut against: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let value = |edit: &KnownEdit| edit.metric.filter(|v| v.is_finite());
    for edits in by_item.values() {
        let (good, worse): (Vec<&KnownEdit>, Vec<&KnownEdit>) = edits.iter().copied().partition(|e| e.good);
        let ([good], false) = (&good[..], worse.is_empty()) else {
            unmarked += 1;
            continue;
        };
        let best = value(good);
        for edit in &worse {
            if let (Some(best), Some(other)) = (best, value(edit)) {
                let (wins, all) = against.entry(&edit.kind).or_default();
                *wins += usize::from(best > other);
                *all += 1;
            }
        }
        let Some(best) = best.filter(|_| worse.iter().all(|e| value(e).is_some())) else {
            missing_metric += 1;
            continue;
        };
        items += 1;
        right += usize::from(worse.iter().all(|e| value(e).is_some_and(|other| best > other)));
    }
    let why = || format!("no item can be judged: {missing_metric} without a metric value, {unmarked} without one good and one worse edit");
    let share = if items == 0 { Outcome::NotApplicable(why()) } else { Outcome::Value(right as f64 / items as f64) };
    let against = against
        .into_iter()
        .map(|(kind, (right, compared))| Against {
            kind: kind.to_owned(),
            share: Outcome::Value(right as f64 / compared as f64), // an entry is made only together with a comparison
            right,
            compared,
        })
        .collect();
    GroundTruth { share, right, items, against, missing_metric, unmarked }
}
