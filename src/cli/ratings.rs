//! What raters said, out of a project and into one: `export --format ratings`, `import --ratings`.

use std::path::Path;

use anyhow::bail;

use crate::datasets::read_rater_rows;
use crate::domain::RaterRow;
use crate::export::{write_ratings_csv, write_ratings_jsonl};
use crate::storage::Project;

use super::Finish;

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
pub fn import(file: &Path, project: &Path) -> anyhow::Result<Finish> {
    let (rows, problems) = read_rater_rows(file)?;
    let done = Project::open(project)?.import_rater_rows(&rows)?;
    for problem in &problems {
        eprintln!("problem: {problem}");
    }
    for problem in &done.problems {
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
    Ok(if problems.is_empty() && done.problems.is_empty() { Finish::Done } else { Finish::SomeFailed })
}
