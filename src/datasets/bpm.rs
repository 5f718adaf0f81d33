//! BPM's `local_metadata.json`: a list of items, each with `edited_image1`, `edited_image2`, … and the parse at item level.
//!
//! Two keys have two meanings: `size` and `position` of the item are words of the parse, those of an edited image are part
//! scores of the authors' own run. The latter, like all metric fields, are kept as unknown keys of the edit. `user_overall_quality`,
//! `user_preservation` and `user_edit_quality` become one rating. The model is the edited picture's name without its ending,
//! because the format names it nowhere else. Paths start at the manifest or at a folder `data` beside, above or around it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::paths::{NoFile, Resolver};
use super::{Dataset, Format, Problem, ReadError, neutral, ratings, text};
use crate::domain::{Edit, EditKey, Item, ItemKey, Parse, ParseOrigin, Rating};

/// Who gave the `user_…` values; the file does not say.
pub(super) const RATER: &str = "bpm-users";

const RATED: [(&str, &str); 5] = [
    ("user_overall_quality", "overall"),
    ("user_preservation", "preservation"),
    ("user_edit_quality", "modification"),
    ("user_size", "size"),
    ("user_position", "position"),
];

pub(super) fn read(path: &Path) -> Result<Dataset, ReadError> {
    let malformed = |reason: String| ReadError::Malformed { path: path.to_owned(), format: Format::Bpm, reason };
    let content = text::read(path)?;
    let (value, nan) = text::parse_json(&content).map_err(|error| malformed(format!("it is no JSON ({error})")))?;
    let Value::Array(list) = value else { return Err(malformed("it is no list of items".into())) };
    let file = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let resolver = Resolver::beside_or(path, &["data", "..", "../data"]);
    let mut reader = Reader { file, resolver, items: Vec::new(), keys: HashMap::new(), problems: Vec::new(), named_at: HashMap::new() };
    if let Some(reason) = text::nan_note(&nan) {
        reader.problems.push(Problem { place: reader.file.clone(), reason });
    }
    for (position, entry) in list.into_iter().enumerate() {
        reader.add(position, entry);
    }
    Ok(Dataset { format: Format::Bpm, items: reader.items, problems: reader.problems, named_at: reader.named_at, named_by_file: None })
}

struct Reader {
    file: String,
    resolver: Resolver,
    items: Vec<Item>,
    /// Item key → how often it came.
    keys: HashMap<String, usize>,
    problems: Vec<Problem>,
    /// [`Dataset::named_at`].
    named_at: HashMap<PathBuf, String>,
}

impl Reader {
    fn add(&mut self, position: usize, entry: Value) {
        let mut notes = Vec::new();
        let known = self.items.len();
        let mut place = format!("{} entry {position}", self.file);
        match entry {
            Value::Object(fields) => {
                if let Some(index) = fields.get("index").filter(|index| index.is_number() || index.is_string()) {
                    place = format!("{} item {}", self.file, plain(index));
                }
                if let Err(reason) = self.add_item(position, fields, &mut notes) {
                    notes.push(format!("{reason}; left out"));
                }
            }
            _ => notes.push("the entry is no object; left out".into()),
        }
        self.problems.extend(notes.into_iter().map(|reason| Problem { place: place.clone(), reason }));
        if let Some(item) = self.items.get(known) {
            for picture in std::iter::once(&item.source).chain(item.edits.iter().map(|edit| &edit.picture)) {
                self.named_at.entry(picture.path.clone()).or_insert_with(|| place.clone());
            }
        }
    }

