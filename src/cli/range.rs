//! `range`: saved normalisations of modify and preserve. A range never changes stored parts; it is applied when scores are read.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};

use crate::domain::{Bounds, Profile, Range, json};
use crate::engine::results;
use crate::export::write_file;
use crate::storage::Project;

use super::Finish;

#[derive(Debug, Args)]
pub struct RangeArgs {
    #[command(subcommand)]
    pub command: RangeCommand,
}

#[derive(Debug, Subcommand)]
pub enum RangeCommand {
    /// List the ranges of a project
    List {
        /// The project file
        project: PathBuf,
        /// Print one JSON object a range
        #[arg(long)]
        json: bool,
    },
    /// Fit a range on the scores of a project and save it
    Fit {
        /// The project file
        project: PathBuf,
        /// What to call it
        #[arg(long, value_name = "NAME")]
        name: String,
        /// Whose scores to fit on
        #[arg(long, default_value = "corrected", value_name = "PROFILE")]
        profile: Profile,
        /// Save even if there is one of that name
        #[arg(long)]
        replace: bool,
    },
    /// Write a range to a JSON file, for `score --range FILE.json` or another project
    Export {
        /// The project file
        project: PathBuf,
        /// Its name
        name: String,
        /// Of which profile
        #[arg(long, default_value = "corrected", value_name = "PROFILE")]
        profile: Profile,
        /// The file to write
        #[arg(short, long, value_name = "FILE.json")]
        output: PathBuf,
    },
    /// Take a range from a JSON file into a project
    Import {
        /// The project file
        project: PathBuf,
        /// The file that `range export` wrote
        file: PathBuf,
        /// Another name for it
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Save even if there is one of that name
        #[arg(long)]
        replace: bool,
    },
}

/// Lists, fits, writes or takes a range.
pub fn run(range: &RangeArgs) -> anyhow::Result<Finish> {
    match &range.command {
        RangeCommand::List { project, json } => list(&Project::open_read_only(project)?, *json)?,
        RangeCommand::Fit { project, name, profile, replace } => {
            let project = Project::open(project)?;
            refuse_known(&project, name, *profile, *replace)?;
            let range = results::fit_and_save(&project, name, *profile)?;
            out!("{}", words(&range));
        }
        RangeCommand::Export { project, name, profile, output } => {
            let project = Project::open_read_only(project)?;
            let range = project.range(name, *profile)?.with_context(|| unknown(&project, name, *profile))?;
            let text = serde_json::to_string_pretty(&range)?;
            write_file(output, |file| writeln!(file, "{text}").map_err(|error| error.to_string()))?;
            out!("{}: {}", output.display(), words(&range));
        }
        RangeCommand::Import { project, file, name, replace } => {
            let mut range = from_file(file)?;
            if let Some(name) = name {
                range.name.clone_from(name);
            }
            let project = Project::open(project)?;
            // The very same again is no other range.
            let replace = *replace || project.range(&range.name, range.profile)?.as_ref() == Some(&range);
            refuse_known(&project, &range.name, range.profile, replace)?;
            project.save_range(&range)?;
            out!("{}", words(&range));
        }
    }
    Ok(Finish::Done)
}

/// A known name is taken again only when that is asked for.
pub fn refuse_known(project: &Project, name: &str, profile: Profile, replace: bool) -> anyhow::Result<()> {
    if replace {
        return Ok(());
    }
    project.refuse_known_range(name, profile).map_err(|error| anyhow::anyhow!("{error}, or add --replace"))
}

/// Reads the file that `range export` wrote.
///
/// # Errors
/// When it cannot be read, is no range, or has bounds that are none.
pub fn from_file(path: &Path) -> anyhow::Result<Range> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let range: Range = json::from_text(&text).with_context(|| format!("{} is no range that `range export` wrote", path.display()))?;
    for (part, bounds) in [("modify", range.modify), ("preserve", range.preserve)] {
        if bounds.is_some_and(|bounds| bounds.min > bounds.max) {
            bail!("{}: the bounds of {part} are the wrong way round", path.display());
        }
    }
    Ok(range)
}

fn list(project: &Project, json: bool) -> anyhow::Result<()> {
    let ranges = project.ranges(None)?;
    for range in &ranges {
        if json {
            out!("{}", serde_json::to_string(range)?);
        } else {
            out!("{}", words(range));
        }
    }
    if ranges.is_empty() && !json {
        out!("no range is saved; `editscope range fit {} --name NAME` saves one", project.path().display());
    }
    Ok(())
}

/// A range in one line.
fn words(range: &Range) -> String {
    let ends = |bounds: Option<Bounds>| bounds.map_or_else(|| "none".to_owned(), |b| format!("{:.4} to {:.4}", b.min, b.max));
    format!(
        "{} ({}): modify {}, preserve {}; fitted on {}",
        range.name,
        range.profile,
        ends(range.modify),
        ends(range.preserve),
        range.fitted_on
    )
}

/// What to say about a range that is not there.
pub fn unknown(project: &Project, name: &str, profile: Profile) -> String {
    let known: Vec<String> = project.ranges(Some(profile)).unwrap_or_default().into_iter().map(|range| range.name).collect();
    let known = if known.is_empty() {
        "none is saved yet; `editscope range fit` saves one".to_owned()
    } else {
        format!("saved are: {}", known.join(", "))
    };
    format!("the project has no range '{name}' of profile {profile} ({known})")
}
