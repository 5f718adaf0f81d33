//! Pictures for display: decoding, thumbnails and change maps, on threads of their own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::Receiver;
use image::RgbImage;

use crate::domain::Size;
use crate::imaging::change;
use crate::imaging::decode::{DecodeOptions, Decoded, decode};
use crate::imaging::resize::{PilFilter, cv2_resize_linear, pil_resize};

use super::handle::Outbox;
use super::messages::{ChangeMap, Event, Pixels, Request};

/// Answers picture requests until the engine is gone; requests older than the current generation are dropped.
pub fn serve(requests: &Receiver<(u64, Request)>, out: &Outbox, generation: &AtomicU64) {
    for (asked_in, request) in requests {
        if asked_in != generation.load(Ordering::Relaxed) {
            continue;
        }
        match request {
            Request::Picture(token, request) => {
                let result = pixels(&request.path, request.max_side).map(Arc::new);
                out.publish(Event::PictureReady { token, result });
            }
            Request::ChangeMap { token, source, edit } => {
                out.publish(Event::ChangeMapReady { token, result: change_map(&source, &edit).map(Arc::new) });
            }
            _ => {}
        }
    }
}

fn decoded(path: &Path) -> Result<Decoded, String> {
    decode(path, &DecodeOptions::default()).map_err(|e| e.to_string())
}

/// Decodes the picture at `path`, shrunk so that its longest side is at most `max_side`.
///
/// # Errors
/// When the file is not a picture that can be shown; the text names it and says why.
pub fn pixels(path: &Path, max_side: Option<u32>) -> Result<Pixels, String> {
    let Decoded { rgb, notes, .. } = decoded(path)?;
    let full_size = Size::new(rgb.width(), rgb.height());
    let rgb = match max_side {
        Some(side) if full_size.width.max(full_size.height) > side => {
            let scale = f64::from(side) / f64::from(full_size.width.max(full_size.height));
            let shrunk = |n: u32| ((f64::from(n) * scale).round() as u32).max(1);
            pil_resize(&rgb, Size::new(shrunk(full_size.width), shrunk(full_size.height)), PilFilter::Bilinear)
        }
        _ => rgb,
    };
    Ok(Pixels { size: Size::new(rgb.width(), rgb.height()), full_size, rgb: rgb.into_raw(), notes })
}

/// The change map of a pair at the size of the source; an edit of another size is stretched to it, as the metric does.
///
/// # Errors
/// When one of the files is not a picture; the text names it and says why.
pub fn change_map(source: &Path, edit: &Path) -> Result<ChangeMap, String> {
    let source = decoded(source)?.rgb;
    let edit = decoded(edit)?.rgb;
    let size = Size::new(source.width(), source.height());
    let edit: RgbImage = if edit.dimensions() == source.dimensions() { edit } else { cv2_resize_linear(&edit, size) };
    Ok(ChangeMap { size, distance: change::distances(&source, &edit) })
}
