//! Everything that is compared, from a project, lines of scores, and tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::datasets::opinions::{ColumnMap, Opinions, read_opinions};
use crate::datasets::{Problem, Sheet};
use crate::domain::{Better, Profile, Range, Rating, column_better, columns};
use crate::engine::results::{self, ScoredEdit};
use crate::stats::comparison::{About, Evidence, OVERALL, Subject, hash_of, labels_of};
use crate::stats::people::{Answer, EditName, means};
use crate::stats::weights::PartsRow;
use crate::storage::{Project, SessionOpinions, flags_of};

use super::args::{Agree, PeopleArgs};
use super::tables;

/// The values of a score that can be compared, in the order of tables.
pub(super) const METRICS: [&str; 5] = [OVERALL, "modify", "preserve", "size", "position"];

/// What was gathered, with what could not be understood.
pub(super) struct Gathered {
    pub evidence: Evidence,
    pub about: About,
    pub problems: Vec<Problem>,
    /// What the person should know about how files were read.
    pub remarks: Vec<String>,
}

/// Gathers everything that the arguments name.
pub(super) fn gather(agree: &Agree) -> anyhow::Result<Gathered> {
    let mut gathered = Gathered {
        evidence: Evidence::default(),
        about: About { program: env!("CARGO_PKG_VERSION").to_owned(), ..About::default() },
        problems: Vec::new(),
        remarks: Vec::new(),
    };
    let named: Vec<String> =
        agree.data.iter().chain(&agree.people.ratings).chain(&agree.people.scores).map(|path| path.display().to_string()).collect();
    gathered.about.data = named.join(", ");
    match &agree.data {
        Some(path) if Project::is_project(path) => from_project(agree, path, &mut gathered)?,
        Some(path) => tables::from_scores(path, agree, &mut gathered)?,
        None => {}
    }
    for path in &agree.people.scores {
        tables::add_metrics(path, &agree.people, &mut gathered)?;
    }
    add_opinions(&agree.people, &mut gathered)?;
    gathered.finish(&agree.people)
}

impl Gathered {
    /// Brings names, means and hashes into their final form.
    fn finish(mut self, people: &PeopleArgs) -> anyhow::Result<Self> {
        let evidence = &mut self.evidence;
        let human = means(&evidence.answers);
        let mut known: BTreeMap<EditName, usize> = BTreeMap::new();
        for (at, subject) in evidence.subjects.iter().enumerate() {
            known.insert((subject.item.clone(), subject.model.clone()), at);
        }
        let scored = !evidence.subjects.is_empty();
        let mut strangers = Vec::new();
        for (name, values) in human {
            match known.get(&name) {
                Some(&at) => evidence.subjects[at].human.extend(values),
                None if scored => strangers.push(name),
                None => {
                    let subject = Subject { item: name.0, model: name.1, human: values, ..Subject::default() };
                    evidence.subjects.push(subject);
                }
            }
        }
        if let Some((item, model)) = strangers.first() {
            let reason = format!("{} rated edits have no scores here, first {model} of {item}; left out of the agreement", strangers.len());
            self.problems.push(Problem { place: "ratings".into(), reason });
        }
        turn_around(evidence, &people.lower_is_better, &mut self.remarks)?;
        for row in &mut evidence.parts {
            let at = known.get(&(row.item.clone(), row.model.clone()));
            row.human = at.and_then(|&at| evidence.subjects[at].human.get(OVERALL).copied());
        }
        if let Some(path) = &people.ground_truth {
            tables::add_marks(path, evidence, &mut self.problems)?;
        }
        let raters: BTreeSet<&String> =
            evidence.answers.iter().map(|answer| &answer.rater).chain(evidence.votes.iter().map(|vote| &vote.rater)).collect();
        let about = &mut self.about;
        about.rater_set = raters.into_iter().cloned().collect();
        about.edits = evidence.subjects.len();
        about.rated = evidence.subjects.iter().filter(|subject| !subject.human.is_empty()).count();
        about.vote_count = evidence.votes.len();
        let scores = evidence.subjects.iter().map(|subject| format!("{}\t{}\t{:?}", subject.item, subject.model, subject.metrics));
        about.add_content("scores", scores);
        let answers = evidence.answers.iter().map(|a| format!("{}\t{}\t{}\t{}\t{}", a.item, a.model, a.rater, a.criterion, a.value));
        let votes = evidence
            .votes
            .iter()
            .map(|v| format!("{}\t{}\t{}\t{}\t{:?}\t{}", v.item, v.first, v.second, v.rater, v.preference, v.criterion));
        about.add_content("opinions", answers.chain(votes));
        Ok(self)
    }
}

