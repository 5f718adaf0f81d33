//! Rating sessions and what raters said in them: an append-only log, one transaction for each answer set.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::error::Fault;
use super::items::{json, to_json};
use super::{EditId, ItemId, Project, StorageError, answers, ratings};
use crate::domain::{Answer, Asked, EditKey, ItemKey, Judgement, Rating, RatingContext, SessionSetup, TaskRole, rater_name, unknown_scale};

/// A session of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSession {
    /// [`SessionSetup::uid`].
    pub uid: String,
    pub setup: SessionSetup,
}

impl Project {
    /// Keeps a session's setup and returns its uid; one that is there already stays as it is.
    ///
    /// # Errors
    /// When the setup has problems ([`SessionSetup::problems`]), or the file cannot be written.
    pub fn add_session(&self, setup: &SessionSetup) -> Result<String, StorageError> {
        self.write("saving a rating session", |conn| {
            let problems = setup.problems();
            if !problems.is_empty() {
                return Err(Fault::Invalid(problems.join("; ")));
            }
            let uid = setup.uid();
            keep(conn, &uid, setup)?;
            Ok(uid)
        })
    }

    /// Every session, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn sessions(&self) -> Result<Vec<StoredSession>, StorageError> {
        self.read("reading the rating sessions", |conn| {
            let mut query = conn.prepare("SELECT uid, setup FROM rating_sessions ORDER BY id")?;
            let mut rows = query.query([])?;
            let mut sessions = Vec::new();
            while let Some(row) = rows.next()? {
                sessions.push(StoredSession { uid: row.get(0)?, setup: json("session setup", &row.get::<_, String>(1)?)? });
            }
            Ok(sessions)
        })
    }

    /// Adds what a rater said about a task. A rubric answer about an edit (no repeat, no check) becomes that rater's rating of
    /// the edit too; both are there, or neither. "Can't judge" after such an answer takes back what was answered to the questions of this
    /// rubric, by a rating without values; answers to other rubrics stay.
    ///
    /// # Errors
    /// When there is no such session, item or edit, the rater has no name, or the file cannot be written.
    pub fn add_judgement(&self, judgement: &Judgement) -> Result<(), StorageError> {
        self.write("saving an answer", |conn| {
            let edits = add(conn, judgement)?;
            if let [edit] = edits[..] {
                let rating = match rating_of(judgement) {
                    None => withdrawal(conn, edit, judgement)?,
                    rating => rating,
                };
                rating.map_or(Ok(()), |rating| ratings::add(conn, edit, &rating))?;
            }
            Ok(())
        })
    }

    /// What was said in one session by all raters, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn session_log(&self, uid: &str) -> Result<Vec<Judgement>, StorageError> {
        self.read(READING, |conn| judgements_where(conn, "WHERE rating_sessions.uid = ?1", Some(&uid)))
    }

    /// Everything that was said in sessions, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn judgements(&self) -> Result<Vec<Judgement>, StorageError> {
        self.read(READING, |conn| judgements_where(conn, "", None))
    }
}

const READING: &str = "reading what raters said";

/// The rating that a judgement makes, if it makes one.
fn rating_of(judgement: &Judgement) -> Option<Rating> {
    let Answer::Rubric { values, cannot_judge } = &judgement.answer else { return None };
    if judgement.role != TaskRole::Plain {
        return None;
    }
    Some(rating(judgement, values.clone(), cannot_judge.clone()))
}

fn rating(judgement: &Judgement, values: BTreeMap<String, f64>, cannot_judge: Vec<String>) -> Rating {
    Rating {
        comment: judgement.comment.clone(),
        at_millis: Some(judgement.at_millis),
        context: Some(RatingContext::of_judgement(judgement, cannot_judge)),
        ..Rating::new(&*judgement.rater, values)
    }
}

/// The rating that takes earlier answers to the questions of its rubric back: the rater has looked again and says that the edit cannot be
/// judged. `None` when there is nothing to take back.
fn withdrawal(conn: &Connection, edit: EditId, judgement: &Judgement) -> Result<Option<Rating>, Fault> {
    let Some(id) = judgement.rubric.as_ref().filter(|_| judgement.answer == Answer::CannotJudge && judgement.role == TaskRole::Plain)
    else {
        return Ok(None);
    };
    let mut rubrics = answers::Rubrics::of(conn);
    let rubric = rubrics.get(id)?;
    let is_asked = |asked: &Asked| match rubric.map(|rubric| rubric.question(&asked.criterion)) {
        Some(question) => question.is_some_and(|question| question.scale_words() == asked.scale),
        None => asked.scale == unknown_scale(id),
    };
    let mut query = conn.prepare_cached("SELECT criterion, scale FROM answers WHERE edit_id = ?1 AND rater = ?2 AND value IS NOT NULL")?;
    let known =
        query.query_map(params![edit, rater_name(&judgement.rater)], |row| Ok(Asked { criterion: row.get(0)?, scale: row.get(1)? }))?;
    let known: Vec<Asked> = known.collect::<Result<_, _>>()?;
    let taken_back: Vec<String> = known.into_iter().filter(is_asked).map(|asked| asked.criterion).collect();
    Ok((!taken_back.is_empty()).then(|| rating(judgement, BTreeMap::new(), taken_back)))
}

