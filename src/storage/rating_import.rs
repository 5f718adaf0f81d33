//! Ratings that come from elsewhere, many at once: which of them are new, and what counts afterwards, found out once for each rater and edit.
//!
//! * The very same rating, or one that says all of it and more, is not added twice.
//! * Ratings with a time count by it, whenever they come. What those without a time say last is a correction where it is not what counts of
//!   the ratings without a time: then it is added, even if the same was said earlier.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::answers::{self, Rubrics, Said};
use super::error::Fault;
use super::{EditId, ratings};
use crate::domain::{Asked, Rating, rater_name};

/// Ids of ratings that have none yet begin here, so that they are newer than those in the file.
const NOT_YET: i64 = i64::MAX / 2;

/// An import on its way.
pub(super) struct RatingImport<'a> {
    conn: &'a Connection,
    rubrics: Rubrics<'a>,
    scales: BTreeSet<Asked>,
}

impl<'a> RatingImport<'a> {
    pub fn into(conn: &'a Connection) -> Self {
        Self { conn, rubrics: Rubrics::of(conn), scales: BTreeSet::new() }
    }

    /// Adds what is new of ratings about one edit, which are in the order in which they were said; which of them were new.
    ///
    /// # Errors
    /// When one of them cannot be kept ([`ratings::check`]).
    pub fn add(&mut self, edit: EditId, incoming: &[&Rating]) -> Result<Vec<bool>, Fault> {
        let mut by_rater: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, rating) in incoming.iter().enumerate() {
            ratings::check(rating)?;
            by_rater.entry(rater_name(&rating.rater)).or_default().push(place);
        }
        let mut stored = answers::said_about(self.conn, edit, &by_rater.keys().map(String::as_str).collect())?;
        let mut added = vec![false; incoming.len()];
        for (rater, places) in by_rater {
            let known = stored.remove(&rater).unwrap_or_default();
            let own: Vec<&Rating> = places.iter().map(|place| incoming[*place]).collect();
            let new = self.new_of(&known, &own)?;
            let fresh: Vec<&Rating> = own.iter().zip(&new).filter(|(_, new)| **new).map(|(rating, _)| *rating).collect();
            if !fresh.is_empty() {
                self.put(edit, &rater, known, &fresh)?;
            }
            for (place, new) in places.into_iter().zip(new) {
                added[place] = new;
            }
        }
        Ok(added)
    }

    /// Which ratings of one rater about one edit are new.
    fn new_of(&mut self, known: &[Said], incoming: &[&Rating]) -> Result<Vec<bool>, Fault> {
        let mut fresh: Vec<&Rating> = Vec::new();
        let mut new = Vec::with_capacity(incoming.len());
        for rating in incoming {
            let there = known.iter().map(|said| &said.rating).chain(fresh.iter().copied()).any(|other| says(other, rating));
            new.push(!there);
            if !there {
                fresh.push(rating);
            }
        }
        let untimed = |ratings: Vec<&Rating>| -> Vec<Said> {
            let timeless = ratings.into_iter().enumerate().filter(|(_, rating)| rating.at_millis.is_none());
            timeless.map(|(place, rating)| Said { id: NOT_YET + place as i64, rating: rating.clone() }).collect()
        };
        // Most imports end here: nothing without a time was known, and nothing is said twice.
        if new.iter().all(|new| *new) {
            return Ok(new);
        }
        let last = answers::counting_of(untimed(incoming.to_vec()), &mut self.rubrics)?;
        loop {
            let fresh = incoming.iter().zip(&new).filter(|(_, new)| **new).map(|(rating, _)| *rating);
            let then = known.iter().map(|said| &said.rating).chain(fresh).collect();
            let counts = answers::counting_of(untimed(then), &mut self.rubrics)?;
            let mut corrected = false;
            for (asked, wanted) in last.iter().filter(|(asked, _)| is_told(asked, known, incoming)) {
                let place = usize::try_from(wanted.rating - NOT_YET).unwrap_or_default();
                if counts.get(asked).and_then(|now| now.value) != wanted.value && !new[place] {
                    (new[place], corrected) = (true, true);
                }
            }
            if !corrected {
                return Ok(new);
            }
        }
    }

    /// Adds ratings of one rater about one edit, and what counts with them.
    fn put(&mut self, edit: EditId, rater: &str, known: Vec<Said>, fresh: &[&Rating]) -> Result<(), Fault> {
        let nothing_known = known.is_empty();
        let mut all = known;
        all.extend(fresh.iter().enumerate().map(|(place, rating)| Said { id: NOT_YET + place as i64, rating: (*rating).clone() }));
        let mut found = answers::counting_of(all, &mut self.rubrics)?;
        let counting: BTreeSet<i64> = found.values().map(|counting| counting.rating).collect();
        if !nothing_known {
            answers::forget(self.conn, edit, rater)?;
        }
        let mut ids = Vec::with_capacity(fresh.len());
        for (place, rating) in fresh.iter().enumerate() {
            ids.push(ratings::insert(self.conn, edit, rating, counting.contains(&(NOT_YET + place as i64)))?);
        }
        for counting in found.values_mut().filter(|counting| counting.rating >= NOT_YET) {
            if let Some(id) = usize::try_from(counting.rating - NOT_YET).ok().and_then(|place| ids.get(place)) {
                counting.rating = *id;
            }
        }
        if nothing_known {
            answers::write_answers(self.conn, edit, rater, &found, &mut self.scales)
        } else {
            answers::write(self.conn, edit, rater, &found, &mut self.scales)
        }
    }
}

/// Whether an answer can be held against what is known: an export names some answers with their scales (`overall (1 to 7)`), where the rating
/// itself has the plain name.
fn is_told(asked: &Asked, known: &[Said], incoming: &[&Rating]) -> bool {
    let has = |rating: &Rating| rating.values.contains_key(&asked.criterion);
    let is_plain = plain(&asked.criterion).is_none_or(|plain| !known.iter().any(|said| said.rating.values.contains_key(plain)));
    !asked.criterion.is_empty() && is_plain && incoming.iter().any(|rating| has(rating))
}

/// The name of a criterion without the scale that an export puts behind it.
fn plain(name: &str) -> Option<&str> {
    name.strip_suffix(')')?.rsplit_once(" (").map(|(plain, _)| plain)
}

/// Whether `stored` says everything that `rating` does. An export names only the answers that count, and says of some on which scale.
fn says(stored: &Rating, rating: &Rating) -> bool {
    let about = |rating: &Rating| (rating.simulated, rating.at_millis);
    let said = |(name, value): (&String, &f64)| {
        let known = stored.values.get(name).or_else(|| stored.values.get(plain(name)?));
        known.is_some_and(|known| known.to_bits() == value.to_bits())
    };
    about(stored) == about(rating)
        && stored.comment == rating.comment
        && rating.values.is_empty() == stored.values.is_empty()
        && rating.values.iter().all(said)
}