/// Metrics where lower is better, whatever the case and whatever follows the name.
const DISTANCES: [&str; 6] = ["l1", "l2", "mse", "lpips", "dists", "structure_distance"];

/// Whether lower values of a metric of this name are better: a baseline says so itself, of other columns only the name is known.
fn is_distance(name: &str) -> bool {
    if column_better(name) == Better::Lower {
        return true;
    }
    let lower = name.to_lowercase();
    let first = lower.split([' ', '.', '|', '(', '-']).next().unwrap_or(&lower);
    DISTANCES.contains(&first)
}

fn turn_around(evidence: &mut Evidence, asked: &[String], remarks: &mut Vec<String>) -> anyhow::Result<()> {
    if let Some(unknown) = asked.iter().find(|name| !evidence.metrics.contains(name)) {
        bail!("--lower-is-better: there is no metric '{unknown}'; there are: {}", evidence.metrics.join(", "));
    }
    let turned: Vec<&String> = evidence.metrics.iter().filter(|name| asked.contains(name) || is_distance(name)).collect();
    if turned.is_empty() {
        return Ok(());
    }
    for subject in &mut evidence.subjects {
        for (name, value) in &mut subject.metrics {
            if turned.contains(&name) {
                *value = -*value;
            }
        }
    }
    let names: Vec<&str> = turned.iter().map(|name| name.as_str()).collect();
    remarks.push(format!("lower is better, so the sign is turned: {}", names.join(", ")));
    Ok(())
}

fn from_project(agree: &Agree, path: &Path, gathered: &mut Gathered) -> anyhow::Result<()> {
    let project = Project::open_read_only(path)?;
    let range = match &agree.range {
        Some(name) => project.range(name, agree.profile)?.with_context(|| {
            format!("--range: the project has no range '{name}' of profile {}; `editscope range list` lists them", agree.profile)
        })?,
        None => results::fit(&project, agree.profile, None)?,
    };
    let scored = results::all(&project, agree.profile, Some(&range), None)?;
    let sessions = project.session_opinions()?;
    let unscored = scored.iter().all(|edit| edit.score.is_none());
    let unrated = scored.iter().all(|edit| edit.ratings.is_empty()) && sessions.votes.is_empty() && agree.people.ratings.is_empty();
    if unscored && unrated {
        bail!("{}: no edit is scored or rated; run `editscope score {}` first", path.display(), path.display());
    }
    if unscored {
        gathered.remarks.push(format!("no edit has a score of profile {}: only people are compared", agree.profile));
    }
    add_sessions(sessions, gathered);
    for edit in &scored {
        add_scored(edit, &mut gathered.evidence);
        gathered.about.simulated_ratings |= edit.has_simulated_ratings();
    }
    if !unscored {
        gathered.evidence.metrics = metric_names(&gathered.evidence);
    }
    gathered.evidence.profiles = profiles(&project, agree.profile, &range)?;
    let about = &mut gathered.about;
    about.profile = Some(agree.profile.to_string());
    about.range = Some(range);
    let runs: BTreeSet<(String, String)> = project
        .runs()?
        .into_iter()
        .filter(|run| run.about.profile == agree.profile && run.scored > 0)
        .map(|run| (format!("{} ({})", run.about.models, run.about.models_fingerprint), run.about.device))
        .collect();
    about.checkpoints = runs.iter().map(|(models, _)| models.clone()).collect::<BTreeSet<_>>().into_iter().collect();
    about.devices = runs.into_iter().map(|(_, device)| device).collect::<BTreeSet<_>>().into_iter().collect();
    about.add_content("edits and pictures", project.content_lines()?);
    Ok(())
}

/// What sessions say beside the ratings. Second answers go before the ratings: the last answer of a rater about an edit counts.
fn add_sessions(sessions: SessionOpinions, gathered: &mut Gathered) {
    for (item, model, rating) in &sessions.repeats {
        gathered.evidence.answers.extend(answers(&item.0, model, rating, None));
    }
    gathered.evidence.votes.extend(sessions.votes);
    gathered
        .problems
        .extend(sessions.problems.into_iter().map(|why| Problem { place: "sessions".into(), reason: format!("{why}; left out") }));
}

