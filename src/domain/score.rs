//! The metric's result for one edit, with the path that led to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::geometry::{Bpm500, Rect};
use super::outcome::Outcome;
use super::parse::Parse;
use super::profile::Profile;
use super::region::{Detection, RegionRole};
use super::rle::Rle;
use super::triage::Triage;

/// The four part scores (`bpm.md` sections 3 and 4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// 0, 0.5 or 1.
    pub size: Outcome<f64>,
    /// 0, 0.5 or 1.
    pub position: Outcome<f64>,
    /// Cosine, in `-1..=1`.
    pub modify: Outcome<f64>,
    /// `1 − d`, in `0..=1` (`released-code`: `−d`).
    pub preserve: Outcome<f64>,
}

impl Parts {
    /// The names, in the order they are shown.
    pub const NAMES: [&str; 4] = ["size", "position", "modify", "preserve"];

    /// The part of that name; `None` for another name.
    pub fn get(&self, name: &str) -> Option<&Outcome<f64>> {
        match name {
            "size" => Some(&self.size),
            "position" => Some(&self.position),
            "modify" => Some(&self.modify),
            "preserve" => Some(&self.preserve),
            _ => None,
        }
    }
}

/// Boxes on both pictures, in image pixels of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Default)]
pub struct BoxesBySide {
    pub source: Vec<Detection>,
    pub edit: Vec<Detection>,
}

/// What a step of the trace is about; the window links it to its overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    Parse,
    /// What is looked for on each picture.
    Phrase,
    Boxes,
    Branch,
    Mask,
    Crop,
    Direction,
    Size,
    Position,
    Modify,
    Preserve,
    Range,
    Overall,
    Device,
}

/// One step on the way to a score, in words and numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    pub kind: TraceKind,
    /// A full sentence.
    pub text: String,
    /// The path left the plain rule here: a missing box, a sentinel of the released scripts, a cut text, …
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fallback: bool,
    /// The numbers that the sentence speaks of, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, f64>,
}

/// What the metric says about one edit under one profile, before any range is applied.
///
/// Normalisation and the overall depend on the set compared; `metrics::bpm::combine` computes them from this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub profile: Profile,
    pub parts: Parts,
    /// The whole picture was to change: modify is the cosine with the instruction, the region is not judged.
    pub global: bool,
    /// The parse that was used.
    pub parse: Parse,
    /// The boxes that were used (above the box threshold, or a person's).
    pub boxes: BoxesBySide,
    /// All candidates above 0.05, so that thresholds can be moved without the network.
    pub candidates: BoxesBySide,
    /// The edit region, at image size of the source; `None` when there is none (global edits).
    pub mask: Option<Rle>,
    /// The crop that modify looked at, integer edges on the 500×500 canvas.
    pub crop_in_bpm500: Option<Rect<Bpm500>>,
    pub trace: Vec<TraceStep>,
    /// What a person should know before the number is believed, besides the trace.
    #[serde(default, skip_serializing_if = "Triage::is_empty")]
    pub triage: Triage,
    /// The roles whose regions a person (or the data) gave: the boxes and the mask of these are no network's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<RegionRole>,
}

impl Score {
    /// A score of parts alone: as much as ranges and overalls need.
    pub fn of_parts(profile: Profile, global: bool, parts: Parts) -> Self {
        Self {
            profile,
            parts,
            global,
            parse: Parse::default(),
            boxes: BoxesBySide::default(),
            candidates: BoxesBySide::default(),
            mask: None,
            crop_in_bpm500: None,
            trace: Vec::new(),
            triage: Triage::default(),
            said: Vec::new(),
        }
    }
}
