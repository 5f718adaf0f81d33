//! What people and imports say about regions: every change is kept as a difference, the newest state counts.
//!
//! What the networks find is part of the score; regions here override it, role by role. That there is no region of a role is a statement
//! too, and differs from nobody having said anything.
//!
//! A side's state is its newest checkpoint with the changes after it. A checkpoint is written when the changes since the last one have
//! grown larger than the state itself, so that reading stays short and writing a stroke never means writing the whole mask.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::Fault;
use super::items::{json, to_json};
use super::parses::mark_item_stale;
use super::{EditId, ItemId, Project, StorageError, now_millis};
use crate::domain::regions::{EntryKind, JournalEntry, RegionChange, RegionStream, SideRegions, StoredSide, Token};
use crate::domain::{Region, RegionRole, Side};

/// The regions of one side at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionSet {
    pub regions: Vec<Region>,
    /// The roles that are spoken for: of these, `regions` holds all there are, even if there are none.
    pub roles: Vec<RegionRole>,
    pub who: String,
    /// What was done, in words ("moved a box").
    pub what: String,
    pub at_millis: i64,
}

/// What became of an entry that a window wanted to add.
#[derive(Clone, Debug, PartialEq)]
pub enum Appended {
    /// It is on disk.
    Stored,
    /// Another window has written since: nothing was added. The state that counts, and the entries that led to it from the one that the
    /// writer had seen last (all, if that one is not known), oldest first.
    Conflict { theirs: RegionStream, entries: Vec<JournalEntry> },
}

/// The regions of one side with their newest history.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionJournal {
    pub stream: RegionStream,
    /// The newest entries, oldest first.
    pub entries: Vec<JournalEntry>,
    /// How many older entries there are.
    pub older: usize,
}

/// Changes since the last checkpoint may grow to this many bytes whatever the size of the state.
const FREE_BYTES: i64 = 64 << 10;

const WRITING: &str = "saving regions";
const READING: &str = "reading regions";
const COLUMNS: &str = "id, token, parent, kind, target, who, what, at_millis, change";

/// Whose regions: those of the source hold for all edits of an item.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    item: ItemId,
    edit: EditId,
    side: Side,
}

impl Owner {
    fn of(conn: &Connection, edit: EditId, side: Side) -> Result<Self, Fault> {
        Ok(Self { item: item_of(conn, edit)?, edit, side })
    }

    /// A side as the rows name it: of an edit, or of the item's source.
    pub(super) fn of_row(item: ItemId, edit: Option<EditId>) -> Self {
        Self { item, edit: edit.unwrap_or(EditId(0)), side: if edit.is_some() { Side::Edit } else { Side::Source } }
    }

    /// The rows of this side, as a condition on parameter 1.
    const fn filter(self) -> &'static str {
        match self.side {
            Side::Source => "item_id = ?1 AND edit_id IS NULL",
            Side::Edit => "edit_id = ?1",
        }
    }

    const fn key(self) -> i64 {
        match self.side {
            Side::Source => self.item.0,
            Side::Edit => self.edit.0,
        }
    }
}

impl Project {
    /// Adds an entry to the journal of one side and marks the scores that it touches as stale. An entry that is there already is left
    /// alone, so that it may be sent again after a failure.
    ///
    /// # Errors
    /// When there is no such edit, the state cannot be read, or the file cannot be written.
    pub fn append_region_change(&self, edit: EditId, entry: &JournalEntry) -> Result<Appended, StorageError> {
        self.append_region_changes(edit, std::slice::from_ref(entry)).map(|(_, became)| became)
    }

    /// As [`Self::append_region_change`], for entries in their order and in one go: the disk is waited for once. Says how many are on disk;
    /// where that is not all of them, the next one met another window's work.
    ///
    /// # Errors
    /// As [`Self::append_region_change`]; nothing is added then.
    pub fn append_region_changes(&self, edit: EditId, entries: &[JournalEntry]) -> Result<(usize, Appended), StorageError> {
        self.write(WRITING, |conn| {
            for (stored, entry) in entries.iter().enumerate() {
                match append(conn, edit, entry)? {
                    Appended::Stored => {}
                    conflict @ Appended::Conflict { .. } => return Ok((stored, conflict)),
                }
            }
            Ok((entries.len(), Appended::Stored))
        })
    }

