//! Opening a project file: recognise it, refuse what is newer, upgrade what is older after a copy.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};
use rusqlite_migration::Migrations;

use super::StorageError;
use super::error::Fault;
use super::place::Place;
use super::schema::{APPLICATION_ID, LATEST, migrations};

/// How long a call waits for another program that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// An open project file, `NAME.editscope`.
///
/// One connection; give each thread its own `Project`. Calls that write are one transaction each: when they return, the change
/// is on disk, when they fail, nothing was changed. A file that was moved, deleted or replaced while it is open is written to no more
/// ([`StorageError::Lost`]); what was saved before goes into it, wherever it lies.
#[derive(Debug)]
pub struct Project {
    conn: Connection,
    path: PathBuf,
    /// Absolute, without links; relative picture paths start here.
    folder: PathBuf,
    read_only: bool,
    upgrade: Option<Upgrade>,
    /// What was opened; moving, deleting or replacing it meanwhile ends writing.
    place: Place,
}

/// An upgrade that opening made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The file version before.
    pub from: i64,
    /// The copy of the file as it was.
    pub backup: PathBuf,
}

impl Project {
    /// Makes a new project file.
    ///
    /// # Errors
    /// When something other than an empty file is there already, or the folder is missing or cannot be written to.
    pub fn create(path: &Path) -> Result<Self, StorageError> {
        if std::fs::metadata(path).is_ok_and(|meta| meta.len() > 0 || !meta.is_file()) {
            return Err(StorageError::Exists { path: path.to_owned() });
        }
        let folder = folder_of(path)?;
        let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        let mut project = Self { conn, path: path.to_owned(), folder, read_only: false, upgrade: None, place: Place::of(path) };
        project.prepare_writing()?;
        // Where there was no file, there is one only now.
        project.place = Place::of(path);
        migrations()
            .to_latest(&mut project.conn)
            .map_err(|error| StorageError::CannotOpen { path: path.to_owned(), why: error.to_string() })?;
        project.set_meta("created_by", concat!("EditScope ", env!("CARGO_PKG_VERSION")))?;
        // Its mark stands in the file itself from now on, not only in the journal beside it: see `is_project`.
        project.read("making the project", |conn| Ok(conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?))?;
        Ok(project)
    }

