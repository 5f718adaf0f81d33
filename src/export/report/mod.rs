//! A comparison as a report: one self-contained HTML file (no scripts, nothing loaded from elsewhere; plots as SVG, pictures inside),
//! a CSV table, or a LaTeX table.

mod html;
mod latex;
mod pictures;
mod plots;
mod sections;
mod table;

use std::path::{Path, PathBuf};

use super::{ExportError, write_file};
use crate::domain::{BoxesBySide, TraceStep, rle::Rle};
use crate::stats::comparison::Comparison;

/// An edit that the report shows, with what the metric saw.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportEdit {
    pub item: String,
    pub model: String,
    pub instruction: String,
    /// Can be opened as they are.
    pub source: PathBuf,
    pub edited: PathBuf,
    /// In image pixels of each picture.
    pub boxes: BoxesBySide,
    /// The edit region, in pixels of the source.
    pub mask: Option<Rle>,
    pub trace: Vec<TraceStep>,
}

/// One edit of the scatter.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportPoint {
    pub item: String,
    pub model: String,
    pub human: f64,
    pub metric: f64,
}

/// What a report shows beside the numbers; a comparison that is reopened without its project has none of it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ReportExtras {
    /// The worst disagreements, in the order of [`Comparison::mismatches`].
    pub edits: Vec<ReportEdit>,
    /// The first metric against people.
    pub points: Vec<ReportPoint>,
}

/// Writes a report in the form that the ending of `out` asks for: `html`, `csv` or `tex`.
///
/// # Errors
/// When the ending is another one, or the file cannot be written. A picture that cannot be read is said in its place.
pub fn write_report(comparison: &Comparison, extras: &ReportExtras, out: &Path) -> Result<(), ExportError> {
    let ending = out.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let text = match ending.as_str() {
        "html" | "htm" => html::page(comparison, extras),
        "tex" => latex::table(comparison),
        "csv" => return write_file(out, |file| table::write(comparison, file)),
        _ => {
            let reason = format!("a report is .html, .csv or .tex, not '.{ending}'");
            return Err(ExportError::Content { path: out.to_owned(), reason });
        }
    };
    write_file(out, |file| file.write_all(text.as_bytes()).map_err(|error| error.to_string()))
}
