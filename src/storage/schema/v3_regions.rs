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
