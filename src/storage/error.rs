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
    #[error("{doing}: another program has kept {path} busy for too long; nothing was changed. Try again")]
    Busy { path: PathBuf, doing: &'static str },
    #[error("{doing}: {path} is damaged ({why}); go back to a copy, the pictures are untouched")]
    Damaged { path: PathBuf, doing: &'static str, why: String },
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
            Self::Sql(error) => match error.sqlite_error_code() {
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
