//! Everything about the selected edit, read from the project when it is selected.

use std::path::PathBuf;
use std::sync::Arc;

use super::row::RowId;
use crate::domain::{Outcome, Parse, Profile, Rating, Score};

/// A picture of the pair and whether it is where the project says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureState {
    /// A path that can be opened as it is.
    pub path: PathBuf,
    /// Why it cannot be used; `None` when it can.
    pub problem: Option<String>,
}

/// Parts on the common scale and the overall, for one range.
#[derive(Clone, Debug, PartialEq)]
pub struct Combined {
    pub modify: Outcome<f64>,
    pub preserve: Outcome<f64>,
    pub overall: Outcome<f64>,
    /// Where the range was fitted, in words.
    pub range: String,
}

/// One change of the edit's labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryLine {
    /// Milliseconds since 1970, UTC; `None` when unknown.
    pub at_millis: Option<i64>,
    pub who: String,
    pub what: String,
}

/// The selected edit.
#[derive(Clone, Debug, PartialEq)]
pub struct EditDetails {
    pub id: RowId,
    pub source: PictureState,
    pub edited: PictureState,
    pub parse: Option<Parse>,
    pub score: Option<Arc<Score>>,
    pub combined: Option<Combined>,
    /// In words: profile, networks and device of the run that made the score.
    pub made_by: String,
    /// Newest rating of each rater.
    pub ratings: Vec<Rating>,
    /// Newest first.
    pub history: Vec<HistoryLine>,
}

impl EditDetails {
    /// The profile of the score that is shown.
    pub fn profile(&self) -> Option<Profile> {
        self.score.as_ref().map(|score| score.profile)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::domain::{BoxesBySide, Detection, Parts, Rect, TraceKind, TraceStep};

    /// A score on a 10×10 source with one small box and a mask of a quarter.
    pub(crate) fn score() -> Score {
        let found = Detection { rect_in_image: Rect::new(1.0, 1.0, 5.0, 5.0), phrase: "cat".into(), confidence: 0.8 };
        let mask = crate::domain::Mask::from_fn(crate::domain::Size::new(10, 10), |x, y| x < 5 && y < 5);
        Score {
            profile: Profile::Corrected,
            parts: Parts {
                size: Outcome::Value(1.0),
                position: Outcome::Value(0.5),
                modify: Outcome::Value(0.2),
                preserve: Outcome::Value(0.9),
            },
            global: false,
            parse: Parse::default(),
            boxes: BoxesBySide { source: vec![found.clone()], edit: vec![found] },
            candidates: BoxesBySide::default(),
            mask: Some(crate::domain::rle::Rle::from_mask(&mask)),
            crop_in_bpm500: None,
            trace: vec![TraceStep { kind: TraceKind::Branch, text: "A replacement.".into(), fallback: false, numbers: Default::default() }],
        }
    }
}
