//! Pictures for display: decoding, mip levels, thumbnails, differences and registration, on threads of their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use image::RgbImage;

use crate::domain::{Mask, Score, Size};
use crate::imaging::decode::{DecodeOptions, Decoded, decode};
use crate::imaging::difference::{DifferenceKind, difference};
use crate::imaging::pyramid::Pyramid;
use crate::imaging::register::{Registration, register};
use crate::imaging::resize::{PilFilter, cv2_resize_linear, pil_resize};

use super::handle::Outbox;
use super::messages::{Event, PictureToken, Pixels, Request};
use super::picture_desk::{Serves, Shelf};

/// An upright picture with its mip levels, ready to be drawn in tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub pyramid: Pyramid,
    /// Size of the upright picture on disk; larger than the pyramid's for a reduced picture.
    pub full_size: Size,
    /// What decoding had to do (alpha composited, 16 bits reduced, …), for the person.
    pub notes: Vec<String>,
}

/// What the canvas asks of the picture threads.
#[derive(Clone, Debug)]
pub enum CanvasRequest {
    /// Decode a picture; `max_side` reduces it. One that is asked for `ahead` is not on the screen yet and lets others go first.
    Picture { token: PictureToken, path: PathBuf, max_side: Option<u32>, ahead: bool },
    /// Tell two pictures apart; the edit is stretched to the size of the source.
    Difference { token: PictureToken, source: Arc<Picture>, edit: Arc<Picture>, kind: DifferenceKind },
    /// Find out whether the edit is the source moved or zoomed, outside the mask of its score.
    Register { token: PictureToken, source: Arc<Picture>, edit: Arc<Picture>, score: Option<Arc<Score>> },
}

impl CanvasRequest {
    /// The token that the answer carries.
    pub const fn token(&self) -> PictureToken {
        match self {
            Self::Picture { token, .. } | Self::Difference { token, .. } | Self::Register { token, .. } => *token,
        }
    }
}

/// What the picture threads answer to the canvas.
#[derive(Clone, Debug)]
pub enum CanvasEvent {
    Picture {
        token: PictureToken,
        result: Result<Arc<Picture>, String>,
    },
    Difference {
        token: PictureToken,
        pyramid: Arc<Pyramid>,
    },
    /// The motion is in pixels of the source.
    Registered {
        token: PictureToken,
        found: Option<Registration>,
    },
    /// The request was forgotten before its turn came; ask again if it is still wanted.
    Dropped {
        token: PictureToken,
    },
}

/// Answers picture requests until the engine is gone.
pub fn serve(shelf: &Shelf, serves: Serves, out: &Outbox) {
    while let Some(request) = shelf.take(serves) {
        match request {
            Request::Picture(token, request) => {
                let result = pixels(&request.path, request.max_side).map(Arc::new);
                out.publish(Event::PictureReady { token, result });
            }
            Request::Canvas(request) => out.publish(Event::Canvas(answer(request))),
            _ => {}
        }
    }
}

/// Does what the canvas asks, on the calling thread.
pub fn answer(request: CanvasRequest) -> CanvasEvent {
    match request {
        CanvasRequest::Picture { token, path, max_side, .. } => {
            CanvasEvent::Picture { token, result: picture(&path, max_side).map(Arc::new) }
        }
        CanvasRequest::Difference { token, source, edit, kind } => {
            let source = source.pyramid.level(0);
            let edit = stretched(edit.pyramid.level(0), Size::new(source.width(), source.height()));
            CanvasEvent::Difference { token, pyramid: Arc::new(Pyramid::new(difference(source, &edit, kind))) }
        }
        CanvasRequest::Register { token, source, edit, score } => {
            CanvasEvent::Registered { token, found: registered(&source, &edit, score.as_deref()) }
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
    let rgb = reduced(rgb, max_side);
    Ok(Pixels { size: Size::new(rgb.width(), rgb.height()), full_size, rgb: rgb.into_raw(), notes })
}

/// Decodes the picture at `path` and makes its mip levels; `max_side` as in [`pixels`].
///
/// # Errors
/// As [`pixels`].
pub fn picture(path: &Path, max_side: Option<u32>) -> Result<Picture, String> {
    let Decoded { rgb, notes, .. } = decoded(path)?;
    let full_size = Size::new(rgb.width(), rgb.height());
    Ok(Picture { pyramid: Pyramid::new(reduced(rgb, max_side)), full_size, notes })
}

fn reduced(rgb: RgbImage, max_side: Option<u32>) -> RgbImage {
    let longest = rgb.width().max(rgb.height());
    match max_side {
        Some(side) if longest > side => {
            let scale = f64::from(side) / f64::from(longest);
            let shrunk = |n: u32| ((f64::from(n) * scale).round() as u32).max(1);
            pil_resize(&rgb, Size::new(shrunk(rgb.width()), shrunk(rgb.height())), PilFilter::Bilinear)
        }
        _ => rgb,
    }
}

/// The picture at another size, stretched as the metric does.
fn stretched(picture: &RgbImage, size: Size) -> std::borrow::Cow<'_, RgbImage> {
    if (picture.width(), picture.height()) == (size.width, size.height) {
        std::borrow::Cow::Borrowed(picture)
    } else {
        std::borrow::Cow::Owned(cv2_resize_linear(picture, size))
    }
}

/// The motion between two pictures in pixels of the source, found on the metric's 500×500 canvas; the mask of the score does not take part.
fn registered(source: &Picture, edit: &Picture, score: Option<&Score>) -> Option<Registration> {
    let mask = score.and_then(|score| score.mask.as_ref()).and_then(|rle| rle.to_mask().ok());
    let mask_bpm500 = mask.map(|mask: Mask| mask.resized_nearest(Size::BPM500));
    let (source_bpm500, edit_bpm500) = (stretched(source.pyramid.level(0), Size::BPM500), stretched(edit.pyramid.level(0), Size::BPM500));
    let found = register(&source_bpm500, &edit_bpm500, mask_bpm500.as_ref())?;
    Some(Registration { motion: found.motion.scaled(Size::BPM500, source.full_size), ..found })
}
