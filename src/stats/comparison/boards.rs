//! Models against each other, by people and by each metric side by side.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::lines::{belongs, row};
use super::{ALL, Evidence, OVERALL, Plan};
use crate::domain::{Outcome, Preference};
use crate::stats::agreement::Row;
use crate::stats::bradley_terry::{Duel, Judge, Ties, Winner, duels, elo, records, strength_intervals, strengths};
use crate::stats::intervals::{Bootstrap, Interval};
use crate::stats::undefined;

/// One model's place by one judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    pub model: String,
    pub wins: usize,
    pub losses: usize,
    pub ties: usize,
    /// Wins plus half of the ties over all duels.
    #[serde(with = "undefined")]
    pub win_rate: Outcome<f64>,
    /// Mean of the judge's values; votes have none.
    #[serde(with = "undefined")]
    pub mean: Outcome<f64>,
    /// Natural logarithm of Davidson's strength; the logarithms of a board have mean 0.
    #[serde(with = "undefined")]
    pub strength: Outcome<f64>,
    #[serde(with = "undefined")]
    pub strength_interval: Outcome<Interval>,
    /// After the duels in the order of items and names; it depends on that order, unlike the strength.
    pub elo: f64,
}

/// The models in the order of one judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leaderboard {
    /// `people`, `votes`, or the metric's name.
    pub judge: String,
    /// What people were asked; empty for a metric.
    pub criterion: String,
    pub split: String,
    pub group: String,
    pub duels: usize,
    /// Davidson's ν: how easily a duel ties.
    #[serde(with = "undefined")]
    pub tie: Outcome<f64>,
    /// Strongest first; by win rate where there are no strengths.
    pub standings: Vec<Standing>,
}

/// Points that one duel can move.
const ELO_STEP: f64 = 32.0;
/// Fitting strengths is slow, and their intervals need no more.
const RESAMPLES: usize = 300;

/// What people are called as a judge of ratings.
pub const PEOPLE: &str = "people";
/// What people are called as a judge of votes.
pub const VOTES: &str = "votes";

struct Board {
    judge: String,
    criterion: String,
    split: String,
    group: String,
    duels: Vec<Duel>,
    /// Sum and count of the judge's values by model.
    values: BTreeMap<String, (f64, usize)>,
}

/// A board for each criterion by people, for each metric, and for each criterion of votes; of all edits and of each group.
pub(super) fn leaderboards(evidence: &Evidence, criteria: &[String], plan: &Plan) -> Vec<Leaderboard> {
    let mut boards = Vec::new();
    for (split, group) in groups(evidence, &plan.splits) {
        let subjects = || evidence.subjects.iter().filter(|subject| belongs(subject, split, group));
        let named = |judge: &str, criterion: &str, rows: &[Row], of: Judge| Board {
            judge: judge.to_owned(),
            criterion: criterion.to_owned(),
            split: split.to_owned(),
            group: group.to_owned(),
            duels: duels(rows, of),
            values: sums(rows, of),
        };
        for criterion in criteria {
            let rows: Vec<Row> = subjects().map(|subject| row(subject, OVERALL, criterion)).collect();
            boards.push(named(PEOPLE, criterion, &rows, Judge::Human));
        }
        for metric in &evidence.metrics {
            let rows: Vec<Row> = subjects().map(|subject| row(subject, metric, OVERALL)).collect();
            boards.push(named(metric, "", &rows, Judge::Metric));
        }
    }
    boards.extend(vote_boards(evidence));
    let settings = Bootstrap { resamples: plan.bootstrap.resamples.min(RESAMPLES), ..plan.bootstrap };
    boards.par_iter().filter(|board| !board.duels.is_empty()).map(|board| leaderboard(board, settings)).collect()
}

/// All edits, and the groups of every split but that by model.
fn groups<'a>(evidence: &'a Evidence, splits: &'a [String]) -> Vec<(&'a str, &'a str)> {
    let mut found = vec![(ALL, ALL)];
    for split in splits {
        let names: std::collections::BTreeSet<&str> =
            evidence.subjects.iter().filter_map(|subject| subject.labels.get(split)).flatten().map(String::as_str).collect();
        found.extend(names.into_iter().map(|group| (split.as_str(), group)));
    }
    found
}

