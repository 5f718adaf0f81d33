//! Metrics that somebody else computed: numbers that came with the edits of a project (unknown keys of its data set).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Gathered, METRICS, is_distance};
use crate::datasets::opinions::{may_be_quality, number_of};
use crate::datasets::{Problem, is_missing_word};
use crate::domain::is_answer;
use crate::storage::StoredEdit;

impl Gathered {
    /// Adds the numbers that came with `edits`, which are the subjects from the first on. A key whose name another metric has is called
    /// `NAME (imported)`; text counts where most of a key's texts are numbers, and the others are listed.
    pub(super) fn add_imported(&mut self, edits: &[StoredEdit]) {
        let mut keys: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (key, value) in edits.iter().flat_map(|edit| &edit.extra) {
            if let Some(number) = number_in(value) {
                let (numbers, filled) = keys.entry(key).or_default();
                // "NaN" and "n/a" say nothing about the others; they are listed below.
                *filled += usize::from(number.is_some() || !value.as_str().is_some_and(is_missing_word));
                *numbers += usize::from(number.is_some());
            }
        }
        let wanted = |key: &str, (numbers, filled): (usize, usize)| numbers * 2 > filled && may_be_quality(key);
        let keys: Vec<&str> = keys.into_iter().filter(|(key, counts)| wanted(key, *counts)).map(|(key, _)| key).collect();
        let own: BTreeSet<String> = self.evidence.subjects.iter().flat_map(|subject| subject.metrics.keys().cloned()).collect();
        let is_taken = |key: &str| own.contains(key) || METRICS.contains(&key);
        let name_of = |key: &str| if is_taken(key) { format!("{key} (imported)") } else { key.to_owned() };
        for key in &keys {
            let name = name_of(key);
            let mut odd: Vec<&StoredEdit> = Vec::new();
            for (edit, subject) in edits.iter().zip(&mut self.evidence.subjects) {
                match edit.extra.get(*key).and_then(number_in) {
                    Some(Some(value)) => drop(subject.metrics.insert(name.clone(), value)),
                    Some(None) => odd.push(edit),
                    None => {}
                }
            }
            if let Some(first) = odd.first() {
                let reason =
                    format!("{} edits have '{key}' that is no number within ±1e15, first '{}'; read as missing", odd.len(), first.key);
                self.problems.push(Problem { place: "imported metrics".into(), reason });
            }
        }
        let names: Vec<String> = keys.iter().map(|key| name_of(key)).collect();
        if names.is_empty() {
            return;
        }
        let unsure: Vec<&str> = names.iter().map(String::as_str).filter(|name| !is_distance(name)).collect();
        let higher = match unsure[..] {
            [] => String::new(),
            _ => format!("; higher is taken for better in {} (--lower-is-better says otherwise)", unsure.join(", ")),
        };
        self.remarks.push(format!("numbers that came with the edits are compared as metrics: {}{higher}", names.join(", ")));
    }
}

/// The number in a value; `Some(None)` for a filled one that is none, `None` for one that is empty or no plain value.
fn number_in(value: &Value) -> Option<Option<f64>> {
    match value {
        Value::Number(number) => Some(number.as_f64().filter(|value| is_answer(*value))),
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(number_of(text)),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
