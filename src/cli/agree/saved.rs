//! Comparisons kept in a project by name.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::cli::Finish;
use crate::domain::Outcome;
use crate::domain::json::{from_text, from_value};
use crate::export::{metric_words, stayed, stayed_words};
use crate::stats::comparison::{ALL, Change, Comparison, changes, utc_text};
use crate::storage::Project;

use super::args::Agree;

fn project_path(agree: &Agree) -> anyhow::Result<&Path> {
    match agree.data.as_deref() {
        Some(path) if Project::is_project(path) => Ok(path),
        _ => bail!("saved comparisons are kept in a project: name it first (`editscope agree PROJECT --save NAME`)"),
    }
}

/// Saves a comparison under the name that was asked for; a known name only with `--replace`.
pub(super) fn save(agree: &Agree, comparison: &mut Comparison) -> anyhow::Result<()> {
    let Some(name) = agree.saved.save.as_deref().map(str::trim) else { return Ok(()) };
    let project = Project::open(project_path(agree)?)?;
    if project.comparison(name)?.is_some() && !agree.saved.replace {
        bail!("--save: there is a comparison '{name}' already; take another name, or add --replace");
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).context("the clock is before 1970")?;
    name.clone_into(&mut comparison.about.name);
    comparison.about.who = agree.saved.who.clone().or_else(|| project.meta("rater").ok().flatten()).unwrap_or_default();
    comparison.about.at_millis = i64::try_from(now.as_millis()).ok();
    let who = comparison.about.who.clone();
    project.save_comparison(name, &who, &serde_json::to_value(&*comparison)?)?;
    if !agree.quiet {
        tell!("comparison '{name}' saved");
    }
    Ok(())
}

/// A saved comparison: by name from the project, or from a file that `--json` wrote.
pub(super) fn load(agree: &Agree, name: &str) -> anyhow::Result<Comparison> {
    let file = Path::new(name);
    if file.is_file() {
        let text = std::fs::read_to_string(file).with_context(|| name.to_owned())?;
        return from_text(text.trim_start_matches('\u{feff}'))
            .with_context(|| format!("{name} is no comparison that `agree --json` wrote"));
    }
    let project = Project::open_read_only(project_path(agree)?)?;
    let Some(saved) = project.comparison(name)? else {
        let known: Vec<String> = project.comparisons()?.into_iter().map(|saved| format!("'{}'", saved.name)).collect();
        let known = if known.is_empty() { "none is saved yet".to_owned() } else { format!("saved are: {}", known.join(", ")) };
        bail!("there is no comparison '{name}' ({known}), and no file of that name");
    };
    from_value(&saved.content).map_err(|error| anyhow::anyhow!("{}", saved.unreadable(error)))
}

/// Lists the saved comparisons, newest first.
pub(super) fn list(agree: &Agree) -> anyhow::Result<Finish> {
    let project = Project::open_read_only(project_path(agree)?)?;
    let all = project.comparisons()?;
    for saved in &all {
        let number = |key: &str| saved.content[key].as_u64().unwrap_or_default();
        if agree.json {
            out_json!(
                "{}",
                json!({"name": saved.name, "who": saved.who, "at_millis": saved.at_millis, "edits": number("edits"), "rated": number("rated")})
            );
        } else {
            let who = if saved.who.is_empty() { "somebody" } else { &saved.who };
            out!("{}  {}  by {who}: {} edits, {} rated", utc_text(saved.at_millis), saved.name, number("edits"), number("rated"));
        }
    }
    if all.is_empty() && !agree.json {
        out!("no comparison is saved yet; `editscope agree {} --save NAME` saves one", project.path().display());
    }
    Ok(Finish::Done)
}

/// Prints what moved since the comparison that was asked for as `name`, what was made differently, and whether both are of the same data.
pub(super) fn print_changes(name: &str, before: &Comparison, after: &Comparison, as_json: bool) -> anyhow::Result<()> {
    let same_data = before.about.content == after.about.content;
    let found = changes(before, after);
    let differently = before.made_differently(after);
    if as_json {
        let differently: Vec<_> = differently.iter().map(|(what, old, new)| json!({"what": what, "before": old, "after": new})).collect();
        out_json!(
            "{}",
            json!({"same_data": same_data, "other_data": before.other_data(after), "made_differently": differently, "before": before.about, "after": after.about, "changes": found})
        );
        return Ok(());
    }
    let now = if after.about.name.is_empty() { "now" } else { &after.about.name };
    out!("{now} against {name}");
    out!("{}", before.data_words(after));
    for (what, old, new) in differently {
        out!("  {what}: {old} → {new}");
    }
    let mut quantity = "";
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let (same, moved): (Vec<&Change>, Vec<&Change>) = found.iter().partition(|change| stayed(change));
    for change in moved {
        if change.quantity != quantity {
            quantity = &change.quantity;
            out!("");
            out!("{quantity}:");
            out!("  {:<28} {:<24} {:<13} {:>7} {:>7} {:>8}", "of", "edits", "criterion", "before", "after", "change");
        }
        print_change(after, change);
        for why in [&change.before, &change.after].into_iter().filter_map(Outcome::why) {
            *reasons.entry(why).or_default() += 1;
        }
    }
    if !same.is_empty() {
        out!("{}", stayed_words(same.len()));
    }
    for (why, times) in reasons {
        out!("undef. ({times}): {why}");
    }
    Ok(())
}

fn print_change(after: &Comparison, change: &Change) {
    let cell = |outcome: &Outcome<f64>| outcome.value().map_or_else(|| "undef.".to_owned(), |value| format!("{value:.3}"));
    let edits = if change.split == ALL { ALL.to_owned() } else { format!("{}: {}", change.split, change.group) };
    let of = [metric_words(after, &change.metric), change.model.as_str()]
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect::<Vec<_>>()
        .join(": ");
    let of = if of.is_empty() { "all models" } else { &of };
    let signed = change.difference.value().map_or_else(|| "undef.".to_owned(), |value| format!("{value:+.3}"));
    let (before, after) = (cell(&change.before), cell(&change.after));
    let apart = if change.intervals_apart { "  intervals apart" } else { "" };
    out!("  {of:<28} {edits:<24} {:<13} {before:>7} {after:>7} {signed:>8}{apart}", change.criterion);
}
