//! The Swin backbone: windows of attention on a map that shrinks stage by stage.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_swin.py`, `SwinBackbone` with `always_partition`: the windows keep their size and
//! the odd blocks their shift even on a smaller map.

use std::path::Path;

use burn::tensor::Tensor;

use super::Stages;
use super::config::{Config, activation};
use super::windows::{WindowAttention, WindowSizes, pad};
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Activation, LayerNorm, Linear, Mlp, PatchEmbed};

/// One feature level: `[1, rows, columns, channels]`.
pub type Level = Tensor<4>;

#[derive(Clone, Debug)]
struct Block {
    before: LayerNorm,
    attention: WindowAttention,
    after: LayerNorm,
    mlp: Mlp,
}

/// Sizes of a [`Block`].
#[derive(Clone, Copy)]
struct BlockSizes {
    width: usize,
    heads: usize,
    window: usize,
    hidden: usize,
    epsilon: f64,
    activation: Activation,
    shift: usize,
}

impl Block {
    fn load(scope: &Scope<'_>, sizes: BlockSizes) -> Result<Self, CheckpointError> {
        let BlockSizes { width, heads, window, hidden, epsilon, activation, shift } = sizes;
        Ok(Self {
            before: LayerNorm::load(&scope.at("layernorm_before"), width, epsilon)?,
            attention: WindowAttention::load(&scope.at("attention"), WindowSizes { width, heads, window, shift })?,
            after: LayerNorm::load(&scope.at("layernorm_after"), width, epsilon)?,
            mlp: Mlp::load(scope, ["intermediate.dense", "output.dense"], width, hidden, activation)?,
        })
    }

    /// # Shapes
    /// `[1, rows, columns, width]` → the same
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let x = self.attention.forward_onto(self.before.forward(x.clone()), x);
        self.mlp.forward_onto(self.after.forward(x.clone()), x)
    }
}

/// Halves the map: four neighbours side by side, normed, and reduced to twice the channels.
#[derive(Clone, Debug)]
struct Merge {
    norm: LayerNorm,
    reduction: Linear,
}

impl Merge {
    fn load(scope: &Scope<'_>, width: usize) -> Result<Self, CheckpointError> {
        Ok(Self {
            norm: LayerNorm::load(&scope.at("norm"), 4 * width, 1e-5)?,
            reduction: Linear::load_without_bias(&scope.at("reduction"), 4 * width, 2 * width)?,
        })
    }

    /// # Shapes
    /// `[1, rows, columns, width]` → `[1, ⌈rows/2⌉, ⌈columns/2⌉, 2·width]`
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let [_, rows, columns, width] = x.dims();
        let (down, across) = (rows.div_ceil(2), columns.div_ceil(2));
        let x = pad(x, 2 * down, 2 * across).reshape([down, 2, across, 2, width]);
        // Order of the neighbours: (even, even), (odd row, even), (even, odd column), (odd, odd).
        let joined = x.permute([0, 2, 3, 1, 4]).reshape([1, down, across, 4 * width]);
        self.reduction.forward(self.norm.forward(joined))
    }
}

#[derive(Clone, Debug)]
struct Stage {
    blocks: Vec<Block>,
    merge: Option<Merge>,
    /// Norm of the features that leave here.
    out: Option<LayerNorm>,
}

/// The backbone.
#[derive(Clone, Debug)]
pub struct Swin {
    patches: PatchEmbed,
    patch: usize,
    norm: LayerNorm,
    stages: Vec<Stage>,
}

impl Swin {
    /// Reads the backbone from `scope` (`model.backbone.conv_encoder.model`).
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &Config, folder: &Path) -> Result<Self, CheckpointError> {
        let swin = &config.backbone_config;
        let activation = activation(folder, "backbone_config.hidden_act", &swin.hidden_act)?;
        let embeddings = scope.at("embeddings");
        let mut stages = Vec::new();
        for (s, (&depth, &heads)) in swin.depths.iter().zip(&swin.num_heads).enumerate() {
            let width = config.swin_width(s);
            let at = scope.at(format!("encoder.layers.{s}"));
            let blocks = (0..depth).map(|b| {
                let sizes = BlockSizes {
                    width,
                    heads,
                    window: swin.window_size,
                    hidden: (width as f64 * swin.mlp_ratio) as usize,
                    epsilon: swin.layer_norm_eps,
                    activation,
                    shift: if b % 2 == 1 { swin.window_size / 2 } else { 0 },
                };
                Block::load(&at.at(format!("blocks.{b}")), sizes)
            });
            stages.push(Stage {
                blocks: blocks.collect::<Result<_, _>>()?,
                merge: if s + 1 < swin.depths.len() { Some(Merge::load(&at.at("downsample"), width)?) } else { None },
                out: if swin.out_indices.contains(&(s + 1)) {
                    Some(LayerNorm::load(&scope.at(format!("hidden_states_norms.stage{}", s + 1)), width, 1e-5)?)
                } else {
                    None
                },
            });
        }
        Ok(Self {
            patches: PatchEmbed::load(&embeddings.at("patch_embeddings.projection"), swin.embed_dim, swin.patch_size, true)?,
            patch: swin.patch_size,
            norm: LayerNorm::load(&embeddings.at("norm"), swin.embed_dim, 1e-5)?,
            stages,
        })
    }

    /// Features of the picture's stages, finest first.
    ///
    /// # Shapes
    /// * `pixels`: `[1, 3, rows, columns]`; padded with zeros to whole patches
    /// * output: `[1, rows', columns', channels]` each, at strides 8, 16 and 32
    pub fn forward(&self, pixels: Tensor<4>, stages: &mut Stages<'_>) -> Vec<Level> {
        let [batch, channels, height, width] = pixels.dims();
        let (tall, wide) = (height.next_multiple_of(self.patch), width.next_multiple_of(self.patch));
        let pixels = if (tall, wide) == (height, width) {
            pixels
        } else {
            let zeros = Tensor::zeros([batch, channels, tall, wide], &pixels.device());
            zeros.slice_assign([0..batch, 0..channels, 0..height, 0..width], pixels)
        };
        let mut x = self.norm.forward(self.patches.forward(pixels));
        stages.keep("swin_embeddings", || cells(&x));
        let mut levels = Vec::new();
        for (number, stage) in self.stages.iter().enumerate() {
            for (block_number, block) in stage.blocks.iter().enumerate() {
                x = block.forward(x);
                stages.keep(format_args!("swin_stage{}_block{block_number}", number + 1), || cells(&x));
            }
            if let Some(norm) = &stage.out {
                let level = norm.forward(x.clone());
                stages.keep(format_args!("swin_feature{}", levels.len()), || level.clone().permute([0, 3, 1, 2]));
                levels.push(level);
            }
            if let Some(merge) = &stage.merge {
                x = merge.forward(x);
                stages.keep(format_args!("swin_stage{}_down", number + 1), || cells(&x));
            }
        }
        levels
    }
}

/// `[1, rows, columns, width]` → `[1, rows·columns, width]`
fn cells(x: &Tensor<4>) -> Tensor<3> {
    let [_, rows, columns, width] = x.dims();
    x.clone().reshape([1, rows * columns, width])
}
