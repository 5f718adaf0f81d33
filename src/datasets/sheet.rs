//! Any table as rows of named cells, whatever its columns mean: CSV, TSV or semicolons, JSON lines, a JSON list of objects, or the
//! `{"rows": [{"row": …}]}` that data-set viewers give out.

use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};

use super::numbers::DecimalSign;
use super::quotes::{STRAY, without_stray};
use super::table::{Lines, delimiter_of};
use super::{Problem, ReadError, text};
use crate::domain::unescaped_cell;

/// A table as it stands in its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The file's name, for messages.
    pub file: String,
    /// Column names in the order they first come, trimmed; the second of the same name is called `NAME (column 5)`.
    pub header: Vec<String>,
    pub rows: Vec<SheetRow>,
    /// How its numbers are written.
    pub decimals: DecimalSign,
    /// Rows that could not be read, and why.
    pub problems: Vec<Problem>,
}

/// One row. Cells of a text table are strings; empty ones are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetRow {
    /// Line of the file, or entry of the list, as a message names it.
    pub place: String,
    pub cells: Map<String, Value>,
}

impl SheetRow {
    /// The cell as text, trimmed; numbers count as text; `None` when it is missing, empty or no plain value.
    pub fn word(&self, column: &str) -> Option<String> {
        let text = match self.cells.get(column)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        (!text.is_empty()).then_some(text)
    }
}

