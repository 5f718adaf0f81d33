//! SAM's configuration and picture preprocessing.

use std::path::Path;

use serde::Deserialize;

use crate::domain::Size;
use crate::nets::checkpoint::{CONFIG, CheckpointError, PREPROCESSOR, expect_model_type, expect_value, read_json};
use crate::nets::layers::Activation;
use crate::nets::pixels::{Normalisation, Preprocessor, SizeField};

/// Sizes of the image encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct EncoderConfig {
    pub width: usize,
    pub layers: usize,
    pub heads: usize,
    pub mlp: usize,
    pub activation: Activation,
    pub epsilon: f64,
    /// Side of the network's picture in pixels.
    pub side: usize,
    pub patch: usize,
    /// Side of a window in patches.
    pub window: usize,
    /// Blocks whose attention spans the whole picture.
    pub global: Vec<usize>,
    /// Channels of the embedding.
    pub channels: usize,
}

impl EncoderConfig {
    /// Patches along a side.
    pub fn grid(&self) -> usize {
        self.side / self.patch
    }
}

/// Sizes of the mask decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct DecoderConfig {
    /// Width of tokens and channels of the embedding.
    pub width: usize,
    pub layers: usize,
    pub heads: usize,
    pub mlp: usize,
    pub activation: Activation,
    pub epsilon: f64,
    /// Cross attention works in `width / downsample`.
    pub downsample: usize,
    /// Masks for ambiguous prompts, beside the one for clear ones.
    pub alternatives: usize,
    pub quality_depth: usize,
    pub quality_hidden: usize,
}

/// `config.json` with the defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct SamConfig {
    pub encoder: EncoderConfig,
    pub decoder: DecoderConfig,
}

#[derive(Deserialize)]
struct File {
    model_type: String,
    #[serde(default)]
    vision_config: Vision,
    #[serde(default)]
    prompt_encoder_config: Prompt,
    #[serde(default)]
    mask_decoder_config: Decoder,
}

/// Defaults: transformers, `configuration_sam.py`, `SamVisionConfig`.
#[derive(Deserialize)]
#[serde(default)]
struct Vision {
    hidden_size: usize,
    output_channels: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_channels: usize,
    image_size: usize,
    patch_size: usize,
    hidden_act: String,
    layer_norm_eps: f64,
    qkv_bias: bool,
    mlp_ratio: f64,
    use_abs_pos: bool,
    use_rel_pos: bool,
    window_size: usize,
    global_attn_indexes: Vec<usize>,
    num_pos_feats: usize,
    mlp_dim: Option<usize>,
}

impl Default for Vision {
    fn default() -> Self {
        Self {
            hidden_size: 768,
            output_channels: 256,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            num_channels: 3,
            image_size: 1024,
            patch_size: 16,
            hidden_act: "gelu".to_owned(),
            layer_norm_eps: 1e-6,
            qkv_bias: true,
            mlp_ratio: 4.0,
            use_abs_pos: true,
            use_rel_pos: true,
            window_size: 14,
            global_attn_indexes: vec![2, 5, 8, 11],
            num_pos_feats: 128,
            mlp_dim: None,
        }
    }
}

/// Defaults: transformers, `configuration_sam.py`, `SamPromptEncoderConfig`.
#[derive(Deserialize)]
#[serde(default)]
struct Prompt {
    hidden_size: usize,
    image_size: usize,
    patch_size: usize,
    num_point_embeddings: usize,
}

impl Default for Prompt {
    fn default() -> Self {
        Self { hidden_size: 256, image_size: 1024, patch_size: 16, num_point_embeddings: 4 }
    }
}

/// Defaults: transformers, `configuration_sam.py`, `SamMaskDecoderConfig`.
#[derive(Deserialize)]
#[serde(default)]
struct Decoder {
    hidden_size: usize,
    hidden_act: String,
    mlp_dim: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    attention_downsample_rate: usize,
    num_multimask_outputs: usize,
    iou_head_depth: usize,
    iou_head_hidden_dim: usize,
    layer_norm_eps: f64,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            hidden_size: 256,
            hidden_act: "relu".to_owned(),
            mlp_dim: 2048,
            num_hidden_layers: 2,
            num_attention_heads: 8,
            attention_downsample_rate: 2,
            num_multimask_outputs: 3,
            iou_head_depth: 3,
            iou_head_hidden_dim: 256,
            layer_norm_eps: 1e-6,
        }
    }
}

impl SamConfig {
    /// Reads `config.json`.
    ///
    /// # Errors
    /// When it is missing, describes another architecture, or sizes that cannot be.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let file: File = read_json(folder, CONFIG)?;
        expect_model_type(folder, &file.model_type, "sam")?;
        check(folder, &file)?;
        let (vision, decoder) = (file.vision_config, file.mask_decoder_config);
        Ok(Self {
            encoder: EncoderConfig {
                width: vision.hidden_size,
                layers: vision.num_hidden_layers,
                heads: vision.num_attention_heads,
                // Rounded down, as in the reference.
                mlp: vision.mlp_dim.unwrap_or((vision.hidden_size as f64 * vision.mlp_ratio) as usize),
                activation: Activation::from_config(folder, "vision_config.hidden_act", &vision.hidden_act)?,
                epsilon: vision.layer_norm_eps,
                side: vision.image_size,
                patch: vision.patch_size,
                window: vision.window_size,
                global: vision.global_attn_indexes,
                channels: vision.output_channels,
            },
            decoder: DecoderConfig {
                width: decoder.hidden_size,
                layers: decoder.num_hidden_layers,
                heads: decoder.num_attention_heads,
                mlp: decoder.mlp_dim,
                activation: Activation::from_config(folder, "mask_decoder_config.hidden_act", &decoder.hidden_act)?,
                epsilon: decoder.layer_norm_eps,
                downsample: decoder.attention_downsample_rate,
                alternatives: decoder.num_multimask_outputs,
                quality_depth: decoder.iou_head_depth,
                quality_hidden: decoder.iou_head_hidden_dim,
            },
        })
    }
}

