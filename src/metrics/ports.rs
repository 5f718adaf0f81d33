//! What the metric needs from networks. `engine::adapters` joins these to `nets`; tests use fakes.

use image::RgbImage;

use crate::domain::{Bpm500, Detection, Mask, Outcome, Rect};

/// A network could not do its work.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum PortError {
    /// The computation failed (out of memory, device lost, a value that is not finite, …).
    #[error("{network}: {reason}")]
    Failed { network: &'static str, reason: String },
    /// A person cancelled the run.
    #[error("cancelled")]
    Cancelled,
    /// Only known results were asked for, and this one is not known.
    #[error("{network}: not computed yet")]
    NotComputed { network: &'static str },
}

/// Features of one picture or text, unnormalised, with what had to be cut.
#[derive(Clone, Debug, PartialEq)]
pub struct TextFeature {
    /// The projected feature.
    pub values: Vec<f32>,
    /// How many tokens did not fit into the network's context and were cut (`bpm.md` section 11, point 12).
    pub tokens_cut: usize,
}

/// Finds the boxes of a phrase.
pub trait Detector {
    /// All candidates above 0.05 for `phrase` on an upright RGB picture of any size, in query order, boxes in pixels of that picture.
    ///
    /// # Errors
    /// When the network fails.
    fn detect(&mut self, picture: &RgbImage, phrase: &str) -> Result<Vec<Detection>, PortError>;
}

/// Turns boxes into masks.
pub trait Segmenter {
    /// One mask a box, at 500×500, of a picture that already is 500×500.
    ///
    /// # Errors
    /// When the network fails.
    fn segment(&mut self, picture_bpm500: &RgbImage, boxes: &[Rect<Bpm500>]) -> Result<Vec<Mask>, PortError>;
}

/// Puts pictures and texts into one space.
pub trait ImageTextEncoder {
    /// Unnormalised projected features, one a picture.
    ///
    /// # Errors
    /// When the network fails.
    fn encode_pictures(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError>;

    /// Unnormalised projected features, one a text; texts are taken as given.
    ///
    /// # Errors
    /// When the network fails.
    fn encode_texts(&mut self, texts: &[&str]) -> Result<Vec<TextFeature>, PortError>;
}

/// The three networks together.
pub struct Networks<'a> {
    pub detector: &'a mut dyn Detector,
    pub segmenter: &'a mut dyn Segmenter,
    pub encoder: &'a mut dyn ImageTextEncoder,
}

/// How different two pictures look to a network, as a whole and pixel by pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct PerceptualMap {
    /// The published distance: each layer's mean, summed.
    pub distance: f64,
    /// Row-major, one value a pixel: each layer's map stretched to the pictures' size, summed.
    pub map: Vec<f32>,
}

/// A learned perceptual distance (LPIPS).
pub trait PerceptualDistance {
    /// The distance of two upright pictures of one size; not applicable when they are of a size that the network cannot see.
    ///
    /// # Errors
    /// When the network fails.
    fn distance(&mut self, a: &RgbImage, b: &RgbImage) -> Result<Outcome<PerceptualMap>, PortError>;
}

/// Puts pictures into a space of their own (DINO).
pub trait PictureEncoder {
    /// Unnormalised features, one a picture.
    ///
    /// # Errors
    /// When the network fails.
    fn encode(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError>;
}
