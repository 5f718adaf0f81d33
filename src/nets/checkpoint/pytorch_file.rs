//! Files that `torch.save` wrote: `.pth`, `.pt`, `pytorch_model.bin`.
//!
//! burn's reader (`pytorch-reader`) parses them without running anything, reads strided and shared storages, and reads each tensor when it is
//! asked for. It passes over what it does not know; here a file is refused outright when its pickle imports anything that is not data.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};

use burn_store::pytorch_reader::{DType, PytorchReader, Tensor};

use super::CheckpointError;
use super::archive::{Archive, MAGIC};
use super::numbers::Number;
use super::pickle::refuse_code;
use super::weights::{TensorFile, TensorInfo};

/// Largest pickle taken, in bytes; those of the published files are below one megabyte.
const PICKLE_LIMIT: u64 = 64 << 20;

/// Pickles before the storages of a file of PyTorch 1.5 and older: a magic number, the protocol, the writing machine, the object, the keys of
/// the storages (`torch/serialization.py`, `_legacy_save`).
const LEGACY_PICKLES: usize = 5;

/// An open file of `torch.save`.
pub struct PytorchFile {
    path: PathBuf,
    tensors: HashMap<String, Tensor>,
}

impl PytorchFile {
    /// Opens `path`, in the zip format of PyTorch 1.6 and newer or the one before.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or imports something that is not data.
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        refuse_imports(path)?;
        let reader = PytorchReader::new(path).map_err(|e| CheckpointError::Pytorch { path: path.to_owned(), reason: e.to_string() })?;
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
        let Some(tensor) = self.tensors.get(name) else {
            return Err(CheckpointError::NoSuchTensor { path: self.path.clone(), tensor: name.to_owned() });
        };
        let number = match tensor.dtype() {
            DType::F16 => Number::F16,
            DType::BF16 => Number::Bf16,
            DType::F32 => Number::F32,
            DType::F64 => Number::F64,
            other => {
                let found = format!("{other:?}");
                return Err(CheckpointError::NumberType { path: self.path.clone(), tensor: name.to_owned(), found });
            }
        };
        let bytes = tensor.read().map_err(|e| CheckpointError::Pytorch { path: self.path.clone(), reason: e.to_string() })?;
        let mut values = Vec::with_capacity(tensor.num_elements());
        number.append(&mut values, &bytes);
        Ok(values)
    }
}

/// Whether a pickle of tensors may import `module.name`: what rebuilds tensors, the types of storages and numbers, and dictionaries.
fn is_data(module: &str, name: &str) -> bool {
    match module {
        "collections" => name == "OrderedDict",
        "torch._utils" => name.starts_with("_rebuild_tensor") || name.starts_with("_rebuild_parameter"),
        "torch._tensor" => name == "_rebuild_from_type_v2",
        "torch.nn.parameter" => name == "Parameter",
        "torch.storage" => name == "UntypedStorage",
        "torch" => name.ends_with("Storage") || matches!(name, "Size" | "Tensor" | "float16" | "bfloat16" | "float32" | "float64"),
        "builtins" | "__builtin__" => matches!(name, "set" | "frozenset"),
        _ => false,
    }
}

fn refuse_imports(path: &Path) -> Result<(), CheckpointError> {
    let io = |source| CheckpointError::Read { path: path.to_owned(), source };
    let bad = |reason: String| CheckpointError::Pytorch { path: path.to_owned(), reason };
    let audit = |from: &mut dyn BufRead| -> Result<(), CheckpointError> {
        let mut from = from;
        refuse_code(&mut from, is_data).map_err(bad)?.map_err(|import| CheckpointError::Code { path: path.to_owned(), import })
    };
    let mut file = BufReader::new(File::open(path).map_err(io)?);
    if !file.fill_buf().map_err(io)?.starts_with(MAGIC) {
        return (0..LEGACY_PICKLES).try_for_each(|_| audit(&mut file));
    }
    let archive = Archive::open(path).map_err(bad)?;
    // Only one of them is read later, but none may hold code.
    for name in archive.names().filter(|name| name.ends_with(".pkl")) {
        audit(&mut Cursor::new(archive.read(name, PICKLE_LIMIT).map_err(bad)?))?;
    }
    Ok(())
}