/// Keeps a setup, with its rubric; whether it is new.
pub(super) fn keep(conn: &Connection, uid: &str, setup: &SessionSetup) -> Result<bool, Fault> {
    let rows = conn
        .prepare_cached("INSERT INTO rating_sessions (uid, setup) VALUES (?1, ?2) ON CONFLICT (uid) DO NOTHING")?
        .execute(params![uid, to_json("session setup", setup)?])?;
    if let Some(rubric) = setup.protocol.rubric() {
        answers::keep_rubric(conn, rubric)?;
    }
    Ok(rows > 0)
}

/// Adds the row and its edits, which it returns by id.
pub(super) fn add(conn: &Connection, judgement: &Judgement) -> Result<Vec<EditId>, Fault> {
    if judgement.rater.trim().is_empty() {
        return Err(Fault::Invalid("an answer needs the name of its rater".into()));
    }
    if !judgement.seconds.is_finite() {
        return Err(Fault::Invalid(format!("an answer cannot have taken {} seconds", judgement.seconds)));
    }
    let unknown = |what: &str, name: &str| Fault::Invalid(format!("this project has no {what} '{name}'"));
    let session: i64 = conn
        .prepare_cached("SELECT id FROM rating_sessions WHERE uid = ?1")?
        .query_row([&judgement.session], |row| row.get(0))
        .optional()?
        .ok_or_else(|| unknown("session", &judgement.session))?;
    let item: ItemId = conn
        .prepare_cached("SELECT id FROM items WHERE key = ?1")?
        .query_row([&judgement.item.0], |row| row.get(0))
        .optional()?
        .ok_or_else(|| unknown("item", &judgement.item.0))?;
    conn.prepare_cached(
        "INSERT INTO judgements (session_id, rater, item_id, task, role, answer, comment, place, seconds, at_millis, visible, rubric)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        session,
        rater_name(&judgement.rater),
        item,
        judgement.task,
        to_json("task role", &judgement.role)?.trim_matches('"'),
        to_json("answer", &judgement.answer)?,
        judgement.comment,
        judgement.place,
        judgement.seconds,
        judgement.at_millis,
        to_json("visible", &judgement.visible)?,
        judgement.rubric.as_ref().map(|rubric| to_json("rubric", rubric)).transpose()?
    ])?;
    let id = conn.last_insert_rowid();
    let mut edits = Vec::with_capacity(judgement.shown.len());
    for (place, key) in judgement.shown.iter().enumerate() {
        let edit: EditId = conn
            .prepare_cached("SELECT id FROM edits WHERE key = ?1")?
            .query_row([&key.0], |row| row.get(0))
            .optional()?
            .ok_or_else(|| unknown("edit", &key.0))?;
        conn.prepare_cached("INSERT INTO judgement_edits (judgement_id, place, edit_id) VALUES (?1, ?2, ?3)")?.execute(params![
            id,
            place as i64,
            edit
        ])?;
        edits.push(edit);
    }
    Ok(edits)
}

/// The judgements that `filter` lets through, oldest first; `wanted` is its parameter 1.
pub(super) fn judgements_where(conn: &Connection, filter: &str, wanted: Option<&dyn ToSql>) -> Result<Vec<Judgement>, Fault> {
    let mut query = conn.prepare_cached(&format!(
        "SELECT rating_sessions.uid, rater, items.key, task, role, answer, comment, place, seconds, at_millis, visible, rubric, judgements.id
         FROM judgements JOIN rating_sessions ON rating_sessions.id = session_id JOIN items ON items.id = item_id
         {filter} ORDER BY judgements.id"
    ))?;
    let mut shown = conn
        .prepare_cached("SELECT edits.key FROM judgement_edits JOIN edits ON edits.id = edit_id WHERE judgement_id = ?1 ORDER BY place")?;
    let mut rows = query.query(rusqlite::params_from_iter(wanted))?;
    let mut judgements = Vec::new();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(12)?;
        let shown = shown.query_map([id], |row| row.get(0).map(EditKey))?.collect::<Result<_, _>>()?;
        judgements.push(judgement_of(row, shown)?);
    }
    Ok(judgements)
}

fn judgement_of(row: &Row<'_>, shown: Vec<EditKey>) -> Result<Judgement, Fault> {
    let text = |column: usize| -> Result<String, rusqlite::Error> { row.get(column) };
    Ok(Judgement {
        session: text(0)?,
        rater: text(1)?,
        item: ItemKey(text(2)?),
        shown,
        task: text(3)?,
        role: json("task role", &format!("\"{}\"", text(4)?))?,
        answer: json("answer", &text(5)?)?,
        comment: text(6)?,
        place: row.get(7)?,
        seconds: row.get(8)?,
        at_millis: row.get(9)?,
        visible: json("visible", &text(10)?)?,
        rubric: row.get::<_, Option<String>>(11)?.map(|text| json("rubric", &text)).transpose()?,
    })
}
