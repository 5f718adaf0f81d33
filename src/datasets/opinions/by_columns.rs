//! Ratings and votes read by a [`ColumnMap`].

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::columns::{named_answer, numbers_in};
use super::pairs::preference_of;
use super::{AnswerScale, ColumnMap, OpinionFormat, Opinions, RatedEdit, Role};
use crate::datasets::ratings::{UNNAMED_RATER, rater_of_file};
use crate::datasets::{DecimalSign, Sheet, SheetRow, is_missing_word};
use crate::domain::{CRITERIA, Criterion, ModelVote, Preference, Rating, is_answer};

/// Reads a table by a map; without one by a guessed one.
///
/// # Errors
/// When the map names a column that is not there, or lacks the item or any answer.
pub fn read_columns(sheet: &Sheet, map: Option<&ColumnMap>) -> Result<Opinions, String> {
    let guessed;
    let is_guess = map.is_none();
    let (map, how) = match map {
        Some(map) => (map, "columns as given"),
        None => {
            guessed = ColumnMap::guess(sheet);
            (&guessed, "columns guessed (--columns says otherwise)")
        }
    };
    if let Some(why) = map.objection(sheet) {
        return Err(why);
    }
    let mut found = Opinions::new(OpinionFormat::Columns, sheet.problems.clone());
    if is_guess {
        say_left_out(map, sheet, &mut found);
    }
    let nameless = rater_of_file(Path::new(&sheet.file));
    for row in &sheet.rows {
        read_row((map, sheet.decimals), row, &nameless, &mut found);
    }
    let paper = CRITERIA.map(Criterion::name);
    for column in &map.0 {
        let Role::Answer { criterion, .. } = &column.role else { continue };
        if column.lower_is_better {
            found.unscaled.insert(criterion.clone());
        } else if paper.contains(&criterion.as_str()) {
            found.scales.insert(criterion.clone(), AnswerScale::RUBRIC);
        }
    }
    let unnamed = found.ratings.iter().map(|rated| &rated.rating.rater).chain(found.votes.iter().map(|vote| &vote.rater));
    let by_file = map.column(&Role::Rater).is_none() && unnamed.into_iter().any(|rater| *rater == nameless);
    let by_file =
        if by_file { format!("; no column names the rater, so it is '{nameless}', as the file is called") } else { String::new() };
    let passed_over = if is_guess { map.passed_over(sheet) } else { Vec::new() };
    let passed_over: Vec<String> = passed_over.into_iter().map(|told| format!("; {told}")).collect();
    found.read_as = format!("{how}: {map}{by_file}{}", passed_over.concat());
    Ok(found)
}

/// Lists columns that are answers by their names and that a guessed map leaves out.
fn say_left_out(map: &ColumnMap, sheet: &Sheet, found: &mut Opinions) {
    for name in sheet.header.iter().filter(|name| !map.0.iter().any(|column| column.name == **name)) {
        // A second column of the same name is called `NAME (column 5)`.
        let plain = name.split_once(" (column ").map_or(name.as_str(), |(plain, _)| plain);
        let Some(role) = named_answer(plain) else { continue };
        let has_numbers = numbers_in(sheet, name).0 > 0;
        let says_missing = || sheet.rows.iter().any(|row| row.word(name).is_some_and(|cell| is_missing_word(&cell)));
        if has_numbers && map.column(&role).is_some() {
            found.problem(&sheet.file, name, "another column has answers to the same criterion; the values of this one are left out");
        } else if !has_numbers && says_missing() {
            found.problem(&sheet.file, name, "none of its cells is a number; left out");
        }
    }
}

