//! Which answers count: of each rater, edit, criterion and scale the newest one. What a person said under one rubric stays until it is
//! corrected under that rubric or answered again on the same scale.
//!
//! The table `answers` follows from the ratings of an edit and a rater, whatever the order in which they came into the file: they are read
//! from the oldest to the newest (a rating without a time is older than any with one, among equals the one added later is newer).
//! * A value replaces what was answered to that criterion on that scale.
//! * "Can't judge" takes it back.
//! * A question that an answer set leaves open takes back what an earlier set of the same session (or outside of one) under the same version
//!   of the rubric answered to it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::Fault;
use super::items::json;
use super::{EditId, Project, StorageError};
use crate::domain::{Asked, Rating, Rubric, RubricId, criterion_names};

/// A rating on its way into the table.
pub(super) struct Said {
    pub id: i64,
    pub rating: Rating,
}

impl Said {
    /// The place among the ratings of one rater about one edit, from the oldest to the newest.
    const fn order(&self) -> (Option<i64>, i64) {
        (self.rating.at_millis, self.id)
    }
}

/// What counts of a rater for an edit, criterion and scale.
pub(super) struct Counting {
    pub rating: i64,
    /// `None` when it was taken back.
    pub value: Option<f64>,
    simulated: bool,
    /// The session and the version of the rubric under which it was said, as far as there are any.
    under: String,
}

/// Rubrics by version, read when they are first needed.
pub(super) struct Rubrics<'a> {
    conn: &'a Connection,
    known: HashMap<String, Option<Rubric>>,
}

impl<'a> Rubrics<'a> {
    pub fn of(conn: &'a Connection) -> Self {
        Self { conn, known: HashMap::new() }
    }

    /// The rubric of that version; `None` when this project has never seen its questions.
    pub fn get(&mut self, id: &RubricId) -> Result<Option<&Rubric>, Fault> {
        if let Some(preset) = Rubric::preset(&id.version) {
            return Ok(Some(preset));
        }
        if !self.known.contains_key(&id.version) {
            let text: Option<String> = self
                .conn
                .prepare_cached("SELECT rubric FROM rubrics WHERE version = ?1")?
                .query_row([&id.version], |row| row.get(0))
                .optional()?;
            let rubric = text.map(|text| json("rubric", &text)).transpose()?;
            self.known.insert(id.version.clone(), rubric);
        }
        Ok(self.known.get(&id.version).and_then(Option::as_ref))
    }

    fn under(&mut self, rating: &Rating) -> Result<Option<&Rubric>, Fault> {
        match rating.context.as_ref().and_then(|context| context.rubric.as_ref()) {
            Some(id) => self.get(id),
            None => Ok(None),
        }
    }
}

/// Keeps the questions of a rubric for the ratings that name its version.
pub(super) fn keep_rubric(conn: &Connection, rubric: &Rubric) -> Result<(), Fault> {
    conn.prepare_cached("INSERT INTO rubrics (version, rubric) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute(params![rubric.version(), super::items::to_json("rubric", rubric)?])?;
    Ok(())
}

const COLUMNS: &str = "id, rater, simulated, answers, context, edit_id, comment, at_millis FROM ratings";
const ORDER: &str = "at_millis IS NOT NULL, at_millis, id";

fn said_of(row: &Row<'_>) -> Result<Said, Fault> {
    let context = row.get_ref(4)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    let rating = Rating {
        simulated: row.get(2)?,
        context: context.map(|text| json("rating context", text)).transpose()?,
        comment: row.get(6)?,
        at_millis: row.get(7)?,
        ..Rating::new(row.get::<_, String>(1)?, json("answers", row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?)?)
    };
    Ok(Said { id: row.get(0)?, rating })
}

/// Everything that some raters said of an edit, by rater.
pub(super) fn said_about(conn: &Connection, edit: EditId, raters: &BTreeSet<&str>) -> Result<HashMap<String, Vec<Said>>, Fault> {
    let mut query = conn.prepare_cached(&format!("SELECT {COLUMNS} WHERE edit_id = ?1 ORDER BY id"))?;
    let mut rows = query.query([edit])?;
    let mut found: HashMap<String, Vec<Said>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let rater = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        if raters.contains(rater) {
            found.entry(rater.to_owned()).or_default().push(said_of(row)?);
        }
    }
    Ok(found)
}

/// What counts of the ratings of one rater about one edit, in whatever order they are.
pub(super) fn counting_of(mut ratings: Vec<Said>, rubrics: &mut Rubrics<'_>) -> Result<BTreeMap<Asked, Counting>, Fault> {
    ratings.sort_by_key(Said::order);
    counting(&ratings, rubrics)
}

