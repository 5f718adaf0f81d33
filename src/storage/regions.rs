//! What people and imports say about regions: each state of a side is kept, the newest counts.
//!
//! What the networks find is part of the score; a set of regions here overrides it. An empty set is a statement too (there is
//! no region), and differs from no set at all.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::Fault;
use super::items::{json, to_json};
use super::parses::mark_item_stale;
use super::{EditId, ItemId, Project, StorageError, now_millis};
use crate::domain::{Region, Side};

/// The regions of one side at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionSet {
    pub regions: Vec<Region>,
    pub who: String,
    /// What was done, in words ("moved a box").
    pub what: String,
    pub at_millis: i64,
}

impl Project {
    /// Adds a state of the regions on one side of an edit's pair. Those of the source hold for all edits of the item. Scores
    /// that it touches become stale.
    ///
    /// # Errors
    /// When there is no such edit, a region belongs to the other side, or the file cannot be written.
    pub fn set_regions(&self, edit: EditId, side: Side, regions: &[Region], who: &str, what: &str) -> Result<(), StorageError> {
        self.write("saving regions", |conn| {
            if regions.iter().any(|region| region.side != side) {
                return Err(Fault::Invalid(format!("a region of the other side is among those of the {side:?} side")));
            }
            let item = item_of(conn, edit)?;
            let owner = (side == Side::Edit).then_some(edit);
            conn.prepare_cached(
                "INSERT INTO region_sets (item_id, edit_id, who, what, at_millis, regions) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![item, owner, who, what, now_millis(), to_json("regions", &regions)?])?;
            match side {
                Side::Source => mark_item_stale(conn, item),
                Side::Edit => {
                    conn.prepare_cached("UPDATE scores SET stale = 1 WHERE edit_id = ?1")?.execute([edit])?;
                    Ok(())
                }
            }
        })
    }

    /// The regions that count on one side; `None` when nobody ever said anything about them.
    ///
    /// # Errors
    /// When there is no such edit, or the file cannot be read.
    pub fn regions(&self, edit: EditId, side: Side) -> Result<Option<RegionSet>, StorageError> {
        self.read("reading regions", |conn| Ok(sets_of(conn, edit, side, 1)?.pop()))
    }

    /// Every state of the regions on one side, newest first.
    ///
    /// # Errors
    /// When there is no such edit, or the file cannot be read.
    pub fn region_history(&self, edit: EditId, side: Side) -> Result<Vec<RegionSet>, StorageError> {
        self.read("reading regions", |conn| sets_of(conn, edit, side, -1))
    }
}

fn sets_of(conn: &Connection, edit: EditId, side: Side, limit: i64) -> Result<Vec<RegionSet>, Fault> {
    let item = item_of(conn, edit)?;
    let (filter, owner) = match side {
        Side::Source => ("item_id = ?1 AND edit_id IS NULL", item.0),
        Side::Edit => ("edit_id = ?1", edit.0),
    };
    let mut query =
        conn.prepare_cached(&format!("SELECT regions, who, what, at_millis FROM region_sets WHERE {filter} ORDER BY id DESC LIMIT ?2"))?;
    let mut rows = query.query(params![owner, limit])?;
    let mut sets = Vec::new();
    while let Some(row) = rows.next()? {
        sets.push(set_of(row)?);
    }
    Ok(sets)
}

fn set_of(row: &Row<'_>) -> Result<RegionSet, Fault> {
    Ok(RegionSet { regions: json("regions", &row.get::<_, String>(0)?)?, who: row.get(1)?, what: row.get(2)?, at_millis: row.get(3)? })
}

/// The item that an edit belongs to.
pub(super) fn item_of(conn: &Connection, edit: EditId) -> Result<ItemId, Fault> {
    let item = conn.prepare_cached("SELECT item_id FROM edits WHERE id = ?1")?.query_row([edit], |row| row.get(0)).optional()?;
    item.ok_or(Fault::NoSuch("edit", edit.0))
}