    /// Whether the file at `path` is a project: an SQLite database with this program's mark.
    pub fn is_project(path: &Path) -> bool {
        // The file header: 16 bytes of magic, the application id at byte 68 (sqlite.org, "Database File Format").
        let mut header = [0; 72];
        let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut header));
        read.is_ok() && header.starts_with(b"SQLite format 3\0") && header[68..] == (super::schema::APPLICATION_ID as u32).to_be_bytes()
    }

    /// Whether `path` is a project, or a file that a person calls one by its ending: opening it tells what is wrong with it.
    pub fn is_meant(path: &Path) -> bool {
        Self::is_project(path) || path.is_file() && path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("editscope"))
    }

    /// Opens a project for reading and writing. An older file is upgraded, after a copy was made beside it (see [`Self::upgrade`]).
    ///
    /// # Errors
    /// When it is missing, no project, newer than this program, or cannot be written to.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        Self::open_with(path, &migrations(), LATEST)
    }

    /// Opens the project, or makes it if there is none.
    ///
    /// # Errors
    /// As [`Self::open`] and [`Self::create`].
    pub fn open_or_create(path: &Path) -> Result<Self, StorageError> {
        if std::fs::metadata(path).is_ok_and(|meta| meta.len() > 0) { Self::open(path) } else { Self::create(path) }
    }

    /// Opens a project for reading only, also in a folder that cannot be written to and on a full disk. Calls that write fail with
    /// [`StorageError::ReadOnly`].
    ///
    /// # Errors
    /// When it is missing, no project, or of another file version than this program's (an older one must be upgraded first).
    pub fn open_read_only(path: &Path) -> Result<Self, StorageError> {
        require_file(path)?;
        let folder = folder_of(path)?;
        let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .and_then(|conn| {
                // Write-ahead mode needs a file beside the project even for reading; this is where that shows.
                conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
                    .map_err(|error| Fault::from(error).at(path, OPENING))?;
                Ok(conn)
            })
            .or_else(|error| match error {
                StorageError::CannotOpen { .. } | StorageError::ReadOnly { .. } | StorageError::DiskFull { .. }
                    if !has_pending_writes(path) =>
                {
                    connect_immutable(path)
                }
                other => Err(other),
            })?;
        let version = recognise(&conn, path, LATEST)?;
        if version < LATEST {
            let why = format!("its file version {version} is older than {LATEST}; open it for writing once to upgrade it");
            return Err(StorageError::CannotOpen { path: path.to_owned(), why });
        }
        Ok(Self { conn, path: path.to_owned(), folder, read_only: true, upgrade: None, place: Place::of(path) })
    }

    fn open_with(path: &Path, migrations: &Migrations<'_>, latest: i64) -> Result<Self, StorageError> {
        require_file(path)?;
        let folder = folder_of(path)?;
        let place = Place::of(path);
        let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // SQLite opens a write-protected file for reading without a word; better said now than at the first rating.
        if conn.is_readonly("main").map_err(|error| Fault::from(error).at(path, OPENING))? {
            return Err(StorageError::ReadOnly { path: path.to_owned(), doing: OPENING });
        }
        let version = recognise(&conn, path, latest)?;
        let mut project = Self { conn, path: path.to_owned(), folder, read_only: false, upgrade: None, place };
        project.prepare_writing()?;
        if version < latest {
            let backup = project.back_up(version)?;
            project.conn.pragma_update(None, "foreign_keys", false).map_err(|error| Fault::from(error).at(path, OPENING))?;
            let upgraded = migrations.to_latest(&mut project.conn);
            upgraded.map_err(|error| StorageError::Upgrade { path: path.to_owned(), why: error.to_string() })?;
            project.conn.pragma_update(None, "foreign_keys", true).map_err(|error| Fault::from(error).at(path, OPENING))?;
            tracing::info!(path = %path.display(), from = version, to = latest, backup = %backup.display(), "project upgraded");
            project.upgrade = Some(Upgrade { from: version, backup });
        }
        Ok(project)
    }

    fn prepare_writing(&self) -> Result<(), StorageError> {
        let prepare = || -> Result<(), rusqlite::Error> {
            let mode: String = self.conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
            if mode != "wal" {
                tracing::warn!(path = %self.path.display(), %mode, "the disk allows no write-ahead log; writing will be slower");
            }
            // A rating must survive a power cut too, so commits wait for the disk.
            self.conn.pragma_update(None, "synchronous", "FULL")?;
            self.conn.pragma_update(None, "foreign_keys", true)?;
            Ok(())
        };
        prepare().map_err(|error| Fault::from(error).at(&self.path, OPENING))
    }

    /// Copies the file as it is, with what is still in the log, to `NAME.editscope.vN.bak`.
    fn back_up(&self, version: i64) -> Result<PathBuf, StorageError> {
        let named = |suffix: &str| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".v{version}{suffix}.bak"));
            PathBuf::from(name)
        };
        let backup = std::iter::once(named(""))
            .chain((2..1000).map(|n| named(&format!("-{n}"))))
            .find(|path| !path.exists())
            .unwrap_or_else(|| named("-last"));
        let target = backup.to_string_lossy().into_owned();
        match self.conn.execute("VACUUM INTO ?1", [target]) {
            Ok(_) => Ok(backup),
            Err(error) => Err(StorageError::Backup { path: self.path.clone(), backup, why: error.to_string() }),
        }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that holds the file, absolute; relative picture paths start here.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether calls that write will fail.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The upgrade that opening made, if any.
    pub fn upgrade(&self) -> Option<&Upgrade> {
        self.upgrade.as_ref()
    }

    /// A number that changes when *another* connection (another window or thread) has written. Cheap; poll it.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn data_version(&self) -> Result<i64, StorageError> {
        self.read("asking for changes", |conn| Ok(conn.pragma_query_value(None, "data_version", |row| row.get(0))?))
    }

    /// Moves what is in the log beside the file into the file, as far as no other connection reads older pages: a copy of the file alone then has it.
    /// Waits for nobody. What cannot be moved stays in the log, where it is as safe.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn checkpoint(&self) -> Result<(), StorageError> {
        self.read("moving changes from the log into the project", |conn| {
            Ok(conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
        })
    }

    /// A value that was set with [`Self::set_meta`].
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StorageError> {
        self.read("reading a setting", |conn| {
            Ok(conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?.query_row([key], |row| row.get(0)).optional()?)
        })
    }

    /// Keeps a small setting with the project (rater name, last profile, …).
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), StorageError> {
        self.write("saving a setting", |conn| {
            conn.execute("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2", [key, value])?;
            Ok(())
        })
    }

    /// Whether the file is still the one that was opened. Cheap; writing asks too.
    ///
    /// # Errors
    /// [`StorageError::Lost`] when it was moved, deleted or replaced.
    pub fn check_place(&self, doing: &'static str) -> Result<(), StorageError> {
        if self.read_only {
            return Ok(());
        }
        let lost = self.place.lost(&self.path, &self.conn);
        lost.map_or(Ok(()), |lost| Err(StorageError::Lost { path: self.path.clone(), doing, what: lost.words() }))
    }

    pub(super) fn read<T>(&self, doing: &'static str, f: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StorageError> {
        f(&self.conn).map_err(|fault| fault.at(&self.path, doing))
    }

    /// One transaction, which takes the write lock at once: waiting for it later could end in a deadlock of two windows.
    pub(super) fn write<T>(&self, doing: &'static str, f: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>) -> Result<T, StorageError> {
        self.check_place(doing)?;
        let run = || -> Result<T, Fault> {
            let transaction = Transaction::new_unchecked(&self.conn, TransactionBehavior::Immediate)?;
            let value = f(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|fault| fault.at(&self.path, doing))
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // SQLite leaves the log of a file that is no longer at its path behind, full; it would be applied to whatever lies there next.
        if let Err(error) = self.check_place("closing the project") {
            tracing::warn!(%error, "closing");
        }
    }
}

