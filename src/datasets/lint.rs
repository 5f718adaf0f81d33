//! Checks of a data set that was read: what will make scores wrong or doubtful, said before anything is scored.

use std::collections::{HashMap, HashSet};
use std::io::BufReader;
use std::path::Path;

use image::metadata::Orientation;
use image::{ImageDecoder, ImageReader};
use rayon::prelude::*;

use super::Dataset;
use crate::domain::{Item, Size};

/// One thing that `lint` found. Errors stand for edits that cannot be scored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub error: bool,
    /// `file:line`, or the item or edit.
    pub place: String,
    pub reason: String,
}

/// Checks a data set: what the reader could not read, pictures missing or unreadable, edits of another size or EXIF
/// orientation than their source, several items that ask the same of the same picture, instructions that are empty,
/// edits that are the source file itself, captions that do not change. Reads the headers of the pictures, not their pixels.
pub fn lint(dataset: &Dataset) -> Vec<Finding> {
    let mut findings: Vec<Finding> = dataset
        .problems
        .iter()
        .map(|problem| Finding {
            error: problem.reason.ends_with("left out") || problem.reason.contains("is not there"),
            place: problem.place.clone(),
            reason: problem.reason.clone(),
        })
        .collect();
    let headers = headers_of(dataset);
    let mut said = HashSet::new();
    for item in &dataset.items {
        lint_item(item, &headers, &mut said, &mut findings);
    }
    repeated_questions(dataset, &mut findings);
    findings
}

/// What a picture's header says: size in upright pixels and orientation, or why it cannot be read.
type Header = Result<(Size, Orientation), String>;

fn headers_of(dataset: &Dataset) -> HashMap<&Path, Header> {
    let paths: HashSet<&Path> = dataset
        .items
        .iter()
        .flat_map(|item| std::iter::once(&item.source).chain(item.edits.iter().map(|edit| &edit.picture)))
        .map(|picture| picture.path.as_path())
        .filter(|path| path.is_file())
        .collect();
    paths.into_par_iter().map(|path| (path, header_of(path))).collect()
}

fn header_of(path: &Path) -> Header {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let reader = ImageReader::new(BufReader::new(file)).with_guessed_format().map_err(|error| error.to_string())?;
    let mut decoder = reader.into_decoder().map_err(|error| error.to_string())?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let (width, height) = decoder.dimensions();
    let turned =
        matches!(orientation, Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH);
    Ok((if turned { Size::new(height, width) } else { Size::new(width, height) }, orientation))
}

fn lint_item<'a>(item: &'a Item, headers: &HashMap<&'a Path, Header>, said: &mut HashSet<&'a Path>, findings: &mut Vec<Finding>) {
    let mut find = |error, place: &str, reason: String| findings.push(Finding { error, place: place.to_owned(), reason });
    let pictures = std::iter::once((item.key.0.as_str(), &item.source)).chain(item.edits.iter().map(|e| (e.key.0.as_str(), &e.picture)));
    for (place, picture) in pictures {
        if let Some(Err(why)) = headers.get(picture.path.as_path())
            && said.insert(&picture.path)
        {
            find(true, place, format!("picture '{}' cannot be read: {why}", picture.given));
        }
    }
    if item.instruction.is_empty() {
        find(false, &item.key.0, "the instruction is empty".into());
    }
    if let (Some(before), Some(after)) = (caption(item, &BEFORE), caption(item, &AFTER))
        && before == after
    {
        find(false, &item.key.0, format!("the captions before and after the edit are the same: '{before}'"));
    }
    let Some(Ok((size, orientation))) = headers.get(item.source.path.as_path()) else { return };
    for edit in &item.edits {
        if edit.picture.path == item.source.path {
            find(false, &edit.key.0, "the edit is the source file itself".into());
        }
        let Some(Ok((edit_size, edit_orientation))) = headers.get(edit.picture.path.as_path()) else { continue };
        if edit_size != size {
            find(false, &edit.key.0, format!("the edit is {edit_size}, its source {size}; it will be stretched to compare"));
        }
        if edit_orientation != orientation {
            let reason = format!(
                "source and edit have different EXIF orientations ({orientation:?}, {edit_orientation:?}); both are turned upright"
            );
            find(false, &edit.key.0, reason);
        }
    }
}

/// Keys under which other data sets keep a caption of the picture before and after the edit.
const BEFORE: [&str; 4] = ["input_caption", "original_prompt", "source_global_caption", "source_prompt"];
const AFTER: [&str; 4] = ["output_caption", "editing_prompt", "target_global_caption", "target_prompt"];

fn caption<'a>(item: &'a Item, names: &[&str]) -> Option<&'a str> {
    let edits = item.edits.iter().map(|edit| &edit.extra);
    std::iter::once(&item.extra).chain(edits).find_map(|extra| names.iter().find_map(|name| extra.get(*name)?.as_str())).map(str::trim)
}

fn repeated_questions(dataset: &Dataset, findings: &mut Vec<Finding>) {
    let mut first: HashMap<(&Path, String), &str> = HashMap::new();
    for item in &dataset.items {
        let question = (item.source.path.as_path(), item.instruction.to_lowercase());
        match first.get(&question) {
            Some(earlier) => findings.push(Finding {
                error: false,
                place: item.key.0.clone(),
                reason: format!("source and instruction are those of item '{earlier}'"),
            }),
            None => drop(first.insert(question, &item.key.0)),
        }
    }
}
