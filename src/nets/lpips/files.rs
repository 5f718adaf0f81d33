//! The files of an LPIPS checkpoint: trunk and heads, as PyTorch saved them or as safetensors.

use std::path::Path;

use crate::nets::checkpoint::{CheckpointError, TensorFile, is_weights, open_file};

/// Opens every file of weights in `folder`, whatever its name.
///
/// # Errors
/// When there is none, or one cannot be read.
pub(super) fn open_all(folder: &Path) -> Result<Vec<Box<dyn TensorFile>>, CheckpointError> {
    let read = |source| CheckpointError::Read { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if is_weights(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(CheckpointError::NoWeights { path: folder.to_owned() });
    }
    paths.sort();
    paths.iter().map(|path| open_file(path)).collect()
}
