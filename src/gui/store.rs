//! The project file behind its own threads, so that the window never waits for a disk.
//!
//! [`Store`] is what the window needs of a project to show it, [`Keeper`] what it needs to keep a person's work; `project_store` joins them to
//! `crate::storage`, tests may bring their own. They have a thread each: what a person makes is on disk at once, whatever is being read,
//! gathered or exported. What is read after something was sent to be kept shows it all the same.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};

use crate::domain::{Parse, Profile, Rating};
use crate::editor::{EditDetails, Row, RowId};
use crate::engine::Wake;
use crate::engine::scored_by::ScoredBy;

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
    /// The networks of its newest run; `None` when nothing was scored.
    pub networks: Option<ScoredBy>,
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
    /// Writes scores and ratings of all edits to a file; says what was written.
    fn export(&mut self, to: &Path, shown: &Shown) -> Result<String, String>;
    /// What keeps a person's work in the same files, without waiting for this.
    fn keeper(&mut self) -> Box<dyn Keeper>;
    /// Answers about rating sessions.
    fn people(&mut self, request: PeopleRequest) -> PeopleEvent {
        no_sessions(request)
    }
    /// Nothing was asked for a while.
    fn rest(&mut self) {}
    /// Answers about comparisons and ranges that are kept, and says how to gather what is compared.
    fn agreement(&mut self, request: AgreementRequest) -> AgreementEvent {
        nothing_kept(request)
    }
}

/// What must be on disk as soon as a person has made it. Errors are sentences for the person.
pub trait Keeper: Send {
    /// From now on things are kept in this project, which the [`Store`] has opened.
    fn open(&mut self, path: &Path) -> Result<(), String>;
    /// The journal of regions.
    fn regions(&mut self) -> &mut dyn RegionStore;
    /// Adds a rating.
    fn save_rating(&mut self, id: RowId, rating: &Rating) -> Result<(), String>;
    /// Keeps an answer of a rating session.
    fn people(&mut self, request: PeopleRequest) -> PeopleEvent {
        no_sessions(request)
    }
    /// Nothing was kept for a while.
    fn rest(&mut self) {}
}

/// After this long without work a thread lets its store rest.
const REST_AFTER: Duration = Duration::from_secs(2);
/// The window waits this long for its threads to close the files when it ends.
const END_WITHIN: Duration = Duration::from_secs(2);

