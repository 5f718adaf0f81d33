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
/// Steps of this window keep the states that they lead between, so that undoing them costs nothing. When this takes more than the budget,
/// the states that are farthest from now are let go and their differences are left; when those alone take more, the oldest are forgotten
/// here. The journal on disk keeps them all.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    undo: VecDeque<Counted>,
    /// What was undone, the next to redo last.
    redo: VecDeque<Counted>,
    bytes: usize,
    budget: usize,
    /// Some step was added with its states; steps of a journal that was read have none, and then none is searched for.
    states: bool,
}

/// A step with what it takes.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    step: Step,
    bytes: usize,
    /// It had its states when it was counted.
    has_states: bool,
}

/// What a step takes besides its difference.
const STEP_BYTES: usize = 96;

impl Counted {
    fn new(step: Step) -> Self {
        let mut counted = Self { step, bytes: 0, has_states: false };
        counted.count();
        counted
    }

    fn count(&mut self) {
        self.bytes = STEP_BYTES + self.step.what.len() + self.step.change.bytes();
        self.has_states = self.step.change.has_states();
    }
}

impl History {
    /// Nothing to undo; keeps at most `budget` bytes.
    pub const fn new(budget: usize) -> Self {
        Self { undo: VecDeque::new(), redo: VecDeque::new(), bytes: 0, budget, states: false }
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

    /// Bytes that the steps took when they were last counted.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many steps can be undone and redone.
    pub fn depth(&self) -> (usize, usize) {
        (self.undo.len(), self.redo.len())
    }

    /// The step that [`Self::undo`] would take.
    pub fn next_undo(&self) -> Option<&Step> {
        self.undo.back().map(|counted| &counted.step)
    }

    /// The step that [`Self::redo`] would take.
    pub fn next_redo(&self) -> Option<&Step> {
        self.redo.back().map(|counted| &counted.step)
    }

    /// Adds a new gesture; what was undone before can no longer be redone.
    pub fn push(&mut self, step: Step) {
        self.bytes -= self.redo.drain(..).map(|counted| counted.bytes).sum::<usize>();
        self.add(step, true);
    }

    /// Moves the newest step to those that can be redone; the caller applies its inverse.
    pub fn undo(&mut self) -> Option<Step> {
        let counted = self.undo.pop_back()?;
        self.redo.push_back(counted.clone());
        Some(counted.step)
    }

    /// Moves the last undone step back; the caller applies it.
    pub fn redo(&mut self) -> Option<Step> {
        let counted = self.redo.pop_back()?;
        self.undo.push_back(counted.clone());
        Some(counted.step)
    }

    fn add(&mut self, step: Step, done: bool) {
        let counted = Counted::new(step);
        self.bytes += counted.bytes;
        self.states |= counted.has_states;
        if done {
            self.undo.push_back(counted);
        } else {
            self.redo.push_back(counted);
        }
        if self.states {
            self.count_again();
        }
        while self.bytes > self.budget {
            if self.states && self.let_states_go() {
                continue;
            }
            // Steps hang together, so those farthest from now go first.
            let Some(counted) = self.undo.pop_front().or_else(|| self.redo.pop_front()) else { break };
            self.bytes -= counted.bytes;
        }
    }

    /// Differences may have been computed since steps with states were counted.
    fn count_again(&mut self) {
        for counted in self.undo.iter_mut().chain(&mut self.redo).filter(|counted| counted.has_states) {
            self.bytes -= counted.bytes;
            counted.count();
            self.bytes += counted.bytes;
        }
    }

    /// Lets go the states of the step farthest from now that has some; whether there was one.
    fn let_states_go(&mut self) -> bool {
        let Some(counted) = self.undo.iter_mut().chain(&mut self.redo).find(|counted| counted.has_states) else { return false };
        counted.step.change.let_states_go();
        self.bytes -= counted.bytes;
        counted.count();
        self.bytes += counted.bytes;
        true
    }

    fn take_from_undo(&mut self, token: Token) -> Option<Step> {
        let at = self.undo.iter().rposition(|counted| counted.step.token == token)?;
        let counted = self.undo.remove(at)?;
        self.bytes -= counted.bytes;
        Some(counted.step)
    }

    fn take_from_redo(&mut self, token: Token) -> Option<Step> {
        let at = self.redo.iter().rposition(|counted| counted.step.token == token)?;
        let counted = self.redo.remove(at)?;
        self.bytes -= counted.bytes;
        Some(counted.step)
    }
}
