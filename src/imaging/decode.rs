//! Picture files to upright 8-bit RGB, with everything that had to be done on the way told.
//!
//! Both pictures of a pair must go through the same door, or the metric would compare a rotated picture with an upright one, or count
//! the colour under a transparent pixel as a change.

use std::fs;
use std::io::{self, Cursor};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits, RgbImage};

use crate::domain::Size;

use super::{color, frames, jpeg};

/// How files are decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// More pixels than this are refused before memory is taken for them.
    pub max_pixels: u64,
    /// Larger files are refused before they are read.
    pub max_bytes: u64,
    /// What shows through transparent pixels (sRGB).
    pub background: [u8; 3],
}

impl Default for DecodeOptions {
    /// 200 megapixels (one picture then takes at most 600 MB as RGB) from at most 1 GiB, on white.
    fn default() -> Self {
        Self { max_pixels: 200_000_000, max_bytes: 1 << 30, background: [255; 3] }
    }
}

/// A decoded picture.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// Upright pixels, sRGB, opaque.
    pub rgb: RgbImage,
    /// Size as stored in the file, before its orientation was applied.
    pub stored: Size,
    /// EXIF orientation that was applied, `1..=8`; 1 is upright.
    pub orientation: u8,
    /// Some pixel was not opaque.
    pub alpha: bool,
    /// What was done besides decoding, in words for the person.
    pub notes: Vec<String>,
}

/// Why a file is not a picture that this program can use.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("{path}: cannot be read ({source})")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path}: is not a file; name a picture")]
    NotAFile { path: PathBuf },
    #[error("{path}: is empty (0 bytes); copy or export the picture again")]
    Empty { path: PathBuf },
    #[error(
        "{path}: is not a picture of a kind this program reads (BMP, DDS, EXR, farbfeld, GIF, HDR, ICO, JPEG, PNG, PNM, QOI, TGA, TIFF, WebP)"
    )]
    UnknownFormat { path: PathBuf },
    #[error("{path}: has {size} pixels, more than the limit of {limit} pixels; make it smaller")]
    TooLarge { path: PathBuf, size: Size, limit: u64 },
    #[error("{path}: has {bytes} bytes, more than the limit of {limit} bytes; make it smaller")]
    FileTooLarge { path: PathBuf, bytes: u64, limit: u64 },
    #[error("{path}: asks for more memory or pixels than its limit allows ({reason}); it is damaged or has to be made smaller")]
    TooMuchMemory { path: PathBuf, reason: String },
    #[error("{path}: has no pixels ({size}); export the picture again")]
    NoPixels { path: PathBuf, size: Size },
    #[error("{path}: is a variant of its kind that this program does not read ({reason}); export it as PNG or JPEG")]
    Unsupported { path: PathBuf, reason: String },
    #[error("{path}: is damaged or cut short ({reason}); copy or export the picture again")]
    Damaged { path: PathBuf, reason: String },
}

/// Hash of a file's bytes (BLAKE3, hex), read in pieces.
///
/// # Errors
/// When the file cannot be read.
pub fn file_hash(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut fs::File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Decodes the file at `path` to upright, opaque, 8-bit sRGB. The kind of file is told by its content, never by its name (but TGA, which
/// has no signature). Of an animation the first picture is taken. A file that ends early is an error, never half a picture.
///
/// # Errors
/// When the file is not there, not a picture, damaged, or larger than a limit; the error names the file and says what to do.
pub fn decode(path: &Path, options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let read_error = |source| DecodeError::Read { path: path.to_owned(), source };
    let facts = fs::metadata(path).map_err(read_error)?;
    if !facts.is_file() {
        return Err(DecodeError::NotAFile { path: path.to_owned() });
    }
    if facts.len() > options.max_bytes {
        return Err(DecodeError::FileTooLarge { path: path.to_owned(), bytes: facts.len(), limit: options.max_bytes });
    }
    let bytes = fs::read(path).map_err(read_error)?;
    if bytes.is_empty() {
        return Err(DecodeError::Empty { path: path.to_owned() });
    }
    // The decoders are other people's code fed with hostile input: should one panic, that file is damaged and the program goes on.
    catch_unwind(|| decode_bytes(path, &bytes, options))
        .unwrap_or_else(|_| Err(DecodeError::Damaged { path: path.to_owned(), reason: "its decoder gave up".to_owned() }))
}

fn decode_bytes(path: &Path, bytes: &[u8], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|source| DecodeError::Read { path: path.to_owned(), source })?;
    let format = match reader.format() {
        Some(format) => format,
        None if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tga")) => {
            reader.set_format(ImageFormat::Tga);
            ImageFormat::Tga
        }
        None => return Err(DecodeError::UnknownFormat { path: path.to_owned() }),
    };
    if format == ImageFormat::Jpeg {
        jpeg::check_complete(bytes).map_err(|reason| DecodeError::Damaged { path: path.to_owned(), reason })?;
    }
    let mut limits = Limits::default();
    // The widest sample type, RGBA of 32-bit floats, takes 16 bytes a pixel.
    limits.max_alloc = Some(options.max_pixels.saturating_mul(16));
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|e| describe(path, &e))?;
    let (width, height) = decoder.dimensions();
    let stored = Size::new(width, height);
    if stored.pixels() == 0 {
        return Err(DecodeError::NoPixels { path: path.to_owned(), size: stored });
    }
    if stored.pixels() > options.max_pixels {
        return Err(DecodeError::TooLarge { path: path.to_owned(), size: stored, limit: options.max_pixels });
    }
    let mut notes = Vec::new();
    notes.extend(frames::note(format, bytes));
    if format == ImageFormat::Jpeg {
        notes.extend(jpeg::ink_note(bytes));
    }
    let orientation = orientation(&mut decoder);
    let profile = decoder.icc_profile().ok().flatten();
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|e| describe(path, &e))?;
    if orientation != Orientation::NoTransforms {
        picture.apply_orientation(orientation);
        notes.push("turned upright as its EXIF orientation says".to_owned());
    }
    let color::Flat { rgb, alpha } = color::flatten(picture, profile.as_deref(), options.background, &mut notes);
    Ok(Decoded { rgb, stored, orientation: orientation.to_exif(), alpha, notes })
}

/// The EXIF orientation; upright when there is none, or none that makes sense.
pub(super) fn orientation(decoder: &mut impl image::ImageDecoder) -> Orientation {
    decoder
        .exif_metadata()
        .ok()
        .flatten()
        // Some WebP writers keep the header of JPEG's APP1 segment, which the decoder does not expect.
        .and_then(|exif| Orientation::from_exif_chunk(exif.strip_prefix(b"Exif\0\0").unwrap_or(&exif)))
        .or_else(|| decoder.orientation().ok())
        .unwrap_or(Orientation::NoTransforms)
}

pub(super) fn describe(path: &Path, error: &ImageError) -> DecodeError {
    let (path, reason) = (path.to_owned(), error.to_string());
    match error {
        ImageError::Limits(_) => DecodeError::TooMuchMemory { path, reason },
        ImageError::Unsupported(_) => DecodeError::Unsupported { path, reason },
        _ => DecodeError::Damaged { path, reason },
    }
}
