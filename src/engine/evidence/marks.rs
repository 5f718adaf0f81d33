//! Which edits are known to be good, from a table.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::datasets::{Problem, Sheet};
use crate::stats::comparison::{Evidence, GOOD};

/// Reads a table with the columns `item`, `model` and `role` (or `kind`, `mark`, `label`).
///
/// # Errors
/// When it cannot be read, lacks a column, or calls no edit good.
pub(super) fn add(path: &Path, evidence: &mut Evidence, problems: &mut Vec<Problem>) -> anyhow::Result<()> {
    let sheet = Sheet::read(path).context("ground truth")?;
    let Some(role) = ["role", "kind", "mark", "label"].into_iter().find(|name| sheet.has(&[name])) else {
        bail!("ground truth: {} has no column role, kind, mark or label; it has: {}", path.display(), sheet.header.join(", "));
    };
    problems.extend(sheet.problems.iter().cloned());
    for row in &sheet.rows {
        // Rows about sources name no model; they say nothing about an edit.
        if let (Some(item), Some(model), Some(kind)) = (row.word("item"), row.word("model"), row.word(role)) {
            evidence.marks.insert((item, model), kind);
        }
    }
    if !evidence.marks.values().any(|kind| kind == GOOD) {
        bail!("ground truth: {}: no row with item and model has the {role} '{GOOD}'", path.display());
    }
    Ok(())
}
