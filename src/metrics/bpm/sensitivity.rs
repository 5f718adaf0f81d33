//! How much the parts depend on choices that nobody argues for: the box threshold, and how tightly the mask was drawn.
//!
//! A score that moves far when a threshold moves a little is fragile: it says more about the detector than about the edit.

use std::sync::Arc;

use crate::domain::rle::Rle;
use crate::domain::{Mask, Outcome, Parts, Profile, Size, squared_distances};
use crate::metrics::ports::{Networks, PortError};

use super::{Canvases, PairInput, Partial, Pending, Settings, judge};

/// The parts at one setting of the choice.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitivityPoint {
    /// Box threshold, or pixels of the canvas by which the mask was grown (negative: shrunk).
    pub at: f64,
    pub parts: Parts,
    /// What could not be told without asking a network.
    pub pending: Pending,
    /// The edit region of another box threshold, at the size of the source; `None` where there is none or a network was not asked, and for
    /// grown masks. Points that choose the same boxes share it.
    pub mask: Option<Arc<Rle>>,
}

/// Box thresholds that are tried: 0.05 (what the detector keeps) to 0.60, in steps of 0.01.
pub fn thresholds() -> impl Iterator<Item = f64> {
    (5..=60).map(|percent| f64::from(percent) / 100.0)
}

/// Pixels of the 500×500 canvas by which the mask is grown at most, and shrunk at most.
pub const MOST_GROWTH: i32 = 20;

/// The parts at each of [`thresholds`], from the candidates that the detector kept. Boxes of a person stay what they are.
///
/// Thresholds between the same candidates choose the same boxes, so as many pairs are judged as there are different choices.
///
/// # Errors
/// When a network fails or answers wrongly, or the run is cancelled; what is not known is pending, no error.
pub fn by_box_threshold(
    input: &PairInput<'_>,
    canvases: &Canvases,
    settings: &Settings,
    networks: &mut Networks<'_>,
) -> Result<Vec<SensitivityPoint>, PortError> {
    let mut points: Vec<SensitivityPoint> = Vec::new();
    let mut last: Option<(Partial, Option<Arc<Rle>>, [usize; 2])> = None;
    for threshold in thresholds() {
        let box_threshold = threshold as f32;
        let chosen = |partial: &Partial| {
            let candidates = &partial.score.candidates;
            [&candidates.source, &candidates.edit].map(|side| side.iter().filter(|found| found.confidence > box_threshold).count())
        };
        let (partial, mask) = match last.take() {
            Some((partial, mask, counts)) if !partial.pending.boxes && chosen(&partial) == counts => (partial, mask),
            _ => {
                let mut partial = judge(input, canvases, &Settings { box_threshold, ..settings.clone() }, networks)?;
                let mask = partial.score.mask.take().map(Arc::new);
                (partial, mask)
            }
        };
        points.push(SensitivityPoint { at: threshold, parts: partial.score.parts.clone(), pending: partial.pending, mask: mask.clone() });
        let counts = chosen(&partial);
        last = Some((partial, mask, counts));
    }
    Ok(points)
}