/// What counts of the ratings of one rater about one edit, oldest first.
fn counting(ratings: &[Said], rubrics: &mut Rubrics<'_>) -> Result<BTreeMap<Asked, Counting>, Fault> {
    let mut found: BTreeMap<Asked, Counting> = BTreeMap::new();
    for Said { id, rating } in ratings {
        let context = rating.context.as_ref();
        let version = context.and_then(|context| context.rubric.as_ref()).map_or("", |rubric| rubric.version.as_str());
        let session = context.and_then(|context| context.session.as_deref()).unwrap_or_default();
        let under = format!("{version} {session}");
        let rubric = rubrics.under(rating)?;
        let entry = |value| Counting { rating: *id, value, simulated: rating.simulated, under: under.clone() };
        // A remark stands until the same rubric is spoken to again.
        found.retain(|asked, known| !(asked.criterion.is_empty() && known.under == under));
        for question in rubric.iter().flat_map(|rubric| &rubric.questions).filter(|asked| !rating.values.contains_key(&asked.name)) {
            let asked = Asked { criterion: question.name.clone(), scale: question.scale_words() };
            if found.get(&asked).is_some_and(|known| known.under == under) {
                found.insert(asked, entry(None));
            }
        }
        for criterion in context.iter().flat_map(|context| &context.cannot_judge) {
            found.insert(rating.asked(criterion, rubric), entry(None));
        }
        for (criterion, value) in &rating.values {
            found.insert(rating.asked(criterion, rubric), entry(Some(*value)));
        }
        if !found.values().any(|known| known.rating == *id) {
            found.insert(Asked { criterion: String::new(), scale: under.clone() }, entry(None));
        }
    }
    Ok(found)
}

/// Writes what counts of one rater for one edit, of whom nothing is in the table; `scales` are those that are known to be there.
pub(super) fn write_answers(
    conn: &Connection,
    edit: EditId,
    rater: &str,
    found: &BTreeMap<Asked, Counting>,
    scales: &mut BTreeSet<Asked>,
) -> Result<(), Fault> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO answers (edit_id, rater, criterion, scale, rating_id, value, simulated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (asked, counting) in found {
        insert.execute(params![edit, rater, asked.criterion, asked.scale, counting.rating, counting.value, counting.simulated])?;
        if !scales.contains(asked) {
            conn.prepare_cached("INSERT INTO scales (criterion, scale) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
                .execute([&asked.criterion, &asked.scale])?;
            scales.insert(asked.clone());
        }
    }
    Ok(())
}

/// Takes what counts of one rater for one edit out of the table.
pub(super) fn forget(conn: &Connection, edit: EditId, rater: &str) -> Result<(), Fault> {
    conn.prepare_cached("DELETE FROM answers WHERE edit_id = ?1 AND rater = ?2")?.execute(params![edit, rater])?;
    conn.prepare_cached("UPDATE ratings SET newest = 0 WHERE edit_id = ?1 AND rater = ?2 AND newest = 1")?.execute(params![edit, rater])?;
    Ok(())
}

/// Writes what counts, and marks the ratings that it is of.
pub(super) fn write(
    conn: &Connection,
    edit: EditId,
    rater: &str,
    found: &BTreeMap<Asked, Counting>,
    scales: &mut BTreeSet<Asked>,
) -> Result<(), Fault> {
    write_answers(conn, edit, rater, found, scales)?;
    let ratings: BTreeSet<i64> = found.values().map(|counting| counting.rating).collect();
    let mut mark = conn.prepare_cached("UPDATE ratings SET newest = 1 WHERE id = ?1 AND newest = 0")?;
    for id in ratings {
        mark.execute([id])?;
    }
    Ok(())
}

/// Finds out anew what counts of one rater for one edit.
pub(super) fn recount(conn: &Connection, edit: EditId, rater: &str) -> Result<(), Fault> {
    let mut query = conn.prepare_cached(&format!("SELECT {COLUMNS} WHERE edit_id = ?1 AND rater = ?2 ORDER BY {ORDER}"))?;
    let mut rows = query.query(params![edit, rater])?;
    let mut ratings = Vec::new();
    while let Some(row) = rows.next()? {
        ratings.push(said_of(row)?);
    }
    let found = counting(&ratings, &mut Rubrics::of(conn))?;
    forget(conn, edit, rater)?;
    write(conn, edit, rater, &found, &mut BTreeSet::new())
}

/// Finds out anew what counts of everyone.
pub(super) fn recount_all(conn: &Connection) -> Result<(), Fault> {
    conn.execute_batch("DELETE FROM answers; DELETE FROM scales; UPDATE ratings SET newest = 0 WHERE newest = 1;")?;
    let mut rubrics = Rubrics::of(conn);
    let mut query = conn.prepare(&format!("SELECT {COLUMNS} ORDER BY edit_id, rater, {ORDER}"))?;
    let mut rows = query.query([])?;
    let mut group: Option<(EditId, String)> = None;
    let mut ratings: Vec<Said> = Vec::new();
    let mut scales = BTreeSet::new();
    let mut finish = |group: Option<(EditId, String)>, ratings: &mut Vec<Said>| -> Result<(), Fault> {
        let Some((edit, rater)) = group else { return Ok(()) };
        let found = counting(&std::mem::take(ratings), &mut rubrics)?;
        write(conn, edit, &rater, &found, &mut scales)
    };
    while let Some(row) = rows.next()? {
        let now = Some((row.get(5)?, row.get(1)?));
        if now != group {
            finish(std::mem::replace(&mut group, now), &mut ratings)?;
        }
        ratings.push(said_of(row)?);
    }
    finish(group, &mut ratings)
}

/// Fills the tables of file version 6; the error is a sentence.
pub(super) fn upgrade(conn: &Connection) -> Result<(), String> {
    let fill = || -> Result<(), Fault> {
        let mut query = conn.prepare("SELECT json_extract(setup, '$.protocol.rubric') FROM rating_sessions ORDER BY id")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if let Some(text) = row.get::<_, Option<String>>(0)? {
                keep_rubric(conn, &json("rubric", &text)?)?;
            }
        }
        recount_all(conn)
    };
    fill().map_err(|fault| match fault {
        Fault::Sql(error) => error.to_string(),
        Fault::Json(what, error) => format!("stored {what} cannot be read: {error}"),
        Fault::NoSuch(what, id) => format!("there is no {what} {id}"),
        Fault::Invalid(why) => why,
    })
}

