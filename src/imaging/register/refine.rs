//! Robust Gauss-Newton from a rough motion to a fraction of a pixel (Baker and Matthews 2004, forward additive), on a small pyramid.
//!
//! Brightness and contrast of the edit are free (`gain · edit + offset`), so that a changed tone is not taken for a motion. Residuals far
//! beyond the median count little (Geman-McClure), so that edited pixels which no mask covers do not pull.

use rayon::prelude::*;

use crate::domain::Size;

use super::Motion;
use super::plane::Plane;

/// Longest side of the finest level, in pixels: a fiftieth of a pixel there is a twenty-fifth on the metric's 500×500.
const FINEST: u32 = 256;
/// Longest side of the coarsest level.
const COARSEST: u32 = 128;
/// Iterations on one level.
const ITERATIONS: usize = 10;
/// An update that moves no corner by more than this (pixels of the level) ends the level.
const STILL: f64 = 0.005;
/// Motions that go on from the coarsest level to the finer ones.
const FINALISTS: usize = 2;
/// Dx, dy, zoom, gain, offset.
const UNKNOWNS: usize = 5;

struct Level {
    source: Plane,
    edit: Plane,
    /// Central differences of the edit along x and y.
    slopes: [Plane; 2],
    weight: Plane,
}

/// Source, edit and weights at several sizes, finest first.
pub(super) struct Levels(Vec<Level>);

impl Levels {
    /// From planes of one size; the finest level is a reduced one if that is large.
    pub fn new(source: &Plane, edit: &Plane, weight: &Plane) -> Self {
        let longest = |size: Size| size.width.max(size.height);
        let shrunk = |size: Size, to: u32| {
            let side = |n: u32| (u64::from(n) * u64::from(to) / u64::from(longest(size))).max(1) as u32;
            if longest(size) > to { Size::new(side(size.width), side(size.height)) } else { size }
        };
        let mut levels = vec![Level::new(source, edit, weight, shrunk(source.size, FINEST))];
        while let Some(Level { source, edit, weight, .. }) = levels.last()
            && longest(source.size) > COARSEST
        {
            let next = Level::new(source, edit, weight, shrunk(source.size, COARSEST.max(longest(source.size) / 2)));
            levels.push(next);
        }
        Self(levels)
    }

    fn finest(&self) -> &Level {
        &self.0[0]
    }

    /// Size of the finest level, in whose pixels [`Self::best`] tells the motion.
    pub fn size(&self) -> Size {
        self.finest().source.size
    }

    /// What is left of the pictures as they lie when doing nothing is made exact; in `0..=1`, about the share of edited pixels.
    pub fn cost_in_place(&self) -> f64 {
        let coarsest = &self.0[self.0.len() - 1];
        let start = State { motion: Motion::NONE, gain: 1.0, offset: 0.0 };
        coarsest.refine(start).map_or(1.0, |state| coarsest.cost(&state))
    }

    /// The planes that candidates are looked for on.
    pub fn coarsest_pair(&self) -> (&Plane, &Plane, &Plane) {
        let Level { source, edit, weight, .. } = &self.0[self.0.len() - 1];
        (source, edit, weight)
    }

    /// The motion of the finest level that leaves the least, and the share of pixels that it leaves differing; starting from rough motions
    /// in pixels of the coarsest.
    pub fn best(&self, rough: Vec<Motion>) -> Option<(f64, Motion)> {
        let coarsest = self.0.last()?;
        let mut refined: Vec<(f64, State)> = rough
            .into_iter()
            .filter_map(|motion| {
                let state = coarsest.refine(State { motion, gain: 1.0, offset: 0.0 })?;
                Some((coarsest.cost(&state), state))
            })
            .collect();
        refined.sort_by(|a, b| a.0.total_cmp(&b.0));
        refined.truncate(FINALISTS);
        let finest = self.finest();
        let mut best: Option<(f64, Motion)> = None;
        for (_, mut state) in refined {
            let mut size = coarsest.source.size;
            let mut lost = false;
            for level in self.0.iter().rev().skip(1) {
                let scaled = State { motion: state.motion.scaled(size, level.source.size), ..state };
                size = level.source.size;
                match level.refine(scaled) {
                    Some(refined) => state = refined,
                    None => lost = true,
                }
            }
            let cost = finest.cost(&state);
            if !lost && best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, state.motion));
            }
        }
        best
    }

    /// Correlation of the aligned planes where pixels count, in `-1..=1`.
    pub fn correlation(&self, motion: &Motion) -> f64 {
        let level = self.finest();
        let state = State { motion: *motion, gain: 1.0, offset: 0.0 };
        let pairs: Vec<(f64, f64)> = (0..level.source.size.height).flat_map(|y| level.row_pairs(&state, y)).collect();
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
}

