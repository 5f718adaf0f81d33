//! What raters said, one thing a row, so that one rater's work travels as a file of its own.

use serde::{Deserialize, Serialize};

use super::item::{EditKey, ItemKey};
use super::protocol::{Judgement, SessionSetup};
use super::rating::Rating;

/// A row of a rater's file. In JSON: an object whose `kind` says which of these it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RaterRow {
    /// A session that the judgements after it belong to.
    Session {
        /// [`SessionSetup::uid`].
        uid: String,
        setup: SessionSetup,
    },
    /// A rating of an edit, from a session or not.
    Rating {
        item: ItemKey,
        edit: EditKey,
        /// The model of the edit, for people who read the file.
        #[serde(default)]
        model: String,
        /// Whether it was its rater's newest when it was written; decided anew where it is read.
        #[serde(default)]
        counts: bool,
        #[serde(flatten)]
        rating: Rating,
    },
    /// An answer, a skip or a correction in a session.
    Judgement(Judgement),
}