    /// The regions of one side, with as many of the newest entries as fit into `budget` bytes (at least one, if there is any).
    ///
    /// # Errors
    /// When there is no such edit, or the file cannot be read.
    pub fn region_journal(&self, edit: EditId, side: Side, budget: usize) -> Result<RegionJournal, StorageError> {
        self.read(READING, |conn| {
            let owner = Owner::of(conn, edit, side)?;
            let mut query = conn.prepare_cached(&format!(
                "SELECT {COLUMNS}, length(change) FROM region_changes WHERE {} ORDER BY id DESC",
                owner.filter()
            ))?;
            let mut rows = query.query([owner.key()])?;
            let (mut entries, mut bytes) = (Vec::new(), 0);
            while let Some(row) = rows.next()? {
                bytes += row.get::<_, i64>(9)? as usize;
                if bytes > budget && !entries.is_empty() {
                    break;
                }
                entries.push(row_of(row, side)?.entry);
            }
            entries.reverse();
            let count = format!("SELECT count(*) FROM region_changes WHERE {}", owner.filter());
            let all: i64 = conn.prepare_cached(&count)?.query_row([owner.key()], |row| row.get(0))?;
            Ok(RegionJournal { stream: stream_of(conn, owner)?, older: (all as usize).saturating_sub(entries.len()), entries })
        })
    }

    /// The last entry of one side that counts; [`Token::NONE`] when there is none. Cheap.
    ///
    /// # Errors
    /// When there is no such edit, the file cannot be read, or is no longer at its path.
    pub fn region_head(&self, edit: EditId, side: Side) -> Result<Token, StorageError> {
        // Asked now and then, so this is where it shows early.
        self.check_place(READING)?;
        self.read(READING, |conn| head_of(conn, Owner::of(conn, edit, side)?))
    }

    /// The regions of one side as they were before an entry; of an entry that was set aside: as they were set aside.
    ///
    /// # Errors
    /// When there is no such edit or entry, or the file cannot be read.
    pub fn regions_before(&self, edit: EditId, side: Side, entry: Token) -> Result<SideRegions, StorageError> {
        self.read(READING, |conn| {
            let owner = Owner::of(conn, edit, side)?;
            let id = id_of(conn, owner, entry)?.ok_or(Fault::NoSuch("change of regions", entry.0))?;
            let mut stream = RegionStream::unspoken(side);
            for row in rows_after(conn, owner, 0)? {
                if row.id == id {
                    if row.entry.kind == EntryKind::SetAside {
                        return state_at(conn, owner, entry);
                    }
                    break;
                }
                stream.push(&row.entry).map_err(misfit)?;
            }
            Ok(stream.state)
        })
    }

    /// Sets the regions on one side as a whole. Those of the source hold for all edits of the item. Scores that it touches become stale.
    ///
    /// # Errors
    /// When there is no such edit, a region belongs to the other side or is broken, or the file cannot be written.
    pub fn set_regions(&self, edit: EditId, side: Side, regions: &[Region], who: &str, what: &str) -> Result<(), StorageError> {
        self.write(WRITING, |conn| {
            if regions.iter().any(|region| region.side != side) {
                return Err(Fault::Invalid(format!("a region of the other side is among those of the {side:?} side")));
            }
            let owner = Owner::of(conn, edit, side)?;
            let stream = stream_of(conn, owner)?;
            let after = SideRegions::from_plain(side, regions).map_err(|error| Fault::Invalid(format!("a mask is broken: {error}")))?;
            let entry = JournalEntry {
                token: Token::random(),
                parent: stream.head,
                side,
                kind: EntryKind::Do,
                who: who.to_owned(),
                what: what.to_owned(),
                at_millis: now_millis(),
                change: RegionChange::replacing(&stream.state, &after),
            };
            insert(conn, owner, &entry)
        })
    }

