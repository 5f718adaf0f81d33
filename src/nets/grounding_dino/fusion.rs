//! The fusion of picture and phrase: one matrix of scores between cells and tokens, read both ways.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, `GroundingDinoFusionLayer` with
//! `GroundingDinoBiMultiHeadAttention`. There are thousands of cells and a handful of tokens, so wherever the reference projects every cell
//! to the inner width, the projection is joined with the tokens instead, which the order of a product allows:
//!
//! * scores, (v·Q + q)·kᵀ = v·(Q·kᵀ) + q·kᵀ;
//! * what the cells get, P·(t·O) instead of (P·t)·O;
//! * what the tokens get, (Pᵀ·v)·V + b instead of Pᵀ·(v·V + b), as the shares of a token add up to 1.

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

use super::config::Config;
use super::encoder::Flow;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{LayerNorm, Linear, merge_heads, split_heads};

/// A projection of the cells, by head.
#[derive(Clone, Debug)]
struct OfHeads {
    /// `[1, heads, in, out]`
    weight: Tensor<4>,
    /// `[1, heads, 1, out]`
    bias: Tensor<4>,
}

impl OfHeads {
    /// Reads `weight [heads·out, in]` and `bias [heads·out]`.
    fn load(scope: &Scope<'_>, [size_in, heads, size_out]: [usize; 3]) -> Result<Self, CheckpointError> {
        let weight = scope.tensor("weight", [heads * size_out, size_in])?;
        let bias = scope.tensor("bias", [heads * size_out])?;
        Ok(Self { weight: weight.reshape([1, heads, size_out, size_in]).swap_dims(2, 3), bias: bias.reshape([1, heads, 1, size_out]) })
    }
}

/// The layer.
#[derive(Clone, Debug)]
pub struct Fusion {
    vision_norm: LayerNorm,
    text_norm: LayerNorm,
    vision_query: OfHeads,
    vision_value: OfHeads,
    /// Key and value of the text, side by side.
    text_in: Linear,
    /// `[1, heads, inner/heads, width]`, scaled by how much of the update is added to each channel.
    vision_out: Tensor<4>,
    /// `[1, 1, width]`, scaled likewise.
    vision_out_bias: Tensor<3>,
    text_out: Linear,
    /// `[1, 1, width]`: how much of the update is added, by channel.
    text_scale: Tensor<3>,
    heads: usize,
    inner: usize,
}

impl Fusion {
    /// Reads the layer from `scope`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &Config) -> Result<Self, CheckpointError> {
        let (width, inner, heads) = (config.d_model, config.encoder_ffn_dim / 2, config.encoder_attention_heads / 2);
        let (dim, attention) = (inner / heads, scope.at("attn"));
        let text = |name: &str| Linear::load(&attention.at(name), width, inner);
        let vision = |name: &str| OfHeads::load(&attention.at(name), [width, heads, dim]);
        let out = attention.at("out_vision_proj");
        let scale = scope.tensor("vision_param", [width])?;
        let weight = out.tensor("weight", [width, inner])?.transpose().reshape([1, heads, dim, width]);
        Ok(Self {
            vision_norm: LayerNorm::load(&scope.at("layer_norm_vision"), width, config.layer_norm_eps)?,
            text_norm: LayerNorm::load(&scope.at("layer_norm_text"), width, config.layer_norm_eps)?,
            vision_query: vision("vision_proj")?,
            vision_value: vision("values_vision_proj")?,
            text_in: Linear::joined(vec![text("text_proj")?, text("values_text_proj")?]),
            vision_out: weight * scale.clone().reshape([1, 1, 1, -1]),
            vision_out_bias: (out.tensor("bias", [width])? * scale).reshape([1, 1, -1]),
            text_out: Linear::load(&attention.at("out_text_proj"), inner, width)?,
            text_scale: scope.tensor("text_param", [width])?.reshape([1, 1, -1]),
            heads,
            inner,
        })
    }

    /// # Shapes
    /// As [`Flow`].
    pub fn forward(&self, flow: Flow) -> Flow {
        let (vision, text) = (self.vision_norm.forward(flow.vision), self.text_norm.forward(flow.text));
        let ([_, cells, width], [_, tokens, _], heads) = (vision.dims(), text.dims(), self.heads);
        let joined = self.text_in.forward(text.clone());
        let half = |i: usize| split_heads(joined.clone().narrow(2, i * self.inner, self.inner), heads);
        let scale = 1.0 / ((self.inner / heads) as f64).sqrt();
        let (key, text_value) = ((half(0) * scale).swap_dims(2, 3), half(1));

        // Every head's tokens side by side: `[cells, heads·tokens]`.
        let asked = self.vision_query.weight.clone().matmul(key.clone()).squeeze_dim::<3>(0);
        let asked = asked.permute([1, 0, 2]).reshape([width, heads * tokens]);
        let always = self.vision_query.bias.clone().matmul(key).reshape([1, heads * tokens]);
        let cells_flat = vision.clone().reshape([cells, width]);
        let scores = cells_flat.clone().matmul(asked) + always;
        // The reference keeps scores within half precision; the lower bound can change a softmax whose scores all lie beyond it.
        let largest = scores.clone().max().reshape([1, 1]);
        let scores = (scores - largest).clamp_min(-50_000.0);

        let of_cells = softmax(scores.clone().swap_dims(0, 1), 1);
        let seen = of_cells.matmul(cells_flat).reshape([1, heads, tokens, width]);
        let to_text = seen.matmul(self.vision_value.weight.clone()) + self.vision_value.bias.clone();

        let of_tokens = softmax(scores.reshape([cells, heads, tokens]), 2).reshape([cells, heads * tokens]);
        let given = text_value.matmul(self.vision_out.clone()).reshape([heads * tokens, width]);
        let to_vision = of_tokens.matmul(given).reshape([1, cells, width]);
        // Added to the normed inputs, not to the inputs themselves.
        Flow {
            vision: to_vision + self.vision_out_bias.clone() + vision,
            text: text + self.text_out.forward(merge_heads(to_text)) * self.text_scale.clone(),
        }
    }
}
