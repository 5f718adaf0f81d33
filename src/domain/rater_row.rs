//! What raters said, one thing a row, so that one rater's work travels as a file of its own.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::item::{EditKey, ItemKey};
use super::json::{FieldError, from_value};
use super::protocol::{Judgement, SessionSetup};
use super::rating::Rating;
use super::vote::Preference;

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
        /// Whether some of it counted when it was written; decided anew where it is read.
        #[serde(default)]
        counts: bool,
        #[serde(flatten)]
        rating: Rating,
    },
    /// An answer, a skip or a correction in a session.
    Judgement(Judgement),
    /// A vote between two edits of an item that came out of a table.
    Vote { item: ItemKey, first: EditKey, second: EditKey, rater: String, criterion: String, preference: Preference },
}

impl RaterRow {
    /// Reads a row out of JSON.
    ///
    /// # Errors
    /// When it is no such row; the error names the field.
    pub fn from_json(row: &Value) -> Result<Self, FieldError> {
        // A row whose kind decides what it holds is read in two steps, and the second no longer knows where it is: what it holds is read by
        // itself to find out.
        from_value(row).map_err(|error| match row.get("kind").and_then(Value::as_str) {
            Some("session") => from_value::<SessionFields>(row).err().unwrap_or(error),
            Some("rating") => from_value::<RatedFields>(row).err().or_else(|| from_value::<Rating>(row).err()).unwrap_or(error),
            Some("judgement") => from_value::<Judgement>(row).err().unwrap_or(error),
            Some("vote") => from_value::<VoteFields>(row).err().unwrap_or(error),
            _ => error,
        })
    }
}

/// What a row of kind `session` holds.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only whether they can be read matters")]
struct SessionFields {
    uid: String,
    setup: SessionSetup,
}

/// What a row of kind `rating` holds besides the rating.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only whether they can be read matters")]
struct RatedFields {
    item: ItemKey,
    edit: EditKey,
    #[serde(default)]
    model: String,
    #[serde(default)]
    counts: bool,
}

/// What a row of kind `vote` holds.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only whether they can be read matters")]
struct VoteFields {
    item: ItemKey,
    first: EditKey,
    second: EditKey,
    rater: String,
    criterion: String,
    preference: Preference,
}
