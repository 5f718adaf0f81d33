//! The transformer block that CLIP's two models share.

use burn::tensor::Tensor;

use super::config::TransformerConfig;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{LayerNorm, Linear, Mlp, Scores, attend, merge_heads};

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
        let [batch, tokens, width] = x.dims();
        let dim = width / self.heads;
        let qkv = self.qkv.forward(self.norm1.forward(x.clone()));
        let qkv = qkv.reshape([batch, tokens, 3, self.heads, dim]).permute([2, 0, 3, 1, 4]);
        let [query, key, value] = [0, 1, 2].map(|i| qkv.clone().narrow(0, i, 1).squeeze_dim::<4>(0));
        let scores = Scores { causal: self.causal, ..Scores::default() };
        let x = x + self.out.forward(merge_heads(attend(query, key, value, scores)));
        x.clone() + self.mlp.forward(self.norm2.forward(x))
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
