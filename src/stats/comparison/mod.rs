//! Everything that is said about metrics, people and models on one set of edits: what `agree` prints, what is saved by name, and
//! what the report shows. One computation, so that all of them give the same numbers.

mod about;
mod boards;
mod changes;
mod extras;
mod labels;
mod lines;
mod worst;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::agreement::TiePolicy;
use super::answers::counted;
use super::ground_truth::{GroundTruth, KnownEdit, ground_truth};
use super::intervals::Bootstrap;
use super::orders::{OrderChanges, TwoReadings, order_changes};
use super::people::{
    Answer, BetweenRaters, Disagreement, EditName, RaterReport, VoterReport, between_raters_all_of, between_raters_of, between_voters_of,
    disagreements_of, rater_reports_of, voter_reports,
};
use super::sheet::Names;
use super::undefined;
use super::weights::{AtWeight, HeldOut, PartsRow, held_out, sweep};
use crate::domain::{CRITERIA, Criterion, ModelVote, Outcome};

pub use about::{About, Content, hash_of, utc_text};
pub use boards::{Leaderboard, PEOPLE, Standing, VOTES};
pub use changes::{Change, changes};
pub use extras::{ReportEdit, ReportExtras, ReportPoint};
pub use labels::{BY_FLAG, BY_REGION, BY_SCOPE, BY_TYPE, SPLITS, labels_of};
pub use lines::{ALL_PAIRS, Line, PolicyShare, Significance, VoteLine, holm};
pub use worst::{Mismatch, Placed, mismatches, places};

/// The metric's overall, and the criterion that asks for the whole impression.
pub const OVERALL: &str = "overall";
/// The group that holds every edit.
pub const ALL: &str = "all";
/// The split by model: its groups are the pairs of models that hold the model.
pub const BY_MODEL: &str = "model";

/// One edit: what metrics and people say of it. Higher is better everywhere (give a distance with its sign turned).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Subject {
    pub item: String,
    pub model: String,
    /// By metric; one that has no value here is absent.
    pub metrics: BTreeMap<String, f64>,
    /// Mean over raters, by criterion.
    pub human: BTreeMap<String, f64>,
    /// Groups that the edit belongs to, by split ("edit type" → "add").
    pub labels: BTreeMap<String, Vec<String>>,
}

/// Everything to compare.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Evidence {
    pub subjects: Vec<Subject>,
    /// Metrics in the order of tables.
    pub metrics: Vec<String>,
    pub answers: Vec<Answer>,
    pub votes: Vec<ModelVote>,
    /// Parts of local edits, for the sweep over α; empty when there are none.
    pub parts: Vec<PartsRow>,
    /// The overall under each profile that was scored, by edit.
    pub profiles: Vec<(String, BTreeMap<EditName, f64>)>,
    /// What is known of edits ("good", "over_preserved", …).
    pub marks: BTreeMap<EditName, String>,
}

/// How ties are treated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    As(TiePolicy),
    /// Calibrated with a threshold fitted for each metric on the data that are reported, which flatters.
    Fitted,
}

impl Default for Ties {
    fn default() -> Self {
        Self::As(TiePolicy::Paper)
    }
}

impl Ties {
    /// The policy in words.
    pub fn words(self) -> String {
        match self {
            Self::As(policy) => policy.words(),
            Self::Fitted => "ties count; the threshold of a metric tie is fitted for each metric on these very data".into(),
        }
    }
}

/// How to compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub ties: Ties,
    pub bootstrap: Bootstrap,
    /// Which splits of the edits to report beside all of them.
    pub splits: Vec<String>,
    /// The width of an interval that "items needed" aims at.
    pub width: f64,
    /// An edit is good from this human mean on; `None`: above the median of the human means.
    pub good_from: Option<f64>,
    /// Seed of the halves of the weights' held-out test.
    pub split_seed: u64,
    /// How many of the worst edits are listed.
    pub worst: usize,
    /// The metric that is held against each of the others; `None`: all pairs, or the first metric when there are more than
    /// [`ALL_PAIRS`].
    #[serde(default)]
    pub first: Option<String>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            ties: Ties::default(),
            bootstrap: Bootstrap::default(),
            splits: Vec::new(),
            width: 0.1,
            good_from: None,
            split_seed: 1,
            worst: 12,
            first: None,
        }
    }
}

