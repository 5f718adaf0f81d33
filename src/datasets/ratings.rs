//! Ratings inside a manifest: a JSON list, or flat keys as a table has them.
//!
//! * `ratings`: a list of `{"rater", "simulated", "values": {criterion: number}, "comment", "at_millis"}`. Accepted as well:
//!   numbers beside `rater` instead of `values`, and one object instead of a list.
//! * `rating_CRITERION` with an optional `rater`, `rating_comment` and `rating_simulated`: one rating.
//! * `rating.RATER.CRITERION` and `rating.RATER.comment`: one rating for each rater.
//!
//! Answers that are no number (an empty cell, `null`, `NaN`) are missing answers; a rating without answer and comment is none.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde_json::{Map, Value};

use super::numbers::DecimalSign;
use crate::domain::json::{from_value, in_words};
use crate::domain::{CRITERIA, LARGEST_ANSWER, Rating, is_answer, rater_name};

/// The scale of the paper's criteria; a mean over raters may lie between its points.
const SCALE: std::ops::RangeInclusive<f64> = 1.0..=5.0;

/// Who rated, when neither the data nor the name of its file says it.
pub const UNNAMED_RATER: &str = "unnamed";

/// The rater of a file that names none: the file's name without its ending, that of its folder for a `manifest`. Files of several people then
/// are several raters.
pub(super) fn rater_of_file(path: &Path) -> String {
    let name = |part: Option<&OsStr>| part.map(|part| part.to_string_lossy().trim().to_owned()).filter(|name| !name.is_empty());
    let stem = name(path.file_stem()).filter(|stem| stem != "manifest");
    let folder = || name(path.canonicalize().ok()?.parent()?.file_name());
    stem.or_else(folder).unwrap_or_else(|| UNNAMED_RATER.to_owned())
}

/// Takes every rating key out of `row`; what was odd goes to `notes`. Ratings without a rater are by `nameless`.
pub(super) fn take(row: &mut Map<String, Value>, nameless: &str, notes: &mut Vec<String>) -> Vec<Rating> {
    let mut ratings = Vec::new();
    match row.shift_remove("ratings") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) if text.trim().is_empty() => {}
        Some(Value::String(text)) => match super::text::parse_json(&text) {
            Ok((value, nan)) => {
                notes.extend(super::text::nan_note(&nan.iter().map(|field| format!("ratings{field}")).collect::<Vec<_>>()));
                from_list(value, nameless, &mut ratings, notes);
            }
            Err(error) => notes.push(format!("field 'ratings' is no JSON ({error}); left out")),
        },
        Some(value) => from_list(value, nameless, &mut ratings, notes),
    }
    if row.keys().any(|key| key.starts_with("rating_") || key.starts_with("rating.")) {
        from_flat(row, nameless, &mut ratings, notes);
    }
    say_repeated(&ratings, notes);
    ratings
}

/// Which of two ratings by one person about one edit counts depends on their times; without different ones, on their order.
fn say_repeated(ratings: &[Rating], notes: &mut Vec<String>) {
    for (index, rating) in ratings.iter().enumerate() {
        let repeats = |other: &Rating| other.rater == rating.rater && other.at_millis == rating.at_millis && other != rating;
        if ratings[..index].iter().any(repeats) {
            notes.push(format!(
                "rater '{}' rates this edit twice with different answers; both are kept, the later in the row counts",
                rating.rater
            ));
        }
    }
}

fn from_list(value: Value, nameless: &str, ratings: &mut Vec<Rating>, notes: &mut Vec<String>) {
    let list = match value {
        Value::Array(list) => list,
        one @ Value::Object(_) => vec![one],
        other => {
            notes.push(format!("field 'ratings' is {}, not a list of ratings; left out", in_words(&other)));
            return;
        }
    };
    for (index, entry) in list.into_iter().enumerate() {
        match entry {
            Value::Object(fields) => ratings.extend(from_object(&format!("ratings[{index}]"), fields, nameless, notes)),
            other => {
                notes.push(format!("field 'ratings[{index}]' is {}, not an object with a rater and values; left out", in_words(&other)));
            }
        }
    }
}