const OPENING: &str = "opening the project";

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StorageError> {
    let open = || -> Result<Connection, rusqlite::Error> {
        let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        conn.busy_timeout(BUSY_TIMEOUT)?;
        conn.set_prepared_statement_cache_capacity(64);
        Ok(conn)
    };
    open().map_err(|error| Fault::from(error).at(path, OPENING))
}

/// Opens a file that nobody can be writing to: it has no log, and its folder is read-only or its disk is full (whoever writes already would
/// have made the file beside it that is missing).
fn connect_immutable(path: &Path) -> Result<Connection, StorageError> {
    let text = path.to_string_lossy();
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '%' | '?' | '#' => format!("%{:02X}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    connect(Path::new(&format!("file:{escaped}?immutable=1")), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

fn has_pending_writes(path: &Path) -> bool {
    let mut log = path.to_owned().into_os_string();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|meta| meta.len() > 0)
}

fn require_file(path: &Path) -> Result<(), StorageError> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() == 0 => Err(StorageError::NotAProject {
            path: path.to_owned(),
            why:
                "it is empty (0 bytes), so all that it held is lost, or nothing was ever saved; go back to a copy, or import the data again"
                    .into(),
        }),
        Ok(meta) if meta.is_file() => Ok(()),
        Ok(_) => Err(StorageError::NotAProject { path: path.to_owned(), why: "it is a folder; import it into a project".into() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(StorageError::NotFound { path: path.to_owned() }),
        Err(error) => Err(StorageError::CannotOpen { path: path.to_owned(), why: error.to_string() }),
    }
}

fn folder_of(path: &Path) -> Result<PathBuf, StorageError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    parent.canonicalize().map_err(|error| StorageError::CannotOpen {
        path: path.to_owned(),
        why: format!("its folder {} cannot be used: {error}", parent.display()),
    })
}

