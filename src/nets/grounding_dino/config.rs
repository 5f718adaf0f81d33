//! `config.json` and `preprocessor_config.json` of a Grounding DINO folder. The published file leaves defaults out; they are
//! transformers' (`GroundingDinoConfig`, `SwinConfig`, `BertConfig`).

use std::path::Path;

use serde::Deserialize;

use crate::nets::checkpoint::{CONFIG, CheckpointError, PREPROCESSOR, expect_model_type, expect_value, read_json};
use crate::nets::layers::Activation;
use crate::nets::pixels::{Normalisation, Preprocessor, SizeField};

/// Sizes of the Swin backbone.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default)]
pub struct SwinConfig {
    pub model_type: String,
    /// Channels of the first stage; each later stage doubles them.
    pub embed_dim: usize,
    /// Blocks a stage.
    pub depths: Vec<usize>,
    /// Heads a stage.
    pub num_heads: Vec<usize>,
    pub window_size: usize,
    pub patch_size: usize,
    pub mlp_ratio: f64,
    pub layer_norm_eps: f64,
    pub hidden_act: String,
    pub qkv_bias: bool,
    pub use_absolute_embeddings: bool,
    /// Stages whose features leave the backbone, counted from 1.
    pub out_indices: Vec<usize>,
}

impl Default for SwinConfig {
    fn default() -> Self {
        Self {
            model_type: "swin".to_owned(),
            embed_dim: 96,
            depths: vec![2, 2, 6, 2],
            num_heads: vec![3, 6, 12, 24],
            window_size: 7,
            patch_size: 4,
            mlp_ratio: 4.0,
            layer_norm_eps: 1e-5,
            hidden_act: "gelu".to_owned(),
            qkv_bias: true,
            use_absolute_embeddings: false,
            out_indices: vec![2, 3, 4],
        }
    }
}

/// Sizes of the BERT text model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default)]
pub struct BertConfig {
    pub model_type: String,
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub intermediate_size: usize,
    pub vocab_size: usize,
    pub max_position_embeddings: usize,
    pub type_vocab_size: usize,
    pub layer_norm_eps: f64,
    pub hidden_act: String,
    pub position_embedding_type: String,
}

impl Default for BertConfig {
    fn default() -> Self {
        Self {
            model_type: "bert".to_owned(),
            hidden_size: 768,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            intermediate_size: 3072,
            vocab_size: 30522,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            layer_norm_eps: 1e-12,
            hidden_act: "gelu".to_owned(),
            position_embedding_type: "absolute".to_owned(),
        }
    }
}

/// Sizes of the whole network.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default)]
pub struct Config {
    pub model_type: String,
    pub backbone_config: SwinConfig,
    pub text_config: BertConfig,
    pub d_model: usize,
    pub encoder_layers: usize,
    pub decoder_layers: usize,
    pub encoder_attention_heads: usize,
    pub decoder_attention_heads: usize,
    pub encoder_ffn_dim: usize,
    pub decoder_ffn_dim: usize,
    pub encoder_n_points: usize,
    pub decoder_n_points: usize,
    pub num_queries: usize,
    pub num_feature_levels: usize,
    pub max_text_len: usize,
    pub activation_function: String,
    pub positional_embedding_temperature: f64,
    pub position_embedding_type: String,
    pub query_dim: usize,
    pub two_stage: bool,
    /// Whether the queries' contents are learnt.
    pub embedding_init_target: bool,
    /// Whether one box head serves all decoder layers.
    pub decoder_bbox_embed_share: bool,
    pub use_timm_backbone: bool,
    pub layer_norm_eps: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model_type: "grounding-dino".to_owned(),
            backbone_config: SwinConfig::default(),
            text_config: BertConfig::default(),
            d_model: 256,
            encoder_layers: 6,
            decoder_layers: 6,
            encoder_attention_heads: 8,
            decoder_attention_heads: 8,
            encoder_ffn_dim: 2048,
            decoder_ffn_dim: 2048,
            encoder_n_points: 4,
            decoder_n_points: 4,
            num_queries: 900,
            num_feature_levels: 4,
            max_text_len: 256,
            activation_function: "relu".to_owned(),
            positional_embedding_temperature: 20.0,
            position_embedding_type: "sine".to_owned(),
            query_dim: 4,
            two_stage: true,
            embedding_init_target: true,
            decoder_bbox_embed_share: true,
            use_timm_backbone: false,
            layer_norm_eps: 1e-5,
        }
    }
}

