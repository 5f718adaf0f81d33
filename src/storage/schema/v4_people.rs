//! File version 4: Rating protocols and sessions.

pub(super) const SQL: &str = "
-- How a rating came about (protocol, rubric version, session, place, seconds, what was visible), JSON; NULL when unknown.
ALTER TABLE ratings ADD COLUMN context TEXT;
CREATE TRIGGER rating_contexts_are_not_changed BEFORE UPDATE OF context ON ratings
    BEGIN SELECT RAISE(ABORT, 'ratings are never changed'); END;

-- One setup of a rating session; never changed.
CREATE TABLE rating_sessions (
    id INTEGER PRIMARY KEY,
    -- A hash of the setup.
    uid TEXT NOT NULL UNIQUE,
    setup TEXT NOT NULL
) STRICT;

-- What raters said in sessions, in the order it was said: answers, skips, corrections. A rubric answer about an edit is a row of
-- `ratings` too, written in the same transaction.
CREATE TABLE judgements (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES rating_sessions (id),
    rater TEXT NOT NULL CHECK (rater <> ''),
    item_id INTEGER NOT NULL REFERENCES items (id),
    task TEXT NOT NULL,
    role TEXT NOT NULL,
    answer TEXT NOT NULL,
    comment TEXT NOT NULL,
    place INTEGER NOT NULL,
    seconds REAL NOT NULL,
    at_millis INTEGER NOT NULL,
    visible TEXT NOT NULL,
    rubric TEXT
) STRICT;
CREATE INDEX judgements_by_session ON judgements (session_id, rater);
CREATE INDEX judgements_by_item ON judgements (item_id);
CREATE TRIGGER judgements_are_kept BEFORE DELETE ON judgements
    BEGIN SELECT RAISE(ABORT, 'judgements are never deleted'); END;
CREATE TRIGGER judgements_are_not_changed BEFORE UPDATE ON judgements
    BEGIN SELECT RAISE(ABORT, 'judgements are never changed'); END;

-- The edits that a judgement is about, by the place they were shown at, from 0.
CREATE TABLE judgement_edits (
    judgement_id INTEGER NOT NULL REFERENCES judgements (id),
    place INTEGER NOT NULL,
    edit_id INTEGER NOT NULL REFERENCES edits (id),
    PRIMARY KEY (judgement_id, place)
) STRICT;
CREATE INDEX judgement_edits_by_edit ON judgement_edits (edit_id);
";
