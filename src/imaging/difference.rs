//! What differs between two pictures of one size, as a picture of its own, exact to a level of 255.

use image::RgbImage;
use rayon::prelude::*;

/// Three ways to tell a difference. Each is kept in three bytes a pixel, whose means (mip levels) are still differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DifferenceKind {
    /// `|edit − source|` of each channel.
    Absolute,
    /// Luma of the edit minus luma of the source: the first channel holds what is brighter, the second what is darker.
    Signed,
    /// The metric's distance `sqrt(mean over channels of (edit − source)²)` in levels of 255, in every channel.
    #[default]
    L2,
}

/// The difference of two pictures; what one has beyond the other is left out.
pub fn difference(source: &RgbImage, edit: &RgbImage, kind: DifferenceKind) -> RgbImage {
    let (width, height) = (source.width().min(edit.width()), source.height().min(edit.height()));
    let mut out = RgbImage::new(width, height);
    if width == 0 || height == 0 {
        return out;
    }
    let row = |picture: &RgbImage| picture.width() as usize * 3;
    let rows = source.as_raw().par_chunks_exact(row(source)).zip(edit.as_raw().par_chunks_exact(row(edit)));
    out.as_flat_samples_mut().samples.par_chunks_mut(width as usize * 3).zip(rows).for_each(|(target, (source, edit))| {
        for ((pixel, s), e) in target.chunks_exact_mut(3).zip(source.chunks_exact(3)).zip(edit.chunks_exact(3)) {
            let (s, e) = ([s[0], s[1], s[2]], [e[0], e[1], e[2]]);
            pixel.copy_from_slice(&pixel_difference(s, e, kind));
        }
    });
    out
}

/// The difference of one pixel.
pub fn pixel_difference(source: [u8; 3], edit: [u8; 3], kind: DifferenceKind) -> [u8; 3] {
    let apart: [u8; 3] = std::array::from_fn(|c| edit[c].abs_diff(source[c]));
    match kind {
        DifferenceKind::Absolute => apart,
        DifferenceKind::Signed => {
            let brighter = luma(edit) - luma(source);
            let levels = brighter.abs().round() as u8;
            if brighter > 0.0 { [levels, 0, 0] } else { [0, levels, 0] }
        }
        DifferenceKind::L2 => {
            let squares: u32 = apart.iter().map(|&d| u32::from(d).pow(2)).sum();
            [(f64::from(squares) / 3.0).sqrt().round() as u8; 3]
        }
    }
}

/// ITU-R BT.601, `0.299 R + 0.587 G + 0.114 B`, in levels of 255.
fn luma([r, g, b]: [u8; 3]) -> f64 {
    0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_a_hand_calculation() {
        let (source, edit) = ([10, 20, 30], [13, 16, 42]);
        assert_eq!(pixel_difference(source, edit, DifferenceKind::Absolute), [3, 4, 12]);
        // sqrt((9 + 16 + 144) / 3) = 7.506 → 8.
        assert_eq!(pixel_difference(source, edit, DifferenceKind::L2), [8; 3]);
        // 0.299·3 − 0.587·4 + 0.114·12 = −0.083 → 0; a green of 100 levels more is 58.7 brighter.
        assert_eq!(pixel_difference(source, edit, DifferenceKind::Signed), [0, 0, 0]);
        assert_eq!(pixel_difference([0; 3], [0, 100, 0], DifferenceKind::Signed), [59, 0, 0]);
        assert_eq!(pixel_difference([0, 100, 0], [0; 3], DifferenceKind::Signed), [0, 59, 0]);
        // One level in one channel, sqrt(1/3) = 0.577, is still seen.
        assert_eq!(pixel_difference([0; 3], [1, 0, 0], DifferenceKind::L2), [1; 3]);
    }

    #[test]
    fn a_larger_picture_is_cut_to_the_smaller() {
        let a = RgbImage::from_pixel(3, 2, image::Rgb([9, 9, 9]));
        let b = RgbImage::from_pixel(2, 4, image::Rgb([4, 9, 10]));
        let out = difference(&a, &b, DifferenceKind::Absolute);
        assert_eq!(out.dimensions(), (2, 2));
        assert!(out.pixels().all(|pixel| pixel.0 == [5, 0, 1]));
    }
}
