//! Scores that follow a correction: what the window asks of the engine when a region or a parse was changed.

use crate::editor::RowId;

use super::app::App;

impl App {
    /// The regions of an edit, or of its source, were changed by a person and are journaled.
    #[allow(dead_code)] // until the tools call it
    pub(super) fn regions_changed(&mut self, _id: RowId) {}
}
