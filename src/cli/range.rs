//! `range`: saved normalisations of modify and preserve. A range never changes stored parts; it is applied when scores are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};

use crate::domain::{Profile, Range};
use crate::engine::results::{self, Chosen};
use crate::export::write_file;
use crate::storage::{Project, StoredEdit};

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
        /// Only on the edits of these models
        #[arg(long, value_delimiter = ',', value_name = "MODEL,…")]
        model: Vec<String>,
        /// Only on the edits of these items
        #[arg(long, value_delimiter = ',', value_name = "ITEM,…")]
        item: Vec<String>,
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
        RangeCommand::Fit { project, name, profile, model, item, replace } => {
            let project = Project::open(project)?;
            refuse_known(&project, name, *profile, *replace)?;
            let range = results::fit_and_save(&project, name, *profile, chosen(&project, model, item)?.as_ref())?;
            out!("{}", words(&range));
            warn(&range);
        }
        RangeCommand::Export { project, name, profile, output } => {
            let project = Project::open_read_only(project)?;
            super::export::refuse_lost(&project, output)?;
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
            warn(&range);
        }
    }
    Ok(Finish::Done)
}

/// The edits of some models and items; `None` when neither is named.
fn chosen(project: &Project, models: &[String], items: &[String]) -> anyhow::Result<Option<Chosen>> {
    if models.is_empty() && items.is_empty() {
        return Ok(None);
    }
    let keys: BTreeMap<_, _> = project.items()?.into_iter().map(|item| (item.id, item.key.0)).collect();
    let all = project.edits()?;
    let item_of = |edit: &StoredEdit| keys.get(&edit.item).cloned().unwrap_or_default();
    if let Some(unknown) = models.iter().find(|model| !all.iter().any(|edit| edit.model == **model)) {
        bail!("--model: the project has no edit of model '{unknown}'");
    }
    if let Some(unknown) = items.iter().find(|item| !all.iter().any(|edit| item_of(edit) == **item)) {
        bail!("--item: the project has no item '{unknown}'");
    }
    let wanted =
        |edit: &&StoredEdit| (models.is_empty() || models.contains(&edit.model)) && (items.is_empty() || items.contains(&item_of(edit)));
    let edits = all.iter().filter(wanted).map(|edit| edit.id).collect();
    let part = |name: &str, of: &[String]| (!of.is_empty()).then(|| format!("{name} {}", of.join(", ")));
    let which = part("model", models).into_iter().chain(part("item", items)).collect::<Vec<_>>().join("; ");
    Ok(Some(Chosen { edits, which }))
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
    let text = text.trim_start_matches('\u{feff}');
    Range::from_json(text).map_err(|why| anyhow::anyhow!("{} is no range that `range export` wrote: {why}", path.display()))
}

/// The range in the file that `--range FILE.json` names, of a profile; `None` when `name` is no such file.
///
/// # Errors
/// When the file is no range, or one of another profile.
pub fn from_named_file(name: &str, profile: Profile) -> anyhow::Result<Option<Range>> {
    let path = Path::new(name);
    if !name.ends_with(".json") || !path.is_file() {
        return Ok(None);
    }
    let range = from_file(path).context("--range")?;
    if range.profile != profile {
        bail!("--range: '{name}' was fitted on profile {}, the scores are of {profile}", range.profile);
    }
    Ok(Some(range))
}

fn list(project: &Project, json: bool) -> anyhow::Result<()> {
    let ranges = project.ranges(None)?;
    for range in &ranges {
        if json {
            out_json!("{}", serde_json::to_string(range)?);
        } else {
            out!("{}", words(range));
        }
    }
    if ranges.is_empty() && !json {
        out!("no range is saved; `editscope range fit {} --name NAME` saves one", project.path().display());
    }
    Ok(())
}

/// Says which parts have no value under a range.
pub fn warn(range: &Range) {
    for warning in range.warnings() {
        eprintln!("warning: {warning}");
    }
}

/// A range in one line.
fn words(range: &Range) -> String {
    format!("{} ({}): {}", range.name, range.profile, range.bounds_words())
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
