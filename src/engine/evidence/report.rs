//! What a report shows beside the numbers: the worst disagreements with their pictures and traces, and the points of its scatter.

use std::collections::HashMap;

use super::Gathered;
use crate::domain::Profile;
use crate::engine::results::{self, ScoredEdit};
use crate::stats::comparison::{Comparison, Mismatch, ReportEdit, ReportExtras, ReportPoint, Subject};
use crate::storage::{Project, StoredEdit, StoredItem};

/// What the project knows about the edits that a comparison names, under the comparison's own profile and range.
///
/// # Errors
/// When the project cannot be read.
pub fn report_extras(comparison: &Comparison, project: &Project) -> anyhow::Result<ReportExtras> {
    let profile: Profile = comparison.about.profile.as_deref().unwrap_or_default().parse().unwrap_or_default();
    let scored = results::all(project, profile, comparison.about.range.as_ref(), None)?;
    let items: HashMap<_, _> = project.items()?.into_iter().map(|item| (item.id, item)).collect();
    let edits: HashMap<_, _> = project.edits()?.into_iter().map(|edit| (edit.id, edit)).collect();
    let names = project.model_names()?;
    let name_of = |edit: &ScoredEdit| names.get(&edit.id).cloned().unwrap_or_default();
    let shown = comparison.mismatches.iter().filter_map(|found| {
        let own = scored.iter().find(|edit| edit.item.0 == found.item && name_of(edit) == found.model)?;
        let stored = edits.get(&own.id)?;
        Some(report_edit(found, own, stored, items.get(&stored.item)?))
    });
    let points = comparison.lines.first().map(|line| {
        let point = |edit: &ScoredEdit| {
            Some(ReportPoint {
                item: edit.item.0.clone(),
                model: name_of(edit),
                human: edit.human(&line.criterion)?,
                metric: *edit.value(&line.metric).value()?,
            })
        };
        scored.iter().filter_map(point).collect()
    });
    Ok(ReportExtras { edits: shown.collect(), points: points.unwrap_or_default() })
}

/// The points of a report's scatter out of what was compared, opinions from tables among them.
pub fn report_points(comparison: &Comparison, gathered: &Gathered) -> Vec<ReportPoint> {
    let Some(line) = comparison.lines.first() else { return Vec::new() };
    // As the metric gives it: the sign of a distance was turned for comparing.
    let sign = if gathered.turned.contains(&line.metric) { -1.0 } else { 1.0 };
    let point = |subject: &Subject| {
        Some(ReportPoint {
            item: subject.item.clone(),
            model: subject.model.clone(),
            human: *subject.human.get(&line.criterion)?,
            metric: sign * subject.metrics.get(&line.metric)?,
        })
    };
    gathered.evidence.subjects.iter().filter_map(point).collect()
}

fn report_edit(found: &Mismatch, own: &ScoredEdit, stored: &StoredEdit, item: &StoredItem) -> ReportEdit {
    let score = own.score.as_ref();
    ReportEdit {
        item: found.item.clone(),
        model: found.model.clone(),
        instruction: own.instruction.clone(),
        source: item.source.path.clone(),
        edited: stored.picture.path.clone(),
        boxes: score.map(|score| score.boxes.clone()).unwrap_or_default(),
        mask: score.and_then(|score| score.mask.clone()),
        trace: score.map(|score| score.trace.clone()).unwrap_or_default(),
    }
}
