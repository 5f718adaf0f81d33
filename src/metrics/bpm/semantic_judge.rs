//! The semantic-aware judge: was the right thing changed (modify), was the rest left alone (preserve) (`bpm.md` section 4; section 6
//! points 1 and 5; section 11 points 8-12).

use image::RgbImage;

use crate::domain::{Bpm500, FieldWords, Mask, Outcome, Profile, Rect, Size, TraceKind};
use crate::metrics::ports::{Networks, PortError};

use super::plan::Plan;
use super::{Canvases, Located, Pair, Trace, checked};

/// Cosine of two vectors of one length, in double precision; `None` when one is zero, a value is not finite, or the lengths differ.
pub fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let (mut dot, mut aa, mut bb) = (0.0f64, 0.0f64, 0.0f64);
    for (&a, &b) in a.iter().zip(b) {
        let (a, b) = (f64::from(a), f64::from(b));
        dot += a * b;
        aa += a * a;
        bb += b * b;
    }
    let cosine = dot / (aa.sqrt() * bb.sqrt());
    cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0))
}

/// The crop that modify looks at: the box around all `boxes`, grown 1.5 times about its centre, clipped to the canvas, edges cut to
/// whole numbers `[x0, y0, x1, y1]`. `None` without boxes, or when nothing is left.
pub fn crop_edges(boxes: &[Rect<Bpm500>]) -> Option<[u32; 4]> {
    let around = boxes.iter().copied().reduce(|a, b| a.enclosing(&b))?;
    let center = around.center();
    let (half_width, half_height) = (around.width() * 0.75, around.height() * 0.75);
    let clip = |v: f32, most: u32| v.clamp(0.0, most as f32) as u32;
    let Size { width, height } = Size::BPM500;
    let edges = [
        clip(center.x - half_width, width),
        clip(center.y - half_height, height),
        clip(center.x + half_width, width),
        clip(center.y + half_height, height),
    ];
    (edges[2] > edges[0] && edges[3] > edges[1]).then_some(edges)
}

/// Mean over the pixels outside `mask` of `sqrt(mean_c((a − b)²)) / 255`, in `0..=1`. `None` when the mask covers everything.
pub fn preserve_distance(a: &RgbImage, b: &RgbImage, mask: &Mask) -> Option<f64> {
    mean_outside(&distances(a, b), mask)
}

/// The same in the arithmetic of the released scripts: the difference and its square each wrap modulo 256 (section 6 point 1).
pub fn wrapped_distance(a: &RgbImage, b: &RgbImage, mask: &Mask) -> Option<f64> {
    mean_outside(&wrapped_distances(a, b), mask)
}

/// `sqrt(mean_c((a − b)²)) / 255` of each pixel, row-major.
pub(super) fn distances(a: &RgbImage, b: &RgbImage) -> Vec<f64> {
    distances_by(a, b, |a, b| f64::from(u32::from(a.abs_diff(b)).pow(2)))
}

/// The same in the wrapping arithmetic of the released scripts.
pub(super) fn wrapped_distances(a: &RgbImage, b: &RgbImage) -> Vec<f64> {
    distances_by(a, b, |a, b| {
        let difference = a.wrapping_sub(b);
        f64::from(difference.wrapping_mul(difference))
    })
}

fn distances_by(a: &RgbImage, b: &RgbImage, squared: impl Fn(u8, u8) -> f64) -> Vec<f64> {
    let distance = |(a, b): (&image::Rgb<u8>, &image::Rgb<u8>)| {
        let mean = a.0.iter().zip(&b.0).map(|(&a, &b)| squared(a, b)).sum::<f64>() / 3.0;
        mean.sqrt() / 255.0
    };
    a.pixels().zip(b.pixels()).map(distance).collect()
}

/// Mean of row-major `distances` over the pixels outside `mask`, which has their size. `None` when the mask covers everything.
pub(super) fn mean_outside(distances: &[f64], mask: &Mask) -> Option<f64> {
    let (mut sum, mut pixels) = (0.0, 0u64);
    let width = mask.size().width.max(1) as usize;
    for (y, row) in (0..).zip(distances.chunks(width)) {
        for (x, distance) in (0..).zip(row) {
            if !mask.get(x, y) {
                sum += distance;
                pixels += 1;
            }
        }
    }
    (pixels > 0).then(|| sum / pixels as f64)
}

