//! Every table but items, edits and pictures: rows that say the same about the same are one row.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::super::error::Fault;
use super::tables::{CONTENT, Table, encode};
use super::{Conflict, ConflictKind, Input, MERGING};
use crate::domain::rater_name;
use crate::storage::{StorageError, answers};

/// For each input and table: the merged id of each of its ids.
pub type Maps = Vec<HashMap<String, HashMap<i64, i64>>>;

/// A row that some inputs have.
struct Merged {
    /// With the merged ids of what it refers to; that of the input which was taken.
    values: Vec<Value>,
    /// Time, least place in an input, identity: the order of the merged rows.
    time: i64,
    place: usize,
    /// The input that `values` come from, and the ids that the row has in the inputs.
    taken_from: usize,
    ids: Vec<(usize, i64)>,
}

/// Columns that say nothing new: they differ between two copies of the same statement.
fn is_volatile(table: &str, column: &str, row: &[Value], columns: &Table) -> bool {
    match (table, column) {
        ("ratings", "recorded_millis" | "newest")
        | ("votes", "recorded_millis")
        | ("runs", "finished_millis" | "end")
        | ("ranges" | "comparisons", "at_millis") => true,
        // One score for an edit and run; a newer one replaces an older one within a run.
        ("scores", name) => !matches!(name, "run_id" | "edit_id"),
        // What the same program reads out of the same words is one parse, whenever it was read. A person's parses have their time.
        ("parses", "at_millis") => {
            let origin = columns.column("origin").and_then(|at| row.get(at));
            origin != Some(&Value::Text("person".to_owned()))
        }
        _ => false,
    }
}

/// Which of two copies of a row is kept: the one that is finished, then the later one.
fn rank_of(table: &Table, values: &[Value]) -> Vec<u8> {
    let finished = table.column("end").map(|at| Value::Integer(i64::from(values[at] != Value::Null)));
    // Votes of one import have one time, which must stay one.
    let times: &[&str] = if table.name == "votes" { &["recorded_millis"] } else { &["finished_millis", "at_millis"] };
    let newer = times.iter().filter_map(|name| table.column(name)).map(|at| values[at].clone());
    let mut rank = encode(&finished.into_iter().chain(newer).collect::<Vec<_>>());
    rank.extend(encode(values));
    rank
}

fn time_of(table: &Table, values: &[Value]) -> i64 {
    let time = ["recorded_millis", "started_millis", "at_millis"].into_iter().find_map(|name| table.column(name));
    match time.map(|at| &values[at]) {
        Some(Value::Integer(millis)) => *millis,
        _ => 0,
    }
}

/// Merges all tables; `maps` has those of items, edits and pictures.
pub fn merge(inputs: &[Input], conn: &Connection, tables: &[Table], mut maps: Maps, conflicts: &mut Vec<Conflict>) -> Result<Maps, Fault> {
    // Which input a merged row's values come from, so that details follow the row that they belong to.
    let mut taken: HashMap<(String, i64), usize> = HashMap::new();
    for table in tables {
        let merged = collect(inputs, table, &maps, &taken)?;
        insert(conn, table, merged, &mut maps, &mut taken, conflicts)?;
    }
    Ok(maps)
}

fn collect(inputs: &[Input], table: &Table, maps: &Maps, taken: &HashMap<(String, i64), usize>) -> Result<Vec<Merged>, Fault> {
    let mut merged: BTreeMap<Vec<u8>, Merged> = BTreeMap::new();
    for (input, opened) in inputs.iter().enumerate() {
        // A row that is there twice in one project is two rows; the n-th is the same as the n-th of another project.
        let mut seen: HashMap<Vec<u8>, u32> = HashMap::new();
        let rows = opened.project.read(MERGING, |conn| table.rows(conn)).map_err(|error| said(&error))?;
        for (place, mut values) in rows.into_iter().enumerate() {
            let id = match values.first() {
                Some(Value::Integer(id)) if table.has_id => *id,
                _ => 0,
            };
            if let Some(Value::Text(rater)) = table.column("rater").and_then(|at| values.get_mut(at)) {
                *rater = rater_name(rater);
            }
            if !follow(table, &mut values, &maps[input], input, taken) {
                continue;
            }
            let identity = values.iter().enumerate().skip(usize::from(table.has_id));
            let identity = identity.filter(|(at, _)| !is_volatile(&table.name, &table.columns[*at], &values, table));
            let mut identity = encode(identity.map(|(_, value)| value));
            let count = seen.entry(identity.clone()).or_default();
            identity.extend(count.to_be_bytes());
            *count += 1;
            let time = time_of(table, &values);
            match merged.get_mut(&identity) {
                None => {
                    merged.insert(identity, Merged { values, time, place, taken_from: input, ids: vec![(input, id)] });
                }
                Some(known) => {
                    known.ids.push((input, id));
                    (known.time, known.place) = (known.time.min(time), known.place.min(place));
                    if rank_of(table, &values) > rank_of(table, &known.values) {
                        (known.values, known.taken_from) = (values, input);
                    }
                }
            }
        }
    }
    // By identity within the same time and place: the order of the inputs must not show.
    let mut merged: Vec<Merged> = merged.into_values().collect();
    merged.sort_by_key(|row| (row.time, row.place));
    Ok(merged)
}

