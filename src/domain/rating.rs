//! What people say about an edit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
