//! CLIP: pictures and texts in one space.

mod config;
mod inferred;
mod layout;
mod text;
mod transformer;
mod vision;

use std::path::Path;

use burn::tensor::{Device, Tensor, TensorData};
use image::RgbImage;

pub use config::{ClipConfig, ClipPixels, TransformerConfig};
pub use layout::CLIP;
pub use text::TextModel;
pub use transformer::Block;
pub use vision::VisionModel;

use super::NetError;
use super::checkpoint::{CheckpointError, Recognised, Weights};
use super::device::Target;
use super::tokenize::ClipTokenizer;
use crate::domain::Size;
use crate::imaging::resize::{PilFilter, pil_resize};

/// Pictures or texts in one pass; more go through in several, so that memory stays bounded.
const BATCH: usize = 16;

/// A loaded CLIP.
pub struct Clip {
    pub config: ClipConfig,
    pub vision: VisionModel,
    pub text: TextModel,
    tokenizer: ClipTokenizer,
    pixels: ClipPixels,
    recognised: Recognised,
    device: Device,
}

impl Clip {
    /// Loads the checkpoint at `path`, a file or a folder in any layout of [`CLIP`], onto the device of `target`.
    ///
    /// # Errors
    /// When a file is missing or damaged, the configuration asks for something else than CLIP, or a tensor is missing, misshapen or unused.
    pub fn load(path: &Path, target: impl Into<Target>) -> Result<Self, CheckpointError> {
        let weights = Weights::open_as(path, &CLIP, target)?;
        let device = weights.device().clone();
        let (config, pixels, tokenizer, inferred) = match weights.settings_folder() {
            Some(folder) => {
                let config = ClipConfig::load(folder)?;
                let tokenizer = ClipTokenizer::load(folder, config.positions, config.vocabulary)?;
                let pixels = ClipPixels::load(folder, config.side)?;
                (config, pixels, tokenizer, None)
            }
            None => {
                let config = ClipConfig::inferred(&weights)?;
                let tokenizer = ClipTokenizer::built_in(config.positions, config.vocabulary)?;
                let words = config.words();
                let pixels = ClipPixels::published(config.side);
                (config, pixels, tokenizer, Some(words))
            }
        };
        let vision = VisionModel::load(&weights.root(), &config)?;
        let text = TextModel::load(&weights.root(), &config)?;
        weights.finish(&[])?;
        let recognised = weights.recognised(inferred);
        Ok(Self { config, vision, text, tokenizer, pixels, recognised, device })
    }

    /// Which layout the files had, and what was read off their shapes.
    pub fn recognised(&self) -> &Recognised {
        &self.recognised
    }

    /// Length of a feature.
    pub fn width(&self) -> usize {
        self.config.projection
    }

    /// The network's pixels of RGB pictures: shorter side to the network's side (PIL bicubic), middle square, normalised. A long
    /// picture loses its ends.
    ///
    /// # Shapes
    /// → `[pictures, 3, side, side]`
    ///
    /// # Errors
    /// When a picture is empty or thinner than a network can see.
    pub fn pixels(&self, pictures: &[&RgbImage]) -> Result<Tensor<4>, NetError> {
        let side = self.pixels.side;
        let mut values = Vec::with_capacity(pictures.len() * 3 * (side * side) as usize);
        for picture in pictures {
            let (width, height) = picture.dimensions();
            if width == 0 || height == 0 {
                return Err(NetError::EmptyPicture { width, height });
            }
            let size = self.pixels.resized(Size::new(width, height)).ok_or(NetError::TooThin { width, height })?;
            let resized = pil_resize(picture, size, PilFilter::Bicubic);
            let (left, top) = ((size.width - side) / 2, (size.height - side) / 2);
            let square = image::imageops::crop_imm(&resized, left, top, side, side).to_image();
            self.pixels.normalisation.append(&mut values, &square, side, side);
        }
        let shape = [pictures.len(), 3, side as usize, side as usize];
        Ok(Tensor::from_data(TensorData::new(values, shape), &self.device))
    }

    /// Unnormalised projected features of upright RGB pictures of any sizes, in order.
    ///
    /// # Errors
    /// When a picture cannot be seen, or the device fails.
    pub fn encode_pictures(&self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, NetError> {
        let mut features = Vec::with_capacity(pictures.len());
        for batch in pictures.chunks(BATCH) {
            features.extend(self.rows(self.vision.forward(self.pixels(batch)?))?);
        }
        Ok(features)
    }

    /// Unnormalised projected features of texts, in order, each with the number of its tokens that did not fit and were cut.
    ///
    /// # Errors
    /// When a text cannot be tokenized, or the device fails.
    pub fn encode_texts(&self, texts: &[&str]) -> Result<Vec<(Vec<f32>, usize)>, NetError> {
        let mut features = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let tokens = batch.iter().map(|text| self.tokenizer.encode(text)).collect::<Result<Vec<_>, _>>()?;
            let (ids, cut): (Vec<_>, Vec<_>) = tokens.into_iter().map(|t| (t.ids, t.cut)).unzip();
            features.extend(self.rows(self.text.forward(&ids, self.tokenizer.end()))?.into_iter().zip(cut));
        }
        Ok(features)
    }

    fn rows(&self, features: Tensor<2>) -> Result<Vec<Vec<f32>>, NetError> {
        let values: Vec<f32> = features.try_into_vec_as()?;
        if values.iter().any(|v| !v.is_finite()) {
            return Err(NetError::NotFinite { what: "a feature of CLIP" });
        }
        Ok(values.chunks_exact(self.width()).map(<[f32]>::to_vec).collect())
    }
}
