//! Calls of the ports with their answers checked: as many as asked for, finite, of one length. A network that answers wrongly is a failure
//! with a reason, never a panic or an invented number.

use image::RgbImage;

use crate::domain::{Bpm500, Mask, Rect, Size, TraceKind};
use crate::metrics::ports::{Networks, PortError};

use super::Trace;

const ENCODER: &str = "image-text encoder";
const SEGMENTER: &str = "segmenter";

fn failed<T>(network: &'static str, reason: String) -> Result<T, PortError> {
    Err(PortError::Failed { network, reason })
}

fn exactly<T, const N: usize>(network: &'static str, what: &str, answers: Vec<T>) -> Result<[T; N], PortError> {
    let found = answers.len();
    answers.try_into().or_else(|_| failed(network, format!("it returned {found} {what} for {N}")))
}

fn finite(feature: &[f32]) -> Result<(), PortError> {
    if feature.is_empty() {
        return failed(ENCODER, "it returned a feature without values".to_owned());
    }
    match feature.iter().find(|v| !v.is_finite()) {
        Some(value) => failed(ENCODER, format!("it returned a feature with a value that is {value}")),
        None => Ok(()),
    }
}

/// Features of `N` pictures.
pub(super) fn pictures<const N: usize>(pictures: [&RgbImage; N], networks: &mut Networks<'_>) -> Result<[Vec<f32>; N], PortError> {
    let features = exactly(ENCODER, "features of pictures", networks.encoder.encode_pictures(&pictures)?)?;
    features.iter().try_for_each(|feature| finite(feature))?;
    Ok(features)
}

/// Features of `N` texts, lower-cased and trimmed; what had to be cut is traced (`bpm.md` section 11 point 12).
pub(super) fn texts<const N: usize>(words: [&str; N], networks: &mut Networks<'_>, trace: &mut Trace) -> Result<[Vec<f32>; N], PortError> {
    let clean = words.map(|text| text.trim().to_lowercase());
    let texts: [&str; N] = std::array::from_fn(|i| clean[i].as_str());
    let features: [_; N] = exactly(ENCODER, "features of texts", networks.encoder.encode_texts(&texts)?)?;
    for (feature, text) in features.iter().zip(texts) {
        finite(&feature.values)?;
        if feature.tokens_cut > 0 {
            trace.fallback(
                TraceKind::Direction,
                format!("\"{text}\" is too long for the text network: its last {} tokens were cut.", feature.tokens_cut),
            );
        }
    }
    Ok(features.map(|feature| feature.values))
}

/// One mask a box, on the canvas; the network is not asked without boxes.
pub(super) fn masks(canvas: &RgbImage, boxes: &[Rect<Bpm500>], networks: &mut Networks<'_>) -> Result<Vec<Mask>, PortError> {
    if boxes.is_empty() {
        return Ok(Vec::new());
    }
    let masks = networks.segmenter.segment(canvas, boxes)?;
    if masks.len() != boxes.len() {
        return failed(SEGMENTER, format!("it returned {} masks for {} boxes", masks.len(), boxes.len()));
    }
    match masks.iter().find(|mask| mask.size() != Size::BPM500) {
        Some(mask) => failed(SEGMENTER, format!("it returned a mask of {} for a canvas of {}", mask.size(), Size::BPM500)),
        None => Ok(masks),
    }
}
