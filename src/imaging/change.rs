//! How far two pictures of one size are apart, pixel by pixel.

use image::RgbImage;
use rayon::prelude::*;

/// `sqrt(mean over channels of (a − b)²) / 255` for each pixel, row-major, in `0..=1` (`bpm.md` section 4, "Preserve").
///
/// Both pictures must have the same size; what one has beyond the other is left out.
pub fn distances(a: &RgbImage, b: &RgbImage) -> Vec<f32> {
    a.as_raw()
        .par_chunks_exact(3)
        .zip(b.as_raw().par_chunks_exact(3))
        .map(|(a, b)| {
            let sum: u32 = a.iter().zip(b).map(|(&a, &b)| u32::from(a.abs_diff(b)).pow(2)).sum();
            (f64::from(sum) / 3.0).sqrt() as f32 / 255.0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_a_hand_calculation() {
        // sqrt((3² + 4² + 12²) / 3) / 255 = sqrt(169 / 3) / 255 = 0.029433…
        let a = RgbImage::from_raw(2, 1, vec![10, 20, 30, 0, 0, 0]).expect("6 bytes are 2 pixels");
        let b = RgbImage::from_raw(2, 1, vec![13, 16, 42, 255, 255, 255]).expect("6 bytes are 2 pixels");
        let found = distances(&a, &b);
        assert!((found[0] - 0.029_433).abs() < 1e-6, "{found:?}");
        assert_eq!(found[1], 1.0);
    }
}
