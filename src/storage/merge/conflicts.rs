//! Where people went different ways: two inputs whose newest word about the same thing differs, and neither of which knows the other's.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::Connection;

use super::super::error::Fault;
use super::rows::{Maps, said};
use super::{Conflict, ConflictKind, Input, MERGING};

/// What a statement is about: merged ids of item and edit, and words.
type Subject = (Option<i64>, Option<i64>, String);

/// A statement of an input: what it is about, its merged row, whether it counts, what it says.
struct Statement {
    about: Subject,
    row: i64,
    counts: bool,
    says: String,
}

/// What one input says about one thing.
#[derive(Default)]
struct Side {
    history: HashSet<i64>,
    newest: Option<(i64, String)>,
}

/// A kind of statement and how it is read: own id, whether it counts, subject, what is said, item, edit.
struct Kind {
    kind: ConflictKind,
    table: &'static str,
    query: &'static str,
}

const KINDS: [Kind; 2] = [
    Kind {
        kind: ConflictKind::Rating,
        table: "ratings",
        query: "SELECT ratings.id, newest, 'edit ''' || key || ''', rater ' || rater, answers, item_id, edit_id
                FROM ratings JOIN edits ON edits.id = edit_id ORDER BY ratings.id",
    },
    Kind {
        kind: ConflictKind::Parse,
        table: "parses",
        query: "SELECT parses.id, parses.id IS parse_id, 'item ''' || key || '''', parse, item_id, NULL
                FROM parses JOIN items ON items.id = item_id ORDER BY parses.id",
    },
];

/// Adds the conflicts of ratings and parses.
pub fn find(inputs: &[Input], maps: &Maps, conflicts: &mut Vec<Conflict>) -> Result<(), Fault> {
    for kind in KINDS {
        let mut by_subject: BTreeMap<Subject, Vec<(usize, Side)>> = BTreeMap::new();
        for (input, opened) in inputs.iter().enumerate() {
            let mut sides: HashMap<Subject, Side> = HashMap::new();
            for statement in statements(opened, &kind, &maps[input])? {
                let side = sides.entry(statement.about).or_default();
                side.history.insert(statement.row);
                if statement.counts {
                    side.newest = Some((statement.row, statement.says));
                }
            }
            for (about, side) in sides {
                by_subject.entry(about).or_default().push((input, side));
            }
        }
        for ((_, _, about), sides) in by_subject {
            conflicts.extend(conflict(inputs, kind.kind, &about, &sides));
        }
    }
    Ok(())
}

fn statements(input: &Input, kind: &Kind, maps: &HashMap<String, HashMap<i64, i64>>) -> Result<Vec<Statement>, Fault> {
    let read = |conn: &Connection| -> Result<Vec<Statement>, Fault> {
        let mut query = conn.prepare(kind.query)?;
        let rows = query.query_map([], |row| {
            let merged = |table: &str, id: Option<i64>| maps.get(table).and_then(|map| map.get(&id?)).copied();
            let about = (merged("items", row.get(4)?), merged("edits", row.get(5)?), row.get(2)?);
            let own = merged(kind.table, Some(row.get(0)?)).unwrap_or_default();
            Ok(Statement { row: own, counts: row.get(1)?, about, says: row.get(3)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    };
    input.project.read(MERGING, read).map_err(|error| said(&error))
}

fn conflict(inputs: &[Input], kind: ConflictKind, about: &str, sides: &[(usize, Side)]) -> Option<Conflict> {
    let newest = |side: &Side| side.newest.clone();
    let apart = |a: &Side, b: &Side| {
        let (Some((row_a, says_a)), Some((row_b, says_b))) = (newest(a), newest(b)) else { return false };
        // An input that has the other's word in its history has merely gone on from there.
        says_a != says_b && !b.history.contains(&row_a) && !a.history.contains(&row_b)
    };
    let differing = sides.iter().enumerate().any(|(index, a)| sides[index + 1..].iter().any(|b| apart(&a.1, &b.1)));
    if !differing {
        return None;
    }
    let mut words: Vec<String> =
        sides.iter().filter_map(|(input, side)| Some(format!("{} says {}", inputs[*input].name, shortened(&newest(side)?.1)))).collect();
    words.sort();
    let kept = match kind {
        ConflictKind::Parse => "all are kept, a person's newest counts",
        _ => "all are kept, the newest counts",
    };
    Some(Conflict { kind, what: format!("{about}: {}; {kept}", words.join(", ")) })
}

/// The beginning of a long statement.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    if text.chars().count() <= LONGEST { text.to_owned() } else { text.chars().take(LONGEST).chain(['…']).collect() }
}