fn from_object(field: &str, mut fields: Map<String, Value>, nameless: &str, notes: &mut Vec<String>) -> Option<Rating> {
    let rater = match fields.shift_remove("rater") {
        None | Some(Value::Null) => None,
        Some(value @ (Value::String(_) | Value::Number(_))) => word(&value),
        Some(other) => {
            notes.push(format!("field '{field}.rater' is {}, not a name; the rating is kept as by '{nameless}'", in_words(&other)));
            None
        }
    };
    let rater = rater.unwrap_or_else(|| nameless.to_owned());
    let simulated = fields.shift_remove("simulated").is_some_and(|value| is_true(&value));
    let comment = fields.shift_remove("comment").as_ref().and_then(word).unwrap_or_default();
    let at_millis = match fields.shift_remove("at_millis") {
        None | Some(Value::Null) => None,
        Some(value) => value.as_i64().or_else(|| {
            notes.push(format!("field '{field}.at_millis' is {}, not milliseconds since 1970; read as missing", in_words(&value)));
            None
        }),
    };
    let context = fields.shift_remove("context").filter(|context| !context.is_null()).and_then(|value| match from_value(&value) {
        Ok(context) => Some(context),
        Err(error) => {
            let error = error.inside(&format!("{field}.context"));
            notes.push(format!("{error}; the rating of '{rater}' is kept without how it came about"));
            None
        }
    });
    let answers = match fields.shift_remove("values") {
        Some(Value::Object(values)) => values,
        Some(other) => {
            notes.push(format!("field '{field}.values' is {}, not an object of criteria and numbers; left out", in_words(&other)));
            return None;
        }
        None => fields,
    };
    let values =
        answers.into_iter().filter_map(|(criterion, value)| Some((criterion.clone(), answer(&criterion, &value, notes)?))).collect();
    finished(Rating { rater, simulated, values, comment, at_millis, context })
}