/// What is looked for.
#[derive(Clone, Copy)]
struct State {
    motion: Motion,
    gain: f64,
    offset: f64,
}

/// A pixel of the source, what the edit shows there, and how that changes with each unknown.
struct Residual {
    value: f64,
    slopes: [f64; UNKNOWNS],
}

impl Level {
    fn new(source: &Plane, edit: &Plane, weight: &Plane, size: Size) -> Self {
        let edit = edit.area_resized(size);
        let at = |x: i64, y: i64| edit.at(x.clamp(0, i64::from(size.width) - 1) as u32, y.clamp(0, i64::from(size.height) - 1) as u32);
        let slope = |dx: i64, dy: i64| {
            Plane::from_fn(size, |x, y| (at(i64::from(x) + dx, i64::from(y) + dy) - at(i64::from(x) - dx, i64::from(y) - dy)) / 2.0)
        };
        let slopes = [slope(1, 0), slope(0, 1)];
        // A coarse pixel counts only if all of it does: edited pixels must not leak in.
        let share = weight.area_resized(size);
        let weight = Plane { size, values: share.values.iter().map(|&share| if share > 0.99 { 1.0 } else { 0.0 }).collect() };
        Self { source: source.area_resized(size), slopes, edit, weight }
    }

    /// (source, aligned edit) of the counting pixels of a row.
    fn row_pairs<'a>(&'a self, state: &'a State, y: u32) -> impl Iterator<Item = (f64, f64)> + 'a {
        let size = self.source.size;
        (0..size.width).filter(move |&x| self.weight.at(x, y) > 0.0).filter_map(move |x| {
            let (to_x, to_y) = state.motion.edit_from_source(size, f64::from(x) + 0.5, f64::from(y) + 0.5);
            let seen = f64::from(self.edit.sample(to_x, to_y)?);
            Some((f64::from(self.source.at(x, y)), seen))
        })
    }

    /// Median of the absolute residuals, in `0..=1` in steps of 1/1024.
    fn median(&self, state: &State) -> f64 {
        let counts: Vec<[u32; 1025]> = (0..self.source.size.height)
            .into_par_iter()
            .map(|y| {
                let mut counts = [0u32; 1025];
                for (source, seen) in self.row_pairs(state, y) {
                    let residual = (state.gain * seen + state.offset - source).abs();
                    counts[((residual * 1024.0) as usize).min(1024)] += 1;
                }
                counts
            })
            .collect();
        let mut total = [0u64; 1025];
        for row in counts {
            total.iter_mut().zip(row).for_each(|(total, count)| *total += u64::from(count));
        }
        let visible: u64 = total.iter().sum();
        let mut below = 0;
        let median = total.iter().position(|count| {
            below += count;
            below * 2 >= visible.max(1)
        });
        median.unwrap_or(1024) as f64 / 1024.0
    }

    /// What is left, in `0..=1`: about the share of pixels that differ by more than [`SCALE`]. Infinite for motions that leave little to
    /// compare.
    fn cost(&self, state: &State) -> f64 {
        let counting: f32 = self.weight.values.iter().sum();
        let rows: Vec<(f64, f64)> = (0..self.source.size.height)
            .into_par_iter()
            .map(|y| {
                self.row_pairs(state, y).fold((0.0, 0.0), |(sum, n), (source, seen)| {
                    let r = (state.gain * seen + state.offset - source).powi(2);
                    (sum + r / (r + SCALE * SCALE), n + 1.0)
                })
            })
            .collect();
        let (sum, n) = rows.into_iter().fold((0.0, 0.0), |total, row| (total.0 + row.0, total.1 + row.1));
        if n > 0.3 * f64::from(counting) { sum / n } else { f64::INFINITY }
    }

