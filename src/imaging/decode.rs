//! Picture files to upright 8-bit RGB, with everything that had to be done on the way told.
//!
//! Both pictures of a pair must go through the same door, or the metric would compare a rotated picture with an upright one, or count
//! the colour under a transparent pixel as a change.

use std::fs;
use std::io::{self, Cursor};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use image::metadata::Orientation;
use image::{DynamicImage, ImageBuffer, ImageDecoder as _, ImageReader, Limits, Rgb, RgbImage, Rgba};

use crate::domain::Size;

use super::jpeg;

/// How files are decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// More pixels than this are refused before memory is taken for them.
    pub max_pixels: u64,
    /// What shows through transparent pixels (sRGB).
    pub background: [u8; 3],
}

impl Default for DecodeOptions {
    /// 200 megapixels (one picture then takes at most 600 MB as RGB) on white.
    fn default() -> Self {
        Self { max_pixels: 200_000_000, background: [255; 3] }
    }
}

/// A decoded picture.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// Upright pixels, sRGB, opaque.
    pub rgb: RgbImage,
    /// What was done besides decoding, in words for the person.
    pub notes: Vec<String>,
}

/// Why a file is not a picture that this program can use.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("{path}: cannot be read ({source})")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path}: is empty (0 bytes); copy or export the picture again")]
    Empty { path: PathBuf },
    #[error(
        "{path}: is not a picture of a kind this program reads (BMP, DDS, EXR, farbfeld, GIF, HDR, ICO, JPEG, PNG, PNM, QOI, TGA, TIFF, WebP)"
    )]
    UnknownFormat { path: PathBuf },
    #[error("{path}: is {size}, more than the limit of {limit} megapixels; make it smaller")]
    TooLarge { path: PathBuf, size: Size, limit: u64 },
    #[error("{path}: has no pixels ({size})")]
    NoPixels { path: PathBuf, size: Size },
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

/// Decodes the file at `path` to upright, opaque, 8-bit sRGB. The kind of file is told by its content, never by its name. Of an animation
/// the first frame is taken.
///
/// # Errors
/// When the file is not there, not a picture, damaged, or larger than the limit; the error names the file and says what to do.
pub fn decode(path: &Path, options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let bytes = fs::read(path).map_err(|source| DecodeError::Read { path: path.to_owned(), source })?;
    if bytes.is_empty() {
        return Err(DecodeError::Empty { path: path.to_owned() });
    }
    // The decoders are other people's code fed with hostile input: should one panic, that file is damaged and the program goes on.
    catch_unwind(|| decode_bytes(path, &bytes, options))
        .unwrap_or_else(|_| Err(DecodeError::Damaged { path: path.to_owned(), reason: "its decoder gave up".to_owned() }))
}

fn decode_bytes(path: &Path, bytes: &[u8], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let damaged = |reason: String| DecodeError::Damaged { path: path.to_owned(), reason };
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|source| DecodeError::Read { path: path.to_owned(), source })?;
    let format = match reader.format() {
        Some(format) => format,
        // TGA has no signature: its name has to do.
        None if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tga")) => {
            reader.set_format(image::ImageFormat::Tga);
            image::ImageFormat::Tga
        }
        None => return Err(DecodeError::UnknownFormat { path: path.to_owned() }),
    };
    let mut limits = Limits::default();
    limits.max_alloc = Some(options.max_pixels.saturating_mul(16));
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|e| describe(path, &e))?;
    let (width, height) = decoder.dimensions();
    let size = Size::new(width, height);
    if size.pixels() == 0 {
        return Err(DecodeError::NoPixels { path: path.to_owned(), size });
    }
    if size.pixels() > options.max_pixels {
        return Err(DecodeError::TooLarge { path: path.to_owned(), size, limit: options.max_pixels / 1_000_000 });
    }
    let mut notes = Vec::new();
    let orientation = decoder
        .exif_metadata()
        .ok()
        .flatten()
        // Some WebP writers keep the header of JPEG's APP1 segment, which the decoder does not expect.
        .and_then(|exif| Orientation::from_exif_chunk(exif.strip_prefix(b"Exif\0\0").unwrap_or(&exif)))
        .or_else(|| decoder.orientation().ok())
        .unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().ok().flatten();
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|e| describe(path, &e))?;
    if format == image::ImageFormat::Jpeg {
        jpeg::check_complete(bytes).map_err(damaged)?;
        if let Some(note) = jpeg::mend_cmyk(bytes, &mut picture) {
            notes.push(note);
        }
    }
    if orientation != Orientation::NoTransforms {
        picture.apply_orientation(orientation);
        notes.push("turned upright as its EXIF orientation says".to_owned());
    }
    let rgba = to_rgba8(picture, profile.as_deref(), &mut notes);
    Ok(Decoded { rgb: composite(&rgba, options.background, &mut notes), notes })
}

