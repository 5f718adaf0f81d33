//! Nothing that a person made is lost by closing the window or by opening another project: what is not on disk is written first, and where
//! that fails the person decides.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use egui::ViewportCommand;

use super::app::App;
use super::state::Dialog;

/// How long the end of the program waits for the disk, after the person was asked.
const LAST_WAIT: Duration = Duration::from_secs(3);

/// Seconds of waiting for the disk after which the person is asked.
const PATIENCE: f64 = 0.5;

/// So many items are named of those with typed fields.
const MOST_NAMED: usize = 3;

/// Where the person goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// Out of the program.
    Close,
    /// To another project, or to this one anew.
    Open(PathBuf),
}

/// What the person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaveAnswer {
    SaveAgain,
    /// Go, and lose what is not on disk.
    Lose,
}

/// On the way somewhere else.
#[derive(Clone, Debug, PartialEq)]
pub struct OnTheWay {
    pub to: Leaving,
    /// Seconds on egui's clock.
    since: f64,
}

impl App {
    /// Goes somewhere else as soon as everything is on disk; most often that is at once.
    pub(super) fn leave(&mut self, to: Leaving) {
        self.save_comment();
        let since = self.ctx.input(|input| input.time);
        self.state.leaving = Some(OnTheWay { to, since });
        self.update_leaving();
    }

    /// What is not on disk, in words; `None` when everything is.
    fn not_kept(&self) -> Option<String> {
        let regions = self.state.tools.unsaved_count();
        let others = [
            (!self.mask_work.is_done(), "a change of a mask that is being computed"),
            (self.state.rating.dirty, "a comment: say who you are in the field above the questions of the tab Rate, then it is saved"),
            (self.state.saving, "a rating or a parse"),
            (self.store.is_keeping() && regions == 0, "what was done last"),
        ];
        let others = others.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what.to_owned());
        let words: Vec<String> = (regions > 0).then(|| changes(regions)).into_iter().chain(others).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// Fields of the parse that were typed and not saved: closing the window would lose them. They stay while projects are changed.
    fn typed_fields(&self, to: &Leaving) -> Option<String> {
        if *to != Leaving::Close {
            return None;
        }
        let state = &self.state;
        let selected = state.queue.selected_row().filter(|_| state.typed_parse().is_some()).map(|row| &*row.item);
        let mut items: Vec<&str> = state.typed_parses.keys().map(|(_, item)| &**item).chain(selected).collect();
        items.sort_unstable();
        items.dedup();
        let more = items.len().saturating_sub(MOST_NAMED);
        items.truncate(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!items.is_empty()).then(|| format!("fields of the parse of {}{more}: save them in the Parse tab", items.join(", ")))
    }

    /// Why changes of regions are not on disk, as far as the disk has said.
    fn refusal(&self) -> Option<String> {
        let tools = &self.state.tools;
        let failure = tools.document.iter().chain(&tools.unsaved).find_map(|document| document.outbox().failure())?;
        Some(failure.why.clone())
    }

    /// Holds the window open as long as something is not on disk.
    pub(super) fn hold_window(&mut self) {
        let asked = self.ctx.input(|input| input.viewport().close_requested());
        if !asked || self.may_close {
            return;
        }
        self.save_comment();
        if self.not_kept().is_some() || self.typed_fields(&Leaving::Close).is_some() {
            self.ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.retry_regions();
            self.leave(Leaving::Close);
        }
    }

    /// Goes where the person wants to, once that loses nothing; asks where it takes too long or fails.
    pub(super) fn update_leaving(&mut self) {
        let Some(leaving) = &self.state.leaving else { return };
        let (on_its_way, typed) = (self.not_kept(), self.typed_fields(&leaving.to));
        if on_its_way.is_none() && typed.is_none() {
            return self.go();
        }
        let refusal = self.refusal();
        let waited = self.ctx.input(|input| input.time) - leaving.since;
        if refusal.is_some() || typed.is_some() || self.state.rating.dirty || waited > PATIENCE {
            self.state.dialog = Some(Dialog::Leaving);
            self.state.not_kept = on_its_way.map(|what| match refusal {
                Some(why) => format!("{what}. The disk refused it: {why}"),
                None => format!("{what}. It is being written."),
            });
            self.state.not_saved = typed;
        }
        self.ctx.request_repaint_after(Duration::from_millis(100));
    }

    /// The person was asked, and answers.
    pub(super) fn leave_answer(&mut self, answer: LeaveAnswer) {
        match answer {
            LeaveAnswer::SaveAgain => {
                self.retry_regions();
                if let Some(leaving) = &mut self.state.leaving {
                    leaving.since = self.ctx.input(|input| input.time);
                }
                self.save_comment();
            }
            LeaveAnswer::Lose => {
                self.forget_regions();
                self.state.rating.dirty = false;
                self.go();
            }
        }
    }

    /// The person stays.
    pub(super) fn stay(&mut self) {
        self.state.leaving = None;
    }

    fn go(&mut self) {
        if self.state.dialog == Some(Dialog::Leaving) {
            self.state.dialog = None;
        }
        match self.state.leaving.take().map(|leaving| leaving.to) {
            Some(Leaving::Close) => {
                self.may_close = true;
                self.ctx.send_viewport_cmd(ViewportCommand::Close);
            }
            Some(Leaving::Open(path)) => self.go_to_project(path),
            None => {}
        }
    }

    fn retry_regions(&mut self) {
        let tools = &mut self.state.tools;
        tools.document.iter_mut().chain(&mut tools.unsaved).for_each(crate::editor::regions::RegionDocument::retry);
    }

    /// Before the program ends by itself: waits a moment for what is on its way to the disk.
    pub(super) fn flush(&mut self) {
        let deadline = Instant::now() + LAST_WAIT;
        while self.not_kept().is_some() && self.refusal().is_none() && Instant::now() < deadline {
            self.update_masks();
            self.write_regions(self.ctx.input(|input| input.time));
            while let Some(event) = self.store.try_next() {
                self.store_event(event);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// So many changes, in words.
pub fn changes(count: usize) -> String {
    if count == 1 { "1 change of regions".to_owned() } else { format!("{count} changes of regions") }
}
