//! Which items change the order of their edits between two readings of a metric (profiles, ranges, versions).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::undefined;
use crate::domain::Outcome;

/// An edit's value under two readings; `None` where a reading has none.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoReadings {
    pub item: String,
    pub model: String,
    pub values: [Option<f64>; 2],
}

/// Two edits of an item whose order one reading turns around.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reversal {
    pub item: String,
    /// The model that the first reading puts first, and the other one.
    pub models: [String; 2],
    /// Values of the two models under the first reading.
    pub before: [f64; 2],
    /// Values of the two models under the second reading.
    pub after: [f64; 2],
}

/// How two readings order the edits of each item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderChanges {
    pub readings: [String; 2],
    /// Pairs of edits of one item with values under both readings.
    pub pairs: usize,
    /// Pairs that change sides.
    pub reversals: Vec<Reversal>,
    /// Pairs that tie under exactly one reading.
    pub ties_in_one: usize,
    /// Pairs left out because a reading has no value for one of the two.
    pub missing: usize,
    /// Items with at least one pair.
    pub items: usize,
    /// Items with at least one reversal.
    pub items_changed: usize,
    /// The share of pairs that keep their order (or tie under both).
    #[serde(with = "undefined")]
    pub kept: Outcome<f64>,
}

/// Compares the orders of the edits of each item under two readings, named for the report.
pub fn order_changes(edits: &[TwoReadings], readings: [&str; 2]) -> OrderChanges {
    let mut by_item: BTreeMap<&str, Vec<&TwoReadings>> = BTreeMap::new();
    for edit in edits {
        by_item.entry(&edit.item).or_default().push(edit);
    }
    let mut found = OrderChanges {
        readings: readings.map(str::to_owned),
        pairs: 0,
        reversals: Vec::new(),
        ties_in_one: 0,
        missing: 0,
        items: 0,
        items_changed: 0,
        kept: Outcome::NotApplicable("no two edits of an item have values under both readings".into()),
    };
    for (item, edits) in by_item {
        let (pairs, reversals) = (found.pairs, found.reversals.len());
        for (i, a) in edits.iter().enumerate() {
            for b in &edits[i + 1..] {
                compare(item, a, b, &mut found);
            }
        }
        found.items += usize::from(found.pairs > pairs);
        found.items_changed += usize::from(found.reversals.len() > reversals);
    }
    if found.pairs > 0 {
        let changed = found.reversals.len() + found.ties_in_one;
        found.kept = Outcome::Value((found.pairs - changed) as f64 / found.pairs as f64);
    }
    found
}

fn compare(item: &str, a: &TwoReadings, b: &TwoReadings, found: &mut OrderChanges) {
    let both = |at: usize| a.values[at].zip(b.values[at]).filter(|(a, b)| a.is_finite() && b.is_finite());
    let (Some(before), Some(after)) = (both(0), both(1)) else {
        found.missing += 1;
        return;
    };
    found.pairs += 1;
    let (was, is) = (before.0.total_cmp(&before.1), after.0.total_cmp(&after.1));
    if was == is {
        return;
    }
    if was.is_eq() || is.is_eq() {
        found.ties_in_one += 1;
        return;
    }
    let (first, second) = if was.is_gt() { (a, b) } else { (b, a) };
    let values = |at: usize| [first.values[at].unwrap_or_default(), second.values[at].unwrap_or_default()]; // both were found above
    found.reversals.push(Reversal {
        item: item.to_owned(),
        models: [first.model.clone(), second.model.clone()],
        before: values(0),
        after: values(1),
    });
}
