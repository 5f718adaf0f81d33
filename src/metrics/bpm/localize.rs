//! Localization of the edit: boxes on both pictures, and the edit mask (`bpm.md` section 2; section 6 points 5 and 6; section 11 points 6
//! and 7).

use image::RgbImage;

use crate::domain::{Bpm500, Detection, Mask, Profile, Rect, Size, TraceKind};
use crate::metrics::ports::{Networks, PortError};

use super::plan::Plan;
use super::{Located, Pair, Settings, Trace, canvas_scale, checked};

fn located(picture: &RgbImage, candidates: Vec<Detection>, used: Vec<Detection>) -> Located {
    let bpm500_from_image = canvas_scale(picture);
    let in_bpm500 = used.iter().map(|detection| bpm500_from_image * detection.rect_in_image).collect();
    Located { used, in_bpm500, candidates }
}

/// Boxes of a phrase on a picture, or a person's boxes in their place.
fn boxes(
    (picture, side): (&RgbImage, &str),
    phrase: Option<&str>,
    person: Option<&Vec<Detection>>,
    settings: &Settings,
    networks: &mut Networks<'_>,
    trace: &mut Trace,
) -> Result<Located, PortError> {
    let candidates = match phrase {
        Some(phrase) => networks.detector.detect(picture, phrase)?,
        None => Vec::new(),
    };
    if let Some(person) = person {
        trace.numbers(
            TraceKind::Boxes,
            format!("A person drew {} on the {side} image, in place of what the detector found.", count(person.len(), "box", "boxes")),
            [("boxes", person.len() as f64)],
        );
        return Ok(located(picture, candidates, person.clone()));
    }
    let Some(phrase) = phrase else {
        return Ok(located(picture, candidates, Vec::new()));
    };
    let used: Vec<Detection> = candidates.iter().filter(|found| found.is_above(settings.box_threshold)).cloned().collect();
    let best = candidates.iter().map(|d| d.confidence).fold(0.0, f32::max);
    if used.is_empty() {
        trace.fallback(
            TraceKind::Boxes,
            format!("\"{phrase}\" was not found on the {side} image: the best of {} candidates has confidence {best:.2}, the threshold is {:.2}.", candidates.len(), settings.box_threshold),
        );
    } else {
        trace.numbers(
            TraceKind::Boxes,
            format!(
                "\"{phrase}\" was found on the {side} image: {} (best confidence {best:.2}, threshold {:.2}).",
                count(used.len(), "box", "boxes"),
                settings.box_threshold
            ),
            [("boxes", used.len() as f64), ("best_confidence", f64::from(best))],
        );
    }
    Ok(located(picture, candidates, used))
}

fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// Boxes on the source: of what changes, or of what something is added to.
pub(super) fn source_boxes(
    pair: &Pair<'_>,
    plan: &Plan,
    settings: &Settings,
    networks: &mut Networks<'_>,
    trace: &mut Trace,
) -> Result<Located, PortError> {
    if plan.source_phrase.is_none() && pair.input.overrides.source_boxes.is_none() {
        trace.note(TraceKind::Boxes, "Nothing is looked for on the source image: the addition names nothing that it is added to.");
    }
    boxes(
        (pair.input.source, "source"),
        plan.source_phrase.as_deref(),
        pair.input.overrides.source_boxes.as_ref(),
        settings,
        networks,
        trace,
    )
}

/// Boxes on the edit: of what the instruction leads to.
pub(super) fn edit_boxes(
    pair: &Pair<'_>,
    plan: &Plan,
    settings: &Settings,
    networks: &mut Networks<'_>,
    trace: &mut Trace,
) -> Result<Located, PortError> {
    if plan.edit_phrase.is_none() && pair.input.overrides.edit_boxes.is_none() {
        if plan.removal {
            trace.note(TraceKind::Boxes, "Nothing is looked for on the edited image: the instruction takes something away.");
        } else {
            trace.fallback(TraceKind::Boxes, "Nothing is looked for on the edited image: the parse does not name what is added.");
        }
    }
    boxes((pair.input.edit, "edited"), plan.edit_phrase.as_deref(), pair.input.overrides.edit_boxes.as_ref(), settings, networks, trace)
}

