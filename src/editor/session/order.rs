//! The tasks of a session in one rater's own order, with repeats and attention checks put in.

use std::collections::BTreeMap;

use crate::domain::{EditKey, ItemKey, ProtocolKind, REPEAT, Random, SessionSetup, TaskRole};

/// One thing to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Names the task within the session; the same for all raters, whatever their order. A repeat is `repeat:` and the key of
    /// the task that it repeats, a check begins with `check:`.
    pub key: String,
    pub item: ItemKey,
    /// The edits in the order they are shown.
    pub shown: Vec<EditKey>,
    pub role: TaskRole,
    /// Displayed position, from 1.
    pub place: u32,
}

/// A repeat comes at least this many tasks after what it repeats, as far as the session is long enough: the rater should have
/// forgotten the answer, not the rubric.
const LEAST_GAP: usize = 8;

/// The tasks of `setup` in the order of `rater`: shuffled by [`SessionSetup::rater_seed`] (Fisher and Yates), then
/// `repeat_percent` per cent of them again later, and the checks at random places. The same call gives the same order.
pub fn order(setup: &SessionSetup, rater: &str) -> Vec<Task> {
    let mut random = Random::new(setup.rater_seed(rater));
    let mut tasks = plain_tasks(setup);
    for task in &mut tasks {
        shuffle(&mut task.shown, &mut random);
    }
    shuffle(&mut tasks, &mut random);
    let repeats = repeats(&tasks, setup.repeat_percent, &mut random);
    let checks = checks(&tasks, usize::from(setup.checks), setup.protocol.kind(), &mut random);
    let mut all = insert(tasks, repeats);
    all = insert(all, checks);
    for (index, task) in all.iter_mut().enumerate() {
        task.place = index as u32 + 1;
    }
    all
}

/// How many tasks a session of `plain` tasks repeats: `percent` of them, rounded, as far as there is room behind them.
pub fn repeat_count(plain: usize, percent: u8) -> usize {
    let wanted = (plain * usize::from(percent) + 50) / 100;
    wanted.min((plain + 1).saturating_sub(gap(plain)))
}

fn gap(plain: usize) -> usize {
    LEAST_GAP.min(plain / 2).max(1)
}

fn plain_tasks(setup: &SessionSetup) -> Vec<Task> {
    let task = |key: String, item: &ItemKey, shown: Vec<EditKey>| Task { key, item: item.clone(), shown, role: TaskRole::Plain, place: 0 };
    if setup.protocol.kind() == ProtocolKind::Rubric {
        return setup.edits.iter().map(|edit| task(format!("edit:{}", edit.edit), &edit.item, vec![edit.edit.clone()])).collect();
    }
    // Keys are sorted so that a task has one name however the edits were listed.
    let mut items: BTreeMap<&ItemKey, Vec<EditKey>> = BTreeMap::new();
    setup.edits.iter().for_each(|edit| items.entry(&edit.item).or_default().push(edit.edit.clone()));
    let mut tasks = Vec::new();
    for (item, mut edits) in items {
        edits.sort();
        edits.dedup();
        if setup.protocol.kind() == ProtocolKind::Ranking {
            if edits.len() > 1 {
                tasks.push(task(format!("item:{item}"), item, edits));
            }
            continue;
        }
        for (index, first) in edits.iter().enumerate() {
            for second in &edits[index + 1..] {
                let key = format!("pair:{}", serde_json::Value::from(vec![first.0.as_str(), second.0.as_str()]));
                tasks.push(task(key, item, vec![first.clone(), second.clone()]));
            }
        }
    }
    tasks
}

/// Tasks to ask again, each with the place in the old order before which it comes.
fn repeats(tasks: &[Task], percent: u8, random: &mut Random) -> Vec<(usize, Task)> {
    let gap = gap(tasks.len());
    // What stands within the last `gap` places has no room behind it.
    let mut early: Vec<usize> = (0..(tasks.len() + 1).saturating_sub(gap)).collect();
    shuffle(&mut early, random);
    let again = early.into_iter().take(repeat_count(tasks.len(), percent)).map(|index| {
        let original = &tasks[index];
        let first_slot = index + gap;
        let slot = first_slot + random.below(tasks.len() + 1 - first_slot);
        let mut shown = original.shown.clone();
        match shown.len() {
            // A pair comes back the other way round: who always votes for the left one is seen.
            2 => shown.reverse(),
            _ => shuffle(&mut shown, random),
        }
        (slot, Task { key: format!("{REPEAT}{}", original.key), shown, role: TaskRole::Repeat, ..original.clone() })
    });
    again.collect()
}

/// Attention checks, each with the place before which it comes.
fn checks(tasks: &[Task], wanted: usize, kind: ProtocolKind, random: &mut Random) -> Vec<(usize, Task)> {
    let mut chosen: Vec<usize> = (0..tasks.len()).collect();
    shuffle(&mut chosen, random);
    let checks = chosen.into_iter().take(wanted).map(|index| {
        let original = &tasks[index];
        let mut shown = original.shown.clone();
        let role = match kind {
            ProtocolKind::Rubric => TaskRole::SourceAsEdit,
            ProtocolKind::Pairwise => {
                shown = vec![shown[0].clone(); 2];
                TaskRole::SameTwice
            }
            ProtocolKind::Ranking => {
                shown.push(shown[0].clone());
                shuffle(&mut shown, random);
                TaskRole::SameTwice
            }
        };
        // Not before the rater has seen one task that is what it seems.
        let slot = 1 + random.below(tasks.len());
        (slot, Task { key: format!("check:{}", original.key), shown, role, ..original.clone() })
    });
    checks.collect()
}

/// Puts tasks in before the given places of the old order.
fn insert(tasks: Vec<Task>, mut added: Vec<(usize, Task)>) -> Vec<Task> {
    added.sort_by_key(|(slot, _)| *slot);
    let mut added = added.into_iter().peekable();
    let mut all = Vec::with_capacity(tasks.len() + added.len());
    for (index, task) in tasks.into_iter().enumerate() {
        while let Some((_, early)) = added.next_if(|(slot, _)| *slot <= index) {
            all.push(early);
        }
        all.push(task);
    }
    all.extend(added.map(|(_, task)| task));
    all
}

fn shuffle<T>(list: &mut [T], random: &mut Random) {
    for end in (1..list.len()).rev() {
        list.swap(end, random.below(end + 1));
    }
}
