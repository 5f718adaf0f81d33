//! What raters said, out of a project and into one: `export --format ratings`, `import --ratings`.

use std::path::Path;

use anyhow::bail;

use crate::datasets::{Problem, RaterFile, grouped, read_rater_rows};
use crate::domain::RaterRow;
use crate::export::{write_ratings_csv, write_ratings_jsonl};
use crate::storage::Project;

use super::Finish;

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
    out!("{}: {ratings} ratings and {judgements} answers in {} sessions", out.display(), rows.len() - ratings - judgements);
    Ok(Finish::Done)
}

/// Adds what such a file says to a project that has the edits.
///
/// # Errors
/// When the file is none that `export --format ratings` wrote, or nothing in it is about the project.
pub fn import(file: &Path, project: &Path) -> anyhow::Result<Finish> {
    let RaterFile { rows, places, mut problems } = read_rater_rows(file)?;
    let done = Project::open(project)?.import_rater_rows(&rows)?;
    let about = done.problems.iter().map(|(row, reason)| Problem { place: places[*row].clone(), reason: reason.clone() });
    problems.extend(about);
    if done.is_about_nothing() {
        for line in grouped(&problems, SHOWN) {
            eprintln!("problem: {line}");
        }
        bail!("{}: nothing in {} is about its edits; nothing was added", project.display(), file.display());
    }
    for problem in &problems {
        eprintln!("problem: {problem}");
    }
    out!(
        "{}: {} ratings, {} answers and {} sessions added; {} rows were there already",
        project.display(),
        done.ratings_added,
        done.judgements_added,
        done.sessions_added,
        done.known
    );
    Ok(if problems.is_empty() { Finish::Done } else { Finish::SomeFailed })
}
