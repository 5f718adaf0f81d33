//! What raters said as a file that reads back: JSON lines, or the same as a table.
//!
//! In the table the answers stand in columns `values.QUESTION`; other things that are no plain text or number stand as JSON in columns
//! `KEY:json`. Text that a spreadsheet would run as a formula has an apostrophe in front (`domain::escaped_cell`).

use std::path::Path;

use serde_json::Value;

use super::{ExportError, write_file};
use crate::domain::{RaterRow, escaped_cell};

/// Writes one JSON object a line.
///
/// # Errors
/// When the file cannot be written.
pub fn write_ratings_jsonl(rows: &[RaterRow], out: &Path) -> Result<(), ExportError> {
    write_file(out, |file| {
        for row in rows {
            serde_json::to_writer(&mut *file, row).map_err(|error| error.to_string())?;
            file.write_all(b"\n").map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

/// Writes a table with commas and a header of the columns that some row has a value for.
///
/// # Errors
/// When the file cannot be written.
pub fn write_ratings_csv(rows: &[RaterRow], out: &Path) -> Result<(), ExportError> {
    write_file(out, |file| {
        let cells = rows.iter().map(flat).collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        let mut header: Vec<&str> = Vec::new();
        for (column, _) in cells.iter().flatten() {
            if !header.contains(&column.as_str()) {
                header.push(column);
            }
        }
        let mut table = csv::Writer::from_writer(file);
        table.write_record(header.iter().map(|name| escaped_cell(name).into_owned())).map_err(|error| error.to_string())?;
        for row in &cells {
            let cell = |column: &&str| row.iter().find(|(name, _)| name == column).map_or("", |(_, text)| text.as_str());
            let cell = |column: &&str| escaped_cell(cell(column)).into_owned();
            table.write_record(header.iter().map(cell)).map_err(|error| error.to_string())?;
        }
        table.flush().map_err(|error| error.to_string())
    })
}

/// Column names and texts of a row.
fn flat(row: &RaterRow) -> Result<Vec<(String, String)>, serde_json::Error> {
    let Value::Object(object) = serde_json::to_value(row)? else { return Ok(Vec::new()) };
    let mut cells = Vec::new();
    for (key, value) in object {
        match value {
            Value::Null => {}
            Value::String(text) => cells.push((key, text)),
            Value::Bool(_) | Value::Number(_) => cells.push((key, value.to_string())),
            Value::Object(values) if key == "values" => {
                cells.extend(values.into_iter().map(|(question, value)| (format!("values.{question}"), value.to_string())));
            }
            other => cells.push((format!("{key}:json"), other.to_string())),
        }
    }
    Ok(cells)
}
