//! One line of `score`: everything about one edit's score, as one JSON object.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{Baselines, BoxesBySide, Bpm500, Outcome, Parse, Parts, Profile, Rect, TraceStep, Triage, rle::Rle};

/// Modify and preserve after the range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normalised {
    pub modify: Outcome<f64>,
    pub preserve: Outcome<f64>,
}

/// What the metric says by itself about an edit that a person corrected: its line gives the corrected score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutomaticLine {
    pub parts: Parts,
    pub normalised: Normalised,
    pub overall: Outcome<f64>,
    pub parse: Parse,
    pub boxes: BoxesBySide,
    pub mask: Option<Rle>,
}

/// What `score` writes for one edit, in this order of keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreLine {
    /// Key of the edit.
    pub id: String,
    /// Key of the item.
    pub item: String,
    pub model: String,
    pub instruction: String,
    pub profile: Profile,
    pub parts: Parts,
    pub normalised: Normalised,
    pub overall: Outcome<f64>,
    /// The range that normalised, with its bounds; `None` when there was none.
    pub range: Option<crate::domain::Range>,
    /// Parts whose value lies outside the range, so that their normalised value is below 0 or above 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    pub parse: Parse,
    /// Boxes used, xyxy in image pixels of each picture.
    pub boxes: BoxesBySide,
    /// The edit region as COCO RLE at image size of the source.
    pub mask: Option<Rle>,
    /// The crop that modify looked at, on the metric's 500×500 canvas.
    pub crop: Option<Rect<Bpm500>>,
    pub global: bool,
    pub trace: Vec<TraceStep>,
    /// Change against the region, another size, a shift of the whole edit.
    #[serde(default)]
    pub triage: Triage,
    /// Why the score deserves a look, by the names of the project file (`no-box`, `leak-high`, …).
    #[serde(default)]
    pub flags: Vec<String>,
    /// Present, and `true`, where picture, parse or regions changed since the score was made and it could not follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outdated: bool,
    /// Present where a person corrected regions or parse; all keys above then hold for the correction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic: Option<AutomaticLine>,
    /// Names of the checkpoints and a hash of their content.
    pub models: String,
    /// Where the networks ran.
    pub device: String,
    /// Mean over the raters of each criterion that people have answered.
    pub human: BTreeMap<String, f64>,
    /// A rating behind `human` was made by a program.
    pub human_simulated: bool,
    /// Time that scoring took when it was first done.
    pub seconds: f64,
    /// Other metrics by name, each whole, inside and outside `mask`; empty with `--baselines none`.
    #[serde(default)]
    pub baselines: Baselines,
}

/// An edit that could not be scored at all: every part says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedLine {
    pub id: String,
    pub item: String,
    pub model: String,
    pub instruction: String,
    pub profile: Profile,
    pub parts: Parts,
    pub normalised: Normalised,
    pub overall: Outcome<f64>,
    /// Empty: there was no path to a score. The key is there so that every line has it.
    pub trace: Vec<TraceStep>,
    pub seconds: f64,
}

impl FailedLine {
    /// A line whose every value is `{"failed": why}`.
    pub fn new(id: String, item: String, model: String, instruction: String, profile: Profile, why: &str) -> Self {
        let failed = || Outcome::Failed(why.to_owned());
        Self {
            id,
            item,
            model,
            instruction,
            profile,
            parts: Parts { size: failed(), position: failed(), modify: failed(), preserve: failed() },
            normalised: Normalised { modify: failed(), preserve: failed() },
            overall: failed(),
            trace: Vec::new(),
            seconds: 0.0,
        }
    }
}
