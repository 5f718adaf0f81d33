//! How far a score moves when a choice behind it moves.

/// Least and greatest value of a score over a choice, and how often it had none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    pub least: f64,
    pub greatest: f64,
    /// At how many settings there was no value (not applicable, failed, or not computed yet).
    pub without: usize,
}

/// A band of the overall at least this wide makes a score fragile: a tenth of the scale that two normalised parts and two judged ones
/// span (0 to 2).
pub const FRAGILE: f64 = 0.2;

impl Band {
    /// The band of values; `None` when there is no value at all.
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let (mut band, mut without): (Option<(f64, f64)>, usize) = (None, 0);
        for value in values {
            match value {
                Some(value) => band = Some(band.map_or((value, value), |(least, greatest)| (least.min(value), greatest.max(value)))),
                None => without += 1,
            }
        }
        band.map(|(least, greatest)| Self { least, greatest, without })
    }

    /// Greatest minus least.
    pub fn width(&self) -> f64 {
        self.greatest - self.least
    }

    /// Whether the score says as much about the choice as about the edit.
    pub fn is_fragile(&self) -> bool {
        self.width() >= FRAGILE
    }

    /// What to say about it.
    pub fn words(&self) -> String {
        let (least, greatest) = (self.least, self.greatest);
        let verdict = if self.is_fragile() {
            format!("fragile: overall moves between {least:.3} and {greatest:.3}")
        } else {
            format!("firm: overall stays between {least:.3} and {greatest:.3}")
        };
        match self.without {
            0 => verdict,
            n => format!("{verdict}; no value at {n} settings"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_fragile_from_a_fifth_on() {
        assert_eq!(Band::of([None, None]), None);
        let firm = Band::of([Some(1.0), None, Some(1.19), Some(1.1)]);
        assert_eq!(firm, Some(Band { least: 1.0, greatest: 1.19, without: 1 }));
        assert_eq!(firm.map(|band| band.words()), Some("firm: overall stays between 1.000 and 1.190; no value at 1 settings".to_owned()));
        let fragile = Band::of([Some(0.5), Some(0.75)]).map(|band| (band.is_fragile(), band.words()));
        assert_eq!(fragile, Some((true, "fragile: overall moves between 0.500 and 0.750".to_owned())));
    }
}
