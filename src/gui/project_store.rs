//! Joins the window to the project file.

use std::path::Path;

use crate::domain::{Parse, Rating};
use crate::editor::{EditDetails, Row, RowId};

use super::store::{Shown, Store, StoreInfo};

/// The open project.
#[derive(Default)]
pub struct ProjectStore {}

impl Store for ProjectStore {
    fn open(&mut self, path: &Path) -> Result<StoreInfo, String> {
        Err(format!("not written yet: {}", path.display()))
    }

    fn rows(&mut self, _shown: &Shown) -> Result<Vec<Row>, String> {
        Ok(Vec::new())
    }

    fn details(&mut self, _id: RowId, _shown: &Shown) -> Result<EditDetails, String> {
        Err("not written yet".into())
    }

    fn save_parse(&mut self, _id: RowId, _parse: &Parse, _who: &str) -> Result<(), String> {
        Err("not written yet".into())
    }

    fn save_rating(&mut self, _id: RowId, _rating: &Rating) -> Result<(), String> {
        Err("not written yet".into())
    }

    fn export(&mut self, _to: &Path, _shown: &Shown) -> Result<String, String> {
        Err("not written yet".into())
    }
}
