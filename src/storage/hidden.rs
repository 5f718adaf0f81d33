//! Which regions a person does not want to see on the canvas. They count all the same, so this is no part of the journal.

use rusqlite::OptionalExtension;

use super::items::{json, to_json};
use super::{EditId, Project, StorageError};
use crate::domain::Side;
use crate::domain::regions::RegionId;

fn key(edit: EditId) -> String {
    format!("hidden_regions:{}", edit.0)
}

impl Project {
    /// The regions that are not drawn while this edit is looked at, of its source and its own.
    ///
    /// # Errors
    /// When the file cannot be read, or the list in it is broken.
    pub fn hidden_regions(&self, edit: EditId) -> Result<Vec<(Side, RegionId)>, StorageError> {
        self.read("reading which regions are hidden", |conn| {
            let mut query = conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
            let kept: Option<String> = query.query_row([key(edit)], |row| row.get(0)).optional()?;
            let Some(kept) = kept else { return Ok(Vec::new()) };
            json("hidden regions", &kept)
        })
    }

    /// Keeps that list.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_hidden_regions(&self, edit: EditId, hidden: &[(Side, RegionId)]) -> Result<(), StorageError> {
        self.write("keeping which regions are hidden", |conn| {
            if hidden.is_empty() {
                conn.execute("DELETE FROM meta WHERE key = ?1", [key(edit)])?;
                return Ok(());
            }
            let list = to_json("hidden regions", &hidden)?;
            let insert = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
            conn.execute(insert, [key(edit), list])?;
            Ok(())
        })
    }
}
