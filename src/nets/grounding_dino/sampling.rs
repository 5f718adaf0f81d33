//! Deformable attention over values in memory: places, weights and bilinear samples of a query in one loop.

use rayon::prelude::*;

use super::deformable::{LevelSize, Pyramid};
use crate::nets::layers::host::{softmax_unscaled, vectorised};

/// What is sampled, and where.
pub struct HostSampling<'a> {
    /// `[cells, width]`
    pub values: &'a [f32],
    pub width: usize,
    /// `[queries, 3·heads·levels·points]`: offsets (x, y) of all places, then their unscaled weights.
    pub asked: &'a [f32],
    /// `[queries, 2]` or `[queries, 4]`, as [`super::deformable::Reference`] has them.
    pub reference: &'a [f32],
    pub heads: usize,
    pub points: usize,
    pub pyramid: &'a Pyramid,
}

/// Queries that a thread takes at a time.
const SHARE: usize = 64;

impl HostSampling<'_> {
    /// Numbers that a query asks with.
    fn asked_per_query(&self) -> usize {
        3 * self.heads * self.pyramid.levels.len() * self.points
    }

    /// The weighted sum of bilinear samples of each query; zeros outside of a level.
    ///
    /// # Shapes
    /// output: `[queries, width]`
    pub fn run(&self) -> Vec<f32> {
        let asked = self.asked_per_query();
        let queries = self.asked.len() / asked;
        let reference = self.reference.len() / queries.max(1);
        let mut out = vec![0f32; queries * self.width];
        out.par_chunks_mut(SHARE * self.width).enumerate().for_each_init(Vec::new, |weights, (share, out)| {
            vectorised(
                #[inline(always)]
                || {
                    for (n, out) in out.chunks_exact_mut(self.width).enumerate() {
                        let query = share * SHARE + n;
                        self.query(&self.asked[query * asked..][..asked], &self.reference[query * reference..][..reference], out, weights);
                    }
                },
            );
        });
        out
    }

    #[inline(always)]
    fn query(&self, asked: &[f32], reference: &[f32], out: &mut [f32], weights: &mut Vec<f32>) {
        let (dim, places) = (self.width / self.heads, asked.len() / 3);
        let per_head = places / self.heads;
        let (offsets, scores) = asked.split_at(2 * places);
        for (head, target) in out.chunks_exact_mut(dim).enumerate() {
            weights.clear();
            weights.extend_from_slice(&scores[head * per_head..][..per_head]);
            let share = 1.0 / softmax_unscaled(weights);
            for (place, weight) in weights.iter().enumerate() {
                let level = self.pyramid.levels[place / self.points];
                let at = 2 * (head * per_head + place);
                let [x, y] = place_in_cells(reference, [offsets[at], offsets[at + 1]], level, self.points);
                self.add_sample(target, head * dim, level, [x, y], weight * share);
            }
        }
    }

    /// Adds `weight` times the bilinear sample at `x, y` (in cells) to `target`; cells outside of the level count as zeros. `from` is where
    /// the channels of `target` begin.
    #[inline(always)]
    fn add_sample(&self, target: &mut [f32], from: usize, level: LevelSize, [x, y]: [f32; 2], weight: f32) {
        let (left, top) = (x.floor(), y.floor());
        let (right_part, lower_part) = (x - left, y - top);
        for (row, row_part) in [(top, 1.0 - lower_part), (top + 1.0, lower_part)] {
            for (column, column_part) in [(left, 1.0 - right_part), (left + 1.0, right_part)] {
                // What is not a number is inside of nothing; it shows in the boxes, which come from the same features.
                let inside = row >= 0.0 && column >= 0.0 && row < level.rows as f32 && column < level.columns as f32;
                if !inside {
                    continue;
                }
                let cell = level.start + row as usize * level.columns + column as usize;
                let factor = weight * row_part * column_part;
                let values = &self.values[cell * self.width + from..][..target.len()];
                for (sum, value) in target.iter_mut().zip(values) {
                    *sum += factor * value;
                }
            }
        }
    }
}

/// A place to look at, in cells of a level; 0 is the centre of the first cell.
#[inline(always)]
fn place_in_cells(reference: &[f32], offset: [f32; 2], level: LevelSize, points: usize) -> [f32; 2] {
    let sizes = [level.columns as f32, level.rows as f32];
    let place = |i: usize| match reference.len() {
        // (xy + offset/size)·size − ½
        2 => reference[i] * sizes[i] - 0.5 + offset[i],
        _ => (reference[i] + offset[i] * reference[2 + i] * (0.5 / points as f32)) * sizes[i] - 0.5,
    };
    [place(0), place(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_by_hand() {
        let level = LevelSize { rows: 10, columns: 20, start: 0 };
        // A quarter across 20 columns is 5, half down 10 rows is 5; less half a cell, plus the offset in cells.
        assert_eq!(place_in_cells(&[0.25, 0.5], [1.0, -2.0], level, 4), [5.5, 2.5]);
        // Offsets of a box count in halves of it, shared among 4 points: 0.25 + 1·0.4·(0.5/4) = 0.3; 0.5 − 2·0.8·(0.5/4) = 0.3.
        let [x, y] = place_in_cells(&[0.25, 0.5, 0.4, 0.8], [1.0, -2.0], level, 4);
        assert!((x - 5.5).abs() < 1e-5 && (y - 2.5).abs() < 1e-5, "{x} {y}");
    }
}
