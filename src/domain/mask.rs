//! A set of pixels of one picture.

use super::geometry::Size;

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

    /// Number of set pixels.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn doubling_a_mask_quadruples_its_pixels() {
        let mask = Mask::from_fn(Size::new(7, 4), |x, y| (x + y) % 3 == 0);
        assert_eq!(mask.resized_nearest(Size::new(14, 8)).count(), 4 * mask.count());
    }
}
