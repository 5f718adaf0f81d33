//! Reads what `export --format ratings` writes: JSON lines or the same as a table.

use std::path::Path;

use serde_json::{Map, Value};

use super::opinions::{ColumnMap, Role};
use super::quotes::{STRAY, without_stray};
use super::{Problem, ReadError, Sheet, text};
use crate::domain::{RaterRow, unescaped_cell};

/// What a rater's file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RaterFile {
    pub rows: Vec<RaterRow>,
    /// `file:line` of each row.
    pub places: Vec<String>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// Reads a rater's file as far as it goes.
///
/// # Errors
/// When the file cannot be read, or holds no row of this kind at all.
pub fn read_rater_rows(path: &Path) -> Result<RaterFile, ReadError> {
    let content = text::read(path)?;
    let (text, stray) =
        if content.trim_start().starts_with('{') { (content.as_str().into(), Vec::new()) } else { without_stray(&content, b',') };
    let objects = if content.trim_start().starts_with('{') { lines(&text) } else { table(&text) };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut file = RaterFile::default();
    file.problems.extend(stray.into_iter().map(|line| Problem { place: format!("{name}:{line}"), reason: STRAY.to_owned() }));
    for (line, object) in objects {
        let place = format!("{name}:{line}");
        match object.and_then(|(object, nan)| read(&object, &nan)) {
            Ok(row) => {
                file.rows.push(row);
                file.places.push(place);
            }
            Err(why) => file.problems.push(Problem { place, reason: format!("{why}; left out") }),
        }
    }
    if file.rows.is_empty() {
        let why =
            stranger(path).unwrap_or_else(|| file.problems.first().map_or_else(|| "there are no rows".to_owned(), ToString::to_string));
        return Err(ReadError::NoRaterRows { path: path.to_owned(), why });
    }
    Ok(file)
}

/// A row, if it is one; fields that were NaN are called so and not null.
fn read(object: &Value, nan: &[String]) -> Result<RaterRow, String> {
    RaterRow::from_json(object).map_err(|error| match nan.contains(&error.field) {
        true => format!("field '{}' is NaN or Infinity, {}", error.field, error.reason.trim_start_matches("is null, ")),
        false => error.to_string(),
    })
}

/// What a file that holds no such row is instead, and what to do with it; `None` when it is nothing that is known here.
fn stranger(path: &Path) -> Option<String> {
    let name = path.display();
    if super::detect(path).is_ok_and(|(_, format)| format != super::Format::Pairs) {
        return Some(format!("it is a data set with pictures: `import {name} -o PROJECT` without --ratings takes its ratings too"));
    }
    let sheet = Sheet::read(path).ok()?;
    if sheet.has(&["kind"]) {
        return None;
    }
    if sheet.has(&["item", "model", "parts", "overall"]) {
        return Some(format!("its lines are scores that `score` wrote, which nobody rated: compare them by `agree {name} --ratings FILE`"));
    }
    let map = ColumnMap::guess_by_name(&sheet);
    if map.0.iter().any(|column| matches!(column.role, Role::Answer { .. })) {
        return Some(format!(
            "it is a table of ratings by others: `import {name} -o PROJECT --columns {map}`, with columns as they are meant"
        ));
    }
    let numbers = map.free_numbers(&sheet);
    let first = numbers.first()?;
    Some(format!(
        "it is a table with the numbers {}: if they are scores, compare them by `agree PROJECT --scores {name}`; if people gave them, \
         `import {name} -o PROJECT --columns item=…,model=…,rater=…,overall={first}`",
        numbers.iter().take(4).map(|column| column.as_str()).collect::<Vec<_>>().join(", ")
    ))
}

/// Line numbers and objects with the names of their NaN fields; a reason where there is none.
type Objects = Vec<(usize, Result<(Value, Vec<String>), String>)>;

fn lines(content: &str) -> Objects {
    let filled = content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    filled.map(|(index, line)| (index + 1, text::parse_json(line).map_err(|error| format!("the row is no JSON ({error})")))).collect()
}

fn table(content: &str) -> Objects {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(content.as_bytes());
    let header: Vec<String> = match reader.headers() {
        Ok(header) => header.iter().map(|name| unescaped_cell(name).to_owned()).collect(),
        Err(error) => return vec![(1, Err(error.to_string()))],
    };
    let mut objects = Vec::new();
    for record in reader.records() {
        let line = |record: &csv::StringRecord| record.position().map_or(0, |position| position.line() as usize);
        objects.push(match record {
            Ok(record) => (line(&record), object_of(&header, &record)),
            Err(error) => (error.position().map_or(0, |position| position.line() as usize), Err(error.to_string())),
        });
    }
    objects
}

/// Columns that hold numbers or truth values; all others without `:json` are text.
const PLAIN: [&str; 5] = ["at_millis", "place", "seconds", "simulated", "counts"];

fn object_of(header: &[String], record: &csv::StringRecord) -> Result<(Value, Vec<String>), String> {
    let (mut object, mut values) = (Map::new(), Map::new());
    for (column, cell) in header.iter().zip(record).filter(|(_, cell)| !cell.is_empty()) {
        let cell = unescaped_cell(cell);
        let parsed =
            || text::parse_json(cell).map(|(value, _)| value).map_err(|error| format!("column '{column}' is '{cell}', no JSON ({error})"));
        if let Some(question) = column.strip_prefix("values.") {
            values.insert(question.to_owned(), parsed()?);
        } else if let Some(key) = column.strip_suffix(":json") {
            object.insert(key.to_owned(), parsed()?);
        } else if PLAIN.contains(&column.as_str()) {
            object.insert(column.clone(), parsed()?);
        } else {
            // An answer in one word ("cannot_judge") is a JSON text, the others are objects.
            object.insert(column.clone(), Value::String(cell.to_owned()));
        }
    }
    let kind = object.get("kind").and_then(Value::as_str).ok_or("the row has no 'kind'")?;
    if kind == "rating" {
        object.insert("values".to_owned(), Value::Object(values));
    }
    Ok((Value::Object(object), Vec::new()))
}
