//! BPM (ICML 2025, arXiv 2506.13827): region-aware and semantic-aware judgement of an edit.
//!
//! [`score_pair`] gives the four parts and the trace of one edit under one profile; [`combine()`] applies a range and α to make them
//! comparable. Nothing here knows a network: see [`super::ports`].
//!
//! Pictures come upright, under every profile: that the released scripts detect on pictures as stored (`bpm.md` section 6 point 7) is not
//! repeated, because a box of a turned picture means nothing on the upright one.

mod canvases;
mod checked;
mod combine;
mod localize;
mod partial;
mod plan;
mod region_judge;
mod semantic_judge;
pub mod sensitivity;
mod trace;

pub use canvases::Canvases;
pub use combine::{Combined, Marked, combine, explain, fit_range};
pub use partial::{Partial, Pending, judge};
pub use plan::{Plan, phrases};
pub use region_judge::{Verdict, position_holds, share_score, size_holds};
pub use semantic_judge::{cosine, crop_edges, preserve_distance, wrapped_distance};
pub use trace::Trace;

use image::RgbImage;

use crate::domain::{Bpm500, Detection, ImageSpace, Mask, Parse, Profile, Rect, Scale, Score, Size, rle::Rle};

use super::ports::{Networks, PortError};

/// How a pair is scored.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub profile: Profile,
    /// Boxes must exceed this confidence (paper: 0.3).
    pub box_threshold: f32,
}

impl Settings {
    /// The paper's settings under `profile`.
    pub const fn new(profile: Profile) -> Self {
        Self { profile, box_threshold: 0.3 }
    }
}

/// What a person has put right; it takes the place of what networks found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Boxes on the source, in its image pixels, instead of the detector's.
    pub source_boxes: Option<Vec<Detection>>,
    /// Boxes on the edit, in its image pixels, instead of the detector's.
    pub edit_boxes: Option<Vec<Detection>>,
    /// The edit region, of any size (stretched to the canvas), instead of the segmenter's.
    pub mask: Option<Mask>,
    /// Pixels that count neither way, of any size (stretched to the canvas): left out where preservation is judged.
    pub ignore: Option<Mask>,
}

/// One pair to judge.
#[derive(Clone, Copy)]
pub struct PairInput<'a> {
    /// Upright source, any size.
    pub source: &'a RgbImage,
    /// Upright edit, any size.
    pub edit: &'a RgbImage,
    pub instruction: &'a str,
    pub parse: &'a Parse,
    pub overrides: &'a Overrides,
}

/// One pair with what is derived from its pictures alone.
struct Pair<'a> {
    input: PairInput<'a>,
    canvases: &'a Canvases,
}

/// Boxes on the canvas beside the detections they come from, in the same order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Located {
    /// Above the threshold, or a person's.
    pub used: Vec<Detection>,
    pub in_bpm500: Vec<Rect<Bpm500>>,
    /// Everything that the detector returned.
    pub candidates: Vec<Detection>,
}

impl Located {
    /// The box of highest confidence (`bpm.md` section 11, point 2).
    fn best(&self) -> Option<Rect<Bpm500>> {
        let best = (0..self.used.len()).max_by(|&a, &b| self.used[a].confidence.total_cmp(&self.used[b].confidence).then(b.cmp(&a)))?;
        self.in_bpm500.get(best).copied()
    }
}

fn size_of(picture: &RgbImage) -> Size {
    Size::new(picture.width(), picture.height())
}

/// `bpm500_from_image` of a picture.
fn canvas_scale(picture: &RgbImage) -> Scale<Bpm500, ImageSpace> {
    Scale::stretch(Size::BPM500, size_of(picture))
}

/// Judges one edit: parts, regions and trace (`bpm.md` sections 2-4, 6, 7, 11).
///
/// Parts that have no meaning here are `NotApplicable` with the reason; every branch that leaves the plain rule is a trace step
/// marked as fallback. Modify and preserve are raw; [`combine()`] normalises them.
///
/// # Errors
/// When a network fails or answers wrongly, a picture has no pixels, or the run is cancelled.
pub fn score_pair(input: &PairInput<'_>, settings: &Settings, networks: &mut Networks<'_>) -> Result<Score, PortError> {
    let canvases = Canvases::new(input.source, input.edit)?;
    Ok(judge(input, &canvases, settings, networks)?.complete()?.0)
}

/// The mask at image size of the source: a person's as it was drawn, if it was drawn there, else the canvas's stretched.
fn mask_of_source(mask_in_bpm500: &Mask, input: &PairInput<'_>) -> Rle {
    let size = size_of(input.source);
    match &input.overrides.mask {
        Some(drawn) if drawn.size() == size => Rle::from_mask(drawn),
        _ => Rle::from_mask(&mask_in_bpm500.resized_nearest(size)),
    }
}
