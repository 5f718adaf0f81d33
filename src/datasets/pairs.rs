//! A folder of pictures without a manifest. Three ways to name them are known, and may be mixed in sub-folders:
//!
//! 1. **Beside each other**: `X_source.png` with `X_edit.png`, `X_edit_MODEL.png`, `X_edited-MODEL.jpg`, …; the item is `X`, the
//!    instruction stands in `X.txt` or `X_instruction.txt`.
//! 2. **One folder an item**: `X/source.png` with any other pictures, each named after its model; the instruction stands in
//!    `X/instruction.txt`, `X/prompt.txt` or `X.txt`.
//! 3. **One folder a model**: `source/X.png` with `MODEL/X.png`; the instruction stands in `X.txt` beside the folders, in
//!    `source/X.txt` or in `instructions/X.txt`.
//!
//! For `source` one may also write `src`, `input`, `before` or `original`, for `edit` also `edited`, `output` or `after`;
//! for `_` also `-` or `.`. Masks (`mask` as a word in the name) are not taken for edits. Folders are searched four deep.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Map;

use super::{Dataset, Format, Problem, ReadError};
use crate::domain::{Edit, EditKey, Item, ItemKey, PictureRef};

const SOURCE_WORDS: [&str; 5] = ["source", "src", "input", "before", "original"];
/// Longer words first, so that `edited` is not read as `edit` with a model `ed`.
const EDIT_WORDS: [&str; 4] = ["edited", "edit", "output", "after"];
const PICTURES: [&str; 14] = ["png", "jpg", "jpeg", "webp", "bmp", "gif", "tif", "tiff", "ppm", "pgm", "pnm", "tga", "qoi", "hdr"];
const DEPTH: usize = 4;

/// Whether a folder holds pictures named by one of the rules.
pub(super) fn recognises(folder: &Path) -> bool {
    read(folder).is_ok_and(|dataset| !dataset.items.is_empty())
}

pub(super) fn read(folder: &Path) -> Result<Dataset, ReadError> {
    let mut reader = Reader { root: folder.to_owned(), items: Vec::new(), problems: Vec::new() };
    reader.walk(folder, DEPTH).map_err(|source| ReadError::Io { path: folder.to_owned(), source })?;
    Ok(Dataset { format: Format::Pairs, items: reader.items, problems: reader.problems, named_at: HashMap::new(), named_by_file: None })
}

struct Reader {
    root: PathBuf,
    items: Vec<Item>,
    problems: Vec<Problem>,
}

