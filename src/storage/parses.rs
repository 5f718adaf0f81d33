//! Parses of the instructions: every one is kept, one counts.

use rusqlite::{Connection, OptionalExtension, params};

use super::error::Fault;
use super::items::{json, to_json};
use super::{ItemId, Project, StorageError, now_millis};
use crate::domain::{Parse, ParseOrigin};

/// One parse of an item's history.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredParse {
    pub parse: Parse,
    /// A person, or the name of what made it; empty for imports.
    pub who: String,
    pub at_millis: i64,
    /// Whether it is the one that counts.
    pub counts: bool,
}

const SAVING: &str = "saving a parse";

impl Project {
    /// Adds a parse and makes it the one that counts. Scores of the item's edits become stale if it differs from the one before.
    ///
    /// # Errors
    /// When there is no such item, or the file cannot be written.
    pub fn set_parse(&self, item: ItemId, parse: &Parse, who: &str) -> Result<(), StorageError> {
        self.write(SAVING, |conn| add(conn, item, parse, who, true).map(drop))
    }

    /// Adds a parse that a program made; it counts only if no parse of a person or of the data does. Returns the one that counts.
    ///
    /// # Errors
    /// When there is no such item, or the file cannot be written.
    pub fn suggest_parse(&self, item: ItemId, parse: &Parse, who: &str) -> Result<Parse, StorageError> {
        self.write(SAVING, |conn| {
            let counting = counting(conn, item)?.map(|(_, parse)| parse);
            let firm = counting.as_ref().is_some_and(|known| matches!(known.origin, ParseOrigin::Person | ParseOrigin::Import));
            add(conn, item, parse, who, !firm)?;
            Ok(counting.filter(|_| firm).unwrap_or_else(|| parse.clone()))
        })
    }

    /// Every parse of an item, newest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn parse_history(&self, item: ItemId) -> Result<Vec<StoredParse>, StorageError> {
        self.read("reading the parses", |conn| {
            let mut query = conn.prepare_cached(
                "SELECT parses.parse, parses.who, parses.at_millis, parses.id = items.parse_id
                 FROM parses JOIN items ON items.id = parses.item_id WHERE parses.item_id = ?1 ORDER BY parses.id DESC",
            )?;
            let mut rows = query.query([item])?;
            let mut parses = Vec::new();
            while let Some(row) = rows.next()? {
                let parse = json("parse", &row.get::<_, String>(0)?)?;
                let counts = row.get::<_, Option<bool>>(3)?.unwrap_or(false);
                parses.push(StoredParse { parse, who: row.get(1)?, at_millis: row.get(2)?, counts });
            }
            Ok(parses)
        })
    }
}

/// The parse that counts, with its row.
fn counting(conn: &Connection, item: ItemId) -> Result<Option<(i64, Parse)>, Fault> {
    let found: Option<(Option<i64>, Option<String>)> = conn
        .prepare_cached("SELECT parses.id, parses.parse FROM items LEFT JOIN parses ON parses.id = items.parse_id WHERE items.id = ?1")?
        .query_row([item], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        None => Err(Fault::NoSuch("item", item.0)),
        Some((Some(id), Some(text))) => Ok(Some((id, json("parse", &text)?))),
        Some(_) => Ok(None),
    }
}

/// Adds a parse unless it is the one that counts already; whether anything was added.
pub(super) fn add(conn: &Connection, item: ItemId, parse: &Parse, who: &str, count: bool) -> Result<bool, Fault> {
    let before = counting(conn, item)?;
    if before.as_ref().is_some_and(|(_, known)| known == parse) {
        return Ok(false);
    }
    let text = to_json("parse", parse)?;
    if !count {
        // An import or a suggestion that was seen before says nothing new.
        let known = conn
            .prepare_cached("SELECT 1 FROM parses WHERE item_id = ?1 AND parse = ?2")?
            .query_row(params![item, text], |_| Ok(()))
            .optional()?;
        if known.is_some() {
            return Ok(false);
        }
    }
    let origin = to_json("parse origin", &parse.origin)?;
    conn.prepare_cached("INSERT INTO parses (item_id, origin, who, at_millis, doubtful, parse) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![item, origin.trim_matches('"'), who, now_millis(), parse.doubtful.is_some(), text])?;
    if count {
        let id = conn.last_insert_rowid();
        conn.prepare_cached("UPDATE items SET parse_id = ?2 WHERE id = ?1")?.execute(params![item, id])?;
        mark_item_stale(conn, item)?;
    }
    Ok(true)
}

/// Adds a parse that came with the data; a person's correction goes on counting.
pub(super) fn import(conn: &Connection, item: ItemId, parse: &Parse) -> Result<bool, Fault> {
    let corrected = counting(conn, item)?.is_some_and(|(_, known)| known.origin == ParseOrigin::Person);
    add(conn, item, parse, "", !corrected)
}

/// Marks the scores of all edits of an item.
pub(super) fn mark_item_stale(conn: &Connection, item: ItemId) -> Result<(), Fault> {
    conn.prepare_cached("UPDATE scores SET stale = 1 WHERE edit_id IN (SELECT id FROM edits WHERE item_id = ?1)")?.execute([item])?;
    Ok(())
}