/// Which boxes prompt the segmenter on the source and on the edit, under a profile.
fn prompts<'a>(
    plan: &Plan,
    profile: Profile,
    source: &'a Located,
    edit: &'a Located,
    trace: &mut Trace,
) -> (&'a [Rect<Bpm500>], &'a [Rect<Bpm500>]) {
    const NONE: &[Rect<Bpm500>] = &[];
    if plan.addition {
        // The reference of an addition is no part of the edit region (section 11 point 6).
        return (NONE, &edit.in_bpm500);
    }
    match profile {
        Profile::Paper => (&source.in_bpm500, &edit.in_bpm500),
        Profile::Corrected if edit.in_bpm500.is_empty() => {
            let text = "The edited image is segmented with the boxes of the source image";
            if plan.removal {
                trace.note(TraceKind::Mask, format!("{text}, so that what the removal left behind belongs to the edit region."));
            } else {
                trace.fallback(TraceKind::Mask, format!("{text}, because none were found on it."));
            }
            (&source.in_bpm500, &source.in_bpm500)
        }
        Profile::Corrected => (&source.in_bpm500, &edit.in_bpm500),
        Profile::ReleasedCode if source.in_bpm500.is_empty() || (edit.in_bpm500.is_empty() && !plan.removal) => {
            trace.fallback(TraceKind::Mask, "The released scripts take an empty edit mask when a box is missing.");
            (NONE, NONE)
        }
        Profile::ReleasedCode if plan.removal => (&source.in_bpm500, NONE),
        Profile::ReleasedCode => {
            trace.fallback(TraceKind::Mask, "The released scripts segment the edited image with the boxes of the source image.");
            (&source.in_bpm500, &source.in_bpm500)
        }
    }
}

fn share_of(mask: &Mask) -> f64 {
    mask.count() as f64 / mask.size().pixels() as f64
}

/// The edit region on the canvas: the union of the masks of both pictures, or a person's.
pub(super) fn edit_mask(
    pair: &Pair<'_>,
    plan: &Plan,
    profile: Profile,
    source: &Located,
    edit: &Located,
    networks: &mut Networks<'_>,
    trace: &mut Trace,
) -> Result<Mask, PortError> {
    if let Some(mask) = &pair.input.overrides.mask {
        let mask = mask.resized_nearest(Size::BPM500);
        let share = share_of(&mask);
        trace.numbers(
            TraceKind::Mask,
            format!("A person drew the edit mask; it covers {:.1} % of the picture.", share * 100.0),
            [("share", share)],
        );
        return Ok(mask);
    }
    let (on_source, on_edit) = prompts(plan, profile, source, edit, trace);
    let mut masks = checked::masks(pair.canvases.source(), on_source, networks)?;
    masks.extend(checked::masks(pair.canvases.edit(), on_edit, networks)?);
    let mut union = Mask::empty(Size::BPM500);
    for mask in &masks {
        let joined = union.union_with(mask);
        debug_assert!(joined, "checked::masks lets only masks of the canvas pass");
    }
    let share = share_of(&union);
    if masks.is_empty() {
        trace.fallback(TraceKind::Mask, "The edit mask is empty: there was no box to segment, so every pixel counts as one to preserve.");
    } else if union.is_empty() {
        trace.fallback(
            TraceKind::Mask,
            "The edit mask is empty: the segmenter found nothing in the boxes, so every pixel counts as one to preserve.",
        );
    } else {
        trace.numbers(
            TraceKind::Mask,
            format!(
                "The edit mask joins {} from the source image and {} from the edited image and covers {:.1} % of the picture.",
                count(on_source.len(), "mask", "masks"),
                count(on_edit.len(), "mask", "masks"),
                share * 100.0
            ),
            [("share", share)],
        );
    }
    Ok(union)
}
