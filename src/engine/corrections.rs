//! Keeps the automatic score of an edit and, where a person corrected something, the corrected one beside it.

use crate::domain::{Profile, Score};
use crate::storage::{EditId, NewRun, Project, RunId, StorageError};

/// What scoring one edit came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// What the metric says by itself.
    pub automatic: Score,
    /// With a person's regions and parse; `None` when nobody corrected anything.
    pub corrected: Option<Score>,
}

/// Stores both scores; the automatic one in run `id`, which is described by `about`. Returns the one that counts.
///
/// The corrected score is stored last, because the newest of an edit counts.
///
/// # Errors
/// When the project cannot be written.
pub fn keep(project: &Project, (id, about): (RunId, &NewRun), edit: EditId, scores: Scores, seconds: f64) -> Result<Score, StorageError> {
    project.put_score(id, edit, &scores.automatic, seconds)?;
    keep_corrected(project, about, edit, scores.corrected.as_ref(), scores.automatic.profile, seconds)?;
    Ok(scores.corrected.unwrap_or(scores.automatic))
}

/// Stores the corrected score of an edit beside its automatic one, or forgets an older one when nothing is corrected any more.
///
/// # Errors
/// When the project cannot be written.
pub fn keep_corrected(
    project: &Project,
    about: &NewRun,
    edit: EditId,
    corrected: Option<&Score>,
    profile: Profile,
    seconds: f64,
) -> Result<(), StorageError> {
    match corrected {
        Some(corrected) => project.put_score(project.correction_run(about)?, edit, corrected, seconds),
        None => project.drop_corrections(edit, profile).map(drop),
    }
}
