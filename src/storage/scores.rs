//! Scores: the parts in narrow columns for the queue, the whole score with its trace as JSON beside them.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};

use super::error::Fault;
use super::items::{json, to_json};
use super::queue::flags_of;
use super::{EditId, Project, RunId, RunKind, StorageError, now_millis};
use crate::domain::{Outcome, Profile, Score};

/// A score of the project's history.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredScore {
    pub run: RunId,
    pub edit: EditId,
    pub score: Score,
    /// After normalisation with the run's range; `None` until the run has one.
    pub overall: Option<Outcome<f64>>,
    pub seconds: f64,
    pub at_millis: i64,
    /// The picture, instruction, parse or regions were changed since.
    pub stale: bool,
}

const COLUMNS: &str = "scores.run_id, scores.edit_id, scores.overall, scores.overall_why, scores.seconds, scores.at_millis, scores.stale,
    score_details.detail FROM scores JOIN score_details ON score_details.score_id = scores.id";

const SAVING: &str = "saving a score";
const READING: &str = "reading the scores";

impl Project {
    /// Keeps the score of an edit in a run; one that the run already has is replaced.
    ///
    /// # Errors
    /// When there is no such run or edit, a box is no box of numbers, or the file cannot be written.
    pub fn put_score(&self, run: RunId, edit: EditId, score: &Score, seconds: f64) -> Result<(), StorageError> {
        self.write(SAVING, |conn| {
            let score = storable(score)?;
            let parts = [&score.parts.size, &score.parts.position, &score.parts.modify, &score.parts.preserve].map(columns_of);
            let flags: Vec<&str> = flags_of(&score).into_iter().map(super::Flag::name).collect();
            replace(conn, run, edit)?;
            conn.prepare_cached(
                "INSERT INTO scores (run_id, edit_id, profile, at_millis, seconds, global, size, size_why, position, position_why,
                     modify, modify_why, preserve, preserve_why, flags)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                run,
                edit,
                score.profile.name(),
                now_millis(),
                seconds,
                score.global,
                parts[0].0,
                parts[0].1,
                parts[1].0,
                parts[1].1,
                parts[2].0,
                parts[2].1,
                parts[3].0,
                parts[3].1,
                flags.join(" ")
            ])?;
            let id = conn.last_insert_rowid();
            conn.prepare_cached("INSERT INTO score_details (score_id, detail) VALUES (?1, ?2)")?
                .execute(params![id, to_json("score", &score)?])?;
            Ok(())
        })
    }

    /// Keeps that an edit could not be scored at all in a run, and why.
    ///
    /// # Errors
    /// When there is no such run or edit, or the file cannot be written.
    pub fn put_failure(&self, run: RunId, edit: EditId, profile: Profile, why: &str) -> Result<(), StorageError> {
        self.write(SAVING, |conn| {
            replace(conn, run, edit)?;
            conn.prepare_cached(
                "INSERT INTO scores (run_id, edit_id, profile, at_millis, seconds, global, flags, failure) VALUES (?1, ?2, ?3, ?4, 0, 0, '', ?5)",
            )?
            .execute(params![run, edit, profile.name(), now_millis(), why])?;
            Ok(())
        })
    }

    /// Keeps the overall scores of a run, once its range is known.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_overalls(&self, run: RunId, overalls: &[(EditId, Outcome<f64>)]) -> Result<(), StorageError> {
        self.write("saving the overall scores", |conn| {
            let mut update = conn.prepare_cached("UPDATE scores SET overall = ?3, overall_why = ?4 WHERE run_id = ?1 AND edit_id = ?2")?;
            for (edit, overall) in overalls {
                let (value, why) = columns_of(overall);
                update.execute(params![run, edit, value, why])?;
            }
            Ok(())
        })
    }

    /// The newest score of an edit under a profile, of whatever run.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn latest_score(&self, edit: EditId, profile: Profile) -> Result<Option<StoredScore>, StorageError> {
        self.read(READING, |conn| {
            one(
                conn.prepare_cached(&format!(
                    "SELECT {COLUMNS} WHERE scores.edit_id = ?1 AND scores.profile = ?2 AND failure IS NULL ORDER BY scores.id DESC LIMIT 1"
                ))?,
                params![edit, profile.name()],
            )
        })
    }

    /// The newest score of an edit under a profile from runs of one kind: what the metric said by itself, or after correction.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn latest_score_of(&self, edit: EditId, profile: Profile, kind: RunKind) -> Result<Option<StoredScore>, StorageError> {
        self.read(READING, |conn| {
            one(
                conn.prepare_cached(&format!(
                    "SELECT {COLUMNS} JOIN runs ON runs.id = scores.run_id
                     WHERE scores.edit_id = ?1 AND scores.profile = ?2 AND failure IS NULL AND runs.kind = ?3
                     ORDER BY scores.id DESC LIMIT 1"
                ))?,
                params![edit, profile.name(), kind.name()],
            )
        })
    }

    /// Every score of a run, in the order of the edits.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn scores_of_run(&self, run: RunId) -> Result<Vec<StoredScore>, StorageError> {
        self.read(READING, |conn| {
            let mut query = conn.prepare(&format!("SELECT {COLUMNS} WHERE scores.run_id = ?1 ORDER BY scores.edit_id"))?;
            let mut rows = query.query([run])?;
            let mut scores = Vec::new();
            while let Some(row) = rows.next()? {
                scores.push(score_of(row)?);
            }
            Ok(scores)
        })
    }

    /// The score of one edit in a run, if it has one.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn score_in_run(&self, run: RunId, edit: EditId) -> Result<Option<StoredScore>, StorageError> {
        self.read(READING, |conn| {
            one(conn.prepare_cached(&format!("SELECT {COLUMNS} WHERE scores.run_id = ?1 AND scores.edit_id = ?2"))?, params![run, edit])
        })
    }

    /// The edits that could not be scored in a run, and why.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn failures_of_run(&self, run: RunId) -> Result<Vec<(EditId, String)>, StorageError> {
        self.read(READING, |conn| {
            let mut query =
                conn.prepare("SELECT edit_id, failure FROM scores WHERE run_id = ?1 AND failure IS NOT NULL ORDER BY edit_id")?;
            Ok(query.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
        })
    }
}

