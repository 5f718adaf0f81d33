//! Ratings and votes out of tables, for a project that has the edits: `import TABLE -o PROJECT --ratings`, with `--ratings-format` and
//! `--columns` as `agree` takes them.

use crate::datasets::opinions::read_opinions;
use crate::engine::opinions;

use super::Finish;
use super::args::Import;
use super::progress::told;

/// Adds the ratings and votes and lists what could not be taken.
pub(super) fn import(import: &Import) -> anyhow::Result<Finish> {
    let found = read_opinions(&import.data, import.ratings_format, import.columns.as_ref())?;
    let taken = opinions::import_telling(&found, &import.output, &told("edits with ratings"))?;
    tell!("note: read as {}: {}", found.format, found.read_as);
    for note in &taken.notes {
        tell!("problem: {note}");
    }
    let counts = [(taken.ratings, found.ratings.len(), "ratings"), (taken.votes, found.votes.len(), "votes")];
    let counts: Vec<String> =
        counts.into_iter().filter(|(_, read, _)| *read > 0).map(|(added, read, what)| format!("{added} of {read} {what}")).collect();
    out!("{}: {} are new", import.output.display(), counts.join(" and "));
    Ok(if taken.notes.is_empty() { Finish::Done } else { Finish::SomeFailed })
}
