//! `merge`: the projects of several raters become one.

use crate::storage::{self, Counts, MergeReport, Project};

use super::Finish;
use super::args::Merge;

/// Merges, says what came of it, and lists every conflict.
pub fn run(merge: &Merge) -> anyhow::Result<Finish> {
    let report = storage::merge(&merge.projects, &merge.output)?;
    if merge.json {
        out_json!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report, merge, &Project::open_read_only(&merge.output)?.raters_alike()?);
    }
    Ok(if report.conflicts.is_empty() { Finish::Done } else { Finish::SomeFailed })
}

fn print(report: &MergeReport, merge: &Merge, alike: &[String]) {
    let words = |counts: &Counts| {
        format!(
            "{} items, {} edits, {} ratings, {} answers in {} sessions, {} votes from tables, {} parses, {} changes of regions, {} runs",
            counts.items,
            counts.edits,
            counts.ratings,
            counts.judgements,
            counts.sessions,
            counts.votes,
            counts.parses,
            counts.region_changes,
            counts.runs
        )
    };
    for input in &report.inputs {
        out!("{}: {}", input.path.display(), words(&input.counts));
    }
    for question in alike {
        out!("note: {question}");
    }
    for conflict in &report.conflicts {
        out!("conflict: {}: {}", conflict.kind.label(), conflict.what);
    }
    out!("{}: {}; {} conflicts", merge.output.display(), words(&report.merged), report.conflicts.len());
}
