//! Everything that is compared, from a project, lines of scores, and tables.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use crate::cli::range;
use crate::datasets::Sheet;
use crate::datasets::opinions::{ColumnMap, read_opinions};
use crate::engine::evidence::{Gathered, file_hash, saved_range};
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
            let range = match agree.range.as_deref() {
                Some(name) => match range::from_named_file(name, agree.profile)? {
                    Some(range) => Some(range),
                    None => Some(saved_range(&project, name, agree.profile)?),
                },
                None => None,
            };
            gathered.add_project(&project, agree.profile, range, !agree.people.ratings.is_empty())?;
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
    let mut known: BTreeMap<String, &Path> = BTreeMap::new();
    for path in &people.ratings {
        match known.entry(file_hash(path)?) {
            Entry::Vacant(new) => drop(new.insert(path)),
            Entry::Occupied(first) => {
                let (again, first) = (path.display(), first.get().display());
                gathered.remarks.push(format!(
                    "{again} has the same content as {first} and is read once; if two people gave the very same answers, a column 'rater' in one table tells them apart"
                ));
                continue;
            }
        }
        let opinions = read_opinions(path, people.ratings_format, people.columns.as_ref())?;
        let file = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        gathered.remarks.push(format!("{file} read as {}: {}", opinions.format, opinions.read_as));
        gathered.add_opinions(opinions, &file);
    }
    Ok(())
}

/// A map for a table of scores: given, or guessed from names alone.
pub(super) fn map_of(sheet: &Sheet, columns: Option<&ColumnMap>) -> ColumnMap {
    columns.cloned().unwrap_or_else(|| ColumnMap::guess_by_name(sheet))
}
