//! Several projects become one, for raters who worked on copies of a project on machines of their own.
//!
//! Rows are matched by what they say, never by their ids: an item by its key, its instruction and its source's content, an edit by
//! its key and its picture's content, everything else by all it says and by what it belongs to (journals of regions: `regions`). What is in
//! several inputs is kept once, what differs is kept side by side and reported as a [`Conflict`]. The inputs' order decides nothing, and merging a project with
//! itself gives that project again. The cache of network results is left behind; it only saves work.

mod conflicts;
mod content;
mod regions;
mod rows;
mod tables;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::Fault;
use super::{Project, StorageError};

/// What was merged.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct MergeReport {
    pub inputs: Vec<InputCounts>,
    /// The merged project.
    pub merged: Counts,
    pub conflicts: Vec<Conflict>,
}

/// One of the projects that were merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputCounts {
    pub path: PathBuf,
    #[serde(flatten)]
    pub counts: Counts,
}

/// How much a project holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    pub items: usize,
    pub edits: usize,
    pub ratings: usize,
    /// Answers and skips of rating sessions.
    pub judgements: usize,
    pub sessions: usize,
    /// Votes out of tables.
    pub votes: usize,
    pub parses: usize,
    pub runs: usize,
    /// Entries of the journals of regions.
    pub region_changes: usize,
}

/// Something that the inputs do not agree about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Conflict {
    pub kind: ConflictKind,
    /// What differs where, and what was kept.
    pub what: String,
}

/// The kinds of [`Conflict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// Items or edits of one key with different instructions or pictures.
    Content,
    /// One rater's newest answers about an edit.
    Rating,
    /// One rater's newest vote or ranking of the same edits.
    Vote,
    /// The parses that count.
    Parse,
    /// The regions that count.
    Regions,
    /// Things with one name: ranges, comparisons, unknown keys.
    Name,
}

impl ConflictKind {
    /// The word in front of a conflict.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Rating => "rating",
            Self::Vote => "vote",
            Self::Parse => "parse",
            Self::Regions => "regions",
            Self::Name => "name",
        }
    }
}

/// An open input, with the name that reports call it by.
pub(super) struct Input {
    pub project: Project,
    pub name: String,
}

/// Merges the projects at `inputs` into a new one at `output`. The inputs are only read.
///
/// # Errors
/// When an input cannot be opened (see [`Project::open_read_only`]), something is at `output` already, or it cannot be written. Nothing
/// is left at `output` then.
pub fn merge(inputs: &[PathBuf], output: &Path) -> Result<MergeReport, StorageError> {
    if std::fs::symlink_metadata(output).is_ok() {
        return Err(StorageError::Exists { path: output.to_owned() });
    }
    let opened = inputs
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok(Input { project: Project::open_read_only(path)?, name })
        })
        .collect::<Result<Vec<_>, StorageError>>()?;
    let mut part = output.to_owned().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    // Left by a merge that was killed; nothing else has such a name.
    let _ = std::fs::remove_file(&part);
    let report = merge_into(&opened, inputs, &part);
    let kept = report.and_then(|report| {
        std::fs::rename(&part, output)
            .map(|()| report)
            .map_err(|error| StorageError::CannotOpen { path: output.to_owned(), why: error.to_string() })
    });
    if kept.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&part);
    }
    kept
}

fn merge_into(opened: &[Input], paths: &[PathBuf], part: &Path) -> Result<MergeReport, StorageError> {
    let output = Project::create(part)?;
    let folder = output.folder().to_owned();
    let conflicts = output.write(MERGING, |conn| {
        let tables = tables::all(conn)?;
        let mut conflicts = Vec::new();
        let content = content::merge(opened, conn, &folder, &mut conflicts)?;
        let maps = rows::merge(opened, conn, &tables, content, &mut conflicts)?;
        conflicts::find(opened, &maps, &mut conflicts)?;
        let parses = rows::settle(conn, opened, &maps)?;
        regions::merge(opened, conn, &maps, &parses, &mut conflicts)?;
        conflicts.sort();
        conflicts.dedup();
        Ok(conflicts)
    })?;
    let counts = |project: &Project| project.read(MERGING, counts);
    let inputs = opened
        .iter()
        .zip(paths)
        .map(|(input, path)| Ok(InputCounts { path: path.clone(), counts: counts(&input.project)? }))
        .collect::<Result<_, StorageError>>()?;
    Ok(MergeReport { inputs, merged: counts(&output)?, conflicts })
}

const MERGING: &str = "merging projects";

fn counts(conn: &rusqlite::Connection) -> Result<Counts, Fault> {
    let count = |table: &str| -> Result<usize, Fault> {
        let rows: i64 = conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        Ok(rows.unsigned_abs() as usize)
    };
    Ok(Counts {
        items: count("items")?,
        edits: count("edits")?,
        ratings: count("ratings")?,
        judgements: count("judgements")?,
        sessions: count("rating_sessions")?,
        votes: count("votes")?,
        parses: count("parses")?,
        runs: count("runs")?,
        region_changes: count("region_changes")?,
    })
}