/// Removes the row that a new one takes the place of, after checking that both ends exist.
fn replace(conn: &Connection, run: RunId, edit: EditId) -> Result<(), Fault> {
    super::regions::item_of(conn, edit)?;
    let known = conn.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?.query_row([run], |_| Ok(())).optional()?;
    known.ok_or(Fault::NoSuch("run", run.0))?;
    conn.prepare_cached("DELETE FROM scores WHERE run_id = ?1 AND edit_id = ?2")?.execute(params![run, edit])?;
    Ok(())
}

fn one(mut query: CachedStatement<'_>, params: &[&dyn rusqlite::ToSql]) -> Result<Option<StoredScore>, Fault> {
    let mut rows = query.query(params)?;
    rows.next()?.map(score_of).transpose()
}

fn score_of(row: &Row<'_>) -> Result<StoredScore, Fault> {
    Ok(StoredScore {
        run: row.get(0)?,
        edit: row.get(1)?,
        overall: outcome_of(row, 2)?,
        seconds: row.get(4)?,
        at_millis: row.get(5)?,
        stale: row.get(6)?,
        score: json("score", row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?)?,
    })
}

/// A value and a why, as two columns.
pub(super) fn columns_of(outcome: &Outcome<f64>) -> (Option<f64>, Option<String>) {
    match outcome {
        Outcome::Value(value) if value.is_finite() => (Some(*value), None),
        Outcome::Value(value) => (None, Some(format!("failed:{}", not_finite(*value)))),
        Outcome::NotApplicable(why) => (None, Some(format!("na:{why}"))),
        Outcome::Failed(why) => (None, Some(format!("failed:{why}"))),
    }
}

/// The outcome in columns `at` and `at + 1`; `None` when both are empty.
pub(super) fn outcome_of(row: &Row<'_>, at: usize) -> Result<Option<Outcome<f64>>, Fault> {
    if let Some(value) = row.get::<_, Option<f64>>(at)? {
        return Ok(Some(Outcome::Value(value)));
    }
    let why = row.get_ref(at + 1)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    why.map(|why| match (why.strip_prefix("na:"), why.strip_prefix("failed:")) {
        (Some(why), _) => Ok(Outcome::NotApplicable(why.to_owned())),
        (_, Some(why)) => Ok(Outcome::Failed(why.to_owned())),
        _ => Err(Fault::Invalid(format!("a part has the reason '{why}', which this program does not write"))),
    })
    .transpose()
}

fn not_finite(value: f64) -> String {
    format!("the computation gave {value}, which is no number")
}

/// The score with everything that JSON cannot hold made plain: NaN is no value but a failure.
fn storable(score: &Score) -> Result<Score, Fault> {
    let mut score = score.clone();
    let parts = &mut score.parts;
    for part in [&mut parts.size, &mut parts.position, &mut parts.modify, &mut parts.preserve] {
        if let Outcome::Value(value) = part
            && !value.is_finite()
        {
            *part = Outcome::Failed(not_finite(*value));
        }
    }
    for step in &mut score.trace {
        step.numbers.retain(|_, number| number.is_finite());
    }
    let sides = [&score.boxes.source, &score.boxes.edit, &score.candidates.source, &score.candidates.edit];
    let broken = sides.into_iter().flatten().find(|found| {
        let rect = &found.rect_in_image;
        ![rect.x0, rect.y0, rect.x1, rect.y1, found.confidence].iter().all(|number| number.is_finite())
    });
    match broken {
        Some(found) => Err(Fault::Invalid(format!("the box for '{}' has an edge or confidence that is no number", found.phrase))),
        None => Ok(score),
    }
}
