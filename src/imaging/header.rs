//! What a picture's header tells, without its pixels.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::panic::catch_unwind;
use std::path::Path;

use image::metadata::Orientation;
use image::{ImageDecoder as _, ImageFormat, ImageReader};

use crate::domain::Size;

use super::decode::{DecodeError, DecodeOptions, decode, describe, orientation};

/// What the header of a picture tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Pixels once the picture is upright.
    pub size: Size,
    /// EXIF orientation of the stored pixels, `1..=8`; 1 is upright.
    pub orientation: u8,
}

/// Size of the picture in a file once it is upright, from its header (and EXIF): no pixel is decoded.
///
/// # Errors
/// When the file is not there, empty, not a picture, or its header is damaged; the error names the file.
pub fn upright_size(path: &Path) -> Result<Size, DecodeError> {
    header(path).map(|header| header.size)
}

/// Size and orientation of the picture in a file, without decoding a pixel.
///
/// # Errors
/// As [`upright_size`].
pub fn header(path: &Path) -> Result<Header, DecodeError> {
    let read_error = |source| DecodeError::Read { path: path.to_owned(), source };
    let facts = std::fs::metadata(path).map_err(read_error)?;
    if !facts.is_file() {
        return Err(DecodeError::NotAFile { path: path.to_owned() });
    }
    if facts.len() == 0 {
        return Err(DecodeError::Empty { path: path.to_owned() });
    }
    // As when decoding: a decoder that panics has met a damaged file.
    catch_unwind(|| header_in(path))
        .unwrap_or_else(|_| Err(DecodeError::Damaged { path: path.to_owned(), reason: "its decoder gave up".to_owned() }))
}

/// [`header`], of a picture that is not too large to be decoded.
///
/// # Errors
/// As [`upright_size`], and when the picture has more pixels, or the file more bytes, than [`decode`] takes.
pub fn header_of_decodable(path: &Path) -> Result<Header, DecodeError> {
    let (header, limits) = (header(path)?, DecodeOptions::default());
    let bytes = std::fs::metadata(path).map_err(|source| DecodeError::Read { path: path.to_owned(), source })?.len();
    if bytes > limits.max_bytes {
        return Err(DecodeError::FileTooLarge { path: path.to_owned(), bytes, limit: limits.max_bytes });
    }
    if header.size.pixels() > limits.max_pixels {
        return Err(DecodeError::TooLarge { path: path.to_owned(), size: header.size, limit: limits.max_pixels });
    }
    Ok(header)
}

/// [`header`], and whether the file ends as files of its kind do. Only one that does not is decoded, to see whether it is cut short: data
/// after the end of a picture is harmless. Damage in the middle of a file goes unseen.
///
/// # Errors
/// As [`upright_size`], and when the file is cut short.
pub fn quick_look(path: &Path) -> Result<Header, DecodeError> {
    let header = header_of_decodable(path)?;
    if !ends_as_its_kind(path).map_err(|source| DecodeError::Read { path: path.to_owned(), source })? {
        decode(path, &DecodeOptions::default())?;
    }
    Ok(header)
}

/// The last chunk of every PNG.
const PNG_END: [u8; 12] = *b"\0\0\0\0IEND\xae\x42\x60\x82";

/// Whether the last bytes are those that end a whole file of its kind; `false` also for kinds where that cannot be told.
fn ends_as_its_kind(path: &Path) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut start = [0; 12];
    let read = file.read(&mut start)?;
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(PNG_END.len() as u64)))?;
    file.read_to_end(&mut end)?;
    let number_at = |at: usize| u64::from(u32::from_le_bytes([start[at], start[at + 1], start[at + 2], start[at + 3]]));
    Ok(read == start.len()
        && match start {
            [0x89, b'P', b'N', b'G', ..] => end == PNG_END,
            [0xff, 0xd8, 0xff, ..] => end.ends_with(&[0xff, 0xd9]),
            [b'G', b'I', b'F', ..] => end.ends_with(b";"),
            [b'R', b'I', b'F', b'F', ..] => number_at(4) + 8 <= length,
            [b'B', b'M', ..] => number_at(2) == length,
            _ => false,
        })
}

fn header_in(path: &Path) -> Result<Header, DecodeError> {
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
    let orientation = orientation(&mut decoder);
    let size = match orientation {
        Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH => {
            Size::new(height, width)
        }
        Orientation::NoTransforms | Orientation::Rotate180 | Orientation::FlipHorizontal | Orientation::FlipVertical => {
            Size::new(width, height)
        }
    };
    Ok(Header { size, orientation: orientation.to_exif() })
}
