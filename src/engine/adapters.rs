//! Networks as the metric wants them, with a cache in between.
//!
//! Results are kept under a hash of (checkpoint and device, pixels, prompt): the source of an item is looked at once, however many edits
//! it has, and a second run computes nothing. What a network holds of a picture or a phrase (features, embeddings) is kept in memory for
//! the last ones only. A network that has nothing to compute is not even loaded.

use std::cell::RefCell;
use std::sync::Arc;

use image::RgbImage;

use crate::domain::{Bpm500, Detection, Mask, Rect, Size, rle::Rle};
use crate::metrics::ports::{Detector, ImageTextEncoder, PortError, Segmenter, TextFeature};
use crate::nets::NetError;
use crate::nets::clip::Clip;
use crate::nets::grounding_dino::{GroundingDino, PhraseFeatures, PictureFeatures};
use crate::nets::sam::{Sam, SamEmbedding};

use super::cache::{ResultCache, floats_from_bytes, floats_to_bytes, picture_hash};
use super::known::{self, box_prompt};
use super::loaded::{Loaded, Network};
use super::recent::Recent;
use super::session::SessionError;

/// Joins a cache to one network: the key of everything begins with the network's fingerprint.
#[derive(Clone, Copy)]
pub struct Keep<'a> {
    pub loaded: &'a RefCell<Loaded>,
    pub cache: &'a dyn ResultCache,
    /// Hash of the checkpoint, with the device it runs on.
    pub fingerprint: &'a str,
    /// Checked before each network call.
    pub cancelled: &'a dyn Fn() -> bool,
}

impl Keep<'_> {
    fn key(&self, kind: &str, content: &str, prompt: &str) -> String {
        known::key(self.fingerprint, kind, content, prompt)
    }

    /// The network, unless the run was cancelled.
    fn network<N: Network>(&self) -> Result<Arc<N>, PortError> {
        if (self.cancelled)() {
            return Err(PortError::Cancelled);
        }
        self.loaded.borrow_mut().get::<N>().map_err(|error| match error {
            SessionError::Load { network, reason } => PortError::Failed { network, reason },
            other => failed(N::NAME, other),
        })
    }
}

fn failed(network: &'static str, reason: impl std::fmt::Display) -> PortError {
    PortError::Failed { network, reason: reason.to_string() }
}

/// Grounding DINO behind the cache, remembering the last pictures and phrases.
pub struct CachedDetector<'a> {
    pub keep: Keep<'a>,
    /// By picture hash.
    pub pictures: &'a mut Recent<PictureFeatures>,
    /// By text.
    pub phrases: &'a mut Recent<PhraseFeatures>,
}

impl Detector for CachedDetector<'_> {
    fn detect(&mut self, picture: &RgbImage, phrase: &str) -> Result<Vec<Detection>, PortError> {
        let hash = picture_hash(picture);
        let key = self.keep.key(known::BOXES, &hash, phrase);
        if let Some(kept) = self.keep.cache.get(&key).and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            return Ok(kept);
        }
        let net = self.keep.network::<GroundingDino>()?;
        let failed = |e: NetError| failed(GroundingDino::NAME, e);
        let text = self.phrases.get_or_make(phrase, || net.phrase(phrase)).map_err(failed)?;
        let seen = self.pictures.get_or_make(&hash, || net.features(picture)).map_err(failed)?;
        let detections = net.match_in(seen, text).map_err(failed)?.into_detections();
        if let Ok(bytes) = serde_json::to_vec(&detections) {
            self.keep.cache.put(&key, &bytes);
        }
        Ok(detections)
    }
}

/// SAM behind the cache, remembering the embedding of the last pictures.
pub struct CachedSegmenter<'a> {
    pub keep: Keep<'a>,
    /// By picture hash.
    pub embeddings: &'a mut Recent<SamEmbedding>,
}

