//! Which files a path stands for, and which reader each needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::pytorch_file::PytorchFile;
use super::safetensors_file::SafetensorsFile;
use super::torchscript::TorchScriptFile;
use super::weights::TensorFile;
use super::{CheckpointError, WEIGHTS, WEIGHTS_INDEX, read_json};

/// Names under which transformers saved PyTorch files before safetensors.
const OLD_WEIGHTS: [&str; 2] = ["pytorch_model.bin", "pytorch_model.bin.index.json"];
/// Endings of weights under other names.
const ENDINGS: [&str; 4] = ["safetensors", "pth", "pt", "bin"];

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// The files of weights that `path` stands for: itself, or what a folder holds: safetensors whole or in parts, the same as PyTorch files, or
/// else the only file of weights in it.
///
/// # Errors
/// When there is none or more than one, or an index cannot be read.
pub fn weight_files(path: &Path) -> Result<Vec<PathBuf>, CheckpointError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    for (whole, index) in [(WEIGHTS, WEIGHTS_INDEX), (OLD_WEIGHTS[0], OLD_WEIGHTS[1])] {
        if path.join(whole).is_file() {
            return Ok(vec![path.join(whole)]);
        }
        if path.join(index).is_file() {
            let index: Index = read_json(path, index)?;
            let names: BTreeSet<String> = index.weight_map.into_values().collect();
            return Ok(names.into_iter().map(|name| path.join(name)).collect());
        }
    }
    let read = |source| CheckpointError::Read { path: path.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(read)? {
        let file = entry.map_err(read)?.path();
        if file.is_file() && is_weights(&file) {
            found.push(file);
        }
    }
    found.sort();
    match found.len() {
        0 => Err(CheckpointError::NoWeights { path: path.to_owned() }),
        1 => Ok(found),
        _ => Err(CheckpointError::SeveralWeights { path: path.to_owned(), files: found }),
    }
}

/// Whether a file's ending is one that weights have.
pub fn is_weights(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Opens a file of tensors, told by its first bytes: a zip archive with or without a program, a pickle, else safetensors.
///
/// # Errors
/// When it cannot be read, is damaged, or would have code run.
pub fn open_file(path: &Path) -> Result<Box<dyn TensorFile>, CheckpointError> {
    let mut start = Vec::new();
    open_regular(path)
        .and_then(|file| file.take(9).read_to_end(&mut start))
        .map_err(|source| CheckpointError::Read { path: path.to_owned(), source })?;
    // The ninth byte of a safetensors file opens its header.
    let is_safetensors = start.get(8) == Some(&b'{');
    Ok(match start.as_slice() {
        [b'P', b'K', ..] if TorchScriptFile::is_one(path) => Box::new(TorchScriptFile::open(path)?),
        [b'P', b'K', ..] => Box::new(PytorchFile::open(path)?),
        [0x80, ..] if !is_safetensors => Box::new(PytorchFile::open(path)?),
        // A login page or an error page that was saved in place of the file.
        [b'<', ..] if !is_safetensors => {
            return Err(CheckpointError::NotWeights { path: path.to_owned(), found: "a web page (it begins with '<')" });
        }
        [] => return Err(CheckpointError::NotWeights { path: path.to_owned(), found: "an empty file" }),
        _ => Box::new(SafetensorsFile::open(path)?),
    })
}

/// Opens a file for reading. Opening a pipe would wait for somebody to write into it.
///
/// # Errors
/// When it cannot be opened, or is neither a file nor a link to one.
pub fn open_regular(path: &Path) -> std::io::Result<File> {
    if std::fs::metadata(path)?.is_file() { File::open(path) } else { Err(std::io::Error::other("it is neither a file nor a link to one")) }
}