    fn add_item(&mut self, position: usize, mut fields: Map<String, Value>, notes: &mut Vec<String>) -> Result<(), String> {
        let source = path_of(&mut fields, "source_image_path").ok_or("the item has no 'source_image_path'")?;
        let instruction = match fields.shift_remove("instruction") {
            Some(Value::String(text)) => text.trim().to_owned(),
            _ => return Err("the item has no 'instruction'".into()),
        };
        let index = fields.shift_remove("index").filter(|index| index.is_number() || index.is_string());
        let wanted = index.map_or_else(|| position.to_string(), |index| plain(&index));
        let times = self.keys.entry(wanted.clone()).and_modify(|times| *times += 1).or_insert(1);
        let key = if *times > 1 { format!("{wanted}#{times}") } else { wanted.clone() };
        if key != wanted {
            notes.push(format!("index {wanted} came before; kept as item '{key}'"));
        }
        let (source, instead) = self.picture(&source);
        if let Some(instead) = instead {
            notes.push(format!("source picture '{}' {instead}", source.given));
        }
        let edits = self.take_edits(&key, &mut fields, notes);
        if edits.is_empty() {
            notes.push("the item has no edited image".into());
        }
        let mut parse = Parse { origin: ParseOrigin::Import, ..Parse::default() };
        let mut faults = Vec::new();
        let named = neutral::read_fields("", &mut fields, &mut parse, &mut faults);
        let parse = (named && faults.is_empty()).then_some(parse);
        notes.extend(faults.into_iter().map(|fault| format!("{fault}; {}", neutral::NOT_TAKEN)));
        self.items.push(Item { key: ItemKey(key), source, instruction, parse, edits, extra: fields });
        Ok(())
    }

    fn take_edits(&self, item: &str, fields: &mut Map<String, Value>, notes: &mut Vec<String>) -> Vec<Edit> {
        let mut numbers: Vec<u32> = fields.keys().filter_map(|key| key.strip_prefix("edited_image")?.parse().ok()).collect();
        numbers.sort_unstable();
        let mut edits = Vec::new();
        for number in numbers {
            let name = format!("edited_image{number}");
            match fields.shift_remove(&name) {
                // The authors leave unused places empty.
                Some(Value::Object(edit)) if edit.is_empty() => {}
                Some(Value::Object(edit)) => match self.edit(item, number, edit, notes) {
                    Some(edit) => edits.push(edit),
                    None => notes.push(format!("{name} has no 'image_path'; left out")),
                },
                None | Some(Value::Null) => {}
                Some(_) => notes.push(format!("{name} is no object; left out")),
            }
        }
        edits
    }

    fn edit(&self, item: &str, number: u32, mut fields: Map<String, Value>, notes: &mut Vec<String>) -> Option<Edit> {
        let given = path_of(&mut fields, "image_path")?;
        let (picture, instead) = self.picture(&given);
        if let Some(instead) = instead {
            notes.push(format!("edited picture '{given}' {instead}"));
        }
        let mut values = BTreeMap::new();
        for (key, criterion) in RATED {
            if let Some(answer) = fields.shift_remove(key).and_then(|value| ratings::answer(criterion, &value, notes)) {
                values.insert(criterion.to_owned(), answer);
            }
        }
        let rating = Rating::new(RATER, values);
        let name = given.rsplit(['/', '\\']).next().unwrap_or(&given);
        let model = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
        let ratings = if rating.values.is_empty() { Vec::new() } else { vec![rating] };
        Some(Edit { key: EditKey(format!("{item}/{number}")), picture, model, ratings, extra: fields })
    }

    /// The authors' scripts write some paths with their own `./data/` in front.
    fn picture(&self, given: &str) -> (crate::domain::PictureRef, Option<NoFile>) {
        let (picture, instead) = self.resolver.picture(given);
        if instead.is_none() {
            return (picture, None);
        }
        let shorter = given.strip_prefix("./").unwrap_or(given).strip_prefix("data/");
        match shorter.map(|shorter| self.resolver.picture(shorter)) {
            Some((mut picture, None)) => {
                picture.given = given.to_owned();
                (picture, None)
            }
            _ => (picture, instead),
        }
    }
}

fn path_of(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    match fields.shift_remove(key) {
        Some(Value::String(path)) if !path.trim().is_empty() => Some(path),
        _ => None,
    }
}

/// A key as text, without JSON's quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
