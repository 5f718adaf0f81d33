//! How far a score moves when a choice behind it moves.

use super::row::Cell;

/// Least and greatest value of a score over the settings of a choice, and where it had none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    pub least: f64,
    pub greatest: f64,
    /// At how many settings there is no value (not applicable or failed), of how many in all.
    pub without: usize,
    pub settings: usize,
    /// At how many settings the value was not computed yet.
    pub waiting: usize,
    /// Close to the setting in use there is one without a value.
    pub lost_nearby: bool,
}

/// A band of the overall at least this wide makes a score fragile: a tenth of the scale that two normalised parts and two judged ones
/// span (0 to 2).
pub const FRAGILE: f64 = 0.2;

impl Band {
    /// The band of values; with each comes whether its setting is close to the one in use. `None` when there is no value at all.
    pub fn of(values: impl IntoIterator<Item = (Cell, bool)>) -> Option<Self> {
        let mut all = Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY, without: 0, settings: 0, waiting: 0, lost_nearby: false };
        for (value, nearby) in values {
            all.settings += 1;
            match value {
                Cell::Value(value) => (all.least, all.greatest) = (all.least.min(value), all.greatest.max(value)),
                Cell::Unscored => all.waiting += 1,
                Cell::NotApplicable | Cell::Failed => {
                    all.without += 1;
                    all.lost_nearby |= nearby;
                }
            }
        }
        (all.least <= all.greatest).then_some(all)
    }

    /// Greatest minus least.
    pub fn width(&self) -> f64 {
        self.greatest - self.least
    }

    /// Whether the score says as much about the choice as about the edit: it moves far, or a slightly different choice takes it away.
    pub fn is_fragile(&self) -> bool {
        self.width() >= FRAGILE || self.lost_nearby
    }

    /// What to say about it.
    pub fn words(&self) -> String {
        let (least, greatest) = (self.least, self.greatest);
        let so_far = if self.waiting > 0 { " so far" } else { "" };
        let mut words = if self.width() >= FRAGILE {
            format!("fragile: overall moves between {least:.3} and {greatest:.3}")
        } else if self.lost_nearby {
            format!("fragile: a slightly other setting leaves no overall; else it stays between {least:.3} and {greatest:.3}")
        } else {
            format!("firm{so_far}: overall stays between {least:.3} and {greatest:.3}")
        };
        let settings = |n: usize| format!("{n} of {} settings", self.settings);
        if self.without > 0 {
            words.push_str(&format!("; no value at {}", settings(self.without)));
        }
        if self.waiting > 0 {
            words.push_str(&format!("; not computed yet at {}", settings(self.waiting)));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn far(cell: Cell) -> (Cell, bool) {
        (cell, false)
    }

    #[test]
    fn a_band_is_fragile_from_a_fifth_on() {
        assert_eq!(Band::of([far(Cell::NotApplicable), far(Cell::Unscored)]), None);
        let firm = Band::of([Cell::Value(1.0), Cell::NotApplicable, Cell::Value(1.19), Cell::Value(1.1)].map(far)).expect("three values");
        assert_eq!((firm.least, firm.greatest, firm.without, firm.is_fragile()), (1.0, 1.19, 1, false));
        assert_eq!(firm.words(), "firm: overall stays between 1.000 and 1.190; no value at 1 of 4 settings");
        let fragile = Band::of([Cell::Value(0.5), Cell::Value(0.75)].map(far)).expect("two values");
        assert_eq!((fragile.is_fragile(), fragile.words().as_str()), (true, "fragile: overall moves between 0.500 and 0.750"));
    }

    #[test]
    fn a_score_that_a_slightly_other_setting_takes_away_is_fragile_too() {
        let lost = Band::of([far(Cell::Value(1.0)), (Cell::NotApplicable, true)]).expect("a value");
        assert!(lost.is_fragile() && lost.words().starts_with("fragile: a slightly other setting leaves no overall"), "{}", lost.words());
        // What is not computed yet is not lost.
        let waiting = Band::of([far(Cell::Value(1.0)), (Cell::Unscored, true)]).expect("a value");
        assert_eq!(waiting.words(), "firm so far: overall stays between 1.000 and 1.000; not computed yet at 1 of 2 settings");
    }
}