/// The file version, if it is a project of at most version `latest`.
fn recognise(conn: &Connection, path: &Path, latest: i64) -> Result<i64, StorageError> {
    let pragma = |name: &str| -> Result<i64, StorageError> {
        conn.pragma_query_value(None, name, |row| row.get(0)).map_err(|error| Fault::from(error).at(path, OPENING))
    };
    if pragma("application_id")? != APPLICATION_ID {
        return Err(StorageError::NotAProject {
            path: path.to_owned(),
            why: "it is a database of another program, or one that nothing was saved in".into(),
        });
    }
    let version = pragma("user_version")?;
    if version > latest {
        return Err(StorageError::Newer { path: path.to_owned(), found: version, known: latest });
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    use rusqlite_migration::M;

    use super::*;

    fn some_project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap(); // the test machine has a temporary folder
        let path = folder.path().join("p.editscope");
        Project::create(&path).unwrap().set_meta("rater", "Jo").unwrap(); // a fresh folder
        (folder, path)
    }

    /// The migrations of a program that is one version further, by `sql`.
    fn one_more(sql: &'static str) -> Migrations<'static> {
        let mut steps: Vec<M<'static>> = (0..LATEST).map(|_| M::up("")).collect();
        steps.push(M::up(sql));
        Migrations::new(steps)
    }

    #[test]
    fn an_older_file_is_upgraded_after_a_copy_of_all_it_held() {
        let (_folder, path) = some_project();
        let v1 = std::fs::read(&path).unwrap(); // just written
        let project = Project::open_with(&path, &one_more("CREATE TABLE later (x INTEGER); DELETE FROM meta;"), LATEST + 1).unwrap(); // the steps are valid
        assert_eq!(project.meta("rater").unwrap(), None); // the migration above deletes it
        let upgrade = project.upgrade().unwrap().clone(); // asserted by unwrapping
        assert_eq!(upgrade.from, LATEST);
        drop(project);
        let old = Project::open_read_only(&upgrade.backup).unwrap(); // the copy is a project of the version before
        assert_eq!(old.meta("rater").unwrap().as_deref(), Some("Jo"));
        assert!(!v1.is_empty());
        // And now it is newer than the program.
        assert!(matches!(Project::open(&path), Err(StorageError::Newer { found, known: LATEST, .. }) if found == LATEST + 1));
        assert!(matches!(Project::open_read_only(&path), Err(StorageError::Newer { .. })));
    }

    #[test]
    fn an_upgrade_that_fails_leaves_the_file_as_it_was() {
        let (_folder, path) = some_project();
        let steps = one_more("DELETE FROM meta; CREATE TABLE meta (x);");
        assert!(matches!(Project::open_with(&path, &steps, LATEST + 1), Err(StorageError::Upgrade { .. })));
        assert_eq!(Project::open(&path).unwrap().meta("rater").unwrap().as_deref(), Some("Jo")); // still as it was
    }

    #[test]
    fn a_full_disk_is_said_and_nothing_changes() {
        let (_folder, path) = some_project();
        let project = Project::open(&path).unwrap(); // just made
        let pages: i64 = project.conn.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap(); // a pragma of SQLite
        // SQLite reports a file that may not grow exactly as it reports a disk that is full.
        let _: i64 = project.conn.pragma_update_and_check(None, "max_page_count", pages, |row| row.get(0)).unwrap(); // same
        let error = project.set_meta("rater", &"x".repeat(100_000)).unwrap_err();
        assert!(matches!(error, StorageError::DiskFull { .. }), "{error}");
        assert_eq!(project.meta("rater").unwrap().as_deref(), Some("Jo")); // readable
    }

    #[test]
    fn a_file_without_a_log_is_read_where_nothing_can_be_written() {
        let (_folder, path) = some_project();
        let odd = path.with_file_name("50%#?.editscope");
        std::fs::rename(&path, &odd).unwrap(); // same folder
        let conn = connect_immutable(&odd).unwrap(); // made above
        assert_eq!(recognise(&conn, &odd, LATEST).unwrap(), LATEST); // a project
    }
}
