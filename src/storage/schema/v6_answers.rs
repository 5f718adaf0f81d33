//! File version 6: of each criterion on each scale the newest answer of a rater counts, not the newest rating as a whole; votes from tables.

pub(super) const SQL: &str = "
-- `newest` is 1 for every rating of which something counts; a rater may have several about one edit.
DROP INDEX ratings_newest;
CREATE INDEX ratings_newest ON ratings (edit_id, rater) WHERE newest = 1;

-- Questions and scales of the rubrics that ratings name, by version.
CREATE TABLE rubrics (
    version TEXT PRIMARY KEY,
    rubric TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What counts: follows from `ratings` and `rubrics`, written in the same transaction as they.
CREATE TABLE answers (
    edit_id INTEGER NOT NULL REFERENCES edits (id),
    rater TEXT NOT NULL,
    -- Empty for a rating that says nothing but a comment.
    criterion TEXT NOT NULL,
    -- In words; empty when nothing says it.
    scale TEXT NOT NULL,
    rating_id INTEGER NOT NULL REFERENCES ratings (id),
    -- NULL when the rater took an answer back or could not judge.
    value REAL,
    simulated INTEGER NOT NULL,
    PRIMARY KEY (edit_id, rater, criterion, scale)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_scale ON answers (criterion, scale) WHERE value IS NOT NULL;
-- Every criterion and scale that `answers` has or had.
CREATE TABLE scales (
    criterion TEXT NOT NULL,
    scale TEXT NOT NULL,
    PRIMARY KEY (criterion, scale)
) STRICT, WITHOUT ROWID;

-- Votes from tables. What a later table says of two edits by one rater replaces what an earlier one said; the rows of one import have one
-- time.
CREATE TABLE votes (
    id INTEGER PRIMARY KEY,
    first_id INTEGER NOT NULL REFERENCES edits (id),
    second_id INTEGER NOT NULL REFERENCES edits (id),
    rater TEXT NOT NULL CHECK (rater <> ''),
    criterion TEXT NOT NULL,
    preference TEXT NOT NULL CHECK (preference IN ('first', 'second', 'tie', 'both_bad')),
    recorded_millis INTEGER NOT NULL
) STRICT;
CREATE INDEX votes_by_edits ON votes (first_id, second_id);
CREATE INDEX votes_by_second ON votes (second_id);
CREATE TRIGGER votes_are_kept BEFORE DELETE ON votes
    BEGIN SELECT RAISE(ABORT, 'votes are never deleted'); END;
CREATE TRIGGER votes_are_not_changed BEFORE UPDATE ON votes
    BEGIN SELECT RAISE(ABORT, 'votes are never changed'); END;
";

#[cfg(test)]
mod tests {
    use rusqlite_migration::{M, Migrations};

    use crate::domain::Rubric;

    /// A file of version 5 in which ann answered the paper's rubric and then ImagenHub's: both count once it is upgraded.
    #[test]
    fn what_a_second_rubric_wiped_counts_again() {
        let mut conn = rusqlite::Connection::open_in_memory().unwrap(); // in memory
        let steps = super::super::STEPS;
        Migrations::new(steps[..5].iter().copied().map(M::up).collect()).to_latest(&mut conn).unwrap(); // valid
        let mut odd = Rubric::paper();
        odd.questions[4].scale.truncate(3);
        let setup = serde_json::json!({"name": "s", "protocol": {"protocol": "rubric", "rubric": odd}});
        let context = |version: &str| {
            format!(r#"{{"protocol":"rubric","rubric":{{"name":"r","version":"{version}"}},"visible":{{"models":true,"scores":true}}}}"#)
        };
        conn.execute("INSERT INTO rating_sessions (uid, setup) VALUES ('u', ?1)", [setup.to_string()]).unwrap(); // fits
        conn.execute_batch(&format!(
            "INSERT INTO pictures (id, path, state) VALUES (1, 'a', 'present');
             INSERT INTO items (id, key, source_id, source_given, instruction, extra) VALUES (1, 'i', 1, 'a', '', '{{}}');
             INSERT INTO edits (id, item_id, key, picture_id, given, model, extra) VALUES (1, 1, 'e', 1, 'a', '', '{{}}');
             INSERT INTO ratings (id, edit_id, rater, simulated, answers, overall, comment, at_millis, recorded_millis, newest, context) VALUES
                 (1, 1, 'ann', 0, '{{\"overall\":4.0,\"size\":2.0}}', 4, '', 10, 1, 0, '{}'),
                 (2, 1, 'ann', 0, '{{\"SC\":0.5,\"PQ\":1.0}}', NULL, '', 20, 2, 1, '{}'),
                 (3, 1, 'ann', 0, '{{\"overall\":3.0}}', 3, '', 5, 3, 0, '{}');",
            context(&Rubric::paper().version()),
            context(&Rubric::imagenhub().version()),
            context(&odd.version()),
        ))
        .unwrap(); // fits the tables of version 5
        super::super::migrations().to_latest(&mut conn).unwrap(); // valid
        let mut query = conn.prepare("SELECT criterion, scale, rating_id, value FROM answers ORDER BY criterion, scale").unwrap(); // version 6
        let rows = query
            .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?, row.get::<_, f64>(3)?)));
        let rows: Vec<_> = rows.unwrap().collect::<Result<_, _>>().unwrap(); // columns of version 6
        let rows: Vec<_> =
            rows.iter().map(|(criterion, scale, rating, value)| (criterion.as_str(), scale.as_str(), *rating, *value)).collect();
        assert_eq!(
            rows,
            [
                ("PQ", "0, 0.5, 1", 2, 1.0),
                ("SC", "0, 0.5, 1", 2, 0.5),
                ("overall", "1 to 3", 3, 3.0),
                ("overall", "1 to 5", 1, 4.0),
                ("size", "1 to 5", 1, 2.0),
            ]
        );
        let counting: i64 = conn.query_row("SELECT sum(newest) FROM ratings", [], |row| row.get(0)).unwrap(); // a number
        assert_eq!(counting, 3);
    }
}
