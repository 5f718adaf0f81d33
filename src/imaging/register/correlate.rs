//! Phase correlation at a ladder of zooms: which motions are worth a look.
//!
//! A shift turns the phases of a picture's spectrum and leaves the amplitudes alone, so the normalised cross-power spectrum of two
//! shifted pictures transforms to a peak at the shift (Kuglin and Hines 1975). A zoom in between blurs the peak away; it is brought back by
//! zooming the edit first, for each step of a ladder fine enough that what is left moves no edge by more than a pixel of this grid.

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

use crate::domain::Size;

use super::Motion;
use super::plane::Plane;

/// Side of the square grid that is transformed.
const SIDE: u32 = 128;
/// Zooms of the ladder lie within `1/LIMIT..=LIMIT` …
const LIMIT: f64 = 1.35;
/// … one step apart. What is left (half a step of 1.5 %) moves the edge of the grid by 128/2 · 0.0075 ≈ 0.5 pixels.
const STEP: f64 = 1.015;
/// Frequencies above this share of the highest one are noise rather than picture and are faded out.
const PASS: f64 = 0.5;
/// How many motions are handed on.
const MOST: usize = 5;

/// Motions from the highest peak down, in pixels of the given planes; doing nothing is always among them.
///
/// `source`, `edit` and `weight` (1 where pixels count, 0 where not) have one size.
pub(super) fn candidates((source, edit, weight): (&Plane, &Plane, &Plane)) -> Vec<Motion> {
    let size = source.size;
    let grid = Size::new(SIDE, SIDE);
    let small = |plane: &Plane| plane.area_resized(grid);
    let (source, edit, weight) = (small(source), small(edit), small(weight));
    let mut transform = Transform::new();
    let source_spectrum = transform.spectrum(&windowed(&source, &weight, 1.0));
    let steps = (LIMIT.ln() / STEP.ln()) as i32;
    let mut peaks: Vec<(f64, Motion)> = Vec::new();
    for step in -steps..=steps {
        let zoom = STEP.powi(step);
        let edit_spectrum = transform.spectrum(&windowed(&edit, &weight, zoom));
        for (height, dx, dy) in transform.peaks(&source_spectrum, &edit_spectrum) {
            // The zoomed edit is shifted by d/zoom.
            peaks.push((height, Motion { dx: dx * zoom, dy: dy * zoom, zoom }.scaled(grid, size)));
        }
    }
    peaks.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut motions = vec![Motion::NONE];
    let near = f64::from(size.width.max(size.height)) * 2.0 / f64::from(SIDE);
    for (_, motion) in peaks {
        if motions.len() > MOST {
            break;
        }
        let apart = |other: &Motion| {
            (motion.dx - other.dx).hypot(motion.dy - other.dy)
                + (motion.zoom - other.zoom).abs() * f64::from(size.width.max(size.height)) / 2.0
        };
        if motions.iter().all(|other| apart(other) > near) {
            motions.push(motion);
        }
    }
    motions
}

/// The plane enlarged by `1/zoom` about its centre, without its mean, faded to 0 at the borders and where pixels do not count.
fn windowed(plane: &Plane, weight: &Plane, zoom: f64) -> Plane {
    let motion = Motion { dx: 0.0, dy: 0.0, zoom };
    let warped = |plane: &Plane| {
        Plane::from_fn(plane.size, |x, y| {
            let (x, y) = motion.edit_from_source(plane.size, f64::from(x) + 0.5, f64::from(y) + 0.5);
            plane.sample(x, y).unwrap_or(0.0)
        })
    };
    let (values, weights) = (warped(plane), warped(weight));
    let total: f32 = weights.values.iter().sum();
    let mean = values.values.iter().zip(&weights.values).map(|(v, w)| v * w).sum::<f32>() / total.max(1e-6);
    let hann = |i: u32, side: u32| 0.5 - 0.5 * (std::f32::consts::TAU * (i as f32 + 0.5) / side as f32).cos();
    Plane::from_fn(plane.size, |x, y| (values.at(x, y) - mean) * weights.at(x, y) * hann(x, plane.size.width) * hann(y, plane.size.height))
}

