//! What a picture's header tells, without its pixels.

use std::fs::File;
use std::io::BufReader;
use std::panic::catch_unwind;
use std::path::Path;

use image::metadata::Orientation;
use image::{ImageDecoder as _, ImageFormat, ImageReader};

use crate::domain::Size;

use super::decode::{DecodeError, describe, orientation};

/// Size of the picture in a file once it is upright, from its header (and EXIF): no pixel is decoded.
///
/// # Errors
/// When the file is not there, empty, not a picture, or its header is damaged; the error names the file.
pub fn upright_size(path: &Path) -> Result<Size, DecodeError> {
    let read_error = |source| DecodeError::Read { path: path.to_owned(), source };
    let facts = std::fs::metadata(path).map_err(read_error)?;
    if !facts.is_file() {
        return Err(DecodeError::NotAFile { path: path.to_owned() });
    }
    if facts.len() == 0 {
        return Err(DecodeError::Empty { path: path.to_owned() });
    }
    // As when decoding: a decoder that panics has met a damaged file.
    catch_unwind(|| size_in(path))
        .unwrap_or_else(|_| Err(DecodeError::Damaged { path: path.to_owned(), reason: "its decoder gave up".to_owned() }))
}

fn size_in(path: &Path) -> Result<Size, DecodeError> {
    let read_error = |source| DecodeError::Read { path: path.to_owned(), source };
    let file = BufReader::new(File::open(path).map_err(read_error)?);
    let mut reader = ImageReader::new(file).with_guessed_format().map_err(read_error)?;
    if reader.format().is_none() {
        if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tga")) {
            return Err(DecodeError::UnknownFormat { path: path.to_owned() });
        }
        reader.set_format(ImageFormat::Tga);
    }
    let mut decoder = reader.into_decoder().map_err(|error| describe(path, &error))?;
    let (width, height) = decoder.dimensions();
    Ok(match orientation(&mut decoder) {
        Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH => {
            Size::new(height, width)
        }
        Orientation::NoTransforms | Orientation::Rotate180 | Orientation::FlipHorizontal | Orientation::FlipVertical => {
            Size::new(width, height)
        }
    })
}
