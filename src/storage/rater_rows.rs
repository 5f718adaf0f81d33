//! One rater's work out of a project, and into another one.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, params};

use super::error::Fault;
use super::items::to_json;
use super::rating_import::RatingImport;
use super::{EditId, EditVote, Project, StorageError, ratings, sessions, votes};
use crate::domain::{EditKey, ItemKey, Judgement, RaterRow, Rating, rater_name};

/// What [`Project::import_rater_rows`] did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RaterImport {
    pub sessions_added: usize,
    pub ratings_added: usize,
    pub judgements_added: usize,
    pub votes_added: usize,
    /// Rows that were there already.
    pub known: usize,
    /// Rows that are about something this project does not have, by their position, and why.
    pub problems: Vec<(usize, String)>,
}

impl RaterImport {
    /// Whether no rating and no answer is about an edit of the project.
    pub const fn is_about_nothing(&self) -> bool {
        self.ratings_added + self.judgements_added + self.votes_added + self.known == 0 && !self.problems.is_empty()
    }
}

impl Project {
    /// Everything that raters said, oldest first: sessions, ratings with their corrections, judgements, votes from tables. Of one rater only,
    /// if named; then only the sessions that this rater answered in.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn rater_rows(&self, rater: Option<&str>) -> Result<Vec<RaterRow>, StorageError> {
        let wanted = |name: &str| rater.is_none_or(|rater| rater == name);
        let judgements: Vec<Judgement> = self.judgements()?.into_iter().filter(|said| wanted(&said.rater)).collect();
        let mut rows: Vec<RaterRow> = self
            .sessions()?
            .into_iter()
            .filter(|session| rater.is_none() || judgements.iter().any(|said| said.session == session.uid))
            .map(|session| RaterRow::Session { uid: session.uid, setup: session.setup })
            .collect();
        let items: HashMap<_, _> = self.items()?.into_iter().map(|item| (item.id, item.key)).collect();
        for edit in self.edits()? {
            let Some(item) = items.get(&edit.item) else { continue };
            for stored in self.rating_history(edit.id)?.into_iter().rev().filter(|stored| wanted(&stored.rating.rater)) {
                let (item, edit_key, model) = (item.clone(), edit.key.clone(), edit.model.clone());
                rows.push(RaterRow::Rating { item, edit: edit_key, model, counts: stored.counts, rating: stored.rating });
            }
        }
        rows.extend(judgements.into_iter().map(RaterRow::Judgement));
        let edits: HashMap<EditId, (ItemKey, EditKey)> =
            self.edits()?.into_iter().filter_map(|edit| Some((edit.id, (items.get(&edit.item)?.clone(), edit.key)))).collect();
        for vote in self.table_votes()?.into_iter().filter(|vote| wanted(&vote.rater)) {
            let (Some((item, first)), Some((_, second))) = (edits.get(&vote.first), edits.get(&vote.second)) else { continue };
            let (item, first, second) = (item.clone(), first.clone(), second.clone());
            rows.push(RaterRow::Vote { item, first, second, rater: vote.rater, criterion: vote.criterion, preference: vote.preference });
        }
        Ok(rows)
    }

    /// Adds what raters said elsewhere. What is there already is not added again; rows about edits or items that this project does not
    /// have are listed and left out. All or nothing of the rest; where no rating and no answer is about this project, nothing is added, and
    /// [`RaterImport::is_about_nothing`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn import_rater_rows(&self, rows: &[RaterRow]) -> Result<RaterImport, StorageError> {
        self.import_rater_rows_telling(rows, &|_, _| {})
    }

    /// [`Self::import_rater_rows`] that tells how many of the edits with ratings are done.
    ///
    /// # Errors
    /// As [`Self::import_rater_rows`].
    pub fn import_rater_rows_telling(&self, rows: &[RaterRow], tell: &dyn Fn(usize, usize)) -> Result<RaterImport, StorageError> {
        let mut stranger = None;
        let written = self.write("importing ratings", |conn| {
            let mut done = RaterImport::default();
            let mut table_votes = Vec::new();
            let mut ratings_of: BTreeMap<EditId, Vec<&Rating>> = BTreeMap::new();
            for (position, row) in rows.iter().enumerate() {
                let (added, count) = match row {
                    RaterRow::Session { uid, setup } => (session(conn, uid, setup), &mut done.sessions_added),
                    RaterRow::Rating { edit, rating, .. } => {
                        match rated(conn, &edit.0, rating) {
                            Ok(edit) => ratings_of.entry(edit).or_default().push(rating),
                            Err(Fault::Invalid(why)) => done.problems.push((position, why)),
                            Err(fault) => return Err(fault),
                        }
                        continue;
                    }
                    RaterRow::Judgement(said) => (judgement(conn, said), &mut done.judgements_added),
                    RaterRow::Vote { first, second, rater, criterion, preference, .. } => {
                        match (edit_id(conn, &first.0, rater), edit_id(conn, &second.0, rater)) {
                            (Ok(first), Ok(second)) => {
                                let (rater, criterion, preference) = (rater.clone(), criterion.clone(), *preference);
                                let vote = EditVote { first, second, rater, criterion, preference };
                                match votes::check(conn, &vote) {
                                    Ok(()) => table_votes.push(vote),
                                    Err(Fault::Invalid(why)) => done.problems.push((position, format!("{why}; left out"))),
                                    Err(fault) => return Err(fault),
                                }
                            }
                            (Err(Fault::Invalid(why)), _) | (_, Err(Fault::Invalid(why))) => done.problems.push((position, why)),
                            (Err(fault), _) | (_, Err(fault)) => return Err(fault),
                        }
                        continue;
                    }
                };
                match added {
                    Ok(true) => *count += 1,
                    Ok(false) => done.known += 1,
                    Err(Fault::Invalid(why)) => done.problems.push((position, why)),
                    Err(fault) => return Err(fault),
                }
            }
            add_ratings(conn, &ratings_of, &mut done, tell)?;
            done.votes_added = votes::import(conn, &table_votes)?;
            done.known += table_votes.len() - done.votes_added;
            if done.is_about_nothing() {
                // Its sessions would be of no use here: an error takes them back.
                stranger = Some(RaterImport { sessions_added: 0, ..done });
                return Err(Fault::Invalid("no row is about this project".to_owned()));
            }
            Ok(done)
        });
        stranger.map_or(written, Ok)
    }
}

