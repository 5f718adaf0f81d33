//! Tables of ratings for the window: a preview to choose columns by, and the import of what was chosen.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::datasets::opinions::{
    ColumnMap, OpinionFormat, Opinions, RatedEdit, is_data_set, is_rater_file, read_opinions, read_sheet, recognise,
};
use crate::datasets::{Problem, Sheet, SheetRow, grouped, read_rater_rows};
use crate::domain::{EditKey, ModelVote, Rating, RatingContext, assumed_scale};
use crate::storage::{EditId, EditVote, ItemId, Project};

pub use crate::datasets::opinions::{Column, ColumnMap as TableColumns, OpinionFormat as TableFormat, Role};

/// Rows shown to choose columns by.
const SHOWN: usize = 6;
/// Problems that are named; the others are counted.
const NAMED: usize = 40;

/// What is asked about a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableRequest {
    /// Read it with these columns (guessed, when `None`) and say what comes out for the edits of the project.
    Preview { table: PathBuf, project: PathBuf, columns: Option<ColumnMap> },
    /// Take its ratings and votes into the project, with these columns or (`None`) in the format that it was recognised as.
    Import { table: PathBuf, project: PathBuf, columns: Option<ColumnMap> },
}

/// What a table looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct TablePreview {
    pub header: Vec<String>,
    /// The first rows, one cell a column.
    pub rows: Vec<Vec<String>>,
    pub row_count: usize,
    pub format: TableFormat,
    /// How it was taken, in words; empty when it cannot be read.
    pub read_as: String,
    /// Empty for formats whose columns need no choice.
    pub columns: ColumnMap,
    /// Why nothing can be read with these columns, if so.
    pub objection: Option<String>,
    pub ratings: usize,
    pub votes: usize,
    /// Ratings that are about an edit of the project.
    pub matched: usize,
    /// Votes that are about two edits of the project.
    pub matched_votes: usize,
    /// What was not understood, with row and column; the first ones.
    pub problems: Vec<String>,
    pub problem_count: usize,
}

/// The answer to a [`TableRequest`].
#[derive(Clone, Debug, PartialEq)]
pub enum TableEvent {
    Previewed { table: PathBuf, result: Result<TablePreview, String> },
    Imported { table: PathBuf, result: Result<Taken, String> },
}

/// What an import of opinions did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// New ratings.
    pub ratings: usize,
    /// New votes.
    pub votes: usize,
    /// What was left out or is odd.
    pub notes: Vec<String>,
}

/// Answers a request.
pub fn answer(request: &TableRequest) -> TableEvent {
    match request {
        TableRequest::Preview { table, project, columns } => TableEvent::Previewed {
            table: table.clone(),
            result: preview(table, project, columns.as_ref()).map_err(|error| crate::engine::in_words(&error)),
        },
        TableRequest::Import { table, project, columns } => {
            let is_own = columns.is_none() && Sheet::read(table).is_ok_and(|sheet| is_rater_file(&sheet));
            let done = match is_own {
                true => import_rater_file(table, project),
                false => read_opinions(table, None, columns.as_ref()).map_err(Into::into).and_then(|found| import(&found, project)),
            };
            TableEvent::Imported { table: table.clone(), result: done.map_err(|error| crate::engine::in_words(&error)) }
        }
    }
}

/// Takes everything in a file of `export --format ratings`, sessions too.
fn import_rater_file(table: &Path, project: &Path) -> anyhow::Result<Taken> {
    let file = read_rater_rows(table)?;
    let done = Project::open(project)?.import_rater_rows(&file.rows)?;
    let about = done.problems.iter().map(|(row, reason)| Problem { place: file.places[*row].clone(), reason: reason.clone() });
    let problems: Vec<Problem> = file.problems.iter().cloned().chain(about).collect();
    if done.is_about_nothing() {
        let told: Vec<String> = grouped(&problems, TOLD).into_iter().map(|line| format!("\n  {line}")).collect();
        bail!("nothing in {} is about an edit of {}{}", table.display(), project.display(), told.concat());
    }
    let mut notes: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if done.judgements_added + done.sessions_added > 0 {
        notes.push(format!("{} answers in {} sessions are new too", done.judgements_added, done.sessions_added));
    }
    Ok(Taken { ratings: done.ratings_added, votes: done.votes_added, notes })
}

