//! Journals of regions: what was done to the regions of one side in several copies of a project becomes one journal.
//!
//! An entry is known by its token, so what two copies share is one entry. Where copies went on in different ways from there, the one
//! with the newest change counts; the changes of the others are set aside in the journal, where the window shows them and brings them
//! back. A project that has another one's changes already, counting or set aside, is a decision about them that stands.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use rusqlite::{Connection, params};

use super::super::error::Fault;
use super::super::regions::{Owner, keep_short};
use super::rows::{Maps, ParseAgreement, said};
use super::{Conflict, ConflictKind, Input, MERGING};
use crate::storage::{EditId, ItemId};

/// A side of the merged project: of an item (`None`: its source) or of one of its edits.
type SideKey = (i64, Option<i64>);

/// An entry as an input has it; tokens are those of the merged project.
#[derive(Clone)]
struct Entry {
    token: i64,
    parent: i64,
    kind: String,
    target: Option<i64>,
    /// Who, what and the change.
    words: [String; 3],
    at_millis: i64,
    /// Its place in the journal of its side.
    place: usize,
}

impl Entry {
    fn counts(&self) -> bool {
        self.kind != SET_ASIDE
    }
}

const SET_ASIDE: &str = "set_aside";

/// The journals of one input by side, each in its order.
type Journals = BTreeMap<SideKey, Vec<Entry>>;

/// Whose regions of a side count.
struct Decision {
    /// The inputs that have just these.
    agreeing: BTreeSet<usize>,
}

/// Joins the journals of all inputs and lists where people went different ways. Scores are stale that are about other regions or another
/// parse than those that count now.
pub fn merge(
    inputs: &[Input],
    conn: &Connection,
    maps: &Maps,
    parses: &ParseAgreement,
    conflicts: &mut Vec<Conflict>,
) -> Result<(), Fault> {
    let names = Names::read(conn)?;
    let copies: Vec<Copied> = maps.iter().map(Copied::new).collect();
    let mut journals = Vec::with_capacity(inputs.len());
    for (opened, maps) in inputs.iter().zip(maps) {
        journals.push(read(opened, maps, &names)?);
    }
    tell_apart(&mut journals, &names);
    let sides: BTreeSet<SideKey> = journals.iter().flat_map(|journal| journal.keys().copied()).collect();
    let mut decisions: BTreeMap<SideKey, Decision> = BTreeMap::new();
    for side in sides {
        let decision = decide(inputs, &ways(&journals, &copies, side), &names.words(side), conflicts);
        write(conn, side, &journals, &decision)?;
        decisions.insert(side, decision);
    }
    let stale = Staleness { inputs, conn, maps, copies: &copies };
    names.edits.iter().try_for_each(|(edit, (item, _))| {
        stale.mark(*edit, [decisions.get(&(*item, None)), decisions.get(&(*item, Some(*edit)))], parses.get(item))
    })
}

/// Which items and edits of the merged project an input has, by their merged ids; of edits also its own ids.
struct Copied {
    items: HashSet<i64>,
    edits: HashMap<i64, Vec<i64>>,
}

impl Copied {
    fn new(maps: &HashMap<String, HashMap<i64, i64>>) -> Self {
        let of = |table: &str| maps.get(table).into_iter().flatten();
        let mut edits: HashMap<i64, Vec<i64>> = HashMap::new();
        of("edits").for_each(|(own, merged)| edits.entry(*merged).or_default().push(*own));
        Self { items: of("items").map(|(_, merged)| *merged).collect(), edits }
    }

    fn has(&self, (item, edit): SideKey) -> bool {
        edit.map_or_else(|| self.items.contains(&item), |edit| self.edits.contains_key(&edit))
    }
}

/// Merged ids of items and edits with their keys, and the item of each edit.
struct Names {
    items: HashMap<i64, String>,
    edits: HashMap<i64, (i64, String)>,
}

impl Names {
    fn read(conn: &Connection) -> Result<Self, Fault> {
        let mut query = conn.prepare("SELECT id, key FROM items")?;
        let items = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
        let mut query = conn.prepare("SELECT id, item_id, key FROM edits")?;
        let edits = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?.collect::<Result<_, _>>()?;
        Ok(Self { items, edits })
    }

