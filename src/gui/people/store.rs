//! The project's side of rating sessions: runs on the project's thread.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::live::live_agreement;
use super::results::{SessionResults, results};
use super::{LiveAgreement, OpenedSession, PeopleEvent, PeopleRequest, SessionLine};
use crate::domain::{EditKey, Judgement, SessionEdit, SessionSetup};
use crate::editor::{RowId, SessionRun};
use crate::storage::{Project, StorageError};

/// Answers a request; errors are sentences for the person.
pub fn answer(project: Result<&Project, String>, request: PeopleRequest) -> PeopleEvent {
    match request {
        PeopleRequest::List { rater } => PeopleEvent::Listed(project.and_then(|project| list(project, &rater).map_err(said))),
        PeopleRequest::Create { setup, rows } => {
            PeopleEvent::Created(project.and_then(|project| create(project, setup, &rows).map_err(said)))
        }
        PeopleRequest::Open { uid } => PeopleEvent::Opened(project.and_then(|project| open(project, &uid)).map(Box::new)),
        PeopleRequest::Results { uid } => {
            let result = project.and_then(|project| sum_up(project, &uid)).map(Box::new);
            PeopleEvent::SummedUp { uid, result }
        }
        PeopleRequest::Keep { judgement, live } => {
            let result = project.and_then(|project| keep(project, &judgement, live));
            PeopleEvent::Kept { judgement, result }
        }
    }
}

fn said(error: StorageError) -> String {
    error.to_string()
}

fn list(project: &Project, rater: &str) -> Result<Vec<SessionLine>, StorageError> {
    let rows = rows_of(project)?;
    let mut lines = Vec::new();
    for session in project.sessions()? {
        let log = project.session_log(&session.uid)?;
        let setup = Arc::new(session.setup);
        let run = SessionRun::resume(Arc::clone(&setup), rater, &log, |edit| rows.contains_key(edit));
        let raters: BTreeSet<String> = log.into_iter().filter(|said| said.answer.is_answer()).map(|said| said.rater).collect();
        lines.push(SessionLine {
            uid: session.uid,
            setup,
            progress: run.progress(),
            begun: run.has_begun(),
            blind: run.is_blind(),
            raters: raters.into_iter().collect(),
        });
    }
    Ok(lines)
}

fn rows_of(project: &Project) -> Result<HashMap<EditKey, RowId>, StorageError> {
    Ok(project.edits()?.into_iter().map(|edit| (edit.key, RowId(edit.id.0))).collect())
}

fn create(project: &Project, mut setup: SessionSetup, rows: &[RowId]) -> Result<String, StorageError> {
    let items: HashMap<_, _> = project.items()?.into_iter().map(|item| (item.id, item.key)).collect();
    let edits: HashMap<RowId, _> = project.edits()?.into_iter().map(|edit| (RowId(edit.id.0), edit)).collect();
    setup.edits = rows
        .iter()
        .filter_map(|row| {
            let edit = edits.get(row)?;
            Some(SessionEdit { item: items.get(&edit.item)?.clone(), edit: edit.key.clone() })
        })
        .collect();
    project.add_session(&setup)
}

fn open(project: &Project, uid: &str) -> Result<OpenedSession, String> {
    let sessions = project.sessions().map_err(said)?;
    let session = sessions.into_iter().find(|session| session.uid == uid).ok_or("this session is no longer in the project")?;
    let log = project.session_log(uid).map_err(said)?;
    Ok(OpenedSession { setup: Arc::new(session.setup), log, rows: rows_of(project).map_err(said)? })
}

fn sum_up(project: &Project, uid: &str) -> Result<SessionResults, String> {
    let session = open(project, uid)?;
    let models = project.edits().map_err(said)?.into_iter().map(|edit| (edit.key, edit.model)).collect();
    Ok(results(&session.setup, &session.log, &session.rows, &models))
}

fn keep(project: &Project, judgement: &Judgement, live: bool) -> Result<Option<LiveAgreement>, String> {
    project.add_judgement(judgement).map_err(said)?;
    if !live {
        return Ok(None);
    }
    let session = open(project, &judgement.session)?;
    Ok(Some(live_agreement(&session.setup.protocol, &session.log)))
}
