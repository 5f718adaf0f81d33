//! Scores that follow a correction, how firm they are, and the region pasted back: what the window asks of the engine about one edit.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::{PaperWeights, Profile, Range, Score, Side, rle::Rle};
use crate::editor::{Cell, Combined, EditDetails, Flag, RowId, Thresholds};
use crate::engine::audit::{Ask, AuditEvent, AuditRequest, PastedBack, Sensitivity};
use crate::engine::paste_back::FEATHER;
use crate::engine::{Level, Partial, Pending, Request, combine};
use crate::storage::EditId;

use super::app::App;
use super::dialogs::Ask as AskFile;
use super::flags::flags_after;
use super::found::Found;
use super::state::{Page, Tab};

/// What a person asks for about the selected edit.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditAction {
    /// Show or hide how firm the score is.
    ToggleSensitivity,
    /// Compute it; with `all` the networks are asked for what is not known.
    WantSensitivity { edit: RowId, all: bool },
    /// Show the region of the edit on the source in place of the edit, or the edit again.
    TogglePasteBack,
    /// Back to what was scored: no other thresholds, no pasted region.
    EndTrying,
    /// Another softness of the pasted region's edge, in pixels of the source; `done` when the person let the slider go.
    SetFeather { feather: f32, done: bool },
    /// The person points at a candidate of the detector. Holds for one frame.
    PointAt(Side, usize),
}

/// A section of the Score tab that a key opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reveal {
    Sensitivity,
    PasteBack,
}

/// A score that is on its way to the project.
#[derive(Clone, Debug)]
pub struct Live {
    pub edit: RowId,
    ticket: u64,
    /// What is known so far; `None` until the first answer.
    pub partial: Option<Arc<Partial>>,
    /// How long the first answer took.
    pub millis: f64,
}

/// Something that was asked for about an edit.
#[derive(Clone, Debug)]
pub struct Asked<T> {
    pub edit: RowId,
    ticket: u64,
    /// `None` until the answer is here.
    pub result: Option<Result<Arc<T>, String>>,
}

/// The part of the window's state that is about auditing one edit.
#[derive(Debug, Default)]
pub struct AuditState {
    tickets: u64,
    /// The newest request of each edit that is not answered in full yet.
    waiting: HashMap<RowId, u64>,
    /// Why the score of an edit did not follow its last correction: what stands there is outdated.
    failed: HashMap<RowId, String>,
    /// Answers to questions up to this one are about a project that is no longer open.
    before_project: u64,
    pub live: Option<Live>,
    /// What networks found of the selected edit.
    pub(super) found: Option<(RowId, Found)>,
    /// The mask that the canvas draws of the selected edit.
    pub(super) drawn_mask: Option<(RowId, Option<Rle>)>,
    pub sensitivity_open: bool,
    pub sensitivity: Option<Asked<Sensitivity>>,
    pub pasted: Option<Asked<PastedBack>>,
    /// The canvas shows the pasted picture in place of the edit.
    pub pasted_shown: bool,
    feather: Option<f32>,
    /// The candidate under the pointer, by side and place among the candidates.
    pub pointed: Option<(Side, usize)>,
    /// The section that the inspector scrolls to in the next frame.
    pub reveal: Option<Reveal>,
}

impl AuditState {
    /// Whether an answer is on its way.
    pub fn is_working(&self) -> bool {
        let pasting = |asked: &Asked<PastedBack>| match &asked.result {
            Some(Ok(pasted)) => pasted.score.is_none(),
            Some(Err(_)) => false,
            None => true,
        };
        !self.waiting.is_empty()
            || self.sensitivity.as_ref().is_some_and(|asked| asked.result.is_none())
            || self.pasted.as_ref().is_some_and(pasting)
    }

    /// Whether the score of an edit is being computed.
    pub fn is_waiting(&self, edit: RowId) -> bool {
        self.waiting.contains_key(&edit)
    }

    /// Why the score of an edit did not follow its last correction, where that is so.
    pub fn failure(&self, edit: RowId) -> Option<&str> {
        self.failed.get(&edit).map(String::as_str)
    }

    /// An edit was scored anew, or found not to be scorable: what was computed about its old score no longer holds.
    pub(super) fn scored_anew(&mut self, edit: RowId) {
        self.failed.remove(&edit);
        self.sensitivity.take_if(|asked| asked.edit == edit);
        self.pasted.take_if(|asked| asked.edit == edit);
    }

