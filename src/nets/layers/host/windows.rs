//! Attention within the windows of a map, without bringing the map into the order of windows first.
//!
//! Each thread gathers the cells of one window, shifted and padded as they are asked for; cells of the padding cost no product before or
//! after, because what a linear layer makes of zeros is known.

use rayon::prelude::*;

use super::attention::{Grid, HostAttention, Scratch, Terms};

/// Added between cells that only the shift has brought into one window (transformers, `modeling_swin.py`, `get_attn_mask`).
const APART: f32 = -100.0;

/// A map of cells with query, key and value side by side, and how it is cut.
#[derive(Clone, Copy)]
pub struct Windowed<'a> {
    /// `[batches, rows, columns, 3·width]`
    pub qkv: &'a [f32],
    /// Batches, rows and columns.
    pub map: [usize; 3],
    /// `[3·width]`: what cells right of and below the map have, up to whole windows. They are attended to like any cell.
    pub padding: &'a [f32],
    /// Cells along a window.
    pub side: usize,
    /// How far the windows are moved down and right, in cells; what they lose above and left comes round to the last windows.
    pub shift: usize,
    pub heads: usize,
    /// `[heads, side², side²]`, added to the scores of every window.
    pub bias: Option<&'a [f32]>,
    pub grid: Option<Grid<'a>>,
}

impl Windowed<'_> {
    fn width(&self) -> usize {
        self.padding.len() / 3
    }

    /// Windows down and across.
    fn windows(&self) -> [usize; 2] {
        [self.map[1], self.map[2]].map(|cells| cells.div_ceil(self.side))
    }

    /// Where the padded map has the cell `at` (along one direction) of a window.
    fn place(&self, window: usize, at: usize, windows: usize) -> usize {
        (window * self.side + at + self.shift) % (windows * self.side)
    }

    /// Attention in every window.
    ///
    /// # Shapes
    /// output: `[batches, rows, columns, width]`
    pub fn run(&self) -> Vec<f32> {
        let (cells, width, [down, across]) = (self.side * self.side, self.width(), self.windows());
        let masks = self.masks();
        let mut seen = vec![0.0; self.map[0] * down * across * cells * width];
        let start = || (vec![0.0; cells * 3 * width], Scratch::default());
        seen.par_chunks_mut(cells * width).enumerate().for_each_init(start, |(gathered, scratch), (number, out)| {
            let (window, batch) = (number % (down * across), number / (down * across));
            let (y, x) = (window / across, window % across);
            self.gather(batch, [y, x], gathered);
            let last = [y + 1 == down, x + 1 == across];
            let mask = masks.iter().find(|(of, _)| self.shift > 0 && *of == last && last != [false, false]).map(|(_, mask)| mask);
            self.window(gathered, mask.map(Vec::as_slice), out, scratch);
        });
        self.scatter(&seen)
    }

    /// Attention among the gathered cells of one window.
    fn window(&self, gathered: &[f32], mask: Option<&[f32]>, out: &mut [f32], scratch: &mut Scratch) {
        let (tokens, width) = (self.side * self.side, self.width());
        let bias = self.bias.map(|values| Terms { values, steps: [0, tokens * tokens] });
        let mask = mask.map(|values| Terms { values, steps: [0, 0] });
        let terms: Vec<Terms<'_>> = bias.into_iter().chain(mask).collect();
        let packed = HostAttention::packed(gathered, [1, tokens, 3 * width], self.heads);
        let attention = HostAttention { terms: &terms, grid: self.grid, ..packed };
        for head in 0..self.heads {
            attention.block(0, head, 0, out, scratch);
        }
    }

    /// Copies the cells of a window.
    fn gather(&self, batch: usize, window: [usize; 2], gathered: &mut [f32]) {
        let ([_, rows, columns], packed, [down, across]) = (self.map, self.padding.len(), self.windows());
        for (at, cell) in gathered.chunks_exact_mut(packed).enumerate() {
            let y = self.place(window[0], at / self.side, down);
            let x = self.place(window[1], at % self.side, across);
            let from =
                if y < rows && x < columns { &self.qkv[((batch * rows + y) * columns + x) * packed..][..packed] } else { self.padding };
            cell.copy_from_slice(from);
        }
    }

    /// Brings the cells of all windows back into the order of the map.
    fn scatter(&self, seen: &[f32]) -> Vec<f32> {
        let ([batches, rows, columns], width, [down, across]) = (self.map, self.width(), self.windows());
        // The window and the place within it of a cell along one direction: the inverse of `place`.
        let find = |cell: usize, windows: usize| {
            let moved = (cell + windows * self.side - self.shift) % (windows * self.side);
            (moved / self.side, moved % self.side)
        };
        let mut out = vec![0.0; batches * rows * columns * width];
        out.par_chunks_mut((columns * width).max(1)).enumerate().for_each(|(line, out)| {
            let (batch, (wy, y)) = (line / rows, find(line % rows, down));
            for (column, cell) in out.chunks_exact_mut(width).enumerate() {
                let (wx, x) = find(column, across);
                let window = (batch * down + wy) * across + wx;
                cell.copy_from_slice(&seen[((window * self.side + y) * self.side + x) * width..][..width]);
            }
        });
        out
    }

    /// What is added in the last windows below, right and in the corner, where the shift has joined cells from both ends of the map.
    fn masks(&self) -> Vec<([bool; 2], Vec<f32>)> {
        let cells = self.side * self.side;
        let wrapped = |at: usize| at >= self.side - self.shift;
        [[true, false], [false, true], [true, true]]
            .into_iter()
            .map(|last| {
                let region = |cell: usize| [last[0] && wrapped(cell / self.side), last[1] && wrapped(cell % self.side)];
                let mask = (0..cells * cells).map(|i| if region(i / cells) == region(i % cells) { 0.0 } else { APART }).collect();
                (last, mask)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map of one head of width 1 whose cells see every cell of their window alike, so that the result is the mean of their values.
    fn means(map: [usize; 3], side: usize, shift: usize, values: &[f32]) -> Vec<f32> {
        let qkv: Vec<f32> = values.iter().flat_map(|&value| [0.0, 0.0, value]).collect();
        Windowed { qkv: &qkv, map, padding: &[0.0, 0.0, 100.0], side, shift, heads: 1, bias: None, grid: None }.run()
    }

    #[test]
    fn windows_pad_right_and_below() {
        // 2×3 in windows of 2: the second window holds one column and a column of padding.
        let found = means([1, 2, 3], 2, 0, &[1.0, 2.0, 10.0, 3.0, 6.0, 20.0]);
        assert_eq!(found, [3.0, 3.0, 57.5, 3.0, 3.0, 57.5]);
    }

    #[test]
    fn shifted_windows_keep_both_ends_apart() {
        // 4×4 in windows of 2, shifted by 1: the middle 2×2 is one window; each corner is alone (its window's other cells came from the
        // other corners, and e^(−100) is nothing); edges stay in pairs.
        let values: Vec<f32> = (0..16).map(|v| v as f32).collect();
        let found = means([1, 4, 4], 2, 1, &values);
        let expected = [0.0, 1.5, 1.5, 3.0, 6.0, 7.5, 7.5, 9.0, 6.0, 7.5, 7.5, 9.0, 12.0, 13.5, 13.5, 15.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }

    #[test]
    fn batches_stay_apart() {
        assert_eq!(means([2, 1, 1], 1, 0, &[4.0, 5.0]), [4.0, 5.0]);
    }
}
