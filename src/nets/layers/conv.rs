//! Convolutions and the normalisation over channels.

use burn::tensor::Tensor;
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;

use super::{LayerNorm, Linear};
use crate::nets::checkpoint::{CheckpointError, Scope};

/// A convolution with a square kernel.
#[derive(Clone, Debug)]
pub struct Conv2d {
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    stride: usize,
    padding: usize,
}

/// Sizes of a [`Conv2d`].
#[derive(Clone, Copy, Debug)]
pub struct ConvSizes {
    pub channels_in: usize,
    pub channels_out: usize,
    pub kernel: usize,
    pub stride: usize,
    /// Zeros around the picture, in pixels.
    pub padding: usize,
    pub bias: bool,
}

impl Conv2d {
    /// Reads `weight [out, in, kernel, kernel]` and, where `sizes` says so, `bias [out]`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, sizes: ConvSizes) -> Result<Self, CheckpointError> {
        let ConvSizes { channels_in, channels_out, kernel, stride, padding, bias } = sizes;
        Ok(Self {
            weight: scope.tensor("weight", [channels_out, channels_in, kernel, kernel])?,
            bias: if bias { Some(scope.tensor("bias", [channels_out])?) } else { None },
            stride,
            padding,
        })
    }

    /// # Shapes
    /// `[batch, in, rows, columns]` → `[batch, out, rows', columns']`
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let (stride, padding) = ([self.stride; 2], [self.padding; 2]);
        conv2d(x, self.weight.clone(), self.bias.clone(), ConvOptions::new(stride, padding, [1, 1], 1))
    }
}

/// A transposed convolution whose stride is its kernel: each pixel becomes a square of its own, so that it is one matrix product.
///
/// Works with channels last, which is what the norms and products around it want.
#[derive(Clone, Debug)]
pub struct UpConv {
    /// `[in, kernel·kernel·out]`, the output channel running fastest.
    linear: Linear,
    kernel: usize,
    channels_out: usize,
}

impl UpConv {
    /// Reads `weight [in, out, kernel, kernel]` and `bias [out]` of a `ConvTranspose2d` with stride `kernel`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, channels_in: usize, channels_out: usize, kernel: usize) -> Result<Self, CheckpointError> {
        let weight = scope.tensor("weight", [channels_in, channels_out, kernel, kernel])?;
        let weight = weight.permute([0, 2, 3, 1]).reshape([channels_in, kernel * kernel * channels_out]);
        let bias = scope.tensor("bias", [channels_out])?.repeat(&[kernel * kernel]);
        Ok(Self { linear: Linear::from_tensors(weight, Some(bias)), kernel, channels_out })
    }

    /// # Shapes
    /// `[batch, rows, columns, in]` → `[batch, kernel·rows, kernel·columns, out]`
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let [batch, rows, columns, _] = x.dims();
        let (k, out) = (self.kernel, self.channels_out);
        self.linear.forward(x).reshape([batch, rows, columns, k, k, out]).swap_dims(2, 3).reshape([batch, rows * k, columns * k, out])
    }
}

/// Normalisation over the channels of a picture that has them first.
#[derive(Clone, Debug)]
pub struct LayerNorm2d(LayerNorm);

impl LayerNorm2d {
    /// As [`LayerNorm::load`].
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, channels: usize, epsilon: f64) -> Result<Self, CheckpointError> {
        Ok(Self(LayerNorm::load(scope, channels, epsilon)?))
    }

    /// # Shapes
    /// `[batch, channels, rows, columns]` → the same
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        self.0.forward(x.permute([0, 2, 3, 1])).permute([0, 3, 1, 2])
    }
}

/// The first layer of a vision transformer, a convolution whose stride is its kernel, as one matrix product over patches.
#[derive(Clone, Debug)]
pub struct PatchEmbed {
    linear: Linear,
    patch: usize,
}

impl PatchEmbed {
    /// Reads `weight [width, 3, patch, patch]` and, with `bias`, `bias [width]`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, width: usize, patch: usize, bias: bool) -> Result<Self, CheckpointError> {
        let weight = scope.tensor("weight", [width, 3, patch, patch])?.reshape([width, 3 * patch * patch]).transpose();
        let bias = if bias { Some(scope.tensor("bias", [width])?) } else { None };
        Ok(Self { linear: Linear::from_tensors(weight, bias), patch })
    }

    /// # Shapes
    /// `[batch, 3, rows·patch, columns·patch]` → `[batch, rows, columns, width]`; a rest that fills no patch is left out
    pub fn forward(&self, pixels: Tensor<4>) -> Tensor<4> {
        let [batch, channels, height, width] = pixels.dims();
        let patch = self.patch;
        let (rows, columns) = (height / patch, width / patch);
        let whole = pixels.slice([0..batch, 0..channels, 0..rows * patch, 0..columns * patch]);
        let patches = whole.reshape([batch, channels, rows, patch, columns, patch]).permute([0, 2, 4, 1, 3, 5]).reshape([
            batch,
            rows,
            columns,
            channels * patch * patch,
        ]);
        self.linear.forward(patches)
    }
}
