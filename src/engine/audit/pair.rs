//! The pairs that were last asked about, decoded and on the metric's canvas.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use image::RgbImage;

use crate::engine::evaluate::picture;
use crate::engine::inputs::Sizes;
use crate::metrics::bpm::Canvases;
use crate::storage::{EditId, Project, StoredItem};

/// A decoded pair; nothing in it depends on regions or parse.
pub struct Pair {
    pub item: StoredItem,
    pub source: RgbImage,
    pub edit: RgbImage,
    pub canvases: Canvases,
    files: [File; 2],
    /// Content hashes of source, edit and the canvases of both.
    hashes: [OnceLock<String>; 4],
}

/// A file as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl File {
    fn at(path: &Path) -> Self {
        let meta = fs::metadata(path).ok();
        let bytes = meta.as_ref().map_or(0, fs::Metadata::len);
        Self { path: path.to_owned(), bytes, modified: meta.and_then(|meta| meta.modified().ok()) }
    }
}

impl Pair {
    /// Reads the pictures of an edit.
    ///
    /// # Errors
    /// When the project or a picture cannot be read; the error names the side.
    pub fn load(project: &Project, edit: EditId) -> anyhow::Result<Self> {
        let edit = project.edit(edit)?;
        let item = project.item(edit.item)?;
        let files = [File::at(&item.source.path), File::at(&edit.picture.path)];
        let source = picture(&item.source.path).map_err(|why| anyhow::anyhow!("the source image: {why}"))?;
        let edit = picture(&edit.picture.path).map_err(|why| anyhow::anyhow!("the edited image: {why}"))?;
        let canvases = Canvases::new(&source, &edit)?;
        Ok(Self { item, source, edit, canvases, files, hashes: Default::default() })
    }

    /// The pictures that networks are asked about, with their hashes.
    pub fn hashed(&self) -> [(&RgbImage, &OnceLock<String>); 4] {
        let [source, edit, source_canvas, edit_canvas] = &self.hashes;
        [(&self.source, source), (&self.edit, edit), (self.canvases.source(), source_canvas), (self.canvases.edit(), edit_canvas)]
    }

    /// Sizes of the two pictures.
    pub fn sizes(&self) -> Sizes {
        Sizes::of(&self.source, &self.edit)
    }

    fn pixels(&self) -> u64 {
        [&self.source, &self.edit].map(|picture| u64::from(picture.width()) * u64::from(picture.height())).iter().sum()
    }
}

/// Pixels of the pairs that are kept; a pair of 1024² has 2 million and takes about 10 MB.
const MOST_PIXELS: u64 = 32 << 20;

/// The last pairs, the newest last.
#[derive(Default)]
pub struct Pairs(Vec<(EditId, Arc<Pair>)>);

impl Pairs {
    /// The pair of an edit, read again if a file changed.
    ///
    /// # Errors
    /// As [`Pair::load`].
    pub fn get(&mut self, project: &Project, edit: EditId) -> anyhow::Result<Arc<Pair>> {
        let unchanged = |pair: &Pair| pair.files.iter().all(|file| *file == File::at(&file.path));
        let at = self.0.iter().position(|(known, _)| *known == edit);
        let known = at.map(|at| self.0.remove(at)).filter(|(_, pair)| unchanged(pair));
        let entry = match known {
            Some(known) => known,
            None => (edit, Arc::new(Pair::load(project, edit)?)),
        };
        let pair = Arc::clone(&entry.1);
        self.0.push(entry);
        while self.0.len() > 1 && self.0.iter().map(|(_, pair)| pair.pixels()).sum::<u64>() > MOST_PIXELS {
            self.0.remove(0);
        }
        Ok(pair)
    }

    /// Forgets all pairs: another project is asked about.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
