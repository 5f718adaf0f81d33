//! LPIPS: how different two pictures look to a classifier's features (Zhang et al. 2018), version 0.1.
//!
//! A checkpoint is two published files: torchvision's classifier, of which the convolutions are used, and the package's linear heads.
//! Arithmetic: package `lpips` 0.1.4, `lpips/lpips.py` with `net='alex' | 'vgg' | 'squeeze'`, `version='0.1'`, with and without `spatial`.

mod files;
mod trunk;

use std::path::Path;

use burn::tensor::{Device, Tensor};
use image::RgbImage;

pub use trunk::Trunk;

use super::NetError;
use super::checkpoint::{CheckpointError, Weights};
use super::device::Target;
use super::pixels::Normalisation;
use trunk::Layer;

/// What torchvision's files hold beside the convolutions: the classifier behind them.
const MAY_BE_UNUSED: [&str; 1] = ["classifier.**"];

/// Added to a feature's length before it is divided by it (`normalize_tensor`).
const EPSILON: f64 = 1e-10;

/// Larger pictures are not looked at: VGG's first layer alone holds 256 bytes a pixel, for each picture.
pub const LARGEST_PIXELS: u64 = 2048 * 2048;

/// A loaded LPIPS network.
pub struct Lpips {
    trunk: Trunk,
    layers: Vec<Layer>,
    /// One weight a channel, `[1, channels, 1, 1]`, for each tap.
    heads: Vec<Tensor<4>>,
    device: Device,
}

/// What a network holds of one picture: the features of each tap, each pixel's of length 1, `[1, channels, rows, columns]`.
pub struct Features {
    taps: Vec<Tensor<4>>,
    width: usize,
    height: usize,
}

impl Lpips {
    /// Loads trunk and heads from the weight files in `folder` onto the device of `target`.
    ///
    /// # Errors
    /// When a file is damaged, or a tensor is missing, misshapen or unused.
    pub fn load(folder: &Path, trunk: Trunk, target: impl Into<Target>) -> Result<Self, CheckpointError> {
        let weights = Weights::from_files(files::open_all(folder)?, target)?;
        let device = weights.device().clone();
        let root = weights.root();
        let layers = trunk.load(&root.at("features"))?;
        let head = |(n, channels)| root.tensor(&format!("lin{n}.model.1.weight"), [1, channels, 1, 1]);
        let heads = trunk.taps().into_iter().enumerate().map(head).collect::<Result<_, _>>()?;
        weights.finish(&MAY_BE_UNUSED)?;
        Ok(Self { trunk, layers, heads, device })
    }

    /// Why a picture is of a size that the network cannot look at; `None` when it can.
    pub fn cannot_see(&self, picture: &RgbImage) -> Option<String> {
        let (width, height) = picture.dimensions();
        if u64::from(width) * u64::from(height) > LARGEST_PIXELS {
            return Some(format!("the picture is {width}×{height}; LPIPS is computed up to {LARGEST_PIXELS} pixels"));
        }
        let fits = self.trunk.fits(height as usize, width as usize);
        (!fits).then(|| format!("the picture is {width}×{height}: nothing of it is left in the network's deepest layer"))
    }

    /// The features of an upright RGB picture at its own size.
    ///
    /// # Errors
    /// When the picture is too small for the network, or the device fails.
    pub fn features(&self, picture: &RgbImage) -> Result<Features, NetError> {
        let (width, height) = picture.dimensions();
        if !self.trunk.fits(height as usize, width as usize) {
            return Err(NetError::TooThin { width, height });
        }
        // The package brings levels to −1 … 1 and then subtracts (−0.030, −0.088, −0.188) and divides by (0.458, 0.448, 0.450): in levels of
        // 0 … 1 these are ImageNet's mean and deviation.
        let pixels = Normalisation::IMAGENET.tensor(picture, width, height, &self.device);
        let taps = trunk::forward(&self.layers, pixels).into_iter().map(unit).collect();
        Ok(Features { taps, width: width as usize, height: height as usize })
    }

    /// The distance of two pictures of one size, and its map: one value a pixel, row-major.
    ///
    /// The distance is the sum over taps of the mean of each tap's map; the map is the sum of the taps' maps, stretched to the pictures'
    /// size. Stretching moves means a little, so the mean of the map is near the distance, not equal to it.
    ///
    /// # Errors
    /// When the device fails or a value is not finite.
    pub fn distance(&self, a: &Features, b: &Features) -> Result<(f64, Vec<f32>), NetError> {
        let (mut distance, mut map) = (0.0, vec![0.0; a.width * a.height]);
        for ((a_tap, b_tap), head) in a.taps.iter().zip(&b.taps).zip(&self.heads) {
            let difference = a_tap.clone() - b_tap.clone();
            let weighted = (difference.clone() * difference * head.clone()).sum_dim(1);
            let [_, _, rows, columns] = weighted.dims();
            let values: Vec<f32> = weighted.try_into_vec_as()?;
            if values.iter().any(|value| !value.is_finite()) {
                return Err(NetError::NotFinite { what: "a distance of LPIPS" });
            }
            distance += values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64;
            add_stretched(&mut map, a.width, &values, rows, columns);
        }
        Ok((distance, map))
    }
}

/// Every pixel's feature brought to length 1.
fn unit(tap: Tensor<4>) -> Tensor<4> {
    let length = (tap.clone() * tap.clone()).sum_dim(1).sqrt() + EPSILON;
    tap / length
}

/// Adds `values` of `[rows, columns]`, stretched bilinearly to `map` of `width` columns (PyTorch's `upsample_bilinear2d` with
/// `align_corners=False`: centres are mapped to centres, the border is continued).
fn add_stretched(map: &mut [f32], width: usize, values: &[f32], rows: usize, columns: usize) {
    let height = map.len() / width.max(1);
    let across = stretched(columns, width);
    for ((upper, lower, down), row) in stretched(rows, height).into_iter().zip(map.chunks_exact_mut(width)) {
        for (&(left, right, along), value) in across.iter().zip(row) {
            let between = |y: usize| values[y * columns + left] * (1.0 - along) + values[y * columns + right] * along;
            *value += between(upper) * (1.0 - down) + between(lower) * down;
        }
    }
}

/// For each of `to` places the two of `from` places it lies between, and how far along.
fn stretched(from: usize, to: usize) -> Vec<(usize, usize, f32)> {
    let scale = from as f32 / to as f32;
    let place = |at: usize| {
        let source = ((at as f32 + 0.5) * scale - 0.5).max(0.0);
        let first = (source as usize).min(from - 1);
        (first, (first + 1).min(from - 1), source - first as f32)
    };
    (0..to).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretching_maps_centres_to_centres() {
        // torch.nn.functional.interpolate([0, 4], size=4, mode='linear', align_corners=False) gives 0, 1, 3, 4 (also by hand: centres of the
        // four lie at −¼, ¼, ¾, 1¼ of the two).
        let mut map = vec![0.0; 4];
        add_stretched(&mut map, 4, &[0.0, 4.0], 1, 2);
        assert_eq!(map, [0.0, 1.0, 3.0, 4.0]);
    }
}
