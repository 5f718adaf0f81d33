//! What goes out of a project about an edit: plain rows that the engine fills and `export` writes.

use serde_json::{Map, Value};

use super::{Baselines, Outcome, Parse, Parts, PictureRef, Profile, Rating, Region, Triage};

/// An edit with everything that is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportRow {
    pub id: String,
    pub item: String,
    pub source: PictureRef,
    pub instruction: String,
    pub edited: PictureRef,
    pub model: String,
    pub parse: Option<Parse>,
    /// The rating that counts of each rater.
    pub ratings: Vec<Rating>,
    /// Unknown keys of the item and of the edit.
    pub item_extra: Map<String, Value>,
    pub extra: Map<String, Value>,
    /// `None` when it was never scored.
    pub result: Option<ExportResult>,
}

/// What the metric says about an edit.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportResult {
    pub profile: Profile,
    /// The parts, or why the edit could not be scored at all.
    pub parts: Result<Parts, String>,
    /// `None` when there is no range.
    pub overall: Option<Outcome<f64>>,
    /// The name of the range.
    pub range: Option<String>,
    /// `None` where nothing was corrected.
    pub automatic: Option<AutomaticResult>,
    /// Other metrics, as far as they were computed.
    pub baselines: Baselines,
    /// Change against the region, another size, a shift of the whole edit.
    pub triage: Triage,
    /// Why the score deserves a look, by the names of the project file (`no-box`, `leak-high`, …).
    pub flags: Vec<String>,
    /// Picture, parse or regions changed since the score was made: it is not theirs.
    pub outdated: bool,
}

/// A region on a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportRegion {
    pub region: Region,
    /// Key of the edit that it belongs to; `None` for boxes of a source, which all its edits share.
    pub edit: Option<String>,
    /// It belongs to a score that is not that of the regions, parse and pictures of now.
    pub outdated: bool,
}

impl From<Region> for ExportRegion {
    fn from(region: Region) -> Self {
        Self { region, edit: None, outdated: false }
    }
}

/// What the metric said by itself, where a person's correction is the result.
#[derive(Clone, Debug, PartialEq)]
pub struct AutomaticResult {
    pub parts: Parts,
    pub overall: Outcome<f64>,
}
