//! Rating sessions and what raters said in them: an append-only log, one transaction for each answer set.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::error::Fault;
use super::items::{json, to_json};
use super::{EditId, ItemId, Project, StorageError, ratings};
use crate::domain::{Answer, EditKey, ItemKey, Judgement, Rating, RatingContext, SessionSetup, TaskRole};

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
            conn.prepare_cached("INSERT INTO rating_sessions (uid, setup) VALUES (?1, ?2) ON CONFLICT (uid) DO NOTHING")?
                .execute(params![uid, to_json("session setup", setup)?])?;
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
    /// the edit too; both are there, or neither. "Can't judge" after such an answer takes its values back by a rating without any.
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

/// The rating that takes the answers of an earlier one back: the rater has looked again and says that the edit cannot be judged. `None`
/// when there is nothing to take back.
fn withdrawal(conn: &Connection, edit: EditId, judgement: &Judgement) -> Result<Option<Rating>, Fault> {
    if judgement.answer != Answer::CannotJudge || judgement.role != TaskRole::Plain || judgement.rubric.is_none() {
        return Ok(None);
    }
    let answers: Option<String> = conn
        .prepare_cached("SELECT answers FROM ratings WHERE edit_id = ?1 AND rater = ?2 AND newest = 1")?
        .query_row(params![edit, judgement.rater], |row| row.get(0))
        .optional()?;
    let Some(answers) = answers else { return Ok(None) };
    let answers: BTreeMap<String, f64> = json("answers", &answers)?;
    Ok((!answers.is_empty()).then(|| rating(judgement, BTreeMap::new(), answers.into_keys().collect())))
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
        judgement.rater,
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
