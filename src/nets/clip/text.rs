//! CLIP's text model.

use burn::tensor::{Int, Tensor, TensorData};

use super::config::ClipConfig;
use super::transformer::{Block, load_blocks};
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Embedding, LayerNorm, Linear};

/// From token numbers to projected features.
///
/// Arithmetic: transformers, `modeling_clip.py`, `CLIPTextTransformer` and `CLIPModel.get_text_features`.
#[derive(Clone, Debug)]
pub struct TextModel {
    tokens: Embedding,
    positions: Tensor<2>,
    pub blocks: Vec<Block>,
    final_norm: LayerNorm,
    projection: Linear,
}

impl TextModel {
    /// Reads `text_model` and `text_projection` below `root`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(root: &Scope<'_>, config: &ClipConfig) -> Result<Self, CheckpointError> {
        let scope = root.at("text_model");
        let embeddings = scope.at("embeddings");
        let width = config.text.width;
        Ok(Self {
            tokens: Embedding::load(&embeddings.at("token_embedding"), config.vocabulary, width)?,
            positions: embeddings.tensor("position_embedding.weight", [config.positions, width])?,
            blocks: load_blocks(&scope, &config.text, true)?,
            final_norm: LayerNorm::load(&scope.at("final_layer_norm"), width, config.text.epsilon)?,
            projection: Linear::load_without_bias(&root.at("text_projection"), width, config.projection)?,
        })
    }

    /// # Shapes
    /// `[batch, tokens]` of numbers within the vocabulary, at most as many as positions → `[batch, tokens, width]`
    pub fn embed(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        let [_, tokens] = ids.dims();
        self.tokens.forward(ids) + self.positions.clone().narrow(0, 0, tokens).unsqueeze()
    }

    /// # Shapes
    /// `[batch, tokens, width]` → the same
    pub fn final_norm(&self, x: Tensor<3>) -> Tensor<3> {
        self.final_norm.forward(x)
    }

    /// Unnormalised features of texts of possibly different lengths; shorter ones are filled with `filler`, which the causal mask hides.
    ///
    /// # Shapes
    /// `texts`: the numbers of each text, none empty → `[texts, projection]`
    pub fn forward(&self, texts: &[Vec<u32>], filler: u32) -> Tensor<2> {
        let device = self.positions.device();
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
        let ids: Vec<i32> =
            texts.iter().flat_map(|ids| ids.iter().copied().chain(std::iter::repeat(filler)).take(longest)).map(|id| id as i32).collect();
        let ids = Tensor::<2, Int>::from_data(TensorData::new(ids, [texts.len(), longest]), &device);
        let x = self.blocks.iter().fold(self.embed(ids), |x, block| block.forward(x));
        let [batch, tokens, width] = x.dims();
        let ends: Vec<i32> = texts.iter().enumerate().map(|(n, ids)| (n * tokens + end_of(ids)) as i32).collect();
        let ends = Tensor::<1, Int>::from_data(TensorData::new(ends, [batch]), &device);
        // The norm works token by token, so it is needed only where it is read.
        let pooled = self.final_norm.forward(x.reshape([batch * tokens, width]).select(0, ends));
        self.projection.forward(pooled)
    }
}

/// Where a text is read off: its largest number, the first if there are several. In CLIP's vocabulary that is the end token.
fn end_of(ids: &[u32]) -> usize {
    (0..ids.len()).rev().max_by_key(|&at| ids[at]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn the_first_of_equal_ends_counts() {
        assert_eq!(end_of(&[5, 9, 2, 9, 9]), 1);
        assert_eq!(end_of(&[7]), 0);
    }
}
