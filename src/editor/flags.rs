//! Triage: what about an edit or its score deserves a look before the number is believed.

use crate::domain::{BoxesBySide, Outcome, Rect, Score, TraceKind};

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
    ParseDoubtful,
    SourceMissing,
    EditMissing,
}

impl Flag {
    /// All flags, in the order they are offered.
    pub const ALL: [Self; 11] = [
        Self::NoBox,
        Self::WholeBox,
        Self::EmptyMask,
        Self::FullMask,
        Self::Fallback,
        Self::Failed,
        Self::SizeMismatch,
        Self::Shifted,
        Self::ParseDoubtful,
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
            Self::ParseDoubtful => "parse doubtful",
            Self::SourceMissing => "source missing",
            Self::EditMissing => "edit missing",
        }
    }

    /// What it means, in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::NoBox => "The detector found no box for a phrase that the metric needs.",
            Self::WholeBox => "A box that was used covers 90 % of the picture or more.",
            Self::EmptyMask => "The edit region has no pixel.",
            Self::FullMask => "The edit region covers the whole picture: nothing is left to preserve.",
            Self::Fallback => "The score left the plain rule somewhere; the trace says where.",
            Self::Failed => "A part of the score could not be computed; the trace says why.",
            Self::SizeMismatch => "Source and edit differ in size; the metric stretches both.",
            Self::Shifted => "The edit looks shifted or zoomed against its source.",
            Self::ParseDoubtful => "The reader of the instruction had to guess.",
            Self::SourceMissing => "The file of the source cannot be found.",
            Self::EditMissing => "The file of the edit cannot be found.",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }

    /// Flags that a score decides; the others come from files and parse.
    const OF_SCORE: [Self; 6] = [Self::NoBox, Self::WholeBox, Self::EmptyMask, Self::FullMask, Self::Fallback, Self::Failed];
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

    /// Sets the flags that `score` decides; those of files and parse stay.
    pub fn take_score(&mut self, score: &Score) {
        for flag in Flag::OF_SCORE {
            self.set(flag, false);
        }
        let parts = [&score.parts.size, &score.parts.position, &score.parts.modify, &score.parts.preserve];
        self.set(Flag::Failed, parts.iter().any(|part| matches!(part, Outcome::Failed(_))));
        self.set(Flag::Fallback, score.trace.iter().any(|step| step.fallback));
        self.set(Flag::NoBox, score.trace.iter().any(|step| step.fallback && step.kind == TraceKind::Boxes));
        if score.global {
            return;
        }
        self.set(Flag::NoBox, self.has(Flag::NoBox) || score.boxes == BoxesBySide::default());
        if let Some(rle) = &score.mask {
            let pixels = u64::from(rle.size[0]) * u64::from(rle.size[1]);
            if let Ok(mask) = rle.to_mask() {
                self.set(Flag::EmptyMask, mask.is_empty());
                self.set(Flag::FullMask, pixels > 0 && mask.is_full());
            }
            // Boxes of the source lie in the same pixels as the mask; the edit's size is not part of a score.
            let whole = Rect::new(0.0, 0.0, rle.size[1] as f32, rle.size[0] as f32);
            let nearly_whole =
                |found: &crate::domain::Detection| pixels > 0 && found.rect_in_image.intersection(&whole).area() >= 0.9 * whole.area();
            self.set(Flag::WholeBox, score.boxes.source.iter().any(nearly_whole));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::details::tests::score;

    #[test]
    fn a_box_over_nine_tenths_and_a_fallback_are_flagged() {
        let mut score = score();
        let mut flags = Flags::NONE;
        flags.set(Flag::SourceMissing, true);
        flags.take_score(&score);
        assert_eq!(flags.iter().collect::<Vec<_>>(), [Flag::SourceMissing]);
        // The score's picture is 10×10: a box of 10×9 covers exactly nine tenths.
        score.boxes.source[0].rect_in_image = Rect::new(0.0, 0.0, 10.0, 9.0);
        score.trace[0].fallback = true;
        flags.take_score(&score);
        assert_eq!(flags.iter().collect::<Vec<_>>(), [Flag::WholeBox, Flag::Fallback, Flag::SourceMissing]);
    }

    #[test]
    fn masks_without_and_with_every_pixel_are_flagged() {
        let mut score = score();
        let size = crate::domain::Size::new(10, 10);
        let mut flags = Flags::NONE;
        score.mask = Some(crate::domain::rle::Rle::from_mask(&crate::domain::Mask::empty(size)));
        flags.take_score(&score);
        assert!(flags.has(Flag::EmptyMask) && !flags.has(Flag::FullMask));
        score.mask = Some(crate::domain::rle::Rle::from_mask(&crate::domain::Mask::full(size)));
        flags.take_score(&score);
        assert!(flags.has(Flag::FullMask) && !flags.has(Flag::EmptyMask));
    }
}
