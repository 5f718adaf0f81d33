//! Scores and marks from files: lines of `score`, any table with columns of numbers, and ground truth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::datasets::opinions::{Column, ColumnMap, OpinionFormat, Role, may_be_quality, read_sheet};
use crate::datasets::{Problem, Sheet, SheetRow};
use crate::domain::{Outcome, Score, columns, is_answer};
use crate::engine::evidence::{Gathered, METRICS, file_hash, metric_names};
use crate::export::ScoreLine;
use crate::stats::comparison::{Content, OVERALL, Subject, labels_of};
use crate::stats::people::EditName;
use crate::stats::weights::PartsRow;
use crate::storage::{Flag, flags_of};

use super::args::{Agree, PeopleArgs};
use super::gather::map_of;

/// Reads lines of `score`, or any table of numbers.
pub(super) fn from_scores(path: &Path, agree: &Agree, gathered: &mut Gathered) -> anyhow::Result<()> {
    let sheet = Sheet::read(path).with_context(|| format!("{} holds no scores", path.display()))?;
    gathered.about.content.push(Content { what: path.display().to_string(), hash: file_hash(path)? });
    if sheet.has(&["item", "model", "parts", "overall"]) {
        gathered.problems.extend(sheet.problems.iter().cloned());
        let mut names = LineNames::of(&sheet);
        for row in &sheet.rows {
            if let Err(why) = add_line(row, &mut names, gathered) {
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
        let mut opinions =
            read_sheet(&sheet, OpinionFormat::Columns, Some(&answers)).map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
        gathered.remarks.push(format!("ratings from the same table: {}", opinions.read_as));
        // These were told with the scores.
        opinions.problems.retain(|problem| !sheet.problems.contains(problem));
        gathered.add_opinions(opinions, &sheet.file);
    }
    Ok(())
}

/// The edits of lines of `score`, by item and model.
struct LineNames {
    counts: BTreeMap<EditName, usize>,
    /// Ids that have a line.
    seen: BTreeMap<EditName, Vec<String>>,
}

impl LineNames {
    fn of(sheet: &Sheet) -> Self {
        let mut counts = BTreeMap::new();
        for name in sheet.rows.iter().filter_map(line_name) {
            *counts.entry(name).or_default() += 1;
        }
        Self { counts, seen: BTreeMap::new() }
    }

    /// What the model of a line is called: several edits of one item by one model are told apart as in a project.
    fn model(&mut self, name: EditName, id: &str, gathered: &mut Gathered) -> Result<String, String> {
        let (item, model) = name.clone();
        let several = self.counts.get(&name).is_some_and(|count| *count > 1);
        let seen = self.seen.entry(name).or_default();
        if seen.iter().any(|other| other == id) {
            return Err(format!("edit '{id}' ('{model}' of '{item}') has a line already"));
        }
        seen.push(id.to_owned());
        if !several || (seen.len() == 1 && !model.is_empty()) {
            return Ok(model);
        }
        gathered.mark_ambiguous(&item, &model);
        Ok(format!("{model} #{}", seen.len()).trim().to_owned())
    }
}

/// Item and model of a line; edits without a model have an empty one.
fn line_name(row: &SheetRow) -> Option<EditName> {
    Some((row.word("item")?, row.cells.get("model")?.as_str().map_or_else(|| row.word("model"), |model| Some(model.trim().to_owned()))?))
}

/// Adds one line of `score`.
fn add_line(row: &SheetRow, names: &mut LineNames, gathered: &mut Gathered) -> Result<(), String> {
    let text = |key: &str| row.word(key).ok_or_else(|| format!("the key '{key}' is missing"));
    let Some(name) = line_name(row) else { return text("item").and_then(|_| text("model")).map(drop) };
    let item = name.0.clone();
    let model = names.model(name, &row.word("id").unwrap_or_default(), gathered)?;
    let cell = |key: &str| row.cells.get(key).unwrap_or(&Value::Null);
    let number = |metric: &str| if metric == OVERALL { cell(OVERALL).as_f64() } else { cell("parts")[metric].as_f64() };
    let mut metrics: BTreeMap<String, f64> = METRICS.into_iter().filter_map(|metric| Some((metric.to_owned(), number(metric)?))).collect();
    metrics.retain(|metric, value| {
        let keep = is_answer(*value);
        if !keep {
            let reason = format!("'{metric}' is {value:e}, beyond ±1e15; read as missing");
            gathered.problems.push(Problem { place: row.place.clone(), reason });
        }
        keep
    });
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
    subject.human =
        means.filter_map(|(criterion, mean)| Some((criterion.clone(), mean.as_f64().filter(|mean| is_answer(*mean))?))).collect();
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
        said: Vec::new(),
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
    let map = people.columns.as_ref().filter(|map| map.lack(sheet).is_none()).unwrap_or(&guessed);
    let column = |role: Role| map.column(&role).map(|column: &Column| column.name.clone());
    let (Some(item_column), Some(model_column)) = (column(Role::Item), column(Role::Model)) else {
        bail!(
            "{}: a table of scores needs a column for the item and one for the model; it has: {}; {}",
            path.display(),
            sheet.header.join(", "),
            ColumnMap::hint(sheet)
        );
    };
    let metrics: Vec<String> = map.free_numbers(sheet).into_iter().filter(|name| may_be_quality(name)).cloned().collect();
    if metrics.is_empty() && !map.0.iter().any(|column| matches!(column.role, Role::Answer { .. })) {
        let told: Vec<String> = map.passed_over(sheet).into_iter().map(|told| format!("; {told}")).collect();
        bail!("{}: it has no column of numbers beside {item_column} and {model_column}{}", path.display(), told.concat());
    }
    let mut known = gathered.places();
    let mut seen: BTreeSet<(usize, &str)> = BTreeSet::new();
    let mut again: Vec<&SheetRow> = Vec::new();
    for row in &sheet.rows {
        let (Some(item), Some(model)) = (row.word(&item_column), row.word(&model_column)) else {
            gathered.problems.push(Problem { place: row.place.clone(), reason: "the row names no item or no model; left out".into() });
            continue;
        };
        let Some(model) = gathered.meant(&item, &model) else { continue };
        let evidence = &mut gathered.evidence;
        let at = *known.entry((item.clone(), model.clone())).or_insert_with(|| {
            evidence.subjects.push(Subject { item, model, ..Subject::default() });
            evidence.subjects.len() - 1
        });
        let mut is_again = false;
        for metric in &metrics {
            let Some(text) = row.word(metric) else { continue };
            match sheet.decimals.number(&text) {
                Some(value) => {
                    let before = evidence.subjects[at].metrics.insert(metric.clone(), value);
                    // Another table may say better; within one table nothing says which row is right.
                    is_again |= !seen.insert((at, metric)) && before != Some(value);
                }
                None => gathered.problems.push(Problem {
                    place: format!("{}, column '{metric}'", row.place),
                    reason: format!("{}; read as missing", sheet.decimals.why_none(&text)),
                }),
            }
        }
        again.extend(is_again.then_some(row));
    }
    if let Some(first) = again.first() {
        let reason = format!("{} rows give an edit other numbers than a row before; the last counts", again.len());
        gathered.problems.push(Problem { place: first.place.clone(), reason });
    }
    let evidence = &mut gathered.evidence;
    evidence.metrics.extend(metrics.iter().filter(|metric| !evidence.metrics.contains(metric)).cloned().collect::<Vec<_>>());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    gathered.remarks.extend(map.passed_over(sheet).into_iter().map(|told| format!("{name}: {told}")));
    gathered.remarks.push(format!("{name}: metrics {} by {item_column} and {model_column}", metrics.join(", ")));
    Ok(())
}
