//! `agree`: how scores agree with people, as a table or as JSON.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Serialize;
use serde_json::Value;

use crate::datasets;
use crate::domain::{Outcome, Rating};
use crate::engine::results;
use crate::stats::correlation::{Correlation, complete};
use crate::stats::{Agreement, Row, TiePolicy, agreement};
use crate::storage::Project;

use super::Finish;
use super::args::Agree;

/// What is compared with what: the overall and each part against the overall impression, then each part against its own criterion.
const COMPARISONS: [(&str, &str); 9] = [
    ("overall", "overall"),
    ("modify", "overall"),
    ("preserve", "overall"),
    ("size", "overall"),
    ("position", "overall"),
    ("modify", "modification"),
    ("preserve", "preservation"),
    ("size", "size"),
    ("position", "position"),
];

/// One edit with the metric's values and the people's means.
struct Rated {
    item: String,
    model: String,
    global: bool,
    /// `overall` and the parts that have a value.
    values: BTreeMap<&'static str, f64>,
    /// Mean over raters by criterion.
    human: BTreeMap<String, f64>,
    simulated: bool,
}

/// One line of the table.
#[derive(Serialize)]
struct Line {
    metric: &'static str,
    criterion: &'static str,
    /// `all`, `local` or `global` edits.
    edits: &'static str,
    agreement: Agreement,
    /// Edits that have both values.
    complete: usize,
    spearman: Outcome<f64>,
    kendall_tau_b: Outcome<f64>,
    pearson: Outcome<f64>,
}

#[derive(Serialize)]
struct Report {
    data: String,
    profile: Option<String>,
    tie_policy: String,
    edits: usize,
    rated: usize,
    /// Ratings made by a program are among those compared with.
    simulated_ratings: bool,
    lines: Vec<Line>,
}

/// Prints the agreement of a project's (or file's) scores with people.
pub fn run(agree: &Agree) -> anyhow::Result<Finish> {
    let (rated, profile) = if Project::is_project(&agree.data) {
        if agree.ratings.is_some() {
            bail!("--ratings goes with a file of score lines; a project holds its own ratings (import adds to them)");
        }
        (from_project(agree)?, Some(agree.profile.to_string()))
    } else {
        from_lines(&agree.data, agree.ratings.as_deref())?
    };
    let report = report(agree.data.display().to_string(), profile, &rated);
    if report.rated == 0 {
        bail!("{}: none of its {} edits has been rated, so there is nothing to agree with", report.data, report.edits);
    }
    if agree.json {
        out!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report);
    }
    Ok(Finish::Done)
}

fn means(ratings: &[Rating]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, usize)> = BTreeMap::new();
    for (criterion, value) in ratings.iter().flat_map(|rating| &rating.values) {
        let sum = sums.entry(criterion.clone()).or_default();
        *sum = (sum.0 + value, sum.1 + 1);
    }
    sums.into_iter().map(|(criterion, (sum, n))| (criterion, sum / n as f64)).collect()
}

fn from_project(agree: &Agree) -> anyhow::Result<Vec<Rated>> {
    let project = Project::open_read_only(&agree.data)?;
    let range = results::fit(&project, agree.profile, None)?;
    let scored = results::all(&project, agree.profile, Some(&range), None)?;
    if scored.iter().all(|edit| edit.score.is_none()) {
        bail!(
            "{}: no edit has a score of profile {}; run `editscope score --profile {}` first",
            agree.data.display(),
            agree.profile,
            agree.profile
        );
    }
    Ok(scored
        .into_iter()
        .map(|edit| Rated {
            values: METRICS.into_iter().filter_map(|metric| Some((metric, *edit.value(metric).value()?))).collect(),
            human: means(&edit.ratings),
            simulated: edit.has_simulated_ratings(),
            global: edit.score.as_ref().is_some_and(|score| score.global),
            item: edit.item.0,
            model: edit.model,
        })
        .collect())
}

/// The values of a score line that can be compared.
const METRICS: [&str; 5] = ["overall", "size", "position", "modify", "preserve"];

