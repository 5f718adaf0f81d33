//! Tables of ratings for the window: a preview to choose columns by, and the import of what was chosen.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::datasets::opinions::{ColumnMap, Opinions, RatedEdit, read_columns, read_opinions};
use crate::datasets::{Problem, Sheet, SheetRow, grouped};
use crate::domain::Rating;
use crate::storage::{EditId, Project};

pub use crate::datasets::opinions::{Column, ColumnMap as TableColumns, Role};

/// Rows shown to choose columns by.
const SHOWN: usize = 6;
/// Problems that are named; the others are counted.
const NAMED: usize = 40;

/// What is asked about a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableRequest {
    /// Read it with these columns (guessed, when `None`) and say what comes out for the edits of the project.
    Preview { table: PathBuf, project: PathBuf, columns: Option<ColumnMap> },
    /// Take its ratings into the project.
    Import { table: PathBuf, project: PathBuf, columns: ColumnMap },
}

/// What a table looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct TablePreview {
    pub header: Vec<String>,
    /// The first rows, one cell a column.
    pub rows: Vec<Vec<String>>,
    pub row_count: usize,
    pub columns: ColumnMap,
    /// Why nothing can be read with these columns, if so.
    pub objection: Option<String>,
    pub ratings: usize,
    pub votes: usize,
    /// Ratings that are about an edit of the project.
    pub matched: usize,
    /// What was not understood, with row and column; the first ones.
    pub problems: Vec<String>,
    pub problem_count: usize,
}

/// The answer to a [`TableRequest`].
#[derive(Clone, Debug, PartialEq)]
pub enum TableEvent {
    Previewed {
        table: PathBuf,
        result: Result<TablePreview, String>,
    },
    /// How many ratings are new, and what was left out.
    Imported {
        table: PathBuf,
        result: Result<(usize, Vec<String>), String>,
    },
}

/// Answers a request.
pub fn answer(request: &TableRequest) -> TableEvent {
    match request {
        TableRequest::Preview { table, project, columns } => TableEvent::Previewed {
            table: table.clone(),
            result: preview(table, project, columns.as_ref()).map_err(|error| format!("{error:#}")),
        },
        TableRequest::Import { table, project, columns } => {
            let done = read_opinions(table, None, Some(columns)).map_err(Into::into).and_then(|found| import(&found, project));
            TableEvent::Imported { table: table.clone(), result: done.map_err(|error| format!("{error:#}")) }
        }
    }
}

fn preview(table: &Path, project: &Path, columns: Option<&ColumnMap>) -> anyhow::Result<TablePreview> {
    let sheet = Sheet::read(table)?;
    let columns = columns.cloned().unwrap_or_else(|| ColumnMap::guess(&sheet));
    let text = |row: &SheetRow, column: &String| match row.cells.get(column) {
        Some(value) => row.word(column).unwrap_or_else(|| value.to_string()),
        None => String::new(),
    };
    let rows = sheet.rows.iter().take(SHOWN).map(|row| sheet.header.iter().map(|column| text(row, column)).collect()).collect();
    let (read, objection) = match read_columns(&sheet, Some(&columns)) {
        Ok(read) => (Some(read), None),
        Err(why) => (None, Some(why)),
    };
    let (mut problems, matched) = match &read {
        Some(read) => {
            let (found, strangers) = matched(&read.ratings, &Project::open_read_only(project)?)?;
            (read.problems.iter().chain(&strangers).map(ToString::to_string).collect(), found.len())
        }
        None => (Vec::new(), 0),
    };
    let problem_count = problems.len();
    problems.truncate(NAMED);
    Ok(TablePreview {
        header: sheet.header.clone(),
        rows,
        row_count: sheet.rows.len(),
        columns,
        objection,
        ratings: read.as_ref().map_or(0, |read| read.ratings.len()),
        votes: read.as_ref().map_or(0, |read| read.votes.len()),
        matched,
        problems,
        problem_count,
    })
}

/// Ratings with the edits that they are about, and why others are about none.
type Matched = (Vec<(EditId, Rating)>, Vec<Problem>);

/// The ratings that are about an edit of the project, and one problem for each item and model that it does not have.
fn matched(ratings: &[RatedEdit], project: &Project) -> anyhow::Result<Matched> {
    let names = project.edits_by_name()?;
    let mut found = Vec::new();
    // Item and model → the first row about them, what is wrong, and how many more rows there are.
    let mut strangers: Vec<(Problem, usize)> = Vec::new();
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    for rated in ratings {
        let (item, model) = (rated.item.as_str(), rated.model.as_str());
        let reason = match names.get(&(rated.item.clone(), rated.model.clone())).map(Vec::as_slice) {
            Some([edit]) => {
                found.push((*edit, rated.rating.clone()));
                continue;
            }
            Some(_) => format!("'{model}' made several edits of '{item}'; which one is meant is not said"),
            None => format!("the project has no edit of '{item}' by '{model}'"),
        };
        match known.entry((item, model)) {
            Entry::Occupied(at) => strangers[*at.get()].1 += 1,
            Entry::Vacant(new) => {
                new.insert(strangers.len());
                strangers.push((Problem { place: rated.place.clone(), reason }, 0));
            }
        }
    }
    let with_count = |(problem, more): (Problem, usize)| match more {
        0 => problem,
        more => Problem { reason: format!("{} ({} ratings)", problem.reason, more + 1), ..problem },
    };
    Ok((found, strangers.into_iter().map(with_count).collect()))
}

/// Problems of one kind that an error tells.
const TOLD: usize = 5;

/// Takes ratings into a project whose edits they name by item and model; how many are new, and what was left out.
///
/// # Errors
/// When the project cannot be written, or no rating is about one of its edits.
pub fn import(opinions: &Opinions, project: &Path) -> anyhow::Result<(usize, Vec<String>)> {
    let project = Project::open(project)?;
    let (found, strangers) = matched(&opinions.ratings, &project)?;
    let problems: Vec<Problem> = opinions.problems.iter().cloned().chain(strangers).collect();
    if found.is_empty() {
        let told: Vec<String> = grouped(&problems, TOLD).into_iter().map(|line| format!("\n  {line}")).collect();
        let (ratings, path) = (opinions.ratings.len(), project.path().display());
        bail!("none of the {ratings} ratings is about an edit of {path}{}", told.concat());
    }
    let mut notes: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if !opinions.votes.is_empty() {
        notes.push(format!("{} votes are left out: compare with them by `editscope agree PROJECT --ratings FILE`", opinions.votes.len()));
    }
    Ok((project.import_ratings(&found)?, notes))
}
