//! Finds out whether an edit is its source moved or zoomed, and how much of the preservation loss that explains.
//!
//! Image editors often return the picture a few pixels off or slightly enlarged. To the eye nothing changed; to a pixel-wise distance
//! everything did. [`register`] looks for one motion (shift and zoom about the centre, no rotation) that explains the difference outside
//! the edited region, in three steps:
//!
//! 1. [`search`] tries every shift at a ladder of zooms on thumbnails and names a few motions that are worth a look;
//! 2. [`refine`]: robust Gauss-Newton makes each exact to a fraction of a pixel, letting edited pixels go as outliers;
//! 3. the best is warped back and the distance of the metric (`bpm.md` section 4) is computed again. It counts only if it lowers the
//!    distance clearly, and more than the opposite motion does (which blurs just as much: interpolation alone must explain nothing).
//!
//! Most edits lie where their source lies. They are let go as early as it shows: when there is no loss to explain, or when the robust fit
//! that starts with doing nothing stays there and leaves little. Only what is still unexplained is searched, and only what then looks like
//! a motion is made exact on larger planes.

mod loss;
mod plane;
mod refine;
mod search;

use crate::domain::{Mask, Size};
use image::RgbImage;

use loss::Pair;
use plane::Plane;
use refine::{Level, State};

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

/// Longest side of the planes on which a motion is made exact, in pixels: a fiftieth of a pixel there is a twenty-fifth on 500×500.
const FINE: u32 = 256;
/// Longest side of the planes on which motions are told apart.
const COARSE: u32 = 128;
/// Less mean distance than this is noise of saving (about one and a half levels of 255): there is nothing to explain.
const LEAST_LOSS: f64 = 0.006;
/// A motion must move some corner by at least this share of the longest side (1 pixel of 500).
const LEAST_REACH: f64 = 0.002;
/// A motion must explain at least this share of the loss; a chance likeness of objects on a plain ground explains 17 % in one edit of the
/// demo, which did not move.
const LEAST_EXPLAINED: f64 = 0.2;
/// Of what the opposite motion leaves, the motion may leave at most this share.
const MOST_OF_OPPOSITE: f64 = 0.85;
/// Share of differing pixels below which pictures agree as they lie: no other motion can do better.
const AGREES: f64 = 0.1;
/// Of the pixels that differ as the pictures lie, a motion may leave at most this share differing: the best of thousands is a little better
/// by chance.
const MOST_OF_IN_PLACE: f64 = 0.8;
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
    let pair = Pair { source, edit, ignore };
    let size = pair.size();
    if edit.dimensions() != source.dimensions() || size.width.min(size.height) < 16 || ignore.is_some_and(|mask| mask.size() != size) {
        return None;
    }
    if pair.loss_in_place()? < LEAST_LOSS {
        return None;
    }
    let motion = likely_motion(&pair)?;
    let found = pair.loss(&motion)?;
    let opposite = pair.loss(&motion.inverse())?;
    let registration = Registration { motion, loss: found.edit_as_it_is, loss_aligned: found.edit_warped_back };
    let clear = registration.explained() >= LEAST_EXPLAINED && found.edit_warped_back <= MOST_OF_OPPOSITE * opposite.edit_warped_back;
    // Where a pattern repeats, a shift by its period loses what was edited at the border out of sight, and nothing else.
    let stays_in_sight = found.in_place_of_both >= LEAST_LOSS && found.edit_warped_back <= (1.0 - LEAST_EXPLAINED) * found.in_place_of_both;
    let clear = clear && stays_in_sight;
    (clear && found.overlap >= LEAST_OVERLAP).then_some(registration)
}

/// The motion that leaves the least, if it moves anything and what it leaves still looks like the source.
fn likely_motion(pair: &Pair<'_>) -> Option<Motion> {
    let size = pair.size();
    let moves = |motion: &Motion, size: Size, share: f64| motion.reach(size) >= share * LEAST_REACH * f64::from(longest(size));
    let weight = Plane::from_fn(size, |x, y| f32::from(u8::from(pair.counts(x, y))));
    let fine = Level::new((&Plane::luma(pair.source), &Plane::luma(pair.edit), &weight), shrunk(size, FINE));
    let coarse = Level::new(fine.planes(), shrunk(size, COARSE));
    let fit = |motion: Motion| coarse.refined(State::of(motion), 0.01).map(|state| (coarse.cost(&state), state));
    let mut states = Vec::from_iter(fit(Motion::NONE));
    if states.first().is_none_or(|(cost, _)| *cost > AGREES) {
        states.extend(search::candidates(coarse.planes()).into_iter().filter_map(fit));
    }
    let (differing, state) = states.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    // The coarse level knows enough to give up, not to believe.
    let clear = differing <= MOST_OF_IN_PLACE * coarse.cost(&State::of(Motion::NONE)) && differing <= MOST_DIFFERING + 0.1;
    if !clear || !moves(&state.motion, coarse.size(), 0.5) {
        return None;
    }
    let state = fine.refined(state.scaled(coarse.size(), fine.size()), 0.002)?;
    let plausible = fine.cost(&state) <= MOST_DIFFERING && fine.correlation(&state.motion) >= LEAST_CORRELATION;
    let motion = state.motion.scaled(fine.size(), size);
    (plausible && moves(&motion, size, 1.0)).then_some(motion)
}

const fn longest(size: Size) -> u32 {
    if size.width > size.height { size.width } else { size.height }
}

/// The size with its longest side at most `to`, both sides at least 2.
fn shrunk(size: Size, to: u32) -> Size {
    let side = |n: u32| (u64::from(n) * u64::from(to) / u64::from(longest(size))).max(2) as u32;
    if longest(size) > to { Size::new(side(size.width), side(size.height)) } else { size }
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
}
