//! Tries every shift at a ladder of zooms on thumbnails: which motions are worth a look.
//!
//! Both pictures are freed of tone (local mean and contrast); what differs by more than a pixel can differ by chance counts no more than that, so
//! an edited region costs every motion about the same, wherever it lies and whether or not a mask covers it. A phase correlation, which
//! whitens the whole spectrum, loses the motion of the rest when the edit is large and bright.

use crate::domain::Size;

use super::Motion;
use super::plane::{Axis, Plane};

/// Side of the square thumbnails.
const SIDE: usize = 32;
/// Zooms of the ladder lie within `1/LIMIT..=LIMIT` …
const LIMIT: f64 = 1.35;
/// … one step apart. What is left (half a step of 5 %) moves the edge of a thumbnail by 32/2 · 0.025 = 0.4 pixels.
const STEP: f64 = 1.05;
/// Shifts reach this many pixels of the thumbnail to each side: a quarter of the picture.
const FARTHEST: usize = 8;
/// Side of a thumbnail with a rim for the farthest shifts.
const RIMMED: usize = SIDE + 2 * FARTHEST;
/// Local means are taken over squares of this half side.
const AROUND: usize = 4;
/// Levels of a byte to one mean contrast; bytes, because many of them are compared at once.
const LEVELS: f32 = 32.0;
/// Differences count up to one and a half times the mean contrast.
const MOST_DIFFERENT: u8 = 48;
/// A motion must leave this share of the counting pixels in both pictures.
const LEAST_OVERLAP: f64 = 0.4;
/// A motion worth a look leaves at most this share of what doing nothing leaves: among thousands one is a little better by chance.
const CLEARLY_LESS: f64 = 0.9;
/// How many motions are handed on.
const MOST: usize = 3;
/// Motions nearer to each other than this many pixels of the thumbnail are one.
const NEAR: f64 = 2.0;

/// Motions that leave clearly less different than doing nothing does, the best first, in pixels of the given planes.
///
/// `source`, `edit` and `weight` (1 where pixels count, 0 where not) have one size.
pub(super) fn candidates((source, edit, weight): (&Plane, &Plane, &Plane)) -> Vec<Motion> {
    let size = source.size;
    let grid = Size::new(SIDE as u32, SIDE as u32);
    let source = bytes(&without_tone(&source.area_resized(grid)), level);
    let edit = without_tone(&edit.area_resized(grid));
    let weight = bytes(&weight.area_resized(grid), |share| if share > 0.5 { u8::MAX } else { 0 });
    let steps = (LIMIT.ln() / STEP.ln()) as i32;
    let mut tried: Vec<(f64, Motion)> = Vec::new();
    for step in -steps..=steps {
        let zoom = STEP.powi(step);
        let zoomed = Zoomed::new(&edit, zoom);
        for top in 0..=2 * FARTHEST {
            for left in 0..=2 * FARTHEST {
                // The zoomed edit is shifted by d/zoom.
                let shift = |corner: usize| (corner as f64 - FARTHEST as f64) * zoom;
                let motion = Motion { dx: shift(left), dy: shift(top), zoom };
                tried.extend(zoomed.difference(&source, &weight, (left, top)).map(|difference| (difference, motion)));
            }
        }
    }
    let in_place = tried.iter().find(|(_, motion)| *motion == Motion::NONE).map_or(f64::INFINITY, |(left, _)| *left);
    tried.retain(|(left, _)| *left < CLEARLY_LESS * in_place);
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut found: Vec<Motion> = Vec::new();
    for (_, motion) in tried {
        let apart =
            |other: &Motion| (motion.dx - other.dx).hypot(motion.dy - other.dy) + (motion.zoom - other.zoom).abs() * SIDE as f64 / 2.0;
        if found.len() < MOST && found.iter().all(|other| apart(other) > NEAR) {
            found.push(motion);
        }
    }
    found.into_iter().map(|motion| motion.scaled(grid, size)).collect()
}

