//! Whether a file holds more pictures than the one that is decoded.

use image::ImageFormat;

/// What to tell of a file with several pictures; `None` when there is one only, or the kind of file cannot hold more.
///
/// The walk stays inside `bytes`; what cannot be read counts as one picture.
pub fn note(format: ImageFormat, bytes: &[u8]) -> Option<String> {
    let several = match format {
        ImageFormat::Png => has_png_chunk(bytes, *b"acTL"),
        ImageFormat::WebP => is_animated_webp(bytes),
        ImageFormat::Gif => gif_frames(bytes) > 1,
        ImageFormat::Tiff => has_second_page(bytes),
        _ => false,
    };
    several.then(|| match format {
        ImageFormat::Tiff => "the first of several pages was taken".to_owned(),
        _ => "the first picture of an animation was taken".to_owned(),
    })
}

/// PNG: chunks of length, name, data and check sum behind an 8-byte signature.
fn has_png_chunk(bytes: &[u8], wanted: [u8; 4]) -> bool {
    let mut at = 8usize;
    while let Some(&[a, b, c, d, ref name @ ..]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        if *name == wanted {
            return true;
        }
        at = at.saturating_add(12).saturating_add(u32::from_be_bytes([a, b, c, d]) as usize);
    }
    false
}

/// WebP: the animation bit of the extended header.
fn is_animated_webp(bytes: &[u8]) -> bool {
    bytes.get(12..16) == Some(b"VP8X") && bytes.get(20).is_some_and(|flags| flags & 0b10 != 0)
}

/// GIF: number of image descriptors, counted up to two.
fn gif_frames(bytes: &[u8]) -> usize {
    let table = |flags: u8| if flags & 0x80 != 0 { 3usize << ((flags & 7) + 1) } else { 0 };
    let skip_blocks = |mut at: usize| loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1 + length;
        if length == 0 {
            return Some(at);
        }
    };
    let mut frames = 0;
    let mut next = bytes.get(10).map(|&flags| 13 + table(flags));
    while let Some(at) = next.filter(|_| frames < 2) {
        next = match bytes.get(at) {
            Some(0x21) => skip_blocks(at + 2),
            Some(0x2c) => {
                frames += 1;
                bytes.get(at + 9).and_then(|&flags| skip_blocks(at + 10 + table(flags) + 1))
            }
            _ => None,
        };
    }
    frames
}

/// TIFF: whether the first directory names a next one.
fn has_second_page(bytes: &[u8]) -> bool {
    let little = bytes.starts_with(b"II*\0");
    if !little && !bytes.starts_with(b"MM\0*") {
        return false;
    }
    let u16_at = |at: usize| {
        let b = bytes.get(at..)?.first_chunk::<2>()?;
        Some(if little { u16::from_le_bytes(*b) } else { u16::from_be_bytes(*b) })
    };
    let u32_at = |at: usize| {
        let b = bytes.get(at..)?.first_chunk::<4>()?;
        Some(if little { u32::from_le_bytes(*b) } else { u32::from_be_bytes(*b) })
    };
    let next = || {
        let directory = u32_at(4)? as usize;
        let entries = usize::from(u16_at(directory)?);
        u32_at(directory + 2 + 12 * entries)
    };
    next().is_some_and(|offset| offset != 0)
}
