//! File version 3: Regions: journal and undo.

pub(super) const SQL: &str = "";
