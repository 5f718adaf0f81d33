//! All tensors of a checkpoint by name, with a record of which were asked for.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor, TensorData};

use super::files::open_file;
use super::layout::matches;
use super::{CONFIG, CheckpointError, Family, Layout, Meaning, Parts, Scope, Settings, weight_files};
use crate::nets::device::Target;

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

/// Where the values of a tensor come from.
struct Entry {
    file: usize,
    /// The name in that file.
    stored: String,
    shape: Vec<usize>,
    part: Part,
}

/// What is taken of a stored tensor.
#[derive(Clone, Copy)]
enum Part {
    Whole,
    /// One of so many equal shares of the rows.
    Share {
        number: usize,
        of: usize,
    },
    Transposed,
}

/// What a checkpoint turned out to be, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recognised {
    /// The first file of weights.
    pub file: PathBuf,
    /// Whose names it has.
    pub layout: &'static str,
    /// The sizes in words, where they were read off the shapes.
    pub inferred: Option<String>,
}

impl fmt::Display for Recognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: names of {}", self.file.display(), self.layout)?;
        match &self.inferred {
            Some(sizes) => write!(f, "; sizes read off the shapes: {sizes}"),
            None => Ok(()),
        }
    }
}

/// The tensors of a checkpoint, handed out once they are asked for by name and shape.
pub struct Weights {
    files: Vec<Box<dyn TensorFile>>,
    entries: BTreeMap<String, Entry>,
    taken: RefCell<BTreeSet<String>>,
    layout: Option<&'static Layout>,
    target: Target,
    path: PathBuf,
    /// Whether a folder was opened, not a file in it.
    whole_folder: bool,
}

impl Weights {
    /// Opens the weights at `path`, a file or a folder ([`weight_files`]), with the names as stored; tensors will be put on the device of `target`.
    ///
    /// # Errors
    /// When there are none, or a file is damaged or would have code run.
    pub fn open(path: &Path, target: impl Into<Target>) -> Result<Self, CheckpointError> {
        let files = weight_files(path)?.iter().map(|file| open_file(file)).collect::<Result<_, _>>()?;
        Ok(Self { whole_folder: path.is_dir(), ..Self::from_files(files, target)? })
    }

    /// As [`Weights::open`], with the names that the networks of `family` ask for, whatever layout of it the files have.
    ///
    /// # Errors
    /// As [`Weights::open`], and when the names fit none of the layouts.
    pub fn open_as(path: &Path, family: &Family, target: impl Into<Target>) -> Result<Self, CheckpointError> {
        Self::open(path, target)?.in_layout_of(family)
    }