/// The source picture of one item, and its edits by model.
type Group<'a> = (Option<&'a PathBuf>, Vec<(String, &'a PathBuf)>);

/// What one folder holds, in the order of the names.
struct Listing {
    pictures: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

fn list(folder: &Path) -> std::io::Result<Listing> {
    let mut listing = Listing { pictures: Vec::new(), folders: Vec::new() };
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if stem_of(&path).starts_with('.') {
            continue;
        }
        if path.is_dir() {
            listing.folders.push(path);
        } else if is_picture(&path) {
            listing.pictures.push(path);
        }
    }
    listing.pictures.sort();
    listing.folders.sort();
    Ok(listing)
}

impl Reader {
    fn walk(&mut self, folder: &Path, depth: usize) -> std::io::Result<()> {
        let listing = list(folder)?;
        if let Some(source) = listing.pictures.iter().find(|path| is_word(&stem_of(path), &SOURCE_WORDS)) {
            self.add_item_folder(folder, source, &listing.pictures);
        } else {
            self.add_beside(folder, &listing.pictures);
        }
        let source_folder = listing.folders.iter().find(|path| is_word(&name_of(path), &SOURCE_WORDS));
        if let Some(source) = source_folder {
            return self.add_model_folders(folder, source, &listing.folders);
        }
        if depth > 0 {
            for sub in &listing.folders {
                if let Err(error) = self.walk(sub, depth - 1) {
                    self.problem(sub, format!("the folder cannot be read: {error}"));
                }
            }
        }
        Ok(())
    }

    /// Rule 1.
    fn add_beside(&mut self, folder: &Path, pictures: &[PathBuf]) {
        let mut groups: BTreeMap<String, Group<'_>> = BTreeMap::new();
        for path in pictures {
            let stem = stem_of(path);
            if let Some((item, "")) = split_at_word(&stem, &SOURCE_WORDS) {
                groups.entry(item.to_owned()).or_default().0 = Some(path);
            } else if let Some((item, model)) = split_at_word(&stem, &EDIT_WORDS)
                && !has_mask_word(&stem)
            {
                groups.entry(item.to_owned()).or_default().1.push((model.to_owned(), path));
            }
        }
        for (name, (source, edits)) in groups {
            match source {
                None => self.problem(&edits[0].1.clone(), format!("there is no source picture '{name}_source.…' beside it; left out")),
                Some(source) if edits.is_empty() => self.problem(source, format!("there is no edit '{name}_edit.…' beside it; left out")),
                Some(source) => {
                    let texts = [folder.join(format!("{name}.txt")), folder.join(format!("{name}_instruction.txt"))];
                    self.add_item(&folder.join(&name), source, &texts, edits);
                }
            }
        }
    }

    /// Rule 2.
    fn add_item_folder(&mut self, folder: &Path, source: &Path, pictures: &[PathBuf]) {
        let edits: Vec<_> = pictures
            .iter()
            .filter(|path| path.as_path() != source && !has_mask_word(&stem_of(path)))
            .map(|path| {
                let stem = stem_of(path);
                let model = EDIT_WORDS.iter().find_map(|word| Some(stem.strip_prefix(word)?.trim_start_matches(SEPARATORS)));
                (model.unwrap_or(&stem).to_owned(), path)
            })
            .collect();
        if edits.is_empty() {
            self.problem(source, "there is no edit in its folder; left out".into());
            return;
        }
        let texts = [folder.join("instruction.txt"), folder.join("prompt.txt"), folder.with_extension("txt")];
        self.add_item(folder, source, &texts, edits);
    }

    /// Rule 3.
    fn add_model_folders(&mut self, folder: &Path, source_folder: &Path, folders: &[PathBuf]) -> std::io::Result<()> {
        let mut by_stem: BTreeMap<String, Vec<(String, PathBuf)>> = BTreeMap::new();
        for model in folders.iter().filter(|path| path.as_path() != source_folder && !has_mask_word(&name_of(path))) {
            for picture in list(model)?.pictures {
                by_stem.entry(stem_of(&picture)).or_default().push((name_of(model), picture));
            }
        }
        for source in list(source_folder)?.pictures {
            let stem = stem_of(&source);
            match by_stem.remove(&stem) {
                None => self.problem(&source, "no other folder has an edit of that name; left out".into()),
                Some(edits) => {
                    let text = format!("{stem}.txt");
                    let texts = [folder.join(&text), source_folder.join(&text), folder.join("instructions").join(&text)];
                    let edits = edits.iter().map(|(model, path)| (model.clone(), path)).collect();
                    self.add_item(&folder.join(&stem), &source, &texts, edits);
                }
            }
        }
        for (model, picture) in by_stem.into_values().flatten() {
            self.problem(&picture, format!("there is no source of that name for the edit of '{model}'; left out"));
        }
        Ok(())
    }

    fn add_item(&mut self, name: &Path, source: &Path, texts: &[PathBuf], edits: Vec<(String, &PathBuf)>) {
        let key = match self.relative(name) {
            key if key.is_empty() => name_of(name),
            key => key,
        };
        let text = texts.iter().find_map(|path| super::text::read(path).ok());
        if text.is_none() {
            let names: Vec<String> = texts.iter().map(|path| self.relative(path)).collect();
            self.problem(source, format!("there is no instruction (looked for {}); kept without", names.join(", ")));
        }
        let edits = edits
            .into_iter()
            .map(|(model, path)| Edit {
                key: EditKey(self.relative(path)),
                picture: self.picture(path),
                model,
                ratings: Vec::new(),
                extra: Map::new(),
            })
            .collect();
        let instruction = text.unwrap_or_default().trim().to_owned();
        let source = self.picture(source);
        self.items.push(Item { key: ItemKey(key), source, instruction, parse: None, edits, extra: Map::new() });
    }

    fn picture(&self, path: &Path) -> PictureRef {
        PictureRef { path: path.to_owned(), given: self.relative(path) }
    }

    /// Relative to the data set, with forward separators.
    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }

    fn problem(&mut self, path: &Path, reason: String) {
        self.problems.push(Problem { place: self.relative(path), reason });
    }
}

const SEPARATORS: [char; 3] = ['_', '-', '.'];

/// Splits `house_edit_ip2p` at a word into `("house", "ip2p")`; the word must stand between separators or at the end.
fn split_at_word<'a>(stem: &'a str, words: &[&str]) -> Option<(&'a str, &'a str)> {
    let lower = stem.to_ascii_lowercase();
    words.iter().find_map(|word| {
        lower.rmatch_indices(*word).find_map(|(at, _)| {
            let (before, after) = (&stem[..at], &stem[at + word.len()..]);
            let item = before.strip_suffix(SEPARATORS)?;
            let model = match after.strip_prefix(SEPARATORS) {
                Some(model) => model,
                // `edit2` names the model `2`; `editor` is another word.
                None if after.chars().all(|c| c.is_ascii_digit()) => after,
                None => return None,
            };
            (!item.is_empty()).then_some((item, model))
        })
    })
}

fn is_word(stem: &str, words: &[&str]) -> bool {
    words.iter().any(|word| stem.eq_ignore_ascii_case(word))
}

fn has_mask_word(stem: &str) -> bool {
    stem.split(|c: char| !c.is_alphabetic()).any(|word| word.eq_ignore_ascii_case("mask") || word.eq_ignore_ascii_case("masks"))
}

fn is_picture(path: &Path) -> bool {
    path.extension().is_some_and(|ending| is_word(&ending.to_string_lossy(), &PICTURES))
}

fn stem_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
