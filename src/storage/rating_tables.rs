//! Ratings out of tables that name items and models instead of edits of this project.

use std::collections::HashMap;

use super::ratings;
use super::{EditId, Project, StorageError};
use crate::domain::Rating;

impl Project {
    /// Edits by item and model. Where a model made several edits of an item, they share a name and cannot be told apart.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn edits_by_name(&self) -> Result<HashMap<(String, String), Vec<EditId>>, StorageError> {
        let items: HashMap<_, _> = self.items()?.into_iter().map(|item| (item.id, item.key.0)).collect();
        let mut names: HashMap<(String, String), Vec<EditId>> = HashMap::new();
        for edit in self.edits()? {
            if let Some(item) = items.get(&edit.item) {
                names.entry((item.clone(), edit.model)).or_default().push(edit.id);
            }
        }
        Ok(names)
    }

    /// Adds ratings that were made elsewhere, in their order; the very same are not added twice. All or nothing. Returns how many are new.
    ///
    /// # Errors
    /// When there is no such edit, a rater has no name, an answer is no number, or the file cannot be written.
    pub fn import_ratings(&self, ratings: &[(EditId, Rating)]) -> Result<usize, StorageError> {
        self.write("importing ratings", |conn| {
            let mut added = 0;
            for (edit, rating) in ratings {
                super::regions::item_of(conn, *edit)?;
                added += usize::from(ratings::import(conn, *edit, rating)?);
            }
            Ok(added)
        })
    }
}
