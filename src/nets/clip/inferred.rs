//! CLIP's sizes, read off the shapes of its tensors.

use super::config::{ClipConfig, ClipPixels, TransformerConfig};
use crate::nets::checkpoint::{CheckpointError, Weights};
use crate::nets::layers::Activation;
use crate::nets::pixels::Normalisation;

/// Width of an attention head in all of OpenAI's models (openai/CLIP, `clip/model.py`, `build_model`).
const HEAD: usize = 64;
/// PyTorch's default, which the original keeps.
const EPSILON: f64 = 1e-5;

impl ClipConfig {
    /// The sizes of weights without `config.json`. Heads are 64 wide and the activation is quick-GELU, as in everything that OpenAI published;
    /// neither shows in the shapes.
    ///
    /// # Errors
    /// When a tensor that tells a size is missing, or sizes contradict each other.
    pub fn inferred(weights: &Weights) -> Result<Self, CheckpointError> {
        let class = "vision_model.embeddings.class_embedding";
        let patches = "vision_model.embeddings.patch_embedding.weight";
        let places = "vision_model.embeddings.position_embedding.weight";
        let tokens = "text_model.embeddings.token_embedding.weight";
        let patch = weights.side(patches, 2)?;
        let grid = weights.root_of(places, weights.side(places, 0)?.saturating_sub(1))?;
        Ok(Self {
            text: transformer(weights, "text_model", tokens, weights.side(tokens, 1)?)?,
            vision: transformer(weights, "vision_model", class, weights.side(class, 0)?)?,
            vocabulary: weights.side(tokens, 0)?,
            positions: weights.side("text_model.embeddings.position_embedding.weight", 0)?,
            side: grid * patch,
            patch,
            projection: weights.side("visual_projection.weight", 0)?,
        })
    }

    /// The sizes in words.
    pub fn words(&self) -> String {
        let Self { vision, text, side, patch, projection, .. } = self;
        format!(
            "patches of {patch} in {side} pixels, pictures {} wide in {} layers, texts {} wide in {} layers, features of {projection}, quick-GELU",
            vision.width, vision.layers, text.width, text.layers
        )
    }
}

/// Sizes of the transformer `name`; `width` is an axis of tensor `from`.
fn transformer(weights: &Weights, name: &str, from: &str, width: usize) -> Result<TransformerConfig, CheckpointError> {
    let layers = format!("{name}.encoder.layers");
    Ok(TransformerConfig {
        width,
        layers: weights.numbered(&layers, "mlp.fc1.weight"),
        heads: weights.parts(from, width, HEAD)?,
        mlp: weights.side(&format!("{layers}.0.mlp.fc1.weight"), 0)?,
        activation: Activation::QuickGelu,
        epsilon: EPSILON,
    })
}

impl ClipPixels {
    /// The published preprocessing for a network of `side` pixels.
    pub fn published(side: usize) -> Self {
        Self { shorter: side as u32, side: side as u32, normalisation: Normalisation::CLIP }
    }
}