/// The paper's weight α over a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Local edits that have all four parts and a rating.
    pub edits: usize,
    pub sweep: Vec<AtWeight>,
    #[serde(with = "undefined")]
    pub held_out: Outcome<HeldOut>,
    pub warning: String,
}

/// One metric's ground-truth test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricGroundTruth {
    pub metric: String,
    pub result: GroundTruth,
}

/// The whole result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    #[serde(flatten)]
    pub about: About,
    pub plan: Plan,
    pub lines: Vec<Line>,
    /// Metrics against votes.
    pub votes: Vec<VoteLine>,
    /// Pairs of metrics on the same edits.
    pub significance: Vec<Significance>,
    pub leaderboards: Vec<Leaderboard>,
    /// By criterion and model.
    pub between_raters: BTreeMap<String, BTreeMap<String, BetweenRaters>>,
    /// By criterion, all models together.
    pub between_raters_all: BTreeMap<String, BetweenRaters>,
    /// By criterion of the vote.
    pub between_voters: BTreeMap<String, BetweenRaters>,
    /// By criterion and rater.
    pub raters: BTreeMap<String, BTreeMap<String, RaterReport>>,
    /// By criterion of the vote and rater.
    #[serde(default)]
    pub voters: BTreeMap<String, BTreeMap<String, VoterReport>>,
    pub disagreements: Vec<Disagreement>,
    /// Edits on which the first metric and people differ most.
    pub mismatches: Vec<Mismatch>,
    pub weights: Option<Weights>,
    pub profiles: Vec<OrderChanges>,
    pub ground_truth: Vec<MetricGroundTruth>,
    /// What a reader should know before believing a number.
    pub notes: Vec<String>,
}

