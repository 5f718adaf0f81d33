//! Pictures stay where they are; the project keeps where that is, what they held, and whether that is still so.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use rayon::prelude::*;
use rusqlite::{Connection, OptionalExtension, params};

use super::error::Fault;
use super::{EditId, Project, StorageError};
use crate::domain::relative_path;

/// What is known about a picture on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PictureState {
    /// It was there when it was imported; its content was not looked at yet.
    Unchecked,
    /// It is there with the content that the project knows.
    Present,
    /// It was not there when last looked for.
    Missing,
    /// It is there, but its content is not what the project knows.
    Changed,
    /// It is there, but could not be read.
    Unreadable,
}

impl PictureState {
    const ALL: [Self; 5] = [Self::Unchecked, Self::Present, Self::Missing, Self::Changed, Self::Unreadable];

    /// The word in the project file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unchecked => "unchecked",
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Changed => "changed",
            Self::Unreadable => "unreadable",
        }
    }

    pub(super) fn from_name(name: &str) -> Result<Self, Fault> {
        // The table's CHECK allows no other.
        Self::ALL.into_iter().find(|state| state.name() == name).ok_or_else(|| Fault::Invalid(format!("unknown picture state '{name}'")))
    }
}

/// What [`Project::check_pictures`] found, in numbers of pictures.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PictureReport {
    pub present: usize,
    /// Paths, as they can be opened.
    pub missing: Vec<PathBuf>,
    pub changed: Vec<PathBuf>,
    pub unreadable: Vec<PathBuf>,
    /// Files with another size or time than were known, whose content is the same or never was known.
    pub touched: Vec<PathBuf>,
    /// How many differ in state, size or time from what the project knew.
    pub news: usize,
}

/// How closely pictures are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The content of all of them is known afterwards.
    Content,
    /// Content is read only where it was known and the file's size or time is another one.
    Changes,
}

/// Pictures whose content is read before results are written down and progress is told.
const BATCH: usize = 256;

impl Project {
    /// Looks at every picture: is it there, and is its content what the project knows? The content is read (and its hash
    /// kept) only where it never was or where size or time of the file differ. Scores of changed pictures become stale.
    ///
    /// `progress(done, total)` is called now and then; when it returns `false` the check stops, and what was found stays.
    ///
    /// # Errors
    /// When the project file cannot be read or written; a picture that cannot be read is a result, not an error.
    pub fn check_pictures(&self, progress: impl FnMut(usize, usize) -> bool) -> Result<PictureReport, StorageError> {
        self.look(&self.read(CHECKING, known_pictures)?, Depth::Content, progress)
    }

    /// As [`Self::check_pictures`], but quick: asks the disk for size and time of each file, and reads content only where the project knows
    /// what it was ([`Self::keep_content_of`]) and the file looks different.
    ///
    /// # Errors
    /// As [`Self::check_pictures`].
    pub fn look_for_pictures(&self) -> Result<PictureReport, StorageError> {
        self.look(&self.read(CHECKING, known_pictures)?, Depth::Changes, |_, _| true)
    }

    /// As [`Self::look_for_pictures`], for the two pictures of an edit.
    ///
    /// # Errors
    /// As [`Self::check_pictures`].
    pub fn look_for_pictures_of(&self, edit: EditId) -> Result<PictureReport, StorageError> {
        let known = self.read(CHECKING, |conn| pictures_where(conn, OF_EDIT, [edit]))?;
        self.look(&known, Depth::Changes, |_, _| true)
    }

    fn look(&self, known: &[Known], depth: Depth, mut progress: impl FnMut(usize, usize) -> bool) -> Result<PictureReport, StorageError> {
        let folder = self.folder().to_owned();
        let (mut report, mut done) = (PictureReport::default(), 0);
        for batch in known.chunks(BATCH) {
            let looks: Vec<Look> = batch.par_iter().map(|known| look_at(known, &folder.join(&known.path), depth)).collect();
            let news: Vec<_> = batch.iter().zip(&looks).filter(|(known, look)| look.is_news_to(known)).collect();
            report.news += news.len();
            if !news.is_empty() {
                self.write(CHECKING, |conn| news.iter().try_for_each(|(known, look)| store_look(conn, known, look)))?;
            }
            for (known, look) in batch.iter().zip(&looks) {
                let path = folder.join(&known.path);
                match look.state {
                    PictureState::Missing => report.missing.push(path),
                    PictureState::Changed => report.changed.push(path),
                    PictureState::Unreadable => report.unreadable.push(path),
                    PictureState::Present | PictureState::Unchecked => {
                        report.present += 1;
                        if known.bytes.is_some() && look.is_other_file_than(known) {
                            report.touched.push(path);
                        }
                    }
                }
            }
            done += batch.len();
            if !progress(done, known.len()) {
                break;
            }
        }
        Ok(report)
    }

