//! Pictures and regions that cannot be read: what is wrong, in words, and reading them again once it is put right.

use crate::domain::Side;
use crate::editor::Row;

use super::app::App;
use super::pictures::{Pictures, Slot, Wanted};
use super::state::State;

/// Why the selected edit has no regions to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRegions {
    /// They are on their way.
    Reading,
    /// They will not come before something is put right.
    Because {
        /// A few words.
        short: String,
        /// What is wrong, and what to do.
        long: String,
    },
}

/// Why there is no document of the selected edit; `None` when there is one, or nothing is selected.
pub fn no_regions(state: &State, pictures: &Pictures) -> Option<NoRegions> {
    let row = state.queue.selected_row()?;
    if state.tools.document_of(row.id).is_some() {
        return None;
    }
    if let Some((side, why)) = failed_picture(row, pictures) {
        let which = if side == Side::Source { "source" } else { "edit" };
        let short = format!("No regions: the {which} cannot be read");
        let long = format!(
            "Regions are measured on both pictures, and the {which} cannot be read.\n{why}\nPut the file in its place, then press “Read again”."
        );
        return Some(NoRegions::Because { short, long });
    }
    if let Some((_, why)) = state.tools.unreadable.as_ref().filter(|(id, _)| *id == row.id) {
        let short = "The regions cannot be read from the project".to_owned();
        let long = format!(
            "The project file does not give the regions of this edit: {why}\nSee that the file can be read, then press “Read again”."
        );
        return Some(NoRegions::Because { short, long });
    }
    Some(NoRegions::Reading)
}

fn failed_picture<'a>(row: &Row, pictures: &'a Pictures) -> Option<(Side, &'a str)> {
    [(Side::Source, &row.source), (Side::Edit, &row.edited)].into_iter().find_map(|(side, path)| {
        match pictures.get(&Wanted::Full(path.clone()))? {
            Slot::Failed(why) => Some((side, why.as_str())),
            Slot::Loading | Slot::Ready(_) => None,
        }
    })
}

impl App {
    /// Says why there are no regions to work on.
    pub(super) fn tell_no_regions(&mut self) {
        use crate::engine::Level;
        match no_regions(&self.state, &self.pictures) {
            Some(NoRegions::Because { long, .. }) => self.toast(Level::Warning, long),
            Some(NoRegions::Reading) => self.toast(Level::Info, "The regions of this edit are still being read."),
            None => self.toast(Level::Info, "Select an edit first."),
        }
    }

    /// Reads what could not be read of the selected edit: its pictures and those of the edits beside it in the grid, and its regions.
    pub(super) fn read_again(&mut self) {
        let Some(row) = self.state.queue.selected_row() else { return };
        let edited = self.state.queue.siblings(row).map(|sibling| sibling.edited.clone());
        for path in edited.chain([row.source.clone()]) {
            let shown = [Wanted::Full(path.clone()), Wanted::Reduced(path.clone()), Wanted::Thumb(path)];
            shown.iter().for_each(|wanted| self.pictures.forget_failed(wanted));
        }
        let id = row.id;
        self.read_regions_again(id);
        self.request_details(id);
    }
}
