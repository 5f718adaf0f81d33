//! `import TABLE -o PROJECT --columns …`: ratings from a table with any columns, for a project that has the edits.

use crate::datasets::opinions::{ColumnMap, read_opinions};
use crate::engine::opinions;

use super::Finish;
use super::args::Import;

/// Adds the ratings and lists what could not be taken.
pub(super) fn import(import: &Import, columns: &ColumnMap) -> anyhow::Result<Finish> {
    let found = read_opinions(&import.data, None, Some(columns))?;
    let (added, notes) = opinions::import(&found, &import.output)?;
    for note in &notes {
        eprintln!("problem: {note}");
    }
    out!("{}: {added} of {} ratings are new ({})", import.output.display(), found.ratings.len(), found.read_as);
    Ok(if notes.is_empty() { Finish::Done } else { Finish::SomeFailed })
}
