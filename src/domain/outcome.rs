//! A value, or the reason why there is none.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What became of a computation. Never a sentinel number, never an invented value.
///
/// In JSON: the bare value, `{"na": why}` or `{"failed": why}`.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T> {
    /// It was computed.
    Value(T),
    /// It has no meaning here (a global edit has no size), with the reason.
    NotApplicable(String),
    /// It should have been computed, but something went wrong, with the reason.
    Failed(String),
}

impl<T> Outcome<T> {
    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::NotApplicable(_) | Self::Failed(_) => None,
        }
    }

    /// The reason why there is no value.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Value(_) => None,
            Self::NotApplicable(why) | Self::Failed(why) => Some(why),
        }
    }

    /// Applies `f` to the value; reasons pass through.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Value(value) => Outcome::Value(f(value)),
            Self::NotApplicable(why) => Outcome::NotApplicable(why),
            Self::Failed(why) => Outcome::Failed(why),
        }
    }

    /// Applies `f`, which may itself find no value; reasons pass through.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Outcome<U>) -> Outcome<U> {
        match self {
            Self::Value(value) => f(value),
            Self::NotApplicable(why) => Outcome::NotApplicable(why),
            Self::Failed(why) => Outcome::Failed(why),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Wire<T> {
    Na { na: String },
    Failed { failed: String },
    Value(T),
}

impl<T: Serialize> Serialize for Outcome<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => Wire::Value(value),
            Self::NotApplicable(na) => Wire::Na { na: na.clone() },
            Self::Failed(failed) => Wire::Failed { failed: failed.clone() },
        }
        .serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Outcome<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Wire::deserialize(deserializer)? {
            Wire::Value(value) => Self::Value(value),
            Wire::Na { na } => Self::NotApplicable(na),
            Wire::Failed { failed } => Self::Failed(failed),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_outcomes_round_trip_through_json() {
        for (outcome, json) in [
            (Outcome::Value(0.5), "0.5"),
            (Outcome::NotApplicable("global edit".into()), r#"{"na":"global edit"}"#),
            (Outcome::Failed("no picture".into()), r#"{"failed":"no picture"}"#),
        ] {
            assert_eq!(serde_json::to_string(&outcome).unwrap(), json); // plain data serialises
            assert_eq!(serde_json::from_str::<Outcome<f64>>(json).unwrap(), outcome); // written above
        }
    }
}
