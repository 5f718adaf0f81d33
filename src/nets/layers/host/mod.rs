//! What burn's tensor operations on the CPU leave to be gained: passes joined into one, on all threads, with vector instructions.
//!
//! burn's CPU code runs one operation after another, each over the whole tensor, activations and additions on one thread with the scalar
//! functions of the C library. Where that costs, layers take the values of a tensor that only they hold (which copies nothing), change
//! them in place, and give them back. Products of matrices stay burn's, or the same crate's that burn uses. `docs/performance.md` has the
//! measurements.

mod attention;
mod product;
mod vector;
mod windows;

pub use attention::{Grid, HostAttention, Rows, Terms};
pub use vector::{After, softmax_unscaled, vectorised};
pub use windows::Windowed;

use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;

/// Whether tensors of `device` lie in the program's own memory.
pub fn on_host(device: &Device) -> bool {
    *device == Device::flex()
}

/// The values of a tensor in the program's memory.
pub struct Values(TensorData);

impl Values {
    /// Takes the values of a tensor of [`on_host`]; copies them only when somebody else holds them too or they do not lie in order.
    pub fn of<const D: usize>(tensor: Tensor<D>) -> Self {
        Self(tensor.into_data())
    }

    /// Row-major.
    pub fn as_slice(&self) -> &[f32] {
        self.0.as_slice().expect("host tensors hold f32") // every tensor of the host is made from f32 and no operation here changes that
    }

    /// Row-major.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        self.0.as_mut_slice().expect("host tensors hold f32") // as above
    }

    /// Gives the values back.
    pub fn into_tensor<const D: usize>(self, device: &Device) -> Tensor<D> {
        Tensor::from_data(self.0, device)
    }
}

/// Numbers that a thread changes at a time: little enough for its cache, enough to be worth the start.
const SHARE: usize = 32 * 1024;

/// Adds and activates in place, on all threads.
///
/// # Shapes
/// `x`: `[.., width]` of a host device → the same
pub fn finish<const D: usize>(x: Tensor<D>, after: After<'_>) -> Tensor<D> {
    let (device, width) = (x.device(), x.dims()[D - 1]);
    let mut values = Values::of(x);
    let rows = (SHARE / width).max(1) * width;
    values.as_mut_slice().par_chunks_mut(rows).enumerate().for_each(|(n, part)| after.apply(part, width, n * rows));
    values.into_tensor(&device)
}
