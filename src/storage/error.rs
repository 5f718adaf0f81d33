//! What can go wrong with a project file, said with the file, what was being done, and what to do about it.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why a project could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    #[error("there is no project at {path}")]
    NotFound { path: PathBuf },
    #[error("{path} exists already; choose another name or open it")]
    Exists { path: PathBuf },
    #[error("{path} is not an EditScope project: {why}")]
    NotAProject { path: PathBuf, why: String },
    #[error("{path} was written by a newer EditScope (file version {found}, this program knows up to {known}); update the program")]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("cannot open {path}: {why}")]
    CannotOpen { path: PathBuf, why: String },
    #[error("cannot copy {path} to {backup} before upgrading it, so it was left as it is: {why}")]
    Backup { path: PathBuf, backup: PathBuf, why: String },
    #[error("cannot upgrade {path}, it was left as it is: {why}")]
    Upgrade { path: PathBuf, why: String },
    #[error("{doing}: {path} or its folder is read-only; copy the project to a folder that you may write to")]
    ReadOnly { path: PathBuf, doing: &'static str },
    #[error("{doing}: the disk that holds {path} is full; nothing was changed. Free some space and try again")]
    DiskFull { path: PathBuf, doing: &'static str },
    #[error("{doing}: the disk that holds {path} failed ({why}); nothing was changed. Is it still there?")]
    DiskFailed { path: PathBuf, doing: &'static str, why: String },
    #[error("{doing}: another program has kept {path} busy for too long; nothing was changed. Try again")]
    Busy { path: PathBuf, doing: &'static str },
    #[error("{doing}: {path} is damaged ({why}); go back to a copy, the pictures are untouched")]
    Damaged { path: PathBuf, doing: &'static str, why: String },
    #[error("{doing}: {path} {what}")]
    Lost { path: PathBuf, doing: &'static str, what: &'static str },
    #[error("{doing}: {path} has no {what} {id}")]
    NoSuch { path: PathBuf, doing: &'static str, what: &'static str, id: i64 },
    #[error("{doing}: {reason}")]
    Invalid { doing: &'static str, reason: String },
    #[error("{doing}: {path}: {source}")]
    Sql { path: PathBuf, doing: &'static str, source: rusqlite::Error },
}

/// What goes wrong inside one operation; [`Fault::at`] adds the file and the operation.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    /// Stored JSON that is not what the program writes.
    Json(&'static str, serde_json::Error),
    NoSuch(&'static str, i64),
    Invalid(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl Fault {
    pub fn at(self, path: &Path, doing: &'static str) -> StorageError {
        let path = path.to_owned();
        match self {
            Self::Json(what, error) => StorageError::Damaged { path, doing, why: format!("{what}: {error}") },
            Self::NoSuch(what, id) => StorageError::NoSuch { path, doing, what, id },
            Self::Invalid(reason) => StorageError::Invalid { doing, reason },
            // The memory that readers and writers share is a file beside the project; it cannot grow on a full disk.
            Self::Sql(error) if extended_code(&error) == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
                StorageError::DiskFull { path, doing }
            }
            Self::Sql(error) => match error.sqlite_error_code() {
                Some(ErrorCode::SystemIoFailure) => StorageError::DiskFailed { path, doing, why: error.to_string() },
                Some(ErrorCode::DiskFull) => StorageError::DiskFull { path, doing },
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StorageError::ReadOnly { path, doing },
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StorageError::Busy { path, doing },
                Some(ErrorCode::NotADatabase) => StorageError::NotAProject { path, why: "it is no SQLite database".into() },
                Some(ErrorCode::DatabaseCorrupt) => StorageError::Damaged { path, doing, why: error.to_string() },
                Some(ErrorCode::CannotOpen) => StorageError::CannotOpen { path, why: error.to_string() },
                _ => StorageError::Sql { path, doing, source: error },
            },
        }
    }
}

/// SQLite's finer word for what went wrong.
fn extended_code(error: &rusqlite::Error) -> Option<i32> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => Some(failure.extended_code),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_called_full_where_it_is_and_failing_where_it_is_not() {
        let fault = |code| Fault::from(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None));
        let told = |code| fault(code).at(Path::new("p.editscope"), "saving").to_string();
        // 4874 is what opening a project on a full disk gives (SQLITE_IOERR_SHMSIZE), 778 a write that the disk refused.
        assert_eq!(told(4874), "saving: the disk that holds p.editscope is full; nothing was changed. Free some space and try again");
        assert!(told(778).starts_with("saving: the disk that holds p.editscope failed ("), "{}", told(778));
        assert!(told(13).contains("is full"));
    }
}
