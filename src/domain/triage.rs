//! Where an edit changed its picture, against the region that was to change: what says that a score deserves a second look.

use serde::{Deserialize, Serialize};

use super::geometry::Size;

/// A pixel counts as changed when its distance (`sqrt(mean of squared differences) / 255`) is above this: 8 of 255 levels, which
/// recompressing a picture as JPEG seldom reaches.
pub const CHANGED_ABOVE: f64 = 8.0 / 255.0;

/// Change of a pair on the metric's canvas, against its edit region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeShares {
    /// Share of all change that lies outside the region, `0..=1`: the sum of the distances of changed pixels outside, over that of
    /// all changed pixels. `None` when no pixel changed.
    pub leak: Option<f64>,
    /// Share of the region's pixels that did not change, `0..=1`. `None` when the region is empty.
    pub unchanged: Option<f64>,
    /// Share of all pixels that changed, `0..=1`.
    pub changed: f64,
}

/// How the whole edit is moved against its source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// Pixels of the source by which the edit's content lies to the right.
    pub dx: f64,
    /// Pixels of the source by which the edit's content lies lower.
    pub dy: f64,
    /// How many times larger the edit's content is.
    pub zoom: f64,
    /// Share of the difference outside the region that moving the edit back takes away, `0..=1`.
    pub explained: f64,
}

/// What besides the parts is known of a pair; each field is empty when it has nothing to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Triage {
    /// `None` when the edit has no region (global edits).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeShares>,
    /// The size of the edit, where it is not that of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_size: Option<Size>,
    /// The edit looks moved or zoomed as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
}

impl Triage {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
