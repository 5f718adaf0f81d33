//! The regions of the selected edit while a person works on them: what counts, what can be undone, what is not on disk yet.
//!
//! A [`RegionDocument`] is the only thing that changes regions. Each change is one step of the history and one entry of the journal, and
//! waits in the outbox until the project file has it.

mod automatic;
mod history;
mod mask_job;
mod ops;
mod outbox;

use crate::domain::regions::{
    Area, EntryKind, JournalEntry, KeptRegion, RegionChange, RegionId, RegionStream, SideRegions, Token, roles_of,
};
use crate::domain::{RegionRole, Side, Size};

use super::row::RowId;

pub use automatic::automatic_regions;
pub use history::{History, Step};
pub use mask_job::{MaskDone, MaskJob};
pub(super) use ops::moved_within;
pub use ops::{BoxEdges, MaskOp, role_name};
pub use outbox::{Failure, Outbox};

/// Differences that an edit's history keeps in memory; a brush stroke takes a few kilobytes.
pub const HISTORY_BYTES: usize = 64 << 20;

/// Whose work it is, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    pub who: String,
    /// Milliseconds since 1970, UTC.
    pub at_millis: i64,
}

/// A line of the journal without its difference, to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub token: Token,
    pub side: Side,
    pub kind: EntryKind,
    pub who: String,
    pub what: String,
    pub at_millis: i64,
}

impl From<&JournalEntry> for LogLine {
    fn from(entry: &JournalEntry) -> Self {
        let JournalEntry { token, side, kind, who, what, at_millis, .. } = entry;
        Self { token: *token, side: *side, kind: *kind, who: who.clone(), what: what.clone(), at_millis: *at_millis }
    }
}

/// Another window wrote while this one had changes of the same side.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    pub side: Side,
    /// What counts in the project file.
    pub theirs: RegionStream,
    /// What the other window did, oldest first.
    pub their_log: Vec<LogLine>,
}

/// What the project file holds of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedSide {
    pub stream: RegionStream,
    /// The newest entries, oldest first.
    pub entries: Vec<JournalEntry>,
    /// How many older entries there are.
    pub older: usize,
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NotChanged {
    #[error("nothing to change")]
    Nothing,
    #[error("another window changed these regions: choose first whose version counts")]
    InConflict,
    #[error("{0}")]
    Because(String),
}

/// The regions of one edit.
#[derive(Clone, Debug)]
pub struct RegionDocument {
    pub id: RowId,
    /// Size of the source, which masks have.
    pub source_size: Size,
    /// Size of the edit, in which its boxes are measured.
    pub edit_size: Size,
    streams: [RegionStream; 2],
    automatic: [Vec<KeptRegion>; 2],
    history: History,
    log: Vec<LogLine>,
    older: usize,
    outbox: Outbox,
    /// At most one of each side, the older first.
    conflicts: Vec<Conflict>,
    /// Another window's work, or the end of a conflict, asks for reading the journal again.
    pub stale: bool,
    pub selected: Option<(Side, RegionId)>,
}

const fn index(side: Side) -> usize {
    match side {
        Side::Source => 0,
        Side::Edit => 1,
    }
}

impl RegionDocument {
    /// The regions of an edit as the project file holds them: source first, then edit. Sizes are those of the upright pictures.
    pub fn new(id: RowId, source_size: Size, edit_size: Size, loaded: [LoadedSide; 2]) -> Self {
        let mut document = Self {
            id,
            source_size,
            edit_size,
            streams: [RegionStream::unspoken(Side::Source), RegionStream::unspoken(Side::Edit)],
            automatic: [Vec::new(), Vec::new()],
            history: History::new(HISTORY_BYTES),
            log: Vec::new(),
            older: 0,
            outbox: Outbox::default(),
            conflicts: Vec::new(),
            stale: false,
            selected: None,
        };
        document.load(loaded);
        document
    }

