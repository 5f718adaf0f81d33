//! Everything that is compared, from a project, lines of scores, and tables.

use std::path::Path;

use anyhow::Context as _;

use crate::datasets::Sheet;
use crate::datasets::opinions::{ColumnMap, Opinions, read_opinions};
use crate::engine::evidence::{Gathered, answers};
use crate::stats::comparison::hash_of;
use crate::storage::Project;

use super::args::{Agree, PeopleArgs};
use super::tables;

/// Gathers everything that the arguments name.
pub(super) fn gather(agree: &Agree) -> anyhow::Result<Gathered> {
    let named: Vec<String> =
        agree.data.iter().chain(&agree.people.ratings).chain(&agree.people.scores).map(|path| path.display().to_string()).collect();
    let mut gathered = Gathered::new(named.join(", "));
    match &agree.data {
        Some(path) if Project::is_meant(path) => {
            let project = Project::open_read_only(path)?;
            gathered.add_project(&project, agree.profile, agree.range.as_deref(), !agree.people.ratings.is_empty())?;
        }
        Some(path) => tables::from_scores(path, agree, &mut gathered)?,
        None => {}
    }
    for path in &agree.people.scores {
        tables::add_metrics(path, &agree.people, &mut gathered)?;
    }
    add_opinions(&agree.people, &mut gathered)?;
    gathered.finish(&agree.people.lower_is_better, agree.people.ground_truth.as_deref())
}

fn add_opinions(people: &PeopleArgs, gathered: &mut Gathered) -> anyhow::Result<()> {
    for path in &people.ratings {
        let opinions = read_opinions(path, people.ratings_format, people.columns.as_ref())?;
        let file = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        gathered.remarks.push(format!("{file} read as {}: {}", opinions.format, opinions.read_as));
        take(opinions, path, people.ratings.len() > 1, gathered);
    }
    Ok(())
}

/// Takes the opinions of one file. Of several files, one that names no rater is a rater by itself.
pub(super) fn take(opinions: Opinions, path: &Path, several: bool, gathered: &mut Gathered) {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    for mut rated in opinions.ratings {
        if several && rated.rating.rater == crate::datasets::UNNAMED_RATER {
            rated.rating.rater.clone_from(&stem);
        }
        gathered.about.simulated_ratings |= rated.rating.simulated;
        gathered.evidence.answers.extend(answers(&rated.item, &rated.model, &rated.rating, rated.seconds));
    }
    gathered.evidence.votes.extend(opinions.votes);
    gathered.problems.extend(opinions.problems);
}

/// The hash of a file's bytes.
pub(super) fn file_hash(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(hash_of([blake3::hash(&bytes).to_hex().to_string()]))
}

/// A map for a table of scores: given, or guessed from names alone.
pub(super) fn map_of(sheet: &Sheet, columns: Option<&ColumnMap>) -> ColumnMap {
    columns.cloned().unwrap_or_else(|| ColumnMap::guess_by_name(sheet))
}
