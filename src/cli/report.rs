//! Reports: a comparison with the pictures and points that only the project knows.

use std::path::Path;

use crate::engine::evidence::report_extras;
use crate::export::{DRAWN_NOW, ReportExtras, ReportPoint, write_report};
use crate::stats::comparison::Comparison;
use crate::storage::Project;

/// Writes the report. Pictures come from the project at `data`; without one the report has numbers and plots alone. `points` are those that
/// were compared; a comparison that was reopened has none, so that its scatter is of the project as it is now, which the report says.
pub(super) fn write(comparison: &Comparison, points: Option<Vec<ReportPoint>>, data: Option<&Path>, out: &Path) -> anyhow::Result<()> {
    let mut extras = match data {
        Some(path) if Project::is_project(path) => report_extras(comparison, &Project::open_read_only(path)?)?,
        _ => ReportExtras::default(),
    };
    match points {
        Some(points) => extras.points = points,
        None if extras != ReportExtras::default() => {
            let mut reopened = comparison.clone();
            reopened.notes.push(DRAWN_NOW.to_owned());
            return Ok(write_report(&reopened, &extras, out)?);
        }
        None => {}
    }
    Ok(write_report(comparison, &extras, out)?)
}
