//! Two saved comparisons side by side: what moved.

use serde::{Deserialize, Serialize};

use super::{Comparison, Line};
use crate::domain::Outcome;
use crate::stats::intervals::Interval;
use crate::stats::undefined;

/// One number in two comparisons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub metric: String,
    pub criterion: String,
    pub split: String,
    pub group: String,
    #[serde(with = "undefined")]
    pub before: Outcome<f64>,
    #[serde(with = "undefined")]
    pub after: Outcome<f64>,
    /// After minus before.
    #[serde(with = "undefined")]
    pub difference: Outcome<f64>,
    /// The two intervals have no value in common: more than chance in the choice of items, if the items are of one kind.
    pub intervals_apart: bool,
}

/// The macro agreement of every line that is in one of the two, in the order of the first.
pub fn changes(before: &Comparison, after: &Comparison) -> Vec<Change> {
    let same = |a: &Line, b: &Line| a.metric == b.metric && a.criterion == b.criterion && a.split == b.split && a.group == b.group;
    let new = after.lines.iter().filter(|line| !before.lines.iter().any(|old| same(old, line)));
    let old = before.lines.iter().map(|line| (Some(line), after.lines.iter().find(|other| same(line, other))));
    old.chain(new.map(|line| (None, Some(line)))).filter_map(|(old, new)| change(old, new)).collect()
}

fn change(before: Option<&Line>, after: Option<&Line>) -> Option<Change> {
    let named = before.or(after)?;
    let value = |line: Option<&Line>| {
        line.map_or_else(|| Outcome::NotApplicable("not in this comparison".into()), |line| line.agreement.macro_mean.clone())
    };
    let interval = |line: Option<&Line>| -> Option<Interval> { line.and_then(|line| line.macro_interval.value().copied()) };
    let (old, new) = (value(before), value(after));
    let difference = old.clone().and_then(|old| new.clone().map(|new| new - old));
    let intervals_apart = interval(before).zip(interval(after)).is_some_and(|(a, b)| a.high < b.low || b.high < a.low);
    Some(Change {
        metric: named.metric.clone(),
        criterion: named.criterion.clone(),
        split: named.split.clone(),
        group: named.group.clone(),
        before: old,
        after: new,
        difference,
        intervals_apart,
    })
}