/// The part score of preserve.
pub(super) fn preserve(canvases: &Canvases, mask: &Mask, profile: Profile, trace: &mut Trace) -> Outcome<f64> {
    if profile == Profile::ReleasedCode {
        let Some(wrapped) = mean_outside(canvases.wrapped_distances(), mask) else {
            trace.fallback(TraceKind::Preserve, "The edit mask covers the whole picture; the released scripts then store a preserve of 0.");
            return Outcome::Value(0.0);
        };
        trace.numbers(
            TraceKind::Preserve,
            format!("Outside the mask the pictures differ by {wrapped:.4} in the wrapping 8-bit arithmetic of the released scripts, so preserve is {:.4}.", 0.0 - wrapped),
            [("distance", wrapped)],
        );
        // Not `-wrapped`: no difference is 0, not −0.
        return Outcome::Value(0.0 - wrapped);
    }
    let Some(distance) = mean_outside(canvases.distances(), mask) else {
        trace.fallback(TraceKind::Preserve, "The edit mask covers the whole picture: there is nothing left to preserve.");
        return Outcome::NotApplicable("the edit mask covers the whole picture, so there is nothing to preserve".to_owned());
    };
    trace.numbers(
        TraceKind::Preserve,
        format!("Outside the mask the pictures differ by {distance:.4} of the full range, so preserve is {:.4}.", 1.0 - distance),
        [("distance", distance)],
    );
    Outcome::Value(1.0 - distance)
}

