//! The project file. (The ids below are final; the rest is to be written.)

/// Row id of an edit in a project file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EditId(pub i64);
