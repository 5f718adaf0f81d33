//! How DINO's files name their tensors.

use std::path::Path;

use burn::tensor::Device;

use crate::nets::checkpoint::{CheckpointError, Weights};

/// Opens the weights of `folder` under the names of the Hugging Face layout.
pub(super) fn open(folder: &Path, device: &Device) -> Result<Weights, CheckpointError> {
    Weights::open(folder, device)
}
