//! Votes between two edits that came out of tables. What a later table says of two edits by one rater under one criterion replaces what an
//! earlier one said, and within one table the last counts; all rows stay in the file.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::error::Fault;
use super::items::{json, to_json};
use super::{EditId, Project, StorageError, now_millis};
use crate::domain::{Preference, rater_name};

/// A vote between two edits of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditVote {
    pub first: EditId,
    pub second: EditId,
    /// Who; never empty.
    pub rater: String,
    pub criterion: String,
    pub preference: Preference,
}

/// What a vote is about, whichever edit stands first: the two edits, rater, criterion.
type About = (EditId, EditId, String, String);

impl EditVote {
    fn about(&self) -> About {
        (self.first.min(self.second), self.first.max(self.second), self.rater.clone(), self.criterion.clone())
    }

    /// What it says with the lesser edit first.
    const fn says(&self) -> Preference {
        if self.first.0 <= self.second.0 { self.preference } else { self.preference.swapped() }
    }
}

impl Project {
    /// The votes out of tables that count, in the order in which they came.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn table_votes(&self) -> Result<Vec<EditVote>, StorageError> {
        self.read("reading the votes", |conn| counting(conn, None).map(|votes| votes.into_iter().map(|(vote, _)| vote).collect()))
    }

    /// Those of them about one edit, each with when it came into this file (milliseconds since 1970, UTC).
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn table_votes_about(&self, edit: EditId) -> Result<Vec<(EditVote, i64)>, StorageError> {
        self.read("reading the votes", |conn| counting(conn, Some(edit)))
    }
}

fn counting(conn: &Connection, about: Option<EditId>) -> Result<Vec<(EditVote, i64)>, Fault> {
    let filter = if about.is_some() { "WHERE first_id = ?1 OR second_id = ?1" } else { "" };
    let mut query = conn.prepare_cached(&format!(
        "SELECT first_id, second_id, rater, criterion, preference, recorded_millis FROM votes {filter} ORDER BY id"
    ))?;
    let mut rows = query.query(rusqlite::params_from_iter(about))?;
    let mut all: Vec<(EditVote, i64)> = Vec::new();
    // The last of the newest table.
    let mut newest: BTreeMap<About, (i64, usize)> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let preference = json("vote", &format!("\"{}\"", row.get::<_, String>(4)?))?;
        let vote = EditVote { first: row.get(0)?, second: row.get(1)?, rater: row.get(2)?, criterion: row.get(3)?, preference };
        let at: i64 = row.get(5)?;
        let latest = newest.entry(vote.about()).or_default();
        *latest = (at, all.len()).max(*latest);
        all.push((vote, at));
    }
    let counts = |(place, (vote, at)): &(usize, (EditVote, i64))| newest.get(&vote.about()) == Some(&(*at, *place));
    Ok(all.into_iter().enumerate().filter(counts).map(|(_, vote)| vote).collect())
}

/// Adds what is new of the votes of one table, of which the last about two edits counts; how many rows that are.
pub(super) fn import(conn: &Connection, votes: &[EditVote]) -> Result<usize, Fault> {
    if votes.is_empty() {
        return Ok(0);
    }
    let known: BTreeMap<About, Preference> = counting(conn, None)?.into_iter().map(|(vote, _)| (vote.about(), vote.says())).collect();
    let votes: Vec<EditVote> = votes.iter().map(|vote| EditVote { rater: rater_name(&vote.rater), ..vote.clone() }).collect();
    let mut wanted: BTreeMap<About, Preference> = BTreeMap::new();
    for vote in &votes {
        check(conn, vote)?;
        wanted.insert(vote.about(), vote.says());
    }
    // Later than every row that is there, whatever the clock says.
    let last: i64 = conn.query_row("SELECT coalesce(max(recorded_millis), 0) FROM votes", [], |row| row.get(0))?;
    let now = now_millis().max(last + 1);
    let mut insert = conn.prepare_cached(
        "INSERT INTO votes (first_id, second_id, rater, criterion, preference, recorded_millis) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut added = 0;
    // The same once more within a table says nothing new.
    let mut said: BTreeMap<About, Preference> = BTreeMap::new();
    for vote in &votes {
        let about = vote.about();
        if known.get(&about) == wanted.get(&about) || said.insert(about, vote.says()) == Some(vote.says()) {
            continue;
        }
        let preference = to_json("vote", &vote.preference)?;
        added += insert.execute(params![vote.first, vote.second, vote.rater, vote.criterion, preference.trim_matches('"'), now])?;
    }
    Ok(added)
}

/// Whether a vote can be kept.
pub(super) fn check(conn: &Connection, vote: &EditVote) -> Result<(), Fault> {
    if vote.rater.trim().is_empty() {
        return Err(Fault::Invalid("a vote needs the name of its rater".into()));
    }
    let mut query = conn.prepare_cached("SELECT item_id FROM edits WHERE id = ?1")?;
    let mut item_of = |edit: EditId| -> Result<i64, Fault> {
        let mut rows = query.query([edit])?;
        let row = rows.next()?.ok_or(Fault::NoSuch("edit", edit.0))?;
        Ok(row.get(0)?)
    };
    if vote.first == vote.second || item_of(vote.first)? != item_of(vote.second)? {
        return Err(Fault::Invalid(format!("a vote of '{}' is not between two edits of one item", vote.rater)));
    }
    Ok(())
}
