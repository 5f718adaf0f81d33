//! Scaled dot-product attention over heads.

use burn::tensor::module::attention;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Bool, Tensor};

/// Cuts the last dimension into heads.
///
/// # Shapes
/// `[batch, tokens, heads·dim]` → `[batch, heads, tokens, dim]`
pub fn split_heads(x: Tensor<3>, heads: usize) -> Tensor<4> {
    let [batch, tokens, width] = x.dims();
    x.reshape([batch, tokens, heads, width / heads]).swap_dims(1, 2)
}

/// Undoes [`split_heads`].
///
/// # Shapes
/// `[batch, heads, tokens, dim]` → `[batch, tokens, heads·dim]`
pub fn merge_heads(x: Tensor<4>) -> Tensor<3> {
    let [batch, heads, tokens, dim] = x.dims();
    x.swap_dims(1, 2).reshape([batch, tokens, heads * dim])
}

/// What is added to, or left out of, the scores.
#[derive(Clone, Default)]
pub struct Scores {
    /// Added to the scaled scores; `[batch or 1, heads or 1, queries, keys]`.
    pub bias: Option<Tensor<4>>,
    /// True where a key is hidden from a query; shapes as `bias`.
    pub hidden: Option<Tensor<4, Bool>>,
    /// Each token sees itself and those before it.
    pub causal: bool,
    /// Factor of q·kᵀ; 1/√dim without it.
    pub scale: Option<f64>,
}

/// softmax(scale·q·kᵀ + bias)·v, fused where the device has it.
///
/// # Shapes
/// * `query`: `[batch, heads, queries, dim]`
/// * `key`: `[batch, heads, keys, dim]`
/// * `value`: `[batch, heads, keys, value dim]`
/// * output: `[batch, heads, queries, value dim]`
pub fn attend(query: Tensor<4>, key: Tensor<4>, value: Tensor<4>, scores: Scores) -> Tensor<4> {
    let options = AttentionModuleOptions { scale: scores.scale, softcap: None, is_causal: scores.causal };
    attention(query, key, value, scores.hidden, scores.bias, options)
}
