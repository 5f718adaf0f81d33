//! SAM: from a picture and a box or points to a mask.

mod attention;
mod config;
mod decoder;
mod encoder;
mod inferred;
mod layout;
mod prompt;
mod upsample;

use std::ops::Range;
use std::path::Path;

use burn::tensor::{Device, Tensor};
use image::RgbImage;

pub use config::{DecoderConfig, EncoderConfig, SamConfig, SamPixels};
pub use decoder::{Decoded, MaskDecoder};
pub use encoder::{EncoderBlock, ImageEncoder};
pub use layout::SAM;
pub use prompt::{PointPrompt, PromptEncoder, PromptToken};
pub use upsample::Placement;

use super::NetError;
use super::checkpoint::{CheckpointError, Recognised, Weights};
use super::device::Target;
use crate::domain::{Mask, Size};
use crate::imaging::resize::{PilFilter, pil_resize};

/// Boxes in one pass of the decoder; more go through in several, so that memory stays bounded.
const BATCH: usize = 16;

/// What the image encoder makes of a picture; prompts are answered from it.
#[derive(Clone, Debug)]
pub struct SamEmbedding {
    /// `[1, channels, grid, grid]`
    pub features: Tensor<4>,
    /// Size of the picture in its own pixels, in which prompts are given.
    pub picture: Size,
    /// Size of the picture in the network's square.
    pub net: Size,
}

impl SamEmbedding {
    /// From pixels of the picture to pixels of the network's square (`_normalize_coordinates` of transformers, `processing_sam.py`).
    pub fn net_from_picture(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let scale = |value: f32, net: u32, picture: u32| (f64::from(value) * (f64::from(net) / f64::from(picture))) as f32;
        [scale(x, self.net.width, self.picture.width), scale(y, self.net.height, self.picture.height)]
    }
}

/// A mask with the network's own estimate of its IoU with what is meant.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredMask {
    pub mask: Mask,
    pub quality: f32,
}

/// A loaded SAM.
pub struct Sam {
    pub config: SamConfig,
    pub encoder: ImageEncoder,
    pub prompts: PromptEncoder,
    pub decoder: MaskDecoder,
    /// `[1, grid·grid, channels]`: where the cells of the embedding are.
    places: Tensor<3>,
    pixels: SamPixels,
    recognised: Recognised,
    device: Device,
}

impl Sam {
    /// Loads the checkpoint at `path`, a file or a folder in any layout of [`SAM`], onto the device of `target`.
    ///
    /// # Errors
    /// When a file is missing or damaged, the configuration asks for something else than SAM, or a tensor is missing, misshapen or unused.
    pub fn load(path: &Path, target: impl Into<Target>) -> Result<Self, CheckpointError> {
        let weights = Weights::open_as(path, &SAM, target)?;
        let device = weights.device().clone();
        let (config, pixels, inferred) = match weights.settings_folder() {
            Some(folder) => {
                let config = SamConfig::load(folder)?;
                let pixels = SamPixels::load(folder, config.encoder.side)?;
                (config, pixels, None)
            }
            None => {
                let config = SamConfig::inferred(&weights)?;
                let words = config.words();
                let pixels = SamPixels::published(config.encoder.side);
                (config, pixels, Some(words))
            }
        };
        let root = weights.root();
        let encoder = ImageEncoder::load(&root.at("vision_encoder"), &config.encoder)?;
        let prompts = PromptEncoder::load(&root, &config)?;
        let decoder = MaskDecoder::load(&root.at("mask_decoder"), &config.decoder)?;
        weights.finish(&[])?;
        let places = prompts.grid(config.encoder.grid());
        Ok(Self { recognised: weights.recognised(inferred), config, encoder, prompts, decoder, places, pixels, device })
    }

    /// Which layout the files had, and what was read off their shapes.
    pub fn recognised(&self) -> &Recognised {
        &self.recognised
    }

    /// Where the cells of an embedding are.
    ///
    /// # Shapes
    /// → `[1, grid·grid, channels]`
    pub fn places(&self) -> &Tensor<3> {
        &self.places
    }

    /// The network's pixels of an RGB picture: longest side to the network's side (PIL bilinear), normalised, zeros right and below;
    /// with the size of the picture in them.
    ///
    /// # Shapes
    /// → `[1, 3, side, side]`
    ///
    /// # Errors
    /// When the picture is empty or thinner than a network can see.
    pub fn pixels(&self, picture: &RgbImage) -> Result<(Tensor<4>, Size), NetError> {
        let (width, height) = picture.dimensions();
        if width == 0 || height == 0 {
            return Err(NetError::EmptyPicture { width, height });
        }
        let net = self.pixels.resized(Size::new(width, height)).ok_or(NetError::TooThin { width, height })?;
        let resized = pil_resize(picture, net, PilFilter::Bilinear);
        let side = self.pixels.side;
        Ok((self.pixels.normalisation.tensor(&resized, side, side, &self.device), net))
    }

    /// Looks at a picture once, for any number of prompts.
    ///
    /// # Errors
    /// When the picture cannot be seen.
    pub fn embed(&self, picture: &RgbImage) -> Result<SamEmbedding, NetError> {
        let (pixels, net) = self.pixels(picture)?;
        Ok(SamEmbedding { features: self.encoder.forward(pixels), picture: Size::new(picture.width(), picture.height()), net })
    }