    /// Profile, networks or device are others now: what was computed with those of before no longer holds.
    pub(super) fn forget_answers(&mut self) {
        self.sensitivity = None;
        self.pasted = None;
    }

    /// Another project is opened.
    pub(super) fn forget_project(&mut self) {
        self.waiting.clear();
        self.failed.clear();
        self.before_project = self.tickets;
        self.live = None;
        self.found = None;
        self.drawn_mask = None;
        self.forget_answers();
    }

    /// The softness of a pasted region's edge, in pixels of the source.
    pub fn feather(&self) -> f32 {
        self.feather.unwrap_or(FEATHER)
    }

    /// The pasted picture that stands in for an edit on the canvas.
    pub fn stand_in(&self, edit: RowId) -> Option<&PathBuf> {
        let asked = self.pasted.as_ref().filter(|asked| self.pasted_shown && asked.edit == edit)?;
        asked.result.as_ref()?.as_ref().ok().map(|pasted| &pasted.picture)
    }

    /// What was asked about the thresholds and the mask of an edit under a profile.
    pub fn sensitivity_of(&self, edit: RowId, profile: Profile) -> Option<&Asked<Sensitivity>> {
        let of_profile = |asked: &&Asked<Sensitivity>| match &asked.result {
            Some(Ok(known)) => known.profile == profile,
            Some(Err(_)) | None => true,
        };
        self.sensitivity.as_ref().filter(|asked| asked.edit == edit).filter(of_profile)
    }

    /// What to show of an edit's score: the newest answer, or what the project holds.
    pub fn shown<'a>(&'a self, details: &'a EditDetails) -> Option<ShownScore<'a>> {
        let live = self.live.as_ref().filter(|live| live.edit == details.id);
        let outdated = match self.failure(details.id) {
            Some(why) => Some(why),
            None if details.flags.has(Flag::Stale) && !self.is_waiting(details.id) => Some(Flag::Stale.meaning()),
            None => None,
        };
        if let Some(partial) = live.and_then(|live| live.partial.as_deref()) {
            let combined = details.audit.range.as_ref().map(|range| combined(&partial.score, range));
            return Some(ShownScore { score: &partial.score, combined, pending: partial.pending, outdated });
        }
        let score = details.score.as_deref()?;
        Some(ShownScore { score, combined: details.combined.clone(), pending: Pending::default(), outdated })
    }
}

/// A score as the inspector shows it.
pub struct ShownScore<'a> {
    pub score: &'a Score,
    pub combined: Option<Combined>,
    /// Parts that are not known yet; they come, unless the score is outdated.
    pub pending: Pending,
    /// Why the score is not that of the regions, parse and pictures of now.
    pub outdated: Option<&'a str>,
}

/// A score's parts on the common scale, and its overall.
pub fn combined(score: &Score, range: &Range) -> Combined {
    let combined = combine(score, Some(range), PaperWeights::default());
    Combined { modify: combined.modify.value, preserve: combined.preserve.value, overall: combined.overall, range: range.fitted_on.clone() }
}

impl App {
    /// The regions of an edit, or of its source, were changed by a person and are journaled: its score follows.
    ///
    /// An edit that nobody scored yet stays so.
    pub(super) fn regions_changed(&mut self, id: RowId) {
        if self.state.queue.row(id).is_none_or(|row| row.parts == [Cell::Unscored; 4]) {
            return;
        }
        let Some(ask) = self.ask_about(id) else { return };
        let ticket = ask.ticket;
        self.state.audit.waiting.insert(id, ticket);
        self.state.audit.failed.remove(&id);
        self.state.audit.live = Some(Live { edit: id, ticket, partial: None, millis: 0.0 });
        // What was known of the old regions is no longer true.
        self.state.audit.forget_answers();
        self.engine.send(Request::Audit(AuditRequest::Rescore(ask)));
    }

    fn ask_about(&mut self, id: RowId) -> Option<Ask> {
        let project = self.state.info()?.path.clone();
        self.state.audit.tickets += 1;
        Some(Ask {
            ticket: self.state.audit.tickets,
            project,
            edit: EditId(id.0),
            profile: self.settings.profile,
            models: self.settings.models.clone(),
            device: self.settings.device,
        })
    }

    /// Has looked whether pictures (of an edit, or all) are still those that are shown.
    pub(super) fn check_pictures(&self, edit: Option<RowId>) {
        if let Some(project) = self.state.info().map(|info| info.path.clone()) {
            self.engine.send(Request::CheckPictures { project, edit: edit.map(|id| EditId(id.0)) });
        }
    }