/// Puts merged ids in for those of the input; `false` when the row belongs to something that is not merged, or to another copy of it.
fn follow(
    table: &Table,
    values: &mut [Value],
    maps: &HashMap<String, HashMap<i64, i64>>,
    input: usize,
    taken: &HashMap<(String, i64), usize>,
) -> bool {
    for (column, other) in &table.refs {
        let Value::Integer(id) = values[*column] else { continue };
        let Some(&new) = maps.get(other).and_then(|map| map.get(&id)) else { return false };
        let is_details = !table.has_id && !CONTENT.contains(&other.as_str()) && *column == 0;
        if is_details && taken.get(&(other.clone(), new)).is_some_and(|&from| from != input) {
            return false;
        }
        values[*column] = Value::Integer(new);
    }
    true
}

fn insert(
    conn: &Connection,
    table: &Table,
    merged: Vec<Merged>,
    maps: &mut Maps,
    taken: &mut HashMap<(String, i64), usize>,
    conflicts: &mut Vec<Conflict>,
) -> Result<(), Fault> {
    let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let places = vec!["?"; columns.len()].join(", ");
    let mut statement =
        conn.prepare(&format!("INSERT INTO {} ({}) VALUES ({places}) ON CONFLICT DO NOTHING", table.name, columns.join(", ")))?;
    for mut row in merged {
        if table.has_id {
            row.values[0] = Value::Null;
        }
        if let (Some(newest), "ratings") = (table.column("newest"), table.name.as_str()) {
            // Settled when all are there.
            row.values[newest] = Value::Integer(0);
        }
        if statement.execute(params_from_iter(&row.values))? == 0 {
            let Some(name) = rename(table, &mut row.values) else {
                conflicts.push(Conflict {
                    kind: ConflictKind::Name,
                    what: format!("a row of '{}' contradicts another one and is left out", table.name),
                });
                continue;
            };
            statement.execute(params_from_iter(&row.values))?;
            let what = format!("{}: '{}' differs between the projects; one of them is now '{}'", table.name, name.0, name.1);
            conflicts.push(Conflict { kind: ConflictKind::Name, what });
        }
        if table.has_id {
            let new = conn.last_insert_rowid();
            taken.insert((table.name.clone(), new), row.taken_from);
            for (input, id) in row.ids {
                maps[input].entry(table.name.clone()).or_default().insert(id, new);
            }
        }
    }
    Ok(())
}

/// Gives a row whose name is taken another one, which follows from what it says; old and new name.
fn rename(table: &Table, values: &mut [Value]) -> Option<(String, String)> {
    let Value::Text(old) = values[table.column("name")?].clone() else { return None };
    let new = format!("{old}@{}", &blake3::hash(&encode(&*values)).to_hex()[..8]);
    for value in values {
        let Value::Text(text) = value else { continue };
        if *text == old {
            text.clone_from(&new);
        } else if let Ok(serde_json::Value::Object(mut object)) = serde_json::from_str(text)
            && object.get("name").is_some_and(|name| *name == old)
        {
            // A range says its name inside too.
            object.insert("name".to_owned(), new.clone().into());
            *text = serde_json::Value::Object(object).to_string();
        }
    }
    Some((old, new))
}

/// For each merged item that has a parse: the inputs in which just that parse counts. Scores of the others are about another one.
pub type ParseAgreement = HashMap<i64, HashSet<usize>>;

/// Decides which answers and which parses count, by the rules that hold within one project.
pub fn settle(conn: &Connection, inputs: &[Input], maps: &Maps) -> Result<ParseAgreement, Fault> {
    answers::recount_all(conn)?;
    // Of the parses that count in an input a person's goes first, then what came with the data, then the newest.
    let mut candidates: BTreeMap<i64, Vec<(usize, i64)>> = BTreeMap::new();
    for (input, opened) in inputs.iter().enumerate() {
        let counting: Vec<(i64, i64)> = opened
            .project
            .read(MERGING, |conn| {
                let mut query = conn.prepare("SELECT id, parse_id FROM items WHERE parse_id IS NOT NULL")?;
                Ok(query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
            })
            .map_err(|error| said(&error))?;
        let new = |table: &str, id: i64| maps[input].get(table).and_then(|map| map.get(&id)).copied();
        for (item, parse) in counting {
            if let (Some(item), Some(parse)) = (new("items", item), new("parses", parse)) {
                candidates.entry(item).or_default().push((input, parse));
            }
        }
    }
    let mut agreement = ParseAgreement::new();
    let mut text_of = conn.prepare("SELECT parse FROM parses WHERE id = ?1")?;
    for (item, parses) in candidates {
        let list = parses.iter().map(|(_, parse)| parse.to_string()).collect::<Vec<_>>().join(", ");
        conn.execute(
            &format!(
                "UPDATE items SET parse_id = (SELECT id FROM parses WHERE id IN ({list})
                 ORDER BY origin = 'person' DESC, origin = 'import' DESC, at_millis DESC, parse LIMIT 1) WHERE id = ?1"
            ),
            params![item],
        )?;
        let counting: String =
            conn.query_row("SELECT parse FROM parses JOIN items ON items.parse_id = parses.id WHERE items.id = ?1", [item], |row| {
                row.get(0)
            })?;
        let mut agreeing = HashSet::new();
        let mut others = HashSet::new();
        for (input, parse) in parses {
            let text: String = text_of.query_row([parse], |row| row.get(0))?;
            if text == counting {
                agreeing.insert(input)
            } else {
                others.insert(input)
            };
        }
        agreement.insert(item, agreeing.difference(&others).copied().collect());
    }
    Ok(agreement)
}

/// The words of an error of an input, within an operation on the output.
pub fn said(error: &StorageError) -> Fault {
    Fault::Invalid(error.to_string())
}
