//! SAM's image encoder: a vision transformer with windows and relative positions.

use burn::tensor::ops::PadMode;
use burn::tensor::{Int, Tensor, TensorData};

use super::config::EncoderConfig;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Conv2d, ConvSizes, LayerNorm, LayerNorm2d, Linear, Mlp, PatchEmbed, Scores, attend, merge_heads};

/// Attention over a square of tokens, with relative positions.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamVisionAttention`. The scores q·k·scale + q·Rh + q·Rw are taken as one product of
/// longer vectors, \[q·scale, q·Rh, q·Rw\] · \[k, row as one-hot, column as one-hot\], so that no table of biases (a gigabyte a block
/// at full size) is ever made.
#[derive(Clone, Debug)]
struct SquareAttention {
    qkv: Linear,
    out: Linear,
    /// `[1, rows, dim, rows']`: what a query in row y adds for keys in row y'.
    rows: Tensor<4>,
    /// `[1, columns, dim, columns']`
    columns: Tensor<4>,
    /// `[1, 1, side·side, 2·side]`: row and column of each token, one-hot.
    places: Tensor<4>,
    heads: usize,
    side: usize,
}

impl SquareAttention {
    fn load(scope: &Scope<'_>, config: &EncoderConfig, side: usize) -> Result<Self, CheckpointError> {
        let (width, heads) = (config.width, config.heads);
        let dim = width / heads;
        let table = |name: &str| -> Result<Tensor<4>, CheckpointError> {
            let stored = scope.tensor(name, [2 * side - 1, dim])?;
            let offsets: Vec<i32> = (0..side).flat_map(|at| (0..side).map(move |key| (at + side - 1 - key) as i32)).collect();
            let offsets = Tensor::<1, Int>::from_data(TensorData::new(offsets, [side * side]), scope.device());
            Ok(stored.select(0, offsets).reshape([1, side, side, dim]).swap_dims(2, 3))
        };
        Ok(Self {
            qkv: Linear::load(&scope.at("qkv"), width, 3 * width)?,
            out: Linear::load(&scope.at("proj"), width, width)?,
            rows: table("rel_pos_h")?,
            columns: table("rel_pos_w")?,
            places: places(side, scope),
            heads,
            side,
        })
    }

    /// # Shapes
    /// `[squares, side, side, width]` → the same
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let [squares, _, _, width] = x.dims();
        let (side, heads, dim) = (self.side, self.heads, width / self.heads);
        let tokens = side * side;
        let qkv = self.qkv.forward(x).reshape([squares, tokens, 3, heads, dim]).permute([2, 0, 3, 1, 4]);
        let [query, key, value] = [0, 1, 2].map(|i| qkv.clone().narrow(0, i, 1).squeeze_dim::<4>(0));

        let query_rows = query.clone().reshape([squares * heads, side, side, dim]);
        let by_row = query_rows.clone().matmul(self.rows.clone());
        let by_column = query_rows.swap_dims(1, 2).matmul(self.columns.clone()).swap_dims(1, 2);
        let flat = |t: Tensor<4>| t.reshape([squares, heads, tokens, side]);
        // The relative terms take the query as it is; only q·k is scaled.
        let scale = 1.0 / (dim as f64).sqrt();
        let query = Tensor::cat(vec![query * scale, flat(by_row), flat(by_column)], 3);
        let key = Tensor::cat(vec![key, self.places.clone().expand([squares, heads, tokens, 2 * side])], 3);

        let scores = Scores { scale: Some(1.0), ..Scores::default() };
        let x = merge_heads(attend(query, key, value, scores));
        self.out.forward(x).reshape([squares, side, side, width])
    }
}

/// `[1, 1, side·side, 2·side]`: one-hot row and one-hot column of each token, rows first.
fn places(side: usize, scope: &Scope<'_>) -> Tensor<4> {
    let mut values = vec![0.0_f32; side * side * 2 * side];
    for (token, place) in values.chunks_exact_mut(2 * side).enumerate() {
        place[token / side] = 1.0;
        place[side + token % side] = 1.0;
    }
    Tensor::from_data(TensorData::new(values, [1, 1, side * side, 2 * side]), scope.device())
}

/// A pre-norm block whose attention spans windows or, without `window`, the picture.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamVisionLayer`.
#[derive(Clone, Debug)]
pub struct EncoderBlock {
    norm1: LayerNorm,
    attention: SquareAttention,
    norm2: LayerNorm,
    mlp: Mlp,
    window: Option<usize>,
}

impl EncoderBlock {
    fn load(scope: &Scope<'_>, config: &EncoderConfig, window: Option<usize>) -> Result<Self, CheckpointError> {
        Ok(Self {
            norm1: LayerNorm::load(&scope.at("layer_norm1"), config.width, config.epsilon)?,
            attention: SquareAttention::load(&scope.at("attn"), config, window.unwrap_or(config.grid()))?,
            norm2: LayerNorm::load(&scope.at("layer_norm2"), config.width, config.epsilon)?,
            mlp: Mlp::load(&scope.at("mlp"), ["lin1", "lin2"], config.width, config.mlp, config.activation)?,
            window,
        })
    }

    /// # Shapes
    /// `[batch, grid, grid, width]` → the same
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let [batch, rows, columns, _] = x.dims();
        let normed = self.norm1.forward(x.clone());
        let attended = match self.window {
            None => self.attention.forward(normed),
            Some(side) => windows_joined(self.attention.forward(windows(normed, side)), [batch, rows, columns], side),
        };
        let x = x + attended;
        x.clone() + self.mlp.forward(self.norm2.forward(x))
    }
}

/// Cuts a grid into windows, with zeros right and below where they do not fit; those are attended to like any token.
///
/// # Shapes
/// `[batch, rows, columns, width]` → `[batch·windows, side, side, width]`
fn windows(x: Tensor<4>, side: usize) -> Tensor<4> {
    let [batch, rows, columns, width] = x.dims();
    let (down, across) = (rows.div_ceil(side), columns.div_ceil(side));
    let padding = [(0, 0), (0, down * side - rows), (0, across * side - columns), (0, 0)];
    let x = if padding == [(0, 0); 4] { x } else { x.pad(padding, PadMode::Constant(0.0)) };
    x.reshape([batch, down, side, across, side, width]).swap_dims(2, 3).reshape([batch * down * across, side, side, width])
}

/// Undoes [`windows`] for a grid of `[batch, rows, columns]`.
fn windows_joined(x: Tensor<4>, [batch, rows, columns]: [usize; 3], side: usize) -> Tensor<4> {
    let width = x.dims()[3];
    let (down, across) = (rows.div_ceil(side), columns.div_ceil(side));
    x.reshape([batch, down, across, side, side, width]).swap_dims(2, 3).reshape([batch, down * side, across * side, width]).slice([
        0..batch,
        0..rows,
        0..columns,
        0..width,
    ])
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
