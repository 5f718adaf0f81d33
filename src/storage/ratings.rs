//! Ratings: append-only, the newest of each rater counts.
//!
//! A rating without a time (most data sets give none) is older than any with a time; among equals the one added later is newer.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::Fault;
use super::items::{json, to_json};
use super::regions::item_of;
use super::{EditId, Project, StorageError, now_millis};
use crate::domain::{Criterion, Rating};

/// One rating of an edit's history.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRating {
    pub rating: Rating,
    /// When it came into this file; milliseconds since 1970, UTC.
    pub recorded_millis: i64,
    /// Whether it is its rater's newest.
    pub counts: bool,
}

const COLUMNS: &str = "rater, simulated, answers, comment, at_millis, context";

impl Project {
    /// Adds what a person says now. Without a time of its own, the rating gets the present one.
    ///
    /// # Errors
    /// When there is no such edit, the rater has no name, an answer is no number, or the file cannot be written.
    pub fn add_rating(&self, edit: EditId, rating: &Rating) -> Result<(), StorageError> {
        let rating = Rating { at_millis: rating.at_millis.or_else(|| Some(now_millis())), ..rating.clone() };
        self.write("saving a rating", |conn| {
            item_of(conn, edit)?;
            add(conn, edit, &rating)
        })
    }

    /// The rating that counts of each rater, by name.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn latest_ratings(&self, edit: EditId) -> Result<Vec<Rating>, StorageError> {
        self.read(READING, |conn| {
            let mut query =
                conn.prepare_cached(&format!("SELECT {COLUMNS} FROM ratings WHERE edit_id = ?1 AND newest = 1 ORDER BY rater"))?;
            let mut rows = query.query([edit])?;
            let mut ratings = Vec::new();
            while let Some(row) = rows.next()? {
                ratings.push(rating_of(row)?);
            }
            Ok(ratings)
        })
    }

    /// The ratings that count of all edits at once.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn all_latest_ratings(&self) -> Result<HashMap<EditId, Vec<Rating>>, StorageError> {
        self.read(READING, |conn| {
            let mut query = conn.prepare(&format!("SELECT {COLUMNS}, edit_id FROM ratings WHERE newest = 1 ORDER BY edit_id, rater"))?;
            let mut rows = query.query([])?;
            let mut ratings: HashMap<EditId, Vec<Rating>> = HashMap::new();
            while let Some(row) = rows.next()? {
                ratings.entry(row.get(6)?).or_default().push(rating_of(row)?);
            }
            Ok(ratings)
        })
    }

    /// Every rating of an edit, newest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn rating_history(&self, edit: EditId) -> Result<Vec<StoredRating>, StorageError> {
        self.read(READING, |conn| {
            let mut query = conn
                .prepare_cached(&format!("SELECT {COLUMNS}, recorded_millis, newest FROM ratings WHERE edit_id = ?1 ORDER BY id DESC"))?;
            let mut rows = query.query([edit])?;
            let mut ratings = Vec::new();
            while let Some(row) = rows.next()? {
                ratings.push(StoredRating { rating: rating_of(row)?, recorded_millis: row.get(6)?, counts: row.get(7)? });
            }
            Ok(ratings)
        })
    }

    /// Everyone who rated, by name, with whether it is a program.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn raters(&self) -> Result<Vec<(String, bool)>, StorageError> {
        self.read(READING, |conn| {
            let mut query = conn.prepare("SELECT rater, max(simulated) FROM ratings WHERE newest = 1 GROUP BY rater ORDER BY rater")?;
            Ok(query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
        })
    }
}

const READING: &str = "reading the ratings";

fn rating_of(row: &Row<'_>) -> Result<Rating, Fault> {
    Ok(Rating {
        rater: row.get(0)?,
        simulated: row.get(1)?,
        values: json("answers", row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?)?,
        comment: row.get(3)?,
        at_millis: row.get(4)?,
        context: row.get_ref(5)?.as_str_or_null().map_err(rusqlite::Error::from)?.map(|text| json("rating context", text)).transpose()?,
    })
}

/// Adds a rating and decides which of its rater's counts.
pub(super) fn add(conn: &Connection, edit: EditId, rating: &Rating) -> Result<(), Fault> {
    if rating.rater.trim().is_empty() {
        return Err(Fault::Invalid("a rating needs the name of its rater; set yours in the settings".into()));
    }
    if let Some((criterion, value)) = rating.values.iter().find(|(_, value)| !value.is_finite()) {
        return Err(Fault::Invalid(format!("the answer to '{criterion}' is {value}, not a number")));
    }
    let newest: Option<(i64, Option<i64>)> = conn
        .prepare_cached("SELECT id, at_millis FROM ratings WHERE edit_id = ?1 AND rater = ?2 AND newest = 1")?
        .query_row(params![edit, rating.rater], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    // None is less than any time.
    let counts = newest.is_none_or(|(_, at)| rating.at_millis >= at);
    if let (true, Some((id, _))) = (counts, newest) {
        conn.prepare_cached("UPDATE ratings SET newest = 0 WHERE id = ?1")?.execute([id])?;
    }
    conn.prepare_cached(
        "INSERT INTO ratings (edit_id, rater, simulated, answers, overall, comment, at_millis, recorded_millis, newest, context)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        edit,
        rating.rater,
        rating.simulated,
        to_json("answers", &rating.values)?,
        rating.values.get(Criterion::Overall.name()),
        rating.comment,
        rating.at_millis,
        now_millis(),
        counts,
        rating.context.as_ref().map(|context| to_json("rating context", context)).transpose()?
    ])?;
    Ok(())
}

/// Adds a rating unless the very same is there; whether it was added.
pub(super) fn import(conn: &Connection, edit: EditId, rating: &Rating) -> Result<bool, Fault> {
    let known = conn
        .prepare_cached(
            "SELECT 1 FROM ratings
             WHERE edit_id = ?1 AND rater = ?2 AND simulated = ?3 AND answers = ?4 AND comment = ?5 AND at_millis IS ?6",
        )?
        .query_row(
            params![edit, rating.rater, rating.simulated, to_json("answers", &rating.values)?, rating.comment, rating.at_millis],
            |_| Ok(()),
        )
        .optional()?;
    if known.is_some() {
        return Ok(false);
    }
    add(conn, edit, rating)?;
    Ok(true)
}
