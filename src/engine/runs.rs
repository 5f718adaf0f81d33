//! The inference thread: owns the networks and works through runs one after another.

use crossbeam_channel::Receiver;

use crate::storage::Project;

use super::evaluate::{Run, evaluate};
use super::handle::{Cancelled, Outbox};
use super::messages::{Event, Request};
use super::networks::NetworkSlot;
use super::prompts::{PromptDesk, SeenPictures};

/// Scores what is asked for until the engine is gone.
pub fn serve(requests: &Receiver<Request>, desk: &PromptDesk, out: &Outbox, cancelled: &Cancelled) {
    let mut networks = NetworkSlot::default();
    let mut seen = SeenPictures::default();
    for request in requests {
        desk.serve(&mut networks, &mut seen, out);
        let Request::Score(run, request) = request else { continue };
        let result = Project::open(&request.project).map_err(anyhow::Error::from).and_then(|project| {
            let mut job =
                Run { token: run, request: &request, cancelled: &|| cancelled.contains(run), emit: &mut |event| out.publish(event) };
            evaluate(&project, &mut networks, &mut job)
        });
        if let Err(error) = result {
            out.publish(Event::RunFailed { run, why: format!("{error:#}") });
        }
    }
}