    fn words(&self, (item, edit): SideKey) -> String {
        match edit.and_then(|edit| self.edits.get(&edit)) {
            Some((_, key)) => format!("edit '{key}'"),
            None => format!("the source of item '{}'", self.items.get(&item).map_or("", String::as_str)),
        }
    }
}

/// Tokens below are row ids that file version 2 was upgraded with; random ones are as good as never so small.
const FIRST_RANDOM: i64 = 1 << 32;

/// A token that follows from what it stands for, so that every merge gives the same one.
fn derived(parts: &[&[u8]]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    let mut first = [0; 8];
    hasher.finalize_xof().fill(&mut first);
    (i64::from_le_bytes(first) & i64::MAX) | FIRST_RANDOM
}

/// The journals of an input. Row ids as tokens get others, by which the same change is known in every copy.
fn read(input: &Input, maps: &HashMap<String, HashMap<i64, i64>>, names: &Names) -> Result<Journals, Fault> {
    let merged = |table: &str, id: i64| maps.get(table).and_then(|map| map.get(&id)).copied();
    let read = |conn: &Connection| -> Result<Journals, Fault> {
        let mut query = conn.prepare(
            "SELECT item_id, edit_id, token, parent, kind, target, who, what, change, at_millis FROM region_changes ORDER BY id",
        )?;
        let mut rows = query.query([])?;
        let mut journals = Journals::new();
        let mut tokens: HashMap<i64, i64> = HashMap::new();
        while let Some(row) = rows.next()? {
            let (item, edit): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
            let edit = match edit {
                Some(edit) => Some(merged("edits", edit).ok_or(Fault::NoSuch("edit", edit))?),
                None => None,
            };
            let side = (merged("items", item).ok_or(Fault::NoSuch("item", item))?, edit);
            let journal = journals.entry(side).or_default();
            let known = |token: i64| tokens.get(&token).copied().unwrap_or(token);
            let mut entry = Entry {
                token: row.get(2)?,
                parent: known(row.get(3)?),
                kind: row.get(4)?,
                target: row.get::<_, Option<i64>>(5)?.map(known),
                words: [row.get(6)?, row.get(7)?, row.get(8)?],
                at_millis: row.get(9)?,
                place: journal.len(),
            };
            if entry.token < FIRST_RANDOM {
                let old = entry.token;
                let [who, what, change] = &entry.words;
                let (parent, at) = (entry.parent.to_le_bytes(), entry.at_millis.to_le_bytes());
                let parts = [names.words(side).into_bytes(), parent.to_vec(), at.to_vec()];
                entry.token = derived(&[&parts[0], &parts[1], &parts[2], who.as_bytes(), what.as_bytes(), change.as_bytes()]);
                tokens.insert(old, entry.token);
            }
            journal.push(entry);
        }
        Ok(journals)
    };
    input.project.read(MERGING, read).map_err(|error| said(&error))
}

/// One token for two different changes (copies whose pictures became different ones): all but the first by what they are about get
/// another token.
fn tell_apart(journals: &mut [Journals], names: &Names) {
    type Meaning = (String, [String; 3], i64);
    let meaning = |side: SideKey, entry: &Entry| -> Meaning { (names.words(side), entry.words.clone(), entry.at_millis) };
    let mut first: HashMap<i64, Meaning> = HashMap::new();
    for (side, journal) in journals.iter().flatten() {
        for entry in journal {
            let own = meaning(*side, entry);
            match first.get_mut(&entry.token) {
                Some(least) if own < *least => *least = own,
                Some(_) => {}
                None => drop(first.insert(entry.token, own)),
            }
        }
    }
    for journals in journals {
        let mut tokens: HashMap<i64, i64> = HashMap::new();
        for (side, journal) in journals.iter() {
            for entry in journal {
                let own = meaning(*side, entry);
                if first.get(&entry.token).is_some_and(|least| *least != own) {
                    let (token, at) = (entry.token.to_le_bytes(), entry.at_millis.to_le_bytes());
                    let [who, what, change] = &own.1;
                    let parts = [own.0.as_bytes(), &token, &at, who.as_bytes(), what.as_bytes(), change.as_bytes()];
                    tokens.insert(entry.token, derived(&parts));
                }
            }
        }
        if tokens.is_empty() {
            continue;
        }
        let renamed = |token: i64| tokens.get(&token).copied().unwrap_or(token);
        for entry in journals.values_mut().flatten() {
            entry.token = renamed(entry.token);
            entry.parent = renamed(entry.parent);
            entry.target = entry.target.map(renamed);
        }
    }
}

