//! SAM's image encoder: a vision transformer with windows and relative positions.

use burn::tensor::Tensor;

use super::attention::SquareAttention;
use super::config::EncoderConfig;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Conv2d, ConvSizes, LayerNorm, LayerNorm2d, Mlp, PatchEmbed};

/// A pre-norm block whose attention spans windows or, without `window`, the picture.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamVisionLayer`.
#[derive(Clone, Debug)]
pub struct EncoderBlock {
    norm1: LayerNorm,
    attention: SquareAttention,
    norm2: LayerNorm,
    mlp: Mlp,
}

impl EncoderBlock {
    fn load(scope: &Scope<'_>, config: &EncoderConfig, window: Option<usize>) -> Result<Self, CheckpointError> {
        Ok(Self {
            norm1: LayerNorm::load(&scope.at("layer_norm1"), config.width, config.epsilon)?,
            attention: SquareAttention::load(&scope.at("attn"), config, window)?,
            norm2: LayerNorm::load(&scope.at("layer_norm2"), config.width, config.epsilon)?,
            mlp: Mlp::load(&scope.at("mlp"), ["lin1", "lin2"], config.width, config.mlp, config.activation)?,
        })
    }

    /// # Shapes
    /// `[batch, grid, grid, width]` → the same
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let x = self.attention.forward_onto(self.norm1.forward(x.clone()), x);
        self.mlp.forward_onto(self.norm2.forward(x.clone()), x)
    }
}

/// From normalised pixels to the embedding that prompts work on.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamVisionEncoder`.
#[derive(Clone, Debug)]
pub struct ImageEncoder {
    patches: PatchEmbed,
    positions: Tensor<4>,
    pub blocks: Vec<EncoderBlock>,
    neck1: Conv2d,
    neck_norm1: LayerNorm2d,
    neck2: Conv2d,
    neck_norm2: LayerNorm2d,
}

impl ImageEncoder {
    /// Reads `vision_encoder`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &EncoderConfig) -> Result<Self, CheckpointError> {
        /// The neck's own, whatever `layer_norm_eps` says (`SamLayerNorm`'s default).
        const NECK_EPSILON: f64 = 1e-6;
        let (width, channels, grid) = (config.width, config.channels, config.grid());
        let layers = scope.at("layers");
        let window = |n: usize| (!config.global.contains(&n)).then_some(config.window);
        let neck = scope.at("neck");
        let sizes =
            |channels_in, kernel, padding| ConvSizes { channels_in, channels_out: channels, kernel, stride: 1, padding, bias: false };
        Ok(Self {
            patches: PatchEmbed::load(&scope.at("patch_embed").at("projection"), width, config.patch, true)?,
            positions: scope.tensor("pos_embed", [1, grid, grid, width])?,
            blocks: (0..config.layers).map(|n| EncoderBlock::load(&layers.at(n), config, window(n))).collect::<Result<_, _>>()?,
            neck1: Conv2d::load(&neck.at("conv1"), sizes(width, 1, 0))?,
            neck_norm1: LayerNorm2d::load(&neck.at("layer_norm1"), channels, NECK_EPSILON)?,
            neck2: Conv2d::load(&neck.at("conv2"), sizes(channels, 3, 1))?,
            neck_norm2: LayerNorm2d::load(&neck.at("layer_norm2"), channels, NECK_EPSILON)?,
        })
    }

    /// # Shapes
    /// `[batch, 3, side, side]` → `[batch, grid, grid, width]`
    pub fn patches(&self, pixels: Tensor<4>) -> Tensor<4> {
        self.patches.forward(pixels)
    }

    /// Adds the positions.
    ///
    /// # Shapes
    /// `[batch, grid, grid, width]` → the same
    pub fn positioned(&self, patches: Tensor<4>) -> Tensor<4> {
        patches + self.positions.clone()
    }

    /// # Shapes
    /// `[batch, grid, grid, width]` → `[batch, channels, grid, grid]`
    pub fn neck(&self, x: Tensor<4>) -> Tensor<4> {
        let x = self.neck_norm1.forward(self.neck1.forward(x.permute([0, 3, 1, 2])));
        self.neck_norm2.forward(self.neck2.forward(x))
    }

    /// # Shapes
    /// `[batch, 3, side, side]` → `[batch, channels, grid, grid]`
    pub fn forward(&self, pixels: Tensor<4>) -> Tensor<4> {
        let x = self.positioned(self.patches(pixels));
        self.neck(self.blocks.iter().fold(x, |x, block| block.forward(x)))
    }
}