/// Two-dimensional Fourier transforms of the grid.
struct Transform {
    planner: FftPlanner<f32>,
}

impl Transform {
    fn new() -> Self {
        Self { planner: FftPlanner::new() }
    }

    fn spectrum(&mut self, plane: &Plane) -> Vec<Complex<f32>> {
        let mut values: Vec<Complex<f32>> = plane.values.iter().map(|&value| Complex::new(value, 0.0)).collect();
        self.transform(&mut values, false);
        values
    }

    /// Rows, then columns, by transposing twice; not normalised.
    fn transform(&mut self, values: &mut Vec<Complex<f32>>, back: bool) {
        let side = SIDE as usize;
        let fft = if back { self.planner.plan_fft_inverse(side) } else { self.planner.plan_fft_forward(side) };
        for _ in 0..2 {
            fft.process(values);
            *values = (0..side * side).map(|i| values[i % side * side + i / side]).collect();
        }
    }

    /// The three highest peaks of the phase correlation as (height, dx, dy): the edit is the source moved by (dx, dy) grid pixels.
    fn peaks(&mut self, source: &[Complex<f32>], edit: &[Complex<f32>]) -> Vec<(f64, f64, f64)> {
        let side = SIDE as i64;
        let signed = |i: i64| if i > side / 2 { i - side } else { i };
        let mut cross: Vec<Complex<f32>> = source
            .iter()
            .zip(edit)
            .enumerate()
            .map(|(i, (s, e))| {
                let (u, v) = (signed(i as i64 % side) as f64, signed(i as i64 / side) as f64);
                let share = u.hypot(v) / (side as f64 / 2.0) / PASS;
                let power = s.conj() * e;
                power * ((-share * share).exp() as f32 / power.norm().max(1e-9))
            })
            .collect();
        self.transform(&mut cross, true);
        let mut order: Vec<usize> = (0..cross.len()).collect();
        order.select_nth_unstable_by(24, |&a, &b| cross[b].re.total_cmp(&cross[a].re));
        order.truncate(24);
        order.sort_by(|&a, &b| cross[b].re.total_cmp(&cross[a].re));
        let mut found: Vec<(f64, f64, f64)> = Vec::new();
        for i in order {
            let (x, y) = (signed(i as i64 % side) as f64, signed(i as i64 / side) as f64);
            if found.len() < 3 && found.iter().all(|(_, fx, fy)| (fx - x).hypot(fy - y) > 2.5) {
                found.push((f64::from(cross[i].re), x, y));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Smooth hills that do not repeat.
    fn hills(x: f64, y: f64) -> f32 {
        let hill = |cx: f64, cy: f64, r: f64| (-((x - cx).powi(2) + (y - cy).powi(2)) / (r * r)).exp();
        (hill(40.0, 50.0, 12.0) - hill(90.0, 60.0, 7.0) + 0.7 * hill(60.0, 95.0, 9.0) + 0.5 * hill(70.0, 30.0, 5.0)) as f32
    }

    #[test]
    fn a_shift_by_whole_pixels_is_the_highest_peak() {
        let size = Size::new(SIDE, SIDE);
        let source = Plane::from_fn(size, |x, y| hills(f64::from(x), f64::from(y)));
        let edit = Plane::from_fn(size, |x, y| hills(f64::from(x) - 6.0, f64::from(y) + 4.0));
        let mut transform = Transform::new();
        let weight = Plane::from_fn(size, |_, _| 1.0);
        let (s, e) = (transform.spectrum(&windowed(&source, &weight, 1.0)), transform.spectrum(&windowed(&edit, &weight, 1.0)));
        let (_, dx, dy) = transform.peaks(&s, &e)[0];
        assert!((dx - 6.0).abs() <= 1.0 && (dy + 4.0).abs() <= 1.0, "{dx} {dy}");
    }
}