/// Preserve with the mask grown by a disc of −20 to +20 pixels of the canvas; the other parts are those of `parts`.
///
/// One pass over the distances serves all: each pixel belongs to the region from a certain growth on. Growing by r takes pixels whose
/// centre is at most r from a pixel of the mask; shrinking by r keeps those that are farther than r from every pixel outside. The
/// picture's border does not shrink a mask. Pixels of `ignore` (of any size, stretched to the canvas) count neither way.
pub fn by_growth(
    canvases: &Canvases,
    (mask_in_bpm500, ignore): (&Mask, Option<&Mask>),
    profile: Profile,
    parts: &Parts,
) -> Vec<SensitivityPoint> {
    let distances = if profile == Profile::ReleasedCode { canvases.wrapped_distances() } else { canvases.distances() };
    let ignore_in_bpm500 = ignore.map(|ignore| ignore.resized_nearest(Size::BPM500));
    let to_mask = squared_distances(mask_in_bpm500, true);
    let to_outside = squared_distances(mask_in_bpm500, false);
    // Sum and number of the pixels that come into the region at each growth; index 0 is −MOST_GROWTH and less, the last one never.
    let count = 2 * MOST_GROWTH as usize + 2;
    let (mut sums, mut pixels) = (vec![0.0; count], vec![0u64; count]);
    for (index, distance) in distances.iter().enumerate() {
        let (x, y) = (index as u32 % Size::BPM500.width, index as u32 / Size::BPM500.width);
        if ignore_in_bpm500.as_ref().is_some_and(|ignore| ignore.get(x, y)) {
            continue;
        }
        let from = if mask_in_bpm500.get(x, y) {
            to_outside.as_ref().map_or(f64::NEG_INFINITY, |to| 1.0 - (to[index] as f64).sqrt().ceil())
        } else {
            to_mask.as_ref().map_or(f64::INFINITY, |to| (to[index] as f64).sqrt().ceil())
        };
        let most = f64::from(MOST_GROWTH);
        let place = (from.clamp(-most, most + 1.0) + most) as usize;
        sums[place] += distance;
        pixels[place] += 1;
    }
    (-MOST_GROWTH..=MOST_GROWTH)
        .map(|growth| {
            let first_outside = (growth + MOST_GROWTH) as usize + 1;
            let outside: u64 = pixels[first_outside..].iter().sum();
            let distance = (outside > 0).then(|| sums[first_outside..].iter().sum::<f64>() / outside as f64);
            let preserve = match (distance, profile) {
                (Some(distance), Profile::ReleasedCode) => Outcome::Value(0.0 - distance),
                (Some(distance), _) => Outcome::Value(1.0 - distance),
                (None, Profile::ReleasedCode) => Outcome::Value(0.0),
                (None, _) => Outcome::NotApplicable("the grown mask covers the whole picture".to_owned()),
            };
            SensitivityPoint { at: f64::from(growth), parts: Parts { preserve, ..parts.clone() }, pending: Pending::default(), mask: None }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;
    use crate::metrics::bpm::preserve_distance;

    fn parts() -> Parts {
        Parts { size: Outcome::Value(1.0), position: Outcome::Value(1.0), modify: Outcome::Value(0.2), preserve: Outcome::Value(0.5) }
    }

    #[test]
    fn growing_a_half_plane_by_hand() {
        // Columns 0..260 differ by 51 levels (0.2). The region is columns 0..250: outside of it 10 of 250 columns differ.
        let source = RgbImage::from_pixel(500, 500, Rgb([100; 3]));
        let edit = RgbImage::from_fn(500, 500, |x, _| Rgb([if x < 260 { 151 } else { 100 }; 3]));
        let canvases = Canvases::new(&source, &edit).expect("pictures with pixels");
        let mask = Mask::from_fn(Size::BPM500, |x, _| x < 250);
        let points = by_growth(&canvases, (&mask, None), Profile::Corrected, &parts());
        assert_eq!(points.len(), 41);
        for point in &points {
            // Grown by r, the region is columns 0..250+r: 10 − r of 250 − r columns differ outside.
            let (left, outside) = ((10.0 - point.at).max(0.0), 250.0 - point.at);
            let expected = 1.0 - 0.2 * left / outside;
            let found = *point.parts.preserve.value().expect("something is outside");
            assert!((found - expected).abs() < 1e-9, "{}: {found} instead of {expected}", point.at);
            assert_eq!(point.parts.modify, Outcome::Value(0.2));
        }
    }

    #[test]
    fn no_growth_is_the_mask_itself() {
        let source = RgbImage::from_fn(500, 500, |x, y| Rgb([(x * 7 + y * 3) as u8, (x ^ y) as u8, (x + y) as u8]));
        let edit = RgbImage::from_fn(500, 500, |x, y| Rgb([(x * 5) as u8, (y * 3) as u8, (x * y) as u8]));
        let canvases = Canvases::new(&source, &edit).expect("pictures with pixels");
        let mask = Mask::from_fn(Size::BPM500, |x, y| (x / 37 + y / 53) % 3 == 0);
        let points = by_growth(&canvases, (&mask, None), Profile::Corrected, &parts());
        let plain = 1.0 - preserve_distance(&source, &edit, &mask).expect("something is outside");
        let found = points[MOST_GROWTH as usize].parts.preserve.value().expect("something is outside");
        assert!((found - plain).abs() < 1e-9);
    }

    #[test]
    fn a_mask_that_grows_over_everything_leaves_nothing_to_preserve() {
        let picture = RgbImage::from_pixel(500, 500, Rgb([1; 3]));
        let canvases = Canvases::new(&picture, &picture).expect("pictures with pixels");
        let nearly = Mask::from_fn(Size::BPM500, |x, _| x < 490);
        let points = by_growth(&canvases, (&nearly, None), Profile::Corrected, &parts());
        assert!(points.iter().all(|point| point.parts.preserve.value().is_some() == (point.at < 10.0)));
        // A mask without any pixel outside never shrinks: the picture's border is no outside.
        let full = by_growth(&canvases, (&Mask::full(Size::BPM500), None), Profile::Corrected, &parts());
        assert!(full.iter().all(|point| point.parts.preserve.value().is_none()));
    }
}
