//! What networks have given before, read from the cache without the networks: the instant half of every correction.

use std::borrow::Cow;
use std::sync::OnceLock;

use image::RgbImage;
use serde::{Deserialize, Serialize};

use crate::domain::rle::Rle;
use crate::domain::{Bpm500, Detection, Mask, Rect};
use crate::metrics::ports::{Detector, ImageTextEncoder, Networks, PortError, Segmenter, TextFeature};
use crate::storage::{Project, StorageError};

use super::cache::{ResultCache, floats_from_bytes, picture_hash};

/// Kinds of results. The number counts changes of what is kept, so that an older program's results are not misread.
pub const BOXES: &str = "boxes-2";
pub const MASKS: &str = "masks";
pub const PICTURE: &str = "picture";
pub const TEXT: &str = "text";

/// The key of a result: of which network (and device), of which content, for which prompt.
pub fn key(fingerprint: &str, kind: &str, content: &str, prompt: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [fingerprint, content, prompt] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    format!("{kind}/{}", hasher.finalize().to_hex())
}

/// Boxes as the prompt of a key.
pub fn box_prompt(boxes: &[Rect<Bpm500>]) -> String {
    boxes.iter().map(|b| format!("{:?}", b.to_array())).collect::<Vec<_>>().join(" ")
}

/// What the results of each network are kept under: a hash of its checkpoint, with the device it ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheNames {
    pub detector: String,
    pub segmenter: String,
    pub encoder: String,
}

fn setting(models_fingerprint: &str) -> String {
    format!("cache-names/{models_fingerprint}")
}

impl CacheNames {
    /// Notes the names in a project, by the fingerprint of the networks that its runs name.
    ///
    /// # Errors
    /// When the project cannot be written.
    #[cfg_attr(not(feature = "nets"), allow(dead_code))] // only a build with networks has names to note
    pub fn remember(&self, project: &Project, models_fingerprint: &str) -> Result<(), StorageError> {
        // Three strings always become JSON.
        serde_json::to_string(self).map_or(Ok(()), |text| project.set_meta(&setting(models_fingerprint), &text))
    }

    /// The names of networks that scored this project; `None` when no run noted them.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub fn of(project: &Project, models_fingerprint: &str) -> Result<Option<Self>, StorageError> {
        Ok(project.meta(&setting(models_fingerprint))?.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

/// Pictures that are asked about again and again with their content hashes, each computed once: a pair of 1024² has 6 MB to hash.
pub type Hashed<'a> = [(&'a RgbImage, &'a OnceLock<String>)];

/// Three networks that answer from a cache, and say [`PortError::NotComputed`] where it does not know.
pub struct Known<'a> {
    pub cache: &'a dyn ResultCache,
    pub names: &'a CacheNames,
    pub hashed: &'a Hashed<'a>,
}

impl<'a> Known<'a> {
    fn hash(&self, picture: &RgbImage) -> Cow<'a, str> {
        // The very same picture, not an equal one: it is borrowed, so nothing else can have its address.
        match self.hashed.iter().find(|(known, _)| std::ptr::eq(*known, picture)) {
            Some((_, hash)) => Cow::Borrowed(hash.get_or_init(|| picture_hash(picture)).as_str()),
            None => Cow::Owned(picture_hash(picture)),
        }
    }
}

impl Known<'_> {
    /// Lends the three to the metric.
    pub fn with_networks<T>(&self, use_them: impl FnOnce(&mut Networks<'_>) -> T) -> T {
        let (mut detector, mut segmenter, mut encoder) = (KnownDetector(self), KnownSegmenter(self), KnownEncoder(self));
        use_them(&mut Networks { detector: &mut detector, segmenter: &mut segmenter, encoder: &mut encoder })
    }
}

struct KnownDetector<'a>(&'a Known<'a>);
struct KnownSegmenter<'a>(&'a Known<'a>);
struct KnownEncoder<'a>(&'a Known<'a>);

impl Detector for KnownDetector<'_> {
    fn detect(&mut self, picture: &RgbImage, phrase: &str) -> Result<Vec<Detection>, PortError> {
        let key = key(&self.0.names.detector, BOXES, &self.0.hash(picture), phrase);
        let kept = self.0.cache.get(&key).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        kept.ok_or(PortError::NotComputed { network: "detector" })
    }
}

impl Segmenter for KnownSegmenter<'_> {
    fn segment(&mut self, picture_bpm500: &RgbImage, boxes: &[Rect<Bpm500>]) -> Result<Vec<Mask>, PortError> {
        let key = key(&self.0.names.segmenter, MASKS, &self.0.hash(picture_bpm500), &box_prompt(boxes));
        let kept = self.0.cache.get(&key).and_then(|bytes| serde_json::from_slice::<Vec<Rle>>(&bytes).ok());
        let masks = kept.and_then(|rles| rles.iter().map(|rle| rle.to_mask().ok()).collect());
        masks.ok_or(PortError::NotComputed { network: "segmenter" })
    }
}

const ENCODER: PortError = PortError::NotComputed { network: "image-text encoder" };

impl ImageTextEncoder for KnownEncoder<'_> {
    fn encode_pictures(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
        let kept =
            |picture: &&RgbImage| floats_from_bytes(&self.0.cache.get(&key(&self.0.names.encoder, PICTURE, &self.0.hash(picture), ""))?);
        pictures.iter().map(|picture| kept(picture).ok_or(ENCODER)).collect()
    }

    fn encode_texts(&mut self, texts: &[&str]) -> Result<Vec<TextFeature>, PortError> {
        let kept = |text: &&str| {
            let mut values = floats_from_bytes(&self.0.cache.get(&key(&self.0.names.encoder, TEXT, text, ""))?)?;
            let tokens_cut = values.pop()? as usize;
            Some(TextFeature { values, tokens_cut })
        };
        texts.iter().map(|text| kept(text).ok_or(ENCODER)).collect()
    }
}
