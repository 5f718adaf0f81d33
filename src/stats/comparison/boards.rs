//! Models against each other, by people and by each metric side by side.

use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::lines::{belongs, sheet};
use super::{ALL, Evidence, OVERALL, Plan};
use crate::domain::{ModelVote, Outcome, Preference};
use crate::stats::bradley_terry::{Bouts, Duel, Judge, Ties, Winner};
use crate::stats::intervals::{Bootstrap, Interval, NO_RESAMPLES};
use crate::stats::sheet::{Names, Sheet};
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
    /// The mean over many orders of the duels, drawn by the plan's seed; a single order would decide it.
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

struct Board<'a> {
    judge: &'a str,
    criterion: &'a str,
    split: &'a str,
    group: &'a str,
    bouts: Bouts<'a>,
    /// Sum and count of the judge's values by model.
    values: BTreeMap<&'a str, (f64, usize)>,
}

/// A board for each criterion by people, for each metric, and for each criterion of votes; of all edits and of each group.
pub(super) fn leaderboards(names: &Names<'_>, evidence: &Evidence, criteria: &[String], plan: &Plan) -> Vec<Leaderboard> {
    let settings = Bootstrap { resamples: plan.bootstrap.resamples.min(RESAMPLES), ..plan.bootstrap };
    let mut asked: Vec<(&str, &str, [&str; 2])> = Vec::new();
    for (split, group) in groups(evidence, &plan.splits) {
        asked.extend(criteria.iter().map(|criterion| (PEOPLE, criterion.as_str(), [split, group])));
        asked.extend(evidence.metrics.iter().map(|metric| (metric.as_str(), "", [split, group])));
    }
    let board = |&(judge, criterion, [split, group]): &(&str, &str, [&str; 2])| {
        let (columns, of) = if judge == PEOPLE { ([OVERALL, criterion], Judge::Human) } else { ([judge, OVERALL], Judge::Metric) };
        let sheet = sheet(names, evidence, columns, [split, group]);
        let board = Board { judge, criterion, split, group, bouts: Bouts::of_sheet(&sheet, of), values: sums(&sheet, of) };
        (board.bouts.len() > 0).then(|| leaderboard(&board, settings))
    };
    let mut boards: Vec<Leaderboard> = asked.par_iter().filter_map(board).collect();
    for (split, group) in groups(evidence, &plan.splits) {
        for (criterion, duels) in &vote_duels(evidence, [split, group]) {
            let board = Board { judge: VOTES, criterion, split, group, bouts: Bouts::of_duels(duels), values: BTreeMap::new() };
            boards.push(leaderboard(&board, settings));
        }
    }
    boards
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

fn sums<'a>(sheet: &Sheet<'a>, of: Judge) -> BTreeMap<&'a str, (f64, usize)> {
    let mut sums = vec![(0.0, 0); sheet.names.models.len()];
    for cell in &sheet.cells {
        let value = match of {
            Judge::Human => cell.human,
            Judge::Metric => cell.metric,
        };
        if !value.is_nan() {
            let sum = &mut sums[cell.model as usize];
            *sum = (sum.0 + value, sum.1 + 1);
        }
    }
    sheet.names.models.iter().copied().zip(sums).filter(|(_, (_, count))| *count > 0).collect()
}

/// The duels of votes between edits of a group, by what was asked.
fn vote_duels<'a>(evidence: &'a Evidence, [split, group]: [&str; 2]) -> BTreeMap<&'a str, Vec<Duel>> {
    let of_group = evidence.subjects.iter().filter(|subject| split != ALL && belongs(subject, split, group));
    let members: HashSet<(&str, &str)> = of_group.map(|subject| (subject.item.as_str(), subject.model.as_str())).collect();
    let is_member = |item: &str, model: &str| split == ALL || members.contains(&(item, model));
    let mut by_criterion: BTreeMap<&str, Vec<Duel>> = BTreeMap::new();
    let both = |vote: &&ModelVote| is_member(&vote.item, &vote.first) && is_member(&vote.item, &vote.second);
    for vote in evidence.votes.iter().filter(both) {
        let winner = match vote.preference {
            Preference::First => Winner::First,
            Preference::Second => Winner::Second,
            Preference::Tie | Preference::BothBad => Winner::Tie,
        };
        let duel = Duel { item: vote.item.clone(), first: vote.first.clone(), second: vote.second.clone(), winner };
        by_criterion.entry(&vote.criterion).or_default().push(duel);
    }
    by_criterion
}

fn leaderboard(board: &Board<'_>, settings: Bootstrap) -> Leaderboard {
    let fitted = board.bouts.strengths(Ties::Davidson);
    let intervals: BTreeMap<String, Outcome<Interval>> = match fitted.value() {
        Some(_) if settings.resamples > 0 => board.bouts.strength_intervals(Ties::Davidson, settings).into_iter().collect(),
        _ => BTreeMap::new(),
    };
    let elo: BTreeMap<String, f64> = board.bouts.mean_elo(ELO_STEP, settings.seed).into_iter().collect();
    let standing = |record: crate::stats::bradley_terry::Record| {
        let strength = fitted.clone().and_then(|fitted| {
            let own = fitted.models.iter().find(|(model, _)| *model == record.model).map(|(_, strength)| *strength);
            own.map_or_else(|| Outcome::NotApplicable("the model has no duel".into()), Outcome::Value)
        });
        let no_interval = || match strength.why() {
            Some(why) => Outcome::NotApplicable(why.to_owned()),
            None => Outcome::NotApplicable(NO_RESAMPLES.into()),
        };
        Standing {
            wins: record.wins,
            losses: record.losses,
            ties: record.ties,
            win_rate: record.win_rate(),
            mean: match board.values.get(record.model.as_str()) {
                Some((sum, count)) => Outcome::Value(sum / *count as f64),
                None => Outcome::NotApplicable("a vote is no number".into()),
            },
            strength_interval: intervals.get(&record.model).cloned().unwrap_or_else(no_interval),
            elo: elo.get(&record.model).copied().unwrap_or_default(),
            strength,
            model: record.model,
        }
    };
    let mut standings: Vec<Standing> = board.bouts.records().into_iter().map(standing).collect();
    // Without a strength all are equal here, and the win rate decides.
    let key = |standing: &Standing| {
        (standing.strength.value().copied().unwrap_or_default(), standing.win_rate.value().copied().unwrap_or_default())
    };
    standings.sort_by(|a, b| {
        let ((strength_a, rate_a), (strength_b, rate_b)) = (key(a), key(b));
        strength_b.total_cmp(&strength_a).then(rate_b.total_cmp(&rate_a)).then_with(|| a.model.cmp(&b.model))
    });
    Leaderboard {
        judge: board.judge.to_owned(),
        criterion: board.criterion.to_owned(),
        split: board.split.to_owned(),
        group: board.group.to_owned(),
        duels: board.bouts.len(),
        tie: fitted.map(|fitted| fitted.tie),
        standings,
    }
}
