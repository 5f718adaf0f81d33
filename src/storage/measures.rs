//! Baseline metrics, each beside the score whose region its zones are of.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Row, params};

use super::error::Fault;
use super::scores::{columns_of, outcome_of};
use super::{EditId, Project, RunId, StorageError};
use crate::domain::{Baselines, Outcome, Profile, Zoned};

const SAVING: &str = "saving the baselines";
const READING: &str = "reading the baselines";

const COLUMNS: &str = "scores.edit_id, baselines.name, whole, whole_why, inside, inside_why, outside, outside_why, note
    FROM baselines JOIN scores ON scores.id = baselines.score_id";

/// Whether a row of `scores` called `scored` has baselines.
const HAS_SOME: &str = "EXISTS (SELECT 1 FROM baselines AS known WHERE known.score_id = scored.id)";

impl Project {
    /// Keeps baselines of an edit beside its score in a run; those of the same names are replaced, others stay.
    ///
    /// # Errors
    /// When the edit has no score in the run, or the file cannot be written.
    pub fn put_baselines(&self, run: RunId, edit: EditId, baselines: &Baselines) -> Result<(), StorageError> {
        self.write(SAVING, |conn| {
            let score: Option<i64> = conn
                .prepare_cached("SELECT id FROM scores WHERE run_id = ?1 AND edit_id = ?2 AND failure IS NULL")?
                .query_row([run.0, edit.0], |row| row.get(0))
                .optional()?;
            let score = score.ok_or(Fault::NoSuch("score of edit", edit.0))?;
            let mut insert = conn.prepare_cached(
                "INSERT OR REPLACE INTO baselines (score_id, name, whole, whole_why, inside, inside_why, outside, outside_why, note)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?;
            for (name, zoned) in baselines {
                let [whole, inside, outside] = [&zoned.whole, &zoned.inside, &zoned.outside].map(columns_of);
                insert.execute(params![score, name, whole.0, whole.1, inside.0, inside.1, outside.0, outside.1, zoned.note])?;
            }
            Ok(())
        })
    }

    /// The run that made the newest score of an edit under a profile, and the baselines beside that very score; `None` without a score.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn newest_baselines(&self, edit: EditId, profile: Profile) -> Result<Option<(RunId, Baselines)>, StorageError> {
        self.read(READING, |conn| {
            let newest: Option<(i64, RunId)> = conn
                .prepare_cached(
                    "SELECT id, run_id FROM scores WHERE edit_id = ?1 AND profile = ?2 AND failure IS NULL ORDER BY id DESC LIMIT 1",
                )?
                .query_row(params![edit, profile.name()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((score, run)) = newest else { return Ok(None) };
            let mut query = conn.prepare_cached(&format!("SELECT {COLUMNS} WHERE scores.id = ?1"))?;
            Ok(Some((run, collected(&mut query.query([score])?)?.remove(&edit).unwrap_or_default())))
        })
    }

    /// The baselines beside the newest score under a profile that has some, of every edit that has such a score.
    ///
    /// After a correction without baselines these are the ones of the score before it: the whole picture's are the same, the zones' are
    /// those of the older region.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn all_latest_baselines(&self, profile: Profile) -> Result<BTreeMap<EditId, Baselines>, StorageError> {
        self.read(READING, |conn| {
            let mut query = conn.prepare(&format!(
                "SELECT {COLUMNS} WHERE scores.id IN
                     (SELECT max(scored.id) FROM scores AS scored WHERE scored.profile = ?1 AND {HAS_SOME} GROUP BY scored.edit_id)"
            ))?;
            collected(&mut query.query([profile.name()])?)
        })
    }

    /// The same of one edit; empty when none were computed.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn latest_baselines(&self, edit: EditId, profile: Profile) -> Result<Baselines, StorageError> {
        self.read(READING, |conn| {
            let mut query = conn.prepare_cached(&format!(
                "SELECT {COLUMNS} WHERE scores.id =
                     (SELECT max(scored.id) FROM scores AS scored WHERE scored.edit_id = ?1 AND scored.profile = ?2 AND {HAS_SOME})"
            ))?;
            Ok(collected(&mut query.query(params![edit, profile.name()])?)?.remove(&edit).unwrap_or_default())
        })
    }
}

fn collected(rows: &mut rusqlite::Rows<'_>) -> Result<BTreeMap<EditId, Baselines>, Fault> {
    let mut found: BTreeMap<EditId, Baselines> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        found.entry(row.get(0)?).or_default().insert(row.get(1)?, zoned_of(row)?);
    }
    Ok(found)
}

fn zoned_of(row: &Row<'_>) -> Result<Zoned, Fault> {
    let zone = |at| -> Result<Outcome<f64>, Fault> {
        outcome_of(row, at)?.ok_or_else(|| Fault::Invalid("a baseline has neither a value nor a reason".to_owned()))
    };
    Ok(Zoned { whole: zone(2)?, inside: zone(4)?, outside: zone(6)?, note: row.get(8)? })
}
