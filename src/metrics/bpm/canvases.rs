//! What follows from the two pictures of a pair alone, made once: a correction of regions or parse changes none of it.

use std::sync::OnceLock;

use image::RgbImage;

use crate::domain::{CHANGED_ABOVE, ChangeShares, Mask, Size};
use crate::imaging::resize::cv2_resize_linear;
use crate::metrics::ports::PortError;

use super::semantic_judge::{distances, wrapped_distances};
use super::size_of;

/// Both pictures on the metric's 500×500 canvas (OpenCV bilinear), and how far apart they are, pixel by pixel.
///
/// The distances are computed when first needed: 250,000 numbers, of which a mask only chooses some.
#[derive(Debug)]
pub struct Canvases {
    /// Of the source as it is.
    source_size: Size,
    source_bpm500: RgbImage,
    edit_bpm500: RgbImage,
    distances: OnceLock<Vec<f64>>,
    wrapped_distances: OnceLock<Vec<f64>>,
}

impl Canvases {
    /// Stretches both pictures, upright and of any size, to the canvas.
    ///
    /// # Errors
    /// When a picture has no pixels; the error names its side.
    pub fn new(source: &RgbImage, edit: &RgbImage) -> Result<Self, PortError> {
        for (side, picture) in [("source", source), ("edit", edit)] {
            if size_of(picture).pixels() == 0 {
                return Err(PortError::Failed { network: "metric", reason: format!("the {side} has no pixels") });
            }
        }
        Ok(Self {
            source_size: size_of(source),
            source_bpm500: cv2_resize_linear(source, Size::BPM500),
            edit_bpm500: cv2_resize_linear(edit, Size::BPM500),
            distances: OnceLock::new(),
            wrapped_distances: OnceLock::new(),
        })
    }

    /// Size of the source as it is.
    pub fn source_size(&self) -> Size {
        self.source_size
    }

    /// The source on the canvas.
    pub fn source(&self) -> &RgbImage {
        &self.source_bpm500
    }

    /// The edit on the canvas.
    pub fn edit(&self) -> &RgbImage {
        &self.edit_bpm500
    }

    /// `sqrt(mean_c((a − b)²)) / 255` of each pixel of the canvas, row-major (`bpm.md` section 4).
    pub fn distances(&self) -> &[f64] {
        self.distances.get_or_init(|| distances(&self.source_bpm500, &self.edit_bpm500))
    }

    /// The same in the wrapping arithmetic of the released scripts (section 6 point 1).
    pub fn wrapped_distances(&self) -> &[f64] {
        self.wrapped_distances.get_or_init(|| wrapped_distances(&self.source_bpm500, &self.edit_bpm500))
    }

    /// Where the pair changed, against an edit region on the canvas.
    pub fn change_shares(&self, mask_in_bpm500: &Mask) -> ChangeShares {
        let (mut inside, mut outside) = (0.0, 0.0);
        let (mut region, mut still, mut changed) = (0u64, 0u64, 0u64);
        let width = Size::BPM500.width as usize;
        for (y, row) in (0..).zip(self.distances().chunks(width)) {
            for (x, &distance) in (0..).zip(row) {
                let is_inside = mask_in_bpm500.get(x, y);
                let is_changed = distance > CHANGED_ABOVE;
                region += u64::from(is_inside);
                still += u64::from(is_inside && !is_changed);
                changed += u64::from(is_changed);
                match (is_changed, is_inside) {
                    (true, true) => inside += distance,
                    (true, false) => outside += distance,
                    (false, _) => {}
                }
            }
        }
        ChangeShares {
            leak: (changed > 0).then(|| outside / (inside + outside)),
            unchanged: (region > 0).then(|| still as f64 / region as f64),
            changed: changed as f64 / Size::BPM500.pixels() as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    #[test]
    fn shares_of_change_by_hand() {
        // Left 100 columns differ by 51 levels (0.2), the next 100 by 102 (0.4), the rest by 5 (below 8: not changed).
        let source = RgbImage::from_pixel(500, 500, Rgb([100; 3]));
        let edit = RgbImage::from_fn(500, 500, |x, _| {
            Rgb([match x {
                0..100 => 151,
                100..200 => 202,
                _ => 105,
            }; 3])
        });
        let canvases = Canvases::new(&source, &edit).expect("pictures with pixels");
        // The region is columns 100..300: half of it changed; outside of it 0.2 a column of 0.6 in all.
        let shares = canvases.change_shares(&Mask::from_fn(Size::BPM500, |x, _| (100..300).contains(&x)));
        assert!((shares.leak.expect("something changed") - 0.2 / 0.6).abs() < 1e-9, "{shares:?}");
        assert_eq!((shares.unchanged, shares.changed), (Some(0.5), 0.4));
        let nowhere = canvases.change_shares(&Mask::empty(Size::BPM500));
        assert_eq!((nowhere.leak, nowhere.unchanged), (Some(1.0), None));
        let same = Canvases::new(&source, &source).expect("pictures with pixels").change_shares(&Mask::full(Size::BPM500));
        assert_eq!((same.leak, same.unchanged, same.changed), (None, Some(1.0), 0.0));
    }

    #[test]
    fn a_picture_without_pixels_is_named() {
        let error = Canvases::new(&RgbImage::new(3, 3), &RgbImage::new(0, 3)).expect_err("the edit is empty");
        assert!(error.to_string().contains("the edit has no pixels"), "{error}");
    }
}
