//! Runs: one scoring of a set, with everything that its numbers depend on.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::error::Fault;
use super::items::{json, to_json};
use super::{EditId, Project, RunId, StorageError, now_millis};
use crate::domain::{Profile, Range};

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RunKind {
    /// A set of edits is scored.
    #[default]
    Set,
    /// A person's correction of one edit is scored at once, beside the automatic score.
    Correction,
}

impl RunKind {
    /// The word in the project file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Correction => "correction",
        }
    }
}

/// A run that is about to begin.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    pub kind: RunKind,
    pub profile: Profile,
    /// Which checkpoints, as people name them ("demo").
    pub models: String,
    /// A hash of the checkpoints' contents: scores of different ones are never mixed.
    pub models_fingerprint: String,
    /// Where it runs, in words.
    pub device: String,
    /// Thresholds and whatever else changes numbers.
    pub settings: Value,
    /// The range that was chosen; `None` when it is fitted on the run itself.
    pub range: Option<Range>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    Done,
    Cancelled,
    Failed(String),
}

/// A run of the project's history.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    pub about: NewRun,
    pub started_millis: i64,
    pub finished_millis: Option<i64>,
    /// `None` while it runs, or when the program was killed.
    pub end: Option<RunEnd>,
    pub scored: usize,
    pub failed: usize,
}

const SETUP: &str = "kind, profile, models, models_fingerprint, device, settings, range";
const COLUMNS: &str = "id, started_millis, finished_millis, end,
    (SELECT count(*) FROM scores WHERE run_id = runs.id AND failure IS NULL),
    (SELECT count(*) FROM scores WHERE run_id = runs.id AND failure IS NOT NULL)";

impl Project {
    /// Begins a run.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn start_run(&self, run: &NewRun) -> Result<RunId, StorageError> {
        self.write("starting a run", |conn| {
            conn.execute(
                "INSERT INTO runs (kind, profile, models, models_fingerprint, device, settings, range, started_millis)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    run.kind.name(),
                    run.profile.name(),
                    run.models,
                    run.models_fingerprint,
                    run.device,
                    to_json("settings", &run.settings)?,
                    run.range.as_ref().map(|range| to_json("range", range)).transpose()?,
                    now_millis()
                ],
            )?;
            Ok(RunId(conn.last_insert_rowid()))
        })
    }

    /// The newest run like `run` (same kind, profile, checkpoints and settings; the device may differ) that is not done, to be
    /// gone on with. See [`Self::scored_in_run`].
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn unfinished_run(&self, run: &NewRun) -> Result<Option<RunId>, StorageError> {
        self.read("looking for an unfinished run", |conn| {
            Ok(conn
                .query_row(
                    "SELECT id FROM runs WHERE kind = ?1 AND profile = ?2 AND models_fingerprint = ?3 AND settings = ?4
                     AND (end IS NULL OR end <> 'done') ORDER BY id DESC LIMIT 1",
                    params![run.kind.name(), run.profile.name(), run.models_fingerprint, to_json("settings", &run.settings)?],
                    |row| row.get(0),
                )
                .optional()?)
        })
    }

    /// Ends a run. Ending it again replaces the end.
    ///
    /// # Errors
    /// When there is no such run, or the file cannot be written.
    pub fn finish_run(&self, run: RunId, end: &RunEnd) -> Result<(), StorageError> {
        self.write("finishing a run", |conn| {
            let text = match end {
                RunEnd::Done => "done".to_owned(),
                RunEnd::Cancelled => "cancelled".to_owned(),
                RunEnd::Failed(why) => format!("failed: {why}"),
            };
            let rows = conn.execute("UPDATE runs SET end = ?2, finished_millis = ?3 WHERE id = ?1", params![run, text, now_millis()])?;
            if rows == 0 { Err(Fault::NoSuch("run", run.0)) } else { Ok(()) }
        })
    }

    /// Every run, newest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>, StorageError> {
        self.read(READING, |conn| runs_where(conn, "ORDER BY id DESC", None))
    }

    /// One run.
    ///
    /// # Errors
    /// When there is no such run, or the file cannot be read.
    pub fn run(&self, id: RunId) -> Result<Run, StorageError> {
        self.read(READING, |conn| runs_where(conn, "WHERE id = ?1", Some(id))?.pop().ok_or(Fault::NoSuch("run", id.0)))
    }

    /// How a run was begun: the same as [`Self::run`] tells, without counting its scores, which takes long in a large project.
    ///
    /// # Errors
    /// When there is no such run, or the file cannot be read.
    pub fn run_setup(&self, id: RunId) -> Result<NewRun, StorageError> {
        self.read(READING, |conn| {
            let mut query = conn.prepare_cached(&format!("SELECT {SETUP} FROM runs WHERE id = ?1"))?;
            let mut rows = query.query([id])?;
            rows.next()?.map(setup_of).transpose()?.ok_or(Fault::NoSuch("run", id.0))
        })
    }

    /// The edits that need not be scored again when a run is gone on with: scored, not failed, not stale, and not scored by another run of
    /// its kind since, whose score would count instead.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn scored_in_run(&self, run: RunId) -> Result<HashSet<EditId>, StorageError> {
        self.read(READING, |conn| {
            let mut query = conn.prepare_cached(
                "SELECT edit_id FROM scores s WHERE run_id = ?1 AND failure IS NULL AND stale = 0 AND NOT EXISTS (
                     SELECT 1 FROM scores later JOIN runs ON runs.id = later.run_id
                     WHERE later.edit_id = s.edit_id AND later.profile = s.profile AND later.id > s.id
                     AND runs.kind = (SELECT kind FROM runs WHERE id = ?1))",
            )?;
            Ok(query.query_map([run], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }
}

const READING: &str = "reading the runs";

fn runs_where(conn: &Connection, filter: &str, id: Option<RunId>) -> Result<Vec<Run>, Fault> {
    let mut query = conn.prepare(&format!("SELECT {SETUP}, {COLUMNS} FROM runs {filter}"))?;
    let mut rows = query.query(rusqlite::params_from_iter(id))?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        runs.push(run_of(row)?);
    }
    Ok(runs)
}

/// The first columns of a row.
fn setup_of(row: &Row<'_>) -> Result<NewRun, Fault> {
    let kind = if row.get::<_, String>(0)? == RunKind::Correction.name() { RunKind::Correction } else { RunKind::Set };
    let range: Option<String> = row.get(6)?;
    Ok(NewRun {
        kind,
        profile: row.get::<_, String>(1)?.parse().map_err(Fault::Invalid)?,
        models: row.get(2)?,
        models_fingerprint: row.get(3)?,
        device: row.get(4)?,
        settings: json("settings", &row.get::<_, String>(5)?)?,
        range: range.map(|text| json("range", &text)).transpose()?,
    })
}

fn run_of(row: &Row<'_>) -> Result<Run, Fault> {
    let end = row.get::<_, Option<String>>(10)?.map(|text| match text.as_str() {
        "done" => RunEnd::Done,
        "cancelled" => RunEnd::Cancelled,
        other => RunEnd::Failed(other.strip_prefix("failed: ").unwrap_or(other).to_owned()),
    });
    Ok(Run {
        about: setup_of(row)?,
        id: row.get(7)?,
        started_millis: row.get(8)?,
        finished_millis: row.get(9)?,
        end,
        scored: row.get::<_, i64>(11)?.unsigned_abs() as usize,
        failed: row.get::<_, i64>(12)?.unsigned_abs() as usize,
    })
}