impl Sheet {
    /// Reads a table. Rows that cannot be read are listed in [`Self::problems`], the rest goes on.
    ///
    /// # Errors
    /// When the file cannot be read, is no text, or is no table at all.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let head = text::Head::read(path)?;
        let no_table = |reason: String| ReadError::NoTable { path: path.to_owned(), reason };
        if let Some(found) = head.known_stranger() {
            return Err(no_table(found.to_owned()));
        }
        let content = text::read(path)?;
        let file = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        let mut sheet = Self { file, header: Vec::new(), rows: Vec::new(), decimals: DecimalSign::default(), problems: Vec::new() };
        let mut delimiter = None;
        match content.trim_start().chars().next() {
            None => return Err(no_table("the file is empty".into())),
            Some('[') => sheet.read_list(&content).map_err(no_table)?,
            Some('{') => sheet.read_objects(&content).map_err(no_table)?,
            Some(_) => {
                delimiter = Some(delimiter_of(&content));
                sheet.read_text(&content, delimiter_of(&content)).map_err(no_table)?;
            }
        }
        if sheet.rows.is_empty() {
            let first = sheet.problems.first().map(|problem| format!(" that could be read ({problem})")).unwrap_or_default();
            return Err(no_table(format!("there are no rows{first}")));
        }
        if sheet.header.is_empty() {
            return Err(no_table("there is no header: its rows name no values".into()));
        }
        sheet.decimals = DecimalSign::of(&sheet.rows, delimiter);
        Ok(sheet)
    }

    /// Whether every one of `columns` is there.
    pub fn has(&self, columns: &[&str]) -> bool {
        columns.iter().all(|column| self.header.iter().any(|known| known == column))
    }

    fn read_list(&mut self, content: &str) -> Result<(), String> {
        let (value, nan) = text::parse_json(content).map_err(|error| format!("it is no JSON ({error})"))?;
        let Value::Array(list) = value else { return Err("it is no list of rows".into()) };
        if let Some(reason) = text::nan_note(&nan) {
            self.problems.push(Problem { place: self.file.clone(), reason });
        }
        for (index, row) in list.into_iter().enumerate() {
            let place = format!("{} entry {index}", self.file);
            self.add(place, row);
        }
        Ok(())
    }

    /// JSON lines, or one object with a list of rows.
    fn read_objects(&mut self, content: &str) -> Result<(), String> {
        if let Ok((Value::Object(mut whole), nan)) = text::parse_json(content)
            && let Some(Value::Array(rows)) = whole.shift_remove("rows")
        {
            self.problems.extend(text::nan_note(&nan).map(|reason| Problem { place: self.file.clone(), reason }));
            for (index, row) in rows.into_iter().enumerate() {
                let place = format!("{} entry {index}", self.file);
                let row = match row {
                    Value::Object(mut wrapped) if wrapped.contains_key("row") => wrapped.shift_remove("row").unwrap_or_default(),
                    row => row,
                };
                self.add(place, row);
            }
            return Ok(());
        }
        for (number, line) in content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = format!("{}:{}", self.file, number + 1);
            match text::parse_json(line) {
                Ok((row, nan)) => {
                    if let Some(reason) = text::nan_note(&nan) {
                        self.problems.push(Problem { place: place.clone(), reason });
                    }
                    self.add(place, row);
                }
                Err(error) => self.problems.push(Problem { place, reason: format!("the row is no JSON ({error}); left out") }),
            }
        }
        if self.rows.is_empty() { Err("none of its lines is a JSON object".into()) } else { Ok(()) }
    }

    fn add(&mut self, place: String, row: Value) {
        let Value::Object(cells) = row else {
            self.problems.push(Problem { place, reason: "the row is no object; left out".into() });
            return;
        };
        for column in cells.keys() {
            if !self.header.contains(column) {
                self.header.push(column.clone());
            }
        }
        self.rows.push(SheetRow { place, cells });
    }

    fn read_text(&mut self, content: &str, delimiter: u8) -> Result<(), String> {
        let (content, stray) = without_stray(content, delimiter);
        self.problems.extend(stray.into_iter().map(|line| Problem { place: format!("{}:{line}", self.file), reason: STRAY.into() }));
        let mut reader = ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(content.as_bytes());
        let names = reader.headers().map_err(|error| error.to_string())?.clone();
        self.take_header(&names)?;
        let mut unnamed = vec![0usize; self.header.len()];
        let mut record = ByteRecord::new();
        let mut lines = Lines::new(content.as_bytes());
        while reader.read_byte_record(&mut record).map_err(|error| error.to_string())? {
            let start = record.position().map_or(0, csv::Position::byte);
            let place = format!("{}:{}", self.file, lines.of(start as usize));
            if record.iter().all(<[u8]>::is_empty) {
                continue;
            }
            if record.len() > self.header.len() {
                let reason = format!(
                    "the row has {} cells, the header {}; left out (is a cell with the delimiter unquoted?)",
                    record.len(),
                    self.header.len()
                );
                self.problems.push(Problem { place, reason });
                continue;
            }
            let mut cells = Map::new();
            for ((column, cell), unnamed) in self.header.iter().zip(&record).zip(&mut unnamed).filter(|((_, cell), _)| !cell.is_empty()) {
                if column.is_empty() {
                    *unnamed += 1;
                    continue;
                }
                // The whole file was checked to be text, so this loses nothing.
                cells.insert(column.clone(), Value::String(unescaped_cell(&String::from_utf8_lossy(cell)).to_owned()));
            }
            self.rows.push(SheetRow { place, cells });
        }
        // The first one is how data frames write their index.
        for (at, count) in unnamed.into_iter().enumerate().skip(1).filter(|(_, count)| *count > 0) {
            let reason = format!("column {} has no name in the header; its {count} cells are not read", at + 1);
            self.problems.push(Problem { place: format!("{}:1", self.file), reason });
        }
        Ok(())
    }

    /// Takes the names of the columns, each once.
    fn take_header(&mut self, names: &csv::StringRecord) -> Result<(), String> {
        let names: Vec<&str> = names.iter().map(str::trim).map(unescaped_cell).collect();
        if names.iter().all(|name| name.is_empty() || name.parse::<f64>().is_ok()) {
            return Err(format!("there is no header: its first line is '{}', which names no column", names.join(", ")));
        }
        for (at, name) in names.into_iter().enumerate() {
            let is_known = !name.is_empty() && self.header.iter().any(|known| known == name);
            if !is_known {
                self.header.push(name.to_owned());
                continue;
            }
            let called = format!("{name} (column {})", at + 1);
            let reason = format!("the header names '{name}' more than once; this one is called '{called}'");
            self.problems.push(Problem { place: format!("{}:1, column {}", self.file, at + 1), reason });
            self.header.push(called);
        }
        Ok(())
    }
}