/// What the parts assume of one another, and what this program supports in one way only.
fn check(folder: &Path, file: &File) -> Result<(), CheckpointError> {
    let (vision, prompt, decoder) = (&file.vision_config, &file.prompt_encoder_config, &file.mask_decoder_config);
    let same = |field: &str, found: usize, needed: usize| expect_value(folder, CONFIG, field, &found, &needed);
    for (field, value) in [("qkv_bias", vision.qkv_bias), ("use_abs_pos", vision.use_abs_pos), ("use_rel_pos", vision.use_rel_pos)] {
        expect_value(folder, CONFIG, &format!("vision_config.{field}"), &value, &true)?;
    }
    same("vision_config.num_channels", vision.num_channels, 3)?;
    same("prompt_encoder_config.num_point_embeddings", prompt.num_point_embeddings, 4)?;
    same("prompt_encoder_config.image_size", prompt.image_size, vision.image_size)?;
    same("prompt_encoder_config.patch_size", prompt.patch_size, vision.patch_size)?;
    same("prompt_encoder_config.hidden_size", prompt.hidden_size, vision.output_channels)?;
    same("mask_decoder_config.hidden_size", decoder.hidden_size, vision.output_channels)?;
    same("vision_config.num_pos_feats", vision.num_pos_feats * 2, decoder.hidden_size)?;
    let positive = |field: &str, found: usize| {
        let needed = "at least 1".to_owned();
        if found > 0 { Ok(()) } else { Err(config(folder, field, found, needed)) }
    };
    positive("vision_config.num_attention_heads", vision.num_attention_heads)?;
    positive("vision_config.patch_size", vision.patch_size)?;
    positive("vision_config.image_size", vision.image_size)?;
    positive("vision_config.window_size", vision.window_size)?;
    positive("mask_decoder_config.num_attention_heads", decoder.num_attention_heads)?;
    positive("mask_decoder_config.attention_downsample_rate", decoder.attention_downsample_rate)?;
    let divides = |field: &str, of: usize, whole: usize| {
        let needed = format!("a divisor of {whole}");
        if whole.is_multiple_of(of) { Ok(()) } else { Err(config(folder, field, of, needed)) }
    };
    divides("vision_config.num_attention_heads", vision.num_attention_heads, vision.hidden_size)?;
    divides("vision_config.patch_size", vision.patch_size, vision.image_size)?;
    divides("mask_decoder_config.attention_downsample_rate", decoder.attention_downsample_rate, decoder.hidden_size)?;
    divides(
        "mask_decoder_config.num_attention_heads",
        decoder.num_attention_heads,
        decoder.hidden_size / decoder.attention_downsample_rate,
    )?;
    // Two steps of upscaling halve the channels to a quarter and an eighth.
    divides("8 (the upscaling's share of mask_decoder_config.hidden_size)", 8, decoder.hidden_size)?;
    if decoder.iou_head_depth < 2 {
        return Err(config(folder, "mask_decoder_config.iou_head_depth", decoder.iou_head_depth, "at least 2".to_owned()));
    }
    Ok(())
}

fn config(folder: &Path, field: &str, found: usize, needed: String) -> CheckpointError {
    CheckpointError::Config { path: folder.join(CONFIG), field: field.to_owned(), found: found.to_string(), needed }
}

/// `preprocessor_config.json`: longest side to `side`, zeros right and below.
#[derive(Clone, Copy, Debug)]
pub struct SamPixels {
    pub side: u32,
    pub normalisation: Normalisation,
}

impl SamPixels {
    /// Reads the preprocessor for a network of `side` pixels.
    ///
    /// # Errors
    /// When it is missing or asks for another size or filter.
    pub fn load(folder: &Path, side: usize) -> Result<Self, CheckpointError> {
        const BILINEAR: u32 = 2;
        let read = Preprocessor::load(folder, BILINEAR)?;
        let config = |field: &str, found: SizeField| CheckpointError::Config {
            path: folder.join(PREPROCESSOR),
            field: field.to_owned(),
            found: format!("{found:?}"),
            needed: format!("{side}, the image_size of config.json"),
        };
        match read.size {
            None => {}
            Some(SizeField::Longest { longest_edge }) if longest_edge as usize == side => {}
            Some(other) => return Err(config("size", other)),
        }
        match read.pad_size {
            None => {}
            Some(SizeField::Box { height, width }) if height as usize == side && width as usize == side => {}
            Some(other) => return Err(config("pad_size", other)),
        }
        Ok(Self { side: side as u32, normalisation: read.normalisation(Normalisation::IMAGENET) })
    }

    /// Size after the resize: the longest side becomes `side`, both are rounded (`_get_preprocess_shape` of transformers,
    /// `image_processing_sam.py`). `None` when a side vanishes.
    pub fn resized(&self, picture: Size) -> Option<Size> {
        let longest = picture.width.max(picture.height);
        if longest == 0 {
            return None;
        }
        let scale = f64::from(self.side) / f64::from(longest);
        let [width, height] = [picture.width, picture.height].map(|side| (f64::from(side) * scale + 0.5) as u32);
        (width > 0 && height > 0).then(|| Size::new(width, height))
    }
}