    /// Joins the tensors of several files.
    ///
    /// # Errors
    /// [`CheckpointError::Twice`] when a name stands in two of them.
    pub fn from_files(files: Vec<Box<dyn TensorFile>>, target: impl Into<Target>) -> Result<Self, CheckpointError> {
        let mut entries = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            for TensorInfo { name, shape } in file.tensors() {
                if entries.contains_key(&name) {
                    return Err(CheckpointError::Twice { path: file.path().to_owned(), tensor: name });
                }
                entries.insert(name.clone(), Entry { file: number, stored: name, shape, part: Part::Whole });
            }
        }
        let path = files.first().map(|file| file.path().to_owned()).unwrap_or_default();
        Ok(Self { files, entries, taken: RefCell::default(), layout: None, target: target.into(), path, whole_folder: false })
    }

    /// Gives the tensors the names that the networks of `family` ask for, and leaves out what its layout says is not needed.
    ///
    /// # Errors
    /// When the names fit no layout, a tensor cannot be taken apart as the layout says, or two get the same name.
    pub fn in_layout_of(mut self, family: &Family) -> Result<Self, CheckpointError> {
        let names = self.entries.keys().map(String::as_str);
        let found = family.layouts.iter().find_map(|layout| Some((layout, layout.recognise(names.clone())?)));
        let Some((layout, prefix)) = found else {
            return Err(CheckpointError::UnknownLayout {
                path: self.path.clone(),
                network: family.network,
                known: family.layouts.iter().map(|layout| layout.name).collect::<Vec<_>>().join("; "),
                example: self.entries.keys().next().cloned().unwrap_or_default(),
            });
        };
        let mut named = BTreeMap::new();
        for (stored, entry) in std::mem::take(&mut self.entries) {
            let Some(own) = stored.strip_prefix(prefix) else {
                named.insert(stored, entry);
                continue;
            };
            let Meaning::Tensors(tensors) = layout.meaning(own) else { continue };
            let of = tensors.len();
            for (number, (name, parts)) in tensors.into_iter().enumerate() {
                let entry = self.taken_apart(&entry, parts, number, of)?;
                if named.insert(name.clone(), entry).is_some() {
                    return Err(CheckpointError::Twice { path: self.path.clone(), tensor: name });
                }
            }
        }
        self.entries = named;
        self.layout = Some(layout);
        Ok(self)
    }

    /// Entry number `number` of the `of` that a rule makes of `entry`.
    fn taken_apart(&self, entry: &Entry, parts: Parts, number: usize, of: usize) -> Result<Entry, CheckpointError> {
        let refuse = |needed: String| CheckpointError::NotParts {
            path: self.files[entry.file].path().to_owned(),
            tensor: entry.stored.clone(),
            shape: entry.shape.clone(),
            needed,
        };
        let (shape, part) = match (parts, entry.shape.as_slice()) {
            (Parts::Whole, shape) => (shape.to_vec(), Part::Whole),
            (Parts::Rows, [rows, rest @ ..]) if rows.is_multiple_of(of) => ([&[rows / of], rest].concat(), Part::Share { number, of }),
            (Parts::Rows, _) => return Err(refuse(format!("its rows should be {of} tensors of equal height"))),
            (Parts::Transposed, &[rows, columns]) => (vec![columns, rows], Part::Transposed),
            (Parts::Transposed, _) => return Err(refuse("a table of rows and columns is needed".to_owned())),
        };
        Ok(Entry { file: entry.file, stored: entry.stored.clone(), shape, part })
    }

    /// The layout that the files were recognised to have.
    pub fn layout(&self) -> Option<&'static Layout> {
        self.layout
    }

    /// What was found, in words; `inferred` says what was read off the shapes.
    pub fn recognised(&self, inferred: Option<String>) -> Recognised {
        Recognised { file: self.path.clone(), layout: self.layout.map_or("its own", |layout| layout.name), inferred }
    }

    /// The folder whose JSON files go with the weights; `None` for a layout whose files come without any, unless the folder that was opened
    /// has them all the same.
    pub fn settings_folder(&self) -> Option<&Path> {
        let folder = self.path.parent()?;
        match self.layout.map(|layout| layout.settings) {
            Some(Settings::Inferred) => (self.whole_folder && folder.join(CONFIG).is_file()).then_some(folder),
            Some(Settings::Beside) | None => Some(folder),
        }
    }

    /// Where layers begin to read.
    pub fn root(&self) -> Scope<'_> {
        Scope::new(self)
    }

    /// The first file, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The device that tensors are put on.
    pub fn device(&self) -> &Device {
        &self.target.device
    }

    /// Whether there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// The shape of a tensor.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.entries.get(name).map(|entry| entry.shape.as_slice())
    }

    /// Names and shapes of all tensors.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry.shape.as_slice()))
    }

    /// The values of a tensor, which counts as used from then on.
    ///
    /// # Errors
    /// [`CheckpointError::Missing`] or [`CheckpointError::Misshapen`], naming tensor, file and shapes; a failing file.
    pub fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, CheckpointError> {
        let Some(entry) = self.entries.get(name) else { return Err(self.missing(name, shape)) };
        let file = &self.files[entry.file];
        if entry.shape != shape {
            return Err(CheckpointError::Misshapen {
                path: file.path().to_owned(),
                tensor: entry.stored.clone(),
                expected: shape.to_vec(),
                found: entry.shape.clone(),
            });
        }
        let values = entry.part.of(file.read(&entry.stored)?, shape);
        self.taken.borrow_mut().insert(name.to_owned());
        Ok(values)
    }

    fn missing(&self, name: &str, shape: &[usize]) -> CheckpointError {
        let taken = self.taken.borrow();
        let stored = self.layout.and_then(|layout| layout.stored_name(name));
        let free = self.entries.iter().filter(|(known, _)| !taken.contains(*known)).map(|(_, entry)| &entry.stored);
        CheckpointError::Missing {
            path: self.path.clone(),
            tensor: name.to_owned(),
            nearest: nearest(stored.as_deref().unwrap_or(name), free),
            stored,
            shape: shape.to_vec(),
        }
    }

    /// A tensor on the device, as stored; otherwise as [`Weights::values`].
    ///
    /// # Errors
    /// As [`Weights::values`].
    pub fn tensor<const D: usize>(&self, name: &str, shape: [usize; D]) -> Result<Tensor<D>, CheckpointError> {
        let values = self.values(name, &shape)?;
        Ok(Tensor::from_data(TensorData::new(values, shape), self.device()))
    }

    /// As [`Weights::tensor`], in the precision that linear layers multiply in.
    ///
    /// # Errors
    /// As [`Weights::values`].
    pub fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Tensor<2>, CheckpointError> {
        let values = self.values(name, &shape)?;
        Ok(Tensor::from_data(TensorData::new(values, shape), (self.device(), self.target.precision.dtype())))
    }

    /// The error for two tensors that should be the same and are not.
    pub fn not_tied(&self, first: &str, second: &str) -> CheckpointError {
        CheckpointError::NotTied { path: self.path.clone(), first: first.to_owned(), second: second.to_owned() }
    }

    /// Checks that nothing is left over. `may_be_unused` names what the published files hold beside the network, where the layout has not
    /// said so: patterns in which `*` stands for one part between dots, `**` for any run of characters.
    ///
    /// # Errors
    /// [`CheckpointError::Unused`], naming the first.
    pub fn finish(&self, may_be_unused: &[&str]) -> Result<(), CheckpointError> {
        let taken = self.taken.borrow();
        let unused: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|(name, _)| !taken.contains(*name) && !may_be_unused.iter().any(|pattern| matches(pattern, name)))
            .map(|(_, entry)| entry)
            .collect();
        match unused.first() {
            None => Ok(()),
            Some(first) => Err(CheckpointError::Unused {
                path: self.files[first.file].path().to_owned(),
                count: unused.len(),
                first: first.stored.clone(),
                shape: first.shape.clone(),
                nearest: nearest(&first.stored, self.entries.iter().filter(|(name, _)| taken.contains(*name)).map(|(_, e)| &e.stored)),
            }),
        }
    }
}

