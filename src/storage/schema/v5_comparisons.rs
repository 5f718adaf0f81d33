//! File version 5: Saved comparisons say who saved them.

pub(super) const SQL: &str = "
ALTER TABLE comparisons ADD COLUMN who TEXT NOT NULL DEFAULT '';
";
