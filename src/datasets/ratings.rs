//! Ratings inside a manifest: a JSON list, or flat keys as a table has them.
//!
//! * `ratings`: a list of `{"rater", "simulated", "values": {criterion: number}, "comment", "at_millis"}`. Accepted as well:
//!   numbers beside `rater` instead of `values`, and one object instead of a list.
//! * `rating_CRITERION` with an optional `rater`, `rating_comment` and `rating_simulated`: one rating.
//! * `rating.RATER.CRITERION` and `rating.RATER.comment`: one rating for each rater.
//!
//! Answers that are no number (an empty cell, `null`, `NaN`) are missing answers; a rating without answer and comment is none.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::Rating;

/// Who rated, when the data does not say.
pub const UNNAMED_RATER: &str = "unnamed";

/// Takes every rating key out of `row`; what was odd goes to `notes`.
pub(super) fn take(row: &mut Map<String, Value>, notes: &mut Vec<String>) -> Vec<Rating> {
    let mut ratings = Vec::new();
    match row.shift_remove("ratings") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) if text.trim().is_empty() => {}
        Some(Value::String(text)) => match super::text::parse_json(&text) {
            Ok((value, _)) => from_list(value, &mut ratings, notes),
            Err(error) => notes.push(format!("ratings are no JSON ({error}); left out")),
        },
        Some(value) => from_list(value, &mut ratings, notes),
    }
    if row.keys().any(|key| key.starts_with("rating_") || key.starts_with("rating.")) {
        from_flat(row, &mut ratings, notes);
    }
    ratings
}

fn from_list(value: Value, ratings: &mut Vec<Rating>, notes: &mut Vec<String>) {
    let list = match value {
        Value::Array(list) => list,
        one @ Value::Object(_) => vec![one],
        other => {
            notes.push(format!("ratings must be a list, not {other}; left out"));
            return;
        }
    };
    for entry in list {
        match entry {
            Value::Object(fields) => ratings.extend(from_object(fields, notes)),
            other => notes.push(format!("a rating must be an object, not {other}; left out")),
        }
    }
}

fn from_object(mut fields: Map<String, Value>, notes: &mut Vec<String>) -> Option<Rating> {
    let rater = fields.shift_remove("rater").as_ref().and_then(word).unwrap_or_else(|| UNNAMED_RATER.to_owned());
    let simulated = fields.shift_remove("simulated").is_some_and(|value| is_true(&value));
    let comment = fields.shift_remove("comment").as_ref().and_then(word).unwrap_or_default();
    let at_millis = fields.shift_remove("at_millis").and_then(|value| value.as_i64());
    let answers = match fields.shift_remove("values") {
        Some(Value::Object(values)) => values,
        Some(other) => {
            notes.push(format!("the values of rater '{rater}' must be an object, not {other}; left out"));
            return None;
        }
        None => fields,
    };
    let values =
        answers.into_iter().filter_map(|(criterion, value)| Some((criterion.clone(), answer(&criterion, &value, notes)?))).collect();
    finished(Rating { rater, simulated, values, comment, at_millis })
}

fn from_flat(row: &mut Map<String, Value>, ratings: &mut Vec<Rating>, notes: &mut Vec<String>) {
    let keys: Vec<String> = row.keys().filter(|key| key.starts_with("rating_") || key.starts_with("rating.")).cloned().collect();
    // The rater's column belongs to the single rating; beside per-rater columns it is just another key.
    let single = keys.iter().any(|key| key.starts_with("rating_"));
    let name = if single { row.shift_remove("rater").as_ref().and_then(word) } else { None };
    let mut by_rater: BTreeMap<String, Rating> = BTreeMap::new();
    for key in keys {
        let (rater, field) = match key.strip_prefix("rating_") {
            Some(field) => (name.clone().unwrap_or_else(|| UNNAMED_RATER.to_owned()), field.to_owned()),
            None => match key["rating.".len()..].rsplit_once('.') {
                Some((rater, field)) if !rater.trim().is_empty() => (rater.trim().to_owned(), field.to_owned()),
                // Not of the form rating.RATER.CRITERION: an unknown key, left where it is.
                _ => continue,
            },
        };
        let value = row.shift_remove(&key).unwrap_or_default();
        let rating = by_rater.entry(rater.clone()).or_insert_with(|| Rating {
            rater,
            simulated: false,
            values: BTreeMap::new(),
            comment: String::new(),
            at_millis: None,
        });
        match field.as_str() {
            "comment" => rating.comment = word(&value).unwrap_or_default(),
            "simulated" => rating.simulated = is_true(&value),
            criterion => {
                if let Some(number) = answer(criterion, &value, notes) {
                    rating.values.insert(criterion.to_owned(), number);
                }
            }
        }
    }
    ratings.extend(by_rater.into_values().filter_map(finished));
}

