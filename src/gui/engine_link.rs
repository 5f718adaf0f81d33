//! What the window needs of the engine; tests may put something else in its place.

use crate::engine::{Engine, Event, PictureToken, Request, RunToken};

/// The engine as the window sees it.
pub trait EngineLink {
    /// Asks for something; never blocks.
    fn send(&self, request: Request);
    /// The next event, if there is one.
    fn try_next(&self) -> Option<Event>;
    /// A token no other run has.
    fn new_run(&self) -> RunToken;
    /// A token no other picture request has.
    fn new_picture(&self) -> PictureToken;
}

impl EngineLink for Engine {
    fn send(&self, request: Request) {
        Self::send(self, request);
    }

    fn try_next(&self) -> Option<Event> {
        self.events().try_recv().ok()
    }

    fn new_run(&self) -> RunToken {
        Self::new_run(self)
    }

    fn new_picture(&self) -> PictureToken {
        Self::new_picture(self)
    }
}
