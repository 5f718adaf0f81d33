//! What is asked of the picture threads, in the order in which a person misses it: what the canvas shows before thumbnails and neighbours,
//! and these before looking for motions.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::messages::{PictureToken, Request};
use super::pictures::CanvasRequest;

/// How soon a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// An empty pane waits for it.
    Shown,
    /// Thumbnails, and pictures that may be looked at next.
    Soon,
    /// What only adds to what is on the screen, and takes long.
    Later,
}

impl Turn {
    const fn of(request: &Request) -> Self {
        match request {
            Request::Canvas(CanvasRequest::Picture { ahead: false, .. } | CanvasRequest::Difference { .. }) => Self::Shown,
            Request::Canvas(CanvasRequest::Register { .. }) => Self::Later,
            _ => Self::Soon,
        }
    }
}

#[derive(Default)]
struct Waiting {
    shown: VecDeque<Request>,
    soon: VecDeque<Request>,
    later: VecDeque<Request>,
    closed: bool,
}

/// Where picture requests wait for a thread.
#[derive(Default)]
pub struct Shelf {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

/// Which requests a thread takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    All,
    /// Nothing but what a pane waits for, so that it never stands behind something that takes long.
    OnlyShown,
}

impl Shelf {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A panic elsewhere cannot leave queues half-changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next request, waiting for one; `None` once the desk is gone.
    pub fn take(&self, serves: Serves) -> Option<Request> {
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return None;
            }
            let next = match serves {
                Serves::OnlyShown => waiting.shown.pop_front(),
                Serves::All => {
                    let Waiting { shown, soon, later, .. } = &mut *waiting;
                    shown.pop_front().or_else(|| soon.pop_front()).or_else(|| later.pop_front())
                }
            };
            if next.is_some() {
                return next;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The end of the shelf that requests are laid on. Threads end when it is dropped; what waits then is dropped too.
#[derive(Default)]
pub struct PictureDesk(Arc<Shelf>);

impl PictureDesk {
    /// The other end, for a thread.
    pub fn shelf(&self) -> Arc<Shelf> {
        Arc::clone(&self.0)
    }

    /// Asks for something; never waits for a thread.
    pub fn put(&self, request: Request) {
        let mut waiting = self.0.lock();
        match Turn::of(&request) {
            Turn::Shown => waiting.shown.push_back(request),
            Turn::Soon => waiting.soon.push_back(request),
            Turn::Later => waiting.later.push_back(request),
        }
        drop(waiting);
        // A thread that takes only some requests may be the one that wakes.
        self.0.changed.notify_all();
    }

    /// Drops what no thread has begun, and says whose requests those were.
    pub fn forget(&self) -> Vec<PictureToken> {
        let mut waiting = self.0.lock();
        let Waiting { shown, soon, later, .. } = &mut *waiting;
        let token = |request: Request| match request {
            Request::Picture(token, _) => Some(token),
            Request::Canvas(request) => Some(request.token()),
            _ => None,
        };
        [shown, soon, later].into_iter().flat_map(std::mem::take).filter_map(token).collect()
    }
}

impl Drop for PictureDesk {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::PictureRequest;

    fn thumb(n: u64) -> Request {
        Request::Picture(PictureToken(n), PictureRequest { path: "a.png".into(), max_side: Some(96) })
    }

    fn picture(n: u64, ahead: bool) -> Request {
        Request::Canvas(CanvasRequest::Picture { token: PictureToken(n), path: "a.png".into(), max_side: None, ahead })
    }

    fn token(request: Option<Request>) -> Option<u64> {
        match request? {
            Request::Picture(token, _) => Some(token.0),
            Request::Canvas(request) => Some(request.token().0),
            _ => None,
        }
    }

    #[test]
    fn what_is_on_the_screen_goes_before_thumbnails_and_neighbours() {
        let desk = PictureDesk::default();
        for request in [thumb(1), picture(2, true), thumb(3), picture(4, false), picture(5, false)] {
            desk.put(request);
        }
        let shelf = desk.shelf();
        let mut order: Vec<_> = [Serves::OnlyShown, Serves::All, Serves::All].map(|serves| token(shelf.take(serves))).into();
        assert_eq!(order, [Some(4), Some(5), Some(1)]);
        desk.put(picture(6, false));
        order = [Serves::All, Serves::All, Serves::All].map(|serves| token(shelf.take(serves))).into();
        assert_eq!(order, [Some(6), Some(2), Some(3)]);
    }

    #[test]
    fn what_no_thread_has_begun_is_forgotten_and_told() {
        let desk = PictureDesk::default();
        [thumb(1), picture(2, false), picture(3, true)].into_iter().for_each(|request| desk.put(request));
        assert_eq!(token(desk.shelf().take(Serves::All)), Some(2));
        assert_eq!(desk.forget(), [PictureToken(1), PictureToken(3)]);
        desk.put(thumb(4));
        assert_eq!(token(desk.shelf().take(Serves::All)), Some(4), "nothing forgotten is answered");
    }

    #[test]
    fn a_thread_for_what_is_shown_sleeps_through_the_rest_and_ends_with_the_desk() {
        let desk = PictureDesk::default();
        let (taken, shelf) = (std::sync::mpsc::channel(), desk.shelf());
        let serve = move || {
            while let Some(request) = shelf.take(Serves::OnlyShown) {
                taken.0.send(token(Some(request))).unwrap(); // the test waits for it
            }
        };
        let thread = std::thread::Builder::new().name("shown".into()).spawn(serve).unwrap(); // the test needs a thread
        desk.put(thumb(1));
        desk.put(picture(2, false));
        assert_eq!(taken.1.recv().unwrap(), Some(2)); // the thread sends or the test fails
        drop(desk);
        thread.join().unwrap(); // it does not panic
        assert!(taken.1.recv().is_err(), "the thumbnail was left to others");
    }
}
