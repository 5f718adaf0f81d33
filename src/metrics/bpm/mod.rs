//! BPM (ICML 2025, arXiv 2506.13827): region-aware and semantic-aware judgement of an edit.
//!
//! [`score_pair`] gives the four parts and the trace of one edit under one profile; [`combine()`] applies a range and α to make them
//! comparable. Nothing here knows a network: see [`super::ports`].
//!
//! Pictures come upright, under every profile: that the released scripts detect on pictures as stored (`bpm.md` section 6 point 7) is not
//! repeated, because a box of a turned picture means nothing on the upright one.

mod checked;
mod combine;
mod localize;
mod plan;
mod region_judge;
mod semantic_judge;
mod trace;

pub use combine::{Combined, Marked, combine, explain, fit_range};
pub use plan::Plan;
pub use region_judge::{Verdict, position_holds, share_score, size_holds};
pub use semantic_judge::{cosine, crop_edges, preserve_distance, wrapped_distance};
pub use trace::Trace;

use image::RgbImage;

use crate::domain::{
    BoxesBySide, Bpm500, Detection, ImageSpace, Mask, Outcome, Parse, Parts, Profile, Rect, Scale, Score, Size, TraceKind, rle::Rle,
};
use crate::imaging::resize::cv2_resize_linear;

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

/// Everything that is derived once per pair.
struct Pair<'a> {
    input: PairInput<'a>,
    /// Both pictures on the metric's canvas (OpenCV bilinear).
    source_bpm500: RgbImage,
    edit_bpm500: RgbImage,
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
    for (side, picture) in [("source", input.source), ("edit", input.edit)] {
        if size_of(picture).pixels() == 0 {
            return Err(PortError::Failed { network: "metric", reason: format!("the {side} has no pixels") });
        }
    }
    let mut trace = Trace::default();
    let plan = Plan::read(input.parse, settings.profile, &mut trace);
    let pair = Pair {
        input: *input,
        source_bpm500: cv2_resize_linear(input.source, Size::BPM500),
        edit_bpm500: cv2_resize_linear(input.edit, Size::BPM500),
    };
    if size_of(input.source) != size_of(input.edit) {
        trace.note(
            TraceKind::Branch,
            format!(
                "The edit is {} and the source {}: both are stretched to the 500×500 canvas, so a cropped edit counts as changed everywhere.",
                size_of(input.edit),
                size_of(input.source)
            ),
        );
    }
    if plan.global {
        return score_global(&pair, settings, networks, trace);
    }
    let source = localize::source_boxes(&pair, &plan, settings, networks, &mut trace)?;
    let edit = localize::edit_boxes(&pair, &plan, settings, networks, &mut trace)?;
    let size = region_judge::size(&plan, input.parse, settings.profile, &source, &edit, &mut trace);
    let position = region_judge::position(&plan, input.parse, settings.profile, &source, &edit, &mut trace);
    let mask = localize::edit_mask(&pair, &plan, settings.profile, &source, &edit, networks, &mut trace)?;
    let preserve = semantic_judge::preserve(&pair.source_bpm500, &pair.edit_bpm500, &mask, settings.profile, &mut trace);
    let (modify, crop_in_bpm500) = semantic_judge::modify(&pair, &plan, settings.profile, &source, &edit, networks, &mut trace)?;
    Ok(Score {
        profile: settings.profile,
        parts: Parts { size, position, modify, preserve },
        global: false,
        parse: input.parse.clone(),
        boxes: BoxesBySide { source: source.used, edit: edit.used },
        candidates: BoxesBySide { source: source.candidates, edit: edit.candidates },
        mask: Some(mask_of_source(&mask, input)),
        crop_in_bpm500,
        trace: trace.into_steps(),
    })
}

/// The mask at image size of the source: a person's as it was drawn, if it was drawn there, else the canvas's stretched.
fn mask_of_source(mask_in_bpm500: &Mask, input: &PairInput<'_>) -> Rle {
    let size = size_of(input.source);
    match &input.overrides.mask {
        Some(drawn) if drawn.size() == size => Rle::from_mask(drawn),
        _ => Rle::from_mask(&mask_in_bpm500.resized_nearest(size)),
    }
}

/// A global edit: modify is the cosine of the edited picture with the instruction, the region judge does not speak (section 4; section
/// 11 point 9).
fn score_global(pair: &Pair<'_>, settings: &Settings, networks: &mut Networks<'_>, mut trace: Trace) -> Result<Score, PortError> {
    if *pair.input.overrides != Overrides::default() {
        trace.note(TraceKind::Branch, "The boxes and the mask that a person drew are not used: the whole picture was to change.");
    }
    let modify = semantic_judge::modify_global(pair, settings.profile, networks, &mut trace)?;
    let whole = preserve_distance(&pair.source_bpm500, &pair.edit_bpm500, &Mask::empty(Size::BPM500));
    let parts = if settings.profile == Profile::ReleasedCode {
        trace.fallback(
            TraceKind::Branch,
            "The released scripts store size 1, position 1 and preserve 0 for a global edit, without looking.",
        );
        Parts { size: Outcome::Value(1.0), position: Outcome::Value(1.0), modify, preserve: Outcome::Value(0.0) }
    } else {
        if let Some(distance) = whole {
            trace.numbers(
                TraceKind::Preserve,
                format!("For information: the two pictures differ by {distance:.4} on average over the whole picture; a global edit has nothing to preserve by region."),
                [("whole_picture_distance", distance)],
            );
        }
        let na = |part: &str| Outcome::NotApplicable(format!("the whole picture was to change, so {part} has no region to be judged by"));
        Parts { size: na("size"), position: na("position"), modify, preserve: na("preserve") }
    };
    Ok(Score {
        profile: settings.profile,
        parts,
        global: true,
        parse: pair.input.parse.clone(),
        boxes: BoxesBySide::default(),
        candidates: BoxesBySide::default(),
        mask: None,
        crop_in_bpm500: None,
        trace: trace.into_steps(),
    })
}
