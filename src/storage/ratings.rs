//! Ratings: append-only; of each rater, criterion and scale the newest answer counts (`answers`).

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};

use super::error::Fault;
use super::items::{json, to_json};
use super::regions::item_of;
use super::{EditId, Project, StorageError, answers, now_millis};
use crate::domain::{Criterion, LARGEST_ANSWER, Rating, is_answer, names_alike, rater_name};

/// One rating of an edit's history.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRating {
    pub rating: Rating,
    /// When it came into this file; milliseconds since 1970, UTC.
    pub recorded_millis: i64,
    /// Whether one of its answers counts, or is what took an earlier answer back.
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

    /// The answers that count, by rater, of one rater the newest rating last: every rating that has some, with nothing but these (and what could not be judged) under the
    /// names of their criteria (`overall (1 to 7)` where most were asked on another scale, see [`crate::domain::criterion_names`]). Ratings
    /// that take earlier answers back or say only a comment have none.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn latest_ratings(&self, edit: EditId) -> Result<Vec<Rating>, StorageError> {
        self.read(READING, |conn| Ok(latest(conn, Some(edit))?.remove(&edit).unwrap_or_default()))
    }

    /// [`Self::latest_ratings`] of all edits at once.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn all_latest_ratings(&self) -> Result<HashMap<EditId, Vec<Rating>>, StorageError> {
        self.read(READING, |conn| latest(conn, None))
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

    /// Raters, of ratings and of votes from tables, whose names differ only in case or form: a question for each, in one sentence.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn raters_alike(&self) -> Result<Vec<String>, StorageError> {
        self.read(READING, |conn| {
            let mut query = conn
                .prepare("SELECT rater FROM ratings WHERE newest = 1 UNION SELECT rater FROM votes UNION SELECT rater FROM judgements")?;
            let names: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let alike = names_alike(names.iter().map(String::as_str));
            Ok(alike
                .iter()
                .map(|names| format!("are the raters {} one person? They count as {}", names.join(" and "), names.len()))
                .collect())
        })
    }
}

const READING: &str = "reading the ratings";

fn latest(conn: &Connection, edit: Option<EditId>) -> Result<HashMap<EditId, Vec<Rating>>, Fault> {
    // Answers and ratings as of one moment, whoever writes meanwhile.
    let conn = &conn.unchecked_transaction()?;
    let mut counted = answers::by_rating(conn, edit)?;
    let filter = if edit.is_some() { "AND edit_id = ?1" } else { "" };
    let mut query = conn.prepare_cached(&format!(
        "SELECT rater, simulated, '{{}}', comment, at_millis, context, edit_id, id FROM ratings
         WHERE newest = 1 {filter} ORDER BY edit_id, rater, at_millis IS NOT NULL, at_millis, id"
    ))?;
    let mut rows = query.query(rusqlite::params_from_iter(edit))?;
    let mut ratings: HashMap<EditId, Vec<Rating>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let counted = counted.remove(&row.get::<_, i64>(7)?).unwrap_or_default();
        let mut rating = Rating { values: counted.values, ..rating_of(row)? };
        if let Some(context) = &mut rating.context {
            context.cannot_judge.retain(|criterion| counted.taken_back.contains(criterion));
        }
        ratings.entry(row.get(6)?).or_default().push(rating);
    }
    Ok(ratings)
}

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

/// Adds a rating and finds out what counts of its rater.
pub(super) fn add(conn: &Connection, edit: EditId, rating: &Rating) -> Result<(), Fault> {
    check(rating)?;
    insert(conn, edit, rating, false)?;
    answers::recount(conn, edit, &rater_name(&rating.rater))
}

/// Whether a rating can be kept.
pub(super) fn check(rating: &Rating) -> Result<(), Fault> {
    if rating.rater.trim().is_empty() {
        return Err(Fault::Invalid("a rating needs the name of its rater; set yours in the settings".into()));
    }
    match rating.values.iter().find(|(_, value)| !is_answer(**value)) {
        Some((criterion, value)) if value.is_finite() => {
            Err(Fault::Invalid(format!("the answer {value:e} to '{criterion}' is beyond ±{LARGEST_ANSWER:e}, which no scale needs")))
        }
        Some((criterion, value)) => Err(Fault::Invalid(format!("the answer to '{criterion}' is {value}, not a number"))),
        None => Ok(()),
    }
}

/// Adds the row; its id. `counts`: something of it counts.
pub(super) fn insert(conn: &Connection, edit: EditId, rating: &Rating, counts: bool) -> Result<i64, Fault> {
    conn.prepare_cached(
        "INSERT INTO ratings (edit_id, rater, simulated, answers, overall, comment, at_millis, recorded_millis, newest, context)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        edit,
        rater_name(&rating.rater),
        rating.simulated,
        to_json("answers", &rating.values)?,
        rating.values.get(Criterion::Overall.name()),
        rating.comment,
        rating.at_millis,
        now_millis(),
        counts,
        rating.context.as_ref().map(|context| to_json("rating context", context)).transpose()?
    ])?;
    Ok(conn.last_insert_rowid())
}