impl Part {
    /// Its share of the stored values; `shape` is the shape of the share.
    fn of(self, mut stored: Vec<f32>, shape: &[usize]) -> Vec<f32> {
        match self {
            Self::Whole => stored,
            Self::Share { number, of } => {
                let length = stored.len() / of;
                stored.truncate((number + 1) * length);
                stored.drain(..number * length);
                // The rest of the whole would stay allocated.
                stored.shrink_to_fit();
                stored
            }
            Self::Transposed => {
                let (rows, columns) = (shape[1], shape[0]);
                (0..columns)
                    .flat_map(|column| (0..rows).map(move |row| (row, column)))
                    .map(|(row, column)| stored[row * columns + column])
                    .collect()
            }
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
    fn distances_and_parts() {
        // Hand count: one letter replaced; two letters inserted; everything.
        assert_eq!(distance("lin1", "lin2"), 1);
        assert_eq!(distance("norm", "norm.1"), 2);
        assert_eq!(distance("abc", ""), 3);
        let known = ["block.0.fc1".to_owned(), "block.0.fc2".to_owned(), "zzz".to_owned()];
        assert_eq!(nearest("block.0.fc3", known.iter()), Some("block.0.fc1".to_owned()));
        assert_eq!(nearest("quite_different", known.iter()), None);
        // [[0, 1], [2, 3], [4, 5]]: its second third, and its transpose.
        let stored: Vec<f32> = (0..6u8).map(f32::from).collect();
        assert_eq!(Part::Share { number: 1, of: 3 }.of(stored.clone(), &[1, 2]), [2.0, 3.0]);
        assert_eq!(Part::Transposed.of(stored, &[2, 3]), [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    }
}
