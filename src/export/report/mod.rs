//! A comparison as a report: one self-contained HTML file (no scripts, nothing loaded from elsewhere; plots as SVG, pictures inside),
//! a CSV table, or a LaTeX table.

mod html;
mod latex;
mod metrics;
mod notes;
mod people;
mod pictures;
mod plots;
mod sections;
mod table;
mod words;

use std::path::Path;

use super::{ExportError, write_file};
use crate::stats::comparison::Comparison;
pub use crate::stats::comparison::{ReportEdit, ReportExtras, ReportPoint};
pub use notes::note_words;
pub use words::{
    DRAWN_NOW, ELO, TURNED, ground_truth_words, is_distance, is_of_zone, marked_metric, metric_words, no_pairs_words, one_rater_words,
    significance_words, stayed, stayed_words,
};

/// Columns of numbers that fit beside names in a page; more go into further tables.
const ACROSS: usize = 8;

/// Says no to a name of a report whose ending is none of `html`, `csv` and `tex`, before anything is computed for it.
///
/// # Errors
/// [`ExportError::Content`] that names the endings.
pub fn check_report_name(out: &Path) -> Result<(), ExportError> {
    let ending = ending_of(out);
    if ["html", "htm", "tex", "csv"].contains(&ending.as_str()) {
        return Ok(());
    }
    let reason = format!("a report is .html, .csv or .tex, not '.{ending}'");
    Err(ExportError::Content { path: out.to_owned(), reason })
}

fn ending_of(out: &Path) -> String {
    out.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Writes a report in the form that the ending of `out` asks for: `html`, `csv` or `tex`.
///
/// # Errors
/// When the ending is another one, or the file cannot be written. A picture that cannot be read is said in its place.
pub fn write_report(comparison: &Comparison, extras: &ReportExtras, out: &Path) -> Result<(), ExportError> {
    check_report_name(out)?;
    let text = match ending_of(out).as_str() {
        "csv" => return write_file(out, |file| table::write(comparison, file)),
        "tex" => latex::table(comparison),
        _ => html::page(comparison, extras),
    };
    write_file(out, |file| file.write_all(text.as_bytes()).map_err(|error| error.to_string()))
}
