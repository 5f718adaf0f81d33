//! Looking at the pictures of a data set before anything is scored: can each be read, and what does its header say?
//!
//! The words are those of scoring, so that a person meets one message for one fault, wherever it shows first.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Dataset, Problem};
use crate::domain::{Item, PictureRef};
use crate::imaging::decode::{DecodeError, DecodeOptions, decode};
use crate::imaging::header::{Header, header, header_of_decodable, quick_look};

/// What a picture's header says, or why the picture cannot be read.
pub(super) type Look = Result<Header, String>;

/// Pictures of more pixels are decoded one after another, so that memory holds one of them and not one for each core.
const LARGE: u64 = 25_000_000;

/// Tells how many pictures of how many are done; called from several threads.
pub(super) type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Headers of all pictures that are there.
pub(super) fn headers<'a>(dataset: &'a Dataset, progress: Progress<'_>) -> HashMap<&'a Path, Look> {
    let all = paths(dataset);
    each(&all, header_of_decodable, &Count::of(progress, all.len()))
}

/// Decodes all pictures that are there, every pixel.
pub(super) fn pixels<'a>(dataset: &'a Dataset, progress: Progress<'_>) -> HashMap<&'a Path, Look> {
    let all = paths(dataset);
    let count = Count::of(progress, all.len());
    let is_large = |path: &&Path| header(path).is_ok_and(|header| header.size.pixels() > LARGE);
    let (large, small): (Vec<&Path>, Vec<&Path>) = all.into_par_iter().partition(is_large);
    let mut looks = each(&small, decoded, &count);
    looks.extend(large.into_iter().map(|path| {
        let look = decoded(path).map_err(|error| error.to_string());
        count.one_more();
        (path, look)
    }));
    looks
}

/// Pictures that cannot be read, with the place that names each: empty files, files of another kind, files cut short. Of a file that ends
/// as its kind does only the header is read; `lint` reads all of it.
pub fn unreadable(dataset: &Dataset) -> Vec<Problem> {
    let looks = each(&paths(dataset), quick_look, &Count::of(&|_, _| {}, 0));
    let mut said = HashSet::new();
    dataset.items.iter().flat_map(|item| faults(dataset, item, &looks, &mut said)).collect()
}

/// The pictures of an item that cannot be read and are not in `said` yet.
pub(super) fn faults<'a>(dataset: &Dataset, item: &'a Item, looks: &HashMap<&Path, Look>, said: &mut HashSet<&'a Path>) -> Vec<Problem> {
    let source = (format!("item '{}'", item.key), "source", &item.source);
    let edits = item.edits.iter().map(|edit| (format!("edit '{}'", edit.key), "edited", &edit.picture));
    let mut found = Vec::new();
    for (owner, which, picture) in std::iter::once(source).chain(edits) {
        if let Some(Err(why)) = looks.get(picture.path.as_path())
            && said.insert(&picture.path)
        {
            let place = dataset.named_at.get(&picture.path).cloned().unwrap_or(owner);
            found.push(Problem { place, reason: format!("the {which} image: {why}") });
        }
    }
    found
}

fn pictures_of(item: &Item) -> impl Iterator<Item = &PictureRef> {
    std::iter::once(&item.source).chain(item.edits.iter().map(|edit| &edit.picture))
}

/// Every picture once, in no order, those that are not there left out: the reader has told of them.
fn paths(dataset: &Dataset) -> Vec<&Path> {
    let mut seen = HashSet::new();
    let each = dataset.items.iter().flat_map(pictures_of).map(|picture| picture.path.as_path());
    each.filter(|path| seen.insert(*path)).collect::<Vec<_>>().into_par_iter().filter(|path| path.is_file()).collect()
}

fn each<'a>(paths: &[&'a Path], look: fn(&Path) -> Result<Header, DecodeError>, count: &Count<'_>) -> HashMap<&'a Path, Look> {
    let one = |path: &&'a Path| {
        let look = look(path).map_err(|error| error.to_string());
        count.one_more();
        (*path, look)
    };
    paths.par_iter().map(one).collect()
}

fn decoded(path: &Path) -> Result<Header, DecodeError> {
    let picture = decode(path, &DecodeOptions::default())?;
    let size = crate::domain::Size::new(picture.rgb.width(), picture.rgb.height());
    Ok(Header { size, orientation: picture.orientation })
}

/// Counts over all threads.
struct Count<'a> {
    progress: Progress<'a>,
    done: AtomicUsize,
    total: usize,
}

impl<'a> Count<'a> {
    const fn of(progress: Progress<'a>, total: usize) -> Self {
        Self { progress, done: AtomicUsize::new(0), total }
    }

    fn one_more(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(done, self.total);
    }
}