/// The plane without local mean, its mean absolute value 1 (0 if it is flat).
fn without_tone(plane: &Plane) -> Plane {
    let side = SIDE;
    let near = |i: usize| i.saturating_sub(AROUND)..(i + AROUND + 1).min(side);
    let mean = |x: usize, y: usize| {
        let sum: f32 = near(y).map(|y| plane.row(y)[near(x)].iter().sum::<f32>()).sum();
        sum / (near(x).len() * near(y).len()) as f32
    };
    let bare = Plane::from_fn(plane.size, |x, y| plane.at(x, y) - mean(x as usize, y as usize));
    let contrast = bare.values.iter().map(|value| value.abs()).sum::<f32>() / bare.values.len() as f32;
    // Half a level of 255 is no contrast but noise.
    let contrast = contrast.max(0.5 / 255.0);
    Plane { size: bare.size, values: bare.values.iter().map(|value| value / contrast).collect() }
}

/// A row of a thumbnail in bytes.
type Bytes = [u8; SIDE];

fn bytes(plane: &Plane, byte: impl Fn(f32) -> u8) -> Vec<Bytes> {
    (0..SIDE).map(|y| std::array::from_fn(|x| byte(plane.row(y)[x]))).collect()
}

/// A number without tone as a byte: no difference from the local mean is 128.
fn level(value: f32) -> u8 {
    (128.0 + LEVELS * value).round() as u8
}

/// The edit enlarged by `1/zoom` about its centre with a rim around it, in bytes.
struct Zoomed {
    levels: Vec<u8>,
    /// 255 where the thumbnail shows the edit, 0 where not.
    shown: Vec<u8>,
}

impl Zoomed {
    fn new(edit: &Plane, zoom: f64) -> Self {
        let (columns, rows) = Axis::both(edit.size, &Motion { dx: 0.0, dy: 0.0, zoom });
        let mut zoomed = Self { levels: vec![0; RIMMED * RIMMED], shown: vec![0; RIMMED * RIMMED] };
        let (mut blended, mut seen) = (Vec::new(), Vec::new());
        for y in rows.visible.clone() {
            edit.seen_row((&columns, &rows), y, &mut blended, &mut seen);
            let begin = (y + FARTHEST) * RIMMED + FARTHEST + columns.visible.start;
            zoomed.shown[begin..begin + seen.len()].fill(u8::MAX);
            zoomed.levels[begin..].iter_mut().zip(&seen).for_each(|(byte, value)| *byte = level(*value));
        }
        zoomed
    }

    /// Mean difference where the upper left corner of the source lies on the pixel `(left, top)` of the edit and its rim; `None` where too
    /// little is left to compare.
    ///
    /// `weight` is 255 where pixels count, 0 where not.
    fn difference(&self, source: &[Bytes], weight: &[Bytes], (left, top): (usize, usize)) -> Option<f64> {
        let (mut sum, mut counting, mut all) = (0u32, 0u32, 0u32);
        for (y, (source, weight)) in source.iter().zip(weight).enumerate() {
            let begin = (y + top) * RIMMED + left;
            let (edit, shown) = (&self.levels[begin..begin + SIDE], &self.shown[begin..begin + SIDE]);
            // A row of 32 differences of at most 48 fits 16 bits.
            let (mut row_sum, mut row_counting, mut row_all) = (0u16, 0u16, 0u16);
            for x in 0..SIDE {
                let counts = weight[x] & shown[x];
                row_sum = row_sum.wrapping_add(u16::from(source[x].abs_diff(edit[x]).min(MOST_DIFFERENT) & counts));
                row_counting = row_counting.wrapping_add(u16::from(counts & 1));
                row_all = row_all.wrapping_add(u16::from(weight[x] & 1));
            }
            sum += u32::from(row_sum);
            counting += u32::from(row_counting);
            all += u32::from(row_all);
        }
        (f64::from(counting) >= LEAST_OVERLAP * f64::from(all) && counting > 0).then(|| f64::from(sum) / f64::from(counting))
    }
}
