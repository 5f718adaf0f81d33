//! Taking items of a data set into the project. Doing it twice changes nothing; doing it with newer data updates by key.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value};

use super::error::Fault;
use super::items::{json, to_json};
use super::parses::mark_item_stale;
use super::pictures::{Names, picture_row};
use super::rating_import::RatingImport;
use super::{EditId, ItemId, Project, StorageError, parses, ratings};
use crate::domain::{Edit, Item};

/// What an import did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ImportReport {
    pub items_added: usize,
    /// Known items that got another source, instruction or unknown keys.
    pub items_changed: usize,
    pub edits_added: usize,
    /// Known edits that got another item, picture, model or unknown keys.
    pub edits_changed: usize,
    pub ratings_added: usize,
    pub parses_added: usize,
    /// Pictures that are not there now.
    pub pictures_missing: usize,
    /// What was replaced in known items and edits, and ratings that could not be taken.
    pub notes: Vec<String>,
}

impl ImportReport {
    /// Whether the project is as it was before.
    pub fn changed_nothing(&self) -> bool {
        self.items_added + self.items_changed + self.edits_added + self.edits_changed + self.ratings_added + self.parses_added == 0
    }
}

impl Project {
    /// Adds items and their edits, ratings and parses; those with a known key are updated. Nothing is removed: ratings and
    /// parses are added to those that are there, and unknown keys that the new data lacks stay. Where the picture or the
    /// instruction of a known key changed, its scores become stale and a note says so. All or nothing.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn import(&self, items: &[Item]) -> Result<ImportReport, StorageError> {
        self.import_telling(items, &|_, _| {})
    }

    /// [`Self::import`] that tells how many of all items are done.
    ///
    /// # Errors
    /// As [`Self::import`].
    pub fn import_telling(&self, items: &[Item], tell: &dyn Fn(usize, usize)) -> Result<ImportReport, StorageError> {
        let mut names = Names::new(self.folder());
        self.write("importing", |conn| {
            let ratings = RatingImport::into(conn);
            let mut import = Import { conn, names: &mut names, ratings, report: ImportReport::default() };
            for (done, item) in items.iter().enumerate() {
                tell(done, items.len());
                let id = import.item(item)?;
                for edit in &item.edits {
                    import.edit(id, edit)?;
                }
            }
            Ok(import.report)
        })
    }
}

struct Import<'a> {
    conn: &'a Connection,
    names: &'a mut Names,
    ratings: RatingImport<'a>,
    report: ImportReport,
}

impl Import<'_> {
    fn picture(&mut self, path: &std::path::Path) -> Result<i64, Fault> {
        let name = self.names.of(path);
        let (id, there) = picture_row(self.conn, self.names, &name)?;
        self.report.pictures_missing += usize::from(!there);
        Ok(id)
    }

    fn item(&mut self, item: &Item) -> Result<ItemId, Fault> {
        let source = self.picture(&item.source.path)?;
        let known: Option<(ItemId, i64, String, String)> = self
            .conn
            .prepare_cached("SELECT id, source_id, instruction, extra FROM items WHERE key = ?1")?
            .query_row([&item.key.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .optional()?;
        let id = match known {
            None => {
                self.conn
                    .prepare_cached("INSERT INTO items (key, source_id, source_given, instruction, extra) VALUES (?1, ?2, ?3, ?4, ?5)")?
                    .execute(params![item.key.0, source, item.source.given, item.instruction, to_json("unknown keys", &item.extra)?])?;
                self.report.items_added += 1;
                ItemId(self.conn.last_insert_rowid())
            }
            Some((id, known_source, known_instruction, known_extra)) => {
                let extra = merged(&known_extra, &item.extra)?;
                let asks_other = known_source != source || known_instruction != item.instruction;
                if asks_other || extra.is_some() {
                    self.conn
                        .prepare_cached("UPDATE items SET source_id = ?2, source_given = ?3, instruction = ?4, extra = ?5 WHERE id = ?1")?
                        .execute(params![id, source, item.source.given, item.instruction, extra.unwrap_or(known_extra)])?;
                    self.report.items_changed += 1;
                }
                if asks_other {
                    mark_item_stale(self.conn, id)?;
                    self.report.notes.push(format!("item '{}' got another source or instruction; its scores are stale", item.key));
                }
                id
            }
        };
        if let Some(parse) = &item.parse {
            self.report.parses_added += usize::from(parses::import(self.conn, id, parse)?);
        }
        Ok(id)
    }

    fn edit(&mut self, item: ItemId, edit: &Edit) -> Result<(), Fault> {
        let picture = self.picture(&edit.picture.path)?;
        let known: Option<(EditId, ItemId, i64, String, String)> = self
            .conn
            .prepare_cached("SELECT id, item_id, picture_id, model, extra FROM edits WHERE key = ?1")?
            .query_row([&edit.key.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
            .optional()?;
        let id = match known {
            None => {
                self.conn
                    .prepare_cached("INSERT INTO edits (item_id, key, picture_id, given, model, extra) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
                    .execute(params![item, edit.key.0, picture, edit.picture.given, edit.model, to_json("unknown keys", &edit.extra)?])?;
                self.report.edits_added += 1;
                EditId(self.conn.last_insert_rowid())
            }
            Some((id, known_item, known_picture, known_model, known_extra)) => {
                let extra = merged(&known_extra, &edit.extra)?;
                let is_other = known_item != item || known_picture != picture;
                if is_other || known_model != edit.model || extra.is_some() {
                    self.conn
                        .prepare_cached("UPDATE edits SET item_id = ?2, picture_id = ?3, given = ?4, model = ?5, extra = ?6 WHERE id = ?1")?
                        .execute(params![id, item, picture, edit.picture.given, edit.model, extra.unwrap_or(known_extra)])?;
                    self.report.edits_changed += 1;
                }
                if is_other {
                    self.conn.prepare_cached("UPDATE scores SET stale = 1 WHERE edit_id = ?1")?.execute([id])?;
                    self.report
                        .notes
                        .push(format!("edit '{}' got another item or picture; its scores are stale, its ratings stay", edit.key));
                }
                id
            }
        };
        let mut sound = Vec::with_capacity(edit.ratings.len());
        for rating in &edit.ratings {
            match ratings::check(rating) {
                Ok(()) => sound.push(rating),
                Err(Fault::Invalid(reason)) => self.report.notes.push(format!("edit '{}': {reason}; this rating is left out", edit.key)),
                Err(fault) => return Err(fault),
            }
        }
        if !sound.is_empty() {
            self.report.ratings_added += self.ratings.add(id, &sound)?.into_iter().filter(|added| *added).count();
        }
        Ok(())
    }
}

/// The stored unknown keys with the new ones put in; `None` when that changes nothing.
fn merged(stored: &str, new: &Map<String, Value>) -> Result<Option<String>, Fault> {
    let mut all: Map<String, Value> = json("unknown keys", stored)?;
    if new.iter().all(|(key, value)| all.get(key) == Some(value)) {
        return Ok(None);
    }
    all.extend(new.iter().map(|(key, value)| (key.clone(), value.clone())));
    to_json("unknown keys", &all).map(Some)
}
