//! Is the file that is open still the one at its path? Where it was moved, deleted or replaced, SQLite would go on writing into a log that lies
//! under the old name: work that the moved file never gets, and that damages whatever file lies there next, because a log does not say which
//! file it belongs to.

use std::cell::Cell;
use std::path::Path;
use std::time::SystemTime;

use rusqlite::Connection;

/// Which file was opened.
#[derive(Debug)]
pub(super) struct Place {
    opened: Option<FileId>,
    /// It was found gone, and what was open held this much when its log was emptied.
    left: Cell<Option<Content>>,
}

/// What a path names on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    node: u64,
}

/// Length and time of change.
type Content = (u64, Option<SystemTime>);

/// What became of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Nothing is at its path.
    Gone,
    /// Another file is at its path.
    Replaced,
    /// It is back, but was changed while it was away.
    Changed,
}

impl Lost {
    /// What happened and what to do.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Gone => {
                "was moved, renamed or deleted while it was open; nothing was changed. Move it back to this name and try again; the moved file \
                 has all that was saved before"
            }
            Self::Replaced => {
                "was replaced by another file while it was open; nothing was changed, so that the other file stays whole. Move the other file \
                 away, put the one that was open back, and try again"
            }
            Self::Changed => {
                "was changed by another program while it was away from its place; nothing was changed. Open it again to go on with what it holds now"
            }
        }
    }
}

impl Place {
    /// Remembers what is at `path`.
    pub fn of(path: &Path) -> Self {
        Self { opened: std::fs::metadata(path).ok().and_then(|meta| id_of(&meta)), left: Cell::new(None) }
    }

    /// What became of the file, if it is not what was opened. When that shows, all that is in the log goes into the file that is open, wherever
    /// it lies now, and the log is emptied: then the log that stays under the old name harms nothing.
    pub fn lost(&self, path: &Path, conn: &Connection) -> Option<Lost> {
        let now = std::fs::metadata(path);
        let lost = match &now {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Lost::Gone,
            // A disk that does not answer says nothing about the file; writing will tell.
            Err(_) => return None,
            Ok(meta) if self.opened.is_some() && id_of(meta) != self.opened => Lost::Replaced,
            Ok(meta) => return self.came_back(meta),
        };
        if self.left.get().is_none() {
            match empty_log(conn) {
                Ok(()) => self.left.set(Some(self.content_of_open())),
                Err(why) => tracing::error!(path = %path.display(), why, "the log of a project that is gone could not be put into it"),
            }
        }
        Some(lost)
    }

    /// The file is at its path: it never left, or is back.
    fn came_back(&self, meta: &std::fs::Metadata) -> Option<Lost> {
        let left = self.left.get()?;
        if left != content(meta) {
            return Some(Lost::Changed);
        }
        self.left.set(None);
        None
    }

    /// Length and time of the file that is open. SQLite tells neither; on Linux the descriptors of this process name it by its node. (Opening
    /// it once more is no way: closing it would drop the locks of this process.)
    fn content_of_open(&self) -> Content {
        let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let meta =
            open.filter_map(|entry| std::fs::metadata(entry.path()).ok()).find(|meta| self.opened.is_some() && id_of(meta) == self.opened);
        // Not known: then a file that comes back counts as changed, which is the safe side.
        meta.map_or((u64::MAX, None), |meta| content(&meta))
    }
}

fn content(meta: &std::fs::Metadata) -> Content {
    (meta.len(), meta.modified().ok())
}

/// Puts the log into the file that is open. SQLite itself does not do so at closing when the file is no longer at its path.
fn empty_log(conn: &Connection) -> Result<(), String> {
    let busy: i64 = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map_err(|error| error.to_string())?;
    if busy == 0 { Ok(()) } else { Err("another connection keeps it busy".to_owned()) }
}

#[cfg(unix)]
fn id_of(meta: &std::fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    Some(FileId { device: meta.dev(), node: meta.ino() })
}

/// Elsewhere an open file can be neither moved nor replaced.
#[cfg(not(unix))]
fn id_of(_meta: &std::fs::Metadata) -> Option<FileId> {
    None
}
