//! Grounding DINO's sizes, read off the shapes of its tensors.

use super::config::{BertConfig, Config, Preprocessing, SwinConfig};
use crate::nets::checkpoint::{CheckpointError, Weights};
use crate::nets::pixels::Normalisation;

/// Heads of the encoder's and decoder's attentions in both published networks (GroundingDINO, `config/*.py`, `nheads`).
const HEADS: usize = 8;
/// Width of a head of BERT base.
const BERT_HEAD: usize = 64;

impl Config {
    /// The sizes of weights without `config.json`: those that shapes show, and for the others the defaults, which both published networks have.
    ///
    /// # Errors
    /// When a tensor that tells a size is missing, or sizes contradict each other.
    pub fn inferred(weights: &Weights) -> Result<Self, CheckpointError> {
        let fusion = "model.encoder.layers.0.fusion_layer.attn.vision_proj.weight";
        let points = "model.decoder.layers.0.encoder_attn.attention_weights.weight";
        let encoder_points = "model.encoder.layers.0.deformable_layer.self_attn.attention_weights.weight";
        let levels = weights.side("model.level_embed", 0)?;
        let config = Self {
            backbone_config: swin(weights)?,
            text_config: bert(weights)?,
            d_model: weights.side(fusion, 1)?,
            encoder_layers: weights.numbered("model.encoder.layers", "deformable_layer.fc1.weight"),
            decoder_layers: weights.numbered("model.decoder.layers", "fc1.weight"),
            encoder_attention_heads: HEADS,
            decoder_attention_heads: HEADS,
            encoder_ffn_dim: weights.side("model.encoder.layers.0.deformable_layer.fc1.weight", 0)?,
            decoder_ffn_dim: weights.side("model.decoder.layers.0.fc1.weight", 0)?,
            encoder_n_points: weights.parts(encoder_points, weights.side(encoder_points, 0)?, HEADS * levels)?,
            decoder_n_points: weights.parts(points, weights.side(points, 0)?, HEADS * levels)?,
            num_queries: weights.side("model.query_position_embeddings.weight", 0)?,
            num_feature_levels: levels,
            ..Self::default()
        };
        config.check(weights.path().parent().unwrap_or(weights.path()))?;
        Ok(config)
    }

    /// The sizes in words.
    pub fn words(&self) -> String {
        let SwinConfig { embed_dim, depths, num_heads, window_size, .. } = &self.backbone_config;
        format!(
            "Swin {embed_dim} wide with {depths:?} blocks of {num_heads:?} heads in windows of {window_size}, BERT {} wide in {} layers, {}+{} layers, {} queries",
            self.text_config.hidden_size, self.text_config.num_hidden_layers, self.encoder_layers, self.decoder_layers, self.num_queries
        )
    }
}

fn swin(weights: &Weights) -> Result<SwinConfig, CheckpointError> {
    let base = "model.backbone.conv_encoder.model";
    let projection = format!("{base}.embeddings.patch_embeddings.projection.weight");
    let table =
        |stage: usize, block: usize| format!("{base}.encoder.layers.{stage}.blocks.{block}.attention.self.relative_position_bias_table");
    let stages = weights.numbered(&format!("{base}.encoder.layers"), "blocks.0.layernorm_before.weight");
    // A table for windows of n × n cells has (2n − 1)² rows.
    let side = weights.root_of(&table(0, 0), weights.side(&table(0, 0), 0)?)?;
    Ok(SwinConfig {
        embed_dim: weights.side(&projection, 0)?,
        depths: (0..stages)
            .map(|stage| weights.numbered(&format!("{base}.encoder.layers.{stage}.blocks"), "layernorm_before.weight"))
            .collect(),
        num_heads: (0..stages).map(|stage| weights.side(&table(stage, 0), 1)).collect::<Result<_, _>>()?,
        window_size: side.div_ceil(2),
        patch_size: weights.side(&projection, 2)?,
        ..SwinConfig::default()
    })
}

fn bert(weights: &Weights) -> Result<BertConfig, CheckpointError> {
    let embeddings = "model.text_backbone.embeddings";
    let words = format!("{embeddings}.word_embeddings.weight");
    let layers = "model.text_backbone.encoder.layer";
    let width = weights.side(&words, 1)?;
    Ok(BertConfig {
        hidden_size: width,
        num_hidden_layers: weights.numbered(layers, "intermediate.dense.weight"),
        num_attention_heads: weights.parts(&words, width, BERT_HEAD)?,
        intermediate_size: weights.side(&format!("{layers}.0.intermediate.dense.weight"), 0)?,
        vocab_size: weights.side(&words, 0)?,
        max_position_embeddings: weights.side(&format!("{embeddings}.position_embeddings.weight"), 0)?,
        type_vocab_size: weights.side(&format!("{embeddings}.token_type_embeddings.weight"), 0)?,
        ..BertConfig::default()
    })
}

impl Preprocessing {
    /// The published preprocessing: shorter side 800, longer at most 1333.
    pub const PUBLISHED: Self = Self { shortest: 800, longest: 1333, normalisation: Normalisation::IMAGENET };
}
