//! What people say about an edit.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use super::protocol::RatingContext;

/// One question of the paper's rubric, answered 1 (bad) to 5 (good).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    Modification,
    Preservation,
    Size,
    Position,
    Overall,
}

/// The paper's five criteria, in the order they are asked.
pub const CRITERIA: [Criterion; 5] =
    [Criterion::Modification, Criterion::Preservation, Criterion::Size, Criterion::Position, Criterion::Overall];

impl Criterion {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Modification => "modification",
            Self::Preservation => "preservation",
            Self::Size => "size",
            Self::Position => "position",
            Self::Overall => "overall",
        }
    }

    /// What is asked.
    pub const fn question(self) -> &'static str {
        match self {
            Self::Modification => "Was the change that the instruction asks for made?",
            Self::Preservation => "Was everything else left as it was?",
            Self::Size => "Does the changed thing have the right size?",
            Self::Position => "Is the changed thing in the right place?",
            Self::Overall => "How good is the edit on the whole?",
        }
    }
}

/// Answers and scores beyond this, either way, are none: no scale of people needs them, and sums of them would overflow.
pub const LARGEST_ANSWER: f64 = 1e15;

/// Whether a number can be an answer or a score: finite and at most [`LARGEST_ANSWER`] from 0.
pub fn is_answer(value: f64) -> bool {
    value.abs() <= LARGEST_ANSWER
}

/// The name of a rater as it is kept: without spaces around it, and in one of the forms (NFC) in which the same letters can be written.
pub fn rater_name(name: &str) -> String {
    name.trim().nfc().collect()
}

/// Names that differ only in case, spaces or form, each list sorted.
pub fn names_alike<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Vec<&'a str>> {
    let mut alike: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for name in names {
        let folded: String = name.nfkc().flat_map(char::to_lowercase).nfc().collect();
        alike.entry(folded.split_whitespace().collect::<Vec<_>>().join(" ")).or_default().insert(name);
    }
    alike.into_values().filter(|names| names.len() > 1).map(|names| names.into_iter().collect()).collect()
}

/// One person's answers about one edit. Append-only: a correction is a new rating; of each criterion on each scale the newest answer of a
/// rater counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// Who; never empty.
    pub rater: String,
    /// Made by a program, not by a person; said wherever it is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// Answers by criterion name; the paper's are [`CRITERIA`], imported rubrics may have others.
    pub values: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// Milliseconds since 1970, UTC; `None` when the data does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_millis: Option<i64>,
    /// How it came about; `None` when the data does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RatingContext>,
}

impl Rating {
    /// Answers without anything else said.
    pub fn new(rater: impl Into<String>, values: BTreeMap<String, f64>) -> Self {
        Self { rater: rater.into(), values, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_in_one_form_and_alike_ones_are_found() {
        // "é" as one character and as e with an accent (U+0301).
        assert_eq!(rater_name(" Ren\u{e9} "), rater_name("Rene\u{301}"));
        let alike = names_alike(["Kim", "jo", "kim", "Ren\u{e9}", "Rene\u{301}", "kim", "Jon"]);
        assert_eq!(alike, [vec!["Kim", "kim"], vec!["Rene\u{301}", "Ren\u{e9}"]]);
    }

    #[test]
    fn numbers_that_no_scale_needs_are_no_answers() {
        assert_eq!([5.0, -1e15, 1e16, f64::NAN, f64::INFINITY].map(is_answer), [true, true, false, false, false]);
    }
}
