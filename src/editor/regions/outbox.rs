//! Changes on their way to the project file: what waits is sent in one go, kept and sent again when the disk fails.

use std::collections::VecDeque;

use crate::domain::Side;
use crate::domain::regions::JournalEntry;

/// Seconds until a failed write is tried again; doubled with each failure up to [`LONGEST_WAIT`].
const FIRST_WAIT: f64 = 1.0;
const LONGEST_WAIT: f64 = 30.0;

/// Why changes are not on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The store's sentence.
    pub why: String,
    pub attempts: u32,
    /// When it is tried again, in seconds of the window's clock.
    pub retry_at: f64,
}

/// Entries that are not known to be on disk, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outbox {
    waiting: VecDeque<JournalEntry>,
    /// So many of the first entries were sent and not answered yet.
    in_flight: usize,
    failure: Option<Failure>,
}

impl Outbox {
    /// Adds an entry behind the others.
    pub fn push(&mut self, entry: JournalEntry) {
        self.waiting.push_back(entry);
    }

    /// How many entries are not known to be on disk.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether everything is on disk.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether the disk has been asked and has not answered yet.
    pub const fn is_in_flight(&self) -> bool {
        self.in_flight > 0
    }

    /// Why the last write failed; `None` when it did not.
    pub const fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The entries to send at `now` (seconds of the window's clock), which then count as sent: all that wait, in one go. None while others are
    /// on their way, because what comes of those decides whether these may follow.
    pub fn next(&mut self, now: f64) -> Vec<JournalEntry> {
        if self.is_in_flight() || self.failure.as_ref().is_some_and(|failure| failure.retry_at > now) {
            return Vec::new();
        }
        self.in_flight = self.waiting.len();
        self.waiting.iter().cloned().collect()
    }

    /// So many of the entries that were sent are on disk, from the first on; none is on its way any more.
    pub fn stored(&mut self, count: usize) {
        self.waiting.drain(..count.min(self.waiting.len()));
        self.in_flight = 0;
        self.failure = None;
    }

    /// The entries that were sent could not be written; all stay here and are tried again.
    pub fn failed(&mut self, why: String, now: f64) {
        let attempts = self.failure.as_ref().map_or(0, |failure| failure.attempts) + 1;
        let wait = (FIRST_WAIT * 2f64.powi(attempts as i32 - 1)).min(LONGEST_WAIT);
        self.in_flight = 0;
        self.failure = Some(Failure { why, attempts, retry_at: now + wait });
    }

    /// Tries again at once.
    pub fn retry(&mut self) {
        if let Some(failure) = &mut self.failure {
            failure.retry_at = f64::NEG_INFINITY;
        }
    }

    /// The first entry met another window's: takes out the entries of its side and puts `instead` in front.
    pub fn replaced(&mut self, side: Side, instead: JournalEntry) -> Vec<JournalEntry> {
        let (mine, others): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|entry| entry.side == side);
        self.waiting = others;
        self.waiting.push_front(instead);
        self.in_flight = 0;
        self.failure = None;
        mine.into()
    }

    /// The entries of one side, oldest first.
    pub fn of_side(&self, side: Side) -> impl DoubleEndedIterator<Item = &JournalEntry> {
        self.waiting.iter().filter(move |entry| entry.side == side)
    }
}