impl Segmenter for CachedSegmenter<'_> {
    fn segment(&mut self, picture_bpm500: &RgbImage, boxes: &[Rect<Bpm500>]) -> Result<Vec<Mask>, PortError> {
        if boxes.is_empty() {
            return Ok(Vec::new());
        }
        let hash = picture_hash(picture_bpm500);
        let key = self.keep.key(known::MASKS, &hash, &box_prompt(boxes));
        let kept = self.keep.cache.get(&key).and_then(|bytes| serde_json::from_slice::<Vec<Rle>>(&bytes).ok());
        if let Some(masks) = kept.and_then(|rles| rles.iter().map(|rle| rle.to_mask().ok()).collect()) {
            return Ok(masks);
        }
        let net = self.keep.network::<Sam>()?;
        let failed = |e: NetError| failed(Sam::NAME, e);
        let embedding = self.embeddings.get_or_make(&hash, || net.embed(picture_bpm500)).map_err(failed)?;
        let arrays: Vec<[f32; 4]> = boxes.iter().map(Rect::to_array).collect();
        let masks = net.masks_for_boxes(embedding, &arrays, Size::BPM500).map_err(failed)?;
        if let Ok(bytes) = serde_json::to_vec(&masks.iter().map(Rle::from_mask).collect::<Vec<_>>()) {
            self.keep.cache.put(&key, &bytes);
        }
        Ok(masks)
    }
}

/// CLIP behind the cache; what is missing of a batch is computed in one pass.
pub struct CachedEncoder<'a> {
    pub keep: Keep<'a>,
}

impl ImageTextEncoder for CachedEncoder<'_> {
    fn encode_pictures(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
        let keys: Vec<String> = pictures.iter().map(|p| self.keep.key(known::PICTURE, &picture_hash(p), "")).collect();
        let mut features: Vec<Option<Vec<f32>>> = keys.iter().map(|key| floats_from_bytes(&self.keep.cache.get(key)?)).collect();
        let missing: Vec<usize> = (0..pictures.len()).filter(|&i| features[i].is_none()).collect();
        if !missing.is_empty() {
            let net = self.keep.network::<Clip>()?;
            let batch: Vec<&RgbImage> = missing.iter().map(|&i| pictures[i]).collect();
            let computed = net.encode_pictures(&batch).map_err(|e| failed(Clip::NAME, e))?;
            for (&i, values) in missing.iter().zip(computed) {
                self.keep.cache.put(&keys[i], &floats_to_bytes(&values));
                features[i] = Some(values);
            }
        }
        features.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| failed(Clip::NAME, "it returned fewer features than pictures"))
    }

    fn encode_texts(&mut self, texts: &[&str]) -> Result<Vec<TextFeature>, PortError> {
        let keys: Vec<String> = texts.iter().map(|text| self.keep.key(known::TEXT, text, "")).collect();
        let mut features: Vec<Option<TextFeature>> = keys
            .iter()
            .map(|key| {
                let mut values = floats_from_bytes(&self.keep.cache.get(key)?)?;
                // The number of tokens cut is kept as a last value; counts this small are exact in f32.
                let tokens_cut = values.pop()? as usize;
                Some(TextFeature { values, tokens_cut })
            })
            .collect();
        let missing: Vec<usize> = (0..texts.len()).filter(|&i| features[i].is_none()).collect();
        if !missing.is_empty() {
            let net = self.keep.network::<Clip>()?;
            let batch: Vec<&str> = missing.iter().map(|&i| texts[i]).collect();
            let computed = net.encode_texts(&batch).map_err(|e| failed(Clip::NAME, e))?;
            for (&i, (values, tokens_cut)) in missing.iter().zip(computed) {
                let mut kept = values.clone();
                kept.push(tokens_cut as f32);
                self.keep.cache.put(&keys[i], &floats_to_bytes(&kept));
                features[i] = Some(TextFeature { values, tokens_cut });
            }
        }
        features.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| failed(Clip::NAME, "it returned fewer features than texts"))
    }
}
