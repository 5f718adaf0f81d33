//! The project file: one SQLite database that holds everything but the pictures (see [`Project`]).
//!
//! What people made is never overwritten: ratings, parses and regions are appended, the newest counts. Every change is one
//! transaction in write-ahead mode, so a killed program loses nothing that a call returned for. Two programs may have the
//! same project open: writes wait for each other, and [`Project::data_version`] tells that the other one wrote.

mod answers;
mod cache;
mod corrections;
mod error;
mod hidden;
mod import;
mod items;
mod measures;
mod merge;
mod parses;
mod pictures;
mod place;
mod project;
mod queue;
mod rater_rows;
mod rating_import;
mod rating_tables;
mod ratings;
mod regions;
mod runs;
mod saved;
mod schema;
mod scores;
mod session_opinions;
mod sessions;
mod votes;

pub use cache::CacheUse;
pub use corrections::Inputs;
pub use error::StorageError;
pub use import::ImportReport;
pub use items::{StoredEdit, StoredItem};
pub use merge::{Conflict, ConflictKind, Counts, InputCounts, MergeReport, merge};
pub use parses::StoredParse;
pub use pictures::{PictureReport, PictureState};
pub use project::{Project, Upgrade};
pub use queue::{Flag, HumanSummary, QueueRow, QueueScore, flags_of};
pub use rater_rows::RaterImport;
pub use ratings::StoredRating;
pub use regions::{Appended, RegionJournal, RegionSet};
pub use runs::{NewRun, Run, RunEnd, RunKind};
pub use saved::SavedComparison;
pub use scores::StoredScore;
pub use session_opinions::SessionOpinions;
pub use sessions::StoredSession;
pub use votes::EditVote;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub i64);

        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                value.as_i64().map(Self)
            }
        }
    };
}

id! {
    /// Row id of an item in a project file.
    ItemId
}
id! {
    /// Row id of an edit in a project file.
    EditId
}
id! {
    /// Row id of a run in a project file.
    RunId
}

/// Milliseconds since 1970, UTC.
fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
