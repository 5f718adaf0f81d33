//! Triage: what about an edit or its score deserves a look before the number is believed.

/// One reason to look twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flag {
    /// The detector found nothing where the metric needs a box.
    NoBox,
    /// A used box covers nearly the whole picture.
    WholeBox,
    EmptyMask,
    FullMask,
    /// The score took a branch that is not the plain rule.
    Fallback,
    /// A part could not be computed.
    Failed,
    SizeMismatch,
    Shifted,
    /// Most of the change lies outside the region that was to change.
    LeakHigh,
    ParseDoubtful,
    /// The picture, the parse or a region changed since the edit was scored.
    Stale,
    SourceMissing,
    EditMissing,
}

impl Flag {
    /// All flags, in the order they are offered.
    pub const ALL: [Self; 13] = [
        Self::NoBox,
        Self::WholeBox,
        Self::EmptyMask,
        Self::FullMask,
        Self::Fallback,
        Self::Failed,
        Self::SizeMismatch,
        Self::Shifted,
        Self::LeakHigh,
        Self::ParseDoubtful,
        Self::Stale,
        Self::SourceMissing,
        Self::EditMissing,
    ];

    /// The word shown in the queue.
    pub const fn label(self) -> &'static str {
        match self {
            Self::NoBox => "no box",
            Self::WholeBox => "whole-image box",
            Self::EmptyMask => "empty mask",
            Self::FullMask => "full mask",
            Self::Fallback => "fallback",
            Self::Failed => "failed",
            Self::SizeMismatch => "size differs",
            Self::Shifted => "shifted",
            Self::LeakHigh => "leak high",
            Self::ParseDoubtful => "parse doubtful",
            Self::Stale => "score outdated",
            Self::SourceMissing => "source missing",
            Self::EditMissing => "edit missing",
        }
    }

    /// What it means, in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::NoBox => "The detector found no box for a phrase that the metric needs.",
            Self::WholeBox => "A box that the metric used covers nearly the whole picture.",
            Self::EmptyMask => "The edit region has no pixel.",
            Self::FullMask => "The edit region covers the whole picture: nothing is left to preserve.",
            Self::Fallback => "The score left the plain rule somewhere; the trace says where.",
            Self::Failed => "A part of the score could not be computed; the trace says why.",
            Self::SizeMismatch => "Source and edit differ in size; the metric stretches both.",
            Self::Shifted => "The edit looks shifted or zoomed against its source.",
            Self::LeakHigh => "There is a region that was to change, and at least half of all change lies outside of it.",
            Self::ParseDoubtful => "The reader of the instruction had to guess.",
            Self::Stale => "Picture, parse or regions changed since the score was made: score the edit again.",
            Self::SourceMissing => "The file of the source cannot be found or read.",
            Self::EditMissing => "The file of the edit cannot be found or read.",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);

    /// Whether `flag` is set.
    pub const fn has(self, flag: Flag) -> bool {
        self.0 & flag.bit() != 0
    }

    /// Sets or clears `flag`.
    pub fn set(&mut self, flag: Flag, on: bool) {
        if on {
            self.0 |= flag.bit();
        } else {
            self.0 &= !flag.bit();
        }
    }

    /// Whether nothing deserves a look.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many are set.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The set flags, in the order of [`Flag::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.into_iter().filter(move |flag| self.has(*flag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_listed_in_their_order_and_counted() {
        let mut flags = Flags::NONE;
        for flag in [Flag::EditMissing, Flag::NoBox, Flag::Fallback] {
            flags.set(flag, true);
        }
        flags.set(Flag::Fallback, false);
        assert_eq!(flags.iter().collect::<Vec<_>>(), [Flag::NoBox, Flag::EditMissing]);
        assert_eq!((flags.count(), flags.has(Flag::Fallback)), (2, false));
    }
}
