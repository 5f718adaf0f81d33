//! Slow work on files that needs no network: import, the demo project, parsing.

use std::path::{Path, PathBuf};

use anyhow::bail;
use crossbeam_channel::Receiver;

use crate::datasets::{self, Dataset, Problem};
use crate::instruct;
use crate::storage::{EditId, Project, StorageError};

use super::demo;
use super::handle::Outbox;
use super::messages::{Event, ImportRequest, Level, Request};

/// Name of the demo's project file.
pub const DEMO_PROJECT: &str = "demo.editscope";

/// What an import did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub project: PathBuf,
    /// One sentence with counts.
    pub summary: String,
    /// Rows that were not read, and why.
    pub problems: Vec<String>,
}

/// Answers requests until the engine is gone.
pub fn serve(requests: &Receiver<Request>, out: &Outbox) {
    for request in requests {
        let done = match request {
            Request::Import(ImportRequest { data, project }) => import(&data, &project, None).map(Some),
            Request::Table(request) => {
                out.publish(Event::Table(super::opinions::answer(&request)));
                Ok(None)
            }
            Request::MakeDemo { folder } => make_demo(&folder).map(Some),
            Request::Parse { edit, instruction } => {
                out.publish(Event::Parsed { edit, parse: instruct::parse_instruction(&instruction) });
                Ok(None)
            }
            Request::LocatePictures { project, folder } => locate_pictures(project, &folder, out).map(|()| None),
            Request::LookForPictures { project } => look_for_pictures(project, out).map(|()| None),
            Request::CheckPictures { project, edit } => check_pictures(project, edit, out).map(|()| None),
            _ => Ok(None),
        };
        match done {
            Ok(Some(Imported { project, summary, problems })) => out.publish(Event::ProjectReady { project, summary, problems }),
            Ok(None) => {}
            Err(error) => out.say(Level::Error, crate::engine::in_words(&error)),
        }
    }
}

/// A project that cannot be written to keeps what it knew of its pictures.
fn look_for_pictures(project: std::path::PathBuf, out: &Outbox) -> anyhow::Result<()> {
    if let Some(report) = where_writable(Project::open(&project).and_then(|open| open.look_for_pictures()))? {
        out.publish(Event::PicturesSeen { project, report });
    }
    Ok(())
}

/// As [`look_for_pictures`], of one edit or all; says nothing where nothing is new.
fn check_pictures(project: std::path::PathBuf, edit: Option<EditId>, out: &Outbox) -> anyhow::Result<()> {
    let look = |open: Project| match edit {
        Some(edit) => open.look_for_pictures_of(edit),
        None => open.look_for_pictures(),
    };
    match where_writable(Project::open(&project).and_then(look)) {
        Ok(Some(report)) if report.news > 0 => out.publish(Event::PicturesSeen { project, report }),
        Ok(_) => {}
        // Nobody asked for it: a project that is gone is told to whoever saves something.
        Err(error) => tracing::warn!(project = %project.display(), %error, "the pictures could not be looked at"),
    }
    Ok(())
}

/// Whoever saves something is told that it cannot be; looking alone is no reason to complain.
fn where_writable<T>(result: Result<T, StorageError>) -> Result<Option<T>, StorageError> {
    match result {
        Err(StorageError::ReadOnly { .. } | StorageError::DiskFull { .. }) => Ok(None),
        result => result.map(Some),
    }
}

/// Looks for missing pictures elsewhere, then at all of them.
fn locate_pictures(project: std::path::PathBuf, folder: &Path, out: &Outbox) -> anyhow::Result<()> {
    let found = Project::open(&project)?.locate_pictures(folder)?;
    let text = format!("{found} of the missing pictures are in {}", folder.display());
    out.say(if found > 0 { Level::Info } else { Level::Warning }, text);
    look_for_pictures(project, out)
}

/// Reads a data set into a project, which is made if it does not exist. Pictures that cannot be read are listed.
///
/// # Errors
/// When the data set cannot be read at all or holds no item, or the project cannot be opened or written.
pub fn import(data: &Path, project: &Path, format: Option<datasets::Format>) -> anyhow::Result<Imported> {
    import_telling(data, project, format, &|_, _| {})
}

/// [`import`] that tells how many of all items are in the project.
///
/// # Errors
/// As [`import`].
pub fn import_telling(
    data: &Path,
    project: &Path,
    format: Option<datasets::Format>,
    tell: &dyn Fn(usize, usize),
) -> anyhow::Result<Imported> {
    let dataset = read(data, format)?;
    let unreadable = datasets::unreadable(&dataset);
    add(&dataset, &unreadable, project, tell)
}

/// [`import_telling`] for a run that scores every edit right after, and so tells by itself which pictures cannot be read.
///
/// # Errors
/// As [`import`].
pub fn import_to_score(data: &Path, project: &Path, tell: &dyn Fn(usize, usize)) -> anyhow::Result<Imported> {
    add(&read(data, None)?, &[], project, tell)
}

/// Problems that an error names; the others are counted.
const NAMED: usize = 5;

/// Reads a data set that holds at least one item.
///
/// # Errors
/// When it cannot be read, or holds none; the error tells what was wrong with its rows.
pub fn read(data: &Path, format: Option<datasets::Format>) -> anyhow::Result<Dataset> {
    let dataset = datasets::read(data, format)?;
    if dataset.items.is_empty() {
        let mut why: Vec<String> = dataset.problems.iter().take(NAMED).map(|problem| format!("\n  {problem}")).collect();
        if dataset.problems.len() > NAMED {
            why.push(format!("\n  … and {} more", dataset.problems.len() - NAMED));
        }
        if why.is_empty() {
            bail!("{}: there is no item in it: read as {}, it has no rows", data.display(), dataset.format);
        }
        bail!("{}: there is no item in it: none of its rows could be read as {}{}", data.display(), dataset.format, why.concat());
    }
    Ok(dataset)
}

fn add(dataset: &Dataset, unreadable: &[Problem], project: &Path, tell: &dyn Fn(usize, usize)) -> anyhow::Result<Imported> {
    let project_file = Project::open_or_create(project)?;
    let report = project_file.import_telling(&dataset.items, tell)?;
    let mut problems: Vec<String> = dataset.problems.iter().chain(unreadable).map(ToString::to_string).collect();
    problems.extend(report.notes.iter().cloned());
    if report.ratings_added > 0 {
        problems.extend(project_file.raters_alike()?);
    }
    let mut summary =
        format!("{}: {} items with {} edits read as {}", project.display(), dataset.items.len(), dataset.edit_count(), dataset.format);
    if report.changed_nothing() {
        summary.push_str("; all of it was there already");
    } else {
        summary.push_str(&format!("; {} edits and {} ratings are new", report.edits_added, report.ratings_added));
    }
    if let Some(rater) = &dataset.named_by_file {
        summary.push_str(&format!("; ratings that name no rater are by '{rater}', as the file is called"));
    }
    if report.pictures_missing > 0 {
        summary.push_str(&format!("; pictures missing: {}", report.pictures_missing));
    }
    if !unreadable.is_empty() {
        summary.push_str(&format!("; pictures that cannot be read: {}", unreadable.len()));
    }
    Ok(Imported { project: project.to_owned(), summary, problems })
}

/// Writes the demo's pictures into `folder` and imports them into `demo.editscope` there.
///
/// # Errors
/// When the folder or the project cannot be written.
pub fn make_demo(folder: &Path) -> anyhow::Result<Imported> {
    let manifest = demo::write_pictures(folder)?;
    import(&manifest, &folder.join(DEMO_PROJECT), None)
}
