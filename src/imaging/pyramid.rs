//! A picture at halved sizes (mip levels), so that a large one is drawn from about as many pixels as the screen has.

use image::RgbImage;
use rayon::prelude::*;

use crate::domain::Size;

/// The coarsest level has at most this many pixels on its longest side: one small texture shows the whole picture.
pub const BASE_SIDE: u32 = 1024;

/// A picture and its mip levels. Pixel `(x, y)` of level `l` is the mean of the pixels `[x·2^l, (x+1)·2^l) × [y·2^l, (y+1)·2^l)`; where
/// those leave the picture, its last row or column is taken again.
///
/// Means are taken of the sRGB values, as viewers do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pyramid {
    /// Finest first; never empty.
    levels: Vec<RgbImage>,
}

impl Pyramid {
    /// Halves `picture` until its longest side is at most [`BASE_SIDE`].
    pub fn new(picture: RgbImage) -> Self {
        let mut levels = vec![picture];
        while let Some(last) = levels.last()
            && last.width().max(last.height()) > BASE_SIDE
        {
            let next = halved(last);
            levels.push(next);
        }
        Self { levels }
    }

    /// Size of the finest level.
    pub fn size(&self) -> Size {
        self.level_size(0)
    }

    /// Number of levels, at least 1.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// A level; beyond the coarsest, the coarsest.
    pub fn level(&self, level: usize) -> &RgbImage {
        &self.levels[level.min(self.levels.len() - 1)]
    }

    /// Its size.
    pub fn level_size(&self, level: usize) -> Size {
        let level = self.level(level);
        Size::new(level.width(), level.height())
    }

    /// The pixel of the finest level; `None` outside the picture.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        self.levels[0].get_pixel_checked(x, y).map(|pixel| pixel.0)
    }

    /// Bytes of memory that the levels take.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.as_raw().len()).sum()
    }
}

/// How many levels a picture of `size` has, and with what the sizes of a level follow: halved, rounded up.
pub fn level_sizes(size: Size) -> Vec<Size> {
    let mut sizes = vec![size];
    while let Some(last) = sizes.last()
        && last.width.max(last.height) > BASE_SIDE
    {
        let next = Size::new(last.width.div_ceil(2), last.height.div_ceil(2));
        sizes.push(next);
    }
    sizes
}

/// Half as wide and high (rounded up); each pixel is the rounded mean of four.
fn halved(picture: &RgbImage) -> RgbImage {
    let (width, height) = picture.dimensions();
    let (half_width, half_height) = (width.div_ceil(2), height.div_ceil(2));
    let mut out = RgbImage::new(half_width, half_height);
    if half_width == 0 || half_height == 0 {
        return out;
    }
    let row = width as usize * 3;
    let last = width as usize - 1;
    out.as_flat_samples_mut().samples.par_chunks_mut(half_width as usize * 3).enumerate().for_each(|(y, target)| {
        let upper = &picture.as_raw()[2 * y * row..][..row];
        let lower = &picture.as_raw()[(2 * y + 1).min(height as usize - 1) * row..][..row];
        for (x, pixel) in target.chunks_exact_mut(3).enumerate() {
            let (left, right) = (6 * x, 3 * (2 * x + 1).min(last));
            for (c, value) in pixel.iter_mut().enumerate() {
                let sum =
                    u16::from(upper[left + c]) + u16::from(upper[right + c]) + u16::from(lower[left + c]) + u16::from(lower[right + c]);
                *value = ((sum + 2) / 4) as u8;
            }
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_is_the_mean_of_four_and_repeats_the_last_column() {
        // By hand: (10 + 20 + 30 + 41) / 4 = 25.25 → 25; the odd column has (50 + 50 + 60 + 60) / 4 = 55.
        let picture = RgbImage::from_fn(3, 2, |x, y| image::Rgb([[[10, 20, 50], [30, 41, 60]][y as usize][x as usize]; 3]));
        let half = halved(&picture);
        assert_eq!(half.dimensions(), (2, 1));
        assert_eq!((half.get_pixel(0, 0).0, half.get_pixel(1, 0).0), ([25; 3], [55; 3]));
    }

    #[test]
    fn long_and_thin_pictures_end_in_one_small_level() {
        for (size, coarsest, levels) in [
            (Size::new(17160, 200), Size::new(537, 7), 6),
            (Size::new(1, 30000), Size::new(1, 938), 6),
            (Size::new(8193, 8193), Size::new(513, 513), 5),
            (Size::new(1024, 1024), Size::new(1024, 1024), 1),
        ] {
            let sizes = level_sizes(size);
            assert_eq!((sizes.len(), sizes.last().copied()), (levels, Some(coarsest)), "{size}");
        }
        let pyramid = Pyramid::new(RgbImage::from_pixel(1, 5000, image::Rgb([7, 8, 9])));
        assert_eq!((pyramid.levels(), pyramid.level_size(9)), (4, Size::new(1, 625)));
        assert!(pyramid.level(3).pixels().all(|pixel| pixel.0 == [7, 8, 9]));
        assert_eq!((pyramid.pixel(0, 4999), pyramid.pixel(1, 0)), (Some([7, 8, 9]), None));
    }
}
