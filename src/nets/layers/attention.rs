//! Scaled dot-product attention over heads.

use burn::tensor::module::attention;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Bool, Tensor};

#[cfg(feature = "flex")]
use super::host;

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
    /// Each is added to the scaled scores; `[batch or 1, heads or 1, queries, keys]`.
    pub biases: Vec<Tensor<4>>,
    /// True where a key is hidden from a query; shapes as `biases`. Every query must see a key.
    pub hidden: Option<Tensor<4, Bool>>,
    /// Each token sees itself and those before it; for as many queries as keys.
    pub causal: bool,
}

/// softmax(q·kᵀ/√dim + bias)·v, with the heads of each token side by side. A batch of 1 on one side stands for every batch of the other.
///
/// # Shapes
/// * `query`: `[batch or 1, queries, heads·dim]`
/// * `key`, `value`: `[batch or 1, keys, heads·dim]`
/// * output: `[batch, queries, heads·dim]`
pub fn attend(query: Tensor<3>, key: Tensor<3>, value: Tensor<3>, heads: usize, scores: Scores) -> Tensor<3> {
    #[cfg(feature = "flex")]
    if host::on_host(&query.device()) {
        return on_host::attend(query, key, value, heads, scores);
    }
    let batch = query.dims()[0].max(key.dims()[0]);
    let split = |x: Tensor<3>| {
        let [own, tokens, width] = x.dims();
        let x = if own == batch { x } else { x.expand([batch, tokens, width]) };
        split_heads(x, heads)
    };
    attend_heads([query, key, value].map(split), scores, None)
}

/// As [`attend`], with query, key and value of each token side by side.
///
/// # Shapes
/// `[batch, tokens, 3·heads·dim]` → `[batch, tokens, heads·dim]`
pub fn attend_packed(qkv: Tensor<3>, heads: usize, scores: Scores) -> Tensor<3> {
    #[cfg(feature = "flex")]
    if host::on_host(&qkv.device()) {
        return on_host::attend_packed(qkv, heads, scores);
    }
    attend_heads(unpack(qkv, heads), scores, None)
}

/// Query, key and value that stand side by side.
///
/// # Shapes
/// `[batch, tokens, 3·heads·dim]` → three of `[batch, heads, tokens, dim]`
pub fn unpack(qkv: Tensor<3>, heads: usize) -> [Tensor<4>; 3] {
    let [batch, tokens, width] = qkv.dims();
    let qkv = qkv.reshape([batch, tokens, 3, heads, width / (3 * heads)]).permute([2, 0, 3, 1, 4]);
    [0, 1, 2].map(|i| qkv.clone().narrow(0, i, 1).squeeze_dim::<4>(0))
}

/// burn's attention, fused where the device has it; `scale` is the factor of q·kᵀ, 1/√dim without it.
///
/// # Shapes
/// * `query`, `key`, `value`: as [`split_heads`] gives them
/// * output: `[batch, queries, heads·dim]`
pub fn attend_heads([query, key, value]: [Tensor<4>; 3], scores: Scores, scale: Option<f64>) -> Tensor<3> {
    let options = AttentionModuleOptions { scale, softcap: None, is_causal: scores.causal };
    let bias = scores.biases.into_iter().reduce(|a, b| a + b);
    let bias = bias.map(|bias| {
        let ([batch, heads, queries, _], keys) = (query.dims(), key.dims()[2]);
        bias.expand([batch, heads, queries, keys])
    });
    merge_heads(attention(query, key, value, scores.hidden, bias, options))
}

#[cfg(feature = "flex")]
mod on_host {
    use burn::tensor::{Tensor, TensorData};

    use super::Scores;
    use super::host::{HostAttention, Rows, Terms, Values};

    /// Far below any score, so that its share of a softmax is exactly 0.
    const HIDDEN: f32 = -1e30;

    pub fn attend(query: Tensor<3>, key: Tensor<3>, value: Tensor<3>, heads: usize, scores: Scores) -> Tensor<3> {
        let ([queries_in, queries, width], [keys_in, keys, _]) = (query.dims(), key.dims());
        let (batches, device) = (queries_in.max(keys_in), query.device());
        let (query, key, value) = (Values::of(query), Values::of(key), Values::of(value));
        let rows = |values, own: usize, tokens| Rows {
            values,
            batch_step: if own == batches { tokens * width } else { 0 },
            token_step: width,
            tokens,
        };
        let rows =
            [rows(query.as_slice(), queries_in, queries), rows(key.as_slice(), keys_in, keys), rows(value.as_slice(), keys_in, keys)];
        let out = run(HostAttention::new(rows, batches, heads, width / heads), scores);
        Tensor::from_data(TensorData::new(out, [batches, queries, width]), &device)
    }

    pub fn attend_packed(qkv: Tensor<3>, heads: usize, scores: Scores) -> Tensor<3> {
        let (dims @ [batches, tokens, packed], device) = (qkv.dims(), qkv.device());
        let qkv = Values::of(qkv);
        let out = run(HostAttention::packed(qkv.as_slice(), dims, heads), scores);
        Tensor::from_data(TensorData::new(out, [batches, tokens, packed / 3]), &device)
    }

    fn run(attention: HostAttention<'_>, scores: Scores) -> Vec<f32> {
        let Scores { biases, hidden, causal } = scores;
        let hidden = hidden.map(|hidden| Tensor::<4>::zeros(hidden.dims(), &hidden.device()).mask_fill(hidden, HIDDEN));
        let terms: Vec<([usize; 4], Values)> = biases.into_iter().chain(hidden).map(|bias| (bias.dims(), Values::of(bias))).collect();
        let terms: Vec<Terms<'_>> = terms
            .iter()
            .map(|([of_batches, of_heads, queries, keys], values)| {
                let square = queries * keys;
                let step = |count: usize, step: usize| if count == 1 { 0 } else { step };
                Terms { values: values.as_slice(), steps: [step(*of_batches, of_heads * square), step(*of_heads, square)] }
            })
            .collect();
        HostAttention { causal, terms: &terms, ..attention }.run()
    }
}
