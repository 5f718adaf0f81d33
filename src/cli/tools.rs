//! The small commands: open, import, lint, parse.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use serde_json::json;

use crate::datasets::opinions::{OpinionFormat, holds_opinions};
use crate::datasets::{self, Depth, ReadError, read_rater_rows};
use crate::engine::{ModelSource, files, parse_instruction};
use crate::storage::Project;

use super::args::{Import, Lint, Open, Parse};
use super::progress::told;
use super::{Finish, WindowRequest};

/// Checks that the project can be opened, before a window flashes up and vanishes.
pub fn open(open: Open) -> anyhow::Result<WindowRequest> {
    if !open.project.is_file() {
        bail!("{}: there is no such project file; `editscope import DATA -o {}` makes one", open.project.display(), open.project.display());
    }
    if !Project::is_project(&open.project) {
        // Says what it is instead.
        Project::open_read_only(&open.project)?;
    }
    Ok(WindowRequest {
        project: Some(open.project),
        device: open.device.preference(),
        models: open.models.as_deref().map(ModelSource::from_argument),
        score: false,
    })
}

fn format(name: Option<&str>) -> anyhow::Result<Option<datasets::Format>> {
    name.map(|name| name.parse::<datasets::Format>().map_err(|e| anyhow::anyhow!("--format: {e}"))).transpose()
}

/// Reads a data set into a project and lists what could not be read.
pub fn import(import: &Import) -> anyhow::Result<Finish> {
    let own = import.ratings_format == Some(OpinionFormat::RaterFile) && import.columns.is_none();
    if import.columns.is_some() || (import.ratings_format.is_some() && !own) {
        return super::rating_table::import(import);
    }
    if import.ratings || own {
        return match read_rater_rows(&import.data) {
            Ok(file) => super::ratings::import(&import.data, file, &import.output),
            // What others call ratings.
            Err(ReadError::NoRaterRows { .. }) if !own && holds_opinions(&import.data) => super::rating_table::import(import),
            Err(error) => Err(error.into()),
        };
    }
    let done = files::import_telling(&import.data, &import.output, format(import.format.as_deref())?, &told("items"))?;
    for problem in &done.problems {
        tell!("problem: {problem}");
    }
    out!("{}", done.summary);
    Ok(if done.problems.is_empty() { Finish::Done } else { Finish::SomeFailed })
}

/// Checks a data set; one line a finding.
pub fn lint(lint: &Lint) -> anyhow::Result<Finish> {
    let dataset = files::read(&lint.data, format(lint.format.as_deref())?)?;
    let depth = if lint.quick { Depth::Headers } else { Depth::Pixels };
    let bar = std::io::stderr().is_terminal().then(ProgressBar::no_length);
    let findings = datasets::lint(&dataset, depth, &|done, total| {
        if let Some(bar) = &bar {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
    });
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    for finding in &findings {
        if lint.json {
            out_json!("{}", json!({"error": finding.error, "place": finding.place, "reason": finding.reason}));
        } else {
            out!("{}: {}: {}", if finding.error { "error" } else { "warning" }, finding.place, finding.reason);
        }
    }
    if !lint.json {
        let looked = if lint.quick { "; of the pictures only the headers were read" } else { "" };
        let (items, edits) = (dataset.items.len(), dataset.edit_count());
        out!("{}: {} findings in {items} items with {edits} edits{looked}", lint.data.display(), findings.len());
    }
    Ok(if findings.is_empty() { Finish::Done } else { Finish::SomeFailed })
}

/// Prints the seven fields of each instruction as one JSON object a line.
pub fn parse(parse: &Parse) -> anyhow::Result<Finish> {
    let mut out = std::io::stdout().lock();
    let mut print = |parse: &crate::domain::Parse| -> anyhow::Result<()> {
        let line = serde_json::to_string(parse)?;
        writeln!(out, "{line}").context("standard output")
    };
    let mut all_text = true;
    match &parse.instruction {
        Some(instruction) => print(&parse_instruction(instruction))?,
        None => {
            // Read as bytes: a line that is not UTF-8 must not end the others.
            for (index, line) in std::io::stdin().lock().split(b'\n').enumerate() {
                let line = line.context("standard input")?;
                let mut parsed = parse_instruction(String::from_utf8_lossy(&line).trim_end_matches('\r'));
                if let Err(error) = std::str::from_utf8(&line) {
                    let at = error.valid_up_to();
                    let why = format!("the line is no text in UTF-8: its byte {} is 0x{:02x}", at + 1, line[at]);
                    tell!("problem: standard input:{}: {why}; read without what is no text", index + 1);
                    all_text = false;
                    parsed.doubtful = Some(parsed.doubtful.map_or_else(|| why.clone(), |doubt| format!("{why}; {doubt}")));
                }
                print(&parsed)?;
            }
        }
    }
    Ok(if all_text { Finish::Done } else { Finish::SomeFailed })
}
