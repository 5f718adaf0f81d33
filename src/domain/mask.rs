//! A set of pixels of one picture.

use super::geometry::{Rect, Size};

/// Pixels of a `width × height` picture, one bit each, rows padded to whole words.
///
/// The space (image, bpm500) is that of the picture it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    size: Size,
    words_per_row: usize,
    /// Bits beyond `width` in a row's last word are always 0, so that counting and comparing need no masking.
    words: Vec<u64>,
}

impl Mask {
    /// No pixel set.
    pub fn empty(size: Size) -> Self {
        let words_per_row = (size.width as usize).div_ceil(64);
        Self { size, words_per_row, words: vec![0; words_per_row * size.height as usize] }
    }

    /// Every pixel set.
    pub fn full(size: Size) -> Self {
        let mut mask = Self::empty(size);
        for y in 0..size.height {
            mask.set_span(y, 0, size.width, true);
        }
        mask
    }

    /// The pixels for which `inside(x, y)` holds.
    pub fn from_fn(size: Size, mut inside: impl FnMut(u32, u32) -> bool) -> Self {
        let mut mask = Self::empty(size);
        for y in 0..size.height {
            for x in 0..size.width {
                if inside(x, y) {
                    mask.set(x, y, true);
                }
            }
        }
        mask
    }

    /// Width and height in pixels.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Whether pixel (x, y) is set; `false` outside the picture.
    pub fn get(&self, x: u32, y: u32) -> bool {
        if x >= self.size.width || y >= self.size.height {
            return false;
        }
        self.words[y as usize * self.words_per_row + x as usize / 64] >> (x % 64) & 1 == 1
    }

    /// Sets or clears pixel (x, y); ignored outside the picture.
    pub fn set(&mut self, x: u32, y: u32, value: bool) {
        if x >= self.size.width || y >= self.size.height {
            return;
        }
        let word = &mut self.words[y as usize * self.words_per_row + x as usize / 64];
        if value {
            *word |= 1 << (x % 64);
        } else {
            *word &= !(1 << (x % 64));
        }
    }

    /// Sets or clears the pixels `x0..x1` of row `y`; the part outside the picture is ignored.
    pub fn set_span(&mut self, y: u32, x0: u32, x1: u32, value: bool) {
        let x1 = x1.min(self.size.width);
        if y >= self.size.height || x0 >= x1 {
            return;
        }
        let row = y as usize * self.words_per_row;
        let (first, last) = (x0 as usize / 64, (x1 as usize - 1) / 64);
        for word in first..=last {
            let low = if word == first { u64::MAX << (x0 % 64) } else { u64::MAX };
            let high = if word == last { u64::MAX >> (63 - (x1 - 1) % 64) } else { u64::MAX };
            if value {
                self.words[row + word] |= low & high;
            } else {
                self.words[row + word] &= !(low & high);
            }
        }
    }

    /// Flips the pixels `x0..x1` of row `y`; the part outside the picture is ignored.
    pub fn flip_span(&mut self, y: u32, x0: u32, x1: u32) {
        let x1 = x1.min(self.size.width);
        if y >= self.size.height || x0 >= x1 {
            return;
        }
        let (first, last) = (x0 as usize / 64, (x1 as usize - 1) / 64);
        let row = self.row_mut(y);
        for (word, bits) in row.iter_mut().enumerate().take(last + 1).skip(first) {
            let low = if word == first { u64::MAX << (x0 % 64) } else { u64::MAX };
            let high = if word == last { u64::MAX >> (63 - (x1 - 1) % 64) } else { u64::MAX };
            *bits ^= low & high;
        }
    }

    /// Sets exactly the pixels that were not set.
    pub fn invert(&mut self) {
        for y in 0..self.size.height {
            self.flip_span(y, 0, self.size.width);
        }
    }

    /// The words of row `y`: pixel x is bit `x % 64` of word `x / 64`; bits beyond the width are 0.
    ///
    /// `y` must be below the height.
    pub(super) fn row(&self, y: u32) -> &[u64] {
        let start = y as usize * self.words_per_row;
        &self.words[start..start + self.words_per_row]
    }

    /// As [`Self::row`], to write; bits beyond the width must stay 0.
    pub(super) fn row_mut(&mut self, y: u32) -> &mut [u64] {
        let start = y as usize * self.words_per_row;
        &mut self.words[start..start + self.words_per_row]
    }

