//! Everything that metrics and people say of a set of edits, brought into one table for [`crate::stats::comparison`]. The command
//! line, the report and the window gather here, so that all of them compare the same things.

mod extras;
mod marks;
mod opinions;
mod project;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::datasets::Problem;
use crate::domain::{Asked, Better, Profile, column_better, names_alike};
use crate::stats::comparison::{About, Content, Evidence, OVERALL, Subject, criteria_of, hash_of};
use crate::stats::people::{EditName, means};
use crate::storage::{EditId, Project};

pub use project::saved_range;
pub use report::{report_extras, report_points};

/// The metric's own values, in the order of tables.
pub const METRICS: [&str; 5] = [OVERALL, "modify", "preserve", "size", "position"];

/// What was gathered, with what could not be understood.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    pub evidence: Evidence,
    pub about: About,
    pub problems: Vec<Problem>,
    /// What the person should know about how files were read.
    pub remarks: Vec<String>,
    /// The edits of the project that the first subjects stand for, in their order; empty where no project was read.
    pub edits: Vec<EditId>,
    /// Metrics whose sign was turned, because lower is better.
    pub turned: Vec<String>,
    /// What people were asked, in the order of tables; filled by [`Self::finish`].
    pub criteria: Vec<String>,
    /// Where each edit stands among the subjects; filled by [`Self::finish`].
    known: BTreeMap<EditName, usize>,
    /// What each answer is an answer to, in the order of [`Evidence::answers`]; until [`Self::finish`] these have no criterion yet.
    asked: Vec<Asked>,
    /// How many of the answers and votes are a project's; the first ones.
    of_project: (usize, usize),
    /// Items and models of which several edits are known, so that the name alone says nothing, and how often it was said nevertheless.
    ambiguous: BTreeMap<EditName, usize>,
}

/// Everything about the project at `path`, as `agree PROJECT` compares it. `range` names a saved range; without one it is fitted.
/// `ground_truth` is a table of edits that are known to be good. Numbers that came with the edits are metrics too.
///
/// # Errors
/// When the project cannot be read, or has no such range, or nothing in it is scored or rated.
pub fn of_project(path: &Path, profile: Profile, range: Option<&str>, ground_truth: Option<&Path>) -> anyhow::Result<Gathered> {
    let mut gathered = Gathered::new(path.display().to_string());
    let project = Project::open_read_only(path)?;
    let range = range.map(|name| saved_range(&project, name, profile)).transpose()?;
    gathered.add_project(&project, profile, range, false)?;
    gathered.finish(&[], ground_truth)
}

impl Gathered {
    /// Nothing yet; `data` names what will be gathered, in words.
    pub fn new(data: String) -> Self {
        Self { about: About { program: env!("CARGO_PKG_VERSION").to_owned(), data, ..About::default() }, ..Self::default() }
    }

    /// Brings names, means, signs and hashes into their final form. `lower_is_better` names metrics beside the known distances;
    /// `ground_truth` is a table of edits that are known to be good.
    ///
    /// # Errors
    /// When there is no such metric, or the table cannot be read.
    pub fn finish(mut self, lower_is_better: &[String], ground_truth: Option<&Path>) -> anyhow::Result<Self> {
        self.name_criteria();
        self.say_ambiguous();
        let known = self.places();
        self.take_means(&known);
        self.turn_around(lower_is_better)?;
        let evidence = &mut self.evidence;
        for row in &mut evidence.parts {
            let at = known.get(&(row.item.clone(), row.model.clone()));
            row.human = at.and_then(|&at| evidence.subjects[at].human.get(OVERALL).copied());
        }
        if let Some(path) = ground_truth {
            marks::add(path, evidence, &mut self.problems, &mut self.remarks)?;
            let file = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
            self.about.content.push(Content { what: format!("ground truth: {file}"), hash: file_hash(path)? });
        }
        self.known = known;
        self.criteria = criteria_of(&self.evidence);
        self.describe();
        Ok(self)
    }

    /// Where each edit stands among the subjects, by item and model.
    pub fn places(&self) -> BTreeMap<EditName, usize> {
        let subjects = self.evidence.subjects.iter().enumerate();
        subjects.map(|(at, subject)| ((subject.item.clone(), subject.model.clone()), at)).collect()
    }

    /// The project's edit of that item by that model.
    pub fn edit_of(&self, item: &str, model: &str) -> Option<EditId> {
        self.edits.get(*self.known.get(&(item.to_owned(), model.to_owned()))?).copied()
    }

    /// Gives every edit the mean of its answers; rated edits without scores are subjects only where nothing is scored.
    fn take_means(&mut self, known: &BTreeMap<EditName, usize>) {
        let evidence = &mut self.evidence;
        let scored = !evidence.subjects.is_empty();
        let mut strangers = Vec::new();
        for (name, values) in means(&evidence.answers) {
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
            let reason = format!(
                "{} rated edits have no scores here, first {model} of {item}; left out of the agreement with metrics, and of people's means, win rates \
                 and strengths of models; the agreement between raters counts them",
                strangers.len()
            );
            self.problems.push(Problem { place: "ratings".into(), reason });
        }
    }

    /// Turns the sign of distances, so that higher is better everywhere.
    fn turn_around(&mut self, asked: &[String]) -> anyhow::Result<()> {
        let evidence = &mut self.evidence;
        if let Some(unknown) = asked.iter().find(|name| !evidence.metrics.contains(name)) {
            bail!("--lower-is-better: there is no metric '{unknown}'; there are: {}", evidence.metrics.join(", "));
        }
        let turned: Vec<String> = evidence.metrics.iter().filter(|name| asked.contains(name) || is_distance(name)).cloned().collect();
        if turned.is_empty() {
            return Ok(());
        }
        for subject in &mut evidence.subjects {
            for (name, value) in &mut subject.metrics {
                if turned.contains(name) {
                    *value = -*value;
                }
            }
        }
        self.remarks.push(format!("lower is better, so the sign is turned: {}", turned.join(", ")));
        self.turned = turned;
        Ok(())
    }

    /// Counts and hashes: enough to tell later whether two comparisons are of the same data.
    fn describe(&mut self) {
        let evidence = &self.evidence;
        let raters: BTreeSet<&String> =
            evidence.answers.iter().map(|answer| &answer.rater).chain(evidence.votes.iter().map(|vote| &vote.rater)).collect();
        let about = &mut self.about;
        about.rater_set = raters.into_iter().cloned().collect();
        for names in names_alike(about.rater_set.iter().map(String::as_str)) {
            self.remarks.push(format!("are the raters {} one person? They are counted as {}", names.join(" and "), names.len()));
        }
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

/// BPM and its parts, then the baselines that some edit has, by name.
pub fn metric_names(evidence: &Evidence) -> Vec<String> {
    let own = METRICS.map(str::to_owned);
    let others: BTreeSet<&String> =
        evidence.subjects.iter().flat_map(|subject| subject.metrics.keys()).filter(|name| !own.contains(name)).collect();
    own.iter().chain(others).cloned().collect()
}

/// The hash of a file's bytes.
///
/// # Errors
/// When it cannot be read.
pub fn file_hash(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(hash_of([blake3::hash(&bytes).to_hex().to_string()]))
}
