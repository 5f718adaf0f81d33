//! File version 5: Saved comparisons and merging.

pub(super) const SQL: &str = "";
