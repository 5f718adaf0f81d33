//! The region of an edit pasted back on its source, as a picture to keep.

use image::RgbImage;

use crate::domain::Mask;
use crate::imaging::paste;

use super::evaluate::picture;

/// Pixels of the source over which the edge of a pasted region is soft, unless asked otherwise.
pub const FEATHER: f32 = 4.0;

/// The widest edge that can be asked for, in pixels of the source.
pub const MOST_FEATHER: f32 = 1000.0;

/// Reads both pictures and pastes the region; see [`paste::paste_back`] for what the edge does.
///
/// # Errors
/// When a picture cannot be read; the text names the side.
pub fn paste_back(source: &std::path::Path, edit: &std::path::Path, region: &Mask, feather: f32) -> Result<RgbImage, String> {
    let source = picture(source).map_err(|why| format!("the source image: {why}"))?;
    let edit = picture(edit).map_err(|why| format!("the edited image: {why}"))?;
    Ok(paste::paste_back(&source, &edit, region, feather))
}
