//! The files of an LPIPS checkpoint: trunk and heads, as PyTorch saved them or as safetensors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use burn_store::pytorch_reader::{DType, PytorchReader, Tensor};

use crate::nets::checkpoint::{CheckpointError, SafetensorsFile, TensorFile, TensorInfo};

/// A file of `torch.save`, through burn's reader, which runs no pickled code.
struct PytorchFile {
    path: PathBuf,
    tensors: HashMap<String, Tensor>,
}

impl PytorchFile {
    fn open(path: &Path) -> Result<Self, CheckpointError> {
        let reader = PytorchReader::new(path).map_err(|e| CheckpointError::Header { path: path.to_owned(), reason: e.to_string() })?;
        Ok(Self { path: path.to_owned(), tensors: reader.into_tensors() })
    }
}

impl TensorFile for PytorchFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn tensors(&self) -> Vec<TensorInfo> {
        self.tensors.iter().map(|(name, tensor)| TensorInfo { name: name.clone(), shape: tensor.shape().to_vec() }).collect()
    }

    fn read(&self, name: &str) -> Result<Vec<f32>, CheckpointError> {
        let path = || self.path.clone();
        let Some(tensor) = self.tensors.get(name) else {
            return Err(CheckpointError::Missing { path: path(), tensor: name.to_owned(), shape: Vec::new(), nearest: None });
        };
        if tensor.dtype() != DType::F32 {
            let found = format!("{:?}", tensor.dtype());
            return Err(CheckpointError::NumberType { path: path(), tensor: name.to_owned(), found });
        }
        let bytes = tensor.read().map_err(|source| CheckpointError::Read { path: path(), source })?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|&number| f32::from_le_bytes(number)).collect())
    }
}

/// Opens every file of weights in `folder`, whatever its name.
///
/// # Errors
/// When there is none, or one cannot be read.
pub(super) fn open_all(folder: &Path) -> Result<Vec<Box<dyn TensorFile>>, CheckpointError> {
    let read = |source| CheckpointError::Read { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|ending| ending == "pth" || ending == "safetensors") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(CheckpointError::NoWeights { path: folder.to_owned() });
    }
    paths.sort();
    let open = |path: &PathBuf| -> Result<Box<dyn TensorFile>, CheckpointError> {
        Ok(match path.extension().is_some_and(|ending| ending == "pth") {
            true => Box::new(PytorchFile::open(path)?),
            false => Box::new(SafetensorsFile::open(path)?),
        })
    };
    paths.iter().map(open).collect()
}
