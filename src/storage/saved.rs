//! What a person keeps by name: ranges and comparisons of metrics with people.

use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;

use super::error::Fault;
use super::items::{json, to_json};
use super::{Project, StorageError, now_millis};
use crate::domain::{Profile, Range};

/// A saved comparison. Its content is written and read by those who compute it.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedComparison {
    pub name: String,
    /// Who saved it; empty when nobody said.
    pub who: String,
    pub at_millis: i64,
    pub content: Value,
}

impl SavedComparison {
    /// What to say where the content cannot be read: `error` names the field; another version is named only where it is one.
    pub fn unreadable(&self, error: impl std::fmt::Display) -> String {
        let own = env!("CARGO_PKG_VERSION");
        let by = match self.content["program"].as_str() {
            Some(other) if other != own => format!(" (it was saved by version {other} of this program, this one is {own})"),
            _ => String::new(),
        };
        format!("the comparison '{}' cannot be read{by}: {error}; compute it anew and save it under this name again", self.name)
    }
}

impl Project {
    /// Keeps a range; one of the same name and profile is replaced.
    ///
    /// # Errors
    /// When its bounds are no numbers or its name is empty, or the file cannot be written.
    pub fn save_range(&self, range: &Range) -> Result<(), StorageError> {
        self.write("saving a range", |conn| {
            if range.name.trim().is_empty() {
                return Err(Fault::Invalid("a range needs a name".into()));
            }
            if let Some(why) = range.objection() {
                return Err(Fault::Invalid(format!("range '{}': {why}", range.name)));
            }
            conn.execute(
                "INSERT INTO ranges (name, profile, at_millis, range) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (name, profile) DO UPDATE SET at_millis = ?3, range = ?4",
                params![range.name, range.profile.name(), now_millis(), to_json("range", range)?],
            )?;
            Ok(())
        })
    }

    /// Refuses a name that a range of that profile has already; [`Self::save_range`] would replace it.
    ///
    /// # Errors
    /// When there is one, or the file cannot be read.
    pub fn refuse_known_range(&self, name: &str, profile: Profile) -> Result<(), StorageError> {
        match self.range(name, profile)? {
            None => Ok(()),
            Some(_) => {
                let why = format!("there is a range '{name}' of profile {profile} already; take another name");
                Err(Fault::Invalid(why).at(self.path(), "saving a range"))
            }
        }
    }

    /// The saved ranges, oldest name first; of one profile only, if given.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn ranges(&self, profile: Option<Profile>) -> Result<Vec<Range>, StorageError> {
        self.read("reading the ranges", |conn| {
            let mut query = conn.prepare("SELECT range FROM ranges WHERE ?1 IS NULL OR profile = ?1 ORDER BY id")?;
            let mut rows = query.query([profile.map(Profile::name)])?;
            let mut ranges = Vec::new();
            while let Some(row) = rows.next()? {
                ranges.push(json("range", &row.get::<_, String>(0)?)?);
            }
            Ok(ranges)
        })
    }

    /// The saved range of that name and profile.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn range(&self, name: &str, profile: Profile) -> Result<Option<Range>, StorageError> {
        self.read("reading a range", |conn| {
            let text: Option<String> = conn
                .query_row("SELECT range FROM ranges WHERE name = ?1 AND profile = ?2", [name, profile.name()], |row| row.get(0))
                .optional()?;
            text.map(|text| json("range", &text)).transpose()
        })
    }

    /// What the project holds, one line an edit: keys, model, instruction and the hashes of both pictures (their paths where nobody
    /// has hashed them yet). Hashing the lines tells whether two comparisons are of the same data.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn content_lines(&self) -> Result<Vec<String>, StorageError> {
        self.read("reading what the project holds", |conn| {
            let mut query = conn.prepare(
                "SELECT i.key, e.key, e.model, i.instruction, coalesce(lower(hex(sp.hash)), sp.path), coalesce(lower(hex(ep.hash)), ep.path)
                 FROM edits e JOIN items i ON i.id = e.item_id
                 JOIN pictures sp ON sp.id = i.source_id JOIN pictures ep ON ep.id = e.picture_id",
            )?;
            let mut rows = query.query([])?;
            let mut lines = Vec::new();
            while let Some(row) = rows.next()? {
                let cells: Vec<String> = (0..6).map(|at| row.get(at)).collect::<Result<_, _>>()?;
                lines.push(cells.join("\t"));
            }
            Ok(lines)
        })
    }

    /// Keeps a comparison; one of the same name is replaced.
    ///
    /// # Errors
    /// When its name is empty, or the file cannot be written.
    pub fn save_comparison(&self, name: &str, who: &str, content: &Value) -> Result<(), StorageError> {
        self.write("saving a comparison", |conn| {
            if name.trim().is_empty() {
                return Err(Fault::Invalid("a comparison needs a name".into()));
            }
            conn.execute(
                "INSERT INTO comparisons (name, at_millis, content, who) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (name) DO UPDATE SET at_millis = ?2, content = ?3, who = ?4",
                params![name, now_millis(), to_json("comparison", content)?, who],
            )?;
            Ok(())
        })
    }

    /// The saved comparisons, newest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn comparisons(&self) -> Result<Vec<SavedComparison>, StorageError> {
        self.read(READING_COMPARISONS, |conn| {
            let mut query = conn.prepare("SELECT name, who, at_millis, content FROM comparisons ORDER BY at_millis DESC, name")?;
            let mut rows = query.query([])?;
            let mut saved = Vec::new();
            while let Some(row) = rows.next()? {
                saved.push(comparison_of(row)?);
            }
            Ok(saved)
        })
    }

    /// The saved comparison of that name.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn comparison(&self, name: &str) -> Result<Option<SavedComparison>, StorageError> {
        self.read(READING_COMPARISONS, |conn| {
            let mut query = conn.prepare("SELECT name, who, at_millis, content FROM comparisons WHERE name = ?1")?;
            let mut rows = query.query([name])?;
            rows.next()?.map(comparison_of).transpose()
        })
    }

    /// Forgets a saved comparison; whether there was one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn delete_comparison(&self, name: &str) -> Result<bool, StorageError> {
        self.write("deleting a comparison", |conn| Ok(conn.execute("DELETE FROM comparisons WHERE name = ?1", [name])? > 0))
    }
}

const READING_COMPARISONS: &str = "reading the comparisons";

fn comparison_of(row: &Row<'_>) -> Result<SavedComparison, Fault> {
    let content = json("comparison", &row.get::<_, String>(3)?)?;
    Ok(SavedComparison { name: row.get(0)?, who: row.get(1)?, at_millis: row.get(2)?, content })
}
