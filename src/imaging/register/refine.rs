//! Robust Gauss-Newton from a rough motion to a fraction of a pixel (Baker and Matthews 2004, forward additive), on a small pyramid.
//!
//! Brightness and contrast of the edit are free (`gain · edit + offset`), so that a changed tone is not taken for a motion. Residuals far
//! beyond the median count little (Geman-McClure), so that edited pixels which no mask covers do not pull.

use crate::domain::Size;

use super::Motion;
use super::plane::{Axis, Plane};

/// Iterations on one level.
const ITERATIONS: usize = 20;
/// Dx, dy, zoom, gain, offset.
const UNKNOWNS: usize = 5;
/// Residuals above about this (10 levels of 255) count as edited when motions are compared.
const SCALE: f32 = 10.0 / 255.0;
/// Longest step of a corner in one iteration, in pixels of the level.
const LONGEST_STEP: f64 = 4.0;
/// No fit zooms further, in or out.
const MOST_ZOOM: f64 = 1.5;
/// A motion that leaves less than this share of the counting pixels to compare is worth nothing.
const LEAST_TO_COMPARE: f64 = 0.3;

/// What is looked for: a motion in pixels of a level, and the tone.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub motion: Motion,
    gain: f64,
    offset: f64,
}

impl State {
    /// A motion that leaves the tone as it is.
    pub const fn of(motion: Motion) -> Self {
        Self { motion, gain: 1.0, offset: 0.0 }
    }

    /// The same on a level of another size.
    pub fn scaled(self, from: Size, to: Size) -> Self {
        Self { motion: self.motion.scaled(from, to), ..self }
    }
}

/// Both pictures at one size.
pub(super) struct Level {
    pub source: Plane,
    pub edit: Plane,
    /// Central differences of the edit along x and y.
    slopes: [Plane; 2],
    /// 1 where pixels count, 0 where not.
    pub weight: Plane,
}

impl Level {
    /// From planes of one size, made smaller to `size`.
    pub fn new((source, edit, weight): (&Plane, &Plane, &Plane), size: Size) -> Self {
        let edit = edit.area_resized(size);
        let slopes = edit.slopes();
        // A coarse pixel counts only if all of it does: edited pixels must not leak in.
        let share = weight.area_resized(size);
        let weight = Plane { size, values: share.values.iter().map(|&share| if share > 0.99 { 1.0 } else { 0.0 }).collect() };
        Self { source: source.area_resized(size), slopes, edit, weight }
    }

    /// Size of both pictures.
    pub fn size(&self) -> Size {
        self.source.size
    }

    /// Source, edit and weights.
    pub fn planes(&self) -> (&Plane, &Plane, &Plane) {
        (&self.source, &self.edit, &self.weight)
    }

    /// What is left, in `0..=1`: about the share of pixels that differ by more than [`SCALE`]. Infinite for motions that leave little to
    /// compare.
    pub fn cost(&self, state: &State) -> f64 {
        let counting: f32 = self.weight.values.iter().sum();
        let left = self.residuals(state);
        let n = left.len() as f64;
        let differing = left.iter().map(|r| f64::from(r * r / (r * r + SCALE * SCALE))).sum::<f64>();
        if n > LEAST_TO_COMPARE * f64::from(counting) { differing / n } else { f64::INFINITY }
    }

    /// Correlation of the aligned pictures where pixels count, in `-1..=1`.
    pub fn correlation(&self, motion: &Motion) -> f64 {
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        self.each_row(motion, [&self.edit], |source, weight, [seen], _| {
            let counting = source.iter().zip(weight).zip(seen).filter(|((_, weight), _)| **weight > 0.0);
            pairs.extend(counting.map(|((source, _), seen)| (f64::from(*source), f64::from(*seen))));
        });
        let n = pairs.len() as f64;
        let (mean_a, mean_b) = pairs.iter().fold((0.0, 0.0), |(a, b), p| (a + p.0 / n, b + p.1 / n));
        let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
        for (a, b) in pairs {
            ab += (a - mean_a) * (b - mean_b);
            aa += (a - mean_a).powi(2);
            bb += (b - mean_b).powi(2);
        }
        if aa > 0.0 && bb > 0.0 { ab / (aa * bb).sqrt() } else { 0.0 }
    }

    /// Gauss-Newton until no corner moves by more than `still` pixels of this level; `None` when the equations have no solution or the motion leaves all reason.
    pub fn refined(&self, start: State, still: f64) -> Option<State> {
        let size = self.size();
        let mut state = start;
        for _ in 0..ITERATIONS {
            // 1.48 · median is the standard deviation of a normal distribution; below one level of 255 everything is noise.
            let scale = (2.0 * 1.48 * median(&mut self.residuals(&state))).max(1.0 / 255.0);
            let step = solve(self.equations(&state, scale))?;
            let moved = Motion { dx: step[0], dy: step[1], zoom: 1.0 + step[2] }.reach(size);
            // A step beyond what the linear picture knows is shortened.
            let shorten = (LONGEST_STEP / moved.max(1e-9)).min(1.0);
            state.motion.dx -= shorten * step[0];
            state.motion.dy -= shorten * step[1];
            state.motion.zoom -= shorten * step[2];
            state.gain -= shorten * step[3];
            state.offset -= shorten * step[4];
            if !(1.0 / MOST_ZOOM..=MOST_ZOOM).contains(&state.motion.zoom) || !(0.2..=5.0).contains(&state.gain) {
                return None;
            }
            if moved < still {
                break;
            }
        }
        Some(state)
    }

