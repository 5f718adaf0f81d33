//! All tensors of a checkpoint by name, with a record of which were asked for.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor, TensorData};
use serde::Deserialize;

use super::safetensors_file::SafetensorsFile;
use super::{CheckpointError, Scope, WEIGHTS, WEIGHTS_INDEX, read_json};

/// Name and shape of a stored tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    pub name: String,
    pub shape: Vec<usize>,
}

/// A file of tensors. Other formats (and renamed layouts) join the reader here.
pub trait TensorFile {
    /// Where it lies, for messages.
    fn path(&self) -> &Path;
    /// Everything in it, in any order.
    fn tensors(&self) -> Vec<TensorInfo>;
    /// The values of one tensor as `f32`, row-major.
    ///
    /// # Errors
    /// When it is not there, holds no floating-point numbers, or cannot be read.
    fn read(&self, name: &str) -> Result<Vec<f32>, CheckpointError>;
}

struct Entry {
    file: usize,
    shape: Vec<usize>,
}

/// The tensors of a checkpoint, handed out once they are asked for by name and shape.
pub struct Weights {
    files: Vec<Box<dyn TensorFile>>,
    entries: BTreeMap<String, Entry>,
    taken: RefCell<BTreeSet<String>>,
    device: Device,
    path: PathBuf,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl Weights {
    /// Opens the weights of `folder`, in one safetensors file or in several with an index; tensors will be put on `device`.
    ///
    /// # Errors
    /// When there are none, or a file is damaged.
    pub fn open(folder: &Path, device: &Device) -> Result<Self, CheckpointError> {
        let single = folder.join(WEIGHTS);
        if single.is_file() {
            return Self::from_files(vec![Box::new(SafetensorsFile::open(&single)?)], device);
        }
        if !folder.join(WEIGHTS_INDEX).is_file() {
            return Err(CheckpointError::NoWeights { path: folder.to_owned() });
        }
        let index: Index = read_json(folder, WEIGHTS_INDEX)?;
        let names: BTreeSet<&String> = index.weight_map.values().collect();
        let mut files: Vec<Box<dyn TensorFile>> = Vec::new();
        for name in names {
            files.push(Box::new(SafetensorsFile::open(&folder.join(name))?));
        }
        Self::from_files(files, device)
    }

    /// Joins the tensors of several files.
    ///
    /// # Errors
    /// [`CheckpointError::Twice`] when a name stands in two of them.
    pub fn from_files(files: Vec<Box<dyn TensorFile>>, device: &Device) -> Result<Self, CheckpointError> {
        let mut entries = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            for TensorInfo { name, shape } in file.tensors() {
                if entries.contains_key(&name) {
                    return Err(CheckpointError::Twice { path: file.path().to_owned(), tensor: name });
                }
                entries.insert(name, Entry { file: number, shape });
            }
        }
        let path = files.first().map(|file| file.path().to_owned()).unwrap_or_default();
        Ok(Self { files, entries, taken: RefCell::default(), device: device.clone(), path })
    }

    /// Where layers begin to read.
    pub fn root(&self) -> Scope<'_> {
        Scope::new(self)
    }

    /// The device that tensors are put on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Whether a tensor of this full name is there; for the few that may have one of several names.
    pub fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// The shape of a stored tensor.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.entries.get(name).map(|entry| entry.shape.as_slice())
    }

    /// The values of a tensor, which counts as used from then on.
    ///
    /// # Errors
    /// [`CheckpointError::Missing`] or [`CheckpointError::Misshapen`], naming tensor, file and shapes; a failing file.
    pub fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, CheckpointError> {
        let Some(entry) = self.entries.get(name) else {
            let free = self.entries.keys().filter(|known| !self.taken.borrow().contains(*known)).cloned().collect::<Vec<_>>();
            return Err(CheckpointError::Missing {
                path: self.path.clone(),
                tensor: name.to_owned(),
                shape: shape.to_vec(),
                nearest: nearest(name, free.iter()),
            });
        };
        let file = &self.files[entry.file];
        if entry.shape != shape {
            return Err(CheckpointError::Misshapen {
                path: file.path().to_owned(),
                tensor: name.to_owned(),
                expected: shape.to_vec(),
                found: entry.shape.clone(),
            });
        }
        let values = file.read(name)?;
        self.taken.borrow_mut().insert(name.to_owned());
        Ok(values)
    }

    /// A tensor on the device, as stored; otherwise as [`Weights::values`].
    ///
    /// # Errors
    /// As [`Weights::values`].
    pub fn tensor<const D: usize>(&self, name: &str, shape: [usize; D]) -> Result<Tensor<D>, CheckpointError> {
        let values = self.values(name, &shape)?;
        Ok(Tensor::from_data(TensorData::new(values, shape), &self.device))
    }

    /// The error for two tensors that should be the same and are not.
    pub fn not_tied(&self, first: &str, second: &str) -> CheckpointError {
        CheckpointError::NotTied { path: self.path.clone(), first: first.to_owned(), second: second.to_owned() }
    }

    /// Checks that nothing is left over. `may_be_unused` names what the published files hold beside the network; a `*` stands for any
    /// run of characters.
    ///
    /// # Errors
    /// [`CheckpointError::Unused`], naming the first.
    pub fn finish(&self, may_be_unused: &[&str]) -> Result<(), CheckpointError> {
        let taken = self.taken.borrow();
        let unused: Vec<(&String, &Entry)> = self
            .entries
            .iter()
            .filter(|(name, _)| !taken.contains(*name) && !may_be_unused.iter().any(|pattern| matches(pattern, name)))
            .collect();
        match unused.first() {
            None => Ok(()),
            Some((first, entry)) => Err(CheckpointError::Unused {
                path: self.files[entry.file].path().to_owned(),
                count: unused.len(),
                first: (*first).clone(),
                shape: entry.shape.clone(),
                nearest: nearest(first, taken.iter()),
            }),
        }
    }
}

/// Whether `name` fits `pattern`, in which `*` stands for any run of characters.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, rest)) => {
            name.strip_prefix(head).is_some_and(|tail| (0..=tail.len()).any(|at| tail.is_char_boundary(at) && matches(rest, &tail[at..])))
        }
    }
}

/// The name with the fewest changed characters, if less than half of them change.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Option<String> {
    known.map(|other| (distance(name, other), other)).min().filter(|(changes, _)| *changes * 2 < name.len()).map(|(_, other)| other.clone())
}

/// Levenshtein distance in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != y)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_distances() {
        assert!(matches("*.position_ids", "text_model.embeddings.position_ids"));
        assert!(matches("a.*.c.*", "a.b.c.d"));
        assert!(!matches("*.position_ids", "position_ids.weight"));
        assert!(!matches("mask_embed.*", "prompt_encoder.mask_embed.conv1.bias"));
        // Hand count: one letter replaced; two letters inserted; everything.
        assert_eq!(distance("lin1", "lin2"), 1);
        assert_eq!(distance("norm", "norm.1"), 2);
        assert_eq!(distance("abc", ""), 3);
        let known = ["block.0.fc1".to_owned(), "block.0.fc2".to_owned(), "zzz".to_owned()];
        assert_eq!(nearest("block.0.fc3", known.iter()), Some("block.0.fc1".to_owned()));
        assert_eq!(nearest("quite_different", known.iter()), None);
    }
}