/// A rating that says something.
fn finished(rating: Rating) -> Option<Rating> {
    (!rating.values.is_empty() || !rating.comment.is_empty()).then_some(rating)
}

/// The number answered; `None` for a missing answer, with a note unless it is plainly empty.
pub(super) fn answer(criterion: &str, value: &Value, notes: &mut Vec<String>) -> Option<f64> {
    let number = match value {
        Value::Null => return None,
        Value::Number(number) => number.as_f64(),
        Value::String(text) if text.trim().is_empty() => return None,
        Value::String(text) => decimal(text),
        _ => None,
    };
    match number.filter(|number| number.is_finite()) {
        Some(number) => Some(number),
        None => {
            notes.push(format!("rating '{criterion}' is {value}, not a number; read as missing"));
            None
        }
    }
}

/// A number written with a decimal point or, where there is no point, a decimal comma.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    text.parse().ok().or_else(|| if text.contains('.') { None } else { text.replacen(',', ".", 1).parse().ok() })
}

/// A name or remark: text or a number; `None` when empty.
fn word(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() == Some(1.0),
        Value::String(text) => ["true", "yes", "1"].contains(&text.trim().to_lowercase().as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(row: Value) -> (Vec<Rating>, Map<String, Value>, Vec<String>) {
        let Value::Object(mut row) = row else { panic!("a row is an object") };
        let mut notes = Vec::new();
        (take(&mut row, &mut notes), row, notes)
    }

    fn rating(rater: &str, values: &[(&str, f64)]) -> Rating {
        let values = values.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        Rating { rater: rater.into(), simulated: false, values, comment: String::new(), at_millis: None }
    }

    #[test]
    fn the_documented_list_is_read_in_full() {
        let (ratings, rest, notes) = taken(json!({"ratings": [
            {"rater": "a", "simulated": true, "values": {"overall": 4, "size": "3,5"}, "comment": "hm", "at_millis": 7},
            {"rater": 12, "overall": 2}], "seed": 1}));
        let full = Rating { simulated: true, comment: "hm".into(), at_millis: Some(7), ..rating("a", &[("overall", 4.0), ("size", 3.5)]) };
        assert_eq!(ratings, [full, rating("12", &[("overall", 2.0)])]);
        assert_eq!(Value::Object(rest), json!({"seed": 1}));
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn flat_keys_make_one_rating_or_one_for_each_rater() {
        let (ratings, rest, _) = taken(json!({"rater": "Jo", "rating_overall": "4", "rating_comment": "ok", "rating_size": ""}));
        assert_eq!(ratings, [Rating { comment: "ok".into(), ..rating("Jo", &[("overall", 4.0)]) }]);
        assert!(rest.is_empty());
        let (ratings, rest, _) = taken(json!({"rating.a.overall": "1", "rating.b.c.overall": 2, "rating.x": 3, "rater": "kept"}));
        assert_eq!(ratings, [rating("a", &[("overall", 1.0)]), rating("b.c", &[("overall", 2.0)])]);
        assert_eq!(Value::Object(rest), json!({"rater": "kept", "rating.x": 3}));
    }

    #[test]
    fn missing_answers_are_missing_and_said_unless_plainly_empty() {
        let (ratings, _, notes) =
            taken(json!({"ratings": [{"rater": "a", "values": {"overall": null, "size": "NaN", "position": 3}}, {}]}));
        assert_eq!(ratings, [rating("a", &[("position", 3.0)])]);
        assert_eq!(notes, ["rating 'size' is \"NaN\", not a number; read as missing"]);
    }
}
