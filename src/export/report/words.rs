//! Sentences about a comparison that the report, the window and the terminal share.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Better, column_better};
use crate::stats::comparison::{Change, Comparison, OVERALL};
use crate::stats::ground_truth::GroundTruth;
use crate::stats::people::BetweenRaters;

/// What people read for a metric: the column `overall` of scores is BPM; a column of that name in somebody's own table is not.
pub fn metric_words<'a>(found: &Comparison, metric: &'a str) -> &'a str {
    if metric == OVERALL && found.about.profile.is_some() { "BPM" } else { metric }
}

/// The same, marked where the metric is a distance, whose sign is turned before it is compared.
pub fn marked_metric(found: &Comparison, metric: &str) -> String {
    let mark = if is_distance(metric) { " ↓" } else { "" };
    format!("{}{mark}", metric_words(found, metric))
}

/// Whether lower values of a metric are better, as far as its name says. A comparison does not keep which columns of somebody's own tables
/// were turned round, so those have no mark.
pub fn is_distance(metric: &str) -> bool {
    column_better(metric) == Better::Lower
}

/// Whether a metric is of the part of the picture inside or outside the region; such lines come after all others.
pub fn is_of_zone(metric: &str) -> bool {
    metric.ends_with(".inside") || metric.ends_with(".outside")
}

/// What the mark of a distance means.
pub const TURNED: &str = "↓: a distance; its sign is turned, so that a positive number means agreement with people.";

/// How Elo is to be read.
pub const ELO: &str = "Elo (mean over 100 orders)";

/// What a line of the ground truth leaves out, where it leaves out anything: the share needs a value of every edit of an item, the counts
/// over each kind only those of two edits.
pub fn ground_truth_words(found: &GroundTruth) -> Option<String> {
    if found.missing_metric == 0 {
        return None;
    }
    let items = found.items + found.missing_metric;
    let lost = found.items - found.right;
    let worst = found.against.iter().max_by_key(|against| against.compared - against.right);
    let more = worst.filter(|against| against.compared - against.right > lost).map_or_else(String::new, |against| {
        format!("; so over {} it loses {} times, and {lost} times in the share", against.kind, against.compared - against.right)
    });
    Some(format!(
        "{} of {items} items lack a value of one of their edits: they are left out of the share, even where the good edit loses to another one, \
         and count over each kind whose edit has a value{more}",
        found.missing_metric
    ))
}

/// The criteria that one rater alone answered, in one sentence; `None` where there are none.
pub fn one_rater_words(criteria: &BTreeMap<String, BetweenRaters>) -> Option<String> {
    let alone: Vec<&str> = criteria.iter().filter(|(_, found)| found.raters.len() < 2).map(|(criterion, _)| criterion.as_str()).collect();
    (!alone.is_empty()).then(|| format!("One rater alone answered {}: no agreement between raters there.", alone.join(", ")))
}

/// Whether a number is printed as it was before: three decimals show no change, or it was and is undefined, whatever the reason.
pub fn stayed(change: &Change) -> bool {
    match (change.before.value(), change.after.value()) {
        (Some(old), Some(new)) => (new - old).abs() < 0.0005,
        (None, None) => true,
        _ => false,
    }
}

/// How many numbers stayed; empty where none did.
pub fn stayed_words(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "1 number did not move.".to_owned(),
        count => format!("{count} numbers did not move."),
    }
}

/// Which metrics were held against each other, and for how many comparisons p was corrected; empty where nothing was.
pub fn significance_words(found: &Comparison) -> String {
    let names: BTreeSet<&str> = found.significance.iter().flat_map(|pair| [pair.first.as_str(), pair.second.as_str()]).collect();
    let firsts: BTreeSet<&str> = found.significance.iter().map(|pair| pair.first.as_str()).collect();
    let Some(first) = firsts.first() else { return String::new() };
    let what = if firsts.len() == 1 && names.len() > 2 {
        format!("Only {} is held against each of the other {} metrics.", metric_words(found, first), names.len() - 1)
    } else {
        format!("Every pair of the {} metrics is compared.", names.len())
    };
    let mut tested: BTreeMap<&str, usize> = BTreeMap::new();
    for pair in &found.significance {
        *tested.entry(&pair.criterion).or_default() += usize::from(pair.p_holm.value().is_some());
    }
    let zones = if names.iter().any(|name| is_of_zone(name)) { ", those inside and outside the region among them" } else { "" };
    let counts: Vec<String> = tested.iter().map(|(criterion, count)| format!("{count} on {criterion}")).collect();
    format!("{what} Holm's correction is for all comparisons with a result ({}){zones}.", counts.join(", "))
}

/// Why a table of Cohen's κ lacks the pairs of these raters; `None` where it has them, or there is no pair.
pub fn no_pairs_words(found: &BetweenRaters) -> Option<String> {
    let raters = found.raters.len();
    (found.cohen_kappa.is_empty() && raters > 1).then(|| {
        let pairs = raters * (raters - 1) / 2;
        format!("{raters} raters make {pairs} pairs, so Cohen's κ is left out; α and Fleiss' κ are of all of them")
    })
}

/// What a report says that was written of a comparison reopened later.
pub const DRAWN_NOW: &str = "The numbers of this report are as they were saved. Its scatter, pictures, boxes, regions and traces are of the \
                             project as it was when the report was written, and may differ.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Outcome;
    use crate::stats::ground_truth::{KnownEdit, ground_truth};

    /// By hand: the first item is complete and right; the second lacks one worse edit's value and loses to the other, so that it is no
    /// item of the share, but one of the two that are compared over `over_modified`.
    #[test]
    fn what_the_ground_truth_leaves_out_is_explained() {
        let edit =
            |item: &str, kind: &str, metric: Option<f64>| KnownEdit { item: item.into(), kind: kind.into(), metric, good: kind == "good" };
        let mut edits = vec![edit("a", "good", Some(0.9)), edit("a", "over_modified", Some(0.1)), edit("a", "over_preserved", Some(0.2))];
        assert_eq!(ground_truth_words(&ground_truth(&edits, &[])), None, "nothing is left out");
        edits.extend([edit("b", "good", Some(0.5)), edit("b", "over_modified", Some(0.7)), edit("b", "over_preserved", None)]);
        let found = ground_truth(&edits, &[]);
        assert_eq!((found.right, found.items, found.against[0].right, found.against[0].compared), (1, 1, 1, 2));
        let words = ground_truth_words(&found).expect("an item is left out");
        assert!(words.starts_with("1 of 2 items lack a value"), "{words}");
        assert!(words.ends_with("so over over_modified it loses 1 times, and 0 times in the share"), "{words}");
    }

    #[test]
    fn what_is_undefined_before_and_now_did_not_move() {
        let none = |why: &str| Outcome::NotApplicable(why.to_owned());
        let of = |before: Outcome<f64>, after: Outcome<f64>| Change {
            quantity: Change::SPEARMAN.into(),
            metric: OVERALL.into(),
            criterion: OVERALL.into(),
            split: "all".into(),
            group: "all".into(),
            model: String::new(),
            difference: before.clone().and_then(|old| after.clone().map(|new| new - old)),
            before,
            after,
            intervals_apart: false,
        };
        assert!(stayed(&of(none("one item"), none("no item"))));
        assert!(!stayed(&of(none("one item"), Outcome::Value(0.5))) && !stayed(&of(Outcome::Value(0.5), none("one item"))));
        assert!(stayed(&of(Outcome::Value(0.5), Outcome::Value(0.5004))) && !stayed(&of(Outcome::Value(0.5), Outcome::Value(0.501))));
    }
}