fn minus(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Direction in the space of texts, with its meaning in words.
fn text_direction(
    pair: &Pair<'_>,
    plan: &Plan,
    profile: Profile,
    networks: &mut Networks<'_>,
    trace: &mut Trace,
) -> Result<Vec<f32>, PortError> {
    let parse = pair.input.parse;
    if plan.addition {
        let text = match (profile, &plan.edit_phrase) {
            // The released scripts have overwritten the edited part with the added object by now (section 11 point 8).
            (Profile::ReleasedCode, Some(phrase)) => phrase.as_str(),
            (Profile::Corrected, Some(phrase)) if FieldWords(&parse.edited_part).is_none() => {
                trace.fallback(TraceKind::Direction, "The parse names no edited part; the added object stands in for it.");
                phrase.as_str()
            }
            _ => parse.edited_part.as_str(),
        };
        trace.note(TraceKind::Direction, format!("The wanted direction is towards \"{text}\"."));
        let [feature] = checked::texts([text], networks, trace)?;
        return Ok(feature);
    }
    if plan.removal {
        trace.note(TraceKind::Direction, format!("The wanted direction is away from \"{}\".", parse.original_part));
        let [feature] = checked::texts([&parse.original_part], networks, trace)?;
        return Ok(feature.into_iter().map(|v| -v).collect());
    }
    trace.note(TraceKind::Direction, format!("The wanted direction is from \"{}\" to \"{}\".", parse.original_part, parse.edited_part));
    let [edited, original] = checked::texts([&parse.edited_part, &parse.original_part], networks, trace)?;
    Ok(minus(&edited, &original))
}

/// What the released scripts do without a box (section 6 point 5); `None` when they crop like everyone.
fn modify_released_without_box(
    pair: &Pair<'_>,
    plan: &Plan,
    edit: &Located,
    no_crop: bool,
    networks: &mut Networks<'_>,
    trace: &mut Trace,
) -> Result<Option<Outcome<f64>>, PortError> {
    if !plan.addition && no_crop {
        trace.fallback(
            TraceKind::Modify,
            "No source box: the released scripts compare the whole edited picture with the edited phrase instead of directions.",
        );
        let [text] = checked::texts([&pair.input.parse.edited_part], networks, trace)?;
        let [picture] = checked::pictures([pair.input.edit], networks)?;
        return Ok(Some(cosine_outcome(&picture, &text, Profile::ReleasedCode, trace)));
    }
    if !plan.removal && edit.in_bpm500.is_empty() {
        trace.fallback(TraceKind::Modify, "No edited box: the released scripts store a modify of 0.");
        return Ok(Some(Outcome::Value(0.0)));
    }
    Ok(None)
}

/// The part score of modify, and the crop that it looked at.
pub(super) fn modify(
    pair: &Pair<'_>,
    plan: &Plan,
    profile: Profile,
    source: &Located,
    edit: &Located,
    networks: &mut Networks<'_>,
    trace: &mut Trace,
) -> Result<(Outcome<f64>, Option<Rect<Bpm500>>), PortError> {
    let (side, boxes) = if plan.addition { ("edited", &edit.in_bpm500) } else { ("source", &source.in_bpm500) };
    if profile == Profile::ReleasedCode
        && let Some(outcome) = modify_released_without_box(pair, plan, edit, boxes.is_empty(), networks, trace)?
    {
        return Ok((outcome, None));
    }
    if boxes.is_empty() {
        trace.fallback(TraceKind::Modify, format!("Modify has no crop to look at: there is no box on the {side} image."));
        return Ok((Outcome::NotApplicable(format!("there is no box on the {side} image to crop by")), None));
    }
    let Some(edges) = crop_edges(boxes) else {
        trace.fallback(TraceKind::Crop, "The boxes leave no crop inside the picture.");
        return Ok((Outcome::NotApplicable("the boxes leave no crop inside the picture".to_owned()), None));
    };
    let [x0, y0, x1, y1] = edges;
    let crop = Rect::new(x0 as f32, y0 as f32, x1 as f32, y1 as f32);
    trace.numbers(
        TraceKind::Crop,
        format!("Both pictures are cropped to the {side} boxes grown 1.5 times: ({x0}, {y0}) to ({x1}, {y1}) of 500."),
        [("x0", x0), ("y0", y0), ("x1", x1), ("y1", y1)].map(|(name, edge)| (name, f64::from(edge))),
    );
    let cut = |picture: &RgbImage| image::imageops::crop_imm(picture, x0, y0, x1 - x0, y1 - y0).to_image();
    let (before, after) = (cut(pair.canvases.source()), cut(pair.canvases.edit()));
    let text = text_direction(pair, plan, profile, networks, trace)?;
    let features = checked::pictures([&before, &after], networks)?;
    // A network may answer equal pixels with noise (another batch, another kernel); they have no direction.
    let direction = if before == after { vec![0.0; features[0].len()] } else { minus(&features[1], &features[0]) };
    Ok((cosine_outcome(&direction, &text, profile, trace), Some(crop)))
}

/// Modify of a global edit: the edited picture against the instruction.
pub(super) fn modify_global(
    pair: &Pair<'_>,
    profile: Profile,
    networks: &mut Networks<'_>,
    trace: &mut Trace,
) -> Result<Outcome<f64>, PortError> {
    if pair.input.instruction.trim().is_empty() && profile != Profile::ReleasedCode {
        trace.fallback(TraceKind::Modify, "The instruction is empty, so there is nothing to compare the edited picture with.");
        return Ok(Outcome::NotApplicable("the instruction is empty".to_owned()));
    }
    trace.note(
        TraceKind::Branch,
        format!("The whole picture is to change: the edited picture is compared with the instruction \"{}\".", pair.input.instruction),
    );
    let [text] = checked::texts([pair.input.instruction], networks, trace)?;
    let [picture] = checked::pictures([pair.input.edit], networks)?;
    Ok(cosine_outcome(&picture, &text, profile, trace))
}

/// Cosine of what was seen and what was wanted, or why there is none.
fn cosine_outcome(picture: &[f32], text: &[f32], profile: Profile, trace: &mut Trace) -> Outcome<f64> {
    if let Some(value) = cosine(picture, text) {
        trace.numbers(
            TraceKind::Modify,
            format!("The cosine of what was seen and what was wanted is {value:.4}: this is modify."),
            [("cosine", value)],
        );
        return Outcome::Value(value);
    }
    let why = if picture.iter().all(|&v| v == 0.0) {
        "nothing changed in the crop, so the pictures have no direction to compare"
    } else if text.iter().all(|&v| v == 0.0) {
        "the parse leads from a phrase to the same phrase, so the texts have no direction to compare"
    } else {
        "the features of pictures and texts cannot be compared"
    };
    if profile == Profile::ReleasedCode {
        // PyTorch's cosine of a vector of length 0 is 0.
        trace.fallback(TraceKind::Modify, format!("Modify is 0 to the released scripts: {why}."));
        Outcome::Value(0.0)
    } else {
        trace.fallback(TraceKind::Modify, format!("Modify cannot be judged: {why}."));
        Outcome::NotApplicable(why.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    fn flat(value: u8) -> RgbImage {
        RgbImage::from_pixel(500, 500, Rgb([value; 3]))
    }

    #[test]
    fn the_released_arithmetic_wraps_twice() {
        // bpm.md section 6 point 1, by hand: 16² = 256 ≡ 0; (0 − 255) ≡ 1, 1² = 1; the largest square modulo 256 is 249.
        let nothing = Mask::empty(Size::BPM500);
        assert_eq!(wrapped_distance(&flat(116), &flat(100), &nothing), Some(0.0));
        assert!((wrapped_distance(&flat(0), &flat(255), &nothing).unwrap() - 1.0 / 255.0).abs() < 1e-12);
        let largest = (0..=255u8).map(|v| v.wrapping_mul(v)).max().unwrap();
        assert_eq!(largest, 249);
        let at = (0..=255u8).find(|v| v.wrapping_mul(*v) == 249).unwrap();
        assert!((wrapped_distance(&flat(at), &flat(0), &nothing).unwrap() - 249f64.sqrt() / 255.0).abs() < 1e-12);
    }

    #[test]
    fn the_real_distance_of_black_and_white_is_one() {
        let nothing = Mask::empty(Size::BPM500);
        assert_eq!(preserve_distance(&flat(0), &flat(255), &nothing), Some(1.0));
        assert!((preserve_distance(&flat(116), &flat(100), &nothing).unwrap() - 16.0 / 255.0).abs() < 1e-12);
        assert_eq!(preserve_distance(&flat(0), &flat(255), &Mask::full(Size::BPM500)), None);
    }

    #[test]
    fn only_pixels_outside_the_mask_count() {
        let mut edit = flat(10);
        for x in 0..250 {
            for y in 0..500 {
                edit.put_pixel(x, y, Rgb([255; 3]));
            }
        }
        let left = Mask::from_fn(Size::BPM500, |x, _| x < 250);
        assert_eq!(preserve_distance(&flat(10), &edit, &left), Some(0.0));
        assert!((preserve_distance(&flat(10), &edit, &Mask::empty(Size::BPM500)).unwrap() - 0.5 * 245.0 / 255.0).abs() < 1e-9);
    }

    #[test]
    fn the_crop_grows_by_half_is_clipped_and_cut() {
        // Hand calculation: box 100..201 × 50..150 has centre (150.5, 100) and half sides 75.75 and 75.
        assert_eq!(crop_edges(&[Rect::new(100.0, 50.0, 201.0, 150.0)]), Some([74, 25, 226, 175]));
        assert_eq!(crop_edges(&[Rect::new(0.0, 0.0, 500.0, 500.0)]), Some([0, 0, 500, 500]));
        assert_eq!(crop_edges(&[Rect::new(600.0, 0.0, 700.0, 50.0)]), None);
        assert_eq!(crop_edges(&[]), None);
        assert_eq!(crop_edges(&[Rect::new(10.0, 10.0, 30.0, 30.0), Rect::new(70.0, 10.0, 90.0, 30.0)]), Some([0, 5, 110, 35]));
    }

    #[test]
    fn a_vector_without_length_has_no_cosine() {
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 0.0]), None);
        assert_eq!(cosine(&[3.0, 0.0], &[5.0, 0.0]), Some(1.0));
        assert_eq!(cosine(&[f32::NAN], &[1.0]), None);
        assert_eq!(cosine(&[1.0, 0.0], &[1.0]), None);
    }
}
