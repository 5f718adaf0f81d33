//! Undo and redo of an edit's regions: differences, within a budget of bytes, rebuilt from the journal when the edit is opened again.

use std::collections::VecDeque;

use crate::domain::Side;
use crate::domain::regions::{EntryKind, JournalEntry, RegionChange, Token};

/// One gesture.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The journal's entry that made it first.
    pub token: Token,
    pub side: Side,
    /// In words, as the journal has it.
    pub what: String,
    /// From before the gesture to after it.
    pub change: RegionChange,
}

/// What can be undone and redone, newest last.
///
/// When the differences take more than the budget, the oldest are forgotten here; the journal on disk keeps them all.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    undo: VecDeque<Step>,
    /// What was undone, the next to redo last.
    redo: VecDeque<Step>,
    bytes: usize,
    budget: usize,
}

/// What a step takes besides its difference.
const STEP_BYTES: usize = 96;

fn bytes_of(step: &Step) -> usize {
    STEP_BYTES + step.what.len() + step.change.bytes()
}

impl History {
    /// Nothing to undo; keeps at most `budget` bytes.
    pub const fn new(budget: usize) -> Self {
        Self { undo: VecDeque::new(), redo: VecDeque::new(), bytes: 0, budget }
    }

    /// The history that a journal tells, oldest entry first. What was set aside is no part of it.
    pub fn from_journal<'a>(entries: impl IntoIterator<Item = &'a JournalEntry>, budget: usize) -> Self {
        let mut history = Self::new(budget);
        for entry in entries {
            let step = |token: Token, change: RegionChange| Step { token, side: entry.side, what: entry.what.clone(), change };
            match entry.kind {
                EntryKind::Do => history.push(step(entry.token, entry.change.clone())),
                EntryKind::Undo(target) => {
                    // The target may lie before the part of the journal that was read; its change is then known from being undone.
                    let undone = history.take_from_undo(target).unwrap_or_else(|| step(target, entry.change.inverse()));
                    history.add(undone, false);
                }
                EntryKind::Redo(target) => {
                    let redone = history.take_from_redo(target).unwrap_or_else(|| step(target, entry.change.clone()));
                    history.add(redone, true);
                }
                EntryKind::SetAside => {}
            }
        }
        history
    }

    /// Bytes that the differences take.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many steps can be undone and redone.
    pub fn depth(&self) -> (usize, usize) {
        (self.undo.len(), self.redo.len())
    }

    /// The step that [`Self::undo`] would take.
    pub fn next_undo(&self) -> Option<&Step> {
        self.undo.back()
    }

    /// The step that [`Self::redo`] would take.
    pub fn next_redo(&self) -> Option<&Step> {
        self.redo.back()
    }

    /// Adds a new gesture; what was undone before can no longer be redone.
    pub fn push(&mut self, step: Step) {
        self.bytes -= self.redo.drain(..).map(|step| bytes_of(&step)).sum::<usize>();
        self.add(step, true);
    }

    /// Moves the newest step to those that can be redone; the caller applies its inverse.
    pub fn undo(&mut self) -> Option<Step> {
        let step = self.undo.pop_back()?;
        self.redo.push_back(step.clone());
        Some(step)
    }

    /// Moves the last undone step back; the caller applies it.
    pub fn redo(&mut self) -> Option<Step> {
        let step = self.redo.pop_back()?;
        self.undo.push_back(step.clone());
        Some(step)
    }

    fn add(&mut self, step: Step, done: bool) {
        self.bytes += bytes_of(&step);
        if done {
            self.undo.push_back(step);
        } else {
            self.redo.push_back(step);
        }
        while self.bytes > self.budget {
            // Steps hang together, so those farthest from now go first.
            let Some(step) = self.undo.pop_front().or_else(|| self.redo.pop_front()) else { break };
            self.bytes -= bytes_of(&step);
        }
    }

    fn take_from_undo(&mut self, token: Token) -> Option<Step> {
        let at = self.undo.iter().rposition(|step| step.token == token)?;
        let step = self.undo.remove(at)?;
        self.bytes -= bytes_of(&step);
        Some(step)
    }

    fn take_from_redo(&mut self, token: Token) -> Option<Step> {
        let at = self.redo.iter().rposition(|step| step.token == token)?;
        let step = self.redo.remove(at)?;
        self.bytes -= bytes_of(&step);
        Some(step)
    }
}
