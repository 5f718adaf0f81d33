//! Attention of SAM's image encoder: over windows or the whole picture, with relative positions.

use burn::tensor::ops::PadMode;
use burn::tensor::{Int, Tensor, TensorData};

use super::config::EncoderConfig;
use crate::nets::checkpoint::{CheckpointError, Scope};
#[cfg(feature = "flex")]
use crate::nets::layers::host;
use crate::nets::layers::{Linear, Scores, attend_heads, unpack};

/// Attention over squares of tokens, with relative positions.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamVisionAttention`, and the windows of `SamVisionLayer`. The relative terms take the query
/// as it is; only q·k is scaled.
#[derive(Clone, Debug)]
pub struct SquareAttention {
    qkv: Linear,
    out: Linear,
    positions: Positions,
    heads: usize,
    /// Side of the squares; a grid that is larger is cut into windows of it.
    side: usize,
    windowed: bool,
}

/// What a query adds for keys in other rows and columns, in the form that the device wants.
#[derive(Clone, Debug)]
enum Positions {
    /// See [`host::Grid`].
    #[cfg(feature = "flex")]
    Host { rows: Vec<f32>, columns: Vec<f32> },
    /// The scores q·k·scale + q·Rh + q·Rw are taken as one product of longer vectors, \[q·scale, q·Rh, q·Rw\] · \[k, row as one-hot, column
    /// as one-hot\], so that no table of biases (a gigabyte a block at full size) is ever made.
    Device(Box<DevicePositions>),
}

#[derive(Clone, Debug)]
struct DevicePositions {
    /// `[1, rows, dim, rows']`: what a query in row y adds for keys in row y'.
    rows: Tensor<4>,
    /// `[1, columns, dim, columns']`
    columns: Tensor<4>,
    /// `[1, 1, side·side, 2·side]`: row and column of each token, one-hot.
    places: Tensor<4>,
}

impl Positions {
    /// Reads `rel_pos_h` and `rel_pos_w`, each `[2·side − 1, dim]`.
    fn load(scope: &Scope<'_>, side: usize, dim: usize) -> Result<Self, CheckpointError> {
        #[cfg(feature = "flex")]
        if host::on_host(scope.device()) {
            let turned = |name: &str| -> Result<Vec<f32>, CheckpointError> {
                let stored = scope.values(name, &[2 * side - 1, dim])?;
                Ok(stored.chunks_exact(dim).rev().flatten().copied().collect())
            };
            return Ok(Self::Host { rows: turned("rel_pos_h")?, columns: turned("rel_pos_w")? });
        }
        let table = |name: &str| -> Result<Tensor<4>, CheckpointError> {
            let stored = scope.tensor(name, [2 * side - 1, dim])?;
            let offsets: Vec<i32> = (0..side).flat_map(|at| (0..side).map(move |key| (at + side - 1 - key) as i32)).collect();
            let offsets = Tensor::<1, Int>::from_data(TensorData::new(offsets, [side * side]), scope.device());
            Ok(stored.select(0, offsets).reshape([1, side, side, dim]).swap_dims(2, 3))
        };
        let (rows, columns) = (table("rel_pos_h")?, table("rel_pos_w")?);
        Ok(Self::Device(Box::new(DevicePositions { rows, columns, places: places(side, scope) })))
    }
}

impl SquareAttention {
    /// Reads the layer from `scope`; `window` is the side of its windows, if it has any.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &EncoderConfig, window: Option<usize>) -> Result<Self, CheckpointError> {
        let width = config.width;
        let side = window.unwrap_or(config.grid());
        Ok(Self {
            qkv: Linear::load(&scope.at("qkv"), width, 3 * width)?,
            out: Linear::load(&scope.at("proj"), width, width)?,
            positions: Positions::load(scope, side, width / config.heads)?,
            heads: config.heads,
            side,
            windowed: window.is_some(),
        })
    }

    /// What the layer sees of `normed`, added to `x`.
    ///
    /// # Shapes
    /// both `[batch, rows, columns, width]` → the same
    pub fn forward_onto(&self, normed: Tensor<4>, x: Tensor<4>) -> Tensor<4> {
        match &self.positions {
            #[cfg(feature = "flex")]
            Positions::Host { rows, columns } => {
                let seen = self.on_host(self.qkv.forward(normed), host::Grid { rows, columns, side: self.side });
                self.out.forward_onto(seen, x)
            }
            Positions::Device(positions) => {
                let [batch, down, across, _] = normed.dims();
                if self.windowed {
                    let seen = self.on_device(windows(normed, self.side), positions);
                    x + windows_joined(self.out.forward(seen), [batch, down, across], self.side)
                } else {
                    self.out.forward_onto(self.on_device(normed, positions), x)
                }
            }
        }
    }

    /// # Shapes
    /// `[batch, rows, columns, 3·width]` → `[batch, rows, columns, width]`
    #[cfg(feature = "flex")]
    fn on_host(&self, qkv: Tensor<4>, grid: host::Grid<'_>) -> Tensor<4> {
        let ([batch, rows, columns, packed], device) = (qkv.dims(), qkv.device());
        let values = host::Values::of(qkv);
        let (width, heads) = (packed / 3, self.heads);
        let out = if self.windowed {
            let padding = self.qkv.of_zeros();
            host::Windowed {
                qkv: values.as_slice(),
                map: [batch, rows, columns],
                padding: &padding,
                side: self.side,
                shift: 0,
                heads,
                bias: None,
                grid: Some(grid),
            }
            .run()
        } else {
            host::HostAttention {
                grid: Some(grid),
                ..host::HostAttention::packed(values.as_slice(), [batch, rows * columns, packed], heads)
            }
            .run()
        };
        Tensor::from_data(TensorData::new(out, [batch, rows, columns, width]), &device)
    }

    /// # Shapes
    /// `[squares, side, side, width]` → the same
    fn on_device(&self, x: Tensor<4>, positions: &DevicePositions) -> Tensor<4> {
        let DevicePositions { rows, columns, places } = positions;
        let [squares, _, _, width] = x.dims();
        let (side, heads, dim) = (self.side, self.heads, width / self.heads);
        let tokens = side * side;
        let [query, key, value] = unpack(self.qkv.forward(x).reshape([squares, tokens, 3 * width]), heads);
        let query_rows = query.clone().reshape([squares * heads, side, side, dim]);
        let by_row = query_rows.clone().matmul(rows.clone());
        let by_column = query_rows.swap_dims(1, 2).matmul(columns.clone()).swap_dims(1, 2);
        let flat = |t: Tensor<4>| t.reshape([squares, heads, tokens, side]);
        let scale = 1.0 / (dim as f64).sqrt();
        let query = Tensor::cat(vec![query * scale, flat(by_row), flat(by_column)], 3);
        let key = Tensor::cat(vec![key, places.clone().expand([squares, heads, tokens, 2 * side])], 3);
        attend_heads([query, key, value], Scores::default(), Some(1.0)).reshape([squares, side, side, width])
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