fn add_scored(edit: &ScoredEdit, evidence: &mut Evidence) {
    let metrics: BTreeMap<String, f64> =
        METRICS.into_iter().filter_map(|metric| Some((metric.to_owned(), *edit.value(metric).value()?))).collect();
    let metrics = metrics.into_iter().chain(columns(&edit.baselines)).collect();
    let labels = edit.score.as_ref().map(|score| {
        let flags: Vec<&str> = flags_of(score).into_iter().map(crate::storage::Flag::words).collect();
        labels_of(score, &flags)
    });
    if let Some(score) = edit.score.as_ref().filter(|score| !score.global) {
        let value = |outcome: &crate::domain::Outcome<f64>| outcome.value().copied();
        evidence.parts.push(PartsRow {
            item: edit.item.0.clone(),
            model: edit.model.clone(),
            modify: value(&edit.combined.modify.value),
            preserve: value(&edit.combined.preserve.value),
            size: value(&score.parts.size),
            position: value(&score.parts.position),
            human: None,
        });
    }
    for rating in &edit.ratings {
        evidence.answers.extend(answers(&edit.item.0, &edit.model, rating, None));
    }
    let (item, model) = (edit.item.0.clone(), edit.model.clone());
    evidence.subjects.push(Subject { item, model, metrics, human: BTreeMap::new(), labels: labels.unwrap_or_default() });
}

/// BPM and its parts, then the baselines that some edit has, by name.
pub(super) fn metric_names(evidence: &Evidence) -> Vec<String> {
    let own = METRICS.map(str::to_owned);
    let others: BTreeSet<&String> =
        evidence.subjects.iter().flat_map(|subject| subject.metrics.keys()).filter(|name| !own.contains(name)).collect();
    own.iter().chain(others).cloned().collect()
}

/// The overall under every profile that was scored, when there are two or more.
fn profiles(project: &Project, own: Profile, own_range: &Range) -> anyhow::Result<Vec<(String, BTreeMap<EditName, f64>)>> {
    let mut found = Vec::new();
    for profile in Profile::ALL {
        let range = if profile == own { own_range.clone() } else { results::fit(project, profile, None)? };
        let values: BTreeMap<EditName, f64> = results::all(project, profile, Some(&range), None)?
            .into_iter()
            .filter_map(|edit| Some(((edit.item.0.clone(), edit.model.clone()), *edit.value(OVERALL).value()?)))
            .collect();
        if !values.is_empty() {
            found.push((profile.to_string(), values));
        }
    }
    Ok(if found.len() > 1 { found } else { Vec::new() })
}

/// The answers of a rating. `seconds` is how long it took, where the rating itself does not say.
pub(super) fn answers(item: &str, model: &str, rating: &Rating, seconds: Option<f64>) -> Vec<Answer> {
    let seconds = seconds.or_else(|| rating.context.as_ref()?.seconds);
    let answer = |(criterion, value): (&String, &f64)| Answer {
        item: item.to_owned(),
        model: model.to_owned(),
        rater: rating.rater.clone(),
        criterion: criterion.clone(),
        value: *value,
        seconds,
    };
    rating.values.iter().map(answer).collect()
}

fn add_opinions(people: &PeopleArgs, gathered: &mut Gathered) -> anyhow::Result<()> {
    for path in &people.ratings {
        let opinions = read_opinions(path, people.ratings_format, people.columns.as_ref())?;
        let file = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        gathered.remarks.push(format!("{file} read as {}: {}", opinions.format, opinions.read_as));
        take(opinions, path, people.ratings.len() > 1, gathered);
    }
    Ok(())
}

/// Takes the opinions of one file. Of several files, one that names no rater is a rater by itself.
pub(super) fn take(opinions: Opinions, path: &Path, several: bool, gathered: &mut Gathered) {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    for mut rated in opinions.ratings {
        if several && rated.rating.rater == crate::datasets::UNNAMED_RATER {
            rated.rating.rater.clone_from(&stem);
        }
        gathered.about.simulated_ratings |= rated.rating.simulated;
        gathered.evidence.answers.extend(answers(&rated.item, &rated.model, &rated.rating, rated.seconds));
    }
    gathered.evidence.votes.extend(opinions.votes);
    gathered.problems.extend(opinions.problems);
}

/// The hash of a file's bytes.
pub(super) fn file_hash(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(hash_of([blake3::hash(&bytes).to_hex().to_string()]))
}

/// A map for a table of scores: given, or guessed from names alone.
pub(super) fn map_of(sheet: &Sheet, columns: Option<&ColumnMap>) -> ColumnMap {
    columns.cloned().unwrap_or_else(|| ColumnMap::guess_by_name(sheet))
}