fn session(conn: &Connection, uid: &str, setup: &crate::domain::SessionSetup) -> Result<bool, Fault> {
    if uid != setup.uid() {
        return Err(Fault::Invalid(format!("session '{}' is not what its uid {uid} says; it was changed on the way", setup.name)));
    }
    sessions::keep(conn, uid, setup)
}

/// Adds the ratings of each edit together, after the sessions whose rubrics they name.
fn add_ratings(
    conn: &Connection,
    ratings_of: &BTreeMap<EditId, Vec<&Rating>>,
    done: &mut RaterImport,
    tell: &dyn Fn(usize, usize),
) -> Result<(), Fault> {
    let mut import = RatingImport::into(conn);
    for (place, (edit, ratings)) in ratings_of.iter().enumerate() {
        tell(place, ratings_of.len());
        let added = import.add(*edit, ratings)?.into_iter().filter(|added| *added).count();
        done.ratings_added += added;
        done.known += ratings.len() - added;
    }
    done.problems.sort();
    Ok(())
}

/// The edit that a rating is about, if both can be kept.
fn rated(conn: &Connection, edit: &str, rating: &Rating) -> Result<EditId, Fault> {
    let id: Option<EditId> = conn.prepare_cached("SELECT id FROM edits WHERE key = ?1")?.query_row([edit], |row| row.get(0)).optional()?;
    let id =
        id.ok_or_else(|| Fault::Invalid(format!("this project has no edit '{edit}'; the rating of '{}' is left out", rating.rater)))?;
    ratings::check(rating)?;
    Ok(id)
}

/// The edit of a vote.
fn edit_id(conn: &Connection, edit: &str, rater: &str) -> Result<EditId, Fault> {
    let id = conn.prepare_cached("SELECT id FROM edits WHERE key = ?1")?.query_row([edit], |row| row.get(0)).optional()?;
    id.ok_or_else(|| Fault::Invalid(format!("this project has no edit '{edit}'; a vote of '{rater}' is left out")))
}

fn judgement(conn: &Connection, said: &Judgement) -> Result<bool, Fault> {
    // The same rater at the same task at the same time says one thing.
    let known = conn
        .prepare_cached(
            "SELECT 1 FROM judgements JOIN rating_sessions ON rating_sessions.id = session_id
             WHERE uid = ?1 AND rater = ?2 AND task = ?3 AND at_millis = ?4 AND answer = ?5",
        )?
        .query_row(params![said.session, rater_name(&said.rater), said.task, said.at_millis, to_json("answer", &said.answer)?], |_| Ok(()))
        .optional()?;
    if known.is_some() {
        return Ok(false);
    }
    // Looked up first: a row that fails half way would leave its first half in the transaction.
    for edit in &said.shown {
        let there = conn.prepare_cached("SELECT 1 FROM edits WHERE key = ?1")?.query_row([&edit.0], |_| Ok(())).optional()?;
        if there.is_none() {
            return Err(Fault::Invalid(format!("this project has no edit '{edit}'; an answer of '{}' is left out", said.rater)));
        }
    }
    sessions::add(conn, said)?;
    Ok(true)
}
