//! A picture as the network wants it: shorter side to a size, longer side limited, PIL bilinear, ImageNet's mean and deviation.
//!
//! Source of the arithmetic: transformers 4.57, `image_processing_grounding_dino.py`, `get_size_with_aspect_ratio`.

use burn::tensor::{Device, Tensor};
use image::RgbImage;

use super::config::Preprocessing;
use crate::domain::Size;
use crate::imaging::resize::{PilFilter, pil_resize};
use crate::nets::NetError;

/// The size that a picture of `size` is brought to; `None` when a side would vanish.
pub fn net_size(size: Size, preprocessing: &Preprocessing) -> Option<Size> {
    let (short, long) = (f64::from(size.width.min(size.height)), f64::from(size.width.max(size.height)));
    let (target, limit) = (f64::from(preprocessing.shortest), f64::from(preprocessing.longest));
    // Where the longer side is capped, it is computed from the unrounded shorter one (transformers; the original rounds first).
    let (short_to, exact) =
        if long / short * target > limit { ((limit * short / long).round_ties_even(), limit * short / long) } else { (target, target) };
    if short_to < 1.0 {
        return None;
    }
    if short == short_to {
        return Some(size);
    }
    let long_to = (exact * long / short) as u32;
    let short_to = short_to as u32;
    Some(if size.width < size.height { Size::new(short_to, long_to) } else { Size::new(long_to, short_to) })
}

/// Normalised pixels.
///
/// # Shapes
/// output: `[1, 3, rows, columns]`
///
/// # Errors
/// For a picture without pixels, or so thin that a side vanishes.
pub fn pixels(picture: &RgbImage, preprocessing: &Preprocessing, device: &Device) -> Result<Tensor<4>, NetError> {
    let (width, height) = picture.dimensions();
    if width == 0 || height == 0 {
        return Err(NetError::EmptyPicture { width, height });
    }
    let size = net_size(Size::new(width, height), preprocessing).ok_or(NetError::TooThin { width, height })?;
    let resized = pil_resize(picture, size, PilFilter::Bilinear);
    Ok(preprocessing.normalisation.tensor(&resized, size.width, size.height, device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::pixels::Normalisation;

    #[test]
    fn sizes_of_the_reference() {
        let published = Preprocessing { shortest: 800, longest: 1333, normalisation: Normalisation::IMAGENET };
        // `get_size_with_aspect_ratio` of transformers 4.57 with 800 and 1333, called for these sizes.
        for (from, to) in REFERENCE {
            assert_eq!(net_size(Size::new(from[0], from[1]), &published), Some(Size::new(to[0], to[1])), "{from:?}");
        }
        assert_eq!(net_size(Size::new(1, 5000), &published), None);
    }

    const REFERENCE: [([u32; 2], [u32; 2]); 13] = [
        ([640, 480], [1066, 800]),
        ([480, 640], [800, 1066]),
        ([800, 800], [800, 800]),
        ([500, 500], [800, 800]),
        ([1333, 800], [1333, 800]),
        ([1301, 700], [1333, 717]),
        ([2000, 333], [1333, 222]),
        ([333, 2001], [222, 1333]),
        ([3001, 17], [1333, 8]),
        ([801, 1337], [799, 1333]),
        ([97, 71], [1092, 800]),
        ([4000, 2401], [1332, 800]),
        ([5000, 9], [1333, 2]),
    ];
}
