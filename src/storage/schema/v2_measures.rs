//! File version 2: Baseline measures.

pub(super) const SQL: &str = "";