/// How many answers count to each criterion on each scale, where that decides a name: a criterion that was only ever asked on one scale
/// counts as one.
fn counts(conn: &Connection) -> Result<BTreeMap<Asked, usize>, Fault> {
    let mut query = conn.prepare_cached("SELECT criterion, scale FROM scales WHERE criterion <> '' ORDER BY criterion, scale")?;
    let asked = query.query_map([], |row| Ok(Asked { criterion: row.get(0)?, scale: row.get(1)? }))?;
    let asked: Vec<Asked> = asked.collect::<Result<_, _>>()?;
    let mut counts = BTreeMap::new();
    for one in &asked {
        let several = asked.iter().filter(|other| other.criterion == one.criterion).count() > 1;
        let count: i64 = if several {
            conn.prepare_cached("SELECT count(*) FROM answers WHERE criterion = ?1 AND scale = ?2 AND value IS NOT NULL")?
                .query_row([&one.criterion, &one.scale], |row| row.get(0))?
        } else {
            1
        };
        counts.insert(one.clone(), usize::try_from(count).unwrap_or_default());
    }
    Ok(counts)
}

/// What each criterion on each scale is called ([`criterion_names`]).
pub(super) fn names(conn: &Connection) -> Result<BTreeMap<Asked, String>, Fault> {
    Ok(criterion_names(&counts(conn)?))
}

/// The scale that has the plain name of a criterion.
pub(super) fn plain_scale(conn: &Connection, criterion: &str) -> Result<String, Fault> {
    let plain = names(conn)?.into_iter().find(|(_, name)| name == criterion);
    Ok(plain.map_or_else(|| crate::domain::assumed_scale(criterion), |(asked, _)| asked.scale))
}

/// What counts of one rating.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// By the name of the criterion.
    pub values: BTreeMap<String, f64>,
    /// Criteria without a value, as the rating writes them.
    pub taken_back: BTreeSet<String>,
}

/// What counts, by rating; of one edit, if given.
pub(super) fn by_rating(conn: &Connection, edit: Option<EditId>) -> Result<HashMap<i64, Counted>, Fault> {
    let names = names(conn)?;
    let filter = if edit.is_some() { "WHERE edit_id = ?1" } else { "" };
    let mut query = conn.prepare_cached(&format!("SELECT rating_id, criterion, scale, value FROM answers {filter}"))?;
    let mut rows = query.query(rusqlite::params_from_iter(edit))?;
    let mut found: HashMap<i64, Counted> = HashMap::new();
    while let Some(row) = rows.next()? {
        let counted = found.entry(row.get(0)?).or_default();
        let asked = Asked { criterion: row.get(1)?, scale: row.get(2)? };
        match (row.get::<_, Option<f64>>(3)?, names.get(&asked)) {
            (Some(value), Some(name)) => drop(counted.values.insert(name.clone(), value)),
            // Every criterion that has an answer has a name.
            (Some(_), None) => {}
            (None, _) => drop(counted.taken_back.insert(asked.criterion)),
        }
    }
    Ok(found)
}

impl Project {
    /// What the criteria of [`Project::latest_ratings`] were asked on, by the name that they have there.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn asked_by_name(&self) -> Result<BTreeMap<String, Asked>, StorageError> {
        self.read("reading the scales", |conn| Ok(names(conn)?.into_iter().map(|(asked, name)| (name, asked)).collect()))
    }

    /// What an answer is an answer to, for a rating that is none of the project's own rows (a repeat).
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn asked_of(&self, rating: &Rating) -> Result<Vec<(Asked, f64)>, StorageError> {
        self.read("reading the scales", |conn| {
            let mut rubrics = Rubrics::of(conn);
            let rubric = rubrics.under(rating)?;
            Ok(rating.values.iter().map(|(criterion, value)| (rating.asked(criterion, rubric), *value)).collect())
        })
    }
}
