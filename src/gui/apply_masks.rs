//! Operations on whole masks: computed one after the other on a thread of their own, each applied as one change when it is done.

use std::collections::VecDeque;

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use crate::domain::RegionRole;
use crate::editor::RowId;
use crate::editor::regions::{MaskDone, MaskOp};
use crate::engine::Level;

use super::app::App;

/// What was asked for and is not applied yet.
#[derive(Default)]
pub struct MaskWork {
    /// Not begun, oldest first: each works on the result of the one before it.
    waiting: VecDeque<(RegionRole, MaskOp)>,
    running: Option<Running>,
}

struct Running {
    document: RowId,
    op: MaskOp,
    result: Receiver<MaskDone>,
}

impl MaskWork {
    /// Whether nothing is computed or waits.
    pub(super) fn is_done(&self) -> bool {
        self.running.is_none() && self.waiting.is_empty()
    }
}

impl App {
    /// Asks for an operation on the mask that is drawn on.
    pub(super) fn ask_mask_op(&mut self, op: MaskOp) {
        self.mask_work.waiting.push_back((self.state.tools.options.mask_role, op));
        self.update_masks();
    }

    /// Takes back the newest operation that is not applied yet; whether there was one.
    pub(super) fn withdraw_mask_op(&mut self) -> bool {
        let withdrawn = match self.mask_work.waiting.pop_back() {
            Some((_, op)) => Some(op),
            // The thread goes on and finds that nobody wants its result.
            None => self.mask_work.running.take().map(|running| running.op),
        };
        if let Some(op) = withdrawn {
            self.toast(Level::Info, format!("Stopped {} before it was done.", op.doing()));
        }
        self.show_mask_work();
        withdrawn.is_some()
    }

    /// Applies what is done and begins what waits.
    pub(super) fn update_masks(&mut self) {
        if let Some(running) = &self.mask_work.running {
            match running.result.try_recv() {
                Ok(done) => {
                    self.mask_work.running = None;
                    self.mask_done(done);
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => {
                    let op = running.op;
                    self.mask_work.running = None;
                    self.toast(Level::Error, format!("The mask is as it was: {} failed.", op.doing()));
                }
            }
        }
        self.drop_other_masks();
        while self.mask_work.running.is_none()
            && let Some((role, op)) = self.mask_work.waiting.pop_front()
        {
            self.begin_mask_op(role, op);
        }
        self.show_mask_work();
    }

    fn show_mask_work(&mut self) {
        self.state.tools.working = self.mask_work.running.as_ref().map(|running| running.op);
    }

    /// An operation belongs to the edit it was asked for.
    fn drop_other_masks(&mut self) {
        let open = self.state.tools.document.as_ref().map(|document| document.id);
        if let Some(running) = self.mask_work.running.take_if(|running| Some(running.document) != open) {
            self.mask_work.waiting.clear();
            self.toast(Level::Warning, format!("Stopped {}: another edit was selected before it was done.", running.op.doing()));
        }
    }

    fn begin_mask_op(&mut self, role: RegionRole, op: MaskOp) {
        let Some(document) = &self.state.tools.document else {
            return self.tell_no_regions();
        };
        let job = match document.mask_job(role, op) {
            Ok(job) => job,
            Err(why) => return self.tell(Err(why), ""),
        };
        let (outgoing, result) = bounded(1);
        let (document, ctx) = (document.id, self.ctx.clone());
        let started = std::thread::Builder::new().name("mask".into()).spawn(move || {
            // Nobody takes it when it was withdrawn.
            let _ = outgoing.send(job.run());
            ctx.request_repaint();
        });
        match started {
            Ok(_) => self.mask_work.running = Some(Running { document, op, result }),
            Err(error) => self.toast(Level::Error, format!("The mask is as it was: the system gives no thread ({error})")),
        }
    }

    fn mask_done(&mut self, done: MaskDone) {
        let author = self.author();
        self.following_hidden(|app| {
            if let Some(document) = app.state.tools.document.as_mut().filter(|document| document.id == done.job.document) {
                let done = document.finish_mask_job(done, &author);
                app.tell(done, "That changes nothing in this mask.");
            }
        });
    }
}
