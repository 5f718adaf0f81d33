//! The inference thread: owns the networks and works through runs one after another. What a person waits for goes before and between.

use crossbeam_channel::{Receiver, select_biased};

use crate::storage::Project;

use super::audit::{self, Background, Newest};
use super::evaluate::{Run, evaluate};
use super::handle::{Cancelled, Outbox};
use super::messages::{Event, Request, RunToken, ScoreRequest};
use super::networks::NetworkSlot;
use super::prompts::{PromptDesk, SeenPictures};
use super::scored_by;

/// What the thread reads from.
pub struct Inbox {
    pub runs: Receiver<Request>,
    /// About the edit that a person looks at: goes before the next edit of a run.
    pub background: Receiver<Background>,
    /// The newest question to the segmenter: the pointer waits for it.
    pub prompts: PromptDesk,
}

/// Scores what is asked for until the engine is gone.
pub fn serve(inbox: &Inbox, newest: &Newest, out: &Outbox, cancelled: &Cancelled) {
    let mut networks = NetworkSlot::default();
    let mut seen = SeenPictures::default();
    loop {
        inbox.prompts.serve(&mut networks, &mut seen, out);
        // Biased: the first channel that has something, in this order.
        select_biased! {
            recv(inbox.background) -> job => match job {
                Ok(job) => audit::finish(&job, &mut networks, newest, out),
                Err(_) => return,
            },
            recv(inbox.runs) -> request => match request {
                Ok(Request::Score(run, request)) => score(run, &request, (inbox, newest, &mut seen), &mut networks, out, cancelled),
                Ok(_) => {}
                Err(_) => return,
            },
        }
    }
}

fn score(
    run: RunToken,
    request: &ScoreRequest,
    (inbox, newest, seen): (&Inbox, &Newest, &mut SeenPictures),
    networks: &mut NetworkSlot,
    out: &Outbox,
    cancelled: &Cancelled,
) {
    // Work for other networks than the run's would make both load again and again; it waits.
    let mut waiting: Vec<Background> = Vec::new();
    let mut between = |networks: &mut NetworkSlot| {
        if inbox.prompts.is_for(&request.models, request.device) {
            inbox.prompts.serve(networks, seen, out);
        }
        for job in inbox.background.try_iter() {
            if scored_by::fits(job.ask(), networks) {
                audit::finish(&job, networks, newest, out);
            } else {
                waiting.push(job);
            }
        }
    };
    let result = Project::open(&request.project).map_err(anyhow::Error::from).and_then(|project| {
        let mut job = Run {
            token: run,
            request,
            cancelled: &|| cancelled.contains(run),
            emit: &mut |event| out.publish(event),
            between: &mut between,
        };
        evaluate(&project, networks, &mut job)
    });
    if let Err(error) = result {
        out.publish(Event::RunFailed { run, why: crate::engine::in_words(&error) });
    }
    for job in waiting {
        audit::finish(&job, networks, newest, out);
    }
}
