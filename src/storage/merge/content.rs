//! Items, edits and their pictures: matched by key and by what the pictures hold.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value};

use super::super::error::Fault;
use super::super::items::{json, to_json};
use super::super::pictures::{Names, hash_of, picture_row};
use super::rows::{Maps, said};
use super::{Conflict, ConflictKind, Input, MERGING};

/// A picture of an input.
struct Picture {
    /// Absolute.
    path: PathBuf,
    hash: Option<Vec<u8>>,
    bytes: Option<i64>,
    modified_millis: Option<i64>,
    state: String,
}

impl Picture {
    /// Files that are there first, then by path; of one path the row that knows more.
    fn order(&self) -> (bool, &Path, bool) {
        (!self.path.is_file(), &self.path, self.hash.is_none())
    }
}

/// An item or edit of an input.
struct Thing {
    input: usize,
    id: i64,
    /// Its place among those of its input.
    place: usize,
    key: String,
    /// Id of its picture in its input.
    picture: i64,
    given: String,
    /// The instruction of an item, the model of an edit.
    words: String,
    extra: String,
    /// Merged id of its item; 0 for items.
    owner: i64,
}

/// Things that are the same in several inputs.
struct Same {
    key: String,
    place: usize,
    things: Vec<Thing>,
}

/// What of a thing must be equal for two of one key to be the same: its item, its instruction, and the content of its picture.
type Content = (i64, String, Option<Vec<u8>>);

struct Merge<'a> {
    inputs: &'a [Input],
    conn: &'a Connection,
    names: Names,
    pictures: Vec<HashMap<i64, Picture>>,
    maps: Maps,
    conflicts: &'a mut Vec<Conflict>,
}

/// Merges items, edits and pictures; the maps of their ids.
pub fn merge(inputs: &[Input], conn: &Connection, folder: &Path, conflicts: &mut Vec<Conflict>) -> Result<Maps, Fault> {
    let pictures = inputs.iter().map(pictures_of).collect::<Result<_, _>>()?;
    let maps = vec![HashMap::new(); inputs.len()];
    let mut merge = Merge { inputs, conn, names: Names::new(folder), pictures, maps, conflicts };
    merge.things("items", "SELECT id, key, source_id, source_given, instruction, extra, 0 FROM items ORDER BY id")?;
    merge.things("edits", "SELECT id, key, picture_id, given, model, extra, item_id FROM edits ORDER BY id")?;
    Ok(merge.maps)
}

