//! A picture as the network wants it: shorter side to a size, longer side limited, PIL bilinear, ImageNet's mean and deviation.
//!
//! Source of the arithmetic: transformers 4.57, `image_processing_grounding_dino.py`, `get_size_with_aspect_ratio`.

use burn::tensor::{Device, Tensor, TensorData};
use image::RgbImage;

use super::config::{Edges, Preprocessor};
use crate::domain::Size;
use crate::imaging::resize::{PilFilter, pil_resize};
use crate::nets::NetError;

/// The size that a picture of `size` is brought to; `None` when a side would vanish.
pub fn net_size(size: Size, edges: Edges) -> Option<Size> {
    let (short, long) = (f64::from(size.width.min(size.height)), f64::from(size.width.max(size.height)));
    let (target, limit) = (f64::from(edges.shortest_edge), f64::from(edges.longest_edge));
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
pub fn pixels(picture: &RgbImage, preprocessor: &Preprocessor, device: &Device) -> Result<Tensor<4>, NetError> {
    let (width, height) = picture.dimensions();
    if width == 0 || height == 0 {
        return Err(NetError::EmptyPicture { width, height });
    }
    let size = net_size(Size::new(width, height), preprocessor.size).ok_or(NetError::TooThin { width, height })?;
    let resized = pil_resize(picture, size, PilFilter::Bilinear);
    let plane = size.pixels() as usize;
    let mut values = vec![0f32; 3 * plane];
    for (i, pixel) in resized.pixels().enumerate() {
        for c in 0..3 {
            // As NumPy does it: rescaled in double precision, stored in single, then normalised.
            let rescaled = (f64::from(pixel.0[c]) / 255.0) as f32;
            values[c * plane + i] = (rescaled - preprocessor.image_mean[c]) / preprocessor.image_std[c];
        }
    }
    Ok(Tensor::from_data(TensorData::new(values, [1, 3, size.height as usize, size.width as usize]), device))
}
