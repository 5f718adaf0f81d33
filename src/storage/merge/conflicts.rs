//! Where people went different ways: two inputs whose newest word about the same thing differs, and neither of which knows the other's.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rusqlite::Connection;

use super::super::error::Fault;
use super::rows::{Maps, said};
use super::{Conflict, ConflictKind, Input, MERGING};

/// What a statement is about: merged ids of item and edit, and words.
type Subject = (Option<i64>, Option<i64>, String);

/// A statement of an input: what it is about, its merged row, whether it counts, what it says to which question.
struct Statement {
    about: Subject,
    row: i64,
    counts: bool,
    says: String,
    /// Empty where there is only one thing to say.
    question: String,
}

/// What one input says about one thing.
#[derive(Default)]
struct Side {
    history: HashSet<i64>,
    /// By question: the row that counts, and what it says.
    newest: BTreeMap<String, (i64, String)>,
}

/// A kind of statement and how it is read: own id, whether it counts, subject, what is said, item, edit, question. Of several rows that
/// count the last one is taken.
struct Kind {
    kind: ConflictKind,
    table: &'static str,
    query: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind {
        kind: ConflictKind::Rating,
        table: "ratings",
        // Every rating is known to its project; what counts is said by criterion.
        query: "SELECT ratings.id, 0, 'edit ''' || key || ''', rater ' || rater, '', item_id, edit_id, ''
                FROM ratings JOIN edits ON edits.id = edit_id
                UNION ALL
                SELECT rating_id, 1, 'edit ''' || key || ''', rater ' || rater,
                    criterion || ' ' || coalesce(CAST(value AS TEXT), 'taken back'), item_id, edit_id, criterion || ' ' || scale
                FROM answers JOIN edits ON edits.id = edit_id WHERE criterion <> ''",
    },
    Kind {
        kind: ConflictKind::Parse,
        table: "parses",
        query: "SELECT parses.id, parses.id IS parse_id, 'item ''' || key || '''', parse, item_id, NULL, ''
                FROM parses JOIN items ON items.id = item_id ORDER BY parses.id",
    },
    Kind {
        kind: ConflictKind::Vote,
        table: "judgements",
        // Answers to rubrics are ratings. The newest by its own time counts.
        query: "WITH asked AS MATERIALIZED (
                    SELECT id AS asked_id, uid, json_extract(setup, '$.name') AS name FROM rating_sessions
                    WHERE json_extract(setup, '$.protocol.protocol') <> 'rubric')
                SELECT judgements.id,
                    row_number() OVER (PARTITION BY session_id, rater, task ORDER BY at_millis DESC, judgements.id DESC) = 1,
                    'session ''' || name || ''' (' || uid || '), task ''' || task || ''', rater ' || rater,
                    trim(answer, '\"') || ' of ' || (SELECT group_concat(key, ', ') FROM (
                        SELECT key FROM judgement_edits JOIN edits ON edits.id = edit_id WHERE judgement_id = judgements.id ORDER BY place)),
                    item_id, NULL, ''
                FROM judgements JOIN asked ON asked_id = session_id WHERE answer NOT IN ('\"skipped\"', '\"unblinded\"')
                ORDER BY judgements.id",
    },
    Kind {
        kind: ConflictKind::Vote,
        table: "votes",
        query: "SELECT votes.id,
                    recorded_millis = max(recorded_millis) OVER (PARTITION BY min(f.id, s.id), max(f.id, s.id), rater, criterion),
                    'edits ''' || min(f.key, s.key) || ''' and ''' || max(f.key, s.key) || ''', ' || criterion || ', rater ' || rater,
                    CASE preference WHEN 'first' THEN f.key || ' is better' WHEN 'second' THEN s.key || ' is better' ELSE preference END,
                    f.item_id, NULL, ''
                FROM votes JOIN edits f ON f.id = first_id JOIN edits s ON s.id = second_id ORDER BY votes.id",
    },
];

/// Adds the conflicts of ratings, parses and votes.
pub fn find(inputs: &[Input], maps: &Maps, conflicts: &mut Vec<Conflict>) -> Result<(), Fault> {
    for kind in KINDS {
        let mut by_subject: BTreeMap<Subject, Vec<(usize, Side)>> = BTreeMap::new();
        for (input, opened) in inputs.iter().enumerate() {
            let mut sides: HashMap<Subject, Side> = HashMap::new();
            for statement in statements(opened, &kind, &maps[input])? {
                let side = sides.entry(statement.about).or_default();
                side.history.insert(statement.row);
                if statement.counts {
                    side.newest.insert(statement.question, (statement.row, statement.says));
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
            let says: Option<String> = row.get(3)?;
            Ok(Statement { row: own, counts: row.get(1)?, about, says: says.unwrap_or_default(), question: row.get(6)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    };
    input.project.read(MERGING, read).map_err(|error| said(&error))
}

fn conflict(inputs: &[Input], kind: ConflictKind, about: &str, sides: &[(usize, Side)]) -> Option<Conflict> {
    let apart = |a: &Side, b: &Side, question: &String| {
        let (Some((row_a, says_a)), Some((row_b, says_b))) = (a.newest.get(question), b.newest.get(question)) else { return false };
        // An input that has the other's word in its history has merely gone on from there.
        says_a != says_b && !b.history.contains(row_a) && !a.history.contains(row_b)
    };
    let questions: BTreeSet<&String> = sides.iter().flat_map(|(_, side)| side.newest.keys()).collect();
    let differing: Vec<&String> = questions
        .into_iter()
        .filter(|question| sides.iter().enumerate().any(|(at, a)| sides[at + 1..].iter().any(|b| apart(&a.1, &b.1, question))))
        .collect();
    if differing.is_empty() {
        return None;
    }
    let said_by = |(input, side): &(usize, Side)| {
        let says: Vec<String> = differing.iter().filter_map(|question| Some(shortened(&side.newest.get(*question)?.1))).collect();
        (!says.is_empty()).then(|| format!("{} says {}", inputs[*input].name, says.join(" and ")))
    };
    let mut words: Vec<String> = sides.iter().filter_map(said_by).collect();
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