fn from_flat(row: &mut Map<String, Value>, nameless: &str, ratings: &mut Vec<Rating>, notes: &mut Vec<String>) {
    let keys: Vec<String> = row.keys().filter(|key| key.starts_with("rating_") || key.starts_with("rating.")).cloned().collect();
    // The rater's column belongs to the single rating; beside per-rater columns it is just another key.
    let single = keys.iter().any(|key| key.starts_with("rating_"));
    let name = if single { row.shift_remove("rater").as_ref().and_then(word) } else { None };
    let mut by_rater: BTreeMap<String, Rating> = BTreeMap::new();
    for key in keys {
        let (rater, field) = match key.strip_prefix("rating_") {
            Some(field) => (name.clone().unwrap_or_else(|| nameless.to_owned()), field.to_owned()),
            None => match key["rating.".len()..].rsplit_once('.') {
                Some((rater, field)) if !rater.trim().is_empty() => (rater.trim().to_owned(), field.to_owned()),
                // Not of the form rating.RATER.CRITERION: an unknown key, left where it is.
                _ => continue,
            },
        };
        let value = row.shift_remove(&key).unwrap_or_default();
        let rating = by_rater.entry(rater.clone()).or_insert_with(|| Rating::new(rater, BTreeMap::new()));
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
    let rating = Rating { rater: rater_name(&rating.rater), ..rating };
    (!rating.values.is_empty() || !rating.comment.is_empty()).then_some(rating)
}

/// The number answered; `None` for a missing answer, with a note unless it is plainly empty.
pub(super) fn answer(criterion: &str, value: &Value, notes: &mut Vec<String>) -> Option<f64> {
    let number = match value {
        Value::Null => return None,
        Value::Number(number) => number.as_f64(),
        Value::String(text) if text.trim().is_empty() => return None,
        Value::String(text) => DecimalSign::Unknown.number(text),
        _ => None,
    };
    if let Some(large) = number.filter(|number| number.is_finite() && !is_answer(*number)) {
        notes.push(format!("rating '{criterion}' is {large:e}, beyond ±{LARGEST_ANSWER:e}, which no scale needs; read as missing"));
        return None;
    }
    match number.filter(|number| number.is_finite()) {
        Some(number) => {
            // Only the paper's criteria have a scale that is known here; imported rubrics may have any.
            let known = CRITERIA.iter().any(|known| known.name() == criterion);
            if known && !SCALE.contains(&number) {
                notes.push(format!(
                    "rating '{criterion}' is {number}, outside of its scale {} to {}; kept as it is",
                    SCALE.start(),
                    SCALE.end()
                ));
            }
            Some(number)
        }
        None => {
            notes.push(format!("rating '{criterion}' is {}, not a number; read as missing", in_words(value)));
            None
        }
    }
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
        (take(&mut row, UNNAMED_RATER, &mut notes), row, notes)
    }

    fn rating(rater: &str, values: &[(&str, f64)]) -> Rating {
        let values = values.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        Rating::new(rater, values)
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
        assert_eq!(notes, ["rating 'size' is text 'NaN', not a number; read as missing"]);
    }

    #[test]
    fn answers_outside_of_the_papers_scale_are_kept_and_said() {
        let (ratings, _, notes) =
            taken(json!({"ratings": [{"rater": "a", "values": {"overall": 50, "size": 0.5, "position": 4.5, "SC": 0}}]}));
        assert_eq!(ratings, [rating("a", &[("overall", 50.0), ("size", 0.5), ("position", 4.5), ("SC", 0.0)])]);
        let said = |criterion: &str, value: &str| format!("rating '{criterion}' is {value}, outside of its scale 1 to 5; kept as it is");
        assert_eq!(notes, [said("overall", "50"), said("size", "0.5")]);
    }

    #[test]
    fn one_rater_twice_in_a_row_is_said_unless_times_or_answers_settle_it() {
        let said = |ratings: Value| taken(json!({ "ratings": ratings })).2;
        let twice = said(json!([{"rater": "a", "overall": 1}, {"rater": "b", "overall": 1}, {"rater": "a", "overall": 2}]));
        assert_eq!(twice, ["rater 'a' rates this edit twice with different answers; both are kept, the later in the row counts"]);
        assert!(said(json!([{"rater": "a", "overall": 1}, {"rater": "a", "overall": 1}])).is_empty(), "the same again says nothing new");
        let settled =
            json!([{"rater": "a", "values": {"overall": 1}, "at_millis": 5}, {"rater": "a", "values": {"overall": 2}, "at_millis": 6}]);
        assert!(said(settled).is_empty(), "a correction with a later time");
    }

    #[test]
    fn what_is_no_rating_is_said_with_its_field() {
        let said = |ratings: Value| taken(json!({ "ratings": ratings })).2;
        let rest = "not a list of ratings; left out";
        assert_eq!(said(json!(5)), [format!("field 'ratings' is 5, {rest}")]);
        assert_eq!(said(json!("5")), [format!("field 'ratings' is 5, {rest}")]);
        assert_eq!(said(json!("x"))[0], "field 'ratings' is no JSON (expected value at column 1); left out");
        assert_eq!(
            said(json!([[1], {"rater": "a", "values": 4}])),
            [
                "field 'ratings[0]' is a list, not an object with a rater and values; left out",
                "field 'ratings[1].values' is 4, not an object of criteria and numbers; left out",
            ]
        );
        let (ratings, _, notes) = taken(json!({"ratings": "[{\"rater\": [], \"overall\": NaN, \"size\": 2, \"at_millis\": \"now\",\
            \"context\": {\"protocol\": \"poll\"}}]"}));
        assert_eq!(ratings, [rating(UNNAMED_RATER, &[("size", 2.0)])]);
        assert_eq!(
            notes,
            [
                "field 'ratings[0].overall' is NaN or Infinity, which JSON has not; read as null",
                "field 'ratings[0].rater' is a list, not a name; the rating is kept as by 'unnamed'",
                "field 'ratings[0].at_millis' is text 'now', not milliseconds since 1970; read as missing",
                "field 'ratings[0].context.protocol' is 'poll'; it can be rubric, pairwise, ranking; \
             the rating of 'unnamed' is kept without how it came about",
            ]
        );
    }

    #[test]
    fn how_a_rating_came_about_is_read_back() {
        let context = json!({"protocol": "rubric", "rubric": {"name": "r", "version": "v"}, "place": 3, "seconds": 2.5,
            "visible": {"models": false, "scores": false}});
        let (ratings, _, notes) = taken(json!({"ratings": [{"rater": "a", "values": {"overall": 4}, "context": context}]}));
        let read = ratings[0].context.as_ref().unwrap();
        assert_eq!((read.place, read.seconds, read.rubric.as_ref().map(|r| r.version.as_str())), (Some(3), Some(2.5), Some("v")));
        assert!(notes.is_empty(), "{notes:?}");
        let (ratings, _, notes) = taken(json!({"ratings": [{"rater": "a", "values": {"overall": 4}, "context": 7}]}));
        assert_eq!(ratings[0].context, None);
        assert_eq!(notes, ["field 'ratings[0].context' is 7, not an object; the rating of 'a' is kept without how it came about"]);
    }
}
