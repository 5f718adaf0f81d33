//! The neutral manifest: rows that describe one edit each, gathered into items.
//!
//! Keys of a row: `id`, `item`, `source`, `instruction`, `edited`, `model`, `parse` (or `parsed`; or flat `parse.size` …) and
//! `ratings` (see [`super::ratings`]). `source`, `instruction` and `edited` are needed. Rows with the same `item`, source and
//! instruction, or without `item` the same source and instruction, are edits of one item. A row without `item` takes the `id`
//! of the item's first row as the item's key, one without `id` is called after its item and model.
//! Unknown keys are kept with the edit, those that begin with `item.` with the item; keys that begin with `editscope` are
//! results of an earlier export and are not read.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::paths::Resolver;
use super::{Dataset, Format, Problem, ReadError, ratings, text};
use crate::domain::json::{from_value, in_words};
use crate::domain::{Edit, EditKey, FieldWords, Item, ItemKey, Parse, ParseOrigin, PositionWord, Rating, SizeWord};

/// Keys with this in front belong to the item, not to the edit.
pub const ITEM_PREFIX: &str = "item.";
/// Columns of a table with this behind hold JSON instead of text.
pub const JSON_SUFFIX: &str = ":json";
/// Keys with this in front are written by `export` and never read back.
pub const OWN_PREFIX: &str = "editscope.";
/// The key under which `export` writes results in JSON; never read back.
const OWN_KEY: &str = "editscope";

/// Reads one JSON object a line, or a JSON list of such objects.
pub(super) fn read_jsonl(path: &Path) -> Result<Dataset, ReadError> {
    let content = text::read(path)?;
    let mut rows = Rows::new(path);
    if content.trim_start().starts_with('[') {
        read_list(path, &content, &mut rows)?;
    } else {
        for (number, line) in content.lines().enumerate() {
            if !line.trim().is_empty() {
                rows.add_json(Place::Line(number + 1), text::parse_json(line));
            }
        }
    }
    Ok(rows.finish(Format::Jsonl))
}

fn read_list(path: &Path, content: &str, rows: &mut Rows) -> Result<(), ReadError> {
    let malformed = |reason: String| ReadError::Malformed { path: path.to_owned(), format: Format::Jsonl, reason };
    let (value, nan) = text::parse_json(content).map_err(|error| malformed(format!("it is no JSON ({error})")))?;
    let Value::Array(list) = value else { return Err(malformed("the list is followed by something else".into())) };
    for (index, row) in list.into_iter().enumerate() {
        rows.add_json(Place::Entry(index), Ok((row, Vec::new())));
    }
    if let Some(note) = text::nan_note(&nan) {
        rows.problem(Place::File, note);
    }
    Ok(())
}

/// Where in the manifest something stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    File,
    /// Counted from 1.
    Line(usize),
    /// Entry of a list, counted from 0.
    Entry(usize),
}

/// Gathers rows into items.
pub(super) struct Rows {
    resolver: Resolver,
    /// The manifest's name, for messages.
    file: String,
    /// Who gave the ratings that name no rater.
    nameless: String,
    items: Vec<Item>,
    /// (item or empty, source, instruction) → index of the item.
    groups: HashMap<(String, String, String), usize>,
    item_keys: HashSet<String>,
    /// Edit key → (item, edit, place).
    edits: HashMap<String, (usize, usize, String)>,
    problems: Vec<Problem>,
    /// [`Dataset::named_at`].
    named_at: HashMap<PathBuf, String>,
}

impl Rows {
    pub fn new(manifest: &Path) -> Self {
        Self {
            resolver: Resolver::beside(manifest),
            nameless: ratings::rater_of_file(manifest),
            file: manifest.file_name().map_or_else(|| manifest.display().to_string(), |name| name.to_string_lossy().into_owned()),
            items: Vec::new(),
            groups: HashMap::new(),
            item_keys: HashSet::new(),
            edits: HashMap::new(),
            problems: Vec::new(),
            named_at: HashMap::new(),
        }
    }

    pub fn finish(self, format: Format) -> Dataset {
        let mut all = self.items.iter().flat_map(|item| &item.edits).flat_map(|edit| &edit.ratings);
        let named_by_file = all.any(|rating| rating.rater == self.nameless).then_some(self.nameless);
        Dataset { format, items: self.items, problems: self.problems, named_at: self.named_at, named_by_file }
    }

    pub fn problem(&mut self, place: Place, reason: String) {
        self.problems.push(Problem { place: self.place(place), reason });
    }

