//! Out of the project: tables, JSON lines, COCO annotations and masks. What `datasets` read comes out so that it reads the same.
//!
//! Callers hand in plain rows; nothing here knows the project file. A file is written beside its place and then moved there, so
//! that a failed export leaves an older file as it was; a symlink stays and its target is replaced, a pipe or device is written into.

mod coco;
mod guard;
mod masks;
mod place;
mod ratings;
mod report;
mod rows;
mod score_line;
mod table;

use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

pub use crate::domain::{AutomaticResult, ExportRegion, ExportResult, ExportRow};
pub use coco::{CocoPicture, CocoWritten, MaskForm, write_coco};
pub use guard::{EXPORTED, Kept, PASTED_MANIFEST};
pub use masks::{INCOMPLETE, MaskInk, OUTDATED, Written, note_outdated, picture_files, write_masks, write_pictures};
pub use place::is_stream;
pub use ratings::{write_ratings_csv, write_ratings_jsonl};
pub use report::{
    DRAWN_NOW, ELO, ReportEdit, ReportExtras, ReportPoint, TURNED, check_report_name, ground_truth_words, is_distance, is_of_zone,
    marked_metric, metric_words, no_pairs_words, note_words, one_rater_words, significance_words, stayed, stayed_words, write_report,
};
pub use rows::write_jsonl;
pub use score_line::{AutomaticLine, FailedLine, Normalised, ScoreLine};
pub use table::write_csv;

/// The first three of many names, and how many more there are.
pub fn first_few(names: &[impl AsRef<str>]) -> String {
    let first: Vec<&str> = names.iter().take(3).map(AsRef::as_ref).collect();
    let more = if names.len() > 3 { format!(" and {} more", names.len() - 3) } else { String::new() };
    format!("{}{more}", first.join(", "))
}

/// Why an export was not made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: std::io::Error },
    #[error("cannot write {path}: {reason}")]
    Content { path: PathBuf, reason: String },
    #[error("{path} is an EditScope project, which would be lost; choose another name for the output")]
    Project { path: PathBuf },
    #[error("{path} is what is being read, and would be lost; choose another name for the output")]
    Input { path: PathBuf },
    #[error("{path} is a picture of the project, and would be lost; choose another name or an empty folder for the output")]
    Picture { path: PathBuf },
    #[error("{path} is a list of edits that EditScope did not write, and would be lost; choose another name for the output")]
    Edits { path: PathBuf },
    #[error("{path} holds pictures of the project; choose another folder for the output, best an empty one")]
    Folder { path: PathBuf },
    #[error("{path} holds an export of another kind, whose pictures have the same names; choose another folder for the output")]
    Mixed { path: PathBuf },
    #[error("{path} is there already, and no export wrote it, so it would be lost; choose an empty folder for the output")]
    Foreign { path: PathBuf },
}

/// Says no to an output that is a file of the work itself: any project (which no export replaces), or one of `inputs`, which are
/// being read. Paths that are not there yet are fine.
///
/// # Errors
/// [`ExportError::Project`] or [`ExportError::Input`].
pub fn check_output(out: &Path, inputs: &[&Path]) -> Result<(), ExportError> {
    let real = out.canonicalize().ok();
    if real.is_some() && inputs.iter().any(|input| input.canonicalize().ok() == real) {
        return Err(ExportError::Input { path: out.to_owned() });
    }
    // A link may lead to a log that is not there yet.
    let written = place::behind_links(out).unwrap_or_else(|_| out.to_owned());
    if is_database(out) || database_beside(&written).is_some_and(|database| is_database(&database)) {
        return Err(ExportError::Project { path: out.to_owned() });
    }
    Ok(())
}

/// Whether it begins as every SQLite file does (sqlite.org/fileformat.html, section 1.3); a project is one, whatever its name.
fn is_database(path: &Path) -> bool {
    // Reading a pipe or a device would wait for it.
    if !path.is_file() {
        return false;
    }
    let mut start = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"SQLite format 3\0"
}

/// The database that a file of this name would be part of, by the names that SQLite gives to logs and shared memory.
fn database_beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let database = ["-wal", "-shm", "-journal"].iter().find_map(|end| name.strip_suffix(end))?;
    Some(path.with_file_name(database))
}

/// Writes a whole file or nothing. A project in its place stays: see [`check_output`]. A symlink stays one: the file that it leads to is
/// written. What is no file (a pipe, a device) is never replaced: the content goes into it.
///
/// # Errors
/// [`ExportError::Write`] from the disk, [`ExportError::Content`] from `content`, and what [`check_output`] says.
pub fn write_file(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<(), String>) -> Result<(), ExportError> {
    check_output(path, &[])?;
    let failed = |source| ExportError::Write { path: path.to_owned(), source };
    let content = |out: &mut dyn Write| content(out).map_err(|reason| ExportError::Content { path: path.to_owned(), reason });
    if is_stream(path) {
        let mut out = BufWriter::new(std::fs::OpenOptions::new().write(true).open(path).map_err(failed)?);
        content(&mut out)?;
        return out.flush().map_err(failed);
    }
    let target = place::behind_links(path).map_err(failed)?;
    let mut partial = target.clone().into_os_string();
    partial.push(".part");
    let partial = PathBuf::from(partial);
    let write = || -> Result<(), ExportError> {
        let mut out = BufWriter::new(std::fs::File::create(&partial).map_err(failed)?);
        content(&mut out)?;
        out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)?;
        std::fs::rename(&partial, &target).map_err(failed)
    };
    let written = write();
    if written.is_err() {
        // Best effort: the error that is told is the first one.
        let _ = std::fs::remove_file(&partial);
    }
    written
}