    /// The runs of set pixels of row `y`, as `start..end` from left to right; none outside the picture.
    pub fn runs(&self, y: u32) -> Runs<'_> {
        let row = if y < self.size.height { self.row(y) } else { &[] };
        Runs { row, at: 0 }
    }

    /// The smallest box around the set pixels, in the space of the mask's picture; `None` when there are none.
    pub fn bounds<S>(&self) -> Option<Rect<S>> {
        let mut bounds: Option<[u32; 4]> = None;
        for y in 0..self.size.height {
            let mut runs = self.runs(y);
            let Some(first) = runs.next() else { continue };
            let end = runs.last().map_or(first.end, |last| last.end);
            bounds = Some(match bounds {
                None => [first.start, y, end, y + 1],
                Some([x0, y0, x1, _]) => [x0.min(first.start), y0, x1.max(end), y + 1],
            });
        }
        bounds.map(|[x0, y0, x1, y1]| Rect::new(x0 as f32, y0 as f32, x1 as f32, y1 as f32))
    }

    /// Number of set pixels.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// How many pixels more it has than `before`; `None` when they are the same mask.
    pub fn growth_since(&self, before: &Self) -> Option<i64> {
        if self.size != before.size {
            return Some(self.count() as i64 - before.count() as i64);
        }
        let mut growth = None;
        // Large masks differ in few of their words.
        for (now, then) in self.words.iter().zip(&before.words).filter(|(now, then)| now != then) {
            *growth.get_or_insert(0) += i64::from(now.count_ones()) - i64::from(then.count_ones());
        }
        growth
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    /// Whether no pixel is set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether every pixel is set.
    pub fn is_full(&self) -> bool {
        self.count() == self.size.pixels()
    }

    /// Adds the pixels of `other`; `false` (and nothing done) when the sizes differ.
    #[must_use]
    pub fn union_with(&mut self, other: &Self) -> bool {
        self.combine(other, |a, b| a | b)
    }

    /// Removes the pixels of `other`; `false` (and nothing done) when the sizes differ.
    #[must_use]
    pub fn subtract(&mut self, other: &Self) -> bool {
        self.combine(other, |a, b| a & !b)
    }

    fn combine(&mut self, other: &Self, op: impl Fn(u64, u64) -> u64) -> bool {
        if self.size != other.size {
            return false;
        }
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine = op(*mine, *theirs);
        }
        true
    }

    /// Intersection over union in `0..=1`; `None` when the sizes differ or both are empty.
    pub fn iou(&self, other: &Self) -> Option<f64> {
        if self.size != other.size {
            return None;
        }
        let (mut common, mut union) = (0u64, 0u64);
        for (a, b) in self.words.iter().zip(&other.words) {
            common += u64::from((a & b).count_ones());
            union += u64::from((a | b).count_ones());
        }
        (union > 0).then(|| common as f64 / union as f64)
    }

    /// The mask with x and y exchanged, 64×64 pixels at a time.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut turned = Self::empty(Size::new(self.size.height, self.size.width));
        for top in (0..self.size.height).step_by(64) {
            for word in 0..self.words_per_row {
                let mut block = [0; 64];
                for (y, bits) in (top..self.size.height).zip(&mut block) {
                    *bits = self.row(y)[word];
                }
                transpose(&mut block);
                let left = word as u32 * 64;
                for (x, bits) in (left..self.size.width).zip(block) {
                    turned.row_mut(x)[top as usize / 64] = bits;
                }
            }
        }
        turned
    }

    /// The mask at another size, each new pixel taken from the old one under its centre.
    pub fn resized_nearest(&self, size: Size) -> Self {
        if size == self.size || self.size.pixels() == 0 {
            return if size == self.size { self.clone() } else { Self::empty(size) };
        }
        let source =
            |i: u32, new: u32, old: u32| ((2 * u64::from(i) + 1) * u64::from(old) / (2 * u64::from(new))).min(u64::from(old) - 1) as u32;
        Self::from_fn(size, |x, y| self.get(source(x, size.width, self.size.width), source(y, size.height, self.size.height)))
    }
}

/// Exchanges rows and columns of 64×64 bits, where bit x of word y is the pixel (x, y): quarters are swapped, then the quarters within
/// them, down to single bits (Warren, Hacker's Delight, 7-3).
fn transpose(block: &mut [u64; 64]) {
    let (mut side, mut low) = (32, u64::MAX >> 32);
    while side > 0 {
        for y in (0..64).filter(|y| y & side == 0) {
            let swapped = ((block[y] >> side) ^ block[y + side]) & low;
            block[y] ^= swapped << side;
            block[y + side] ^= swapped;
        }
        side /= 2;
        low ^= low << side;
    }
}

/// The runs of set pixels in a row of words (see [`Mask::runs`]).
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    pub(super) row: &'a [u64],
    /// The next bit to look at.
    pub(super) at: u32,
}

impl Runs<'_> {
    /// The first position from `from` on whose bit is `value`, or the number of bits in the row.
    fn bit_from(&self, from: u32, value: bool) -> u32 {
        let end = self.row.len() as u32 * 64;
        let mut word = from as usize / 64;
        let mut ignore = u64::MAX << (from % 64);
        while let Some(&bits) = self.row.get(word) {
            let wanted = (if value { bits } else { !bits }) & ignore;
            if wanted != 0 {
                return word as u32 * 64 + wanted.trailing_zeros();
            }
            (word, ignore) = (word + 1, u64::MAX);
        }
        end
    }
}