    /// Keeps what the pictures of an edit hold, before they are scored: when they change later, it is known that the score is of other
    /// pictures. A picture that had changed counts with the content that it has now, and other scores made with the old one become stale.
    /// Files that are not there or cannot be read are left to whoever reads them next.
    ///
    /// # Errors
    /// When the project file cannot be read or written.
    pub fn keep_content_of(&self, edit: EditId) -> Result<(), StorageError> {
        let known = self.read(CHECKING, |conn| pictures_where(conn, OF_EDIT, [edit]))?;
        for known in known {
            let path = self.folder().join(&known.path);
            let Some(stat) = stat_of(&path) else { continue };
            if known.is_as_kept(&stat) && known.state == PictureState::Present.name() {
                continue;
            }
            let Ok(hash) = hash_of(&path) else { continue };
            self.write(CHECKING, |conn| {
                if known.hash.as_ref().is_some_and(|known| *known != hash) {
                    mark_stale(conn, known.id)?;
                }
                let look = Look { state: PictureState::Present, hash: Some(hash), stat: Some(stat) };
                store_look(conn, &Known { hash: None, ..known }, &look)
            })?;
        }
        Ok(())
    }

    /// The pictures of an edit whose files are not as the project knows them: another size or time than when their content was last kept. Cheap.
    ///
    /// # Errors
    /// When the project file cannot be read.
    pub fn changed_pictures_of(&self, edit: EditId) -> Result<Vec<PathBuf>, StorageError> {
        let known = self.read(CHECKING, |conn| pictures_where(conn, OF_EDIT, [edit]))?;
        let changed = |known: Known| {
            let path = self.folder().join(&known.path);
            let is_other = known.hash.is_some() && stat_of(&path).is_some_and(|stat| !known.is_as_kept(&stat));
            is_other.then_some(path)
        };
        Ok(known.into_iter().filter_map(changed).collect())
    }

    /// All pictures that the project names, as they can be opened, whether they are there or not.
    ///
    /// # Errors
    /// When the project file cannot be read.
    pub fn picture_files(&self) -> Result<Vec<PathBuf>, StorageError> {
        let known = self.read("reading the names of the pictures", known_pictures)?;
        Ok(known.into_iter().map(|known| self.folder().join(known.path)).collect())
    }

    /// The pictures that hold something else now than what the project knows of them. Content is read only where size or time of the file differ;
    /// nothing is written down.
    ///
    /// # Errors
    /// When the project file cannot be read.
    pub fn changed_pictures(&self) -> Result<HashSet<PathBuf>, StorageError> {
        let known = self.read(CHECKING, known_pictures)?;
        let folder = self.folder().to_owned();
        let changed = |known: &Known| {
            let path = folder.join(&known.path);
            let look = look_at(known, &path, Depth::Changes);
            let other_length = known.hash.is_none() && look.stat.is_some_and(|stat| known.bytes.is_some_and(|bytes| bytes != stat.bytes));
            (look.state == PictureState::Changed || other_length).then_some(path)
        };
        Ok(known.par_iter().filter_map(changed).collect())
    }

    /// Takes the content that changed pictures have now as the right one.
    ///
    /// # Errors
    /// When the project file cannot be written.
    pub fn accept_changed_pictures(&self) -> Result<usize, StorageError> {
        self.write("accepting changed pictures", |conn| {
            Ok(conn.execute("UPDATE pictures SET state = 'unchecked', hash = NULL WHERE state = 'changed'", [])?)
        })
    }

