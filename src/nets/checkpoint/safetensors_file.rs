//! One safetensors file, its header checked, its tensors read on demand.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use safetensors::Dtype;
use safetensors::tensor::Metadata;

use super::CheckpointError;
use super::numbers::Number;
use super::weights::{TensorFile, TensorInfo};

/// Bytes read at once; a multiple of every number's size.
const CHUNK: usize = 1 << 20;
/// Largest header taken; the format's own limit.
const HEADER_LIMIT: u64 = 100_000_000;

/// An open safetensors file.
pub struct SafetensorsFile {
    path: PathBuf,
    file: Mutex<File>,
    metadata: Metadata,
    /// Where the tensors begin, in bytes.
    start: u64,
}

impl SafetensorsFile {
    /// Opens `path` and checks its header against its length.
    ///
    /// # Errors
    /// When it cannot be read, is no safetensors file, or is shorter or longer than its header says.
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        let read = |source| CheckpointError::Read { path: path.to_owned(), source };
        let bad = |reason: String| CheckpointError::Header { path: path.to_owned(), reason };
        let mut file = File::open(path).map_err(read)?;
        let length = file.metadata().map_err(read)?.len();
        let mut size = [0; 8];
        file.read_exact(&mut size).map_err(|_| bad(format!("it has {length} bytes, too few for a header")))?;
        let size = u64::from_le_bytes(size);
        if size > HEADER_LIMIT || size + 8 > length {
            return Err(bad(format!("its header should have {size} bytes, the file has {length}")));
        }
        let mut header = vec![0; size as usize];
        file.read_exact(&mut header).map_err(read)?;
        let metadata: Metadata = serde_json::from_slice(&header).map_err(|e| bad(format!("its header is damaged: {e}")))?;
        let expected = size + 8 + metadata.data_len() as u64;
        if expected != length {
            return Err(bad(format!("it has {length} bytes, its header describes {expected}")));
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(file), metadata, start: size + 8 })
    }

    fn floats(&self, number: Number, bytes: (usize, usize)) -> std::io::Result<Vec<f32>> {
        // A poisoned lock only means that another reader panicked; the next seek is absolute anyway.
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.start + bytes.0 as u64))?;
        let mut left = bytes.1 - bytes.0;
        let mut values = Vec::with_capacity(left / number.size());
        let mut buffer = vec![0; CHUNK.min(left)];
        while left > 0 {
            let part = &mut buffer[..CHUNK.min(left)];
            file.read_exact(part)?;
            number.append(&mut values, part);
            left -= part.len();
        }
        Ok(values)
    }
}

fn number_of(dtype: Dtype) -> Option<Number> {
    match dtype {
        Dtype::F16 => Some(Number::F16),
        Dtype::BF16 => Some(Number::Bf16),
        Dtype::F32 => Some(Number::F32),
        Dtype::F64 => Some(Number::F64),
        _ => None,
    }
}

impl TensorFile for SafetensorsFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn tensors(&self) -> Vec<TensorInfo> {
        self.metadata.tensors().into_iter().map(|(name, info)| TensorInfo { name, shape: info.shape.clone() }).collect()
    }

    fn read(&self, name: &str) -> Result<Vec<f32>, CheckpointError> {
        let Some(info) = self.metadata.info(name) else {
            return Err(CheckpointError::NoSuchTensor { path: self.path.clone(), tensor: name.to_owned() });
        };
        let Some(number) = number_of(info.dtype) else {
            return Err(CheckpointError::NumberType {
                path: self.path.clone(),
                tensor: name.to_owned(),
                found: format!("{:?}", info.dtype),
            });
        };
        self.floats(number, info.data_offsets).map_err(|source| CheckpointError::Read { path: self.path.clone(), source })
    }
}
