//! TorchScript archives, in which OpenAI published CLIP.
//!
//! Such a file holds a program besides its weights: the pickle builds objects of classes whose code lies in the same archive. burn's reader
//! refuses these objects. Here they are taken for what matters of them, trees of named tensors; classes are names only, and the code is never
//! looked at. The pickle's form: PyTorch, `torch/csrc/jit/serialization/pickler.cpp`.

mod machine;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use super::CheckpointError;
use super::archive::Archive;
use super::numbers::Number;
use super::weights::{TensorFile, TensorInfo};

/// Largest pickle taken, in bytes; CLIP's are below one megabyte.
const PICKLE_LIMIT: u64 = 64 << 20;

/// A tensor's place in the archive.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    /// Name of the storage below `data/`.
    storage: String,
    /// The storage class, such as `HalfStorage`.
    kind: String,
    /// First number, in numbers.
    offset: usize,
    shape: Vec<usize>,
    /// Steps from one number to the next along each axis, in numbers.
    strides: Vec<usize>,
}

/// An open TorchScript archive.
pub struct TorchScriptFile {
    path: PathBuf,
    archive: Archive,
    /// The archive's only folder, with its slash.
    root: String,
    tensors: BTreeMap<String, Place>,
}

impl TorchScriptFile {
    /// Whether the file at `path` is an archive with a program in it. An unreadable file is none.
    pub fn is_one(path: &Path) -> bool {
        Archive::open(path).is_ok_and(|archive| archive.folder_of("constants.pkl").is_some())
    }

    /// Opens `path` and reads the names and places of its tensors.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or its pickle does something that no tree of tensors needs.
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        let bad = |reason: String| CheckpointError::Pytorch { path: path.to_owned(), reason };
        let archive = Archive::open(path).map_err(bad)?;
        let root = archive.folder_of("data.pkl").ok_or_else(|| bad("its archive has no data.pkl".to_owned()))?;
        let pickle = archive.read(&format!("{root}data.pkl"), PICKLE_LIMIT).map_err(bad)?;
        let tensors = machine::tensors(&mut Cursor::new(pickle)).map_err(|stop| match stop {
            machine::Stop::Code(import) => CheckpointError::Code { path: path.to_owned(), import },
            machine::Stop::Damaged(reason) => bad(reason),
        })?;
        Ok(Self { path: path.to_owned(), archive, root, tensors })
    }

    fn numbers(&self, place: &Place, number: Number) -> Result<Vec<f32>, String> {
        let name = format!("{}data/{}", self.root, place.storage);
        let bytes = self.archive.read(&name, u64::MAX)?;
        let mut stored = Vec::with_capacity(bytes.len() / number.size());
        number.append(&mut stored, &bytes);
        gather(stored, place).ok_or_else(|| format!("{name} is shorter than a tensor that it should hold"))
    }
}

/// The numbers of a view, row-major; `None` when the storage is too short.
fn gather(stored: Vec<f32>, place: &Place) -> Option<Vec<f32>> {
    let count = place.shape.iter().try_fold(1usize, |all, &side| all.checked_mul(side))?;
    if count == 0 {
        return Some(Vec::new());
    }
    let steps = place.shape.iter().zip(&place.strides);
    let last = steps.clone().try_fold(place.offset, |at, (&side, &stride)| at.checked_add((side - 1).checked_mul(stride)?))?;
    if last >= stored.len() {
        return None;
    }
    let mut dense = 1;
    let contiguous = steps.clone().rev().all(|(&side, &stride)| {
        let fits = side == 1 || stride == dense;
        dense *= side;
        fits
    });
    if contiguous && place.offset == 0 && count == stored.len() {
        return Some(stored);
    }
    // A view that repeats numbers may be larger than its storage, but no weight is.
    if count > stored.len() {
        return None;
    }
    let at = |mut index: usize| {
        steps.clone().rev().fold(place.offset, |at, (&side, &stride)| {
            let along = index % side;
            index /= side;
            at + along * stride
        })
    };
    Some((0..count).map(|index| stored[at(index)]).collect())
}

impl TensorFile for TorchScriptFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn tensors(&self) -> Vec<TensorInfo> {
        self.tensors.iter().map(|(name, place)| TensorInfo { name: name.clone(), shape: place.shape.clone() }).collect()
    }

    fn read(&self, name: &str) -> Result<Vec<f32>, CheckpointError> {
        let Some(place) = self.tensors.get(name) else {
            return Err(CheckpointError::NoSuchTensor { path: self.path.clone(), tensor: name.to_owned() });
        };
        let number = match place.kind.as_str() {
            "HalfStorage" => Number::F16,
            "BFloat16Storage" => Number::Bf16,
            "FloatStorage" => Number::F32,
            "DoubleStorage" => Number::F64,
            other => {
                let found = other.to_owned();
                return Err(CheckpointError::NumberType { path: self.path.clone(), tensor: name.to_owned(), found });
            }
        };
        self.numbers(place, number).map_err(|reason| CheckpointError::Pytorch { path: self.path.clone(), reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_gathered_row_by_row() {
        let place = |offset, shape: &[usize], strides: &[usize]| Place {
            storage: "0".to_owned(),
            kind: "FloatStorage".to_owned(),
            offset,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        };
        let stored: Vec<f32> = (0..6u8).map(f32::from).collect();
        // By hand: [[0, 1, 2], [3, 4, 5]] as it is, transposed, and its last column.
        assert_eq!(gather(stored.clone(), &place(0, &[2, 3], &[3, 1])), Some(stored.clone()));
        assert_eq!(gather(stored.clone(), &place(0, &[3, 2], &[1, 3])), Some(vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0]));
        assert_eq!(gather(stored.clone(), &place(2, &[2], &[3])), Some(vec![2.0, 5.0]));
        assert_eq!(gather(stored.clone(), &place(3, &[2], &[3])), None, "one number beyond the end");
        assert_eq!(gather(stored.clone(), &place(0, &[usize::MAX, 2], &[0, 0])), None, "an overflow");
        assert_eq!(gather(stored, &place(0, &[1000], &[0])), None, "a view larger than what it views");
    }
}