    /// The regions that count on one side; `None` when nobody ever said anything about them.
    ///
    /// # Errors
    /// When there is no such edit, or the file cannot be read.
    pub fn regions(&self, edit: EditId, side: Side) -> Result<Option<RegionSet>, StorageError> {
        self.read(READING, |conn| {
            let owner = Owner::of(conn, edit, side)?;
            let about = format!(
                "SELECT who, what, at_millis FROM region_changes WHERE {} AND kind <> 'set_aside' ORDER BY id DESC LIMIT 1",
                owner.filter()
            );
            let newest =
                conn.prepare_cached(&about)?.query_row([owner.key()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
            let Some((who, what, at_millis)) = newest else { return Ok(None) };
            let state = stream_of(conn, owner)?.state;
            Ok(Some(RegionSet { regions: state.plain(), roles: state.roles, who, what, at_millis }))
        })
    }

    /// Every state of the regions on one side that counted, newest first.
    ///
    /// # Errors
    /// When there is no such edit, or the file cannot be read.
    pub fn region_history(&self, edit: EditId, side: Side) -> Result<Vec<RegionSet>, StorageError> {
        self.read(READING, |conn| {
            let owner = Owner::of(conn, edit, side)?;
            let (mut stream, mut sets) = (RegionStream::unspoken(side), Vec::new());
            for Stored { entry, .. } in rows_after(conn, owner, 0)? {
                if entry.kind == EntryKind::SetAside {
                    continue;
                }
                stream.push(&entry).map_err(misfit)?;
                let (regions, roles) = (stream.state.plain(), stream.state.roles.clone());
                sets.push(RegionSet { regions, roles, who: entry.who, what: entry.what, at_millis: entry.at_millis });
            }
            sets.reverse();
            Ok(sets)
        })
    }
}

fn append(conn: &Connection, edit: EditId, entry: &JournalEntry) -> Result<Appended, Fault> {
    let owner = Owner::of(conn, edit, entry.side)?;
    let known = conn.prepare_cached("SELECT 1 FROM region_changes WHERE token = ?1")?.query_row([entry.token.0], |_| Ok(())).optional()?;
    if known.is_some() {
        return Ok(Appended::Stored);
    }
    let head = head_of(conn, owner)?;
    if entry.kind != EntryKind::SetAside && head != entry.parent {
        let after = id_of(conn, owner, entry.parent)?.unwrap_or(0);
        let entries = rows_after(conn, owner, after)?.into_iter().map(|row| row.entry).collect();
        return Ok(Appended::Conflict { theirs: stream_of(conn, owner)?, entries });
    }
    insert(conn, owner, entry)?;
    Ok(Appended::Stored)
}

/// An entry with its row.
struct Stored {
    id: i64,
    entry: JournalEntry,
}

fn misfit(error: impl std::fmt::Display) -> Fault {
    Fault::Invalid(format!("the journal of regions is damaged: {error}"))
}

fn row_of(row: &Row<'_>, side: Side) -> Result<Stored, Fault> {
    let target = || -> Result<Token, rusqlite::Error> { Ok(Token(row.get(4)?)) };
    let kind = match row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)? {
        "do" => EntryKind::Do,
        "undo" => EntryKind::Undo(target()?),
        "redo" => EntryKind::Redo(target()?),
        _ => EntryKind::SetAside,
    };
    let entry = JournalEntry {
        token: Token(row.get(1)?),
        parent: Token(row.get(2)?),
        side,
        kind,
        who: row.get(5)?,
        what: row.get(6)?,
        at_millis: row.get(7)?,
        change: json("a change of regions", row.get_ref(8)?.as_str().map_err(rusqlite::Error::from)?)?,
    };
    Ok(Stored { id: row.get(0)?, entry })
}

fn insert(conn: &Connection, owner: Owner, entry: &JournalEntry) -> Result<(), Fault> {
    let (kind, target) = match entry.kind {
        EntryKind::Do => ("do", None),
        EntryKind::Undo(target) => ("undo", Some(target.0)),
        EntryKind::Redo(target) => ("redo", Some(target.0)),
        EntryKind::SetAside => ("set_aside", None),
    };
    let edit = (owner.side == Side::Edit).then_some(owner.edit);
    conn.prepare_cached(
        "INSERT INTO region_changes (item_id, edit_id, token, parent, kind, target, who, what, at_millis, change)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        owner.item,
        edit,
        entry.token.0,
        entry.parent.0,
        kind,
        target,
        entry.who,
        entry.what,
        entry.at_millis,
        to_json("a change of regions", &entry.change)?
    ])?;
    if entry.kind == EntryKind::SetAside {
        return Ok(());
    }
    keep_short(conn, owner, conn.last_insert_rowid())?;
    match owner.side {
        Side::Source => mark_item_stale(conn, owner.item),
        Side::Edit => {
            conn.prepare_cached("UPDATE scores SET stale = 1 WHERE edit_id = ?1")?.execute([owner.edit])?;
            Ok(())
        }
    }
}