    fn place(&self, place: Place) -> String {
        match place {
            Place::File => self.file.clone(),
            Place::Line(line) => format!("{}:{line}", self.file),
            Place::Entry(index) => format!("{} entry {index}", self.file),
        }
    }

    fn add_json(&mut self, place: Place, row: Result<(Value, Vec<String>), String>) {
        match row {
            Ok((Value::Object(row), nan)) => {
                if let Some(note) = text::nan_note(&nan) {
                    self.problem(place, note);
                }
                self.add(place, row);
            }
            Ok((other, _)) => self.problem(place, format!("the row is {}, not an object; left out", in_words(&other))),
            Err(error) => self.problem(place, format!("the row is no JSON ({error}); left out")),
        }
    }

    /// Adds one row; what is wrong with it is listed.
    pub fn add(&mut self, place: Place, mut row: Map<String, Value>) {
        let mut notes = Vec::new();
        if let Err(reason) = self.add_row(place, &mut row, &mut notes) {
            notes.push(format!("{reason}; left out"));
        }
        for note in notes {
            self.problem(place, note);
        }
    }

    fn add_row(&mut self, place: Place, row: &mut Map<String, Value>, notes: &mut Vec<String>) -> Result<(), String> {
        row.retain(|key, _| key != OWN_KEY && !key.starts_with(OWN_PREFIX));
        let source = needed(row, "source")?;
        let edited = needed(row, "edited")?;
        let instruction = text_of(row, "instruction")?.ok_or("the row has no 'instruction'")?;
        let id = text_of(row, "id")?.filter(|id| !id.is_empty());
        let item = text_of(row, "item")?.filter(|item| !item.is_empty());
        let model = text_of(row, "model")?.unwrap_or_default();
        if instruction.is_empty() {
            notes.push("the instruction is empty; kept".into());
        }
        let parse = take_parse(row, notes);
        let ratings = ratings::take(row, &self.nameless, notes);
        let item_extra = take_item_extra(row);
        let index = self.item_index(place, item, id.as_deref(), source, instruction, notes);
        self.describe_item(index, parse, item_extra, notes);
        let key = id.unwrap_or_else(|| format!("{}/{}", self.items[index].key, if model.is_empty() { &edited } else { &model }));
        self.add_edit(place, index, key, edited, model, ratings, std::mem::take(row), notes);
        Ok(())
    }

    /// The item that the row belongs to, made if it is new.
    fn item_index(
        &mut self,
        place: Place,
        item: Option<String>,
        id: Option<&str>,
        source: String,
        instruction: String,
        notes: &mut Vec<String>,
    ) -> usize {
        let group = (item.clone().unwrap_or_default(), source, instruction);
        if let Some(&index) = self.groups.get(&group) {
            return index;
        }
        let (_, source, instruction) = group.clone();
        let wanted = item.clone().or_else(|| id.map(str::to_owned)).unwrap_or_else(|| source.clone());
        let key = unused(&wanted, |key| self.item_keys.contains(key));
        if item.is_some() && key != wanted {
            notes.push(format!("item '{wanted}' had another source or instruction before; kept as item '{key}'"));
        }
        let (picture, instead) = self.resolver.picture(&source);
        if let Some(instead) = instead {
            notes.push(format!("source picture '{source}' {instead}"));
        }
        self.named(&picture.path, place);
        let index = self.items.len();
        self.item_keys.insert(key.clone());
        self.groups.insert(group, index);
        self.items.push(Item { key: ItemKey(key), source: picture, instruction, parse: None, edits: Vec::new(), extra: Map::new() });
        index
    }

    fn named(&mut self, picture: &Path, place: Place) {
        if !self.named_at.contains_key(picture) {
            self.named_at.insert(picture.to_owned(), self.place(place));
        }
    }

