//! CLIP's picture model.

use burn::tensor::Tensor;

use super::config::ClipConfig;
use super::transformer::{Block, load_blocks};
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{LayerNorm, Linear, PatchEmbed};

/// From normalised pixels to projected features.
///
/// Arithmetic: transformers, `modeling_clip.py`, `CLIPVisionTransformer` and `CLIPModel.get_image_features`.
#[derive(Clone, Debug)]
pub struct VisionModel {
    patches: PatchEmbed,
    class: Tensor<1>,
    positions: Tensor<2>,
    pre_norm: LayerNorm,
    pub blocks: Vec<Block>,
    post_norm: LayerNorm,
    projection: Linear,
}

impl VisionModel {
    /// Reads `vision_model` and `visual_projection` below `root`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(root: &Scope<'_>, config: &ClipConfig) -> Result<Self, CheckpointError> {
        let scope = root.at("vision_model");
        let embeddings = scope.at("embeddings");
        let width = config.vision.width;
        let tokens = config.grid() * config.grid() + 1;
        Ok(Self {
            patches: PatchEmbed::load(&embeddings.at("patch_embedding"), width, config.patch, false)?,
            class: embeddings.tensor("class_embedding", [width])?,
            positions: embeddings.tensor("position_embedding.weight", [tokens, width])?,
            // The published name has this spelling.
            pre_norm: LayerNorm::load(&scope.at("pre_layrnorm"), width, config.vision.epsilon)?,
            blocks: load_blocks(&scope, &config.vision, false)?,
            post_norm: LayerNorm::load(&scope.at("post_layernorm"), width, config.vision.epsilon)?,
            projection: Linear::load_without_bias(&root.at("visual_projection"), width, config.projection)?,
        })
    }

    /// Patches as tokens.
    ///
    /// # Shapes
    /// `[batch, 3, side, side]` → `[batch, rows, columns, width]`
    pub fn patches(&self, pixels: Tensor<4>) -> Tensor<4> {
        self.patches.forward(pixels)
    }

    /// Class token in front, positions added.
    ///
    /// # Shapes
    /// `[batch, rows, columns, width]` → `[batch, 1 + rows·columns, width]`
    pub fn embed(&self, patches: Tensor<4>) -> Tensor<3> {
        let [batch, rows, columns, width] = patches.dims();
        let class = self.class.clone().reshape([1, 1, width]).expand([batch, 1, width]);
        Tensor::cat(vec![class, patches.reshape([batch, rows * columns, width])], 1) + self.positions.clone().unsqueeze()
    }

    /// # Shapes
    /// `[batch, tokens, width]` → the same
    pub fn pre_norm(&self, x: Tensor<3>) -> Tensor<3> {
        self.pre_norm.forward(x)
    }

    /// The class token, normalised.
    ///
    /// # Shapes
    /// `[batch, tokens, width]` → `[batch, width]`
    pub fn pool(&self, x: Tensor<3>) -> Tensor<2> {
        self.post_norm.forward(x.narrow(1, 0, 1).squeeze_dim::<2>(1))
    }

    /// # Shapes
    /// `[batch, width]` → `[batch, projection]`
    pub fn project(&self, pooled: Tensor<2>) -> Tensor<2> {
        self.projection.forward(pooled)
    }

    /// Unnormalised features of normalised pictures.
    ///
    /// # Shapes
    /// `[batch, 3, side, side]` → `[batch, projection]`
    pub fn forward(&self, pixels: Tensor<4>) -> Tensor<2> {
        let x = self.pre_norm(self.embed(self.patches(pixels)));
        let x = match self.blocks.split_last() {
            // Of the last block only the class token is read.
            Some((last, others)) => last.forward_first(others.iter().fold(x, |x, block| block.forward(x))),
            None => x,
        };
        self.project(self.pool(x))
    }
}