fn preview(table: &Path, project: &Path, columns: Option<&ColumnMap>) -> anyhow::Result<TablePreview> {
    let sheet = Sheet::read(table)?;
    // Files whose columns need no choice.
    let is_data_set = columns.is_none() && (is_data_set(table) || is_rater_file(&sheet));
    let mut format = if columns.is_some() { OpinionFormat::Columns } else { recognise(&sheet) };
    let columns = match format {
        OpinionFormat::Columns => columns.cloned().unwrap_or_else(|| ColumnMap::guess(&sheet)),
        _ => ColumnMap::default(),
    };
    let text = |row: &SheetRow, column: &String| match row.cells.get(column) {
        Some(value) => row.word(column).unwrap_or_else(|| value.to_string()),
        None => String::new(),
    };
    let rows = sheet.rows.iter().take(SHOWN).map(|row| sheet.header.iter().map(|column| text(row, column)).collect()).collect();
    let read = if is_data_set {
        read_opinions(table, None, None).map_err(|error| error.to_string())
    } else {
        read_sheet(&sheet, format, Some(&columns))
    };
    let (read, objection) = match read {
        Ok(read) => (Some(read), None),
        Err(why) => (None, Some(why)),
    };
    let (mut problems, found) = match &read {
        Some(read) => {
            format = read.format;
            let found = matched(read, &Project::open_read_only(project)?)?;
            (read.problems.iter().chain(&found.strangers).map(ToString::to_string).collect(), found)
        }
        None => (Vec::new(), Matched::default()),
    };
    let problem_count = problems.len();
    problems.truncate(NAMED);
    Ok(TablePreview {
        header: sheet.header.clone(),
        rows,
        row_count: sheet.rows.len(),
        format,
        read_as: read.as_ref().map(|read| read.read_as.clone()).unwrap_or_default(),
        columns,
        objection,
        ratings: read.as_ref().map_or(0, |read| read.ratings.len()),
        votes: read.as_ref().map_or(0, |read| read.votes.len()),
        matched: found.ratings.len(),
        matched_votes: found.votes.len(),
        problems,
        problem_count,
    })
}

/// Opinions with the edits that they are about, and why others are about none.
#[derive(Debug, Default)]
struct Matched {
    ratings: Vec<(EditId, Rating)>,
    votes: Vec<EditVote>,
    strangers: Vec<Problem>,
}

/// The edits of a project by what tables call them.
struct Names<'a> {
    project: &'a Project,
    by_name: HashMap<(String, String), Vec<EditId>>,
    items: HashMap<EditId, ItemId>,
}

impl<'a> Names<'a> {
    fn of(project: &'a Project) -> anyhow::Result<Self> {
        let items = project.edits()?.into_iter().map(|edit| (edit.id, edit.item)).collect();
        Ok(Self { project, by_name: project.edits_by_name()?, items })
    }

    /// The edit of an item by a model, or why there is none.
    fn edit(&self, item: &str, model: &str) -> Result<EditId, String> {
        match self.by_name.get(&(item.to_owned(), model.to_owned())).map(Vec::as_slice) {
            Some([edit]) => Ok(*edit),
            Some(_) => {
                let number = format!("{model} #1").trim().to_owned();
                Err(format!("'{model}' made several edits of '{item}'; which one is meant is not said (write '{number}' for the first)"))
            }
            None => Err(format!("the project has no edit of '{item}' by '{model}'")),
        }
    }

    /// The two edits of a vote: of its item by its models, else the edits that have these names as their keys.
    fn pair(&self, vote: &ModelVote) -> anyhow::Result<Result<[EditId; 2], (String, String)>> {
        let by_model = |model: &str| self.edit(&vote.item, model).map_err(|why| (model.to_owned(), why));
        let by_key = |key: &str| self.project.edit_by_key(&EditKey(key.to_owned()));
        let why = match (by_model(&vote.first), by_model(&vote.second)) {
            (Ok(first), Ok(second)) => return Ok(Ok([first, second])),
            (Err(why), _) | (_, Err(why)) => why,
        };
        match (by_key(&vote.first)?, by_key(&vote.second)?) {
            (Some(first), Some(second)) if first != second && self.items.get(&first) == self.items.get(&second) => Ok(Ok([first, second])),
            _ => Ok(Err(why)),
        }
    }
}