    /// Adds what a row says about its item; the first row that says something counts.
    fn describe_item(&mut self, index: usize, parse: Option<Parse>, extra: Map<String, Value>, notes: &mut Vec<String>) {
        let item = &mut self.items[index];
        match (&item.parse, parse) {
            (_, None) => {}
            (None, parse) => item.parse = parse,
            (Some(known), Some(parse)) if *known == parse => {}
            (Some(_), Some(_)) => notes.push(format!("the parse differs from an earlier one of item '{}'; the first is kept", item.key)),
        }
        for (key, value) in extra {
            match item.extra.get(&key) {
                None => drop(item.extra.insert(key, value)),
                Some(known) if *known == value => {}
                Some(_) => {
                    notes.push(format!("'{ITEM_PREFIX}{key}' differs from an earlier row of item '{}'; the first is kept", item.key));
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one row, taken apart just above")]
    fn add_edit(
        &mut self,
        place: Place,
        index: usize,
        key: String,
        edited: String,
        model: String,
        ratings: Vec<Rating>,
        extra: Map<String, Value>,
        notes: &mut Vec<String>,
    ) {
        let mut kept_as = key.clone();
        if let Some((known_item, known_edit, first)) = self.edits.get(&key).cloned() {
            let known = &mut self.items[known_item].edits[known_edit];
            if known_item == index && known.picture.given == edited && known.model == model {
                merge_repeated(known, ratings, &extra, &key, &first, notes);
                return;
            }
            kept_as = unused(&key, |key| self.edits.contains_key(key));
            notes.push(format!("id '{key}' is that of {first} already; kept as '{kept_as}'"));
        }
        let (picture, instead) = self.resolver.picture(&edited);
        if let Some(instead) = instead {
            notes.push(format!("edited picture '{edited}' {instead}"));
        }
        self.named(&picture.path, place);
        let edits = &mut self.items[index].edits;
        edits.push(Edit { key: EditKey(kept_as.clone()), picture, model, ratings, extra });
        let position = edits.len() - 1;
        let place = self.place(place);
        self.edits.insert(kept_as, (index, position, place));
    }
}

/// A row that names an edit again: its ratings are added (tables with one row a rater), anything else new is said.
fn merge_repeated(known: &mut Edit, ratings: Vec<Rating>, extra: &Map<String, Value>, key: &str, first: &str, notes: &mut Vec<String>) {
    let before = known.ratings.len();
    for rating in ratings {
        if !known.ratings.contains(&rating) {
            known.ratings.push(rating);
        }
    }
    if *extra != known.extra {
        notes.push(format!("id '{key}' repeats {first}; its ratings are added, its other keys are not kept"));
    } else if known.ratings.len() == before {
        notes.push(format!("id '{key}' repeats {first}; left out"));
    }
}

/// `wanted`, or `wanted#2`, `wanted#3`, … whichever is free first.
fn unused(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(wanted) {
        return wanted.to_owned();
    }
    // Ends: only finitely many keys are taken.
    (2..).map(|n| format!("{wanted}#{n}")).find(|key| !taken(key)).unwrap_or_default()
}

/// The text under `key`, trimmed; numbers count as text, `null` as missing.
fn text_of(row: &mut Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match row.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(format!("'{key}' is {}, not text", in_words(&other))),
    }
}

fn needed(row: &mut Map<String, Value>, key: &str) -> Result<String, String> {
    // Not trimmed: a file name may begin or end with a space.
    match row.shift_remove(key) {
        Some(Value::String(path)) if !path.trim().is_empty() => Ok(path),
        None | Some(Value::Null | Value::String(_)) => Err(format!("the row has no '{key}'")),
        Some(other) => Err(format!("'{key}' is {}, not a path", in_words(&other))),
    }
}

fn take_item_extra(row: &mut Map<String, Value>) -> Map<String, Value> {
    let keys: Vec<String> = row.keys().filter(|key| key.starts_with(ITEM_PREFIX)).cloned().collect();
    keys.into_iter().filter_map(|key| Some((key[ITEM_PREFIX.len()..].to_owned(), row.shift_remove(&key)?))).collect()
}

/// Takes the parse out of a row: `parse` or `parsed` as an object (or JSON text), or flat keys. A parse that is broken anywhere is not taken
/// at all: half of one would be scored as if somebody had meant it.
fn take_parse(row: &mut Map<String, Value>, notes: &mut Vec<String>) -> Option<Parse> {
    for key in ["parse", "parsed"] {
        let fields = match row.shift_remove(key) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) if text.trim().is_empty() => continue,
            Some(Value::Object(fields)) => Ok(fields),
            Some(Value::String(text)) => match text::parse_json(&text) {
                Ok((Value::Object(fields), _)) => Ok(fields),
                Ok((other, _)) => Err(format!("is {}, not an object", in_words(&other))),
                Err(error) => Err(format!("is text that is no JSON object ({error})")),
            },
            Some(other) => Err(format!("is {}, not an object", in_words(&other))),
        };
        return match fields {
            Ok(fields) => parse_of(key, fields, row, notes),
            Err(reason) => {
                notes.push(format!("field '{key}' {reason}; {NOT_TAKEN}"));
                None
            }
        };
    }
    let flat: Map<String, Value> = Parse::FIELDS
        .iter()
        .chain(&PARSE_REMARKS)
        .filter_map(|name| Some(((*name).to_owned(), row.shift_remove(&format!("parse.{name}"))?)))
        .filter(|(_, value)| value.as_str() != Some("") && !value.is_null())
        .collect();
    if flat.is_empty() { None } else { parse_of("parse", flat, row, notes) }
}

const PARSE_REMARKS: [&str; 3] = ["doubtful", "more_edits", "origin"];

/// What becomes of a broken parse.
pub(super) const NOT_TAKEN: &str = "this parse is not taken, the instruction is read by the rules";

/// The seven fields, lower-cased and trimmed; unknown keys go back into the row as `parse.KEY`. `key` is what the row calls the parse.
fn parse_of(key: &str, mut fields: Map<String, Value>, row: &mut Map<String, Value>, notes: &mut Vec<String>) -> Option<Parse> {
    let mut parse = Parse { origin: ParseOrigin::Import, ..Parse::default() };
    let mut faults = Vec::new();
    let named = read_fields(&format!("{key}."), &mut fields, &mut parse, &mut faults);
    parse.doubtful = match fields.shift_remove("doubtful") {
        Some(Value::String(why)) => Some(why),
        Some(Value::Bool(true)) => Some("the data says so".into()),
        _ => None,
    };
    parse.more_edits = fields.shift_remove("more_edits").is_some_and(|value| ratings::is_true(&value));
    if let Some(origin) = fields.shift_remove("origin") {
        match from_value(&origin) {
            Ok(origin) => parse.origin = origin,
            Err(error) => faults.push(error.inside(&format!("{key}.origin")).to_string()),
        }
    }
    for (name, value) in fields {
        if let Some(meant) = Parse::FIELDS.into_iter().find(|field| is_misspelt(&name, field)) {
            faults.push(format!("field '{key}.{name}' is none of a parse; is '{meant}' meant?"));
        }
        row.insert(format!("parse.{name}"), value);
    }
    if !named && faults.is_empty() {
        faults.push(format!("field '{key}' has none of {}", Parse::FIELDS.join(", ")));
    }
    if faults.is_empty() {
        doubt(key, &mut parse, notes);
        return Some(parse);
    }
    notes.extend(faults.into_iter().map(|fault| format!("{fault}; {NOT_TAKEN}")));
    None
}

/// Whether `name` is `field` but for its case, its separators, or two letters.
fn is_misspelt(name: &str, field: &str) -> bool {
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect::<Vec<char>>();
    let (name, field) = (plain(name), plain(field));
    // Short names differ by two letters from too many words.
    let allowed = if field.len() > 4 { 2 } else { 1 };
    let mut distances: Vec<usize> = (0..=field.len()).collect();
    for (row, a) in name.iter().enumerate() {
        let mut corner = std::mem::replace(&mut distances[0], row + 1);
        for (column, b) in field.iter().enumerate() {
            let replaced = corner + usize::from(a != b);
            corner = distances[column + 1];
            distances[column + 1] = replaced.min(corner + 1).min(distances[column] + 1);
        }
    }
    distances[field.len()] <= allowed
}

/// Words that the metric does not know count as none; that is said, and the parse is marked doubtful.
fn doubt(key: &str, parse: &mut Parse, notes: &mut Vec<String>) {
    let unknown = |text: &str| !FieldWords(text).is_none();
    let mut doubts = Vec::new();
    if parse.size_word() == SizeWord::None && unknown(&parse.size) {
        doubts.push(("size", parse.size.as_str(), "bigger, smaller, unchanged", "size is not judged"));
    }
    if parse.position_word() == PositionWord::None && unknown(&parse.position) {
        doubts.push(("position", parse.position.as_str(), "left, right, above, below, inside, unchanged", "position is not judged"));
    }
    let words: Vec<String> = doubts
        .into_iter()
        .map(|(field, text, known, then)| format!("field '{key}.{field}' is '{text}', none of {known} and none; {then}"))
        .collect();
    if parse.doubtful.is_none() && !words.is_empty() {
        parse.doubtful = Some(words.join("; "));
    }
    notes.extend(words);
}

/// Takes the seven fields out of `fields` into `parse`; whether any was there. What is no text goes to `faults`, with `before` in front of
/// its name.
pub(super) fn read_fields(before: &str, fields: &mut Map<String, Value>, parse: &mut Parse, faults: &mut Vec<String>) -> bool {
    let mut named = false;
    for name in Parse::FIELDS {
        let text = match fields.shift_remove(name) {
            None => continue,
            Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.trim().to_lowercase(),
            Some(other) => {
                faults.push(format!("field '{before}{name}' is {}, not text", in_words(&other)));
                String::new()
            }
        };
        named = true;
        if let Some(field) = parse.field_mut(name) {
            *field = text;
        }
    }
    named
}
