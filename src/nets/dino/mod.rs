//! DINO: a vision transformer that learned without labels (Caron et al. 2021); its class token is what a picture is compared by.
//!
//! Reads the Hugging Face layout (`facebook/dino-vits16`, `facebook/dino-vitb8`) and the original `.pth` files of the backbone.

mod layout;

use std::path::Path;

use burn::tensor::{Device, Tensor};
use image::RgbImage;

use super::NetError;
use super::checkpoint::{CheckpointError, Scope, Weights};
use super::device::Target;
use super::layers::{Activation, LayerNorm, Linear, Mlp, PatchEmbed, Scores, attend_packed};
use super::pixels::Normalisation;
use crate::domain::Size;
use crate::imaging::resize::{PilFilter, pil_resize};

/// Epsilon of the norms: the original code's (`vision_transformer.py`, `partial(nn.LayerNorm, eps=1e-6)`).
const EPSILON: f64 = 1e-6;

/// Shorter side that pictures are brought to (PIL bicubic), and side of the square cut from their middle: MagicBrush's evaluation
/// (`image_eval.py`), which is also DINO's own (`eval_knn.py`).
const SHORTER: u32 = 256;
const SIDE: u32 = 224;
/// Pictures longer than this after the resize are refused.
const LONGEST: u32 = 1 << 16;

/// Sizes of a backbone. The files do not name them all (no shape tells the number of heads), so they come with the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DinoModel {
    pub width: usize,
    pub layers: usize,
    pub heads: usize,
    pub mlp: usize,
    pub patch: usize,
}

impl DinoModel {
    /// `dino_vits16`.
    pub const VITS16: Self = Self { width: 384, layers: 12, heads: 6, mlp: 1536, patch: 16 };
    /// `dino_vitb8`.
    pub const VITB8: Self = Self { width: 768, layers: 12, heads: 12, mlp: 3072, patch: 8 };

    /// Class token and patches.
    const fn tokens(self) -> usize {
        let grid = SIDE as usize / self.patch;
        1 + grid * grid
    }
}

/// A pre-norm transformer block.
///
/// Arithmetic: DINO `vision_transformer.py`, `Block`; the same as transformers, `modeling_vit.py`, `ViTLayer`.
#[derive(Clone, Debug)]
pub struct Block {
    norm1: LayerNorm,
    /// Query, key and value in one product.
    qkv: Linear,
    out: Linear,
    norm2: LayerNorm,
    mlp: Mlp,
    heads: usize,
}

impl Block {
    fn load(scope: &Scope<'_>, model: DinoModel) -> Result<Self, CheckpointError> {
        let width = model.width;
        let attention = scope.at("attention.attention");
        let part = |name: &str| Linear::load(&attention.at(name), width, width);
        Ok(Self {
            norm1: LayerNorm::load(&scope.at("layernorm_before"), width, EPSILON)?,
            qkv: Linear::joined(vec![part("query")?, part("key")?, part("value")?]),
            out: Linear::load(&scope.at("attention.output.dense"), width, width)?,
            norm2: LayerNorm::load(&scope.at("layernorm_after"), width, EPSILON)?,
            mlp: Mlp::load(scope, ["intermediate.dense", "output.dense"], width, model.mlp, Activation::Gelu)?,
            heads: model.heads,
        })
    }

    /// # Shapes
    /// `[batch, tokens, width]` → the same
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let qkv = self.qkv.forward(self.norm1.forward(x.clone()));
        let x = self.out.forward_onto(attend_packed(qkv, self.heads, Scores::default()), x);
        self.mlp.forward_onto(self.norm2.forward(x.clone()), x)
    }
}

/// A loaded backbone.
pub struct Dino {
    patches: PatchEmbed,
    class: Tensor<3>,
    positions: Tensor<3>,
    pub blocks: Vec<Block>,
    norm: LayerNorm,
    device: Device,
}

