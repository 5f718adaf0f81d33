//! What tables there are and what their columns refer to, read from the database itself: a table that a later file version adds is merged
//! without a word here.

use std::collections::HashSet;

use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};

use super::super::error::Fault;

/// A table as the merge sees it.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<String>,
    /// Rows are named by an `id` of their own, which is given anew.
    pub has_id: bool,
    /// Columns that hold the id of a row of another table.
    pub refs: Vec<(usize, String)>,
}

/// Merged by `content` before all others.
pub const CONTENT: [&str; 3] = ["pictures", "items", "edits"];
/// Not merged row by row: settings of one machine, what only saves work, journals of regions (see `regions`), and what follows from ratings.
const LEFT_OUT: [&str; 6] = ["meta", "network_results", "region_changes", "region_checkpoints", "answers", "scales"];

impl Table {
    /// The index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Its rows, oldest first; those without an id in the order of what they belong to.
    pub fn rows(&self, conn: &Connection) -> Result<Vec<Vec<Value>>, Fault> {
        let order = if self.has_id || self.columns.len() < 2 { "1" } else { "1, 2" };
        let mut query = conn.prepare(&format!("SELECT {} FROM {} ORDER BY {order}", self.columns.join(", "), self.name))?;
        let mut rows = query.query([])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let values = (0..self.columns.len()).map(|column| row.get(column)).collect::<Result<Vec<Value>, _>>()?;
            all.push(values);
        }
        Ok(all)
    }
}

/// Every table to be merged row by row, each after those that it refers to.
pub fn all(conn: &Connection) -> Result<Vec<Table>, Fault> {
    let mut query = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")?;
    let names: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut waiting = Vec::new();
    for name in names.into_iter().filter(|name| !CONTENT.contains(&name.as_str()) && !LEFT_OUT.contains(&name.as_str())) {
        waiting.push(table(conn, name)?);
    }
    let mut done: HashSet<String> = CONTENT.iter().map(|&name| name.to_owned()).collect();
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let ready = |table: &Table| table.refs.iter().all(|(_, other)| done.contains(other) || *other == table.name);
        let (now, later): (Vec<Table>, Vec<Table>) = waiting.into_iter().partition(ready);
        if now.is_empty() {
            let names: Vec<&str> = later.iter().map(|table| table.name.as_str()).collect();
            return Err(Fault::Invalid(format!("the tables {} refer to each other in a circle", names.join(", "))));
        }
        done.extend(now.iter().map(|table| table.name.clone()));
        ordered.extend(now);
        waiting = later;
    }
    Ok(ordered)
}

fn table(conn: &Connection, name: String) -> Result<Table, Fault> {
    let mut query = conn.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")?;
    let columns: Vec<String> = query.query_map([&name], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut query = conn.prepare("SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?1)")?;
    let refs: Vec<(String, String)> = query.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let place = |column: &String| columns.iter().position(|other| other == column);
    let refs = refs.iter().filter_map(|(column, other)| Some((place(column)?, other.clone()))).collect();
    Ok(Table { has_id: columns.first().is_some_and(|column| column == "id"), name, columns, refs })
}

/// Values as bytes that are equal only for equal values; compared by bytes they have some order that is the same everywhere.
pub fn encode<'a>(values: impl IntoIterator<Item = &'a Value>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        match ValueRef::from(value) {
            ValueRef::Null => bytes.push(0),
            ValueRef::Integer(number) => {
                bytes.push(1);
                // The sign bit is turned so that negative numbers come first.
                bytes.extend((number.cast_unsigned() ^ (1 << 63)).to_be_bytes());
            }
            ValueRef::Real(number) => {
                bytes.push(2);
                bytes.extend(number.to_bits().to_be_bytes());
            }
            ValueRef::Text(text) | ValueRef::Blob(text) => {
                bytes.push(3);
                bytes.extend((text.len() as u64).to_be_bytes());
                bytes.extend(text);
            }
        }
    }
    bytes
}
