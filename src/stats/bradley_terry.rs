//! Models against each other: win rates, Bradley-Terry and Davidson strengths, Elo.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::agreement::{HUMAN_TIE, Row};
use super::intervals::{Bootstrap, Interval, intervals};
use super::random::Random;
use super::sheet::{Cell, Names, Numbers, Sheet};
use crate::domain::Outcome;

/// Who won one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    let names = Names::of_rows(rows);
    let bouts = Bouts::of_sheet(&names.of(rows), judge);
    let mut duels = Vec::new();
    for (at, item) in bouts.items.iter().enumerate() {
        for (first, second, winner) in bouts.of_item(at) {
            let name = |model: &u32| bouts.models[*model as usize].to_owned();
            duels.push(Duel { item: (*item).to_owned(), first: name(first), second: name(second), winner: *winner });
        }
    }
    duels
}

/// A duel between two models by their place among the names.
type Placed = (u32, u32, Winner);

/// The duel with the smaller number first.
fn in_order((first, second, winner): Placed) -> Placed {
    if first <= second {
        return (first, second, winner);
    }
    let turned = match winner {
        Winner::First => Winner::Second,
        Winner::Second => Winner::First,
        Winner::Tie => Winner::Tie,
    };
    (second, first, turned)
}

/// Duels item by item, names as numbers.
#[derive(Debug)]
pub(super) struct Bouts<'a> {
    /// Those with a duel, in alphabetical order.
    models: Vec<&'a str>,
    items: Vec<&'a str>,
    /// Where the duels of each item begin; one more at the end.
    starts: Vec<usize>,
    duels: Vec<Placed>,
}

impl<'a> Bouts<'a> {
    /// In the order of items, then of names.
    pub(super) fn of_sheet(sheet: &Sheet<'a>, judge: Judge) -> Self {
        let value = |cell: &Cell| match judge {
            Judge::Human => cell.human,
            Judge::Metric => cell.metric,
        };
        let mut found = Self { models: sheet.names.models.clone(), items: Vec::new(), starts: vec![0], duels: Vec::new() };
        let mut edits: Vec<(u32, f64)> = Vec::new();
        for item in sheet.items() {
            edits.clear();
            edits.extend(item.iter().map(|cell| (cell.model, value(cell))).filter(|(_, value)| !value.is_nan()));
            edits.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            for (i, (first, a)) in edits.iter().enumerate() {
                for (second, b) in edits[i + 1..].iter().filter(|(second, _)| second != first) {
                    // Means of the same answers in another order may differ in the last bit.
                    let tie = judge == Judge::Human && (a - b).abs() < HUMAN_TIE;
                    let winner = match a.partial_cmp(b) {
                        Some(std::cmp::Ordering::Greater) if !tie => Winner::First,
                        Some(std::cmp::Ordering::Less) if !tie => Winner::Second,
                        _ => Winner::Tie,
                    };
                    found.duels.push((*first, *second, winner));
                }
            }
            if found.starts.last() != Some(&found.duels.len()) {
                found.items.push(sheet.names.items[item[0].item as usize]); // no chunk is empty
                found.starts.push(found.duels.len());
            }
        }
        found.without_idle()
    }

    /// Of one list of duels, in whatever order; here they stand item by item, then by names and winner.
    pub(super) fn of_duels(duels: &'a [Duel]) -> Self {
        let mut numbers = Numbers::default();
        let mut by_item: BTreeMap<&str, Vec<Placed>> = BTreeMap::new();
        for duel in duels {
            by_item.entry(&duel.item).or_default().push((numbers.of(&duel.first), numbers.of(&duel.second), duel.winner));
        }
        let (places, models) = numbers.sorted();
        let mut found = Self { models, items: Vec::new(), starts: vec![0], duels: Vec::with_capacity(duels.len()) };
        for (item, own) in by_item {
            found.items.push(item);
            let from = found.duels.len();
            found.duels.extend(own.into_iter().map(|(a, b, winner)| in_order((places[a as usize], places[b as usize], winner))));
            found.duels[from..].sort_unstable();
            found.starts.push(found.duels.len());
        }
        found
    }

