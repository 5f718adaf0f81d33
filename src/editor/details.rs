//! Everything about the selected edit, read from the project when it is selected.

use std::path::PathBuf;
use std::sync::Arc;

use super::flags::Flags;
use super::row::RowId;
use crate::domain::{Baselines, Outcome, Parse, Profile, Range, Rating, Score};

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

/// What the metric says by itself about an edit whose counting score is a person's correction.
#[derive(Clone, Debug, PartialEq)]
pub struct Automatic {
    pub score: Arc<Score>,
    pub combined: Option<Combined>,
}

/// What an auditor needs besides the score that counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// `None` when nothing was corrected.
    pub automatic: Option<Automatic>,
    /// What modify and preserve are put on one scale with.
    pub range: Option<Range>,
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
    pub audit: Audit,
    /// Other metrics; those without a value say why. Empty without a score.
    pub baselines: Baselines,
    /// In words: profile, networks and device of the run that made the score.
    pub made_by: String,
    pub flags: Flags,
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
