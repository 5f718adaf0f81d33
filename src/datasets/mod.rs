//! Readers: what people have on disk becomes items and edits. One reader per format, one table of readers.
//!
//! | format | what it is | recognised by |
//! |---|---|---|
//! | `bpm` | BPM's `local_metadata.json` | a JSON list whose objects have `source_image_path` and `edited_imageN` |
//! | `jsonl` | the neutral manifest, one edit a line (or a JSON list of such objects) | objects with `source` and `edited` |
//! | `csv` | the same as a table | a header with `source` and `edited` |
//! | `pairs` | a folder of pictures, see [`pairs`] | picture names |
//!
//! A folder that holds `manifest.jsonl`, `manifest.csv` or `local_metadata.json` is taken as that file.
//! What cannot be read is listed as a [`Problem`] and the rest is imported. A picture that is not there is a problem too, but
//! its edit is kept, so that the picture can be located later.

mod bpm;
mod grouped;
mod lint;
mod look;
mod neutral;
mod numbers;
pub mod opinions;
pub mod pairs;
mod paths;
mod quotes;
mod rater_rows;
mod ratings;
mod sheet;
mod table;
mod text;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::domain::Item;

pub use grouped::grouped;
pub use lint::{Depth, Finding, lint};
pub use look::unreadable;
pub use neutral::{ITEM_PREFIX, JSON_SUFFIX, OWN_PREFIX};
pub use numbers::{DecimalSign, is_missing_word};
pub use rater_rows::{RaterFile, read_rater_rows};
pub use ratings::UNNAMED_RATER;
pub use sheet::{Sheet, SheetRow};

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// BPM's own JSON (`local_metadata.json`).
    Bpm,
    /// The neutral manifest, one JSON object an edit.
    Jsonl,
    /// The neutral manifest as a table.
    Csv,
    /// A folder of pictures named by rules.
    Pairs,
}

impl Format {
    /// All formats, in the order they are offered.
    pub const ALL: [Self; 4] = [Self::Bpm, Self::Jsonl, Self::Csv, Self::Pairs];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bpm => "bpm",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Pairs => "pairs",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| format!("there is no format '{text}'; take one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// Something that was not read as it stands, or not at all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// `file:line`, or the file and the item.
    pub place: String,
    /// What is wrong and what was done about it.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// What a reader found. Picture paths can be opened as they are; those of missing pictures say where the picture was looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    pub format: Format,
    pub items: Vec<Item>,
    pub problems: Vec<Problem>,
    /// Path of a picture → the place of a manifest that names it first (`file:line`); empty for a folder without a manifest.
    pub named_at: HashMap<PathBuf, String>,
    /// The name of the file, where ratings that name no rater have it as their rater.
    pub named_by_file: Option<String>,
}

impl Dataset {
    /// Number of edits of all items.
    pub fn edit_count(&self) -> usize {
        self.items.iter().map(|item| item.edits.len()).sum()
    }
}

/// Why nothing at all could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path} is not text in UTF-8 or UTF-16 (first bad byte at {at}); save it as UTF-8")]
    NotText { path: PathBuf, at: usize },
    #[error("{path} is no data set that this program reads: {found}. It reads {}; name one with --format", Format::ALL.map(Format::name).join(", "))]
    Unknown { path: PathBuf, found: String },
    #[error("{path} is not {format}: {reason}")]
    Malformed { path: PathBuf, format: Format, reason: String },
    #[error("{path} is no table that can be read: {reason}")]
    NoTable { path: PathBuf, reason: String },
    #[error("{path} is no file that `export --format ratings` wrote: {why}")]
    NoRaterRows { path: PathBuf, why: String },
    #[error("no ratings can be read from {path}: {reason}")]
    NoRatings { path: PathBuf, reason: String },
}

/// How a note about a picture that is not there ends; what people say of an edit needs no picture.
pub(super) const LOCATE_LATER: &str = "kept, to be located later";

/// The names that make a folder a data set by themselves, in the order they are looked for.
const MANIFESTS: [(&str, Format); 3] =
    [("manifest.jsonl", Format::Jsonl), ("manifest.csv", Format::Csv), ("local_metadata.json", Format::Bpm)];

/// Reads a data set: a file, or a folder. `format` overrides the detection by content.
///
/// # Errors
/// When the path cannot be read, is no known format, or the named format does not fit at all. Single rows that cannot be
/// read are no error: they are listed in [`Dataset::problems`].
pub fn read(path: &Path, format: Option<Format>) -> Result<Dataset, ReadError> {
    let (path, format) = match format {
        Some(format) => (manifest_of(path, Some(format)).map_or_else(|| path.to_owned(), |(file, _)| file), format),
        None => detect(path)?,
    };
    tracing::debug!(path = %path.display(), %format, "reading a data set");
    match format {
        Format::Bpm => bpm::read(&path),
        Format::Jsonl => neutral::read_jsonl(&path),
        Format::Csv => table::read(&path),
        Format::Pairs => pairs::read(&path),
    }
}

/// Finds the file that describes the data set, and its format, by content.
///
/// # Errors
/// When the path cannot be read or holds nothing known.
pub fn detect(path: &Path) -> Result<(PathBuf, Format), ReadError> {
    let meta = std::fs::metadata(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    if meta.is_dir() {
        if let Some((file, format)) = manifest_of(path, None) {
            return Ok((file, format));
        }
        if pairs::recognises(path) {
            return Ok((path.to_owned(), Format::Pairs));
        }
        let found = "the folder has no manifest.jsonl, manifest.csv or local_metadata.json, and no pictures named as source and edit";
        return Err(ReadError::Unknown { path: path.to_owned(), found: found.to_owned() });
    }
    let head = text::Head::read(path)?;
    if let Some(found) = head.known_stranger() {
        return Err(ReadError::Unknown { path: path.to_owned(), found: found.to_owned() });
    }
    let start = head.text.trim_start();
    let format = if start.starts_with('[') || start.starts_with('{') {
        if head.text.contains("\"source_image_path\"") && head.text.contains("\"edited_image") {
            Some(Format::Bpm)
        } else if head.text.contains("\"source\"") && head.text.contains("\"edited\"") {
            Some(Format::Jsonl)
        } else {
            None
        }
    } else {
        table::recognises(&head.text).then_some(Format::Csv)
    };
    format.map(|format| (path.to_owned(), format)).ok_or_else(|| ReadError::Unknown {
        path: path.to_owned(),
        found: if start.is_empty() {
            "the file is empty".into()
        } else {
            "its first lines name neither 'source' and 'edited' nor BPM's keys".into()
        },
    })
}

/// The manifest inside a folder; of `wanted` format only, if given.
fn manifest_of(folder: &Path, wanted: Option<Format>) -> Option<(PathBuf, Format)> {
    MANIFESTS
        .iter()
        .filter(|(_, format)| wanted.is_none_or(|wanted| wanted == *format))
        .map(|(name, format)| (folder.join(name), *format))
        .find(|(file, _)| file.is_file())
}
