//! Scores and marks from files: lines of `score`, any table with columns of numbers, and ground truth.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::datasets::opinions::{Column, ColumnMap, Role, read_columns};
use crate::datasets::{Problem, Sheet, SheetRow};
use crate::domain::{Outcome, Score, columns};
use crate::engine::evidence::{Gathered, METRICS, metric_names};
use crate::export::ScoreLine;
use crate::stats::comparison::{Content, OVERALL, Subject, labels_of};
use crate::stats::people::EditName;
use crate::stats::weights::PartsRow;
use crate::storage::{Flag, flags_of};

use super::args::{Agree, PeopleArgs};
use super::gather::{file_hash, map_of};

/// Reads lines of `score`, or any table of numbers.
pub(super) fn from_scores(path: &Path, agree: &Agree, gathered: &mut Gathered) -> anyhow::Result<()> {
    let sheet = Sheet::read(path).with_context(|| format!("{} holds no scores", path.display()))?;
    gathered.about.content.push(Content { what: path.display().to_string(), hash: file_hash(path)? });
    if sheet.has(&["item", "model", "parts", "overall"]) {
        gathered.problems.extend(sheet.problems.iter().cloned());
        for row in &sheet.rows {
            if let Err(why) = add_line(row, gathered) {
                gathered.problems.push(Problem { place: row.place.clone(), reason: format!("{why}; left out") });
            }
        }
        if gathered.evidence.subjects.is_empty() {
            bail!("{}: none of its lines is one that `score` wrote", path.display());
        }
        gathered.evidence.metrics = metric_names(&gathered.evidence);
        return Ok(());
    }
    add_sheet(&sheet, path, &agree.people, gathered)?;
    let answers = map_of(&sheet, agree.people.columns.as_ref());
    if agree.people.ratings.is_empty() && answers.0.iter().any(|column| matches!(column.role, Role::Answer { .. })) {
        let opinions = read_columns(&sheet, Some(&answers)).map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
        gathered.remarks.push(format!("ratings from the same table: {answers}"));
        super::gather::take(opinions, path, false, gathered);
    }
    Ok(())
}

/// Adds one line of `score`.
fn add_line(row: &SheetRow, gathered: &mut Gathered) -> Result<(), String> {
    let text = |key: &str| row.word(key).ok_or_else(|| format!("the key '{key}' is missing"));
    let (item, model) = (text("item")?, text("model")?);
    let cell = |key: &str| row.cells.get(key).unwrap_or(&Value::Null);
    let number = |metric: &str| if metric == OVERALL { cell(OVERALL).as_f64() } else { cell("parts")[metric].as_f64() };
    let metrics: BTreeMap<String, f64> = METRICS.into_iter().filter_map(|metric| Some((metric.to_owned(), number(metric)?))).collect();
    gathered.about.profile = gathered.about.profile.take().or_else(|| row.word("profile"));
    if gathered.about.range.is_none() {
        gathered.about.range = serde_json::from_value(cell("range").clone()).unwrap_or_default();
    }
    for (known, key) in [(&mut gathered.about.checkpoints, "models"), (&mut gathered.about.devices, "device")] {
        if let Some(word) = row.word(key).filter(|word| !known.contains(word)) {
            known.push(word);
        }
    }
    let mut subject = Subject { item, model, metrics, ..Subject::default() };
    // Lines hold the means of people, not their answers; --ratings outweighs them.
    let means = cell("human").as_object().into_iter().flatten();
    subject.human = means.filter_map(|(criterion, mean)| Some((criterion.clone(), mean.as_f64()?))).collect();
    gathered.about.simulated_ratings |= cell("human_simulated").as_bool().unwrap_or(false);
    // A failed line has no parse and no mask, so no labels either.
    if let Ok(line) = serde_json::from_value::<ScoreLine>(Value::Object(row.cells.clone())) {
        let parts = line.normalised.clone();
        subject.metrics.extend(columns(&line.baselines));
        let score = score_of(line);
        let flags: Vec<&str> = flags_of(&score).into_iter().map(Flag::words).collect();
        subject.labels = labels_of(&score, &flags);
        if !score.global {
            let value = |outcome: &Outcome<f64>| outcome.value().copied();
            gathered.evidence.parts.push(PartsRow {
                item: subject.item.clone(),
                model: subject.model.clone(),
                modify: value(&parts.modify),
                preserve: value(&parts.preserve),
                size: value(&score.parts.size),
                position: value(&score.parts.position),
                human: None,
            });
        }
    }
    gathered.evidence.subjects.push(subject);
    Ok(())
}

