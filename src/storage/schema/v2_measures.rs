//! File version 2: baseline metrics beside each score.

pub(super) const SQL: &str = "
-- One baseline of a scored edit. Inside and outside are of the region of that score. As in `scores`: a zone has a value, or a why that
-- begins with 'na:' or 'failed:'.
CREATE TABLE baselines (
    score_id INTEGER NOT NULL REFERENCES scores (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    whole REAL, whole_why TEXT,
    inside REAL, inside_why TEXT,
    outside REAL, outside_why TEXT,
    note TEXT NOT NULL,
    PRIMARY KEY (score_id, name)
) STRICT, WITHOUT ROWID;
";
