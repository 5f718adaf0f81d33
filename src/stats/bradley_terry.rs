//! Models against each other: win rates, Bradley-Terry and Davidson strengths, Elo.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::agreement::Row;
use super::intervals::{Bootstrap, Interval, intervals};
use crate::domain::Outcome;

/// Who won one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    First,
    Second,
    Tie,
}

/// Two models compared on one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duel {
    pub item: String,
    pub first: String,
    pub second: String,
    pub winner: Winner,
}

/// Whose opinion decides a duel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    Human,
    Metric,
}

/// Every pair of edits of one item by different models, decided by the higher value; equal values are a tie, missing ones no duel.
pub fn duels(rows: &[Row], judge: Judge) -> Vec<Duel> {
    let value = |row: &Row| match judge {
        Judge::Human => row.human,
        Judge::Metric => row.metric,
    };
    let mut by_item: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
    for row in rows {
        if let Some(value) = value(row).filter(|v| v.is_finite()) {
            by_item.entry(&row.item).or_default().push((&row.model, value));
        }
    }
    let mut duels = Vec::new();
    for (item, mut edits) in by_item {
        edits.sort_by(|a, b| a.0.cmp(b.0).then(a.1.total_cmp(&b.1)));
        for (i, (first, a)) in edits.iter().enumerate() {
            for (second, b) in edits[i + 1..].iter().filter(|(second, _)| second != first) {
                let winner = match a.partial_cmp(b) {
                    Some(std::cmp::Ordering::Greater) => Winner::First,
                    Some(std::cmp::Ordering::Less) => Winner::Second,
                    _ => Winner::Tie,
                };
                duels.push(Duel { item: item.to_owned(), first: (*first).to_owned(), second: (*second).to_owned(), winner });
            }
        }
    }
    duels
}

/// One line of a leaderboard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub model: String,
    pub wins: usize,
    pub losses: usize,
    pub ties: usize,
}

impl Record {
    /// Wins plus half of the ties over all duels.
    pub fn win_rate(&self) -> Outcome<f64> {
        let all = self.wins + self.losses + self.ties;
        if all == 0 {
            return Outcome::NotApplicable("no comparison".into());
        }
        Outcome::Value((self.wins as f64 + self.ties as f64 / 2.0) / all as f64)
    }
}

/// Wins, losses and ties of each model, in alphabetical order.
pub fn records(duels: &[Duel]) -> Vec<Record> {
    let mut records: BTreeMap<&str, Record> = BTreeMap::new();
    for duel in duels {
        for (model, own) in [(&duel.first, Winner::First), (&duel.second, Winner::Second)] {
            let record = records.entry(model).or_insert_with(|| Record { model: model.clone(), wins: 0, losses: 0, ties: 0 });
            match duel.winner {
                Winner::Tie => record.ties += 1,
                winner if winner == own => record.wins += 1,
                _ => record.losses += 1,
            }
        }
    }
    records.into_values().collect()
}

/// Strengths of models from their duels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strengths {
    /// Model and natural logarithm of its strength; the logarithms have mean 0. In alphabetical order.
    pub models: Vec<(String, f64)>,
    /// Davidson's ν: how easily a duel ends in a tie; 0 for Bradley-Terry, where a tie is half a win for each.
    pub tie: f64,
}

/// How ties enter the strengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// Bradley and Terry (1952), a tie as half a win for each.
    HalfWins,
    /// Davidson (1970), with a parameter for ties.
    #[default]
    Davidson,
}

/// Sums of duels between two models, and who they are.
struct Table<'a> {
    models: Vec<&'a str>,
    /// `wins[i][j]`: how often `i` beat `j`.
    wins: Vec<Vec<f64>>,
    /// Symmetric.
    ties: Vec<Vec<f64>>,
}

/// A duel between two models by their place among the names.
type Placed = (usize, usize, Winner);

impl<'a> Table<'a> {
    fn new(duels: impl Iterator<Item = Placed>, models: Vec<&'a str>) -> Self {
        let n = models.len();
        let (mut wins, mut ties) = (vec![vec![0.0; n]; n], vec![vec![0.0; n]; n]);
        for (a, b, winner) in duels {
            match winner {
                Winner::First => wins[a][b] += 1.0,
                Winner::Second => wins[b][a] += 1.0,
                Winner::Tie => {
                    ties[a][b] += 1.0;
                    ties[b][a] += 1.0;
                }
            }
        }
        Self { models, wins, ties }
    }

    /// Strengths are finite only if every model can be reached from every other by wins and ties.
    fn split(&self) -> Option<String> {
        let n = self.models.len();
        let reach = |forward: bool| {
            let mut seen = vec![false; n];
            let mut queue = vec![0];
            seen[0] = true;
            while let Some(at) = queue.pop() {
                for (next, reached) in seen.iter_mut().enumerate() {
                    let won = if forward { self.wins[at][next] } else { self.wins[next][at] };
                    if !*reached && won + self.ties[at][next] > 0.0 {
                        *reached = true;
                        queue.push(next);
                    }
                }
            }
            seen
        };
        let (down, up) = (reach(true), reach(false));
        let odd = (0..n).find(|&i| !down[i] || !up[i])?;
        Some(format!(
            "no chain of wins or ties leads both ways between {} and {}: a strength would be infinite",
            self.models[0], self.models[odd]
        ))
    }
}