/// Things that are about no edit of the project: one problem for each item and model, with how many there are.
#[derive(Default)]
struct Strangers {
    problems: Vec<(Problem, &'static str, usize)>,
    known: HashMap<(String, String), usize>,
}

impl Strangers {
    fn add(&mut self, item: &str, model: &str, what: &'static str, place: &str, reason: String) {
        match self.known.entry((item.to_owned(), model.to_owned())) {
            Entry::Occupied(at) => self.problems[*at.get()].2 += 1,
            Entry::Vacant(new) => {
                new.insert(self.problems.len());
                self.problems.push((Problem { place: place.to_owned(), reason }, what, 1));
            }
        }
    }

    fn told(self) -> Vec<Problem> {
        let with_count = |(problem, what, count): (Problem, &str, usize)| match count {
            1 => problem,
            count => Problem { reason: format!("{} ({count} {what})", problem.reason), ..problem },
        };
        self.problems.into_iter().map(with_count).collect()
    }
}

/// The opinions that are about edits of the project, and one problem for each item and model that it does not have.
fn matched(opinions: &Opinions, project: &Project) -> anyhow::Result<Matched> {
    let names = Names::of(project)?;
    let mut found = Matched::default();
    let mut strangers = Strangers::default();
    for rated in &opinions.ratings {
        match names.edit(&rated.item, &rated.model) {
            Ok(edit) => found.ratings.push((edit, with_context(rated, opinions))),
            Err(why) => strangers.add(&rated.item, &rated.model, "ratings", &rated.place, why),
        }
    }
    for (vote, place) in opinions.votes.iter().zip(&opinions.vote_places) {
        match names.pair(vote)? {
            Ok([first, second]) => {
                let (rater, criterion, preference) = (vote.rater.clone(), vote.criterion.clone(), vote.preference);
                found.votes.push(EditVote { first, second, rater, criterion, preference });
            }
            Err((model, why)) => strangers.add(&vote.item, &model, "votes", place, why),
        }
    }
    found.strangers = strangers.told();
    Ok(found)
}

/// The rating with what its table says of it beside the answers: how long it took, and scales that are not those that one would assume.
fn with_context(rated: &RatedEdit, opinions: &Opinions) -> Rating {
    if rated.rating.context.is_some() {
        return rated.rating.clone();
    }
    let scales = rated.rating.values.keys().map(|criterion| (criterion.clone(), opinions.scale_of(criterion)));
    let scales: std::collections::BTreeMap<_, _> = scales.filter(|(criterion, scale)| *scale != assumed_scale(criterion)).collect();
    let says_something = rated.seconds.is_some() || !scales.is_empty();
    Rating { context: says_something.then(|| RatingContext::of_table(rated.seconds, scales)), ..rated.rating.clone() }
}

/// Problems of one kind that an error tells.
const TOLD: usize = 5;

/// Takes ratings and votes into a project whose edits they name by item and model; how many are new, and what was left out.
///
/// # Errors
/// When the project cannot be written, or no rating and no vote is about its edits.
pub fn import(opinions: &Opinions, project: &Path) -> anyhow::Result<Taken> {
    import_telling(opinions, project, &|_, _| {})
}

/// [`import`] that tells how many of the edits with ratings are done.
///
/// # Errors
/// As [`import`].
pub fn import_telling(opinions: &Opinions, project: &Path, tell: &dyn Fn(usize, usize)) -> anyhow::Result<Taken> {
    let project = Project::open(project)?;
    let found = matched(opinions, &project)?;
    let problems: Vec<Problem> = opinions.problems.iter().chain(&found.strangers).cloned().collect();
    if found.ratings.is_empty() && found.votes.is_empty() {
        let told: Vec<String> = grouped(&problems, TOLD).into_iter().map(|line| format!("\n  {line}")).collect();
        let counts = [(opinions.ratings.len(), "ratings"), (opinions.votes.len(), "votes")];
        let counts: Vec<String> = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        bail!("none of the {} is about an edit of {}{}", counts.join(" and "), project.path().display(), told.concat());
    }
    let (ratings, votes) = project.import_opinions_telling(&found.ratings, &found.votes, tell)?;
    let mut notes: Vec<String> = problems.iter().map(ToString::to_string).collect();
    notes.extend(project.raters_alike()?);
    Ok(Taken { ratings, votes, notes })
}