    /// Gives `take` each visible row: of the source, of the weights and of `planes` as the motion sees them, and the place of its first
    /// pixel from the centre.
    fn each_row<const N: usize>(
        &self,
        motion: &Motion,
        planes: [&Plane; N],
        mut take: impl FnMut(&[f32], &[f32], &[Vec<f32>; N], (f32, f32)),
    ) {
        let size = self.size();
        let (columns, rows) = Axis::both(size, motion);
        let mut blended = Vec::with_capacity(size.width as usize);
        let mut seen: [Vec<f32>; N] = std::array::from_fn(|_| Vec::with_capacity(size.width as usize));
        for y in rows.visible.clone() {
            for (plane, seen) in planes.iter().zip(&mut seen) {
                plane.seen_row((&columns, &rows), y, &mut blended, seen);
            }
            let from_center = |i: usize, side: u32| i as f32 + 0.5 - side as f32 / 2.0;
            let first = (from_center(columns.visible.start, size.width), from_center(y, size.height));
            take(&self.source.row(y)[columns.visible.clone()], &self.weight.row(y)[columns.visible.clone()], &seen, first);
        }
    }

    /// Absolute differences of the counting pixels that both pictures show.
    fn residuals(&self, state: &State) -> Vec<f32> {
        let (gain, offset) = (state.gain as f32, state.offset as f32);
        let mut left = Vec::with_capacity(self.source.values.len());
        self.each_row(&state.motion, [&self.edit], |source, weight, [seen], _| {
            let counting = source.iter().zip(weight).zip(seen).filter(|((_, weight), _)| **weight > 0.0);
            left.extend(counting.map(|((source, _), seen)| (gain * seen + offset - source).abs()));
        });
        left
    }

    /// The weighted normal equations: the upper left is `JᵀWJ`, the last column `JᵀWr`.
    fn equations(&self, state: &State, scale: f64) -> [[f64; UNKNOWNS + 1]; UNKNOWNS] {
        let (gain, offset, sharpness) = (state.gain as f32, state.offset as f32, (1.0 / scale) as f32);
        let mut total = [[0.0; UNKNOWNS + 1]; UNKNOWNS];
        let [slope_x, slope_y] = &self.slopes;
        self.each_row(&state.motion, [&self.edit, slope_x, slope_y], |source, weights, [seen, along_x, along_y], (first_x, from_cy)| {
            // Rows are summed in single precision (at most a few hundred numbers), then added up in double.
            let mut sums = [[0.0f32; UNKNOWNS + 1]; UNKNOWNS];
            for x in (0..source.len()).filter(|&x| weights[x] > 0.0) {
                let value = gain * seen[x] + offset - source[x];
                let (slope_x, slope_y) = (gain * along_x[x], gain * along_y[x]);
                let slopes = [slope_x, slope_y, slope_x * (first_x + x as f32) + slope_y * from_cy, seen[x], 1.0];
                let spread = 1.0 + (value * sharpness) * (value * sharpness);
                let weight = 1.0 / (spread * spread);
                for (row, sums) in sums.iter_mut().enumerate() {
                    for (column, sum) in sums.iter_mut().enumerate().skip(row) {
                        *sum += weight * slopes[row] * if column < UNKNOWNS { slopes[column] } else { value };
                    }
                }
            }
            total.iter_mut().flatten().zip(sums.iter().flatten()).for_each(|(total, sum)| *total += f64::from(*sum));
        });
        // The matrix is symmetric: only its upper half was summed.
        let mirrored = |row: usize, column: usize| if column < row { total[column][row] } else { total[row][column] };
        std::array::from_fn(|row| std::array::from_fn(|column| mirrored(row, column)))
    }
}

/// The middle of absolute differences; 0 without any.
fn median(values: &mut [f32]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { f64::from(*values.select_nth_unstable_by(middle, f32::total_cmp).1) }
}

/// Gaussian elimination with partial pivoting; `None` for a matrix without inverse (a picture without any structure).
fn solve(mut m: [[f64; UNKNOWNS + 1]; UNKNOWNS]) -> Option<[f64; UNKNOWNS]> {
    let largest = m.iter().flat_map(|row| &row[..UNKNOWNS]).fold(0.0f64, |a, b| a.max(b.abs()));
    for column in 0..UNKNOWNS {
        let pivot = (column..UNKNOWNS).max_by(|&a, &b| m[a][column].abs().total_cmp(&m[b][column].abs()))?;
        m.swap(column, pivot);
        if m[column][column].abs() <= largest * 1e-13 {
            return None;
        }
        let pivot = m[column];
        for row in &mut m[column + 1..] {
            let factor = row[column] / pivot[column];
            for (value, known) in row[column..].iter_mut().zip(&pivot[column..]) {
                *value -= factor * known;
            }
        }
    }
    let mut solution = [0.0; UNKNOWNS];
    for row in (0..UNKNOWNS).rev() {
        let known: f64 = (row + 1..UNKNOWNS).map(|k| m[row][k] * solution[k]).sum();
        solution[row] = (m[row][UNKNOWNS] - known) / m[row][row];
    }
    solution.iter().all(|value| value.is_finite()).then_some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved_and_hopeless_ones_refused() {
        // A permuted diagonal: x = (5/5, 4/4, 3/3, 2/2, 1/1) by hand.
        let mut m = [[0.0; 6]; 5];
        for (row, (column, value)) in [(1, 4.0), (0, 5.0), (4, 1.0), (3, 2.0), (2, 3.0)].into_iter().enumerate() {
            m[row][column] = value;
            m[row][5] = value;
        }
        assert_eq!(solve(m), Some([1.0; 5]));
        assert_eq!(solve([[1.0; 6]; 5]), None);
    }
}