fn score_of(line: ScoreLine) -> Score {
    Score {
        profile: line.profile,
        parts: line.parts,
        global: line.global,
        parse: line.parse,
        boxes: line.boxes,
        candidates: crate::domain::BoxesBySide::default(),
        mask: line.mask,
        crop_in_bpm500: line.crop,
        trace: line.trace,
        triage: line.triage,
    }
}

/// Adds the columns of numbers of a further table to the edits that are known, or as new ones.
pub(super) fn add_metrics(path: &Path, people: &PeopleArgs, gathered: &mut Gathered) -> anyhow::Result<()> {
    let sheet = Sheet::read(path)?;
    gathered.about.content.push(Content { what: path.display().to_string(), hash: file_hash(path)? });
    add_sheet(&sheet, path, people, gathered)
}

fn add_sheet(sheet: &Sheet, path: &Path, people: &PeopleArgs, gathered: &mut Gathered) -> anyhow::Result<()> {
    gathered.problems.extend(sheet.problems.iter().cloned());
    let guessed = ColumnMap::guess_by_name(sheet);
    let map = people.columns.as_ref().filter(|map| map.objection(sheet).is_none()).unwrap_or(&guessed);
    let column = |role: Role| map.column(&role).map(|column: &Column| column.name.clone());
    let (Some(item_column), Some(model_column)) = (column(Role::Item), column(Role::Model)) else {
        bail!(
            "{}: a table of scores needs a column for the item and one for the model; it has: {}; {}",
            path.display(),
            sheet.header.join(", "),
            ColumnMap::hint(sheet)
        );
    };
    let metrics: Vec<String> = map.free_numbers(sheet).into_iter().filter(|name| is_metric(name)).cloned().collect();
    if metrics.is_empty() && !map.0.iter().any(|column| matches!(column.role, Role::Answer { .. })) {
        bail!("{}: it has no column of numbers beside {item_column} and {model_column}", path.display());
    }
    let evidence = &mut gathered.evidence;
    let mut known: BTreeMap<EditName, usize> =
        evidence.subjects.iter().enumerate().map(|(at, subject)| ((subject.item.clone(), subject.model.clone()), at)).collect();
    for row in &sheet.rows {
        let (Some(item), Some(model)) = (row.word(&item_column), row.word(&model_column)) else {
            gathered.problems.push(Problem { place: row.place.clone(), reason: "the row names no item or no model; left out".into() });
            continue;
        };
        let at = *known.entry((item.clone(), model.clone())).or_insert_with(|| {
            evidence.subjects.push(Subject { item, model, ..Subject::default() });
            evidence.subjects.len() - 1
        });
        for metric in &metrics {
            let Some(text) = row.word(metric) else { continue };
            match text.parse::<f64>().ok().filter(|value| value.is_finite()) {
                Some(value) => drop(evidence.subjects[at].metrics.insert(metric.clone(), value)),
                None => gathered.problems.push(Problem {
                    place: format!("{}, column '{metric}'", row.place),
                    reason: format!("'{text}' is not a number; read as missing"),
                }),
            }
        }
    }
    evidence.metrics.extend(metrics.iter().filter(|metric| !evidence.metrics.contains(metric)).cloned().collect::<Vec<_>>());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    gathered.remarks.push(format!("{name}: metrics {} by {item_column} and {model_column}", metrics.join(", ")));
    Ok(())
}

/// Columns of numbers that say nothing about quality.
fn is_metric(name: &str) -> bool {
    !["seed", "index", "idx", "width", "height", "turn_index", "unnamed: 0"].contains(&name.to_lowercase().as_str())
}
