//! What the JPEG decoder does not tell: whether the file is complete, and whether its colours were inks.

/// What a walk over a JPEG file's segments found (ITU T.81, annex B).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Walk {
    /// Number of colour channels of the frame; 0 when there is no frame.
    channels: u8,
    /// The colour transform of an Adobe marker, if there is one.
    adobe: Option<u8>,
    /// A scan is followed by the end marker.
    complete: bool,
}

/// Position of the next marker's code at or after `at`: `0xff`, fill bytes, then anything but a stuffed zero.
fn next_marker(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += bytes.get(at..)?.iter().position(|&b| b == 0xff)?;
        at += bytes.get(at..)?.iter().position(|&b| b != 0xff)?;
        if bytes[at] != 0 {
            return Some(at);
        }
    }
}

/// Walks the segments. Segments are skipped by their length, so that the end marker of an embedded preview is not taken for the end of
/// the picture.
fn walk(bytes: &[u8]) -> Walk {
    let mut found = Walk::default();
    let mut in_scan = false;
    let mut at = 2;
    while let Some(code) = next_marker(bytes, at) {
        at = code + 1;
        match bytes[code] {
            0xd9 => {
                found.complete = in_scan;
                break;
            }
            // Start of image, restarts and TEM stand alone.
            0xd0..=0xd8 | 0x01 => continue,
            marker => {
                let Some(length) = bytes.get(at..at + 2).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]]))) else { break };
                let Some(body) = bytes.get(at + 2..at + length) else { break };
                match marker {
                    0xda => in_scan = true,
                    // Start of frame; 0xc4, 0xc8 and 0xcc are tables.
                    0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => found.channels = body.get(5).copied().unwrap_or(0),
                    0xee if body.starts_with(b"Adobe") => found.adobe = body.get(11).copied(),
                    _ => {}
                }
                at += length;
            }
        }
    }
    found
}

/// Whether the file holds a scan that ends as it should, perhaps followed by something else.
///
/// The decoder fills what is missing with grey and says nothing; a score of such a picture would be a silent lie.
///
/// # Errors
/// When no end marker follows the last scan.
pub fn check_complete(bytes: &[u8]) -> Result<(), String> {
    if walk(bytes).complete { Ok(()) } else { Err("the end of its JPEG data is missing".to_owned()) }
}

/// What to tell of a four-channel JPEG; `None` for every other.
///
/// Its inks are stored inverted by every program that writes such files; with or without Adobe's marker they are read so, as Pillow,
/// OpenCV and browsers do.
pub fn ink_note(bytes: &[u8]) -> Option<String> {
    let found = walk(bytes);
    (found.channels == 4).then(|| match found.adobe {
        Some(2) => "YCCK colours converted without a press profile".to_owned(),
        Some(_) => "CMYK colours converted without a press profile".to_owned(),
        None => "CMYK colours without an Adobe marker, read as inverted and converted without a press profile".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Start, a frame of one channel, a comment that holds an end marker, a scan with a stuffed `0xff` and a restart.
    const BODY: &[u8] = &[
        0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0, 0xff, 0xfe, 0, 4, 0xff, 0xd9, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0,
        0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56,
    ];

    #[test]
    fn an_end_marker_inside_a_segment_is_not_the_end() {
        assert!(check_complete(BODY).is_err());
        let whole = [BODY, &[0xff, 0xd9], b"trailing bytes"].concat();
        assert_eq!(check_complete(&whole), Ok(()));
    }

    #[test]
    fn every_shorter_file_is_incomplete_and_none_panics() {
        let whole = [BODY, &[0xff, 0xd9]].concat();
        assert!((0..whole.len()).all(|length| check_complete(&whole[..length]).is_err()));
        assert_eq!(ink_note(&whole), None);
    }
}