fn read_row((map, decimals): (&ColumnMap, DecimalSign), row: &SheetRow, nameless: &str, found: &mut Opinions) {
    let cell = |role: &Role| map.column(role).and_then(|column| row.word(&column.name));
    let name_of = |role: &Role| map.column(role).map_or("", |column| column.name.as_str());
    let Some(item) = cell(&Role::Item) else {
        found.problem(&row.place, name_of(&Role::Item), "the row names no item; left out");
        return;
    };
    let rater = match (map.column(&Role::Rater), cell(&Role::Rater)) {
        (_, Some(rater)) => rater,
        (None, None) => nameless.to_owned(),
        (Some(column), None) => {
            found.problem(&row.place, &column.name, format!("the row names no rater; taken as by '{UNNAMED_RATER}'"));
            UNNAMED_RATER.to_owned()
        }
    };
    read_vote(map, row, &item, &rater, found);
    let by_rater = answers_of((map, decimals), row, &rater, found);
    let comment = cell(&Role::Comment).unwrap_or_default();
    let seconds = cell(&Role::Seconds).and_then(|text| {
        let seconds = decimals.number(&text).filter(|seconds| *seconds >= 0.0);
        if seconds.is_none() {
            found.problem(&row.place, name_of(&Role::Seconds), format!("'{text}' is no number of seconds; read as missing"));
        }
        seconds
    });
    let model = cell(&Role::Model);
    if model.is_none() && map.column(&Role::Model).is_some() && !by_rater.is_empty() {
        found.problem(&row.place, name_of(&Role::Model), "the row names no model; its ratings are left out");
        return;
    }
    for (rater, values) in by_rater {
        let rating = Rating { comment: comment.clone(), ..Rating::new(rater, values) };
        let model = model.clone().unwrap_or_default();
        found.ratings.push(RatedEdit { item: item.clone(), model, rating, seconds, place: row.place.clone() });
    }
}

/// The answers in a row, by rater and criterion.
fn answers_of(
    (map, decimals): (&ColumnMap, DecimalSign),
    row: &SheetRow,
    rater: &str,
    found: &mut Opinions,
) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut by_rater: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for column in &map.0 {
        let Role::Answer { criterion, rater: named } = &column.role else { continue };
        let value = match row.cells.get(&column.name) {
            None | Some(Value::Null) => continue,
            Some(Value::Number(number)) => number.as_f64(),
            Some(_) => match row.word(&column.name) {
                None => continue,
                Some(text) => decimals.number(&text),
            },
        };
        let Some(value) = value.filter(|value| is_answer(*value)) else {
            let text = row.word(&column.name).unwrap_or_else(|| row.cells[&column.name].to_string());
            found.problem(&row.place, &column.name, format!("{}; read as missing", decimals.why_none(&text)));
            continue;
        };
        let value = if column.lower_is_better { -value } else { value };
        by_rater.entry(named.as_deref().unwrap_or(rater).to_owned()).or_default().insert(criterion.clone(), value);
    }
    by_rater
}

/// A vote may be written in words, or as the name of the model that won.
fn read_vote(map: &ColumnMap, row: &SheetRow, item: &str, rater: &str, found: &mut Opinions) {
    let [Some(first), Some(second), Some(vote)] = [Role::First, Role::Second, Role::Vote].map(|role| map.column(&role)) else { return };
    let (Some(first_model), Some(second_model)) = (row.word(&first.name), row.word(&second.name)) else {
        found.problem(&row.place, &first.name, "the row does not name two models; its vote is left out");
        return;
    };
    let Some(text) = row.word(&vote.name) else { return };
    let preference = match text.as_str() {
        text if text == first_model => Some(Preference::First),
        text if text == second_model => Some(Preference::Second),
        text => preference_of(text),
    };
    let Some(preference) = preference.filter(|_| first_model != second_model) else {
        let reason = format!("'{text}' is no vote between '{first_model}' and '{second_model}'; left out");
        found.problem(&row.place, &vote.name, reason);
        return;
    };
    let vote = ModelVote {
        item: item.to_owned(),
        criterion: Criterion::Overall.name().to_owned(),
        rater: rater.to_owned(),
        first: first_model,
        second: second_model,
        preference,
    };
    found.add_vote(&row.place, vote);
}
