//! A journal of regions in memory, with a disk that fails when a test wants it to, and another window that writes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use editscope::domain::Side;
use editscope::domain::regions::{EntryKind, JournalEntry, RegionId, RegionStream, SideRegions, Token};
use editscope::editor::RowId;
use editscope::editor::regions::LoadedSide;
use editscope::gui::region_store::{LoadedRegions, RegionStore};
use editscope::storage::Appended;

/// What the store of regions holds.
#[derive(Default)]
pub struct Journal {
    pub entries: HashMap<(RowId, Side), Vec<JournalEntry>>,
    /// What is not drawn.
    pub hidden: HashMap<RowId, Vec<(Side, RegionId)>>,
    /// Why nothing can be written now.
    pub failing: Option<String>,
    /// Why nothing can be read now.
    pub unreadable: Option<String>,
}

impl Journal {
    /// The state that counts.
    pub fn stream(&self, id: RowId, side: Side) -> RegionStream {
        let mut stream = RegionStream::unspoken(side);
        for entry in self.of(id, side) {
            stream.push(entry).unwrap();
        }
        stream
    }

    /// All entries of a side.
    pub fn of(&self, id: RowId, side: Side) -> &[JournalEntry] {
        self.entries.get(&(id, side)).map_or(&[], Vec::as_slice)
    }

    /// What another window writes.
    pub fn add(&mut self, id: RowId, entry: JournalEntry) {
        self.entries.entry((id, entry.side)).or_default().push(entry);
    }
}

/// The journal as the window sees it.
#[derive(Clone, Default)]
pub struct MemoryRegions(pub Arc<Mutex<Journal>>);

impl RegionStore for MemoryRegions {
    fn load(&mut self, id: RowId) -> Result<LoadedRegions, String> {
        let journal = self.0.lock().unwrap();
        if let Some(why) = &journal.unreadable {
            return Err(why.clone());
        }
        let side = |side| LoadedSide { stream: journal.stream(id, side), entries: journal.of(id, side).to_vec(), older: 0 };
        let hidden = journal.hidden.get(&id).cloned().unwrap_or_default();
        Ok(LoadedRegions { sides: [Side::Source, Side::Edit].map(side), hidden })
    }

    fn hide(&mut self, id: RowId, hidden: &[(Side, RegionId)]) -> Result<(), String> {
        self.0.lock().unwrap().hidden.insert(id, hidden.to_vec());
        Ok(())
    }

    fn heads(&mut self, id: RowId) -> Result<[Token; 2], String> {
        let journal = self.0.lock().unwrap();
        Ok([Side::Source, Side::Edit].map(|side| journal.stream(id, side).head))
    }

    fn append(&mut self, id: RowId, entries: &[JournalEntry]) -> Result<(usize, Appended), String> {
        let mut journal = self.0.lock().unwrap();
        if let Some(why) = &journal.failing {
            return Err(why.clone());
        }
        for (stored, entry) in entries.iter().enumerate() {
            let theirs = journal.stream(id, entry.side);
            if entry.kind != EntryKind::SetAside && theirs.head != entry.parent {
                let all = journal.of(id, entry.side);
                let seen = all.iter().position(|known| known.token == entry.parent).map_or(0, |at| at + 1);
                return Ok((stored, Appended::Conflict { theirs, entries: all[seen..].to_vec() }));
            }
            journal.add(id, entry.clone());
        }
        Ok((entries.len(), Appended::Stored))
    }

    fn before(&mut self, id: RowId, side: Side, token: Token) -> Result<SideRegions, String> {
        let journal = self.0.lock().unwrap();
        let mut stream = RegionStream::unspoken(side);
        for entry in journal.of(id, side) {
            if entry.token == token {
                let aside = entry.kind == EntryKind::SetAside;
                return if aside { entry.change.applied(&stream.state).map_err(|e| e.to_string()) } else { Ok(stream.state) };
            }
            stream.push(entry).unwrap();
        }
        Err("there is no such change".into())
    }
}