/// The next message; whenever there is none for [`REST_AFTER`] after one, `rest` is called once. `None`: the window is gone.
fn next_or_rest<T>(incoming: &Receiver<T>, worked: &mut bool, mut rest: impl FnMut()) -> Option<T> {
    if std::mem::replace(worked, true) {
        match incoming.recv_timeout(REST_AFTER) {
            Ok(next) => return Some(next),
            Err(RecvTimeoutError::Timeout) => rest(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    incoming.recv().ok()
}

/// What the window asks of the store's threads.
#[derive(Clone, Debug)]
pub enum StoreRequest {
    Open(PathBuf),
    Rows(Shown),
    Details(RowId, Shown),
    SaveParse {
        id: RowId,
        parse: Parse,
        who: String,
    },
    /// For an edit of `project`; refused when another one is open by then.
    SaveRating {
        project: PathBuf,
        id: RowId,
        rating: Rating,
    },
    Export {
        to: PathBuf,
        shown: Shown,
    },
    /// About regions of `project`; refused when another one is open by then.
    Regions {
        project: PathBuf,
        request: RegionRequest,
    },
    People(PeopleRequest),
    Agreement(AgreementRequest),
}

impl StoreRequest {
    /// Whether the keeper answers it; `Some(true)`: something is kept.
    const fn kept(&self) -> Option<bool> {
        match self {
            Self::Regions { request, .. } => Some(request.is_write()),
            Self::SaveRating { .. }
            | Self::People(PeopleRequest::Keep { .. } | PeopleRequest::Saw { .. } | PeopleRequest::Archive { .. }) => Some(true),
            _ => None,
        }
    }
}

/// What the store's threads answer.
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
    /// About regions of `project`: rows of another one have the same numbers.
    Regions {
        project: PathBuf,
        event: RegionEvent,
    },
    People(PeopleEvent),
    Agreement(AgreementEvent),
}

/// The store's two threads and the channels to them.
pub struct StoreThread {
    /// With each request, how many writes were sent before it.
    requests: Sender<(u64, StoreRequest)>,
    keeps: Sender<Keep>,
    writes: Cell<u64>,
    written: Arc<Written>,
    events: Receiver<StoreEvent>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for StoreThread {
    /// Lets the threads end and close the files, which moves all changes into the project; one that is in the middle of something long is left.
    fn drop(&mut self) {
        (self.requests, self.keeps) = (unbounded().0, unbounded().0);
        let began = Instant::now();
        while self.threads.iter().any(|thread| !thread.is_finished()) && began.elapsed() < END_WITHIN {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Work for the keeper's thread.
enum Keep {
    /// The store has opened it; the answer goes back.
    Open(PathBuf, Sender<Result<(), String>>),
    Request(Box<StoreRequest>),
}

impl StoreThread {
    /// Starts the threads; `wake` is called after each answer.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(mut store: Box<dyn Store>, wake: Wake) -> std::io::Result<Self> {
        let (requests, incoming) = unbounded();
        let (keeps, to_keep) = unbounded();
        let (outgoing, events) = unbounded();
        let written = Arc::new(Written::default());
        let keeper = store.keeper();
        let (answers, done, woken) = (outgoing.clone(), Arc::clone(&written), wake.clone());
        let keeping_thread =
            std::thread::Builder::new().name("keeper".into()).spawn(move || keep(keeper, &to_keep, &done, &answers, &woken))?;
        let (keeping, done) = (keeps.clone(), Arc::clone(&written));
        let project_thread = std::thread::Builder::new().name("project".into()).spawn(move || {
            let mut worked = false;
            while let Some(first) = next_or_rest(&incoming, &mut worked, || store.rest()) {
                let mut waiting = vec![first];
                waiting.extend(incoming.try_iter());
                for (writes, request) in without_stale(waiting) {
                    done.wait_for(writes);
                    // A closed channel means that the window is gone.
                    if outgoing.send(answer(store.as_mut(), request, &keeping)).is_err() {
                        return;
                    }
                    wake();
                }
            }
        })?;
        Ok(Self { requests, keeps, writes: Cell::new(0), written, events, threads: vec![keeping_thread, project_thread] })
    }

    /// Asks for something; never blocks.
    pub fn send(&self, request: StoreRequest) {
        // The threads end only with the channels, so a failed send can only happen while the program ends.
        match request.kept() {
            Some(is_write) => {
                self.writes.set(self.writes.get() + u64::from(is_write));
                let _ = self.keeps.send(Keep::Request(Box::new(request)));
            }
            None => drop(self.requests.send((self.writes.get(), request))),
        }
    }

    /// Whether something was sent to be kept and is not on disk (or refused) yet.
    pub fn is_keeping(&self) -> bool {
        self.written.count() < self.writes.get()
    }

    /// The next answer, if there is one.
    pub fn try_next(&self) -> Option<StoreEvent> {
        self.events.try_recv().ok()
    }
}

/// How many writes are done, for those who read what they wrote.
#[derive(Default)]
struct Written {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Written {
    fn add(&self, more: u64) {
        // A panic elsewhere cannot leave a number half-changed.
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add(more);
        self.changed.notify_all();
    }

    fn count(&self) -> u64 {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for(&self, writes: u64) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(count, |count| *count < writes));
    }
}

/// Whoever waits for a write goes on when its thread has ended, even by a panic.
struct EndsWaiting<'a>(&'a Written);

impl Drop for EndsWaiting<'_> {
    fn drop(&mut self) {
        self.0.add(u64::MAX);
    }
}

/// Keeps what is sent, until the window is gone.
fn keep(mut keeper: Box<dyn Keeper>, incoming: &Receiver<Keep>, written: &Written, outgoing: &Sender<StoreEvent>, wake: &Wake) {
    let _ends = EndsWaiting(written);
    let mut waiting = VecDeque::new();
    let mut open: Option<PathBuf> = None;
    let mut worked = false;
    loop {
        if waiting.is_empty() {
            match next_or_rest(incoming, &mut worked, || keeper.rest()) {
                Some(first) => waiting.push_back(first),
                None => return,
            }
        }
        waiting.extend(incoming.try_iter());
        match take_next(&mut waiting) {
            None => {}
            Some(Keep::Open(path, answer)) => {
                let result = keeper.open(&path);
                open = result.is_ok().then_some(path);
                // The project's thread waits for it, unless the program ends.
                let _ = answer.send(result);
            }
            Some(Keep::Request(request)) => {
                let is_write = request.kept() == Some(true);
                let event = kept(keeper.as_mut(), *request, open.as_deref());
                let gone = event.is_some_and(|event| outgoing.send(event).is_err());
                // After its answer: whoever reads what was written has been told that it was.
                written.add(u64::from(is_write));
                if gone {
                    return;
                }
                wake();
            }
        }
    }
}

/// The next thing to do: what keeps something before what only reads, else in order. Nothing passes the opening of another project.
fn take_next(waiting: &mut VecDeque<Keep>) -> Option<Keep> {
    let here = waiting.iter().take_while(|next| matches!(next, Keep::Request(_)));
    let is_write = |next: &Keep| matches!(next, Keep::Request(request) if request.kept() == Some(true));
    let at = here.enumerate().find(|(_, next)| is_write(next)).map_or(0, |(at, _)| at);
    waiting.remove(at)
}

/// Answers what the keeper answers; `None` for what is not its business.
fn kept(keeper: &mut dyn Keeper, request: StoreRequest, open: Option<&Path>) -> Option<StoreEvent> {
    let other = |project: &Path| {
        let is_open = open == Some(project);
        (!is_open).then(|| format!("it belongs to {}, which is no longer open", project.display()))
    };
    Some(match request {
        StoreRequest::Regions { project, request } => {
            let event = match other(&project) {
                Some(why) => request.refused(why),
                None => region_store::answer(keeper.regions(), request),
            };
            StoreEvent::Regions { project, event }
        }
        StoreRequest::SaveRating { project, id, rating } => {
            let result = other(&project).map_or_else(|| keeper.save_rating(id, &rating), Err);
            StoreEvent::RatingSaved(id, rating, result)
        }
        StoreRequest::People(request) => StoreEvent::People(keeper.people(request)),
        _ => return None,
    })
}

/// Leaves out reads that a later one of the same kind replaces (quick stepping through the queue); writes all stay.
fn without_stale(requests: Vec<(u64, StoreRequest)>) -> Vec<(u64, StoreRequest)> {
    let last = |wanted: fn(&StoreRequest) -> bool| requests.iter().rposition(|(_, request)| wanted(request));
    let last_rows = last(|request| matches!(request, StoreRequest::Rows(_)));
    let last_details = last(|request| matches!(request, StoreRequest::Details(..)));
    requests
        .into_iter()
        .enumerate()
        .filter(|(index, (_, request))| match request {
            StoreRequest::Rows(_) => Some(*index) == last_rows,
            StoreRequest::Details(..) => Some(*index) == last_details,
            _ => true,
        })
        .map(|(_, request)| request)
        .collect()
}

fn answer(store: &mut dyn Store, request: StoreRequest, keeping: &Sender<Keep>) -> StoreEvent {
    match request {
        StoreRequest::Open(path) => {
            let result = store.open(&path).and_then(|info| keeper_opens(&path, keeping).map(|()| info));
            StoreEvent::Opened { path, result }
        }
        StoreRequest::Rows(shown) => StoreEvent::Rows(store.rows(&shown)),
        StoreRequest::Details(id, shown) => StoreEvent::Details(id, store.details(id, &shown).map(Arc::new)),
        StoreRequest::SaveParse { id, parse, who } => StoreEvent::ParseSaved(id, store.save_parse(id, &parse, &who)),
        StoreRequest::Export { to, shown } => StoreEvent::Exported(store.export(&to, &shown)),
        StoreRequest::People(request) => StoreEvent::People(store.people(request)),
        StoreRequest::Agreement(request) => StoreEvent::Agreement(store.agreement(request)),
        // These go to the keeper; see `StoreRequest::kept`.
        StoreRequest::Regions { project, request } => {
            StoreEvent::Regions { project, event: request.refused("only the keeper reads and writes regions".to_owned()) }
        }
        StoreRequest::SaveRating { id, rating, .. } => StoreEvent::RatingSaved(id, rating, Err("only the keeper saves ratings".to_owned())),
    }
}

/// The keeper goes to the project that the store has opened (and brought up to date, where it was of an older version).
fn keeper_opens(path: &Path, keeping: &Sender<Keep>) -> Result<(), String> {
    let gone = || "the thread that keeps changes has ended; start the program again".to_owned();
    let (answer, answered) = bounded(1);
    keeping.send(Keep::Open(path.to_owned(), answer)).map_err(|_| gone())?;
    answered.recv().map_err(|_| gone())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(id: i64) -> StoreRequest {
        let rating = crate::editor::RatingDraft::default().rating("ann", 0);
        StoreRequest::SaveRating { project: PathBuf::from("p"), id: RowId(id), rating }
    }

    #[test]
    fn only_reads_are_left_out() {
        let details = |id| (0, StoreRequest::Details(RowId(id), Shown::default()));
        let parse = |id| (0, StoreRequest::SaveParse { id: RowId(id), parse: Parse::default(), who: "ann".into() });
        let kept = without_stale(vec![details(1), parse(1), details(2), parse(2), details(3)]);
        assert!(matches!(
            &kept[..],
            [
                (_, StoreRequest::SaveParse { id: RowId(1), .. }),
                (_, StoreRequest::SaveParse { id: RowId(2), .. }),
                (_, StoreRequest::Details(RowId(3), _))
            ]
        ));
    }

    #[test]
    fn what_keeps_something_goes_first_but_not_into_another_project() {
        let request = |request| Keep::Request(Box::new(request));
        let load = |id| request(StoreRequest::Regions { project: PathBuf::from("p"), request: RegionRequest::Load(RowId(id)) });
        let (answer, _answered) = bounded(1);
        let mut waiting =
            VecDeque::from([load(1), load(2), request(rate(3)), request(rate(4)), Keep::Open("q".into(), answer), request(rate(5))]);
        let mut order = Vec::new();
        while let Some(next) = take_next(&mut waiting) {
            order.push(match next {
                Keep::Open(..) => "open".to_owned(),
                Keep::Request(request) => match *request {
                    StoreRequest::Regions { request: RegionRequest::Load(id), .. } => format!("load {}", id.0),
                    StoreRequest::SaveRating { id, .. } => format!("rate {}", id.0),
                    _ => "other".to_owned(),
                },
            });
        }
        assert_eq!(order, ["rate 3", "rate 4", "load 1", "load 2", "open", "rate 5"]);
    }
}