    /// One mask a box (the decoder's first, as the released scripts take it), of size `out`, in order.
    ///
    /// Boxes are x0, y0, x1, y1 in pixels of the picture that was embedded; `out` is normally that picture's size.
    ///
    /// # Errors
    /// When a coordinate is not finite, or the device fails.
    pub fn masks_for_boxes(&self, embedding: &SamEmbedding, boxes: &[[f32; 4]], out: Size) -> Result<Vec<Mask>, NetError> {
        let mut masks = Vec::with_capacity(boxes.len());
        for batch in boxes.chunks(BATCH) {
            let prompts = batch.iter().map(|corners| box_tokens(embedding, corners)).collect::<Result<Vec<_>, _>>()?;
            let decoded = self.decode(embedding, &prompts);
            let (logits, placement) = self.logits(embedding, &decoded, 0..1)?;
            masks.extend(logits.iter().map(|coarse| placement.mask(coarse, out)));
        }
        Ok(masks)
    }

    /// Masks for points and possibly a box that belong to one object, best first by the network's own estimate, of size `out`.
    ///
    /// A single point is ambiguous (a wheel, or the car?) and gets the decoder's alternatives; anything more gets its one clear mask.
    /// Coordinates are pixels of the picture that was embedded.
    ///
    /// # Errors
    /// When a coordinate is not finite, or the device fails.
    pub fn masks_for_points(
        &self,
        embedding: &SamEmbedding,
        points: &[PointPrompt],
        corners: Option<[f32; 4]>,
        out: Size,
    ) -> Result<Vec<ScoredMask>, NetError> {
        let mut tokens = point_tokens(embedding, points)?;
        match corners {
            Some(corners) => tokens.extend(box_tokens(embedding, &corners)?),
            None => tokens.push(PromptToken::NoPoint),
        }
        let ambiguous = points.len() == 1 && corners.is_none() && self.decoder.mask_count() > 1;
        let which = if ambiguous { 1..self.decoder.mask_count() } else { 0..1 };
        let decoded = self.decode(embedding, &[tokens]);
        let qualities: Vec<f32> = self.decoder.quality(&decoded).try_into_vec_as()?;
        let (logits, placement) = self.logits(embedding, &decoded, which.clone())?;
        let mut masks: Vec<ScoredMask> = logits
            .iter()
            .zip(&qualities[which])
            .map(|(coarse, &quality)| ScoredMask { mask: placement.mask(coarse, out), quality })
            .collect();
        masks.sort_by(|a, b| b.quality.total_cmp(&a.quality));
        Ok(masks)
    }

    /// Lets prompts of equal length and the picture exchange what they know.
    pub fn decode(&self, embedding: &SamEmbedding, prompts: &[Vec<PromptToken>]) -> Decoded {
        self.decoder.exchange(self.prompts.tokens(prompts), self.image_tokens(embedding), &self.places)
    }

    /// The cells of an embedding as tokens, with the dense prompt for "no mask given" added.
    ///
    /// # Shapes
    /// → `[1, grid·grid, channels]`
    pub fn image_tokens(&self, embedding: &SamEmbedding) -> Tensor<3> {
        let [batch, channels, rows, columns] = embedding.features.dims();
        embedding.features.clone().reshape([batch, channels, rows * columns]).swap_dims(1, 2) + self.prompts.no_mask()
    }

    /// Coarse logits of each prompt and mask, and how they lie in the picture.
    fn logits(&self, embedding: &SamEmbedding, decoded: &Decoded, which: Range<usize>) -> Result<(Vec<Vec<f32>>, Placement), NetError> {
        let masks = self.decoder.masks(decoded, self.config.encoder.grid(), which);
        let coarse = masks.dims()[3];
        let values: Vec<f32> = masks.try_into_vec_as()?;
        if values.iter().any(|v| !v.is_finite()) {
            return Err(NetError::NotFinite { what: "a mask of SAM" });
        }
        let logits = values.chunks_exact(coarse * coarse).map(<[f32]>::to_vec).collect();
        Ok((logits, Placement { coarse, side: self.config.encoder.side, known: embedding.net }))
    }
}

fn finite<const N: usize>(values: [f32; N]) -> Result<[f32; N], NetError> {
    match values.iter().find(|v| !v.is_finite()) {
        Some(&value) => Err(NetError::NotFinitePrompt(value)),
        None => Ok(values),
    }
}

fn box_tokens(embedding: &SamEmbedding, corners: &[f32; 4]) -> Result<Vec<PromptToken>, NetError> {
    let [x0, y0, x1, y1] = finite(*corners)?;
    Ok(vec![
        PromptToken::FirstCorner(embedding.net_from_picture([x0, y0])),
        PromptToken::SecondCorner(embedding.net_from_picture([x1, y1])),
    ])
}

fn point_tokens(embedding: &SamEmbedding, points: &[PointPrompt]) -> Result<Vec<PromptToken>, NetError> {
    points
        .iter()
        .map(|point| {
            let place = embedding.net_from_picture(finite([point.x, point.y])?);
            Ok(if point.inside { PromptToken::Inside(place) } else { PromptToken::Outside(place) })
        })
        .collect()
}