    /// Models without a duel have no strength and no place on a board.
    fn without_idle(mut self) -> Self {
        let mut fights = vec![false; self.models.len()];
        self.duels.iter().flat_map(|(a, b, _)| [*a, *b]).for_each(|model| fights[model as usize] = true);
        let mut places = vec![0; self.models.len()];
        let mut kept = Vec::new();
        for (at, name) in self.models.iter().enumerate().filter(|(at, _)| fights[*at]) {
            places[at] = kept.len() as u32;
            kept.push(*name);
        }
        self.duels.iter_mut().for_each(|(a, b, _)| (*a, *b) = (places[*a as usize], places[*b as usize]));
        self.models = kept;
        self
    }

    pub(super) fn len(&self) -> usize {
        self.duels.len()
    }

    fn of_item(&self, item: usize) -> &[Placed] {
        &self.duels[self.starts[item]..self.starts[item + 1]]
    }

    /// Wins, losses and ties of each model, in alphabetical order.
    pub(super) fn records(&self) -> Vec<Record> {
        let new = |model: &&str| Record { model: (*model).to_owned(), wins: 0, losses: 0, ties: 0 };
        let mut records: Vec<Record> = self.models.iter().map(new).collect();
        for (first, second, winner) in &self.duels {
            for (model, own) in [(*first, Winner::First), (*second, Winner::Second)] {
                let record = &mut records[model as usize];
                match winner {
                    Winner::Tie => record.ties += 1,
                    winner if *winner == own => record.wins += 1,
                    _ => record.losses += 1,
                }
            }
        }
        records
    }

    /// See [`strengths`].
    pub(super) fn strengths(&self, ties: Ties) -> Outcome<Strengths> {
        fit(&Table::new(self.duels.iter(), self.models.clone()), ties)
    }

    /// See [`strength_intervals`].
    pub(super) fn strength_intervals(&self, ties: Ties, settings: Bootstrap) -> Vec<(String, Outcome<Interval>)> {
        let found = intervals(self.items.len(), settings, |drawn| {
            let table = Table::new(drawn.iter().flat_map(|&item| self.of_item(item)), self.models.clone());
            match fit(&table, ties) {
                Outcome::Value(fitted) => fitted.models.into_iter().map(|(_, s)| Outcome::Value(s)).collect(),
                Outcome::NotApplicable(why) | Outcome::Failed(why) => vec![Outcome::NotApplicable(why); self.models.len()],
            }
        });
        self.models.iter().map(|m| (*m).to_owned()).zip(found).collect()
    }

    /// The mean of [`elo`] over orders drawn by the seed: one order would say as much about itself as about the models. At most
    /// [`ELO_ORDERS`], and fewer where there are so many duels that one order says nearly the same as another.
    pub(super) fn mean_elo(&self, k: f64, seed: u64) -> Vec<(String, f64)> {
        let orders = (ELO_STEPS / self.duels.len().max(1)).clamp(4, ELO_ORDERS);
        let mut random = Random::new(seed);
        let mut order = self.duels.clone();
        let mut sums = vec![0.0; self.models.len()];
        for _ in 0..orders {
            for last in (1..order.len()).rev() {
                order.swap(last, random.below(last + 1));
            }
            let found = elo_of(&self.models, order.iter(), k);
            sums.iter_mut().zip(found).for_each(|(sum, (_, rating))| *sum += rating);
        }
        self.models.iter().map(|model| (*model).to_owned()).zip(sums.into_iter().map(|sum| sum / orders as f64)).collect()
    }
}

/// Orders that Elo is a mean over.
pub const ELO_ORDERS: usize = 100;
/// Duels that are gone through for one board's Elo, in all orders together.
const ELO_STEPS: usize = 1_000_000;

