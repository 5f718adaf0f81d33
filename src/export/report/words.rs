//! Sentences about a comparison that the report, the window and the terminal share.

use std::collections::{BTreeMap, BTreeSet};

use crate::stats::comparison::Comparison;
use crate::stats::people::BetweenRaters;

/// Which metrics were held against each other, and for how many comparisons p was corrected; empty where nothing was.
pub fn significance_words(found: &Comparison) -> String {
    let names: BTreeSet<&str> = found.significance.iter().flat_map(|pair| [pair.first.as_str(), pair.second.as_str()]).collect();
    let firsts: BTreeSet<&str> = found.significance.iter().map(|pair| pair.first.as_str()).collect();
    let Some(first) = firsts.first() else { return String::new() };
    let what = if firsts.len() == 1 && names.len() > 2 {
        format!("Only {first} is held against each of the other {} metrics.", names.len() - 1)
    } else {
        format!("Every pair of the {} metrics is compared.", names.len())
    };
    let mut tested: BTreeMap<&str, usize> = BTreeMap::new();
    for pair in &found.significance {
        *tested.entry(&pair.criterion).or_default() += usize::from(pair.p_holm.value().is_some());
    }
    let zones = if names.iter().any(|name| name.ends_with(".inside") || name.ends_with(".outside")) {
        ", those inside and outside the region among them"
    } else {
        ""
    };
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
