//! Triage flags as the project keeps them, put together as the window shows them.

use crate::domain::Score;
use crate::editor::{Flag, Flags};
use crate::storage::{self, Flag as StoredFlag, PictureState, QueueRow};

/// The flags of an edit that has just been scored: those of the score, and what is known of its files.
pub(super) fn flags_after(before: Flags, score: &Score) -> Flags {
    let mut flags = shown(&storage::flags_of(score));
    for of_file in [Flag::SourceMissing, Flag::EditMissing] {
        flags.set(of_file, before.has(of_file));
    }
    flags
}

/// The flags of a row: of its score, of its files, and whether the score still holds.
pub(super) fn flags_of(row: &QueueRow) -> Flags {
    let mut flags = shown(row.score.as_ref().map_or(&[][..], |score| &score.flags));
    if let Some(score) = &row.score {
        flags.set(Flag::Stale, score.stale);
        flags.set(Flag::Failed, flags.has(Flag::Failed) || score.parts.is_err());
    }
    flags.set(Flag::ParseDoubtful, flags.has(Flag::ParseDoubtful) || row.parse_doubtful == Some(true));
    flags.set(Flag::SourceMissing, is_missing(row.source_state));
    flags.set(Flag::EditMissing, is_missing(row.picture_state));
    flags
}

/// Flags of a score as the window has them.
fn shown(stored: &[StoredFlag]) -> Flags {
    let mut flags = Flags::NONE;
    for stored in stored {
        let flag = match stored {
            StoredFlag::NoBox => Flag::NoBox,
            StoredFlag::BoxNearlyWhole => Flag::WholeBox,
            StoredFlag::EmptyMask => Flag::EmptyMask,
            StoredFlag::FullMask => Flag::FullMask,
            StoredFlag::Fallback => Flag::Fallback,
            StoredFlag::ParseDoubtful => Flag::ParseDoubtful,
            StoredFlag::PartFailed => Flag::Failed,
            StoredFlag::SizeMismatch => Flag::SizeMismatch,
            StoredFlag::Shifted => Flag::Shifted,
            StoredFlag::LeakHigh => Flag::LeakHigh,
        };
        flags.set(flag, true);
    }
    flags
}

/// Whether a file is gone or unreadable; one that is another than was scored makes the score outdated instead.
const fn is_missing(state: PictureState) -> bool {
    matches!(state, PictureState::Missing | PictureState::Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{EditKey, ItemKey, Outcome, Parts, Profile};
    use crate::storage::{EditId, ItemId, QueueScore, RunId};

    fn row() -> QueueRow {
        let none = || Outcome::NotApplicable("not judged".to_owned());
        let parts = Parts { size: none(), position: none(), modify: none(), preserve: none() };
        QueueRow {
            edit: EditId(1),
            item: ItemId(1),
            item_key: ItemKey("i".into()),
            edit_key: EditKey("e".into()),
            instruction: String::new(),
            model: String::new(),
            source: "s.png".into(),
            source_state: PictureState::Present,
            picture: "e.png".into(),
            picture_state: PictureState::Unchecked,
            parse_doubtful: Some(false),
            score: Some(QueueScore {
                run: RunId(1),
                parts: Ok(parts),
                overall: None,
                global: false,
                stale: false,
                flags: Vec::new(),
                automatic: None,
            }),
            human: None,
        }
    }

    /// The flags of a row after a change.
    fn after(change: impl FnOnce(&mut QueueRow)) -> Vec<Flag> {
        let mut row = row();
        change(&mut row);
        flags_of(&row).iter().collect()
    }

    fn score(row: &mut QueueRow) -> &mut QueueScore {
        row.score.as_mut().expect("the row has a score")
    }

    #[test]
    fn flags_of_files_and_of_the_project_come_and_go() {
        assert_eq!(after(|_| {}), []);
        assert_eq!(after(|row| row.source_state = PictureState::Missing), [Flag::SourceMissing]);
        assert_eq!(after(|row| row.picture_state = PictureState::Unreadable), [Flag::EditMissing]);
        // Another picture under the same name is not missing; its score is outdated, which the project says.
        assert_eq!(after(|row| row.picture_state = PictureState::Changed), []);
        assert_eq!(after(|row| score(row).stale = true), [Flag::Stale]);
        assert_eq!(after(|row| score(row).parts = Err("no picture".into())), [Flag::Failed]);
        assert_eq!(after(|row| row.parse_doubtful = Some(true)), [Flag::ParseDoubtful]);
        assert_eq!(after(|row| (row.parse_doubtful, row.score) = (None, None)), []);
    }

    #[test]
    fn every_flag_of_a_score_has_one_in_the_window() {
        let found = after(|row| score(row).flags = StoredFlag::ALL.to_vec());
        assert_eq!(found.len(), StoredFlag::ALL.len(), "{found:?}");
    }

    #[test]
    fn a_fresh_score_brings_its_flags_and_leaves_those_of_files() {
        let mut before = Flags::NONE;
        for flag in [Flag::Stale, Flag::NoBox, Flag::SourceMissing] {
            before.set(flag, true);
        }
        let parts = row().score.expect("the row has a score").parts.expect("it did not fail");
        let fresh = Score::of_parts(Profile::Corrected, true, parts);
        assert_eq!(flags_after(before, &fresh).iter().collect::<Vec<_>>(), [Flag::SourceMissing]);
    }
}
