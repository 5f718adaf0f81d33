//! The transformer block that CLIP's two models share.

use burn::tensor::Tensor;

use super::config::TransformerConfig;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{LayerNorm, Linear, Mlp, Scores, attend, attend_packed};

/// A pre-norm transformer block.
///
/// Arithmetic: transformers, `modeling_clip.py`, `CLIPEncoderLayer`.
#[derive(Clone, Debug)]
pub struct Block {
    norm1: LayerNorm,
    /// Query, key and value of one input in one product.
    qkv: Linear,
    out: Linear,
    norm2: LayerNorm,
    mlp: Mlp,
    heads: usize,
    causal: bool,
}

impl Block {
    /// Reads block `scope`; with `causal`, tokens see only themselves and what stands before them.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &TransformerConfig, causal: bool) -> Result<Self, CheckpointError> {
        let width = config.width;
        let attention = scope.at("self_attn");
        let projection = |name: &str| Linear::load(&attention.at(name), width, width);
        Ok(Self {
            norm1: LayerNorm::load(&scope.at("layer_norm1"), width, config.epsilon)?,
            qkv: Linear::joined(vec![projection("q_proj")?, projection("k_proj")?, projection("v_proj")?]),
            out: projection("out_proj")?,
            norm2: LayerNorm::load(&scope.at("layer_norm2"), width, config.epsilon)?,
            mlp: Mlp::load(&scope.at("mlp"), ["fc1", "fc2"], width, config.mlp, config.activation)?,
            heads: config.heads,
            causal,
        })
    }

    /// # Shapes
    /// `[batch, tokens, width]` → the same
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let qkv = self.qkv.forward(self.norm1.forward(x.clone()));
        let scores = Scores { causal: self.causal, ..Scores::default() };
        let x = self.out.forward_onto(attend_packed(qkv, self.heads, scores), x);
        self.mlp.forward_onto(self.norm2.forward(x.clone()), x)
    }

    /// The first token of [`Block::forward`], without computing the others. Not for causal blocks.
    ///
    /// # Shapes
    /// `[batch, tokens, width]` → `[batch, 1, width]`
    pub fn forward_first(&self, x: Tensor<3>) -> Tensor<3> {
        let width = x.dims()[2];
        let normed = self.norm1.forward(x.clone());
        let [query, key, value] = [0, 1, 2].map(|i| self.qkv.part(i * width, width));
        let first = |x: Tensor<3>| x.narrow(1, 0, 1);
        let (key, value) = (key.forward(normed.clone()), value.forward(normed.clone()));
        let seen = attend(query.forward(first(normed)), key, value, self.heads, Scores::default());
        let x = self.out.forward_onto(seen, first(x));
        self.mlp.forward_onto(self.norm2.forward(x.clone()), x)
    }
}

/// Reads the blocks `encoder.layers.0…`.
///
/// # Errors
/// When a tensor is missing, misshapen or unreadable.
pub fn load_blocks(scope: &Scope<'_>, config: &TransformerConfig, causal: bool) -> Result<Vec<Block>, CheckpointError> {
    let layers = scope.at("encoder").at("layers");
    (0..config.layers).map(|n| Block::load(&layers.at(n), config, causal)).collect()
}