impl Config {
    /// Reads `config.json` of `folder` and checks that it describes this architecture.
    ///
    /// # Errors
    /// When the file is missing, damaged, or asks for something else; the error names the field.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let config: Self = read_json(folder, CONFIG)?;
        config.check(folder)?;
        Ok(config)
    }

    /// Checks that this architecture is described, and that its sizes fit one another; `folder` is for messages.
    pub(super) fn check(&self, folder: &Path) -> Result<(), CheckpointError> {
        self.expect_architecture(folder)?;
        self.expect_sizes(folder)
    }

    /// Checks the fields of which this program supports one value only.
    fn expect_architecture(&self, folder: &Path) -> Result<(), CheckpointError> {
        expect_model_type(folder, &self.model_type, "grounding-dino")?;
        let (swin, bert) = (&self.backbone_config, &self.text_config);
        let text = |field: &str, found: &str, needed: &str| expect_value(folder, CONFIG, field, &found, &needed);
        let flag = |field: &str, found: bool, needed: bool| expect_value(folder, CONFIG, field, &found, &needed);
        text("backbone_config.model_type", &swin.model_type, "swin")?;
        flag("backbone_config.qkv_bias", swin.qkv_bias, true)?;
        flag("backbone_config.use_absolute_embeddings", swin.use_absolute_embeddings, false)?;
        text("backbone_config.out_indices", &format!("{:?}", swin.out_indices), "[2, 3, 4]")?;
        text("text_config.model_type", &bert.model_type, "bert")?;
        text("text_config.position_embedding_type", &bert.position_embedding_type, "absolute")?;
        text("position_embedding_type", &self.position_embedding_type, "sine")?;
        flag("use_timm_backbone", self.use_timm_backbone, false)?;
        flag("two_stage", self.two_stage, true)?;
        flag("embedding_init_target", self.embedding_init_target, true)
    }

    /// Checks that the sizes fit one another.
    fn expect_sizes(&self, folder: &Path) -> Result<(), CheckpointError> {
        let (swin, bert) = (&self.backbone_config, &self.text_config);
        let count = |field: &str, found: usize, needed: usize| expect_value(folder, CONFIG, field, &found, &needed);
        count("query_dim", self.query_dim, 4)?;
        count("number of backbone_config.depths", swin.depths.len(), 4)?;
        count("number of backbone_config.num_heads", swin.num_heads.len(), 4)?;
        count("num_feature_levels", self.num_feature_levels, swin.out_indices.len() + 1)?;
        let refuse = |field: &str, found: String, needed: String| {
            Err(CheckpointError::Config { path: folder.join(CONFIG), field: field.to_owned(), found, needed })
        };
        let half = self.encoder_ffn_dim / 2;
        let stages = swin.num_heads.iter().enumerate().map(|(stage, &heads)| ("backbone_config.num_heads", heads, self.swin_width(stage)));
        let parts = [
            ("encoder_attention_heads", self.encoder_attention_heads, self.d_model),
            ("encoder_attention_heads, of which every second fuses,", 2 * (self.encoder_attention_heads / 2), 2 * half),
            ("decoder_attention_heads", self.decoder_attention_heads, self.d_model),
            ("the number of groups of the levels' norm", 32, self.d_model),
            ("text_config.num_attention_heads", bert.num_attention_heads, bert.hidden_size),
        ];
        for (field, parts, width) in parts.into_iter().chain(stages) {
            if parts == 0 || width == 0 || width % parts != 0 {
                return refuse(field, parts.to_string(), format!("a divisor of the width, {width}"));
            }
        }
        let positive = [
            ("backbone_config.window_size", swin.window_size),
            ("backbone_config.patch_size", swin.patch_size),
            ("text_config.type_vocab_size", bert.type_vocab_size),
            ("encoder_n_points", self.encoder_n_points),
            ("decoder_n_points", self.decoder_n_points),
            ("decoder_layers", self.decoder_layers),
            ("num_queries", self.num_queries),
            ("max_text_len", self.max_text_len),
        ];
        if let Some((field, _)) = positive.into_iter().find(|(_, size)| *size == 0) {
            return refuse(field, "0".to_owned(), "at least 1".to_owned());
        }
        if self.max_text_len > bert.max_position_embeddings {
            let needed = format!("at most text_config.max_position_embeddings, {}", bert.max_position_embeddings);
            return refuse("max_text_len", self.max_text_len.to_string(), needed);
        }
        Ok(())
    }

    /// Channels of Swin's stage `stage` (from 0).
    pub fn swin_width(&self, stage: usize) -> usize {
        self.backbone_config.embed_dim << stage
    }
}

/// How pictures become pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preprocessing {
    /// What the shorter side becomes.
    pub shortest: u32,
    /// What the longer side is limited to.
    pub longest: u32,
    pub normalisation: Normalisation,
}

impl Preprocessing {
    /// Reads `preprocessor_config.json` of `folder`.
    ///
    /// # Errors
    /// When the file is missing or damaged, or asks for another kind of resize.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let read = Preprocessor::load(folder, BILINEAR)?;
        let normalisation = read.normalisation(Normalisation::IMAGENET);
        match read.size {
            Some(SizeField::Edges { shortest_edge: shortest @ 1.., longest_edge: Some(longest) }) if longest >= shortest => {
                Ok(Self { shortest, longest, normalisation })
            }
            None => Ok(Self { normalisation, ..Self::PUBLISHED }),
            Some(other) => Err(CheckpointError::Config {
                path: folder.join(PREPROCESSOR),
                field: "size".to_owned(),
                found: format!("{other:?}"),
                needed: "a shortest_edge and a longest_edge that is not shorter".to_owned(),
            }),
        }
    }
}

/// PIL's number of the bilinear filter.
const BILINEAR: u32 = 2;

/// The activation of a field of `folder`'s configuration.
pub(super) fn activation(folder: &Path, field: &str, name: &str) -> Result<Activation, CheckpointError> {
    Activation::from_config(folder, field, name)
}
