//! Which edits are known to be good, from a table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::datasets::{Problem, Sheet};
use crate::stats::comparison::{Evidence, GOOD};
use crate::stats::people::EditName;

/// Reads a table with the columns `item`, `model` and `role` (or `kind`, `mark`, `label`). Rows about edits that nothing else names, rows
/// without a role, and edits with two of them are listed; which roles count as worse is said.
///
/// # Errors
/// When it cannot be read, lacks a column, or calls no edit good.
pub(super) fn add(path: &Path, evidence: &mut Evidence, problems: &mut Vec<Problem>, remarks: &mut Vec<String>) -> anyhow::Result<()> {
    let sheet = Sheet::read(path).context("ground truth")?;
    let Some(role) = ["role", "kind", "mark", "label"].into_iter().find(|name| sheet.has(&[name])) else {
        bail!("ground truth: {} has no column role, kind, mark or label; it has: {}", path.display(), sheet.header.join(", "));
    };
    problems.extend(sheet.problems.iter().cloned());
    let mut marks: BTreeMap<EditName, (String, &str)> = BTreeMap::new();
    let mut torn: BTreeSet<EditName> = BTreeSet::new();
    for row in &sheet.rows {
        // Rows about sources name no model; they say nothing about an edit.
        let (Some(item), Some(model)) = (row.word("item"), row.word("model")) else { continue };
        let Some(kind) = row.word(role) else {
            problems.push(Problem { place: row.place.clone(), reason: format!("no {role} is given for '{model}' of '{item}'; left out") });
            continue;
        };
        let name = (item, model);
        match marks.get(&name).filter(|(known, _)| *known != kind) {
            Some((known, place)) => {
                let (item, model) = &name;
                let reason = format!("'{model}' of '{item}' is '{kind}' here and '{known}' at {place}; neither counts");
                problems.push(Problem { place: row.place.clone(), reason });
                torn.insert(name);
            }
            None => drop(marks.insert(name, (kind, &row.place))),
        }
    }
    marks.retain(|name, _| !torn.contains(name));
    say_unknown(&marks, evidence, problems);
    remarks.extend(roles_words(&marks));
    evidence.marks.extend(marks.into_iter().map(|(name, (kind, _))| (name, kind)));
    if !evidence.marks.values().any(|kind| kind == GOOD) {
        bail!("ground truth: {}: no row with item and model has the {role} '{GOOD}'", path.display());
    }
    Ok(())
}

/// Marks of edits that nothing else names: one problem with their count.
fn say_unknown(marks: &BTreeMap<EditName, (String, &str)>, evidence: &Evidence, problems: &mut Vec<Problem>) {
    let known: BTreeSet<(&str, &str)> = evidence.subjects.iter().map(|subject| (subject.item.as_str(), subject.model.as_str())).collect();
    let strangers: Vec<_> = marks.iter().filter(|((item, model), _)| !known.contains(&(item.as_str(), model.as_str()))).collect();
    if let Some((((item, model), (_, place)), count)) = strangers.first().map(|first| (*first, strangers.len())) {
        let reason = format!("ground truth: {count} rows are about edits that have no scores here, first '{model}' of '{item}'; left out");
        problems.push(Problem { place: (*place).to_owned(), reason });
    }
}

/// Which roles count as worse than good, so that a misspelled one is seen.
fn roles_words(marks: &BTreeMap<EditName, (String, &str)>) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (kind, _) in marks.values().filter(|(kind, _)| kind != GOOD) {
        *counts.entry(kind).or_default() += 1;
    }
    let words: Vec<String> = counts.into_iter().map(|(kind, count)| format!("{kind} ({count})")).collect();
    (!words.is_empty()).then(|| format!("ground truth: worse than '{GOOD}' are edits with the roles {}", words.join(", ")))
}
