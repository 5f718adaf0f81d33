//! SAM's mask decoder.

use std::ops::Range;

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::config::DecoderConfig;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Activation, LayerNorm, Linear, Mlp, Scores, UpConv, attend};

/// Attention between two sets of tokens, in a possibly smaller width.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamAttention`.
#[derive(Clone, Debug)]
struct Attention {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    heads: usize,
}

impl Attention {
    fn load(scope: &Scope<'_>, config: &DecoderConfig, downsample: usize) -> Result<Self, CheckpointError> {
        let (width, inner) = (config.width, config.width / downsample);
        let projection = |name: &str| Linear::load(&scope.at(name), width, inner);
        Ok(Self {
            query: projection("q_proj")?,
            key: projection("k_proj")?,
            value: projection("v_proj")?,
            out: Linear::load(&scope.at("out_proj"), inner, width)?,
            heads: config.heads,
        })
    }

    /// A batch of 1 on one side stands for every prompt of the other and is projected once.
    ///
    /// # Shapes
    /// * `query`: `[prompts or 1, queries, width]`
    /// * `key`, `value`: `[prompts or 1, keys, width]`
    /// * output: `[prompts, queries, width]`
    fn forward(&self, query: Tensor<3>, key: Tensor<3>, value: Tensor<3>) -> Tensor<3> {
        let (query, key, value) = (self.query.forward(query), self.key.forward(key), self.value.forward(value));
        self.out.forward(attend(query, key, value, self.heads, Scores::default()))
    }
}

/// One exchange between prompt tokens and picture.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamTwoWayAttentionBlock`.
#[derive(Clone, Debug)]
struct TwoWayBlock {
    self_attention: Attention,
    norm1: LayerNorm,
    to_image: Attention,
    norm2: LayerNorm,
    mlp: Mlp,
    norm3: LayerNorm,
    to_tokens: Attention,
    norm4: LayerNorm,
    first: bool,
}

impl TwoWayBlock {
    fn load(scope: &Scope<'_>, config: &DecoderConfig, first: bool) -> Result<Self, CheckpointError> {
        let norm = |n: usize| LayerNorm::load(&scope.at(format!("layer_norm{n}")), config.width, config.epsilon);
        let cross = |name: &str| Attention::load(&scope.at(name), config, config.downsample);
        Ok(Self {
            self_attention: Attention::load(&scope.at("self_attn"), config, 1)?,
            norm1: norm(1)?,
            to_image: cross("cross_attn_token_to_image")?,
            norm2: norm(2)?,
            mlp: Mlp::load(&scope.at("mlp"), ["lin1", "lin2"], config.width, config.mlp, config.activation)?,
            norm3: norm(3)?,
            to_tokens: cross("cross_attn_image_to_token")?,
            norm4: norm(4)?,
            first,
        })
    }

    /// # Shapes
    /// * `tokens`, `token_places`: `[prompts, tokens, width]`
    /// * `image`: `[prompts or 1, cells, width]`
    /// * `image_places`: `[1, cells, width]`
    /// * output: tokens and image, both with all prompts
    fn forward(&self, tokens: Tensor<3>, image: Tensor<3>, token_places: &Tensor<3>, image_places: &Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let tokens = if self.first {
            // The first block has neither positions nor a residual here.
            self.self_attention.forward(tokens.clone(), tokens.clone(), tokens)
        } else {
            let placed = tokens.clone() + token_places.clone();
            tokens.clone() + self.self_attention.forward(placed.clone(), placed, tokens)
        };
        let tokens = self.norm1.forward(tokens);
        let placed_image = image.clone() + image_places.clone();
        let attended = self.to_image.forward(tokens.clone() + token_places.clone(), placed_image.clone(), image.clone());
        let tokens = self.norm2.forward(tokens + attended);
        let tokens = self.norm3.forward(tokens.clone() + self.mlp.forward(tokens));
        let attended = self.to_tokens.forward(placed_image, tokens.clone() + token_places.clone(), tokens.clone());
        (tokens, self.norm4.forward(image + attended))
    }
}

/// Linear layers with ReLU between.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamFeedForward`.
#[derive(Clone, Debug)]
struct Head(Vec<Linear>);

impl Head {
    fn load(scope: &Scope<'_>, [size_in, hidden, size_out]: [usize; 3], depth: usize) -> Result<Self, CheckpointError> {
        let mut layers = vec![Linear::load(&scope.at("proj_in"), size_in, hidden)?];
        for n in 0..depth.saturating_sub(2) {
            layers.push(Linear::load(&scope.at("layers").at(n), hidden, hidden)?);
        }
        layers.push(Linear::load(&scope.at("proj_out"), hidden, size_out)?);
        Ok(Self(layers))
    }

    /// # Shapes
    /// `[prompts, in]` → `[prompts, out]`
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let last = self.0.len() - 1;
        self.0.iter().enumerate().fold(x, |x, (n, layer)| {
            let x = layer.forward(x);
            if n < last { relu(x) } else { x }
        })
    }
}

/// Tokens and picture after the exchange.
pub struct Decoded {
    /// `[prompts, 1 + masks + prompt tokens, width]`
    pub tokens: Tensor<3>,
    /// `[prompts, cells, width]`
    pub image: Tensor<3>,
}

