//! Attention within the windows of a map.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_swin.py`, `SwinSelfAttention` and the windows of `SwinLayer`.

use burn::tensor::{Device, Tensor, TensorData};

use crate::nets::checkpoint::{CheckpointError, Scope};
#[cfg(feature = "flex")]
use crate::nets::layers::host;
use crate::nets::layers::{Linear, Scores, attend_packed};

/// Sizes of [`WindowAttention`].
#[derive(Clone, Copy)]
pub struct WindowSizes {
    pub width: usize,
    pub heads: usize,
    /// Cells along a window.
    pub window: usize,
    /// How far the windows are moved down and right.
    pub shift: usize,
}

/// Attention within windows, with a learnt bias by relative position.
#[derive(Clone, Debug)]
pub struct WindowAttention {
    qkv: Linear,
    output: Linear,
    /// `[heads, window², window²]`
    bias: Tensor<3>,
    heads: usize,
    window: usize,
    shift: usize,
}

impl WindowAttention {
    /// Reads the layer from `scope`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, sizes: WindowSizes) -> Result<Self, CheckpointError> {
        let WindowSizes { width, heads, window, shift } = sizes;
        let own = scope.at("self");
        let linear = |name: &str| Linear::load(&own.at(name), width, width);
        let cells = window * window;
        let side = 2 * window - 1;
        let table = own.values("relative_position_bias_table", &[side * side, heads])?;
        let mut bias = vec![0f32; heads * cells * cells];
        for (query, key) in (0..cells).flat_map(|q| (0..cells).map(move |k| (q, k))) {
            let apart = |q: usize, k: usize| q + window - 1 - k;
            let row = apart(query / window, key / window) * side + apart(query % window, key % window);
            for head in 0..heads {
                bias[(head * cells + query) * cells + key] = table[row * heads + head];
            }
        }
        Ok(Self {
            qkv: Linear::joined(vec![linear("query")?, linear("key")?, linear("value")?]),
            output: Linear::load(&scope.at("output.dense"), width, width)?,
            bias: Tensor::from_data(TensorData::new(bias, [heads, cells, cells]), scope.device()),
            heads,
            window,
            shift,
        })
    }

    /// What the layer sees of `normed`, added to `x`.
    ///
    /// # Shapes
    /// both `[1, rows, columns, width]` → the same
    pub fn forward_onto(&self, normed: Tensor<4>, x: Tensor<4>) -> Tensor<4> {
        #[cfg(feature = "flex")]
        if host::on_host(&x.device()) {
            return self.output.forward_onto(self.on_host(self.qkv.forward(normed)), x);
        }
        let [batch, rows, columns, width] = x.dims();
        let (tall, wide) = (rows.next_multiple_of(self.window), columns.next_multiple_of(self.window));
        // Padded after the norm, so that padded cells are zeros; they are attended to like the others.
        let mut normed = pad(normed, tall, wide);
        let shift = self.shift as i64;
        let apart = (shift > 0).then(|| {
            normed = normed.clone().roll(&[-shift, -shift], &[1, 2]);
            shift_mask(tall, wide, self.window, self.shift, &x.device())
        });
        let mut seen = self.on_device(normed, apart);
        if shift > 0 {
            seen = seen.roll(&[shift, shift], &[1, 2]);
        }
        x + seen.slice([0..batch, 0..rows, 0..columns, 0..width])
    }

    /// # Shapes
    /// `[1, rows, columns, 3·width]` → `[1, rows, columns, width]`
    #[cfg(feature = "flex")]
    fn on_host(&self, qkv: Tensor<4>) -> Tensor<4> {
        let ([batch, rows, columns, packed], device) = (qkv.dims(), qkv.device());
        let (values, bias, padding) = (host::Values::of(qkv), host::Values::of(self.bias.clone()), self.qkv.of_zeros());
        let windowed = host::Windowed {
            qkv: values.as_slice(),
            map: [batch, rows, columns],
            padding: &padding,
            side: self.window,
            shift: self.shift,
            heads: self.heads,
            bias: Some(bias.as_slice()),
            grid: None,
        };
        Tensor::from_data(TensorData::new(windowed.run(), [batch, rows, columns, packed / 3]), &device)
    }

    /// # Shapes
    /// * `x`: `[1, rows, columns, width]`, both multiples of the window
    /// * `apart`: `[windows, 1, window², window²]`, −100 between regions that the shift has brought together
    /// * output: as `x`
    fn on_device(&self, x: Tensor<4>, apart: Option<Tensor<4>>) -> Tensor<4> {
        let [_, rows, columns, width] = x.dims();
        let (w, cells) = (self.window, self.window * self.window);
        let (down, across) = (rows / w, columns / w);
        let windows = down * across;
        let split = x.reshape([down, w, across, w, width]).swap_dims(1, 2).reshape([windows, cells, width]);
        let biases = [self.bias.clone().unsqueeze_dim::<4>(0)].into_iter().chain(apart).collect();
        let seen = attend_packed(self.qkv.forward(split), self.heads, Scores { biases, ..Scores::default() });
        self.output.forward(seen).reshape([down, across, w, w, width]).swap_dims(1, 2).reshape([1, rows, columns, width])
    }
}

/// Zeros right and below, up to `rows × columns`.
pub fn pad(x: Tensor<4>, rows: usize, columns: usize) -> Tensor<4> {
    let [batch, r, c, width] = x.dims();
    if (r, c) == (rows, columns) {
        return x;
    }
    Tensor::zeros([batch, rows, columns, width], &x.device()).slice_assign([0..batch, 0..r, 0..c, 0..width], x)
}

/// −100 between cells of different regions of the shifted map, 0 within.
///
/// # Shapes
/// output: `[windows, 1, window², window²]`
fn shift_mask(rows: usize, columns: usize, window: usize, shift: usize, device: &Device) -> Tensor<4> {
    // Three bands a side: before the last window, the last window up to the shift, and the rest, which came round from the other side.
    let band = |i: usize, n: usize| usize::from(i >= n - window) + usize::from(i >= n - shift);
    let region = |y: usize, x: usize| band(y, rows) * 3 + band(x, columns);
    let (down, across, cells) = (rows / window, columns / window, window * window);
    let mut values = Vec::with_capacity(down * across * cells * cells);
    for (wy, wx) in (0..down).flat_map(|wy| (0..across).map(move |wx| (wy, wx))) {
        let regions: Vec<usize> = (0..cells).map(|i| region(wy * window + i / window, wx * window + i % window)).collect();
        for &query in &regions {
            values.extend(regions.iter().map(|&key| if query == key { 0.0f32 } else { -100.0 }));
        }
    }
    Tensor::from_data(TensorData::new(values, [down * across, 1, cells, cells]), device)
}