    /// Somebody may have changed pictures while the window was not in front.
    pub(super) fn follow_focus(&mut self) {
        let in_front = self.ctx.input(|input| input.focused);
        if !std::mem::replace(&mut self.in_front, in_front) && in_front {
            self.check_pictures(None);
        }
    }

    /// Applies what a person asked for.
    pub(super) fn apply_audit(&mut self, action: AuditAction) {
        match action {
            AuditAction::ToggleSensitivity => {
                let seen = self.state.page == Page::Audit && self.state.tab == Tab::Score;
                // Where it cannot be seen, the key shows it.
                self.state.audit.sensitivity_open = !(self.state.audit.sensitivity_open && seen);
                (self.state.page, self.state.tab) = (Page::Audit, Tab::Score);
                self.state.audit.reveal = self.state.audit.sensitivity_open.then_some(Reveal::Sensitivity);
            }
            AuditAction::EndTrying => self.end_trying(),
            AuditAction::WantSensitivity { edit, all } => self.want_sensitivity(edit, all),
            AuditAction::TogglePasteBack => {
                self.state.page = Page::Audit;
                self.state.audit.pasted_shown = !self.state.audit.pasted_shown;
                self.state.audit.reveal = self.state.audit.pasted_shown.then_some(Reveal::PasteBack);
                self.want_pasted();
            }
            AuditAction::SetFeather { feather, done } => {
                self.state.audit.feather = Some(feather);
                if done {
                    self.state.audit.pasted = None;
                    self.want_pasted();
                }
            }
            AuditAction::PointAt(side, index) => self.state.audit.pointed = Some((side, index)),
        }
    }

    fn want_sensitivity(&mut self, edit: RowId, all: bool) {
        if self.state.audit.sensitivity_of(edit, self.settings.profile).is_some() && !all {
            return;
        }
        let Some(ask) = self.ask_about(edit) else { return };
        self.state.audit.sensitivity = Some(Asked { edit, ticket: ask.ticket, result: None });
        self.engine.send(Request::Audit(AuditRequest::Sensitivity { ask, all }));
    }

    /// Has the region of the selected edit pasted back, unless that was done or nobody looks.
    pub(super) fn want_pasted(&mut self) {
        let Some(edit) = self.state.queue.selected().filter(|_| self.state.audit.pasted_shown) else { return };
        if self.state.audit.pasted.as_ref().is_some_and(|asked| asked.edit == edit) || self.state.audit.is_waiting(edit) {
            return;
        }
        let Some(ask) = self.ask_about(edit) else { return };
        self.state.audit.pasted = Some(Asked { edit, ticket: ask.ticket, result: None });
        let feather = self.state.audit.feather();
        self.engine.send(Request::Audit(AuditRequest::PasteBack { ask, feather }));
    }

    /// Asks where to save the pasted picture that is shown.
    pub(super) fn save_pasted(&mut self) {
        let row = self.state.queue.selected_row();
        match row.and_then(|row| Some((row, self.state.audit.stand_in(row.id)?))) {
            Some((row, picture)) => {
                // Item and model name the edit; what some file system forbids becomes a line.
                let name = [&*row.item, &*row.model].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
                let name: String = name.chars().map(|c| if c.is_control() || "/\\:*?\"<>|".contains(c) { '_' } else { c }).collect();
                self.ask(AskFile::PastedBackTo { picture: picture.clone(), name: format!("{name}-pasted-back.png") });
            }
            None => self.toast(Level::Info, "Show the pasted-back picture first; then it can be saved."),
        }
    }

    /// Copies a pasted picture to where a person wants it, unless that is a picture or a project that would be lost.
    pub(super) fn copy_pasted(&mut self, picture: PathBuf, to: PathBuf) {
        let Some(project) = self.state.info().map(|info| info.path.clone()) else { return };
        let rows = self.state.queue.rows();
        let inputs = rows.iter().flat_map(|row| [&row.source, &row.edited]).chain([&picture, &project]).cloned().collect();
        if let Err(error) = self.exports.copy(picture, to, inputs) {
            self.toast(Level::Error, format!("The picture is not saved: {error}"));
        }
    }

