//! Reports: a comparison with the pictures and points that only the project knows.

use std::path::Path;

use crate::domain::Profile;
use crate::engine::results::{self, ScoredEdit};
use crate::export::{ReportEdit, ReportExtras, ReportPoint, write_report};
use crate::stats::comparison::{Comparison, Mismatch};
use crate::storage::{Project, StoredEdit, StoredItem};

/// Writes the report. Pictures come from the project at `data`; without one the report has the numbers alone.
pub(super) fn write(comparison: &Comparison, data: Option<&Path>, out: &Path) -> anyhow::Result<()> {
    let extras = match data {
        Some(path) if Project::is_project(path) => extras(comparison, &Project::open_read_only(path)?)?,
        _ => ReportExtras::default(),
    };
    Ok(write_report(comparison, &extras, out)?)
}

fn extras(comparison: &Comparison, project: &Project) -> anyhow::Result<ReportExtras> {
    let profile: Profile = comparison.about.profile.as_deref().unwrap_or_default().parse().unwrap_or_default();
    let scored = results::all(project, profile, comparison.about.range.as_ref(), None)?;
    let (items, edits) = (project.items()?, project.edits()?);
    let shown = comparison.mismatches.iter().filter_map(|found| report_edit(found, &scored, &items, &edits));
    let points = comparison.lines.first().map(|line| {
        let point = |edit: &ScoredEdit| {
            Some(ReportPoint {
                item: edit.item.0.clone(),
                model: edit.model.clone(),
                human: edit.human(&line.criterion)?,
                metric: *edit.value(&line.metric).value()?,
            })
        };
        scored.iter().filter_map(point).collect()
    });
    Ok(ReportExtras { edits: shown.collect(), points: points.unwrap_or_default() })
}

fn report_edit(found: &Mismatch, scored: &[ScoredEdit], items: &[StoredItem], edits: &[StoredEdit]) -> Option<ReportEdit> {
    let own = scored.iter().find(|edit| edit.item.0 == found.item && edit.model == found.model)?;
    let stored = edits.iter().find(|edit| edit.id == own.id)?;
    let item = items.iter().find(|item| item.id == stored.item)?;
    let score = own.score.as_ref();
    Some(ReportEdit {
        item: found.item.clone(),
        model: found.model.clone(),
        instruction: own.instruction.clone(),
        source: item.source.path.clone(),
        edited: stored.picture.path.clone(),
        boxes: score.map(|score| score.boxes.clone()).unwrap_or_default(),
        mask: score.and_then(|score| score.mask.clone()),
        trace: score.map(|score| score.trace.clone()).unwrap_or_default(),
    })
}
