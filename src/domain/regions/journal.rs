//! The journal of regions: each change as it was made, by whom and when, in an order that two windows agree on.
//!
//! Every entry names itself by a random [`Token`] and the entry before it. A window that writes says which entry it has seen last; when
//! another one wrote meanwhile, the two differ and nothing is overwritten.

use std::hash::{BuildHasher as _, Hasher as _};

use super::{ChangeError, RegionChange, SideRegions};
use crate::domain::Side;

/// Names an entry of the journal; random, so that two programs never choose the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub i64);

impl Token {
    /// Stands before the first entry.
    pub const NONE: Self = Self(0);

    /// A new one.
    pub fn random() -> Self {
        // Each `RandomState` hashes with keys of its own, which come from the system's random source.
        let value = std::collections::hash_map::RandomState::new().build_hasher().finish();
        Self((value >> 1) as i64 | 1)
    }
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A change that somebody made.
    Do,
    /// It takes back the change of that name.
    Undo(Token),
    /// It makes a change again that was taken back.
    Redo(Token),
    /// What one window had when another one had written: kept, but not what counts. Its change leads there from the entry before.
    SetAside,
}

/// One entry.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalEntry {
    pub token: Token,
    /// The entry that was the last of its side when this was made.
    pub parent: Token,
    pub side: Side,
    pub kind: EntryKind,
    pub who: String,
    /// In words ("drew a box").
    pub what: String,
    /// Milliseconds since 1970, UTC.
    pub at_millis: i64,
    pub change: RegionChange,
}

/// The regions of one side as they count, and how they came to be.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionStream {
    pub state: SideRegions,
    /// The last entry that counts; [`Token::NONE`] before the first.
    pub head: Token,
}

impl RegionStream {
    /// Before the first entry.
    pub const fn unspoken(side: Side) -> Self {
        Self { state: SideRegions::unspoken(side), head: Token::NONE }
    }

    /// Goes on by an entry; one that was set aside changes nothing.
    ///
    /// # Errors
    /// When its change does not fit.
    pub fn push(&mut self, entry: &JournalEntry) -> Result<(), ChangeError> {
        if entry.kind != EntryKind::SetAside {
            self.state = entry.change.applied(&self.state)?;
            self.head = entry.token;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_none_is_the_first() {
        let mut tokens: Vec<Token> = (0..1000).map(|_| Token::random()).collect();
        assert!(tokens.iter().all(|token| *token > Token::NONE));
        tokens.sort_unstable();
        tokens.dedup();
        assert_eq!(tokens.len(), 1000);
    }
}
