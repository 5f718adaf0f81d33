//! Golden stages of the networks, and how they are compared.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::{Path, PathBuf};

use burn::tensor::{Device, Int, Tensor, TensorData};
use image::RgbImage;
use safetensors::{Dtype, SafeTensors};

/// Folder `tests/golden/name`.
pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// A golden picture.
pub fn picture(folder: &str, file: &str) -> RgbImage {
    image::open(golden(folder).join(file)).expect("a golden picture can be read").to_rgb8()
}

/// Largest difference allowed between a stage and the reference, as a part of the reference's largest value (`checkpoints.md`, traps:
/// float noise stays below 1e-5).
pub const NOISE: f32 = 1e-5;

/// The stages that the reference implementation saved.
pub struct Stages {
    bytes: Vec<u8>,
}

impl Stages {
    pub fn of(folder: &str) -> Self {
        Self { bytes: std::fs::read(golden(folder).join("stages.safetensors")).expect("golden stages can be read") }
    }

    /// Shape and values of a stage.
    pub fn get(&self, name: &str) -> (Vec<usize>, Vec<f32>) {
        let file = SafeTensors::deserialize(&self.bytes).expect("golden stages are a safetensors file");
        let view = file.tensor(name).unwrap_or_else(|_| panic!("no golden stage '{name}'"));
        let values = match view.dtype() {
            Dtype::F32 => view.data().as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect(),
            Dtype::I64 => view.data().as_chunks::<8>().0.iter().map(|&b| i64::from_le_bytes(b) as f32).collect(),
            Dtype::BOOL | Dtype::U8 => view.data().iter().map(|&b| f32::from(b)).collect(),
            other => panic!("golden stage '{name}' holds {other:?}"),
        };
        (view.shape().to_vec(), values)
    }

    /// A stage as a tensor.
    pub fn tensor<const D: usize>(&self, name: &str, device: &Device) -> Tensor<D> {
        let (shape, values) = self.get(name);
        Tensor::from_data(TensorData::new(values, shape), device)
    }

    /// A stage of whole numbers as a tensor.
    pub fn ints<const D: usize>(&self, name: &str, device: &Device) -> Tensor<D, Int> {
        let (shape, values) = self.get(name);
        let values: Vec<i32> = values.into_iter().map(|v| v as i32).collect();
        Tensor::from_data(TensorData::new(values, shape), device)
    }

    /// Asserts that `found` is the stage, up to [`NOISE`].
    pub fn check<const D: usize>(&self, name: &str, found: &Tensor<D>) {
        self.check_within(name, found, NOISE);
    }

    /// Asserts that `found` is the stage, up to `tolerance` of its largest value. Infinite values must be infinite in both.
    pub fn check_within<const D: usize>(&self, name: &str, found: &Tensor<D>, tolerance: f32) {
        let (shape, _) = self.get(name);
        assert_eq!(found.dims().to_vec(), shape, "{name}: shape");
        self.check_values(name, &found.to_data().try_to_vec::<f32>().expect("networks compute in f32"), tolerance);
    }

    /// As [`Stages::check_within`], for values that left the device; any shape.
    pub fn check_values(&self, name: &str, found: &[f32], tolerance: f32) {
        let (_, expected) = self.get(name);
        let error = relative_error(found, &expected);
        eprintln!("{name}: {error:.1e}");
        assert!(error <= tolerance, "{name}: off by {error} of the largest value, {tolerance} allowed");
    }
}

/// Largest difference as a part of the largest expected value; not a number counts as infinitely far off.
pub fn relative_error(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len(), "number of values");
    let finite = expected.iter().filter(|v| v.is_finite());
    let largest = finite.fold(f32::MIN_POSITIVE, |a, v| a.max(v.abs()));
    let difference = found.iter().zip(expected).map(|(a, b)| match a == b {
        true => 0.0,
        false if (a - b).is_finite() => (a - b).abs(),
        false => f32::INFINITY,
    });
    difference.fold(0.0, f32::max) / largest
}