/// One way that the regions of a side went, with the inputs that have it.
struct Way {
    chain: Vec<i64>,
    inputs: BTreeSet<usize>,
    /// Everything that these inputs know, counting or set aside.
    known: BTreeSet<i64>,
    /// Time and token of the newest change that counts.
    newest: (i64, i64),
    /// Who made it.
    who: String,
}

impl Way {
    /// Whether it needs no more attention beside `other`: whoever made that one knew all of this.
    fn is_settled_by(&self, other: &Self) -> bool {
        let knows = |way: &Self, chain: &[i64]| chain.iter().all(|token| way.known.contains(token));
        self.chain != other.chain && knows(other, &self.chain) && (!knows(self, &other.chain) || self.newest < other.newest)
    }
}

fn ways(journals: &[Journals], copies: &[Copied], side: SideKey) -> Vec<Way> {
    let mut ways: BTreeMap<Vec<i64>, Way> = BTreeMap::new();
    for input in (0..journals.len()).filter(|&input| copies[input].has(side)) {
        let journal = journals[input].get(&side).map(Vec::as_slice).unwrap_or_default();
        let counting = || journal.iter().filter(|entry| entry.counts());
        let chain: Vec<i64> = counting().map(|entry| entry.token).collect();
        let last = counting().next_back();
        let way = ways.entry(chain.clone()).or_insert_with(|| Way {
            chain,
            inputs: BTreeSet::new(),
            known: BTreeSet::new(),
            newest: last.map_or((i64::MIN, 0), |entry| (entry.at_millis, entry.token)),
            who: last.map_or_else(String::new, |entry| entry.words[0].clone()),
        });
        way.inputs.insert(input);
        way.known.extend(journal.iter().map(|entry| entry.token));
    }
    let mut ways: Vec<Way> = ways.into_values().collect();
    ways.sort_by_key(|way| way.newest);
    ways
}

/// Says which of the ways (sorted by their newest change) counts. `about` names the side in a conflict.
fn decide(inputs: &[Input], ways: &[Way], about: &str, conflicts: &mut Vec<Conflict>) -> Decision {
    let open: Vec<&Way> = ways.iter().filter(|way| !ways.iter().any(|other| way.is_settled_by(other))).collect();
    // Copies that each decided about the next one's changes leave none; the newest counts then too.
    let Some(winner) = open.last().copied().or(ways.last()) else { return Decision { agreeing: BTreeSet::new() } };
    if open.len() > 1 {
        let shared = |way: &Way| way.chain.iter().filter(|token| open.iter().all(|other| other.known.contains(token))).count();
        let name = |way: &Way| {
            let names: BTreeSet<&str> = way.inputs.iter().map(|&input| inputs[input].name.as_str()).collect();
            names.into_iter().collect::<Vec<_>>().join(" and ")
        };
        let mut words: Vec<String> = open
            .iter()
            .map(|way| format!("{} has {} changes of its own, the newest by {}", name(way), way.chain.len() - shared(way), way.who))
            .collect();
        words.sort();
        let kept = format!("all are kept, those of {} count, the others are set aside in the history", name(winner));
        conflicts.push(Conflict { kind: ConflictKind::Regions, what: format!("regions of {about}: {}; {kept}", words.join(", ")) });
    }
    Decision { agreeing: winner.inputs.clone() }
}