    /// One answer of the engine.
    pub(super) fn audit_event(&mut self, event: AuditEvent) {
        let (AuditEvent::Rescored { ticket, .. }
        | AuditEvent::Sensitivity { ticket, .. }
        | AuditEvent::PastedBack { ticket, .. }
        | AuditEvent::Measured { ticket, .. }
        | AuditEvent::Failed { ticket, .. }) = event;
        // About a project that was open before; the edits of this one have the same numbers.
        if ticket <= self.state.audit.before_project {
            return;
        }
        match event {
            AuditEvent::Rescored { ticket, edit, partial, millis, kept } => self.rescored(RowId(edit.0), ticket, partial, millis, kept),
            AuditEvent::Sensitivity { ticket, edit, result } => {
                take(&mut self.state.audit.sensitivity, RowId(edit.0), ticket, result);
            }
            AuditEvent::PastedBack { ticket, edit, result } => take(&mut self.state.audit.pasted, RowId(edit.0), ticket, result),
            AuditEvent::Measured { edit, .. } => {
                if self.state.queue.selected() == Some(RowId(edit.0)) {
                    self.request_details(RowId(edit.0));
                }
            }
            AuditEvent::Failed { ticket, edit, why } => self.rescore_failed(RowId(edit.0), ticket, why),
        }
    }

    /// The score stays as it was before the correction; it says so, and why.
    fn rescore_failed(&mut self, edit: RowId, ticket: u64, why: String) {
        // An answer to an older question says nothing about the regions of now.
        if self.state.audit.waiting.get(&edit).is_some_and(|newest| *newest > ticket) {
            return;
        }
        self.state.audit.waiting.remove(&edit);
        self.state.queue.update(edit, |row| row.flags.set(Flag::Stale, true));
        self.rows_changed = true;
        self.toast(Level::Error, format!("The score cannot follow the correction, and is marked as outdated: {why}"));
        self.state.audit.failed.insert(edit, why);
        if self.state.queue.selected() == Some(edit) {
            self.request_details(edit);
        }
    }

    fn rescored(&mut self, edit: RowId, ticket: u64, partial: Arc<Partial>, millis: f64, kept: bool) {
        // An answer to an older question says nothing about the regions of now.
        if self.state.audit.live.as_ref().is_some_and(|live| live.edit == edit && live.ticket > ticket) {
            return;
        }
        if let Some(live) = self.state.audit.live.as_mut().filter(|live| live.edit == edit) {
            live.partial = Some(Arc::clone(&partial));
            live.millis = if live.millis > 0.0 { live.millis } else { millis };
        }
        if !kept {
            self.state.audit.waiting.entry(edit).or_insert(ticket);
            return;
        }
        self.state.audit.waiting.remove(&edit);
        self.state.audit.failed.remove(&edit);
        let range = self.state.details.as_ref().and_then(|details| details.audit.range.clone());
        self.state.queue.update(edit, |row| {
            row.take_score(&partial.score);
            row.flags = flags_after(row.flags, &partial.score);
            if let Some(range) = &range {
                row.overall = (&combined(&partial.score, range).overall).into();
            }
        });
        self.rows_changed = true;
        if self.state.queue.selected() == Some(edit) {
            self.request_details(edit);
            // Its region is in the project from now on.
            self.want_pasted();
        }
    }

    /// The details of an edit were read anew: what was live is in them, unless something newer is on its way, or what is known of the
    /// correction could not be completed.
    pub(super) fn audit_details_taken(&mut self, id: RowId) {
        if !self.state.audit.is_waiting(id) && self.state.audit.failure(id).is_none() {
            self.state.audit.live = self.state.audit.live.take().filter(|live| live.edit != id);
        }
    }

    /// Another edit was selected: what was tried on the last one does not stand before this one.
    pub(super) fn audit_selected(&mut self) {
        self.state.audit.live = None;
        self.end_trying();
    }

    /// Whether something is shown that is tried and not scored.
    pub(super) fn is_trying(&self) -> bool {
        let audit = &self.state.audit;
        self.state.overlays.preview().is_some() || audit.pasted_shown || audit.sensitivity_open
    }

    /// Ends what is tried: other thresholds, the region pasted back, and how firm the score is.
    pub(super) fn end_trying(&mut self) {
        self.state.overlays.set_preview(Thresholds::METRIC);
        let audit = &mut self.state.audit;
        (audit.pasted_shown, audit.pasted) = (false, None);
        (audit.sensitivity_open, audit.sensitivity) = (false, None);
    }
}

/// Takes an answer in, if it is the one that is waited for.
fn take<T>(asked: &mut Option<Asked<T>>, edit: RowId, ticket: u64, result: Result<Arc<T>, String>) {
    if let Some(asked) = asked.as_mut().filter(|asked| asked.edit == edit && asked.ticket == ticket) {
        asked.result = Some(result);
    }
}