impl Iterator for Runs<'_> {
    type Item = std::ops::Range<u32>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.bit_from(self.at, true);
        if start as usize >= self.row.len() * 64 {
            return None;
        }
        // Bits beyond the width are 0, so a run never ends behind the picture, unless the width fills its last word.
        let end = self.bit_from(start, false);
        self.at = end;
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ImageSpace;

    #[test]
    fn growth_is_the_difference_of_the_counts_and_none_where_nothing_changed() {
        let mask = |from: u32, to: u32| Mask::from_fn(Size::new(200, 3), |x, y| y == 1 && (from..to).contains(&x));
        // 70 pixels, of which 20 stay, and 10 new ones: growth −40.
        assert_eq!(mask(100, 130).growth_since(&mask(50, 120)), Some(-40));
        assert_eq!(mask(60, 70).growth_since(&mask(50, 60)), Some(0), "as many, but others");
        assert_eq!(mask(50, 60).growth_since(&mask(50, 60)), None);
        assert_eq!(mask(50, 60).growth_since(&Mask::full(Size::new(2, 2))), Some(6), "a mask of another size is another mask");
    }

    #[test]
    fn spans_across_word_borders_set_exactly_their_pixels() {
        let mut mask = Mask::empty(Size::new(200, 2));
        mask.set_span(1, 60, 130, true);
        assert_eq!(mask.count(), 70);
        assert!(!mask.get(59, 1) && mask.get(60, 1) && mask.get(129, 1) && !mask.get(130, 1) && !mask.get(60, 0));
        mask.set_span(1, 61, 400, false);
        assert_eq!(mask.count(), 1);
    }

    #[test]
    fn full_and_empty_are_told_apart_at_widths_around_a_word() {
        for width in [1, 63, 64, 65, 128] {
            let full = Mask::full(Size::new(width, 3));
            assert!(full.is_full() && !full.is_empty());
            assert_eq!(full.count(), u64::from(width) * 3);
            assert!(Mask::empty(full.size()).is_empty());
        }
    }

    #[test]
    fn iou_of_two_of_three_columns_is_a_third() {
        let size = Size::new(3, 5);
        let left = Mask::from_fn(size, |x, _| x < 2);
        let right = Mask::from_fn(size, |x, _| x > 0);
        assert_eq!(left.iou(&right), Some(1.0 / 3.0));
        assert_eq!(left.iou(&Mask::empty(Size::new(2, 5))), None);
        assert_eq!(Mask::empty(size).iou(&Mask::empty(size)), None);
    }

    #[test]
    fn runs_and_bounds_of_a_row_are_those_that_were_set() {
        for width in [128, 130, 200] {
            let mut mask = Mask::empty(Size::new(width, 4));
            mask.set_span(2, 0, 3, true);
            mask.set_span(2, 60, 128, true);
            mask.set(70, 1, true);
            assert_eq!(mask.runs(2).collect::<Vec<_>>(), [0..3, 60..128]);
            assert_eq!(mask.runs(9).count(), 0);
            assert_eq!(mask.bounds::<ImageSpace>(), Some(Rect::new(0.0, 1.0, 128.0, 3.0)));
            mask.flip_span(2, 2, 61);
            assert_eq!(mask.runs(2).collect::<Vec<_>>(), [0..2, 3..60, 61..128]);
        }
        assert_eq!(Mask::empty(Size::new(5, 5)).bounds::<ImageSpace>(), None);
    }

    #[test]
    fn transposing_exchanges_x_and_y_at_sizes_around_a_word() {
        for (width, height) in [(1, 1), (63, 65), (64, 64), (65, 3), (130, 200), (0, 5)] {
            let mask = Mask::from_fn(Size::new(width, height), |x, y| (x * 7 + y * 13 + x * y) % 5 < 2);
            let turned = Mask::from_fn(Size::new(height, width), |x, y| mask.get(y, x));
            assert_eq!(mask.transposed(), turned, "{width}×{height}");
        }
    }

    #[test]
    fn inverting_twice_changes_nothing() {
        let mask = Mask::from_fn(Size::new(67, 3), |x, y| (x * 5 + y) % 7 < 3);
        let mut inverted = mask.clone();
        inverted.invert();
        assert_eq!(inverted.count() + mask.count(), 67 * 3);
        inverted.invert();
        assert_eq!(inverted, mask);
    }

    #[test]
    fn doubling_a_mask_quadruples_its_pixels() {
        let mask = Mask::from_fn(Size::new(7, 4), |x, y| (x + y) % 3 == 0);
        assert_eq!(mask.resized_nearest(Size::new(14, 8)).count(), 4 * mask.count());
    }
}