/// Writes the joined journal of a side, every entry after the one that it follows.
fn write(conn: &Connection, side: SideKey, journals: &[Journals], decision: &Decision) -> Result<(), Fault> {
    let winner = decision.agreeing.first().and_then(|&input| journals[input].get(&side)).map(Vec::as_slice).unwrap_or_default();
    let mut entries: BTreeMap<i64, Entry> = BTreeMap::new();
    for entry in journals.iter().filter_map(|journals| journals.get(&side)).flatten() {
        let known = entries.entry(entry.token).or_insert_with(|| Entry { kind: SET_ASIDE.into(), target: None, ..entry.clone() });
        known.place = known.place.min(entry.place);
    }
    for entry in winner.iter().filter(|entry| entry.counts()) {
        let place = entries.get(&entry.token).map_or(entry.place, |known| known.place);
        entries.insert(entry.token, Entry { place, ..entry.clone() });
    }
    let mut insert = conn.prepare_cached(
        "INSERT INTO region_changes (item_id, edit_id, token, parent, kind, target, who, what, at_millis, change)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    let mut newest = None;
    for token in in_order(&entries) {
        let Some(entry) = entries.get(&token) else { continue };
        let [who, what, change] = &entry.words;
        let (item, edit) = side;
        insert.execute(params![item, edit, token, entry.parent, entry.kind, entry.target, who, what, entry.at_millis, change])?;
        if entry.counts() {
            newest = Some(conn.last_insert_rowid());
        }
    }
    newest.map_or(Ok(()), |newest| keep_short(conn, Owner::of_row(ItemId(side.0), side.1.map(EditId)), newest))
}

/// Tokens by time, but none before the one that it follows.
fn in_order(entries: &BTreeMap<i64, Entry>) -> Vec<i64> {
    let mut after: HashMap<i64, Vec<&Entry>> = HashMap::new();
    let mut ready = BinaryHeap::new();
    let key = |entry: &Entry| Reverse((entry.at_millis, entry.place, entry.token));
    for entry in entries.values() {
        if entries.contains_key(&entry.parent) {
            after.entry(entry.parent).or_default().push(entry);
        } else {
            ready.push(key(entry));
        }
    }
    let mut order = Vec::with_capacity(entries.len());
    while let Some(Reverse((_, _, token))) = ready.pop() {
        order.push(token);
        ready.extend(after.remove(&token).into_iter().flatten().map(key));
    }
    order
}

/// Says which scores are still about the regions and the parse that count.
struct Staleness<'a> {
    inputs: &'a [Input],
    conn: &'a Connection,
    maps: &'a Maps,
    copies: &'a [Copied],
}

impl Staleness<'_> {
    /// Marks the scores of an edit, unless all inputs agree about its regions and the parse of its item: fresh is only what comes from an
    /// input whose regions count on both sides and whose parse counts. `decided`: those about its source and about itself; `parsed`: the
    /// inputs whose parse counts, `None` when no input has one.
    fn mark(&self, edit: i64, decided: [Option<&Decision>; 2], parsed: Option<&HashSet<usize>>) -> Result<(), Fault> {
        let own = |input: usize| self.copies[input].edits.get(&edit).map(Vec::as_slice).unwrap_or_default();
        let agrees = |input: usize| {
            decided.iter().flatten().all(|decision| decision.agreeing.contains(&input))
                && parsed.is_none_or(|parsed| parsed.contains(&input))
        };
        let (agreeing, others): (Vec<usize>, Vec<usize>) =
            (0..self.inputs.len()).filter(|&input| !own(input).is_empty()).partition(|&input| agrees(input));
        if others.is_empty() {
            return Ok(());
        }
        self.conn.prepare_cached("UPDATE scores SET stale = 1 WHERE edit_id = ?1")?.execute([edit])?;
        for input in agreeing {
            let merged = self.maps[input].get("scores");
            for own in own(input) {
                for (score, at_millis) in fresh_scores(&self.inputs[input], *own)? {
                    let Some(merged) = merged.and_then(|scores| scores.get(&score)) else { continue };
                    // Of two copies of a score one was taken over; only that one says how it is.
                    self.conn
                        .prepare_cached("UPDATE scores SET stale = 0 WHERE id = ?1 AND at_millis = ?2")?
                        .execute(params![merged, at_millis])?;
                }
            }
        }
        Ok(())
    }
}

fn fresh_scores(input: &Input, edit: i64) -> Result<Vec<(i64, i64)>, Fault> {
    let read = |conn: &Connection| -> Result<Vec<(i64, i64)>, Fault> {
        let mut query = conn.prepare_cached("SELECT id, at_millis FROM scores WHERE edit_id = ?1 AND stale = 0")?;
        Ok(query.query_map([edit], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    };
    input.project.read(MERGING, read).map_err(|error| said(&error))
}
