//! The project file behind its own thread, so that the window never waits for a disk.
//!
//! [`Store`] is what the window needs of a project; `project_store` joins it to `crate::storage`, tests may bring their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::domain::{Parse, Profile, Rating};
use crate::editor::{EditDetails, Row, RowId};
use crate::engine::Wake;

use super::agreement::{AgreementEvent, AgreementRequest, nothing_kept};
use super::people::{PeopleEvent, PeopleRequest, no_sessions};
use super::region_store::{self, RegionEvent, RegionRequest, RegionStore};

/// What is known about an open project.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct StoreInfo {
    pub path: PathBuf,
    /// What people call it: the file's name without its ending.
    pub name: String,
    pub items: usize,
    /// Names of the saved ranges.
    pub ranges: Vec<String>,
    /// Why nothing can be saved, where that is so.
    pub only_read: Option<String>,
}

/// With which profile and range scores are shown.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Shown {
    pub profile: Profile,
    /// Name of a saved range; `None`: fitted on the project itself.
    pub range: Option<String>,
}

/// What the window needs of a project file. Errors are sentences for the person.
pub trait Store: Send {
    /// Opens a project; the one open before is closed.
    fn open(&mut self, path: &Path) -> Result<StoreInfo, String>;
    /// One light row an edit, in the order of the data set.
    fn rows(&mut self, shown: &Shown) -> Result<Vec<Row>, String>;
    /// Everything about one edit.
    fn details(&mut self, id: RowId, shown: &Shown) -> Result<EditDetails, String>;
    /// Keeps a person's parse of the edit's item.
    fn save_parse(&mut self, id: RowId, parse: &Parse, who: &str) -> Result<(), String>;
    /// Adds a rating.
    fn save_rating(&mut self, id: RowId, rating: &Rating) -> Result<(), String>;
    /// Writes scores and ratings of all edits to a file; says what was written.
    fn export(&mut self, to: &Path, shown: &Shown) -> Result<String, String>;
    /// The journal of regions.
    fn regions(&mut self) -> &mut dyn RegionStore;
    /// Answers about rating sessions.
    fn people(&mut self, request: PeopleRequest) -> PeopleEvent {
        no_sessions(request)
    }
    /// Answers about comparisons and ranges that are kept, and says how to gather what is compared.
    fn agreement(&mut self, request: AgreementRequest) -> AgreementEvent {
        nothing_kept(request)
    }
}

/// What the window asks of the store's thread.
#[derive(Clone, Debug)]
pub enum StoreRequest {
    Open(PathBuf),
    Rows(Shown),
    Details(RowId, Shown),
    SaveParse { id: RowId, parse: Parse, who: String },
    SaveRating { id: RowId, rating: Rating },
    Export { to: PathBuf, shown: Shown },
    Regions(RegionRequest),
    People(PeopleRequest),
    Agreement(AgreementRequest),
}

/// What the store's thread answers.
#[derive(Clone, Debug)]
pub enum StoreEvent {
    Opened {
        path: PathBuf,
        result: Result<StoreInfo, String>,
    },
    Rows(Result<Vec<Row>, String>),
    Details(RowId, Result<Arc<EditDetails>, String>),
    ParseSaved(RowId, Result<(), String>),
    /// The rating comes back, so that a failed one is not lost.
    RatingSaved(RowId, Rating, Result<(), String>),
    Exported(Result<String, String>),
    Regions(RegionEvent),
    People(PeopleEvent),
    Agreement(AgreementEvent),
}

/// The store's thread and the channels to it.
pub struct StoreThread {
    requests: Sender<StoreRequest>,
    events: Receiver<StoreEvent>,
}

impl StoreThread {
    /// Starts the thread; `wake` is called after each answer.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(mut store: Box<dyn Store>, wake: Wake) -> std::io::Result<Self> {
        let (requests, incoming) = unbounded();
        let (outgoing, events) = unbounded();
        std::thread::Builder::new().name("project".into()).spawn(move || {
            while let Ok(first) = incoming.recv() {
                let mut waiting = vec![first];
                waiting.extend(incoming.try_iter());
                for request in without_stale(waiting) {
                    // A closed channel means that the window is gone.
                    if outgoing.send(answer(store.as_mut(), request)).is_err() {
                        return;
                    }
                    wake();
                }
            }
        })?;
        Ok(Self { requests, events })
    }

    /// Asks for something; never blocks.
    pub fn send(&self, request: StoreRequest) {
        // The thread ends only with the channel, so a failed send can only happen while the program ends.
        let _ = self.requests.send(request);
    }

    /// The next answer, if there is one.
    pub fn try_next(&self) -> Option<StoreEvent> {
        self.events.try_recv().ok()
    }
}

/// Leaves out reads that a later one of the same kind replaces (quick stepping through the queue); writes all stay.
fn without_stale(requests: Vec<StoreRequest>) -> Vec<StoreRequest> {
    let last = |wanted: fn(&StoreRequest) -> bool| requests.iter().rposition(wanted);
    let last_rows = last(|request| matches!(request, StoreRequest::Rows(_)));
    let last_details = last(|request| matches!(request, StoreRequest::Details(..)));
    requests
        .into_iter()
        .enumerate()
        .filter(|(index, request)| match request {
            StoreRequest::Rows(_) => Some(*index) == last_rows,
            StoreRequest::Details(..) => Some(*index) == last_details,
            _ => true,
        })
        .map(|(_, request)| request)
        .collect()
}

fn answer(store: &mut dyn Store, request: StoreRequest) -> StoreEvent {
    match request {
        StoreRequest::Open(path) => {
            let result = store.open(&path);
            StoreEvent::Opened { path, result }
        }
        StoreRequest::Rows(shown) => StoreEvent::Rows(store.rows(&shown)),
        StoreRequest::Details(id, shown) => StoreEvent::Details(id, store.details(id, &shown).map(Arc::new)),
        StoreRequest::SaveParse { id, parse, who } => StoreEvent::ParseSaved(id, store.save_parse(id, &parse, &who)),
        StoreRequest::SaveRating { id, rating } => {
            let result = store.save_rating(id, &rating);
            StoreEvent::RatingSaved(id, rating, result)
        }
        StoreRequest::Regions(request) => StoreEvent::Regions(region_store::answer(store.regions(), request)),
        StoreRequest::Export { to, shown } => StoreEvent::Exported(store.export(&to, &shown)),
        StoreRequest::People(request) => StoreEvent::People(store.people(request)),
        StoreRequest::Agreement(request) => StoreEvent::Agreement(store.agreement(request)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reads_are_left_out() {
        let rate = |id| StoreRequest::SaveRating { id: RowId(id), rating: crate::editor::RatingDraft::default().rating("ann", 0) };
        let details = |id| StoreRequest::Details(RowId(id), Shown::default());
        let kept = without_stale(vec![details(1), rate(1), details(2), rate(2), details(3)]);
        assert!(matches!(
            &kept[..],
            [
                StoreRequest::SaveRating { id: RowId(1), .. },
                StoreRequest::SaveRating { id: RowId(2), .. },
                StoreRequest::Details(RowId(3), _)
            ]
        ));
    }
}