/// Writes a checkpoint when the changes since the last one have outgrown it.
pub(super) fn keep_short(conn: &Connection, owner: Owner, newest: i64) -> Result<(), Fault> {
    let (from, size) = checkpoint_of(conn, owner)?.map_or((0, 0), |(id, text)| (id, text.len() as i64));
    let since = format!("SELECT coalesce(sum(length(change)), 0) FROM region_changes WHERE {} AND id > ?2", owner.filter());
    let since: i64 = conn.prepare_cached(&since)?.query_row(params![owner.key(), from], |row| row.get(0))?;
    if since > size.max(FREE_BYTES) {
        let state = stream_of(conn, owner)?.state;
        conn.prepare_cached("INSERT INTO region_checkpoints (change_id, regions) VALUES (?1, ?2)")?
            .execute(params![newest, to_json("regions", &state.stored())?])?;
    }
    Ok(())
}

/// The newest checkpoint of a side.
fn checkpoint_of(conn: &Connection, owner: Owner) -> Result<Option<(i64, String)>, Fault> {
    let query = format!(
        "SELECT change_id, c.regions FROM region_checkpoints c JOIN region_changes ON id = change_id WHERE {} ORDER BY id DESC LIMIT 1",
        owner.filter()
    );
    Ok(conn.prepare_cached(&query)?.query_row([owner.key()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// The state that counts.
fn stream_of(conn: &Connection, owner: Owner) -> Result<RegionStream, Fault> {
    let mut stream = RegionStream::unspoken(owner.side);
    let mut from = 0;
    if let Some((id, text)) = checkpoint_of(conn, owner)? {
        let stored: StoredSide = json("regions", &text)?;
        stream.state = SideRegions::from_stored(owner.side, &stored).map_err(misfit)?;
        stream.head = Token(conn.prepare_cached("SELECT token FROM region_changes WHERE id = ?1")?.query_row([id], |row| row.get(0))?);
        from = id;
    }
    for row in rows_after(conn, owner, from)? {
        stream.push(&row.entry).map_err(misfit)?;
    }
    Ok(stream)
}

/// The state after the entry of that name; nobody's word before the first. One that was set aside leads on from the entry that its writer
/// had seen, which may be set aside itself.
fn state_at(conn: &Connection, owner: Owner, token: Token) -> Result<SideRegions, Fault> {
    let entries: Vec<JournalEntry> = rows_after(conn, owner, 0)?.into_iter().map(|row| row.entry).collect();
    let places: HashMap<Token, usize> = entries.iter().enumerate().map(|(place, entry)| (entry.token, place)).collect();
    let (mut at, mut aside) = (token, Vec::new());
    while let Some(&place) = places.get(&at).filter(|&&place| entries[place].kind == EntryKind::SetAside) {
        aside.push(place);
        at = entries[place].parent;
        if aside.len() > entries.len() {
            return Err(misfit("entries that were set aside follow each other in a circle"));
        }
    }
    let until = match places.get(&at) {
        Some(place) => place + 1,
        None if at == Token::NONE => 0,
        None => return Err(misfit(format!("it has no entry {}, which another one follows", at.0))),
    };
    let mut stream = RegionStream::unspoken(owner.side);
    for entry in &entries[..until] {
        stream.push(entry).map_err(misfit)?;
    }
    aside.iter().rev().try_fold(stream.state, |state, &place| entries[place].change.applied(&state)).map_err(misfit)
}

fn rows_after(conn: &Connection, owner: Owner, id: i64) -> Result<Vec<Stored>, Fault> {
    let mut query =
        conn.prepare_cached(&format!("SELECT {COLUMNS} FROM region_changes WHERE {} AND id > ?2 ORDER BY id", owner.filter()))?;
    let mut rows = query.query(params![owner.key(), id])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(row_of(row, owner.side)?);
    }
    Ok(found)
}

fn head_of(conn: &Connection, owner: Owner) -> Result<Token, Fault> {
    let query = format!("SELECT token FROM region_changes WHERE {} AND kind <> 'set_aside' ORDER BY id DESC LIMIT 1", owner.filter());
    Ok(Token(conn.prepare_cached(&query)?.query_row([owner.key()], |row| row.get(0)).optional()?.unwrap_or(0)))
}

fn id_of(conn: &Connection, owner: Owner, token: Token) -> Result<Option<i64>, Fault> {
    let query = format!("SELECT id FROM region_changes WHERE {} AND token = ?2", owner.filter());
    Ok(conn.prepare_cached(&query)?.query_row(params![owner.key(), token.0], |row| row.get(0)).optional()?)
}

/// The item that an edit belongs to.
pub(super) fn item_of(conn: &Connection, edit: EditId) -> Result<ItemId, Fault> {
    let item = conn.prepare_cached("SELECT item_id FROM edits WHERE id = ?1")?.query_row([edit], |row| row.get(0)).optional()?;
    item.ok_or(Fault::NoSuch("edit", edit.0))
}
