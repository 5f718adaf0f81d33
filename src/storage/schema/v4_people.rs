//! File version 4: Rating protocols and sessions.

pub(super) const SQL: &str = "";
