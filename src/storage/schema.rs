//! The tables of a project file and how they came to be. A migration that was released is never edited; a change is a new one.
//!
//! Two rules keep opening fast with 100,000 edits: what the queue shows stands in narrow rows (`scores`), the long JSON beside
//! it (`score_details`); and each "newest of …" has an index that ends the search at once.

mod v2_measures;
mod v3_regions;
mod v4_people;
mod v5_comparisons;
mod v6_answers;

use rusqlite::Transaction;
use rusqlite_migration::{HookError, M, Migrations};

use super::answers;

/// `application_id` of a project file: the letters `EdSc`.
pub(super) const APPLICATION_ID: i64 = 0x4564_5363;

/// Every migration, oldest first; the length is the file version.
const STEPS: &[&str] = &[V1, v2_measures::SQL, v3_regions::SQL, v4_people::SQL, v5_comparisons::SQL, v6_answers::SQL];
/// The step after which the answers that count are found out.
const COUNTS_ANSWERS: usize = 5;

/// The file version that this program writes.
pub(super) const LATEST: i64 = STEPS.len() as i64;

pub(super) fn migrations() -> Migrations<'static> {
    let step = |(index, sql): (usize, &'static str)| match index {
        COUNTS_ANSWERS => M::up_with_hook(sql, |transaction: &Transaction<'_>| answers::upgrade(transaction).map_err(HookError::Hook)),
        _ => M::up(sql),
    };
    Migrations::new(STEPS.iter().copied().enumerate().map(step).collect())
}

const V1: &str = "
PRAGMA application_id = 0x45645363;

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- A file; several items may share it. `path` is relative to the project's folder, with forward separators, or absolute.
CREATE TABLE pictures (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    hash BLOB,
    bytes INTEGER,
    modified_millis INTEGER,
    state TEXT NOT NULL CHECK (state IN ('unchecked', 'present', 'missing', 'changed', 'unreadable'))
) STRICT;

CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    source_id INTEGER NOT NULL REFERENCES pictures (id),
    source_given TEXT NOT NULL,
    instruction TEXT NOT NULL,
    extra TEXT NOT NULL,
    -- The parse that counts.
    parse_id INTEGER REFERENCES parses (id)
) STRICT;
CREATE INDEX items_by_source ON items (source_id);

CREATE TABLE edits (
    id INTEGER PRIMARY KEY,
    item_id INTEGER NOT NULL REFERENCES items (id),
    key TEXT NOT NULL UNIQUE,
    picture_id INTEGER NOT NULL REFERENCES pictures (id),
    given TEXT NOT NULL,
    model TEXT NOT NULL,
    extra TEXT NOT NULL
) STRICT;
CREATE INDEX edits_by_item ON edits (item_id);
CREATE INDEX edits_by_picture ON edits (picture_id);

CREATE TABLE parses (
    id INTEGER PRIMARY KEY,
    item_id INTEGER NOT NULL REFERENCES items (id),
    origin TEXT NOT NULL,
    who TEXT NOT NULL,
    at_millis INTEGER NOT NULL,
    doubtful INTEGER NOT NULL,
    parse TEXT NOT NULL
) STRICT;
CREATE INDEX parses_by_item ON parses (item_id);

-- One row for each state that the regions of a side were in. Regions of the source belong to the item (edit_id is NULL).
CREATE TABLE region_sets (
    id INTEGER PRIMARY KEY,
    item_id INTEGER NOT NULL REFERENCES items (id),
    edit_id INTEGER REFERENCES edits (id),
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    at_millis INTEGER NOT NULL,
    regions TEXT NOT NULL
) STRICT;
CREATE INDEX region_sets_of_source ON region_sets (item_id) WHERE edit_id IS NULL;
CREATE INDEX region_sets_of_edit ON region_sets (edit_id) WHERE edit_id IS NOT NULL;

CREATE TABLE ratings (
    id INTEGER PRIMARY KEY,
    edit_id INTEGER NOT NULL REFERENCES edits (id),
    rater TEXT NOT NULL CHECK (rater <> ''),
    simulated INTEGER NOT NULL,
    answers TEXT NOT NULL,
    -- The answer 'overall' again, so that the queue's mean needs no JSON.
    overall REAL,
    comment TEXT NOT NULL,
    -- As the data says; NULL when it does not.
    at_millis INTEGER,
    recorded_millis INTEGER NOT NULL,
    -- 1 for the rating that counts of this rater.
    newest INTEGER NOT NULL
) STRICT;
CREATE INDEX ratings_by_edit ON ratings (edit_id);
CREATE UNIQUE INDEX ratings_newest ON ratings (edit_id, rater) WHERE newest = 1;
CREATE TRIGGER ratings_are_kept BEFORE DELETE ON ratings
    BEGIN SELECT RAISE(ABORT, 'ratings are never deleted'); END;
CREATE TRIGGER ratings_are_not_changed BEFORE UPDATE OF edit_id, rater, simulated, answers, overall, comment, at_millis ON ratings
    BEGIN SELECT RAISE(ABORT, 'ratings are never changed'); END;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('set', 'correction')),
    profile TEXT NOT NULL,
    models TEXT NOT NULL,
    models_fingerprint TEXT NOT NULL,
    device TEXT NOT NULL,
    settings TEXT NOT NULL,
    range TEXT,
    started_millis INTEGER NOT NULL,
    finished_millis INTEGER,
    -- 'done', 'cancelled' or 'failed: why'; NULL while it runs or when it was killed.
    end TEXT
) STRICT;

-- A part has a value, or a why that begins with 'na:' or 'failed:'.
CREATE TABLE scores (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    edit_id INTEGER NOT NULL REFERENCES edits (id),
    profile TEXT NOT NULL,
    at_millis INTEGER NOT NULL,
    seconds REAL NOT NULL,
    global INTEGER NOT NULL,
    size REAL, size_why TEXT,
    position REAL, position_why TEXT,
    modify REAL, modify_why TEXT,
    preserve REAL, preserve_why TEXT,
    overall REAL, overall_why TEXT,
    -- Names, separated by spaces.
    flags TEXT NOT NULL,
    -- Why the edit could not be scored at all.
    failure TEXT,
    -- The picture, instruction or parse was changed since.
    stale INTEGER NOT NULL DEFAULT 0,
    UNIQUE (run_id, edit_id)
) STRICT;
CREATE INDEX scores_newest ON scores (edit_id, profile, id);

CREATE TABLE score_details (
    score_id INTEGER PRIMARY KEY REFERENCES scores (id) ON DELETE CASCADE,
    detail TEXT NOT NULL
) STRICT;

CREATE TABLE ranges (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    profile TEXT NOT NULL,
    at_millis INTEGER NOT NULL,
    range TEXT NOT NULL,
    UNIQUE (name, profile)
) STRICT;

CREATE TABLE comparisons (
    name TEXT PRIMARY KEY,
    at_millis INTEGER NOT NULL,
    content TEXT NOT NULL
) STRICT;

-- Can be emptied at any time: it only saves work.
CREATE TABLE network_results (
    key BLOB PRIMARY KEY,
    used_millis INTEGER NOT NULL,
    value BLOB NOT NULL
) STRICT;
CREATE INDEX network_results_by_use ON network_results (used_millis);
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_migration_applies_and_marks_the_file() {
        migrations().validate().unwrap(); // the migrations above are valid SQL
        let mut conn = rusqlite::Connection::open_in_memory().unwrap(); // in memory
        migrations().to_latest(&mut conn).unwrap(); // valid, see above
        let id: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0)).unwrap(); // a pragma of SQLite
        assert_eq!(id, APPLICATION_ID);
    }
}
