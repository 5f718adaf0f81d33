//! The journal of regions behind the thread that keeps a person's work.

use crate::domain::Side;
use crate::domain::regions::{JournalEntry, KeptRegion, RegionId, SideRegions, Token};
use crate::editor::RowId;
use crate::editor::regions::{HISTORY_BYTES, LoadedSide};
use crate::storage::{Appended, EditId};

use super::found::Found;
use super::project_store::ProjectKeeper;

/// What the project file holds of an edit's regions.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedRegions {
    /// Of its source, then its own, with their newest history.
    pub sides: [LoadedSide; 2],
    /// What is not drawn.
    pub hidden: Vec<(Side, RegionId)>,
}

/// What the window needs of a project file to correct regions. Errors are sentences for the person.
pub trait RegionStore {
    /// The regions of an edit.
    fn load(&mut self, id: RowId) -> Result<LoadedRegions, String>;
    /// The last entries of both journals; tells cheaply whether another window wrote.
    fn heads(&mut self, id: RowId) -> Result<[Token; 2], String>;
    /// Adds entries in their order, in one go; one that is there already is left alone. Says how many are on disk, and what the next one met.
    fn append(&mut self, id: RowId, entries: &[JournalEntry]) -> Result<(usize, Appended), String>;
    /// The regions of a side as they were before an entry, or as they were set aside.
    fn before(&mut self, id: RowId, side: Side, token: Token) -> Result<SideRegions, String>;
    /// Keeps which regions are not drawn while an edit is looked at.
    fn hide(&mut self, id: RowId, hidden: &[(Side, RegionId)]) -> Result<(), String>;
}

/// What the window asks.
#[derive(Clone, Debug)]
pub enum RegionRequest {
    Load(RowId),
    Heads(RowId),
    Append(RowId, Vec<JournalEntry>),
    /// All regions that are not drawn.
    Hide(RowId, Vec<(Side, RegionId)>),
    /// The state before an entry; `what` comes back with it.
    Before {
        id: RowId,
        side: Side,
        token: Token,
        what: String,
    },
    /// Unpack what networks found; a large mask takes too long for the window's thread.
    Found(RowId, Found),
}

impl RegionRequest {
    /// Whether it keeps something: such requests go before those that only read.
    pub const fn is_write(&self) -> bool {
        matches!(self, Self::Append(..) | Self::Hide(..))
    }

    /// The answer when it cannot be done.
    pub fn refused(self, why: String) -> RegionEvent {
        match self {
            Self::Load(id) => RegionEvent::Loaded(id, Err(why)),
            Self::Heads(id) => RegionEvent::Heads(id, Err(why)),
            Self::Append(id, _) => RegionEvent::Appended(id, Err(why)),
            Self::Hide(..) => RegionEvent::Hidden(Err(why)),
            Self::Before { id, what, .. } => RegionEvent::Before { id, what, result: Err(why) },
            // It needs no project.
            Self::Found(id, found) => RegionEvent::Found(id, found.regions()),
        }
    }
}

/// What the store answers.
#[derive(Clone, Debug)]
pub enum RegionEvent {
    Loaded(RowId, Result<LoadedRegions, String>),
    Heads(RowId, Result<[Token; 2], String>),
    /// How many of the entries are on disk, and what the next one met.
    Appended(RowId, Result<(usize, Appended), String>),
    Hidden(Result<(), String>),
    Before {
        id: RowId,
        what: String,
        result: Result<SideRegions, String>,
    },
    /// Of the source, and of the edit.
    Found(RowId, [Vec<KeptRegion>; 2]),
}

/// Answers one request.
pub fn answer(store: &mut dyn RegionStore, request: RegionRequest) -> RegionEvent {
    match request {
        RegionRequest::Load(id) => RegionEvent::Loaded(id, store.load(id)),
        RegionRequest::Heads(id) => RegionEvent::Heads(id, store.heads(id)),
        RegionRequest::Append(id, entries) => RegionEvent::Appended(id, store.append(id, &entries)),
        RegionRequest::Hide(id, hidden) => RegionEvent::Hidden(store.hide(id, &hidden)),
        RegionRequest::Before { id, side, token, what } => RegionEvent::Before { id, what, result: store.before(id, side, token) },
        RegionRequest::Found(id, found) => RegionEvent::Found(id, found.regions()),
    }
}

impl RegionStore for ProjectKeeper {
    fn load(&mut self, id: RowId) -> Result<LoadedRegions, String> {
        let project = self.project()?;
        let side = |side| {
            let journal = project.region_journal(EditId(id.0), side, HISTORY_BYTES).map_err(|error| error.to_string())?;
            Ok::<_, String>(LoadedSide { stream: journal.stream, entries: journal.entries, older: journal.older })
        };
        let hidden = project.hidden_regions(EditId(id.0)).map_err(|error| error.to_string())?;
        Ok(LoadedRegions { sides: [side(Side::Source)?, side(Side::Edit)?], hidden })
    }

    fn hide(&mut self, id: RowId, hidden: &[(Side, RegionId)]) -> Result<(), String> {
        self.project()?.set_hidden_regions(EditId(id.0), hidden).map_err(|error| error.to_string())
    }

    fn heads(&mut self, id: RowId) -> Result<[Token; 2], String> {
        let project = self.project()?;
        let head = |side| project.region_head(EditId(id.0), side).map_err(|error| error.to_string());
        Ok([head(Side::Source)?, head(Side::Edit)?])
    }

    fn append(&mut self, id: RowId, entries: &[JournalEntry]) -> Result<(usize, Appended), String> {
        self.project()?.append_region_changes(EditId(id.0), entries).map_err(|error| error.to_string())
    }

    fn before(&mut self, id: RowId, side: Side, token: Token) -> Result<SideRegions, String> {
        self.project()?.regions_before(EditId(id.0), side, token).map_err(|error| error.to_string())
    }
}
