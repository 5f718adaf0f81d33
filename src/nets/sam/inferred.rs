//! SAM's sizes, read off the shapes of its tensors.

use super::config::{DecoderConfig, EncoderConfig, SamConfig, SamPixels};
use crate::nets::checkpoint::{CheckpointError, Weights};
use crate::nets::layers::Activation;
use crate::nets::pixels::Normalisation;

/// Heads of the mask decoder in every published SAM (segment-anything, `build_sam.py`); they do not show in the shapes.
const DECODER_HEADS: usize = 8;
/// transformers, `configuration_sam.py`. The original has 1e-5 in the decoder, which changes no mask that was looked at.
const EPSILON: f64 = 1e-6;

impl SamConfig {
    /// The sizes of weights without `config.json`. A block whose table of relative positions spans the grid looks at the whole picture.
    ///
    /// # Errors
    /// When a tensor that tells a size is missing, or sizes contradict each other.
    pub fn inferred(weights: &Weights) -> Result<Self, CheckpointError> {
        let decoder = decoder(weights)?;
        Ok(Self { encoder: encoder(weights)?, decoder })
    }

    /// The sizes in words.
    pub fn words(&self) -> String {
        let EncoderConfig { width, layers, heads, mlp, side, patch, window, global, .. } = &self.encoder;
        format!(
            "{width} wide in {layers} layers of {heads} heads, MLP {mlp}, patches of {patch} in {side} pixels, windows of {window} but in layers {global:?}"
        )
    }
}

fn encoder(weights: &Weights) -> Result<EncoderConfig, CheckpointError> {
    let places = "vision_encoder.pos_embed";
    let (grid, width) = (weights.side(places, 1)?, weights.side(places, 3)?);
    let patch = weights.side("vision_encoder.patch_embed.projection.weight", 2)?;
    let layers = weights.numbered("vision_encoder.layers", "attn.rel_pos_h");
    let spans = (0..layers)
        .map(|layer| {
            // A table for n cells has the 2n − 1 distances between them.
            let table = format!("vision_encoder.layers.{layer}.attn.rel_pos_h");
            Ok(weights.side(&table, 0)?.div_ceil(2))
        })
        .collect::<Result<Vec<usize>, CheckpointError>>()?;
    let table = "vision_encoder.layers.0.attn.rel_pos_h";
    Ok(EncoderConfig {
        width,
        layers,
        heads: weights.parts(table, width, weights.side(table, 1)?)?,
        mlp: weights.side("vision_encoder.layers.0.mlp.lin1.weight", 0)?,
        activation: Activation::Gelu,
        epsilon: EPSILON,
        side: grid * patch,
        patch,
        window: spans.iter().copied().find(|&span| span != grid).unwrap_or(grid),
        global: (0..layers).filter(|&layer| spans[layer] == grid).collect(),
        channels: weights.side("vision_encoder.neck.conv1.weight", 0)?,
    })
}

fn decoder(weights: &Weights) -> Result<DecoderConfig, CheckpointError> {
    let cross = "mask_decoder.transformer.layers.0.cross_attn_token_to_image.q_proj.weight";
    let (inner, width) = (weights.side(cross, 0)?, weights.side(cross, 1)?);
    // Both attentions are split among the heads.
    weights.parts(cross, inner, DECODER_HEADS)?;
    let quality = "mask_decoder.iou_prediction_head";
    Ok(DecoderConfig {
        width,
        layers: weights.numbered("mask_decoder.transformer.layers", "mlp.lin1.weight"),
        heads: DECODER_HEADS,
        mlp: weights.side("mask_decoder.transformer.layers.0.mlp.lin1.weight", 0)?,
        activation: Activation::Relu,
        epsilon: EPSILON,
        downsample: weights.parts(cross, width, inner)?,
        alternatives: weights.side("mask_decoder.mask_tokens.weight", 0)?.saturating_sub(1),
        // The first and the last layer have names of their own.
        quality_depth: weights.numbered(&format!("{quality}.layers"), "weight") + 2,
        quality_hidden: weights.side(&format!("{quality}.proj_in.weight"), 0)?,
    })
}

impl SamPixels {
    /// The published preprocessing for a network of `side` pixels.
    pub fn published(side: usize) -> Self {
        Self { side: side as u32, normalisation: Normalisation::IMAGENET }
    }
}