    /// Looks for missing pictures below `folder`, by the end of their path: the longer the common end, the better. Returns how
    /// many were found.
    ///
    /// # Errors
    /// When the project file cannot be read or written.
    pub fn locate_pictures(&self, folder: &Path) -> Result<usize, StorageError> {
        let mut names = Names::new(self.folder());
        self.write("locating pictures", |conn| {
            let mut query = conn.prepare("SELECT id, path FROM pictures WHERE state = 'missing'")?;
            let missing: Vec<(i64, String)> =
                query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, rusqlite::Error>>()?;
            let mut found = 0;
            for (id, path) in missing {
                let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != "..").collect();
                let candidate = (0..parts.len()).map(|skip| folder.join(parts[skip..].join("/"))).find(|path| path.is_file());
                let Some(candidate) = candidate else { continue };
                let name = names.of(&candidate);
                // Another row may name that file already; this one keeps waiting then.
                if conn.query_row("SELECT 1 FROM pictures WHERE path = ?1", [&name], |_| Ok(())).optional()?.is_none() {
                    conn.execute("UPDATE pictures SET path = ?2, state = 'unchecked', bytes = NULL WHERE id = ?1", params![id, name])?;
                    found += 1;
                }
            }
            Ok(found)
        })
    }
}

const CHECKING: &str = "checking the pictures";

#[derive(Clone)]
struct Known {
    id: i64,
    path: String,
    hash: Option<Vec<u8>>,
    bytes: Option<i64>,
    modified_millis: Option<i64>,
    state: String,
}

impl Known {
    /// Whether size and time are those of the content that the project knows.
    fn is_as_kept(&self, stat: &Stat) -> bool {
        self.hash.is_some() && self.bytes == Some(stat.bytes) && self.modified_millis == Some(stat.modified_millis)
    }
}

/// The picture of an edit and that of its item.
const OF_EDIT: &str = "WHERE id IN (SELECT picture_id FROM edits WHERE id = ?1 \
                       UNION SELECT items.source_id FROM items JOIN edits ON edits.item_id = items.id WHERE edits.id = ?1)";

fn known_pictures(conn: &Connection) -> Result<Vec<Known>, Fault> {
    pictures_where(conn, "", [])
}

fn pictures_where(conn: &Connection, filter: &str, parameters: impl rusqlite::Params) -> Result<Vec<Known>, Fault> {
    let mut query =
        conn.prepare_cached(&format!("SELECT id, path, hash, bytes, modified_millis, state FROM pictures {filter} ORDER BY id"))?;
    let rows = query.query_map(parameters, |row| {
        Ok(Known {
            id: row.get(0)?,
            path: row.get(1)?,
            hash: row.get(2)?,
            bytes: row.get(3)?,
            modified_millis: row.get(4)?,
            state: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

struct Look {
    state: PictureState,
    hash: Option<Vec<u8>>,
    stat: Option<Stat>,
}

impl Look {
    /// Whether size or time are others.
    fn is_other_file_than(&self, known: &Known) -> bool {
        self.stat.as_ref().is_some_and(|stat| known.bytes != Some(stat.bytes) || known.modified_millis != Some(stat.modified_millis))
    }

    /// Whether it tells anything that the project does not know.
    fn is_news_to(&self, known: &Known) -> bool {
        self.state.name() != known.state || self.is_other_file_than(known) || (known.hash.is_none() && self.hash.is_some())
    }
}

fn look_at(known: &Known, path: &Path, depth: Depth) -> Look {
    let Some(stat) = stat_of(path) else { return Look { state: PictureState::Missing, hash: None, stat: None } };
    if depth == Depth::Changes && known.hash.is_none() {
        return Look { state: PictureState::Unchecked, hash: None, stat: Some(stat) };
    }
    let seen = known.state == PictureState::Present.name() || known.state == PictureState::Changed.name();
    if known.is_as_kept(&stat) && seen {
        let state = if known.state == PictureState::Changed.name() { PictureState::Changed } else { PictureState::Present };
        return Look { state, hash: None, stat: Some(stat) };
    }
    match hash_of(path) {
        Err(_) => Look { state: PictureState::Unreadable, hash: None, stat: Some(stat) },
        Ok(hash) => {
            let changed = known.hash.as_ref().is_some_and(|known| *known != hash);
            Look { state: if changed { PictureState::Changed } else { PictureState::Present }, hash: Some(hash), stat: Some(stat) }
        }
    }
}

fn store_look(conn: &Connection, known: &Known, look: &Look) -> Result<(), Fault> {
    let (bytes, modified) = look.stat.as_ref().map_or((known.bytes, known.modified_millis), |s| (Some(s.bytes), Some(s.modified_millis)));
    // The hash of a changed picture stays what it was, so that putting the old file back is noticed.
    let hash = if known.hash.is_some() { known.hash.as_ref() } else { look.hash.as_ref() };
    conn.prepare_cached("UPDATE pictures SET state = ?2, hash = ?3, bytes = ?4, modified_millis = ?5 WHERE id = ?1")?.execute(params![
        known.id,
        look.state.name(),
        hash,
        bytes,
        modified
    ])?;
    // Of a picture whose content was never kept, another length says that it is another one.
    let other_length = known.hash.is_none() && look.stat.as_ref().is_some_and(|stat| known.bytes.is_some_and(|bytes| bytes != stat.bytes));
    if other_length || look.state == PictureState::Changed && known.state != PictureState::Changed.name() {
        mark_stale(conn, known.id)?;
    }
    Ok(())
}

/// Marks the scores that a picture took part in.
pub(super) fn mark_stale(conn: &Connection, picture: i64) -> Result<(), Fault> {
    conn.prepare_cached(
        "UPDATE scores SET stale = 1 WHERE edit_id IN (
             SELECT id FROM edits WHERE picture_id = ?1
             UNION SELECT edits.id FROM edits JOIN items ON items.id = edits.item_id WHERE items.source_id = ?1)",
    )?
    .execute([picture])?;
    Ok(())
}

pub(super) struct Stat {
    bytes: i64,
    modified_millis: i64,
}

fn stat_of(path: &Path) -> Option<Stat> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Some(Stat {
        bytes: i64::try_from(meta.len()).unwrap_or(i64::MAX),
        modified_millis: modified.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0),
    })
}

pub(super) fn hash_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path)?)?;
    Ok(hasher.finalize().as_bytes().to_vec())
}

