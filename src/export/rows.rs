//! One edit a row, in the words of the neutral manifest, with the results beside what was imported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{ExportError, write_file};
use crate::domain::{AutomaticResult, ExportResult, ExportRow, PictureRef, relative_path};

/// The keys that the manifest gives a meaning; an unknown key of such a name gets `extra.` in front.
pub(super) const KEYS: [&str; 9] = ["id", "item", "source", "instruction", "edited", "model", "parse", "parsed", "ratings"];

impl ExportRow {
    /// The unknown keys under the names that they are written with.
    pub(super) fn unknown(&self) -> impl Iterator<Item = (String, &Value)> {
        let item = self.item_extra.iter().map(|(key, value)| (format!("item.{key}"), value));
        let edit = self.extra.iter().map(|(key, value)| {
            let taken = KEYS.contains(&key.as_str()) || key == "editscope" || key.starts_with("editscope.");
            (if taken { format!("extra.{key}") } else { key.clone() }, value)
        });
        item.chain(edit)
    }

    /// Mean of the raters' answers to each criterion, over those who answered it.
    pub(super) fn human(&self) -> BTreeMap<&str, f64> {
        let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (criterion, value) in self.ratings.iter().flat_map(|rating| &rating.values) {
            let sum = sums.entry(criterion).or_default();
            *sum = (sum.0 + value, sum.1 + 1.0);
        }
        sums.into_iter().map(|(criterion, (sum, count))| (criterion, sum / count)).collect()
    }
}

/// Writes one JSON object a line: the keys of the neutral manifest, unknown keys as they came, results under `editscope`.
/// Picture paths are relative to the folder of `out`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_jsonl(rows: &[ExportRow], out: &Path) -> Result<(), ExportError> {
    let folder = Folder::of(out)?;
    write_file(out, |file| {
        for row in rows {
            serde_json::to_writer(&mut *file, &object_of(row, &folder)).map_err(|error| error.to_string())?;
            file.write_all(b"\n").map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

fn object_of(row: &ExportRow, folder: &Folder) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| drop(object.insert(key.to_owned(), value));
    put("id", json!(row.id));
    put("item", json!(row.item));
    put("source", json!(folder.path_to(&row.source)));
    put("instruction", json!(row.instruction));
    put("edited", json!(folder.path_to(&row.edited)));
    put("model", json!(row.model));
    if let Some(parse) = &row.parse {
        put("parse", json!(parse));
    }
    if !row.ratings.is_empty() {
        put("ratings", json!(row.ratings));
    }
    for (key, value) in row.unknown() {
        put(&key, value.clone());
    }
    let human = row.human();
    if row.result.is_some() || !human.is_empty() {
        put("editscope", result_of(row.result.as_ref(), &human));
    }
    Value::Object(object)
}

fn result_of(result: Option<&ExportResult>, human: &BTreeMap<&str, f64>) -> Value {
    let mut object = Map::new();
    if let Some(result) = result {
        object.insert("profile".into(), json!(result.profile));
        match &result.parts {
            Ok(parts) => object.insert("parts".into(), json!(parts)),
            Err(why) => object.insert("failed".into(), json!(why)),
        };
        if let Some(overall) = &result.overall {
            object.insert("overall".into(), json!(overall));
        }
        if let Some(range) = &result.range {
            object.insert("range".into(), json!(range));
        }
        if let Some(AutomaticResult { parts, overall }) = &result.automatic {
            object.insert("automatic".into(), json!({"parts": parts, "overall": overall}));
        }
        if !result.baselines.is_empty() {
            object.insert("baselines".into(), json!(result.baselines));
        }
        if !result.triage.is_empty() {
            object.insert("triage".into(), json!(result.triage));
        }
        if !result.flags.is_empty() {
            object.insert("flags".into(), json!(result.flags));
        }
        if result.outdated {
            object.insert("outdated".into(), json!(true));
        }
    }
    if !human.is_empty() {
        object.insert("human".into(), json!(human));
    }
    Value::Object(object)
}

/// The folder that an export goes to; paths in it are written from there.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub fn of(out: &Path) -> Result<Self, ExportError> {
        let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        parent.canonicalize().map(Self).map_err(|source| ExportError::Write { path: out.to_owned(), source })
    }

    /// Relative to the folder, with forward separators; absolute where they share no folder.
    pub fn path_to(&self, picture: &PictureRef) -> String {
        let real = match (picture.path.parent().and_then(|parent| parent.canonicalize().ok()), picture.path.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => std::path::absolute(&picture.path).unwrap_or_else(|_| picture.path.clone()),
        };
        relative_path(&self.0, &real).unwrap_or(real).to_string_lossy().replace('\\', "/")
    }
}
