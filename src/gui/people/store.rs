//! The project's side of rating sessions: runs on the project's thread.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::live::live_agreement;
use super::notes;
use super::results::{SessionResults, results};
use super::{LiveAgreement, OpenedSession, PeopleEvent, PeopleRequest, SessionLine};
use crate::domain::{EditKey, Judgement, SessionEdit, SessionSetup};
use crate::editor::{RowId, SessionRun};
use crate::storage::{Project, StorageError};

/// Answers a request; errors are sentences for the person.
pub fn answer(project: Result<&Project, String>, request: PeopleRequest) -> PeopleEvent {
    match request {
        PeopleRequest::List { rater, before } => {
            PeopleEvent::Listed(project.and_then(|project| list(project, &rater, &before).map_err(said)))
        }
        PeopleRequest::Create { setup, rows } => {
            PeopleEvent::Created(project.and_then(|project| create(project, setup, &rows).map_err(said)))
        }
        PeopleRequest::Open { uid, rater } => PeopleEvent::Opened(project.and_then(|project| begin(project, &uid, &rater)).map(Box::new)),
        PeopleRequest::Saw { rater, edits } => {
            PeopleEvent::Noted(project.and_then(|project| notes::saw(project, &rater, &edits).map_err(said)))
        }
        PeopleRequest::Archive { uid, archived, raters, at_millis } => {
            PeopleEvent::Noted(project.and_then(|project| archive(project, &uid, archived, &raters, at_millis)))
        }
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

fn list(project: &Project, rater: &str, before: &[String]) -> Result<Vec<SessionLine>, StorageError> {
    let rows = rows_of(project)?;
    let mut lines = Vec::new();
    for session in project.sessions()? {
        let log = project.session_log(&session.uid)?;
        let setup = Arc::new(session.setup);
        let run_of = |rater: &str| SessionRun::resume(Arc::clone(&setup), rater, &log, |edit| rows.contains_key(edit));
        let has_begun = |run: &SessionRun| -> Result<bool, StorageError> {
            Ok(run.has_begun() || run.is_blind() && notes::has_begun(project, &session.uid, run.rater())?)
        };
        let mut hidden_for = Vec::new();
        for run in before.iter().map(|name| run_of(name)).filter(|run| run.is_blind() && run.task().is_some()) {
            if has_begun(&run)? {
                hidden_for.push(run.rater().to_owned());
            }
        }
        let run = run_of(rater);
        let begun = has_begun(&run)?;
        let raters: BTreeSet<String> = log.iter().filter(|said| said.answer.is_answer()).map(|said| said.rater.clone()).collect();
        lines.push(SessionLine {
            archived: notes::is_archived(project, &session.uid)?,
            hidden_for,
            progress: run.progress(),
            begun,
            blind: run.is_blind(),
            raters: raters.into_iter().collect(),
            uid: session.uid,
            setup,
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
    Ok(OpenedSession { setup: Arc::new(session.setup), log, rows: rows_of(project).map_err(said)?, seen: HashSet::new() })
}

/// Opens a session for a rater: with what that rater has seen of its edits elsewhere, and with a note that a blind one is begun.
fn begin(project: &Project, uid: &str, rater: &str) -> Result<OpenedSession, String> {
    let mut opened = open(project, uid)?;
    let run = SessionRun::resume(Arc::clone(&opened.setup), rater, &opened.log, |edit| opened.rows.contains_key(edit));
    if run.is_blind() && run.task().is_some() {
        opened.seen = notes::seen(project, rater, uid, opened.setup.edits.iter().map(|edit| &edit.edit)).map_err(said)?;
        notes::begin(project, uid, rater).map_err(said)?;
    }
    Ok(opened)
}

fn archive(project: &Project, uid: &str, archived: bool, raters: &[String], at_millis: i64) -> Result<(), String> {
    let opened = open(project, uid)?;
    for rater in raters.iter().filter(|_| archived) {
        let mut run = SessionRun::resume(Arc::clone(&opened.setup), rater, &opened.log, |edit| opened.rows.contains_key(edit));
        let begun = run.has_begun() || notes::has_begun(project, uid, rater).map_err(said)?;
        // What the session hid is in sight from now on: its log has to say so, for the case that it is gone on with.
        if begun
            && run.is_blind()
            && run.task().is_some()
            && let Some(judgement) = run.unblind(at_millis)
        {
            project.add_judgement(&judgement).map_err(said)?;
        }
    }
    notes::set_archived(project, uid, archived).map_err(said)
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