/// Reads lines of `score`; ratings come from the lines, or from a data set with the same edits.
fn from_lines(path: &Path, ratings: Option<&Path>) -> anyhow::Result<(Vec<Rated>, Option<String>)> {
    let mut people: BTreeMap<(String, String), Vec<Rating>> = BTreeMap::new();
    if let Some(file) = ratings {
        for item in datasets::read(file, None)?.items {
            for edit in item.edits {
                people.entry((item.key.0.clone(), edit.model)).or_default().extend(edit.ratings);
            }
        }
    }
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let (mut rated, mut profile) = (Vec::new(), None);
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value: Value =
            serde_json::from_str(line).with_context(|| format!("{}:{}: not a line that `score` wrote", path.display(), n + 1))?;
        let word = |name: &str| -> anyhow::Result<String> {
            Ok(value[name].as_str().with_context(|| format!("{}:{}: the key '{name}' is missing", path.display(), n + 1))?.to_owned())
        };
        let (item, model) = (word("item")?, word("model")?);
        profile = profile.or_else(|| value["profile"].as_str().map(str::to_owned));
        let number = |metric: &str| if metric == "overall" { value["overall"].as_f64() } else { value["parts"][metric].as_f64() };
        let own = people.remove(&(item.clone(), model.clone()));
        let (human, simulated) = match own {
            Some(ratings) => (means(&ratings), ratings.iter().any(|rating| rating.simulated)),
            None => (
                value["human"].as_object().into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), v.as_f64()?))).collect(),
                value["human_simulated"].as_bool().unwrap_or(false),
            ),
        };
        rated.push(Rated {
            values: METRICS.into_iter().filter_map(|metric| Some((metric, number(metric)?))).collect(),
            global: value["global"].as_bool().unwrap_or(false),
            item,
            model,
            human,
            simulated,
        });
    }
    Ok((rated, profile))
}

fn report(data: String, profile: Option<String>, rated: &[Rated]) -> Report {
    let policy = TiePolicy::default();
    let mut lines = Vec::new();
    for (edits, wanted) in [("all", None), ("local", Some(false)), ("global", Some(true))] {
        if wanted.is_some_and(|global| rated.iter().all(|edit| edit.global != global)) {
            continue;
        }
        for (metric, criterion) in COMPARISONS {
            let rows: Vec<Row> = rated
                .iter()
                .filter(|edit| wanted.is_none_or(|global| edit.global == global))
                .map(|edit| Row {
                    item: edit.item.clone(),
                    model: edit.model.clone(),
                    metric: edit.values.get(metric).copied(),
                    human: edit.human.get(criterion).copied(),
                })
                .collect();
            if rows.iter().all(|row| row.human.is_none()) {
                continue;
            }
            let (metrics, humans, _) = complete(&rows);
            lines.push(Line {
                metric,
                criterion,
                edits,
                agreement: agreement(&rows, policy),
                complete: metrics.len(),
                spearman: Correlation::Spearman.of(&metrics, &humans),
                kendall_tau_b: Correlation::KendallTauB.of(&metrics, &humans),
                pearson: Correlation::Pearson.of(&metrics, &humans),
            });
        }
    }
    Report {
        data,
        profile,
        tie_policy: policy.words(),
        edits: rated.len(),
        rated: rated.iter().filter(|edit| !edit.human.is_empty()).count(),
        simulated_ratings: rated.iter().any(|edit| edit.simulated && !edit.human.is_empty()),
        lines,
    }
}

fn cell(outcome: &Outcome<f64>) -> String {
    outcome.value().map_or_else(|| "n/a".to_owned(), |value| format!("{value:.3}"))
}

fn print(report: &Report) {
    out!("{}: {} edits, {} rated; ties: {}", report.data, report.edits, report.rated, report.tie_policy);
    if report.simulated_ratings {
        out!("note: some of these ratings were simulated by a program, so the agreement says nothing about people");
    }
    out!("");
    out!(
        "{:<8} {:<10} {:<13} {:>6} {:>6} {:>9} {:>9} {:>9} {:>9}",
        "edits",
        "metric",
        "criterion",
        "macro",
        "micro",
        "compared",
        "Spearman",
        "Kendall",
        "Pearson"
    );
    for line in &report.lines {
        out!(
            "{:<8} {:<10} {:<13} {:>6} {:>6} {:>9} {:>9} {:>9} {:>9}",
            line.edits,
            line.metric,
            line.criterion,
            cell(&line.agreement.macro_mean),
            cell(&line.agreement.micro_mean),
            line.agreement.counts.compared,
            cell(&line.spearman),
            cell(&line.kendall_tau_b),
            cell(&line.pearson)
        );
    }
    let Some(first) = report.lines.first() else { return };
    out!("");
    out!("agreement of the overall with people, pair of models by pair (macro is their plain mean):");
    for pair in &first.agreement.pairs {
        out!(
            "  {:<40} {:>6}  ({} compared, {} human ties, {} metric ties, {} without a score)",
            pair.models.join(" – "),
            cell(&pair.share),
            pair.counts.compared,
            pair.counts.human_ties,
            pair.counts.metric_ties,
            pair.counts.missing_metric
        );
        if let Some(why) = pair.share.why() {
            out!("      {why}");
        }
    }
    for line in report.lines.iter().filter(|line| line.edits == "all" && line.agreement.macro_mean.why().is_some()) {
        out!("n/a: {} against {} ({}): {}", line.metric, line.criterion, line.edits, line.agreement.macro_mean.why().unwrap_or_default());
    }
}