impl Dino {
    /// Loads the backbone at `path`, a file or a folder in either layout, onto the device of `target`.
    ///
    /// # Errors
    /// When a file is missing or damaged, or a tensor is missing, misshapen or unused.
    pub fn load(path: &Path, model: DinoModel, target: impl Into<Target>) -> Result<Self, CheckpointError> {
        let weights = Weights::open_as(path, &layout::DINO, target)?;
        let device = weights.device().clone();
        let root = weights.root();
        let embeddings = root.at("embeddings");
        let layers = root.at("encoder.layer");
        let loaded = Self {
            patches: PatchEmbed::load(&embeddings.at("patch_embeddings.projection"), model.width, model.patch, true)?,
            class: embeddings.tensor("cls_token", [1, 1, model.width])?,
            positions: embeddings.tensor("position_embeddings", [1, model.tokens(), model.width])?,
            blocks: (0..model.layers).map(|n| Block::load(&layers.at(n), model)).collect::<Result<_, _>>()?,
            norm: LayerNorm::load(&root.at("layernorm"), model.width, EPSILON)?,
            device,
        };
        weights.finish(&[])?;
        Ok(loaded)
    }

    /// The network's pixels of an upright RGB picture: shorter side to 256, the middle 224×224, normalised. A long picture loses its ends.
    ///
    /// # Shapes
    /// → `[1, 3, 224, 224]`
    ///
    /// # Errors
    /// When the picture is empty or thinner than the network can see.
    pub fn pixels(&self, picture: &RgbImage) -> Result<Tensor<4>, NetError> {
        let (width, height) = picture.dimensions();
        if width == 0 || height == 0 {
            return Err(NetError::EmptyPicture { width, height });
        }
        let size = resized(Size::new(width, height)).ok_or(NetError::TooThin { width, height })?;
        let resized = pil_resize(picture, size, PilFilter::Bicubic);
        // torchvision's CenterCrop rounds half a pixel to even (`int(round((h − 224) / 2.0))`).
        let start = |side: u32| (f64::from(side - SIDE) / 2.0).round_ties_even() as u32;
        let square = image::imageops::crop_imm(&resized, start(size.width), start(size.height), SIDE, SIDE).to_image();
        Ok(Normalisation::IMAGENET.tensor(&square, SIDE, SIDE, &self.device))
    }

    /// Class token in front of the patches, positions added.
    ///
    /// # Shapes
    /// `[batch, 3, 224, 224]` → `[batch, 1 + rows·columns, width]`
    pub fn embed(&self, pixels: Tensor<4>) -> Tensor<3> {
        let patches = self.patches.forward(pixels);
        let [batch, rows, columns, width] = patches.dims();
        let class = self.class.clone().expand([batch, 1, width]);
        Tensor::cat(vec![class, patches.reshape([batch, rows * columns, width])], 1) + self.positions.clone()
    }

    /// The normalised class token.
    ///
    /// # Shapes
    /// `[batch, 3, 224, 224]` → `[batch, width]`
    pub fn forward(&self, pixels: Tensor<4>) -> Tensor<2> {
        let x = self.blocks.iter().fold(self.embed(pixels), |x, block| block.forward(x));
        self.norm.forward(x.narrow(1, 0, 1).squeeze_dim::<2>(1))
    }

    /// The class token of a picture.
    ///
    /// # Errors
    /// When the picture cannot be seen, or the device fails.
    pub fn encode(&self, picture: &RgbImage) -> Result<Vec<f32>, NetError> {
        let features: Vec<f32> = self.forward(self.pixels(picture)?).try_into_vec_as()?;
        match features.iter().all(|value| value.is_finite()) {
            true => Ok(features),
            false => Err(NetError::NotFinite { what: "a feature of DINO" }),
        }
    }
}

/// Size after torchvision's `Resize(256)`: the shorter side becomes 256, the longer one is rounded down. `None` when that is no length of
/// this world.
fn resized(picture: Size) -> Option<Size> {
    let (short, long) = (u64::from(picture.width.min(picture.height)), u64::from(picture.width.max(picture.height)));
    let longer = u64::from(SHORTER) * long / short;
    let longer = u32::try_from(longer).ok().filter(|&longer| longer <= LONGEST)?;
    Some(if picture.width <= picture.height { Size::new(SHORTER, longer) } else { Size::new(longer, SHORTER) })
}
