//! CLIP's configuration and picture preprocessing.

use std::path::Path;

use serde::Deserialize;

use crate::domain::Size;
use crate::nets::checkpoint::{CONFIG, CheckpointError, PREPROCESSOR, expect_model_type, expect_value, read_json};
use crate::nets::layers::Activation;
use crate::nets::pixels::{Normalisation, Preprocessor, SizeField};

/// Sizes of one of the two transformers.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformerConfig {
    pub width: usize,
    pub layers: usize,
    pub heads: usize,
    pub mlp: usize,
    pub activation: Activation,
    pub epsilon: f64,
}

/// `config.json` with the defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipConfig {
    pub text: TransformerConfig,
    pub vision: TransformerConfig,
    pub vocabulary: usize,
    pub positions: usize,
    /// Side of the network's picture in pixels.
    pub side: usize,
    pub patch: usize,
    pub projection: usize,
}

#[derive(Deserialize)]
struct File {
    model_type: String,
    #[serde(default = "File::projection_dim")]
    projection_dim: usize,
    text_config: Option<Text>,
    vision_config: Option<Vision>,
    // Old files repeat the sizes here; where they do, transformers takes these, with its defaults for what they leave out.
    text_config_dict: Option<Text>,
    vision_config_dict: Option<Vision>,
}

impl File {
    fn projection_dim() -> usize {
        512
    }
}

/// Defaults: transformers, `configuration_clip.py`, `CLIPTextConfig`.
#[derive(Clone, Deserialize)]
#[serde(default)]
struct Text {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: String,
    layer_norm_eps: f64,
    vocab_size: usize,
    max_position_embeddings: usize,
}

impl Default for Text {
    fn default() -> Self {
        Self {
            hidden_size: 512,
            num_hidden_layers: 12,
            num_attention_heads: 8,
            intermediate_size: 2048,
            hidden_act: "quick_gelu".to_owned(),
            layer_norm_eps: 1e-5,
            vocab_size: 49408,
            max_position_embeddings: 77,
        }
    }
}

/// Defaults: transformers, `configuration_clip.py`, `CLIPVisionConfig`.
#[derive(Clone, Deserialize)]
#[serde(default)]
struct Vision {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: String,
    layer_norm_eps: f64,
    num_channels: usize,
    image_size: usize,
    patch_size: usize,
}

impl Default for Vision {
    fn default() -> Self {
        Self {
            hidden_size: 768,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            intermediate_size: 3072,
            hidden_act: "quick_gelu".to_owned(),
            layer_norm_eps: 1e-5,
            num_channels: 3,
            image_size: 224,
            patch_size: 32,
        }
    }
}

impl ClipConfig {
    /// Reads `config.json`.
    ///
    /// # Errors
    /// When it is missing, describes another architecture, or sizes that cannot be.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let file: File = read_json(folder, CONFIG)?;
        expect_model_type(folder, &file.model_type, "clip")?;
        let text = file.text_config_dict.or(file.text_config).unwrap_or_default();
        let vision = file.vision_config_dict.or(file.vision_config).unwrap_or_default();
        expect_value(folder, CONFIG, "vision_config.num_channels", &vision.num_channels, &3)?;
        let config = Self {
            text: TransformerConfig {
                width: text.hidden_size,
                layers: text.num_hidden_layers,
                heads: text.num_attention_heads,
                mlp: text.intermediate_size,
                activation: Activation::from_config(folder, "text_config.hidden_act", &text.hidden_act)?,
                epsilon: text.layer_norm_eps,
            },
            vision: TransformerConfig {
                width: vision.hidden_size,
                layers: vision.num_hidden_layers,
                heads: vision.num_attention_heads,
                mlp: vision.intermediate_size,
                activation: Activation::from_config(folder, "vision_config.hidden_act", &vision.hidden_act)?,
                epsilon: vision.layer_norm_eps,
            },
            vocabulary: text.vocab_size,
            positions: text.max_position_embeddings,
            side: vision.image_size,
            patch: vision.patch_size,
            projection: file.projection_dim,
        };
        config.check(folder)?;
        Ok(config)
    }

    fn check(&self, folder: &Path) -> Result<(), CheckpointError> {
        let config = |field: &str, found: usize, needed: String| CheckpointError::Config {
            path: folder.join(CONFIG),
            field: field.to_owned(),
            found: found.to_string(),
            needed,
        };
        for (name, part) in [("text_config", &self.text), ("vision_config", &self.vision)] {
            if part.heads == 0 || part.width == 0 || !part.width.is_multiple_of(part.heads) {
                let needed = format!("a divisor of its hidden_size {}", part.width);
                return Err(config(&format!("{name}.num_attention_heads"), part.heads, needed));
            }
        }
        if self.patch == 0 || self.patch > self.side {
            return Err(config("vision_config.patch_size", self.patch, format!("a length within image_size {}", self.side)));
        }
        if self.positions < 2 {
            return Err(config("text_config.max_position_embeddings", self.positions, "at least 2".to_owned()));
        }
        Ok(())
    }

    /// Patches along a side.
    pub fn grid(&self) -> usize {
        self.side / self.patch
    }
}

/// `preprocessor_config.json`: shorter side to `shorter`, then the middle square of `side`.
#[derive(Clone, Copy, Debug)]
pub struct ClipPixels {
    pub shorter: u32,
    pub side: u32,
    pub normalisation: Normalisation,
}

impl ClipPixels {
    /// Reads the preprocessor for a network of `side` pixels.
    ///
    /// # Errors
    /// When it is missing or asks for something else than resize, middle crop and normalisation.
    pub fn load(folder: &Path, side: usize) -> Result<Self, CheckpointError> {
        const BICUBIC: u32 = 3;
        let read = Preprocessor::load(folder, BICUBIC)?;
        let config = |field: &str, found: String, needed: String| CheckpointError::Config {
            path: folder.join(PREPROCESSOR),
            field: field.to_owned(),
            found,
            needed,
        };
        let shorter = match read.size {
            None => 224,
            Some(SizeField::Side(side) | SizeField::Edges { shortest_edge: side, longest_edge: None }) => side,
            Some(other) => return Err(config("size", format!("{other:?}"), "the shortest edge".to_owned())),
        };
        let crop = match read.crop_size {
            None => 224,
            Some(SizeField::Side(side)) => side,
            Some(SizeField::Box { height, width }) if height == width => width,
            Some(other) => return Err(config("crop_size", format!("{other:?}"), "a square".to_owned())),
        };
        if crop as usize != side {
            return Err(config("crop_size", crop.to_string(), format!("{side}, the image_size of config.json")));
        }
        if shorter < crop {
            return Err(config("size", shorter.to_string(), format!("at least the crop_size {crop}")));
        }
        Ok(Self { shorter, side: crop, normalisation: read.normalisation(Normalisation::CLIP) })
    }

    /// Size after the resize: the shorter side becomes `shorter`, the longer one is rounded down (`get_resize_output_image_size` of
    /// transformers, `image_transforms.py`). `None` when that is no length of this world.
    pub fn resized(&self, picture: Size) -> Option<Size> {
        let (short, long) = (picture.width.min(picture.height), picture.width.max(picture.height));
        if short == 0 {
            return None;
        }
        let longer = f64::from(self.shorter) * f64::from(long) / f64::from(short);
        if longer > f64::from(1 << 16) {
            return None;
        }
        let longer = longer as u32;
        Some(if picture.width <= picture.height { Size::new(self.shorter, longer) } else { Size::new(longer, self.shorter) })
    }
}
