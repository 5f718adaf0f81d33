//! `editscope models`: which published checkpoints there are, fetching them, and checking them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::models::{self, FetchProgress, ListedNetwork};

use super::Finish;
use super::args::{Models, ModelsCommand};

/// Runs a subcommand of `models`.
///
/// # Errors
/// When nothing could be done.
pub fn run(command: &Models) -> anyhow::Result<Finish> {
    match &command.command {
        ModelsCommand::List { json } => list(*json),
        ModelsCommand::Fetch { names, dir } => fetch(names, dir.clone()),
        ModelsCommand::Verify { names, dir, json } => verify(names, dir.clone(), *json),
    }
}

fn list(json: bool) -> anyhow::Result<Finish> {
    let listed = models::list()?;
    if json {
        for network in &listed {
            out_json!("{}", serde_json::to_string(network)?);
        }
        return Ok(Finish::Done);
    }
    out!("{:<24} {:<15} {:<12} {:>9}  {:<16} licence", "network", "role", "sets", "size", "state");
    for network in &listed {
        let sets = network.sets.join(",");
        let state = state_of(network);
        out!("{:<24} {:<15} {:<12} {:>9}  {:<16} {}", network.name, network.role, sets, size_of(network), state, network.licence);
    }
    out!("");
    out!("Networks are kept in {} (EDITSCOPE_MODELS moves it).", models::root()?.display());
    out!(
        "`editscope models fetch SET` fetches a set or a network, then `--models SET` uses it. `--models DIR` takes a folder with clip, sam and"
    );
    out!(
        "grounding-dino. `--json` adds addresses, commits, files and sums. The demo checkpoints (`--models demo`) are inside the program."
    );
    Ok(Finish::Done)
}

/// The known size; files of unknown size make it a lower bound.
fn size_of(network: &ListedNetwork) -> String {
    let megabytes = network.bytes as f64 / 1e6;
    match network.bytes {
        0 => "unknown".to_owned(),
        _ if megabytes < 1000.0 => format!("{megabytes:.0} MB"),
        _ => format!("{:.2} GB", megabytes / 1e3),
    }
}

fn state_of(network: &ListedNetwork) -> String {
    let place = &network.place;
    match (place.problems.is_empty(), place.in_hub_cache, place.partial_bytes) {
        (true, true, _) => "in the hub cache".to_owned(),
        (true, false, _) => "here".to_owned(),
        (false, _, 0) if holds_something(&place.folder) => "incomplete".to_owned(),
        (false, _, 0) => "not fetched".to_owned(),
        (false, _, bytes) => format!("part ({:.0} MB)", bytes as f64 / 1e6),
    }
}

fn fetch(names: &[String], dir: Option<PathBuf>) -> anyhow::Result<Finish> {
    let root = dir.map_or_else(models::root, Ok)?;
    let bar = bar();
    let report = models::fetch(names, &root, &mut |progress| {
        show(&bar, &progress);
        true
    });
    bar.finish_and_clear();
    let report = report?;
    for line in &report.done {
        out!("{line}");
    }
    if report.done.is_empty() && !report.failed.is_empty() {
        bail!("{}", report.failed.join("\n"));
    }
    for line in &report.failed {
        tell!("failed: {line}");
    }
    Ok(if report.failed.is_empty() { Finish::Done } else { Finish::SomeFailed })
}

/// Whether there is anything in a folder.
fn holds_something(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

fn verify(names: &[String], dir: Option<PathBuf>, json: bool) -> anyhow::Result<Finish> {
    let root = dir.clone().map_or_else(models::root, Ok)?;
    let here = || -> anyhow::Result<Vec<String>> {
        let known = |network: ListedNetwork| {
            let folder = if dir.is_some() { root.join(&network.name) } else { network.place.folder };
            holds_something(&folder).then_some(network.name)
        };
        Ok(models::list()?.into_iter().filter_map(known).collect())
    };
    let names = if names.is_empty() { here()? } else { names.to_vec() };
    if names.is_empty() {
        out!("No published network is in {}; `editscope models fetch SET` fetches one.", root.display());
        return Ok(Finish::Done);
    }
    let mut bad = false;
    for name in &names {
        let bar = bar();
        let verified = models::verify(name, &root, &mut |progress| {
            show(&bar, &progress);
            true
        });
        bar.finish_and_clear();
        for network in verified? {
            bad |= network.findings.iter().any(|finding| finding.problem.is_some());
            if json {
                out_json!("{}", serde_json::to_string(&network)?);
                continue;
            }
            for finding in &network.findings {
                match &finding.problem {
                    Some(problem) => {
                        out!("{}: {problem}; `editscope models fetch {}` fetches it again", finding.file.display(), network.name);
                    }
                    None if finding.against.starts_with("nothing") => {
                        out!("{}: not checked ({})", finding.file.display(), finding.against);
                    }
                    None => out!("{}: ok ({})", finding.file.display(), finding.against),
                }
            }
        }
    }
    Ok(if bad { Finish::SomeFailed } else { Finish::Done })
}

/// A bar on standard error; nothing where standard error is no terminal.
fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let template = "{msg} {bar:24} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    let style = ProgressStyle::with_template(template).expect("a valid template"); // a constant of this program
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn show(bar: &ProgressBar, progress: &FetchProgress) {
    bar.set_length(progress.total_bytes.max(progress.done_bytes));
    bar.set_position(progress.done_bytes);
    bar.set_message(format!("{} {}: {}", progress.network, progress.file, progress.doing));
}
