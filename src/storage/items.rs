//! Items and edits as the project holds them.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Map, Value};

use super::error::Fault;
use super::pictures::PictureState;
use super::{EditId, ItemId, Project, StorageError};
use crate::domain::{EditKey, ItemKey, Parse, PictureRef};

/// An item of the project. The picture's path can be opened as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredItem {
    pub id: ItemId,
    pub key: ItemKey,
    pub source: PictureRef,
    pub source_state: PictureState,
    pub instruction: String,
    /// The parse that counts: the newest, a person's before an automatic one.
    pub parse: Option<Parse>,
    pub extra: Map<String, Value>,
}

/// An edit of the project. The picture's path can be opened as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEdit {
    pub id: EditId,
    pub item: ItemId,
    pub key: EditKey,
    pub picture: PictureRef,
    pub picture_state: PictureState,
    pub model: String,
    pub extra: Map<String, Value>,
}

const ITEM: &str =
    "SELECT items.id, items.key, pictures.path, items.source_given, pictures.state, items.instruction, parses.parse, items.extra
    FROM items JOIN pictures ON pictures.id = items.source_id LEFT JOIN parses ON parses.id = items.parse_id";
const EDIT: &str = "SELECT edits.id, edits.item_id, edits.key, pictures.path, edits.given, pictures.state, edits.model, edits.extra
    FROM edits JOIN pictures ON pictures.id = edits.picture_id";

impl Project {
    /// Every item, in the order of their import.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn items(&self) -> Result<Vec<StoredItem>, StorageError> {
        self.read("reading the items", |conn| {
            let mut query = conn.prepare(&format!("{ITEM} ORDER BY items.id"))?;
            let mut rows = query.query([])?;
            let mut items = Vec::new();
            while let Some(row) = rows.next()? {
                items.push(item_of(row, self.folder())?);
            }
            Ok(items)
        })
    }

    /// One item.
    ///
    /// # Errors
    /// When there is none with that id, or the file cannot be read.
    pub fn item(&self, id: ItemId) -> Result<StoredItem, StorageError> {
        self.read("reading an item", |conn| {
            let mut query = conn.prepare_cached(&format!("{ITEM} WHERE items.id = ?1"))?;
            let mut rows = query.query([id])?;
            let row = rows.next()?.ok_or(Fault::NoSuch("item", id.0))?;
            item_of(row, self.folder())
        })
    }

    /// Every edit, items together, in the order of their import.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn edits(&self) -> Result<Vec<StoredEdit>, StorageError> {
        self.read("reading the edits", |conn| edits_where(conn, self.folder(), "ORDER BY edits.item_id, edits.id", None))
    }

    /// The edits of one item.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn edits_of(&self, item: ItemId) -> Result<Vec<StoredEdit>, StorageError> {
        self.read("reading the edits", |conn| edits_where(conn, self.folder(), "WHERE edits.item_id = ?1 ORDER BY edits.id", Some(item.0)))
    }

    /// One edit.
    ///
    /// # Errors
    /// When there is none with that id, or the file cannot be read.
    pub fn edit(&self, id: EditId) -> Result<StoredEdit, StorageError> {
        self.read("reading an edit", |conn| {
            let found = edits_where(conn, self.folder(), "WHERE edits.id = ?1", Some(id.0))?;
            found.into_iter().next().ok_or(Fault::NoSuch("edit", id.0))
        })
    }

    /// The edit with a key of the data set.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn edit_by_key(&self, key: &EditKey) -> Result<Option<EditId>, StorageError> {
        self.read("looking for an edit", |conn| {
            Ok(conn.prepare_cached("SELECT id FROM edits WHERE key = ?1")?.query_row([&key.0], |row| row.get(0)).optional()?)
        })
    }

    /// Numbers of items and of edits.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn counts(&self) -> Result<(usize, usize), StorageError> {
        self.read("counting", |conn| {
            let count = |table: &str| -> Result<usize, Fault> {
                Ok(conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0))?.unsigned_abs() as usize)
            };
            Ok((count("items")?, count("edits")?))
        })
    }
}

fn item_of(row: &Row<'_>, folder: &Path) -> Result<StoredItem, Fault> {
    let parse = row.get_ref(6)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    Ok(StoredItem {
        id: row.get(0)?,
        key: ItemKey(row.get(1)?),
        source: PictureRef { path: folder.join(row.get::<_, String>(2)?), given: row.get(3)? },
        source_state: PictureState::from_name(row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?)?,
        instruction: row.get(5)?,
        parse: parse.map(|text| json("parse", text)).transpose()?,
        extra: json("unknown keys", row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?)?,
    })
}

fn edits_where(conn: &Connection, folder: &Path, filter: &str, id: Option<i64>) -> Result<Vec<StoredEdit>, Fault> {
    let mut query = conn.prepare_cached(&format!("{EDIT} {filter}"))?;
    let mut rows = query.query(rusqlite::params_from_iter(id))?;
    let mut edits = Vec::new();
    while let Some(row) = rows.next()? {
        edits.push(StoredEdit {
            id: row.get(0)?,
            item: row.get(1)?,
            key: EditKey(row.get(2)?),
            picture: PictureRef { path: folder.join(row.get::<_, String>(3)?), given: row.get(4)? },
            picture_state: PictureState::from_name(row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?)?,
            model: row.get(6)?,
            extra: json("unknown keys", row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?)?,
        });
    }
    Ok(edits)
}

/// Reads stored JSON; `what` names it in the error.
pub(super) fn json<T: serde::de::DeserializeOwned>(what: &'static str, text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::Json(what, error))
}

/// Writes JSON to store.
pub(super) fn to_json<T: serde::Serialize>(what: &'static str, value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::Json(what, error))
}