    /// Takes over what the project file holds now; only when nothing waits to be written.
    pub fn load(&mut self, [source, edit]: [LoadedSide; 2]) {
        debug_assert!(self.outbox.is_empty(), "work that is not on disk would be lost");
        self.older = source.older + edit.older;
        // Each side is in its own order; between the sides the clock decides.
        let (mut left, mut right) = (source.entries.iter().peekable(), edit.entries.iter().peekable());
        let mut entries: Vec<&JournalEntry> = Vec::with_capacity(source.entries.len() + edit.entries.len());
        loop {
            let from_left = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) => a.at_millis <= b.at_millis,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            entries.extend(if from_left { left.next() } else { right.next() });
        }
        self.history = History::from_journal(entries.iter().copied(), HISTORY_BYTES);
        self.log = entries.iter().map(|entry| LogLine::from(*entry)).collect();
        self.streams = [source.stream, edit.stream];
        self.stale = false;
        self.drop_lost_selection();
    }

    /// Takes over what the networks found (see [`automatic_regions`]): of the source, then of the edit.
    pub fn set_automatic(&mut self, found: [Vec<KeptRegion>; 2]) {
        self.automatic = found;
        self.drop_lost_selection();
    }

    /// What people stand for on one side.
    pub const fn state(&self, side: Side) -> &SideRegions {
        &self.streams[index(side)].state
    }

    /// Whether the regions of a role are a person's word.
    pub fn speaks_for(&self, side: Side, role: RegionRole) -> bool {
        self.state(side).speaks_for(role)
    }

    /// The regions that count on one side, in the order they are drawn: a person's, and of every other role those that networks found.
    pub fn shown(&self, side: Side) -> impl Iterator<Item = &KeptRegion> {
        let state = self.state(side);
        let said = state.regions.iter().filter(|region| state.speaks_for(region.facts.role));
        let found = self.automatic[index(side)].iter().filter(|region| !state.speaks_for(region.facts.role));
        found.chain(said)
    }

    /// The regions that count, in the order in which they are listed: by role, the source first.
    pub fn listed(&self) -> impl Iterator<Item = (Side, &KeptRegion)> {
        let roles = [Side::Source, Side::Edit].into_iter().flat_map(|side| roles_of(side).iter().map(move |role| (side, *role)));
        roles.flat_map(|(side, role)| self.shown(side).filter(move |region| region.facts.role == role).map(move |region| (side, region)))
    }

    /// The region of that name, whether a person's or found.
    pub fn get(&self, side: Side, id: RegionId) -> Option<&KeptRegion> {
        self.shown(side).find(|region| region.id == id)
    }

    /// The selected region.
    pub fn selected(&self) -> Option<(Side, &KeptRegion)> {
        let (side, id) = self.selected?;
        self.get(side, id).map(|region| (side, region))
    }

    /// What can be undone and redone.
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// The journal as far as it was read, oldest first, with changes that are not on disk yet.
    pub fn log(&self) -> &[LogLine] {
        &self.log
    }

    /// How many older entries the journal has.
    pub const fn older(&self) -> usize {
        self.older
    }

    /// What waits to be written.
    pub const fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Another window's work that met this one's: the conflict that is settled next.
    pub fn conflict(&self) -> Option<&Conflict> {
        self.conflicts.first()
    }

    /// Whether the project file has all that this window has: nothing waits to be written, and no conflict for an answer.
    pub fn is_settled(&self) -> bool {
        self.outbox.is_empty() && self.conflicts.is_empty()
    }

    /// The last entries of both sides that this window knows.
    pub const fn heads(&self) -> [Token; 2] {
        [self.streams[0].head, self.streams[1].head]
    }

    /// Makes one change of one side: one step of the history, one entry of the journal.
    ///
    /// # Errors
    /// When `edit` refuses, changes nothing, or a conflict of that side is not settled.
    pub fn change(
        &mut self,
        side: Side,
        author: &Author,
        what: impl Into<String>,
        edit: impl FnOnce(&mut SideRegions) -> Result<(), NotChanged>,
    ) -> Result<(), NotChanged> {
        self.allowed(side)?;
        let before = self.state(side);
        let mut after = before.clone();
        edit(&mut after)?;
        let change = RegionChange::between(before, &after);
        if change.is_empty() {
            return Err(NotChanged::Nothing);
        }
        let (token, what) = (Token::random(), what.into());
        self.history.push(Step { token, side, what: what.clone(), change: change.clone() });
        self.record(side, token, EntryKind::Do, what, author, change);
        self.streams[index(side)].state = after;
        self.drop_lost_selection();
        Ok(())
    }

    /// Takes back the newest change; which one it was, in words.
    ///
    /// # Errors
    /// When there is none, or a conflict of its side is not settled.
    pub fn undo(&mut self, author: &Author) -> Result<String, NotChanged> {
        let step = self.history.next_undo().ok_or(NotChanged::Nothing)?;
        self.allowed(step.side)?;
        let change = step.change.inverse();
        let state = change.applied(self.state(step.side)).map_err(|error| NotChanged::Because(error.to_string()))?;
        let step = self.history.undo().ok_or(NotChanged::Nothing)?;
        self.streams[index(step.side)].state = state;
        self.record(step.side, Token::random(), EntryKind::Undo(step.token), step.what.clone(), author, change);
        self.drop_lost_selection();
        Ok(step.what)
    }

    /// Makes the last undone change again; which one it was, in words.
    ///
    /// # Errors
    /// When there is none, or a conflict of its side is not settled.
    pub fn redo(&mut self, author: &Author) -> Result<String, NotChanged> {
        let step = self.history.next_redo().ok_or(NotChanged::Nothing)?;
        self.allowed(step.side)?;
        let state = step.change.applied(self.state(step.side)).map_err(|error| NotChanged::Because(error.to_string()))?;
        let step = self.history.redo().ok_or(NotChanged::Nothing)?;
        self.streams[index(step.side)].state = state;
        self.record(step.side, Token::random(), EntryKind::Redo(step.token), step.what.clone(), author, step.change);
        self.drop_lost_selection();
        Ok(step.what)
    }

    /// Goes back to a state that was read from the journal.
    ///
    /// # Errors
    /// When it is the state that counts already, or a conflict of the side is not settled.
    pub fn restore(&mut self, state: &SideRegions, author: &Author, what: impl Into<String>) -> Result<(), NotChanged> {
        self.change(state.side, author, what, |now| {
            now.clone_from(state);
            Ok(())
        })
    }

    fn allowed(&self, side: Side) -> Result<(), NotChanged> {
        let blocked = self.conflicts.iter().any(|conflict| conflict.side == side);
        if blocked { Err(NotChanged::InConflict) } else { Ok(()) }
    }

    fn record(&mut self, side: Side, token: Token, kind: EntryKind, what: String, author: &Author, change: RegionChange) {
        let stream = &mut self.streams[index(side)];
        let Author { who, at_millis } = author.clone();
        // The two sides have journals of their own; strictly growing times keep their common order when they are read again.
        let at_millis = self.log.last().map_or(at_millis, |last| at_millis.max(last.at_millis + 1));
        let entry = JournalEntry { token, parent: stream.head, side, kind, who, what, at_millis, change };
        if kind != EntryKind::SetAside {
            stream.head = token;
        }
        self.log.push(LogLine::from(&entry));
        self.outbox.push(entry);
    }

    fn drop_lost_selection(&mut self) {
        if self.selected.is_some_and(|(side, id)| self.get(side, id).is_none()) {
            self.selected = None;
        }
    }

    /// The entries to write at `now` (seconds of the window's clock), in one go; empty when there is nothing to do.
    pub fn next_to_write(&mut self, now: f64) -> Vec<JournalEntry> {
        self.outbox.next(now)
    }

    /// So many of the entries that were sent are on disk, from the first on.
    pub fn written(&mut self, count: usize) {
        self.outbox.stored(count);
    }

    /// The entries that were sent could not be written.
    pub fn write_failed(&mut self, why: String, now: f64) {
        self.outbox.failed(why, now);
    }

    /// Tries to write again at once.
    pub fn retry(&mut self) {
        self.outbox.retry();
    }

    /// Another window wrote meanwhile. What this window has is set aside in the journal at once, so that nothing depends on the answer;
    /// which of the two counts is for the person to choose ([`Self::keep_mine`], [`Self::keep_theirs`]).
    pub fn met(&mut self, theirs: RegionStream, their_log: Vec<LogLine>, author: &Author) {
        let side = theirs.state.side;
        let mine = self.state(side).clone();
        // What this window began with: its own changes taken back, newest first.
        let mut base = mine.clone();
        let mut parent = self.streams[index(side)].head;
        for entry in self.outbox.of_side(side).rev() {
            if let Ok(before) = entry.change.inverse().applied(&base) {
                base = before;
            }
            parent = entry.parent;
        }
        let doings: Vec<&str> = self.outbox.of_side(side).map(|entry| entry.what.as_str()).collect();
        let aside = JournalEntry {
            token: Token::random(),
            parent,
            side,
            kind: EntryKind::SetAside,
            who: author.who.clone(),
            what: doings.join(", "),
            at_millis: author.at_millis,
            change: RegionChange::between(&base, &mine),
        };
        self.log.push(LogLine::from(&aside));
        self.outbox.replaced(side, aside);
        // The two sides have journals of their own, and each may meet another window's.
        self.conflicts.retain(|conflict| conflict.side != side);
        self.conflicts.push(Conflict { side, theirs, their_log });
    }

    fn next_conflict(&mut self) -> Option<Conflict> {
        (!self.conflicts.is_empty()).then(|| self.conflicts.remove(0))
    }

    /// Settles the oldest conflict: what this window has counts; the other's change stays in the journal.
    pub fn keep_mine(&mut self, author: &Author) {
        let Some(Conflict { side, theirs, .. }) = self.next_conflict() else { return };
        let change = RegionChange::between(&theirs.state, self.state(side));
        self.streams[index(side)].head = theirs.head;
        if !change.is_empty() {
            self.record(side, Token::random(), EntryKind::Do, "kept the version of this window".into(), author, change);
        }
        self.stale = true;
    }

    /// Settles the oldest conflict: what the other window has counts; this one's stays in the journal as set aside.
    pub fn keep_theirs(&mut self) {
        let Some(Conflict { side, theirs, .. }) = self.next_conflict() else { return };
        self.streams[index(side)] = theirs;
        self.stale = true;
        self.drop_lost_selection();
    }

    /// The masks that count of a role, with their names.
    pub fn masks(&self, role: RegionRole) -> impl Iterator<Item = &KeptRegion> {
        self.shown(Side::Edit).filter(move |region| region.facts.role == role && matches!(region.area, Area::Mask(_)))
    }
}
