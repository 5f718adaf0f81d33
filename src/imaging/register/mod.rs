//! Finds out whether an edit is its source moved or zoomed, and how much of the preservation loss that explains.
//!
//! Image editors often return the picture a few pixels off or slightly enlarged. To the eye nothing changed; to a pixel-wise distance
//! everything did. [`register`] looks for one motion (shift and zoom about the centre, no rotation) that explains the difference outside
//! the edited region, in three steps:
//!
//! 1. [`correlate`]: phase correlation at a ladder of zooms names a few motions that are worth a look (robust, whole pixels);
//! 2. [`refine`]: robust Gauss-Newton on a pyramid makes each exact to a fraction of a pixel, letting edited pixels go as outliers;
//! 3. the best is warped back and the distance of the metric (`bpm.md` section 4) is computed again. It counts only if it lowers the
//!    distance clearly, and more than the opposite motion does (which blurs just as much: interpolation alone must explain nothing).

mod correlate;
mod plane;
mod refine;

use image::RgbImage;
use rayon::prelude::*;

use crate::domain::{Mask, Size};

use plane::Plane;

/// Where the pixels of the source went: with `c` the centre of the picture, `edit_from_source(p) = c + zoom · (p − c) + (dx, dy)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Pixels to the right.
    pub dx: f64,
    /// Pixels downwards.
    pub dy: f64,
    /// Above 1: the edit shows the source enlarged.
    pub zoom: f64,
}

impl Motion {
    /// Nothing moved.
    pub const NONE: Self = Self { dx: 0.0, dy: 0.0, zoom: 1.0 };

    /// Where the pixel position `(x, y)` of a source of `size` lies in the edit.
    pub fn edit_from_source(&self, size: Size, x: f64, y: f64) -> (f64, f64) {
        let (cx, cy) = (f64::from(size.width) / 2.0, f64::from(size.height) / 2.0);
        (cx + self.zoom * (x - cx) + self.dx, cy + self.zoom * (y - cy) + self.dy)
    }

    /// The same motion for pictures of size `from` stretched to size `to`.
    pub fn scaled(&self, from: Size, to: Size) -> Self {
        let share = |to: u32, from: u32| f64::from(to) / f64::from(from.max(1));
        Self { dx: self.dx * share(to.width, from.width), dy: self.dy * share(to.height, from.height), zoom: self.zoom }
    }

    /// The greatest way that a corner of a picture of `size` went, in pixels.
    pub fn reach(&self, size: Size) -> f64 {
        let (width, height) = (f64::from(size.width), f64::from(size.height));
        [(0.0, 0.0), (width, 0.0), (0.0, height), (width, height)]
            .into_iter()
            .map(|(x, y)| {
                let (to_x, to_y) = self.edit_from_source(size, x, y);
                (to_x - x).hypot(to_y - y)
            })
            .fold(0.0, f64::max)
    }

    /// The way back.
    fn inverse(&self) -> Self {
        Self { dx: -self.dx / self.zoom, dy: -self.dy / self.zoom, zoom: 1.0 / self.zoom }
    }
}

/// A motion that was found, and what it explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registration {
    pub motion: Motion,
    /// Mean distance outside the ignored region as it is, over the pixels that both pictures show once aligned.
    pub loss: f64,
    /// The same with the edit warped back.
    pub loss_aligned: f64,
}

