//! What raters said, out of a project and into one: `export --format ratings`, `import --ratings`.

use std::path::Path;

use anyhow::bail;

use crate::datasets::{Problem, RaterFile, grouped};
use crate::domain::RaterRow;
use crate::export::{write_ratings_csv, write_ratings_jsonl};
use crate::storage::Project;

use super::Finish;
use super::progress::told;

/// Problems of one kind that are told one by one where nothing at all could be done.
pub(super) const SHOWN: usize = 5;

/// Writes what all raters said, or one of them: a table when `out` ends in `.csv`, else JSON lines.
pub fn export(project: &Path, rater: Option<&str>, out: &Path) -> anyhow::Result<Finish> {
    let opened = Project::open_read_only(project)?;
    let rows = opened.rater_rows(rater)?;
    if rows.is_empty() {
        let raters: Vec<String> = opened.raters()?.into_iter().map(|(name, _)| name).collect();
        match rater {
            Some(rater) => bail!("{}: '{rater}' has not rated anything; its raters: {}", project.display(), raters.join(", ")),
            None => bail!("{}: nobody has rated anything yet", project.display()),
        }
    }
    if out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
        write_ratings_csv(&rows, out)?;
    } else {
        write_ratings_jsonl(&rows, out)?;
    }
    let count = |wanted: fn(&RaterRow) -> bool| rows.iter().filter(|row| wanted(row)).count();
    let ratings = count(|row| matches!(row, RaterRow::Rating { .. }));
    let judgements = count(|row| matches!(row, RaterRow::Judgement(_)));
    let sessions = count(|row| matches!(row, RaterRow::Session { .. }));
    let votes = rows.len() - ratings - judgements - sessions;
    let votes = if votes > 0 { format!("; {votes} votes from tables") } else { String::new() };
    out!("{}: {ratings} ratings and {judgements} answers in {sessions} sessions{votes}", out.display());
    Ok(Finish::Done)
}

/// Adds what a file of `export --format ratings` says (`read` out of `file`) to a project that has the edits.
///
/// # Errors
/// When nothing in it is about the project.
pub fn import(file: &Path, read: RaterFile, project: &Path) -> anyhow::Result<Finish> {
    let RaterFile { rows, places, mut problems } = read;
    let opened = Project::open(project)?;
    let done = opened.import_rater_rows_telling(&rows, &told("edits with ratings"))?;
    let about = done.problems.iter().map(|(row, reason)| Problem { place: places[*row].clone(), reason: reason.clone() });
    problems.extend(about);
    if done.is_about_nothing() {
        for line in grouped(&problems, SHOWN) {
            tell!("problem: {line}");
        }
        bail!("{}: nothing in {} is about its edits; nothing was added", project.display(), file.display());
    }
    for problem in &problems {
        tell!("problem: {problem}");
    }
    for question in opened.raters_alike()? {
        eprintln!("note: {question}");
    }
    let votes = if done.votes_added > 0 { format!(" and {} votes from tables", done.votes_added) } else { String::new() };
    out!(
        "{}: {} ratings, {} answers and {} sessions{votes} added; {} rows were there already",
        project.display(),
        done.ratings_added,
        done.judgements_added,
        done.sessions_added,
        done.known
    );
    Ok(if problems.is_empty() { Finish::Done } else { Finish::SomeFailed })
}