fn sums(rows: &[Row], of: Judge) -> BTreeMap<String, (f64, usize)> {
    let mut sums: BTreeMap<String, (f64, usize)> = BTreeMap::new();
    for row in rows {
        let value = match of {
            Judge::Human => row.human,
            Judge::Metric => row.metric,
        };
        if let Some(value) = value.filter(|value| value.is_finite()) {
            let sum = sums.entry(row.model.clone()).or_default();
            *sum = (sum.0 + value, sum.1 + 1);
        }
    }
    sums
}

fn vote_boards(evidence: &Evidence) -> Vec<Board> {
    let mut by_criterion: BTreeMap<&str, Vec<Duel>> = BTreeMap::new();
    for vote in &evidence.votes {
        let winner = match vote.preference {
            Preference::First => Winner::First,
            Preference::Second => Winner::Second,
            Preference::Tie | Preference::BothBad => Winner::Tie,
        };
        let duel = Duel { item: vote.item.clone(), first: vote.first.clone(), second: vote.second.clone(), winner };
        by_criterion.entry(&vote.criterion).or_default().push(duel);
    }
    let board = |(criterion, duels): (&str, Vec<Duel>)| Board {
        judge: VOTES.to_owned(),
        criterion: criterion.to_owned(),
        split: ALL.to_owned(),
        group: ALL.to_owned(),
        duels,
        values: BTreeMap::new(),
    };
    by_criterion.into_iter().map(board).collect()
}

fn leaderboard(board: &Board, settings: Bootstrap) -> Leaderboard {
    let fitted = strengths(&board.duels, Ties::Davidson);
    let intervals: BTreeMap<String, Outcome<Interval>> = if board.split == ALL && fitted.value().is_some() {
        strength_intervals(&board.duels, Ties::Davidson, settings).into_iter().collect()
    } else {
        BTreeMap::new()
    };
    let elo: BTreeMap<String, f64> = elo(&board.duels, ELO_STEP).into_iter().collect();
    let standing = |record: crate::stats::bradley_terry::Record| {
        let strength = fitted.clone().and_then(|fitted| {
            let own = fitted.models.iter().find(|(model, _)| *model == record.model).map(|(_, strength)| *strength);
            own.map_or_else(|| Outcome::NotApplicable("the model has no duel".into()), Outcome::Value)
        });
        let no_interval = || match strength.why() {
            Some(why) => Outcome::NotApplicable(why.to_owned()),
            None => Outcome::NotApplicable("computed for all edits only".into()),
        };
        Standing {
            wins: record.wins,
            losses: record.losses,
            ties: record.ties,
            win_rate: record.win_rate(),
            mean: match board.values.get(&record.model) {
                Some((sum, count)) => Outcome::Value(sum / *count as f64),
                None => Outcome::NotApplicable("a vote is no number".into()),
            },
            strength_interval: intervals.get(&record.model).cloned().unwrap_or_else(no_interval),
            elo: elo.get(&record.model).copied().unwrap_or_default(),
            strength,
            model: record.model,
        }
    };
    let mut standings: Vec<Standing> = records(&board.duels).into_iter().map(standing).collect();
    // Without a strength all are equal here, and the win rate decides.
    let key = |standing: &Standing| {
        (standing.strength.value().copied().unwrap_or_default(), standing.win_rate.value().copied().unwrap_or_default())
    };
    standings.sort_by(|a, b| {
        let ((strength_a, rate_a), (strength_b, rate_b)) = (key(a), key(b));
        strength_b.total_cmp(&strength_a).then(rate_b.total_cmp(&rate_a)).then_with(|| a.model.cmp(&b.model))
    });
    Leaderboard {
        judge: board.judge.clone(),
        criterion: board.criterion.clone(),
        split: board.split.clone(),
        group: board.group.clone(),
        duels: board.duels.len(),
        tie: fitted.map(|fitted| fitted.tie),
        standings,
    }
}