impl Registration {
    /// Share of the preservation loss that the motion explains, in `0..=1`.
    pub fn explained(&self) -> f64 {
        if self.loss > 0.0 { (1.0 - self.loss_aligned / self.loss).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Less mean distance than this is noise of saving (about one and a half levels of 255): there is nothing to explain.
const LEAST_LOSS: f64 = 0.006;
/// A motion must move some corner by at least this share of the longest side (1 pixel of 500).
const LEAST_REACH: f64 = 0.002;
/// A motion must explain at least this share of the loss.
const LEAST_EXPLAINED: f64 = 0.1;
/// Of what the opposite motion leaves, the motion may leave at most this share.
const MOST_OF_OPPOSITE: f64 = 0.85;
/// Share of differing pixels below which pictures agree as they lie.
const AGREES: f64 = 0.1;
/// After alignment at most this share of the pixels outside the ignored region may still differ …
const MOST_DIFFERING: f64 = 0.6;
/// … and the pictures must correlate at least this much: large plain areas agree with any others.
const LEAST_CORRELATION: f64 = 0.3;
/// Of the pixels outside the ignored region, at least this share must be visible in both pictures once aligned.
const LEAST_OVERLAP: f64 = 0.4;

/// The motion that took `source` to `edit`, if there is one.
///
/// Both pictures must have one size, best the metric's 500×500 (stretched as the metric does; [`Motion::scaled`] brings the result to
/// image pixels). Pixels of `ignore` (the edited region, same size) do not take part. `None` when nothing moved, when the pictures are not
/// related, or when sizes differ.
pub fn register(source: &RgbImage, edit: &RgbImage, ignore: Option<&Mask>) -> Option<Registration> {
    let size = Size::new(source.width(), source.height());
    if edit.dimensions() != source.dimensions() || size.width.min(size.height) < 16 || ignore.is_some_and(|mask| mask.size() != size) {
        return None;
    }
    let counts = |x: u32, y: u32| !ignore.is_some_and(|mask| mask.get(x, y));
    if loss(source, edit, &Motion::NONE, &counts)?.edit_as_it_is < LEAST_LOSS {
        return None;
    }
    let (source_plane, edit_plane) = (Plane::luma(source), Plane::luma(edit));
    let weight = Plane::from_fn(size, |x, y| f32::from(u8::from(counts(x, y))));
    let pair = refine::Levels::new(&source_plane, &edit_plane, &weight);
    // Where nearly all pixels agree as they lie, no other motion can do better: the search, which takes longest, is spared.
    let in_place = pair.cost_in_place() < AGREES;
    let rough = if in_place { vec![Motion::NONE] } else { correlate::candidates(pair.coarsest_pair()) };
    let (differing, motion) = pair.best(rough)?;
    let correlation = pair.correlation(&motion);
    let motion = motion.scaled(pair.size(), size);
    let longest = f64::from(size.width.max(size.height));
    if motion.reach(size) < LEAST_REACH * longest || differing > MOST_DIFFERING || correlation < LEAST_CORRELATION {
        return None;
    }
    let found = loss(source, edit, &motion, &counts)?;
    let opposite = loss(source, edit, &motion.inverse(), &counts)?;
    let registration = Registration { motion, loss: found.edit_as_it_is, loss_aligned: found.edit_warped_back };
    let clear = registration.explained() >= LEAST_EXPLAINED && found.edit_warped_back <= MOST_OF_OPPOSITE * opposite.edit_warped_back;
    (clear && found.overlap >= LEAST_OVERLAP).then_some(registration)
}

/// Mean distances over the pixels that count and are visible in both pictures.
struct Loss {
    edit_as_it_is: f64,
    edit_warped_back: f64,
    /// Share of the counting pixels that are visible in both.
    overlap: f64,
}

/// The metric's distance, `sqrt(mean over channels of (a − b)²) / 255`, before and after warping the edit back (bilinear).
///
/// Rows are summed each by itself and then in order, so that the result does not depend on the number of threads.
fn loss(source: &RgbImage, edit: &RgbImage, motion: &Motion, counts: &(impl Fn(u32, u32) -> bool + Sync)) -> Option<Loss> {
    let size = Size::new(source.width(), source.height());
    let rows: Vec<[f64; 4]> = (0..size.height)
        .into_par_iter()
        .map(|y| {
            let mut sums = [0.0; 4];
            for x in (0..size.width).filter(|&x| counts(x, y)) {
                sums[3] += 1.0;
                let (to_x, to_y) = motion.edit_from_source(size, f64::from(x) + 0.5, f64::from(y) + 0.5);
                let Some(warped) = bilinear(edit, to_x, to_y) else { continue };
                let here = source.get_pixel(x, y).0.map(f64::from);
                sums[0] += distance(here, edit.get_pixel(x, y).0.map(f64::from));
                sums[1] += distance(here, warped);
                sums[2] += 1.0;
            }
            sums
        })
        .collect();
    let total = rows.into_iter().fold([0.0; 4], |mut total, row| {
        total.iter_mut().zip(row).for_each(|(total, value)| *total += value);
        total
    });
    let [before, after, visible, counting] = total;
    (visible > 0.0).then(|| Loss { edit_as_it_is: before / visible, edit_warped_back: after / visible, overlap: visible / counting })
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 3.0).sqrt() / 255.0
}

/// The colour at a position (pixel centres at half-integers); `None` where the picture does not reach.
fn bilinear(picture: &RgbImage, x: f64, y: f64) -> Option<[f64; 3]> {
    let (width, height) = (f64::from(picture.width()), f64::from(picture.height()));
    if !(0.0..=width).contains(&x) || !(0.0..=height).contains(&y) {
        return None;
    }
    let along = |p: f64, side: u32| {
        let p = (p - 0.5).clamp(0.0, f64::from(side - 1));
        let first = (p as u32).min(side - 1);
        (first, (first + 1).min(side - 1), p - f64::from(first))
    };
    let (x0, x1, fx) = along(x, picture.width());
    let (y0, y1, fy) = along(y, picture.height());
    let at = |x, y| picture.get_pixel(x, y).0.map(f64::from);
    let (a, b, c, d) = (at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1));
    let mix = |i: usize| (a[i] * (1.0 - fx) + b[i] * fx) * (1.0 - fy) + (c[i] * (1.0 - fx) + d[i] * fx) * fy;
    Some([mix(0), mix(1), mix(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_and_scaling_are_those_of_a_hand_calculation() {
        // Zoom 1.02 about the centre of 500×500 moves a corner by 250 · 0.02 = 5 px on each axis: 5·√2.
        let size = Size::BPM500;
        assert!((Motion { dx: 0.0, dy: 0.0, zoom: 1.02 }.reach(size) - 50f64.sqrt()).abs() < 1e-9);
        let scaled = Motion { dx: 5.0, dy: -5.0, zoom: 1.02 }.scaled(size, Size::new(1000, 250));
        assert_eq!(scaled, Motion { dx: 10.0, dy: -2.5, zoom: 1.02 });
    }

    #[test]
    fn the_way_there_and_back_is_the_identity() {
        let (size, motion) = (Size::new(300, 200), Motion { dx: 7.0, dy: -3.0, zoom: 1.1 });
        let (x, y) = motion.edit_from_source(size, 20.0, 50.0);
        let (x, y) = motion.inverse().edit_from_source(size, x, y);
        assert!((x - 20.0).abs() < 1e-9 && (y - 50.0).abs() < 1e-9);
    }

    #[test]
    fn between_two_pixels_lies_their_mean() {
        let picture = RgbImage::from_raw(2, 1, vec![0, 10, 20, 100, 110, 220]).expect("6 bytes are 2 pixels");
        assert_eq!(bilinear(&picture, 1.0, 0.5), Some([50.0, 60.0, 120.0]));
        assert_eq!(bilinear(&picture, 0.5, 0.5), Some([0.0, 10.0, 20.0]));
        assert_eq!(bilinear(&picture, 2.5, 0.5), None);
    }
}