fn pictures_of(input: &Input) -> Result<HashMap<i64, Picture>, Fault> {
    let folder = input.project.folder();
    let read = |conn: &Connection| -> Result<HashMap<i64, Picture>, Fault> {
        let mut query = conn.prepare("SELECT id, path, hash, bytes, modified_millis, state FROM pictures")?;
        let rows = query.query_map([], |row| {
            let path = folder.join(row.get::<_, String>(1)?);
            let picture = Picture { path, hash: row.get(2)?, bytes: row.get(3)?, modified_millis: row.get(4)?, state: row.get(5)? };
            Ok((row.get(0)?, picture))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    };
    input.project.read(MERGING, read).map_err(|error| said(&error))
}

impl Merge<'_> {
    fn things(&mut self, table: &'static str, query: &str) -> Result<(), Fault> {
        let mut by_key: BTreeMap<String, Vec<Thing>> = BTreeMap::new();
        for input in 0..self.inputs.len() {
            for thing in self.read(input, query)? {
                by_key.entry(thing.key.clone()).or_default().push(thing);
            }
        }
        let mut by_key_of_its_own: BTreeMap<String, Same> = BTreeMap::new();
        for (key, things) in by_key {
            for same in self.split(table, key, things) {
                match by_key_of_its_own.entry(same.key.clone()) {
                    Entry::Vacant(place) => drop(place.insert(same)),
                    // A project that was merged before has it under this key already.
                    Entry::Occupied(mut known) => {
                        let known = known.get_mut();
                        known.place = known.place.min(same.place);
                        known.things.extend(same.things);
                    }
                }
            }
        }
        let mut all: Vec<Same> = by_key_of_its_own.into_values().collect();
        // As the projects have them; by key where they have something at the same place.
        all.sort_by(|a, b| (a.place, &a.key).cmp(&(b.place, &b.key)));
        for same in &all {
            self.insert(table, same)?;
        }
        Ok(())
    }

    fn read(&self, input: usize, query: &str) -> Result<Vec<Thing>, Fault> {
        let read = |conn: &Connection| -> Result<Vec<Thing>, Fault> {
            let mut query = conn.prepare(query)?;
            let mut rows = query.query([])?;
            let mut things = Vec::new();
            while let Some(row) = rows.next()? {
                let item: i64 = row.get(6)?;
                things.push(Thing {
                    input,
                    id: row.get(0)?,
                    place: things.len(),
                    key: row.get(1)?,
                    picture: row.get(2)?,
                    given: row.get(3)?,
                    words: row.get(4)?,
                    extra: row.get(5)?,
                    owner: self.maps[input].get("items").and_then(|items| items.get(&item)).copied().unwrap_or(0),
                });
            }
            Ok(things)
        };
        self.inputs[input].project.read(MERGING, read).map_err(|error| said(&error))
    }

    /// Things of one key by what they are: one group when all are the same. The first group (by its content) keeps the key, the
    /// others get a key that says what they are.
    fn split(&mut self, table: &str, key: String, things: Vec<Thing>) -> Vec<Same> {
        let paths: HashSet<&PathBuf> = things.iter().map(|thing| &self.pictures[thing.input][&thing.picture].path).collect();
        let read_files = paths.len() > 1;
        let mut groups: BTreeMap<Content, Vec<Thing>> = BTreeMap::new();
        let mut unknown = Vec::new();
        for thing in things {
            let hash = self.content_of(&thing, read_files);
            // A model's name is a remark about an edit; an instruction makes the item.
            let words = if table == "items" { thing.words.clone() } else { String::new() };
            match hash {
                None => unknown.push((thing.owner, words, thing)),
                hash => groups.entry((thing.owner, words, hash)).or_default().push(thing),
            }
        }
        // A picture that cannot be looked at is taken for the one that can.
        for (owner, words, thing) in unknown {
            let known = groups.keys().find(|content| (content.0, &content.1) == (owner, &words)).cloned();
            groups.entry(known.unwrap_or((owner, words, None))).or_default().push(thing);
        }
        if groups.len() > 1 {
            let what = format!(
                "{} '{key}' is not the same in all projects ({}); each is kept under a key of its own",
                if table == "items" { "item" } else { "edit" },
                differences(self.inputs, &groups)
            );
            self.conflicts.push(Conflict { kind: ConflictKind::Content, what });
        }
        let named = |(index, (content, things)): (usize, (Content, Vec<Thing>))| {
            let place = things.iter().map(|thing| thing.place).min().unwrap_or_default();
            let key = if index == 0 { key.clone() } else { format!("{key}@{}", short_hash(&content)) };
            Same { key, place, things }
        };
        groups.into_iter().enumerate().map(named).collect()
    }

    /// The hash of a thing's picture: as the project knows it, else (when `read_files`) as the file has it.
    fn content_of(&mut self, thing: &Thing, read_files: bool) -> Option<Vec<u8>> {
        let picture = self.pictures[thing.input].get_mut(&thing.picture)?;
        if !read_files {
            // One path is one picture.
            return Some(picture.path.to_string_lossy().as_bytes().to_vec());
        }
        if picture.hash.is_none() {
            picture.hash = hash_of(&picture.path).ok();
        }
        picture.hash.clone()
    }

    fn insert(&mut self, table: &str, same: &Same) -> Result<(), Fault> {
        let picture = self.picture(&same.things)?;
        let least = |of: fn(&Thing) -> &String| same.things.iter().map(of).min().cloned().unwrap_or_default();
        let extra = self.extra(&same.key, &same.things)?;
        let owner = same.things.first().map_or(0, |thing| thing.owner);
        if table == "items" {
            self.conn
                .prepare_cached("INSERT INTO items (key, source_id, source_given, instruction, extra) VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute(params![same.key, picture, least(|t| &t.given), least(|t| &t.words), extra])?;
        } else {
            self.conn
                .prepare_cached("INSERT INTO edits (item_id, key, picture_id, given, model, extra) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
                .execute(params![owner, same.key, picture, least(|t| &t.given), least(|t| &t.words), extra])?;
            let models: HashSet<&String> = same.things.iter().map(|thing| &thing.words).collect();
            if models.len() > 1 {
                let what = format!("edit '{}' is of different models; '{}' is kept", same.key, least(|t| &t.words));
                self.conflicts.push(Conflict { kind: ConflictKind::Content, what });
            }
        }
        let new = self.conn.last_insert_rowid();
        for thing in &same.things {
            self.maps[thing.input].entry(table.to_owned()).or_default().insert(thing.id, new);
            self.maps[thing.input].entry("pictures".to_owned()).or_default().insert(thing.picture, picture);
        }
        Ok(())
    }

    /// The merged row of the picture: the one that is there, if any is.
    fn picture(&mut self, things: &[Thing]) -> Result<i64, Fault> {
        let all = things.iter().map(|thing| &self.pictures[thing.input][&thing.picture]);
        let best = all.clone().min_by(|a, b| Picture::order(a).cmp(&Picture::order(b)));
        let Some(best) = best else { return Err(Fault::Invalid("an item has no picture".into())) };
        let hash = best.hash.as_ref().or_else(|| all.clone().find_map(|picture| picture.hash.as_ref()));
        let name = self.names.of(&best.path);
        let known: Option<i64> =
            self.conn.prepare_cached("SELECT id FROM pictures WHERE path = ?1")?.query_row([&name], |row| row.get(0)).optional()?;
        if let Some(id) = known {
            return Ok(id);
        }
        let (id, there) = picture_row(self.conn, &self.names, &name)?;
        // What was found out about the file holds as long as it is where it was.
        if there == best.path.is_file() {
            self.conn
                .prepare_cached("UPDATE pictures SET hash = ?2, bytes = ?3, modified_millis = ?4, state = ?5 WHERE id = ?1")?
                .execute(params![id, hash, best.bytes, best.modified_millis, best.state])?;
        }
        Ok(id)
    }

    /// Unknown keys of all; of two values for one key the first by its text.
    fn extra(&mut self, key: &str, things: &[Thing]) -> Result<String, Fault> {
        let mut all: Map<String, Value> = Map::new();
        let mut texts: Vec<&String> = things.iter().map(|thing| &thing.extra).collect();
        texts.sort();
        texts.dedup();
        if let [one] = texts[..] {
            return Ok(one.clone());
        }
        for text in texts {
            for (name, value) in json::<Map<String, Value>>("unknown keys", text)? {
                let kept = all.entry(name.clone()).or_insert_with(|| value.clone());
                if *kept != value {
                    let what = format!("'{key}': key '{name}' is {kept} and {value}; the first is kept");
                    self.conflicts.push(Conflict { kind: ConflictKind::Name, what });
                }
            }
        }
        to_json("unknown keys", &all)
    }
}

fn short_hash(content: &Content) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(content.1.as_bytes()).update(&[0]).update(content.2.as_deref().unwrap_or_default());
    hasher.finalize().to_hex()[..8].to_owned()
}

/// What differs, with the projects that have it.
fn differences(inputs: &[Input], groups: &BTreeMap<Content, Vec<Thing>>) -> String {
    let instructions: HashSet<&String> = groups.keys().map(|content| &content.1).collect();
    let owners: HashSet<i64> = groups.keys().map(|content| content.0).collect();
    let what = match (owners.len(), instructions.len()) {
        (2.., _) => "item",
        (_, 2..) => "instruction",
        _ => "picture",
    };
    let projects: Vec<String> = groups
        .values()
        .map(|things| {
            let names: Vec<&str> = things.iter().map(|thing| inputs[thing.input].name.as_str()).collect();
            names.join(" and ")
        })
        .collect();
    format!("{what} of {} against {}", projects[0], projects[1..].join(" against "))
}
