//! Checks of a data set that was read: what will make scores wrong or doubtful, said before anything is scored.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::look::{self, Look};
use super::{Dataset, LOCATE_LATER, Problem};
use crate::domain::{Item, Size};

/// One thing that `lint` found. Errors stand for edits that cannot be scored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub error: bool,
    /// `file:line`, or the item or edit.
    pub place: String,
    pub reason: String,
}

/// How far into the pictures `lint` looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Headers only: sizes and orientations. A picture that is cut short goes unseen.
    Headers,
    /// Every pixel, as scoring will.
    Pixels,
}

/// Checks a data set: what the reader could not read, pictures missing or unreadable, edits of another size or EXIF
/// orientation than their source, several items that ask the same of the same picture, instructions that are empty,
/// edits that are the source file itself, captions that do not change. `progress(done, total)` counts pictures, from several threads.
pub fn lint(dataset: &Dataset, depth: Depth, progress: &(dyn Fn(usize, usize) + Sync)) -> Vec<Finding> {
    let mut findings: Vec<Finding> = dataset
        .problems
        .iter()
        .map(|problem| Finding {
            error: [LEFT_OUT, LOCATE_LATER].iter().any(|end| problem.reason.ends_with(end)),
            place: problem.place.clone(),
            reason: problem.reason.clone(),
        })
        .collect();
    let looks = match depth {
        Depth::Headers => look::headers(dataset, progress),
        Depth::Pixels => look::pixels(dataset, progress),
    };
    let mut said = HashSet::new();
    for item in &dataset.items {
        let faults = look::faults(dataset, item, &looks, &mut said);
        findings.extend(faults.into_iter().map(|Problem { place, reason }| Finding { error: true, place, reason }));
        lint_item(item, &looks, &mut findings);
    }
    repeated_questions(dataset, &mut findings);
    findings
}

/// How a note about something that is not in the data set that was read ends.
const LEFT_OUT: &str = "left out";

fn lint_item(item: &Item, looks: &HashMap<&Path, Look>, findings: &mut Vec<Finding>) {
    let mut find = |place: &str, reason: String| findings.push(Finding { error: false, place: place.to_owned(), reason });
    if item.instruction.is_empty() {
        find(&item.key.0, "the instruction is empty".into());
    }
    if let (Some(before), Some(after)) = (caption(item, &BEFORE), caption(item, &AFTER))
        && before == after
    {
        find(&item.key.0, format!("the captions before and after the edit are the same: '{before}'"));
    }
    let pictures =
        std::iter::once((&item.key.0, "source", &item.source)).chain(item.edits.iter().map(|edit| (&edit.key.0, "edited", &edit.picture)));
    for (key, which, picture) in pictures {
        if let Some(Ok(header)) = looks.get(picture.path.as_path())
            && is_too_thin(header.size)
        {
            find(key, format!("the {which} image is too long and thin ({}): networks cannot look at it; crop it", header.size));
        }
    }
    let Some(Ok(source)) = looks.get(item.source.path.as_path()) else { return };
    for edit in &item.edits {
        if edit.picture.path == item.source.path {
            find(&edit.key.0, "the edit is the source file itself".into());
        }
        let Some(Ok(edited)) = looks.get(edit.picture.path.as_path()) else { continue };
        if edited.size != source.size {
            find(&edit.key.0, format!("the edit is {}, its source {}; it will be stretched to compare", edited.size, source.size));
        }
        if edited.orientation != source.orientation {
            let reason = format!(
                "source and edit are stored in different EXIF orientations (source: {}, edit: {}); both are turned upright",
                orientation_in_words(source.orientation),
                orientation_in_words(edited.orientation)
            );
            find(&edit.key.0, reason);
        }
    }
}

/// The longest side that the published segmenters bring a picture to; the detector's is longer (1333).
const LONGEST_SEEN: u64 = 1024;

/// Whether less than half a pixel is left of the shorter side in what networks see: it is rounded away, and the picture cannot be scored.
fn is_too_thin(size: Size) -> bool {
    let (width, height) = (u64::from(size.width), u64::from(size.height));
    2 * width.min(height) * LONGEST_SEEN < width.max(height)
}

/// What is done to a picture of an EXIF orientation to make it upright.
const fn orientation_in_words(exif: u8) -> &'static str {
    match exif {
        2 => "2, mirrored left to right",
        3 => "3, upside down",
        4 => "4, mirrored top to bottom",
        5 => "5, turned right and mirrored",
        6 => "6, turned right",
        7 => "7, turned left and mirrored",
        8 => "8, turned left",
        _ => "1, upright",
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
