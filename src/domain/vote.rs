//! What people say when they are shown two edits of one item and choose.

use serde::{Deserialize, Serialize};

/// Which of two edits somebody prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    First,
    Second,
    Tie,
    /// Neither is acceptable: a tie that also says something about quality.
    BothBad,
}

impl Preference {
    /// The same choice with the two edits in the other order.
    pub const fn swapped(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
            Self::Tie => Self::Tie,
            Self::BothBad => Self::BothBad,
        }
    }

    /// Neither edit is preferred.
    pub const fn is_tie(self) -> bool {
        matches!(self, Self::Tie | Self::BothBad)
    }
}

/// One person's choice between two models' edits of one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelVote {
    /// Key of the item, as the data writes it.
    pub item: String,
    /// What was asked ("overall" when the data does not say).
    pub criterion: String,
    /// Who; never empty.
    pub rater: String,
    /// Model of the first (left) edit.
    pub first: String,
    /// Model of the second (right) edit.
    pub second: String,
    pub preference: Preference,
}