/// Fits strengths by maximum likelihood; not defined with fewer than two models, or where one would be infinite.
pub fn strengths(duels: &[Duel], ties: Ties) -> Outcome<Strengths> {
    let models = models_of(duels);
    let placed: Vec<Placed> = duels.iter().filter_map(|duel| placed(duel, &models)).collect();
    fit(&Table::new(placed.into_iter(), models), ties)
}

/// The models of the duels, in alphabetical order.
fn models_of(duels: &[Duel]) -> Vec<&str> {
    duels.iter().flat_map(|d| [d.first.as_str(), d.second.as_str()]).collect::<BTreeSet<_>>().into_iter().collect()
}

fn placed(duel: &Duel, models: &[&str]) -> Option<Placed> {
    let place = |name: &str| models.binary_search(&name).ok();
    Some((place(&duel.first)?, place(&duel.second)?, duel.winner))
}

fn fit(table: &Table<'_>, ties: Ties) -> Outcome<Strengths> {
    let n = table.models.len();
    if n < 2 {
        return Outcome::NotApplicable(format!("{n} model(s); two are needed"));
    }
    if let Some(why) = table.split() {
        return Outcome::NotApplicable(why);
    }
    let tied: f64 = table.ties.iter().flatten().sum::<f64>() / 2.0;
    let davidson = ties == Ties::Davidson && tied > 0.0;
    let (mut strength, mut nu) = (vec![1.0_f64; n], if davidson { 1.0_f64 } else { 0.0 });
    for _ in 0..20_000 {
        let before = (strength.clone(), nu);
        step(table, &mut strength, nu);
        if davidson {
            let mut expected = 0.0;
            for i in 0..n {
                for j in i + 1..n {
                    let games = table.wins[i][j] + table.wins[j][i] + table.ties[i][j];
                    let root = (strength[i] * strength[j]).sqrt();
                    expected += games * root / (strength[i] + strength[j] + nu * root);
                }
            }
            nu = tied / expected;
        }
        let mean = strength.iter().map(|s| s.ln()).sum::<f64>() / n as f64;
        strength.iter_mut().for_each(|s| *s /= mean.exp());
        let moved = strength.iter().zip(&before.0).map(|(a, b)| (a / b).ln().abs()).fold((nu - before.1).abs(), f64::max);
        if moved < 1e-13 {
            let models = table.models.iter().zip(&strength).map(|(m, s)| ((*m).to_owned(), s.ln())).collect();
            return Outcome::Value(Strengths { models, tie: nu });
        }
    }
    Outcome::NotApplicable("the strengths did not settle: there are too few comparisons between some models".into())
}

/// One round of the fixed point of Davidson (1970), which for ν = 0 is that of Bradley and Terry; a tie is half a win.
fn step(table: &Table<'_>, strength: &mut [f64], nu: f64) {
    let n = strength.len();
    for i in 0..n {
        let (mut points, mut expected) = (0.0, 0.0);
        for j in (0..n).filter(|&j| j != i) {
            points += 2.0 * table.wins[i][j] + table.ties[i][j];
            let games = table.wins[i][j] + table.wins[j][i] + table.ties[i][j];
            let root = (strength[i] * strength[j]).sqrt();
            expected += games * (2.0 + nu * (strength[j] / strength[i]).sqrt()) / (strength[i] + strength[j] + nu * root);
        }
        strength[i] = points / expected;
    }
}

/// Intervals of the log-strengths, items resampled, in the order of [`Strengths::models`].
pub fn strength_intervals(duels: &[Duel], ties: Ties, settings: Bootstrap) -> Vec<(String, Outcome<Interval>)> {
    let models = models_of(duels);
    // Names are looked up once, not once for each resample.
    let mut by_item: BTreeMap<&str, Vec<Placed>> = BTreeMap::new();
    for duel in duels {
        by_item.entry(&duel.item).or_default().extend(placed(duel, &models));
    }
    let items: Vec<Vec<Placed>> = by_item.into_values().collect();
    let found = intervals(items.len(), settings, |drawn| {
        let table = Table::new(drawn.iter().flat_map(|&i| items[i].iter().copied()), models.clone());
        match fit(&table, ties) {
            Outcome::Value(fitted) => fitted.models.into_iter().map(|(_, s)| Outcome::Value(s)).collect(),
            Outcome::NotApplicable(why) | Outcome::Failed(why) => vec![Outcome::NotApplicable(why); models.len()],
        }
    });
    models.iter().map(|m| (*m).to_owned()).zip(found).collect()
}

/// Elo ratings after the duels in their order: they depend on it, unlike the strengths. Start 1000, scale 400.
pub fn elo(duels: &[Duel], k: f64) -> Vec<(String, f64)> {
    let mut ratings: BTreeMap<&str, f64> = BTreeMap::new();
    for duel in duels {
        let (a, b) = (*ratings.entry(&duel.first).or_insert(1000.0), *ratings.entry(&duel.second).or_insert(1000.0));
        let expected = 1.0 / (1.0 + 10.0_f64.powf((b - a) / 400.0));
        let score = match duel.winner {
            Winner::First => 1.0,
            Winner::Second => 0.0,
            Winner::Tie => 0.5,
        };
        let change = k * (score - expected);
        ratings.insert(&duel.first, a + change);
        ratings.insert(&duel.second, b - change);
    }
    ratings.into_iter().map(|(model, rating)| (model.to_owned(), rating)).collect()
}
