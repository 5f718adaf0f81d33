//! From the decoder's coarse logits to a mask of the picture's size.
//!
//! The reference enlarges to the network's square, cuts the padding off, and resizes to the picture, each time bilinear with half-pixel
//! centres. Both steps are linear and separable, so they are joined into one set of weights a row and column. On the host: it is little work,
//! and every device gives the same mask.

use crate::domain::{Mask, Size};

/// Up to four source samples of one output sample, with their weights; unused ones have weight 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Taps {
    at: [usize; 4],
    weight: [f32; 4],
}

/// Two samples of a bilinear resize (PyTorch's `interpolate` with `align_corners=False`).
fn pair(to: usize, size_from: usize, size_to: usize) -> [(usize, f64); 2] {
    let place = ((to as f64 + 0.5) * size_from as f64 / size_to as f64 - 0.5).max(0.0);
    let first = (place as usize).min(size_from - 1);
    let second = (first + 1).min(size_from - 1);
    let share = place - first as f64;
    [(first, 1.0 - share), (second, share)]
}

/// Taps from `coarse` samples through a square of `side`, of which `known` are kept, to `out`.
fn taps(coarse: usize, side: usize, known: usize, out: usize) -> Vec<Taps> {
    (0..out)
        .map(|to| {
            let mut taps = Taps::default();
            for (i, (middle, outer)) in pair(to, known, out).into_iter().enumerate() {
                for (j, (from, inner)) in pair(middle, coarse, side).into_iter().enumerate() {
                    taps.at[2 * i + j] = from;
                    taps.weight[2 * i + j] = (outer * inner) as f32;
                }
            }
            taps
        })
        .collect()
}

/// How coarse logits lie in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Side of the coarse square of logits.
    pub coarse: usize,
    /// Side of the network's square, in pixels.
    pub side: usize,
    /// Part of that square which the picture fills.
    pub known: Size,
}

impl Placement {
    /// Logits for a picture of `size`, row by row.
    pub fn logits(&self, coarse: &[f32], size: Size) -> Vec<f32> {
        let (width, height) = (size.width as usize, size.height as usize);
        let columns = taps(self.coarse, self.side, self.known.width as usize, width);
        let rows = taps(self.coarse, self.side, self.known.height as usize, height);
        let mut wide = Vec::with_capacity(self.coarse * width);
        for row in coarse.chunks_exact(self.coarse) {
            wide.extend(columns.iter().map(|taps| (0..4).map(|i| row[taps.at[i]] * taps.weight[i]).sum::<f32>()));
        }
        let mut logits = Vec::with_capacity(width * height);
        for taps in &rows {
            let [a, b, c, d] = taps.at.map(|at| &wide[at * width..][..width]);
            let [wa, wb, wc, wd] = taps.weight;
            logits.extend((0..width).map(|x| a[x] * wa + b[x] * wb + c[x] * wc + d[x] * wd));
        }
        logits
    }

    /// The pixels of a picture of `size` whose logit is above 0.
    pub fn mask(&self, coarse: &[f32], size: Size) -> Mask {
        let logits = self.logits(coarse, size);
        Mask::from_fn(size, |x, y| logits[(y * size.width + x) as usize] > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_and_cutting_by_hand() {
        // Coarse [0, 4] → side 4: 0, 1, 3, 4 (places −0.25, 0.25, 0.75, 1.25) → cut to 3: 0, 1, 3 → 3 wide: the same.
        let placement = Placement { coarse: 2, side: 4, known: Size::new(3, 4) };
        let coarse = [0.0, 4.0, 0.0, 4.0];
        assert_eq!(placement.logits(&coarse, Size::new(3, 1)), [0.0, 1.0, 3.0]);
        // → 1 wide: the middle sample of the three.
        assert_eq!(placement.logits(&coarse, Size::new(1, 1)), [1.0]);
        // → 6 wide: between the samples at places −0.25, 0.25, 0.75, 1.25, 1.75, 2.25 of 0, 1, 3.
        assert_eq!(placement.logits(&coarse, Size::new(6, 1)), [0.0, 0.25, 0.75, 1.5, 2.5, 3.0]);
    }

    #[test]
    fn exactly_zero_is_outside() {
        let placement = Placement { coarse: 1, side: 2, known: Size::new(2, 2) };
        assert_eq!(placement.mask(&[0.0], Size::new(2, 2)).count(), 0);
        assert_eq!(placement.mask(&[0.5], Size::new(2, 2)).count(), 4);
    }
}