    fn residual(&self, state: &State, x: u32, y: u32) -> Option<Residual> {
        let size = self.source.size;
        let (px, py) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
        let (to_x, to_y) = state.motion.edit_from_source(size, px, py);
        let seen = f64::from(self.edit.sample(to_x, to_y)?);
        let slope_x = f64::from(self.slopes[0].sample(to_x, to_y)?);
        let slope_y = f64::from(self.slopes[1].sample(to_x, to_y)?);
        let (from_cx, from_cy) = (px - f64::from(size.width) / 2.0, py - f64::from(size.height) / 2.0);
        Some(Residual {
            value: state.gain * seen + state.offset - f64::from(self.source.at(x, y)),
            slopes: [state.gain * slope_x, state.gain * slope_y, state.gain * (slope_x * from_cx + slope_y * from_cy), seen, 1.0],
        })
    }

    /// Gauss-Newton until it stands still; `None` when the equations have no solution or the motion leaves all reason.
    fn refine(&self, start: State) -> Option<State> {
        let size = self.source.size;
        let mut state = start;
        for _ in 0..ITERATIONS {
            let median = self.median(&state);
            // 1.48 · median is the standard deviation of a normal distribution; below one level of 255 everything is noise.
            let scale = (2.0 * 1.48 * median).max(1.0 / 255.0);
            let step = solve(self.equations(&state, scale))?;
            let moved = Motion { dx: step[0], dy: step[1], zoom: 1.0 + step[2] }.reach(size);
            // A step beyond what the linear picture knows is shortened.
            let shorten = (LONGEST_STEP / moved.max(1e-9)).min(1.0);
            state.motion.dx -= shorten * step[0];
            state.motion.dy -= shorten * step[1];
            state.motion.zoom -= shorten * step[2];
            state.gain -= shorten * step[3];
            state.offset -= shorten * step[4];
            if !(0.5..=2.0).contains(&state.motion.zoom) || !(0.2..=5.0).contains(&state.gain) {
                return None;
            }
            if moved < STILL {
                break;
            }
        }
        Some(state)
    }

    /// The weighted normal equations: the upper left is `JᵀWJ`, the last column `JᵀWr`.
    fn equations(&self, state: &State, scale: f64) -> [[f64; UNKNOWNS + 1]; UNKNOWNS] {
        let size = self.source.size;
        let rows: Vec<[[f64; UNKNOWNS + 1]; UNKNOWNS]> = (0..size.height)
            .into_par_iter()
            .map(|y| {
                let mut sums = [[0.0; UNKNOWNS + 1]; UNKNOWNS];
                for x in (0..size.width).filter(|&x| self.weight.at(x, y) > 0.0) {
                    let Some(Residual { value, slopes }) = self.residual(state, x, y) else { continue };
                    let weight = 1.0 / (1.0 + (value / scale).powi(2)).powi(2);
                    for (row, a) in sums.iter_mut().zip(slopes) {
                        for (sum, b) in row.iter_mut().zip(slopes.iter().chain([&value])) {
                            *sum += weight * a * b;
                        }
                    }
                }
                sums
            })
            .collect();
        rows.into_iter().fold([[0.0; UNKNOWNS + 1]; UNKNOWNS], |mut total, row| {
            total.iter_mut().flatten().zip(row.iter().flatten()).for_each(|(total, value)| *total += value);
            total
        })
    }
}

/// Residuals above about this (10 levels of 255) count as edited when candidates are compared.
const SCALE: f64 = 10.0 / 255.0;
/// Longest step of a corner in one iteration, in pixels of the level.
const LONGEST_STEP: f64 = 4.0;

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
