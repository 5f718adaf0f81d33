//! The threads behind the engine and the channels to them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::audit::{self, AuditRequest, Newest};
use super::messages::{Event, Level, PictureToken, Request, RunToken};
use super::models::{self, ModelsRequest};
use super::picture_desk::{PictureDesk, Serves};
use super::pictures::{self, CanvasEvent};
use super::prompts::PromptDesk;
use super::{files, runs};

/// Called after each event is published, so that a sleeping window wakes up.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Publishes events: first the event, then the wake-up, so that whoever wakes finds it.
#[derive(Clone)]
pub struct Outbox {
    events: Sender<Event>,
    wake: Wake,
}

impl Outbox {
    /// Publishes one event. When the front end is gone there is nobody to tell.
    pub fn publish(&self, event: Event) {
        if self.events.send(event).is_ok() {
            (self.wake)();
        }
    }

    /// Publishes a message for the person.
    pub fn say(&self, level: Level, text: impl Into<String>) {
        self.publish(Event::Message { level, text: text.into() });
    }
}

/// Runs that were cancelled, shared with the inference thread.
#[derive(Clone, Default)]
pub struct Cancelled(Arc<Mutex<HashSet<RunToken>>>);

impl Cancelled {
    fn add(&self, run: RunToken) {
        // A panic elsewhere cannot leave a set of numbers half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run);
    }

    /// Whether `run` was cancelled.
    pub fn contains(&self, run: RunToken) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&run)
    }
}

/// A running engine: one inference thread that owns the networks, one that answers about single edits from what is known, one for files,
/// a small pool for pictures.
pub struct Engine {
    runs: Sender<Request>,
    files: Sender<Request>,
    models: Sender<ModelsRequest>,
    /// How often the person asked to stop fetching.
    model_stops: Arc<AtomicU64>,
    pictures: PictureDesk,
    outbox: Outbox,
    prompts: PromptDesk,
    audit: Sender<AuditRequest>,
    newest: Newest,
    events: Receiver<Event>,
    cancelled: Cancelled,
    next_token: AtomicU64,
}

/// Threads for pictures; more would fight with the networks for the cores. Two can work on the pair that a pane waits for, whatever one
/// of them is at.
const PICTURE_THREADS: [Serves; 3] = [Serves::OnlyShown, Serves::All, Serves::All];

impl Engine {
    /// Starts the threads. `wake` is called after each event, from an engine thread. The threads end when the engine is dropped.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let (event_sender, events) = unbounded();
        let outbox = Outbox { events: event_sender, wake };
        let cancelled = Cancelled::default();

        let (runs, incoming) = unbounded();
        let (background, jobs) = unbounded();
        let newest = Newest::default();
        let prompts = PromptDesk::default();
        let inbox = runs::Inbox { runs: incoming, background: jobs, prompts: prompts.clone() };
        let (out, stop, latest) = (outbox.clone(), cancelled.clone(), newest.clone());
        named("editscope-inference", move || runs::serve(&inbox, &latest, &out, &stop))?;

        let (audit, incoming) = unbounded();
        let (out, latest) = (outbox.clone(), newest.clone());
        named("editscope-audit", move || audit::serve(&incoming, &background, &latest, &out))?;

        let (files, incoming) = unbounded();
        let out = outbox.clone();
        named("editscope-files", move || files::serve(&incoming, &out))?;

        let (models, incoming) = unbounded();
        let model_stops = Arc::new(AtomicU64::new(0));
        let (out, stops) = (outbox.clone(), Arc::clone(&model_stops));
        named("editscope-models", move || models::serve(&incoming, &out, &stops))?;

        let pictures = PictureDesk::default();
        for (n, serves) in PICTURE_THREADS.into_iter().enumerate() {
            let (shelf, out) = (pictures.shelf(), outbox.clone());
            named(&format!("editscope-pictures-{n}"), move || pictures::serve(&shelf, serves, &out))?;
        }
        let next_token = AtomicU64::new(1);
        Ok(Self { runs, files, models, model_stops, pictures, outbox, prompts, audit, newest, events, cancelled, next_token })
    }

    /// Asks for something; never blocks. The answer comes as events.
    pub fn send(&self, request: Request) {
        // A send fails only when its thread has died of a panic, which the panic hook has reported.
        match request {
            Request::Cancel(run) => self.cancelled.add(run),
            Request::ForgetPictures => {
                for token in self.pictures.forget() {
                    self.outbox.publish(Event::Canvas(CanvasEvent::Dropped { token }));
                }
            }
            Request::Models(ModelsRequest::Cancel) => {
                self.model_stops.fetch_add(1, Ordering::Relaxed);
            }
            Request::Models(request) => drop(self.models.send(request)),
            Request::Score(..) => drop(self.runs.send(request)),
            Request::Prompt(ref prompt) => {
                self.prompts.put(prompt.clone());
                // Wakes the inference thread, which then looks at the desk.
                drop(self.runs.send(request));
            }
            Request::Audit(request) => {
                if let AuditRequest::Rescore(ask) = &request {
                    self.newest.set(ask);
                }
                drop(self.audit.send(request));
            }
            Request::Picture(..) | Request::Canvas(_) => self.pictures.put(request),
            Request::Import(_)
            | Request::LookForPictures { .. }
            | Request::CheckPictures { .. }
            | Request::LocatePictures { .. }
            | Request::MakeDemo { .. }
            | Request::Parse { .. }
            | Request::Table(_) => {
                drop(self.files.send(request));
            }
        }
    }

    /// The events so far, oldest first; drain with `try_recv`.
    pub fn events(&self) -> &Receiver<Event> {
        &self.events
    }

    /// A token no other run of this process has.
    pub fn new_run(&self) -> RunToken {
        RunToken(self.next_token.fetch_add(1, Ordering::Relaxed))
    }

    /// A token no other picture request of this process has.
    pub fn new_picture(&self) -> PictureToken {
        PictureToken(self.next_token.fetch_add(1, Ordering::Relaxed))
    }
}

fn named(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}
