//! The threads behind the engine and the channel to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::messages::{Event, PictureToken, Request, RunToken};

/// Called after each event is published, so that a sleeping window wakes up.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// A running engine: one inference thread that owns the networks, one thread for files, a small pool for pictures.
pub struct Engine {
    requests: Sender<Request>,
    events: Receiver<Event>,
    next_token: AtomicU64,
}

impl Engine {
    /// Starts the threads. `wake` is called after each event, from an engine thread.
    pub fn start(wake: Wake) -> Self {
        let (requests, incoming) = unbounded();
        let (_outgoing, events) = unbounded();
        let _ = (incoming, wake);
        Self { requests, events, next_token: AtomicU64::new(1) }
    }

    /// Asks for something; never blocks.
    pub fn send(&self, request: Request) {
        let _ = self.requests.send(request);
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
