//! Ratings out of tables that name items and models instead of edits of this project.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::rating_import::RatingImport;
use super::{EditId, EditVote, ItemId, Project, StorageError, StoredEdit, votes};
use crate::domain::Rating;

impl Project {
    /// Edits by item and model. Where a model made several edits of an item, the name stands for all of them, and `model #1`, `model #2`, …
    /// (as in [`Self::model_names`]) for each.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn edits_by_name(&self) -> Result<HashMap<(String, String), Vec<EditId>>, StorageError> {
        let items: HashMap<_, _> = self.items()?.into_iter().map(|item| (item.id, item.key.0)).collect();
        let edits = self.edits()?;
        let mut names: HashMap<(String, String), Vec<EditId>> = HashMap::new();
        for edit in &edits {
            if let Some(item) = items.get(&edit.item) {
                names.entry((item.clone(), edit.model.clone())).or_default().push(edit.id);
            }
        }
        let several: HashSet<(String, String)> = names.iter().filter(|(_, edits)| edits.len() > 1).map(|(name, _)| name.clone()).collect();
        let own = names_of(&edits);
        for edit in &edits {
            let Some(item) = items.get(&edit.item) else { continue };
            if several.contains(&(item.clone(), edit.model.clone())) {
                let name = own.get(&edit.id).filter(|name| **name != edit.model).cloned().unwrap_or_else(|| numbered(&edit.model, 1));
                names.entry((item.clone(), name)).or_insert_with(|| vec![edit.id]);
            }
        }
        Ok(names)
    }

    /// What comparisons call the model of each edit, so that no two edits of an item have one name: the name of the model; for further edits
    /// of the item by it `model #2`, `model #3`, … in the order of the project; of several edits without a model `#1`, `#2`, ….
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn model_names(&self) -> Result<HashMap<EditId, String>, StorageError> {
        Ok(names_of(&self.edits()?))
    }

    /// Adds ratings and votes out of one table, in their order; the very same are not added twice, and what differs from what counts is a
    /// correction. All or nothing. Returns how many ratings and how many votes are new.
    ///
    /// # Errors
    /// When there is no such edit, the edits of a vote are not two of one item, a rater has no name, an answer is no number, or the file
    /// cannot be written.
    pub fn import_opinions(&self, ratings: &[(EditId, Rating)], votes: &[EditVote]) -> Result<(usize, usize), StorageError> {
        self.import_opinions_telling(ratings, votes, &|_, _| {})
    }

    /// [`Self::import_opinions`] that tells how many of the edits with ratings are done.
    ///
    /// # Errors
    /// As [`Self::import_opinions`].
    pub fn import_opinions_telling(
        &self,
        ratings: &[(EditId, Rating)],
        votes: &[EditVote],
        tell: &dyn Fn(usize, usize),
    ) -> Result<(usize, usize), StorageError> {
        let mut by_edit: BTreeMap<EditId, Vec<&Rating>> = BTreeMap::new();
        for (edit, rating) in ratings {
            by_edit.entry(*edit).or_default().push(rating);
        }
        let edits = by_edit.len();
        self.write("importing ratings", |conn| {
            let mut import = RatingImport::into(conn);
            let mut added = 0;
            for (done, (edit, ratings)) in by_edit.into_iter().enumerate() {
                tell(done, edits);
                super::regions::item_of(conn, edit)?;
                added += import.add(edit, &ratings)?.into_iter().filter(|added| *added).count();
            }
            Ok((added, votes::import(conn, votes)?))
        })
    }
}

fn numbered(model: &str, number: usize) -> String {
    if model.is_empty() { format!("#{number}") } else { format!("{model} #{number}") }
}

fn names_of(edits: &[StoredEdit]) -> HashMap<EditId, String> {
    let mut items: BTreeMap<ItemId, Vec<&StoredEdit>> = BTreeMap::new();
    for edit in edits {
        items.entry(edit.item).or_default().push(edit);
    }
    let mut names = HashMap::with_capacity(edits.len());
    for edits in items.into_values() {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for edit in &edits {
            *counts.entry(&edit.model).or_default() += 1;
        }
        // A model may be called like a number of another one.
        let mut taken: HashSet<String> = counts.keys().map(|model| (*model).to_owned()).collect();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for edit in &edits {
            let number = seen.entry(&edit.model).or_default();
            *number += 1;
            let is_first = *number == 1 && (!edit.model.is_empty() || counts.get("") == Some(&1));
            let name = if is_first {
                edit.model.clone()
            } else {
                (*number..).map(|number| numbered(&edit.model, number)).find(|name| !taken.contains(name)).unwrap_or_default()
            };
            taken.insert(name.clone());
            names.insert(edit.id, name);
        }
    }
    names
}
