//! A project's store whose exports last until a test lets them go on.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use editscope::domain::Parse;
use editscope::editor::{EditDetails, Row, RowId};
use editscope::gui::people::{PeopleEvent, PeopleRequest};
use editscope::gui::project_store::ProjectStore;
use editscope::gui::store::{Keeper, Shown, Store, StoreInfo};

/// A store over a real project file.
pub struct BusyStore {
    inner: ProjectStore,
    go_on: Receiver<()>,
}

impl BusyStore {
    /// The store, and what lets one export go on each time something is sent.
    pub fn new() -> (Self, Sender<()>) {
        let (sender, go_on) = channel();
        (Self { inner: ProjectStore::default(), go_on }, sender)
    }
}

impl Store for BusyStore {
    fn open(&mut self, path: &Path) -> Result<StoreInfo, String> {
        self.inner.open(path)
    }

    fn rows(&mut self, shown: &Shown) -> Result<Vec<Row>, String> {
        self.inner.rows(shown)
    }

    fn details(&mut self, id: RowId, shown: &Shown) -> Result<EditDetails, String> {
        self.inner.details(id, shown)
    }

    fn save_parse(&mut self, id: RowId, parse: &Parse, who: &str) -> Result<(), String> {
        self.inner.save_parse(id, parse, who)
    }

    fn export(&mut self, _to: &Path, _shown: &Shown) -> Result<String, String> {
        self.go_on.recv().map(|()| "at last".to_owned()).map_err(|_| "never".to_owned())
    }

    fn keeper(&mut self) -> Box<dyn Keeper> {
        self.inner.keeper()
    }

    fn people(&mut self, request: PeopleRequest) -> PeopleEvent {
        self.inner.people(request)
    }
}
