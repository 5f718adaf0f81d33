//! Reads what `export --format ratings` writes: JSON lines or the same as a table.

use std::path::Path;

use serde_json::{Map, Value};

use super::{Problem, ReadError, text};
use crate::domain::RaterRow;

/// The rows of a rater's file and what could not be read of it.
///
/// # Errors
/// When the file cannot be read, or holds no row of this kind at all.
pub fn read_rater_rows(path: &Path) -> Result<(Vec<RaterRow>, Vec<Problem>), ReadError> {
    let content = text::read(path)?;
    let objects = if content.trim_start().starts_with('{') { lines(&content) } else { table(&content) };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for (line, object) in objects {
        let place = format!("{name}:{line}");
        match object.and_then(|object| serde_json::from_value(object).map_err(|error| error.to_string())) {
            Ok(row) => rows.push(row),
            Err(why) => problems.push(Problem { place, reason: format!("{why}; left out") }),
        }
    }
    if rows.is_empty() {
        let why = problems.first().map_or_else(|| "it is empty".to_owned(), ToString::to_string);
        let found = format!("it holds no ratings as `export --format ratings` writes them ({why})");
        return Err(ReadError::Unknown { path: path.to_owned(), found });
    }
    Ok((rows, problems))
}

/// Line numbers and objects; a reason where there is none.
type Objects = Vec<(usize, Result<Value, String>)>;

fn lines(content: &str) -> Objects {
    let filled = content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    filled.map(|(index, line)| (index + 1, serde_json::from_str(line).map_err(|error| error.to_string()))).collect()
}

fn table(content: &str) -> Objects {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(content.as_bytes());
    let header: Vec<String> = match reader.headers() {
        Ok(header) => header.iter().map(str::to_owned).collect(),
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

fn object_of(header: &[String], record: &csv::StringRecord) -> Result<Value, String> {
    let (mut object, mut values) = (Map::new(), Map::new());
    for (column, cell) in header.iter().zip(record).filter(|(_, cell)| !cell.is_empty()) {
        let parsed =
            || serde_json::from_str::<Value>(cell).map_err(|error| format!("column '{column}': '{cell}' cannot be read ({error})"));
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
    Ok(Value::Object(object))
}