/// The row of the picture at `name`, made if it is new, and whether it is there.
pub(super) fn picture_row(conn: &Connection, names: &Names, name: &str) -> Result<(i64, bool), Fault> {
    let known: Option<(i64, String)> = conn
        .prepare_cached("SELECT id, state FROM pictures WHERE path = ?1")?
        .query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let stat = stat_of(&names.folder.join(name));
    let there = stat.is_some();
    if let Some((id, state)) = known {
        let now = match (there, state == PictureState::Missing.name()) {
            (true, true) => Some(PictureState::Unchecked),
            (false, false) => Some(PictureState::Missing),
            _ => None,
        };
        if let Some(now) = now {
            conn.prepare_cached("UPDATE pictures SET state = ?2 WHERE id = ?1")?.execute(params![id, now.name()])?;
        }
        return Ok((id, there));
    }
    let state = if there { PictureState::Unchecked } else { PictureState::Missing };
    conn.prepare_cached("INSERT INTO pictures (path, state, bytes, modified_millis) VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        name,
        state.name(),
        stat.as_ref().map(|stat| stat.bytes),
        stat.as_ref().map(|stat| stat.modified_millis)
    ])?;
    Ok((conn.last_insert_rowid(), there))
}

/// Turns paths into the names that the project keeps: relative to its folder, so that both can move together.
pub(super) struct Names {
    folder: PathBuf,
    /// Folders as written → absolute and without links; asking the disk once for each folder, not for each picture.
    real: HashMap<PathBuf, PathBuf>,
}

impl Names {
    pub fn new(project_folder: &Path) -> Self {
        Self { folder: project_folder.to_owned(), real: HashMap::new() }
    }

    pub fn of(&mut self, path: &Path) -> String {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let real = self.real.entry(parent.to_owned()).or_insert_with(|| parent.canonicalize().unwrap_or_else(|_| cleaned(parent)));
        let absolute = match path.file_name() {
            Some(name) => real.join(name),
            None => real.clone(),
        };
        relative_path(&self.folder, &absolute).unwrap_or(absolute).to_string_lossy().replace('\\', "/")
    }
}

/// Absolute and without `.` and `..`, for folders that are not there (so there are no links to respect).
fn cleaned(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut clean = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_are_not_there_are_cleaned_by_their_names() {
        assert_eq!(Names::new(Path::new("/no/such")).of(Path::new("/no/such/../other/./x.png")), "../other/x.png");
    }
}