fn elo_of<'d>(models: &[&str], duels: impl Iterator<Item = &'d Placed>, k: f64) -> Vec<(String, f64)> {
    let mut ratings = vec![1000.0; models.len()];
    for (first, second, winner) in duels {
        let (a, b) = (ratings[*first as usize], ratings[*second as usize]);
        let expected = 1.0 / (1.0 + 10.0_f64.powf((b - a) / 400.0));
        let score = match winner {
            Winner::First => 1.0,
            Winner::Second => 0.0,
            Winner::Tie => 0.5,
        };
        let change = k * (score - expected);
        ratings[*first as usize] = a + change;
        ratings[*second as usize] = b - change;
    }
    models.iter().map(|model| (*model).to_owned()).zip(ratings).collect()
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
    Bouts::of_duels(duels).records()
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

impl<'a> Table<'a> {
    fn new<'d>(duels: impl Iterator<Item = &'d Placed>, models: Vec<&'a str>) -> Self {
        let n = models.len();
        let (mut wins, mut ties) = (vec![vec![0.0; n]; n], vec![vec![0.0; n]; n]);
        for (a, b, winner) in duels {
            let (a, b) = (*a as usize, *b as usize);
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

    /// Why no strengths were found although wins and ties lead from every model to every other.
    fn unsettled(&self) -> String {
        let sum = |at: usize, won: bool| -> f64 {
            (0..self.models.len()).map(|other| if won { self.wins[at][other] } else { self.wins[other][at] }).sum()
        };
        for (at, model) in self.models.iter().enumerate() {
            match (sum(at, true) > 0.0, sum(at, false) > 0.0) {
                (true, false) => return format!("'{model}' never loses a duel, so its strength would be infinite"),
                (false, true) => return format!("'{model}' never wins a duel, so its strength would be nothing"),
                _ => {}
            }
        }
        "the strengths did not settle: some models win almost every duel".to_owned()
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
    Bouts::of_duels(duels).strengths(ties)
}

fn fit(table: &Table<'_>, ties: Ties) -> Outcome<Strengths> {
    let n = table.models.len();
    if n < 2 {
        return Outcome::NotApplicable(format!("{n} model(s); two are needed"));
    }
    if let Some(why) = table.split() {
        return Outcome::NotApplicable(why);
    }
    let sum = |cells: &[Vec<f64>]| cells.iter().flatten().sum::<f64>();
    let tied = sum(&table.ties) / 2.0;
    if ties == Ties::Davidson && sum(&table.wins) == 0.0 {
        return Outcome::NotApplicable(format!("all {tied} duels tie: nothing tells one model from another"));
    }
    let likelihood = Likelihood { table, davidson: ties == Ties::Davidson && tied > 0.0 };
    match likelihood.maximum() {
        Some(place) => {
            let models = table.models.iter().zip(&place).map(|(model, strength)| ((*model).to_owned(), *strength)).collect();
            Outcome::Value(Strengths { models, tie: if likelihood.davidson { place[n].exp() } else { 0.0 } })
        }
        None => Outcome::NotApplicable(table.unsettled()),
    }
}

/// The likelihood of Davidson (1970), which without ties is that of Bradley and Terry; a tie is half a win there. Over the logarithms of
/// strengths and of ν it is concave: each duel is a choice among win, loss and tie with weights of which these are linear exponents.
struct Likelihood<'a> {
    table: &'a Table<'a>,
    davidson: bool,
}

impl Likelihood<'_> {
    /// Where the likelihood is largest: log-strengths with mean 0, then log ν for Davidson. Newton's method with halved steps;
    /// a fixed point would take a number of rounds that grows without bound with the share of ties.
    fn maximum(&self) -> Option<Vec<f64>> {
        let n = self.table.models.len();
        let mut place = vec![0.0; n + usize::from(self.davidson)];
        let mut value = self.value(&place);
        for _ in 0..200 {
            let step = self.newton_step(&place)?;
            let largest = step.iter().fold(0.0_f64, |largest, part| largest.max(part.abs()));
            let mut share = (3.0 / largest).min(1.0); // further away the square that Newton fits says nothing
            loop {
                let next: Vec<f64> = place.iter().zip(&step).map(|(at, part)| at + share * part).collect();
                let found = self.value(&next);
                if found >= value - 1e-12 * value.abs() {
                    (place, value) = (next, found);
                    break;
                }
                share /= 2.0;
                if share < 1e-9 {
                    return None;
                }
            }
            if largest < 1e-11 {
                let mean = place[..n].iter().sum::<f64>() / n as f64;
                place[..n].iter_mut().for_each(|strength| *strength -= mean);
                return Some(place);
            }
        }
        None
    }

    /// Wins of either and ties of each pair that met.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize, [f64; 3])> {
        let table = self.table;
        let n = table.models.len();
        (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j))).filter_map(move |(i, j)| {
            let half = if self.davidson { 0.0 } else { table.ties[i][j] / 2.0 };
            let ties = if self.davidson { table.ties[i][j] } else { 0.0 };
            let counts = [table.wins[i][j] + half, table.wins[j][i] + half, ties];
            (counts.iter().sum::<f64>() > 0.0).then_some((i, j, counts))
        })
    }

    /// Logarithms of the chances of a win of `i`, of `j` and of a tie.
    fn log_chances(&self, place: &[f64], i: usize, j: usize) -> [f64; 3] {
        let tie = if self.davidson { place[place.len() - 1] + f64::midpoint(place[i], place[j]) } else { f64::NEG_INFINITY };
        let weights = [place[i], place[j], tie];
        let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let all = largest + weights.iter().map(|weight| (weight - largest).exp()).sum::<f64>().ln();
        weights.map(|weight| weight - all)
    }

    fn value(&self, place: &[f64]) -> f64 {
        let of_pair = |(i, j, counts): (usize, usize, [f64; 3])| -> f64 {
            let chances = self.log_chances(place, i, j);
            counts.iter().zip(chances).filter(|(count, _)| **count > 0.0).map(|(count, chance)| count * chance).sum()
        };
        self.pairs().map(of_pair).sum()
    }

    fn newton_step(&self, place: &[f64]) -> Option<Vec<f64>> {
        let (n, size) = (self.table.models.len(), place.len());
        let mut gradient = vec![0.0; size];
        let mut curvature = vec![vec![0.0; size]; size];
        for (i, j, counts) in self.pairs() {
            let chances = self.log_chances(place, i, j).map(f64::exp);
            let games: f64 = counts.iter().sum();
            // How the three exponents depend on the strength of i, on that of j, and on log ν.
            let slopes = [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.0, 0.0, 1.0]];
            let places = [i, j, size - 1];
            let used = if self.davidson { 3 } else { 2 };
            let mean = |slope: &[f64; 3]| slope.iter().zip(chances).map(|(slope, chance)| slope * chance).sum::<f64>();
            for a in 0..used {
                gradient[places[a]] +=
                    slopes[a].iter().zip(counts).map(|(slope, count)| slope * count).sum::<f64>() - games * mean(&slopes[a]);
                for b in 0..used {
                    let both: f64 = (0..3).map(|k| slopes[a][k] * slopes[b][k] * chances[k]).sum();
                    curvature[places[a]][places[b]] += games * (both - mean(&slopes[a]) * mean(&slopes[b]));
                }
            }
        }
        // Adding the same to every log-strength changes nothing; this keeps their mean.
        let games: f64 = self.pairs().map(|(_, _, counts)| counts.iter().sum::<f64>()).sum();
        for row in &mut curvature[..n] {
            row[..n].iter_mut().for_each(|cell| *cell += games / (n * n) as f64);
        }
        solve(curvature, gradient)
    }
}

