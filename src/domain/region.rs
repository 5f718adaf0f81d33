//! Boxes and masks on the source or on an edit, with what they are for and where they came from.

use serde::{Deserialize, Serialize};

use super::geometry::{ImageSpace, Rect};
use super::rle::Rle;

/// Which picture of the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Source,
    Edit,
}

/// One box that a detector proposed for a phrase, in upright pixels of the picture it was found on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// Edges in image pixels; may leave the picture a little.
    #[serde(rename = "box")]
    pub rect_in_image: Rect<ImageSpace>,
    /// The words of the query that the detector matched.
    pub phrase: String,
    /// Largest token probability, in `0..=1`.
    pub confidence: f32,
    /// The tokens of the query with their probabilities, in their order; empty for boxes that no detector made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<TokenMatch>,
}

/// How surely a box shows one token of the query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenMatch {
    /// As the detector's vocabulary writes it (`##` begins a piece inside a word).
    pub token: String,
    /// In `0..=1`.
    pub probability: f32,
}

/// What a region stands for in the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionRole {
    /// What the instruction changes, on the source; of an addition the reference it is added to.
    Original,
    /// What the instruction leads to, on the edit.
    Edited,
    /// Pixels that belong to the edit region; preservation is judged outside.
    EditMask,
    /// Pixels that count neither way.
    Ignore,
}

/// Who drew a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionOrigin {
    Detector,
    Segmenter,
    Person,
    Import,
}

/// The area itself, in image pixels of its side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionShape {
    Box(Rect<ImageSpace>),
    Mask(Rle),
}

/// A box or mask on one picture of a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    pub side: Side,
    pub role: RegionRole,
    pub origin: RegionOrigin,
    pub shape: RegionShape,
    /// The phrase or name shown beside it; empty if none.
    pub label: String,
    /// Confidence in `0..=1`, for proposals of a network.
    pub confidence: Option<f32>,
}
