//! File version 3: regions as a journal of differences instead of one whole state a change.

pub(super) const SQL: &str = r#"
-- Each change of the regions on one side, as it was made; the newest that was not set aside leads to the state that counts. Regions of
-- the source belong to the item (edit_id is NULL).
CREATE TABLE region_changes (
    id INTEGER PRIMARY KEY,
    item_id INTEGER NOT NULL REFERENCES items (id),
    edit_id INTEGER REFERENCES edits (id),
    -- A random name that the writer chose: an entry that is sent again after an unclear failure is known.
    token INTEGER NOT NULL UNIQUE,
    -- The entry of this side that the writer had seen last; 0 before the first.
    parent INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('do', 'undo', 'redo', 'set_aside')),
    -- The entry that was undone or redone.
    target INTEGER CHECK ((target IS NOT NULL) = (kind IN ('undo', 'redo'))),
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    at_millis INTEGER NOT NULL,
    -- The difference to the state before, as JSON.
    change TEXT NOT NULL
) STRICT;
CREATE INDEX region_changes_of_source ON region_changes (item_id, id) WHERE edit_id IS NULL;
CREATE INDEX region_changes_of_edit ON region_changes (edit_id, id) WHERE edit_id IS NOT NULL;
CREATE TRIGGER region_changes_are_kept BEFORE DELETE ON region_changes
    BEGIN SELECT RAISE(ABORT, 'changes of regions are never deleted'); END;
CREATE TRIGGER region_changes_are_not_changed BEFORE UPDATE ON region_changes
    BEGIN SELECT RAISE(ABORT, 'changes of regions are never changed'); END;

-- The whole state after some entries, so that reading need not begin at the first. Can be emptied at any time.
CREATE TABLE region_checkpoints (
    change_id INTEGER PRIMARY KEY REFERENCES region_changes (id),
    regions TEXT NOT NULL
) STRICT;

-- The states of version 1, each with the one before it.
INSERT INTO region_changes (id, item_id, edit_id, token, parent, kind, who, what, at_millis, change)
SELECT id, item_id, edit_id, id, lag(id, 1, 0) OVER side, 'do', who, what, at_millis,
       json_array(json_object('replaced', json_object(
           'before', json(coalesce(lag(json_object('regions', json(regions))) OVER side, '{"roles":[],"regions":[]}')),
           'after', json_object('regions', json(regions)))))
FROM region_sets
WINDOW side AS (PARTITION BY item_id, edit_id ORDER BY id);
DROP TABLE region_sets;
"#;

#[cfg(test)]
mod tests {
    use rusqlite_migration::{M, Migrations};

    use crate::domain::regions::{RegionChange, RegionStream, Token};
    use crate::domain::{RegionRole, Side};

    /// Two states of the source and one of an edit, as file version 2 held them, become three journal entries that lead to the same.
    #[test]
    fn states_of_older_files_become_a_journal() {
        let mut conn = rusqlite::Connection::open_in_memory().unwrap(); // in memory
        let steps = super::super::STEPS;
        Migrations::new(steps[..2].iter().copied().map(M::up).collect()).to_latest(&mut conn).unwrap(); // valid
        let region = |x1: u32| {
            format!(
                r#"{{"side":"source","role":"original","origin":"person","shape":{{"box":[0.0,0.0,{x1}.5,2.0]}},"label":"cup","confidence":null}}"#
            )
        };
        conn.execute_batch(&format!(
            "INSERT INTO pictures (id, path, state) VALUES (1, 'a', 'present');
             INSERT INTO items (id, key, source_id, source_given, instruction, extra) VALUES (1, 'i', 1, 'a', '', '{{}}');
             INSERT INTO edits (id, item_id, key, picture_id, given, model, extra) VALUES (1, 1, 'e', 1, 'a', '', '{{}}');
             INSERT INTO region_sets (item_id, edit_id, who, what, at_millis, regions) VALUES
                 (1, NULL, 'Jo', 'drew', 5, '[{}]'), (1, 1, 'Jo', 'none', 6, '[]'), (1, NULL, 'Jo', 'moved', 7, '[{}]');",
            region(2),
            region(3)
        ))
        .unwrap(); // fits the tables of version 2
        super::super::migrations().to_latest(&mut conn).unwrap(); // valid
        let mut query = conn.prepare("SELECT token, parent, edit_id IS NULL, change FROM region_changes ORDER BY id").unwrap(); // version 3
        let rows = query.query_map([], |row| {
            let change: String = row.get(3)?;
            Ok((Token(row.get(0)?), Token(row.get(1)?), row.get::<_, bool>(2)?, change))
        });
        let rows: Vec<_> = rows.unwrap().collect::<Result<_, _>>().unwrap(); // columns of version 3
        assert_eq!(
            rows.iter().map(|row| (row.0, row.1, row.2)).collect::<Vec<_>>(),
            [(Token(1), Token::NONE, true), (Token(2), Token::NONE, false), (Token(3), Token(1), true)]
        );
        let change = |n: usize| serde_json::from_str::<RegionChange>(&rows[n].3).unwrap(); // as this program writes it
        let mut source = RegionStream::unspoken(Side::Source);
        source.state = change(0).applied(&source.state).unwrap(); // the first state
        source.state = change(2).applied(&source.state).unwrap(); // the second
        assert_eq!(source.state.plain()[0].shape, serde_json::from_str(r#"{"box":[0.0,0.0,3.5,2.0]}"#).unwrap()); // a box
        // Undoing the second leads to the first, undoing the first to nobody's word.
        let first = change(2).inverse().applied(&source.state).unwrap(); // the way back
        assert_eq!(first.plain()[0].shape, serde_json::from_str(r#"{"box":[0.0,0.0,2.5,2.0]}"#).unwrap()); // a box
        assert!(change(0).inverse().applied(&first).unwrap().roles.is_empty()); // the way back
        // That there is no region was a statement, and still is.
        let edit = change(1).applied(&RegionStream::unspoken(Side::Edit).state).unwrap(); // the state of the edit
        assert!(edit.speaks_for(RegionRole::EditMask) && edit.regions.is_empty());
    }
}