/// Solves a symmetric, positive definite system by Cholesky's factors; `None` when it is none.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for column in 0..n {
        for row in column..n {
            let dot: f64 = (0..column).map(|k| matrix[row][k] * matrix[column][k]).sum();
            let rest = matrix[row][column] - dot;
            if row == column {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                matrix[row][row] = rest.sqrt();
            } else {
                matrix[row][column] = rest / matrix[column][column];
            }
        }
    }
    for row in 0..n {
        let dot: f64 = (0..row).map(|k| matrix[row][k] * right[k]).sum();
        right[row] = (right[row] - dot) / matrix[row][row];
    }
    for row in (0..n).rev() {
        let dot: f64 = (row + 1..n).map(|k| matrix[k][row] * right[k]).sum();
        right[row] = (right[row] - dot) / matrix[row][row];
    }
    Some(right)
}

/// Intervals of the log-strengths, items resampled, in the order of [`Strengths::models`].
pub fn strength_intervals(duels: &[Duel], ties: Ties, settings: Bootstrap) -> Vec<(String, Outcome<Interval>)> {
    Bouts::of_duels(duels).strength_intervals(ties, settings)
}

/// Elo ratings after the duels in their order: they depend on it, unlike the strengths. Start 1000, scale 400.
pub fn elo(duels: &[Duel], k: f64) -> Vec<(String, f64)> {
    let mut numbers = Numbers::default();
    let placed: Vec<Placed> = duels.iter().map(|duel| (numbers.of(&duel.first), numbers.of(&duel.second), duel.winner)).collect();
    let (places, models) = numbers.sorted();
    let placed: Vec<Placed> = placed.into_iter().map(|(a, b, winner)| (places[a as usize], places[b as usize], winner)).collect();
    elo_of(&models, placed.iter(), k)
}