/// From embedding and prompt tokens to masks.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamMaskDecoder` and `SamTwoWayTransformer`.
#[derive(Clone, Debug)]
pub struct MaskDecoder {
    /// `[1, 1 + masks, width]`: quality token, then a token for each mask.
    own_tokens: Tensor<3>,
    blocks: Vec<TwoWayBlock>,
    final_attention: Attention,
    final_norm: LayerNorm,
    up1: UpConv,
    up_norm: LayerNorm,
    up2: UpConv,
    masks: Vec<Head>,
    quality: Head,
    width: usize,
}

impl MaskDecoder {
    /// Reads `mask_decoder`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &DecoderConfig) -> Result<Self, CheckpointError> {
        /// PyTorch's default, which the reference uses here.
        const FINAL_EPSILON: f64 = 1e-5;
        /// `SamLayerNorm`'s default.
        const UP_EPSILON: f64 = 1e-6;
        let width = config.width;
        let masks = config.alternatives + 1;
        let quality_token = scope.tensor("iou_token.weight", [1, width])?;
        let mask_tokens = scope.tensor("mask_tokens.weight", [masks, width])?;
        let transformer = scope.at("transformer");
        let layers = transformer.at("layers");
        let heads = scope.at("output_hypernetworks_mlps");
        Ok(Self {
            own_tokens: Tensor::cat(vec![quality_token, mask_tokens], 0).reshape([1, masks + 1, width]),
            blocks: (0..config.layers).map(|n| TwoWayBlock::load(&layers.at(n), config, n == 0)).collect::<Result<_, _>>()?,
            final_attention: Attention::load(&transformer.at("final_attn_token_to_image"), config, config.downsample)?,
            final_norm: LayerNorm::load(&transformer.at("layer_norm_final_attn"), width, FINAL_EPSILON)?,
            up1: UpConv::load(&scope.at("upscale_conv1"), width, width / 4, 2)?,
            up_norm: LayerNorm::load(&scope.at("upscale_layer_norm"), width / 4, UP_EPSILON)?,
            up2: UpConv::load(&scope.at("upscale_conv2"), width / 4, width / 8, 2)?,
            masks: (0..masks).map(|n| Head::load(&heads.at(n), [width, width, width / 8], 3)).collect::<Result<_, _>>()?,
            quality: Head::load(&scope.at("iou_prediction_head"), [width, config.quality_hidden, masks], config.quality_depth)?,
            width,
        })
    }

    /// Masks that a prompt can have: index 0 for clear prompts, the others for ambiguous ones.
    pub fn mask_count(&self) -> usize {
        self.masks.len()
    }

    /// Lets tokens and picture attend to one another. `blocks` limits how many blocks run; all of them are followed by the final attention.
    ///
    /// # Shapes
    /// * `prompts`: `[prompts, tokens, width]`
    /// * `image`: `[1, cells, width]`, the dense prompt added
    /// * `places`: `[1, cells, width]`
    pub fn exchange(&self, prompts: Tensor<3>, image: Tensor<3>, places: &Tensor<3>) -> Decoded {
        let (initial, decoded) = self.exchange_blocks(prompts, image, places, self.blocks.len());
        let Decoded { tokens, image } = decoded;
        let attended = self.final_attention.forward(tokens.clone() + initial, image.clone() + places.clone(), image.clone());
        Decoded { tokens: self.final_norm.forward(tokens + attended), image }
    }

    /// The first `count` blocks of [`MaskDecoder::exchange`]; gives the initial tokens too.
    pub fn exchange_blocks(&self, prompts: Tensor<3>, image: Tensor<3>, places: &Tensor<3>, count: usize) -> (Tensor<3>, Decoded) {
        let [batch, _, width] = prompts.dims();
        let own = self.own_tokens.clone().expand([batch, self.masks.len() + 1, width]);
        let initial = Tensor::cat(vec![own, prompts], 1);
        let start = (initial.clone(), image);
        let (tokens, image) =
            self.blocks.iter().take(count).fold(start, |(tokens, image), block| block.forward(tokens, image, &initial, places));
        (initial, Decoded { tokens, image })
    }

    /// The masks with the numbers `which`, four times finer than the grid.
    ///
    /// # Shapes
    /// → `[prompts, which, 4·grid, 4·grid]` logits, inside above 0
    pub fn masks(&self, decoded: &Decoded, grid: usize, which: Range<usize>) -> Tensor<4> {
        let [batch, _, width] = decoded.image.dims();
        let image = decoded.image.clone().reshape([batch, grid, grid, width]);
        let fine = Activation::Gelu.apply(self.up_norm.forward(self.up1.forward(image)));
        let fine = Activation::Gelu.apply(self.up2.forward(fine));
        let [_, rows, columns, channels] = fine.dims();
        let fine = fine.reshape([batch, rows * columns, channels]);
        let count = which.len();
        let weights: Vec<Tensor<3>> =
            which.map(|n| self.masks[n].forward(self.token(decoded, n + 1)).reshape([batch, 1, channels])).collect();
        Tensor::cat(weights, 1).matmul(fine.swap_dims(1, 2)).reshape([batch, count, rows, columns])
    }

    /// The network's own estimate of each mask's IoU.
    ///
    /// # Shapes
    /// → `[prompts, masks]`
    pub fn quality(&self, decoded: &Decoded) -> Tensor<2> {
        self.quality.forward(self.token(decoded, 0))
    }

    fn token(&self, decoded: &Decoded, n: usize) -> Tensor<2> {
        let batch = decoded.tokens.dims()[0];
        decoded.tokens.clone().narrow(1, n, 1).reshape([batch, self.width])
    }
}
