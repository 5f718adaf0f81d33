//! How a statistic stands in JSON: the number, or `{"undefined": why}`. For `#[serde(with = "…")]`.
//!
//! An edit's value that is missing is `{"na": why}` (see [`Outcome`]); a statistic that has no meaning is undefined.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::Outcome;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Wire<T> {
    Undefined { undefined: String },
    Value(T),
}

/// Writes the value, or why there is none.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: Serialize, S: Serializer>(outcome: &Outcome<T>, serializer: S) -> Result<S::Ok, S::Error> {
    match outcome {
        Outcome::Value(value) => Wire::Value(value),
        Outcome::NotApplicable(why) | Outcome::Failed(why) => Wire::Undefined { undefined: why.clone() },
    }
    .serialize(serializer)
}

/// Reads what [`serialize`] wrote.
///
/// # Errors
/// When it is neither a value nor `{"undefined": why}`.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome<T>, D::Error> {
    Ok(match Wire::deserialize(deserializer)? {
        Wire::Value(value) => Outcome::Value(value),
        Wire::Undefined { undefined } => Outcome::NotApplicable(undefined),
    })
}

/// Stands for a number that an older version of the program did not save yet.
pub fn not_saved<T>() -> Outcome<T> {
    Outcome::NotApplicable("not saved by the version of the program that made this comparison".into())
}
