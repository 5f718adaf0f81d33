//! Reports: a comparison with the pictures and points that only the project knows.

use std::path::Path;

use crate::engine::evidence::report_extras;
use crate::export::{ReportExtras, write_report};
use crate::stats::comparison::Comparison;
use crate::storage::Project;

/// Writes the report. Pictures come from the project at `data`; without one the report has the numbers alone.
pub(super) fn write(comparison: &Comparison, data: Option<&Path>, out: &Path) -> anyhow::Result<()> {
    let extras = match data {
        Some(path) if Project::is_project(path) => report_extras(comparison, &Project::open_read_only(path)?)?,
        _ => ReportExtras::default(),
    };
    Ok(write_report(comparison, &extras, out)?)
}
