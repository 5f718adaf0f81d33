//! Small notes of a project about who saw what and which sessions are put away. They belong to the file on this machine: merging copies of a
//! project leaves them out, and the answers carry what follows from them.

use std::collections::HashSet;

use crate::domain::EditKey;
use crate::storage::{Project, StorageError};

// The names of raters are free text, so they come last.
fn begun_key(uid: &str, rater: &str) -> String {
    format!("session_begun:{uid}:{rater}")
}

fn archived_key(uid: &str) -> String {
    format!("session_archived:{uid}")
}

/// The rater was shown the first task of a blind session.
pub fn begin(project: &Project, uid: &str, rater: &str) -> Result<(), StorageError> {
    if has_begun(project, uid, rater)? { Ok(()) } else { project.set_meta(&begun_key(uid, rater), "1") }
}

/// Whether that is noted.
pub fn has_begun(project: &Project, uid: &str, rater: &str) -> Result<bool, StorageError> {
    Ok(project.meta(&begun_key(uid, rater))?.is_some())
}

/// Whether the session is put away.
pub fn is_archived(project: &Project, uid: &str) -> Result<bool, StorageError> {
    Ok(project.meta(&archived_key(uid))?.is_some_and(|value| value == "1"))
}

/// Puts a session away or brings it back.
pub fn set_archived(project: &Project, uid: &str, archived: bool) -> Result<(), StorageError> {
    project.set_meta(&archived_key(uid), if archived { "1" } else { "0" })
}

fn seen_key(edit: &EditKey, rater: &str) -> String {
    // The length tells where the edit's key ends, whatever is in it.
    format!("seen:{}:{edit}:{rater}", edit.0.len())
}

/// Models and scores of these edits were shown to the rater.
pub fn saw(project: &Project, rater: &str, edits: &[EditKey]) -> Result<(), StorageError> {
    edits.iter().try_for_each(|edit| project.set_meta(&seen_key(edit, rater), "1"))
}

/// Of `edits` those whose models or scores the rater was shown outside of the session `uid`: as noted, or as the answers to other sessions say.
pub fn seen<'a>(
    project: &Project,
    rater: &str,
    uid: &str,
    edits: impl Iterator<Item = &'a EditKey>,
) -> Result<HashSet<EditKey>, StorageError> {
    let others = project.judgements()?;
    let tell = others.iter().filter(|said| said.rater == rater && said.session != uid && (said.visible.models || said.visible.scores));
    let answered: HashSet<&EditKey> = tell.filter(|said| !said.role.is_check()).flat_map(|said| &said.shown).collect();
    let mut seen = HashSet::new();
    for edit in edits {
        if answered.contains(edit) || project.meta(&seen_key(edit, rater))?.is_some() {
            seen.insert(edit.clone());
        }
    }
    Ok(seen)
}
