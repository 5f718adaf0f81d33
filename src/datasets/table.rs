//! The neutral manifest as a table: commas, semicolons or tabs; a header names the keys of [`super::neutral`].
//!
//! Cells are text; an empty cell is a missing value. A column `KEY:json` holds JSON. Numbers may have a decimal comma.
//! Known column names are taken whatever their case.

use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};

use super::neutral::{JSON_SUFFIX, Place, Rows};
use super::quotes::{STRAY, without_stray};
use super::{Dataset, Format, ReadError, text};
use crate::domain::unescaped_cell;

const DELIMITERS: [u8; 3] = *b",;\t";
const KNOWN: [&str; 10] = ["id", "item", "source", "instruction", "edited", "model", "parse", "parsed", "ratings", "rater"];

/// Whether the first line of `head` is a header of this format.
pub(super) fn recognises(head: &str) -> bool {
    let delimiter = delimiter_of(head);
    let mut reader = ReaderBuilder::new().delimiter(delimiter).from_reader(head.as_bytes());
    reader.headers().is_ok_and(|header| {
        let has = |name: &str| header.iter().any(|column| column.trim().eq_ignore_ascii_case(name));
        has("source") && has("edited")
    })
}

pub(super) fn read(path: &Path) -> Result<Dataset, ReadError> {
    let malformed = |reason: String| ReadError::Malformed { path: path.to_owned(), format: Format::Csv, reason };
    let content = text::read(path)?;
    let delimiter = delimiter_of(&content);
    let (content, stray) = without_stray(&content, delimiter);
    let mut reader = ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(content.as_bytes());
    let header: Vec<String> = reader.headers().map_err(|error| malformed(error.to_string()))?.iter().map(column_name).collect();
    for needed in ["source", "instruction", "edited"] {
        if !header.iter().any(|column| column == needed) {
            return Err(malformed(format!("the header has no column '{needed}'; it has: {}", header.join(", "))));
        }
    }
    let mut rows = Rows::new(path);
    stray.into_iter().for_each(|line| rows.problem(Place::Line(line), STRAY.to_owned()));
    if let Some(twice) = header.iter().enumerate().find(|(i, column)| header[..*i].contains(column)).map(|(_, column)| column) {
        rows.problem(Place::Line(1), format!("column '{twice}' stands there twice; the last one counts"));
    }
    let mut record = ByteRecord::new();
    let mut lines = Lines::new(content.as_bytes());
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {
                let start = record.position().map_or(0, csv::Position::byte);
                add_record(&mut rows, lines.of(start as usize), &header, &record);
            }
            Ok(false) => break,
            Err(error) => return Err(malformed(error.to_string())),
        }
    }
    Ok(rows.finish(Format::Csv))
}

fn add_record(rows: &mut Rows, line: usize, header: &[String], record: &ByteRecord) {
    if record.iter().all(<[u8]>::is_empty) {
        return;
    }
    if record.len() > header.len() {
        let reason =
            format!("the row has {} cells, the header {}; left out (is a cell with the delimiter unquoted?)", record.len(), header.len());
        rows.problem(Place::Line(line), reason);
        return;
    }
    let mut row = Map::new();
    for (column, cell) in header.iter().zip(record) {
        if cell.is_empty() {
            continue;
        }
        // The whole file was checked to be text, so this loses nothing.
        let cell = unescaped_cell(&String::from_utf8_lossy(cell)).to_owned();
        match column.strip_suffix(JSON_SUFFIX) {
            None => drop(row.insert(column.clone(), Value::String(cell))),
            Some(key) => match text::parse_json(&cell) {
                Ok((value, _)) => drop(row.insert(key.to_owned(), value)),
                Err(error) => {
                    rows.problem(Place::Line(line), format!("column '{column}' is no JSON ({error}); kept as text"));
                    row.insert(column.clone(), Value::String(cell));
                }
            },
        }
    }
    rows.add(Place::Line(line), row);
}

/// Counts lines up to a byte. The table reader's own count is one behind where lines end in CR LF.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    /// The line of the record that begins at `start` or after the line ends that follow; `start` must not go back.
    pub fn of(&mut self, start: usize) -> usize {
        while let Some(&byte) = self.bytes.get(self.at).filter(|byte| self.at < start || matches!(byte, b'\n' | b'\r')) {
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
        self.line
    }
}

fn column_name(column: &str) -> String {
    let column = unescaped_cell(column.trim());
    KNOWN.iter().find(|known| column.eq_ignore_ascii_case(known)).map_or_else(|| column.to_owned(), |known| (*known).to_owned())
}

/// The delimiter that the first line has most of, outside quotes; the comma when it has none.
pub(super) fn delimiter_of(text: &str) -> u8 {
    let mut counts = [0usize; DELIMITERS.len()];
    let mut quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if quoted => {}
            _ => {
                if let Some(which) = DELIMITERS.iter().position(|&delimiter| delimiter == byte) {
                    counts[which] += 1;
                }
            }
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|&count| count == most).map_or(b',', |which| DELIMITERS[which])
}