/// The weights of the sweep: 0, 0.1, …, 1.
fn alphas() -> Vec<f64> {
    (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect()
}

/// Compares everything with everything, as the plan says.
pub fn compare_all(about: About, evidence: &Evidence, plan: &Plan) -> Comparison {
    let criteria = criteria_of(evidence);
    let names = &Names::new(evidence.subjects.iter().map(|subject| (subject.item.as_str(), subject.model.as_str())));
    let jobs = lines::jobs(evidence, &criteria, &plan.splits);
    let asked = counted(&evidence.answers);
    let raters = rater_reports_of(&asked);
    let ties = match plan.ties {
        Ties::As(policy) => policy,
        Ties::Fitted => TiePolicy::Paper,
    };
    let mut comparison = Comparison {
        lines: jobs.par_iter().map(|job| lines::line(names, evidence, job, plan)).collect(),
        votes: lines::vote_lines(evidence, plan),
        significance: lines::significance(names, evidence, &criteria, plan),
        leaderboards: boards::leaderboards(names, evidence, &criteria, plan),
        between_raters: between_raters_of(&asked, plan.bootstrap),
        between_raters_all: between_raters_all_of(&asked, plan.bootstrap),
        between_voters: between_voters_of(&evidence.votes, plan.bootstrap),
        voters: voter_reports(&evidence.votes),
        disagreements: disagreements_of(&asked, plan.worst),
        mismatches: worst::first_metric(evidence, &criteria, plan.worst),
        weights: weights(evidence, ties, plan.split_seed),
        profiles: profile_changes(evidence),
        ground_truth: marks(evidence),
        notes: Vec::new(),
        raters,
        about,
        plan: plan.clone(),
    };
    comparison.notes = notes(&comparison);
    comparison
}

/// The criteria that somebody answered: the paper's in their order, then the others by name.
pub fn criteria_of(evidence: &Evidence) -> Vec<String> {
    let asked: BTreeSet<&String> = evidence.subjects.iter().flat_map(|subject| subject.human.keys()).collect();
    let paper = CRITERIA.map(Criterion::name);
    let known = paper.iter().filter(|name| asked.iter().any(|asked| asked == *name)).map(|name| (*name).to_owned());
    let others = asked.iter().filter(|name| !paper.contains(&name.as_str())).map(|name| (*name).clone());
    known.chain(others).collect()
}

fn weights(evidence: &Evidence, ties: TiePolicy, seed: u64) -> Option<Weights> {
    let complete = |row: &&PartsRow| [row.modify, row.preserve, row.size, row.position, row.human].iter().all(Option::is_some);
    // The same edits at every weight: else α = 0 would be judged on edits that have no modify.
    let rows: Vec<PartsRow> = evidence.parts.iter().filter(complete).cloned().collect();
    if rows.is_empty() {
        return None;
    }
    Some(Weights {
        edits: rows.len(),
        sweep: sweep(&rows, &alphas(), ties),
        held_out: held_out(&rows, &alphas(), ties, seed),
        warning:
            "The best weight of the sweep is fitted to these very edits: report the held-out agreement, or fit the weight on other data."
                .into(),
    })
}

fn profile_changes(evidence: &Evidence) -> Vec<OrderChanges> {
    let mut found = Vec::new();
    for (i, (first, before)) in evidence.profiles.iter().enumerate() {
        for (second, after) in &evidence.profiles[i + 1..] {
            let edits: Vec<TwoReadings> = evidence
                .subjects
                .iter()
                .map(|subject| {
                    let name = (subject.item.clone(), subject.model.clone());
                    let values = [before.get(&name).copied(), after.get(&name).copied()];
                    TwoReadings { item: name.0, model: name.1, values }
                })
                .collect();
            found.push(order_changes(&edits, [first, second]));
        }
    }
    found
}

/// The kind of a mark that names the good edit.
pub const GOOD: &str = "good";

fn marks(evidence: &Evidence) -> Vec<MetricGroundTruth> {
    if evidence.marks.is_empty() {
        return Vec::new();
    }
    let of = |metric: &String| {
        let edits: Vec<KnownEdit> = evidence
            .subjects
            .iter()
            .filter_map(|subject| {
                let kind = evidence.marks.get(&(subject.item.clone(), subject.model.clone()))?;
                let value = subject.metrics.get(metric).copied();
                Some(KnownEdit { item: subject.item.clone(), kind: kind.clone(), metric: value, good: kind == GOOD })
            })
            .collect();
        MetricGroundTruth { metric: metric.clone(), result: ground_truth(&edits, &[]) }
    };
    evidence.metrics.iter().map(of).collect()
}

fn notes(found: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    if found.about.simulated_ratings {
        notes.push("Some of these ratings were simulated by a program, so the agreement says nothing about people.".to_owned());
    }
    for (criterion, raters) in &found.raters {
        for (rater, report) in raters.iter().filter(|(_, report)| report.runs_against()) {
            let rho = report.with_others.value().copied().unwrap_or_default();
            notes.push(format!("Rater '{rater}' runs against the others on {criterion} (Spearman {rho:.2}): is the scale reversed?"));
        }
    }
    if found.plan.ties == Ties::Fitted {
        notes.push("The tie thresholds were fitted on the data that are reported, which flatters every metric.".to_owned());
        notes.push(
            "Pairs of metrics and the sweep over α are compared by the paper's policy: a threshold for each would compare thresholds too."
                .to_owned(),
        );
    }
    // What holds for several metrics is said once.
    let mut same: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for line in found.lines.iter().filter(|line| line.group == ALL) {
        for note in &line.notes {
            match same.iter_mut().find(|(criterion, known, _)| *criterion == line.criterion && *known == note) {
                Some((_, _, metrics)) => metrics.push(&line.metric),
                None => same.push((&line.criterion, note, vec![&line.metric])),
            }
        }
    }
    notes.extend(same.into_iter().map(|(criterion, note, metrics)| format!("{} against {criterion}: {note}", metrics.join(", "))));
    notes
}