fn describe(path: &Path, error: &image::ImageError) -> DecodeError {
    let path = path.to_owned();
    match error {
        image::ImageError::Limits(_) => {
            DecodeError::Damaged { path, reason: format!("it asks for more memory than its limit allows: {error}") }
        }
        image::ImageError::Unsupported(_) => DecodeError::Damaged { path, reason: format!("a variant that is not supported: {error}") },
        _ => DecodeError::Damaged { path, reason: error.to_string() },
    }
}

/// Brings any sample type to 8-bit sRGB with alpha, telling what it did.
fn to_rgba8(picture: DynamicImage, profile: Option<&[u8]>, notes: &mut Vec<String>) -> ImageBuffer<Rgba<u8>, Vec<u8>> {
    let color = picture.color();
    if matches!(picture, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_)) {
        notes.push("high dynamic range: linear light above 1 clipped, then sRGB".to_owned());
        return linear_to_srgb(&picture.to_rgba32f());
    }
    if color.bits_per_pixel() / u16::from(color.channel_count()) > 8 {
        notes.push("16 bits a channel reduced to 8 over the full range".to_owned());
    }
    let is_gray = !color.has_color();
    let mut rgba = picture.into_rgba8();
    if let Some(profile) = profile {
        match to_srgb(&mut rgba, profile, is_gray) {
            Ok(true) => notes.push("colours converted from its ICC profile to sRGB".to_owned()),
            Ok(false) => {}
            Err(reason) => notes.push(format!("its ICC profile was left out ({reason})")),
        }
    }
    rgba
}

/// Values of linear light to 8-bit sRGB (IEC 61966-2-1), clipped to 0..=1; not-a-number counts as 0.
fn linear_to_srgb(linear: &image::Rgba32FImage) -> ImageBuffer<Rgba<u8>, Vec<u8>> {
    let encode = |v: f32| {
        let v = if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) };
        let encoded = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        (encoded * 255.0).round() as u8
    };
    ImageBuffer::from_fn(linear.width(), linear.height(), |x, y| {
        let Rgba([r, g, b, a]) = *linear.get_pixel(x, y);
        Rgba([encode(r), encode(g), encode(b), (if a.is_nan() { 1.0 } else { a.clamp(0.0, 1.0) } * 255.0).round() as u8])
    })
}

/// Converts in place from an ICC profile to sRGB; `false` when the profile is sRGB already.
fn to_srgb(rgba: &mut ImageBuffer<Rgba<u8>, Vec<u8>>, profile: &[u8], is_gray: bool) -> Result<bool, String> {
    use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};
    let source = ColorProfile::new_from_slice(profile).map_err(|e| format!("{e:?}"))?;
    let srgb = ColorProfile::new_srgb();
    match source.color_space {
        DataColorSpace::Rgb if !is_gray => {}
        other => return Err(format!("it is for {other:?} values, the decoded picture has {}", if is_gray { "grey" } else { "RGB" })),
    }
    let transform =
        source.create_transform_8bit(Layout::Rgba, &srgb, Layout::Rgba, TransformOptions::default()).map_err(|e| format!("{e:?}"))?;
    let row = rgba.width() as usize * 4;
    let mut converted = vec![0; row];
    let mut changed = false;
    for line in rgba.as_flat_samples_mut().samples.chunks_exact_mut(row) {
        transform.transform(line, &mut converted).map_err(|e| format!("{e:?}"))?;
        // One level is rounding inside the transform, not another colour.
        changed |= line.iter().zip(&converted).any(|(a, b)| a.abs_diff(*b) > 1);
        line.copy_from_slice(&converted);
    }
    Ok(changed)
}

/// Puts the picture on an opaque background; colours under alpha 0 disappear, so that pictures that look the same are the same.
fn composite(rgba: &ImageBuffer<Rgba<u8>, Vec<u8>>, background: [u8; 3], notes: &mut Vec<String>) -> RgbImage {
    if rgba.pixels().any(|p| p.0[3] != 255) {
        let [r, g, b] = background;
        notes.push(format!("transparent pixels shown on background #{r:02x}{g:02x}{b:02x}"));
    }
    let mut rgb = RgbImage::new(rgba.width(), rgba.height());
    for (Rgb(to), Rgba([r, g, b, a])) in rgb.pixels_mut().zip(rgba.pixels()) {
        let over = |value: u8, under: u8| {
            let (value, under, alpha) = (u32::from(value), u32::from(under), u32::from(*a));
            ((value * alpha + under * (255 - alpha) + 127) / 255) as u8
        };
        *to = [over(*r, background[0]), over(*g, background[1]), over(*b, background[2])];
    }
    rgb
}
