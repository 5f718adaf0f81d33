//! Answers of people as one long table: what counts, means, agreement by criterion and model, habits, and where people disagree.
//!
//! The same rater may have answered twice for an edit: the last answer counts, earlier ones show how consistent the rater is.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::alpha::{AlphaIntervals, alpha_intervals};
use super::answers::{Asked, counted, numbered};
use super::correlation::spearman;
use super::intervals::{Bootstrap, NO_RESAMPLES};
use super::raters::{
    Icc, Level, Unit, Weights, beside_others, cohen_kappa, fleiss_kappa, habits, icc, krippendorff_alpha, percent_agreement,
};
use super::undefined;
use crate::domain::{ModelVote, Outcome, Preference};

/// One answer of one rater about one edit under one criterion; higher is better.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub item: String,
    pub model: String,
    pub rater: String,
    pub criterion: String,
    pub value: f64,
    /// How long it took; `None` when nobody measured it.
    pub seconds: Option<f64>,
}

/// Names an edit in a table: item and model.
pub type EditName = (String, String);

/// Mean over raters, by edit and criterion.
pub fn means(answers: &[Answer]) -> BTreeMap<EditName, BTreeMap<String, f64>> {
    let mut means: BTreeMap<EditName, BTreeMap<String, f64>> = BTreeMap::new();
    for asked in counted(answers) {
        for ((item, model), unit) in asked.edits.iter().zip(&asked.units) {
            let given: Vec<f64> = unit.iter().flatten().copied().collect();
            let mean = given.iter().sum::<f64>() / given.len() as f64; // every edit of the table has an answer
            means.entry(((*item).to_owned(), (*model).to_owned())).or_default().insert(asked.criterion.to_owned(), mean);
        }
    }
    means
}

/// Cohen's κ of two raters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairKappa {
    pub raters: [String; 2],
    #[serde(with = "undefined")]
    pub kappa: Outcome<f64>,
    /// Differences weighed by the square of their distance.
    #[serde(with = "undefined")]
    pub quadratic: Outcome<f64>,
}

/// How far people agree about one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BetweenRaters {
    /// Raters who answered at all, in alphabetical order.
    pub raters: Vec<String>,
    /// Edits with an answer.
    pub edits: usize,
    /// Edits with answers of two raters or more; the others cannot show agreement.
    pub edits_with_two: usize,
    /// Edits that every rater answered, which Fleiss' κ and the intraclass correlations are over; `None` where that was not saved.
    #[serde(default)]
    pub edits_with_all: Option<usize>,
    pub answers: usize,
    /// The share of equal pairs of answers to the same edit.
    #[serde(with = "undefined")]
    pub percent: Outcome<f64>,
    #[serde(with = "undefined")]
    pub alpha_nominal: Outcome<f64>,
    #[serde(with = "undefined")]
    pub alpha_ordinal: Outcome<f64>,
    #[serde(with = "undefined")]
    pub alpha_interval: Outcome<f64>,
    /// Items are drawn.
    #[serde(default)]
    pub alpha_intervals: AlphaIntervals,
    #[serde(with = "undefined")]
    pub fleiss_kappa: Outcome<f64>,
    /// Every pair of raters.
    pub cohen_kappa: Vec<PairKappa>,
    /// Intraclass correlation, the same raters, one answer, absolute agreement: ICC(2,1).
    #[serde(with = "undefined")]
    pub icc_single: Outcome<f64>,
    /// The same for the mean of the raters: ICC(2,k).
    #[serde(with = "undefined")]
    pub icc_mean: Outcome<f64>,
}

/// More raters than this get no table of pairs: it would be larger than what it says.
const PAIRED_RATERS: usize = 12;

impl BetweenRaters {
    /// Over the units of some raters, cells in their order.
    pub fn of(raters: &[&str], units: &[Unit]) -> Self {
        let filled = |unit: &&Unit| unit.iter().flatten().count();
        let column = |i: usize| -> Vec<Option<f64>> { units.iter().map(|unit| unit.get(i).copied().flatten()).collect() };
        let mut pairs = Vec::new();
        if raters.len() <= PAIRED_RATERS {
            for (i, a) in raters.iter().enumerate() {
                for (j, b) in raters.iter().enumerate().skip(i + 1) {
                    pairs.push(PairKappa {
                        raters: [(*a).to_owned(), (*b).to_owned()],
                        kappa: cohen_kappa(&column(i), &column(j), Weights::None),
                        quadratic: cohen_kappa(&column(i), &column(j), Weights::Quadratic),
                    });
                }
            }
        }
        Self {
            raters: raters.iter().map(|rater| (*rater).to_owned()).collect(),
            edits: units.iter().filter(|unit| filled(unit) > 0).count(),
            edits_with_two: units.iter().filter(|unit| filled(unit) > 1).count(),
            edits_with_all: Some(units.iter().filter(|unit| filled(unit) == raters.len()).count()),
            answers: units.iter().map(|unit| unit.iter().flatten().count()).sum(),
            percent: percent_agreement(units),
            alpha_nominal: krippendorff_alpha(units, Level::Nominal),
            alpha_ordinal: krippendorff_alpha(units, Level::Ordinal),
            alpha_interval: krippendorff_alpha(units, Level::Interval),
            alpha_intervals: AlphaIntervals::none(NO_RESAMPLES),
            fleiss_kappa: fleiss_kappa(units),
            cohen_kappa: pairs,
            icc_single: icc(units, Icc::TwoOne),
            icc_mean: icc(units, Icc::TwoMean),
        }
    }

    /// Of choices, whose codes have no order: what orders or subtracts them is undefined.
    fn without_order(self) -> Self {
        fn no_order<T>() -> Outcome<T> {
            Outcome::NotApplicable("votes have no order and no distance: see nominal α, κ and per cent".to_owned())
        }
        let unweighed = |pair: PairKappa| PairKappa { quadratic: no_order(), ..pair };
        Self {
            alpha_ordinal: no_order(),
            alpha_interval: no_order(),
            alpha_intervals: AlphaIntervals { ordinal: no_order(), interval: no_order(), ..self.alpha_intervals },
            icc_single: no_order(),
            icc_mean: no_order(),
            cohen_kappa: self.cohen_kappa.into_iter().map(unweighed).collect(),
            ..self
        }
    }
}

/// One unit an edit, one cell a rater (in alphabetical order).
fn units_of<'a>(cells: impl Iterator<Item = &'a BTreeMap<&'a str, f64>> + Clone) -> (Vec<&'a str>, Vec<Unit>) {
    let raters: BTreeSet<&str> = cells.clone().flat_map(|cells| cells.keys().copied()).collect();
    let raters: Vec<&str> = raters.into_iter().collect();
    let units = cells.map(|cells| raters.iter().map(|rater| cells.get(rater).copied()).collect()).collect();
    (raters, units)
}

/// Agreement between people, by criterion and model.
pub fn between_raters(answers: &[Answer]) -> BTreeMap<String, BTreeMap<String, BetweenRaters>> {
    between_raters_of(&counted(answers), NONE)
}

/// No intervals.
const NONE: Bootstrap = Bootstrap { resamples: 0, level: 0.95, seed: 1 };

pub(super) fn between_raters_of(tables: &[Asked<'_>], settings: Bootstrap) -> BTreeMap<String, BTreeMap<String, BetweenRaters>> {
    let of = |asked: &Asked<'_>| {
        let parts = asked.by_model().into_par_iter();
        // Two units of one model are of two items, but for repeated edits.
        parts.map(|part| (part.model.to_owned(), with_intervals(&part.raters, &part.units, &part.items, settings))).collect()
    };
    tables.par_iter().map(|asked| (asked.criterion.to_owned(), of(asked))).collect()
}

fn with_intervals(raters: &[&str], units: &[Unit], items: &[usize], settings: Bootstrap) -> BetweenRaters {
    BetweenRaters { alpha_intervals: alpha_intervals(units, items, settings), ..BetweenRaters::of(raters, units) }
}

/// Agreement between people, by criterion, over the edits of all models together.
pub fn between_raters_all(answers: &[Answer]) -> BTreeMap<String, BetweenRaters> {
    between_raters_all_of(&counted(answers), NONE)
}

pub(super) fn between_raters_all_of(tables: &[Asked<'_>], settings: Bootstrap) -> BTreeMap<String, BetweenRaters> {
    let of = |asked: &Asked<'_>| with_intervals(&asked.raters, &asked.units, &asked.items(), settings);
    tables.par_iter().map(|asked| (asked.criterion.to_owned(), of(asked))).collect()
}

/// Agreement between people who voted, by criterion: a unit is an item with a pair of models. Only nominal statistics mean something.
pub fn between_voters(votes: &[ModelVote]) -> BTreeMap<String, BetweenRaters> {
    between_voters_of(votes, NONE)
}

pub(super) fn between_voters_of(votes: &[ModelVote], settings: Bootstrap) -> BTreeMap<String, BetweenRaters> {
    let mut tables: BTreeMap<&str, BTreeMap<[&str; 3], BTreeMap<&str, f64>>> = BTreeMap::new();
    for vote in votes {
        let (first, second, preference) = in_order(vote);
        let code = match preference {
            Preference::First => 1.0,
            Preference::Second => 2.0,
            Preference::Tie => 3.0,
            Preference::BothBad => 4.0,
        };
        let units = tables.entry(&vote.criterion).or_default();
        units.entry([&vote.item, first, second]).or_default().insert(&vote.rater, code);
    }
    tables
        .iter()
        .map(|(criterion, table)| {
            let (raters, units) = units_of(table.values());
            let items = numbered(table.keys().map(|[item, _, _]| *item));
            ((*criterion).to_owned(), with_intervals(&raters, &units, &items, settings).without_order())
        })
        .collect()
}

/// How one voter votes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoterReport {
    pub votes: usize,
    /// The share of the decided votes that went to the edit shown first (left); 0.5 when the side does not matter.
    #[serde(with = "undefined")]
    pub first_share: Outcome<f64>,
    /// The share of ties and of both bad.
    #[serde(with = "undefined")]
    pub tie_share: Outcome<f64>,
    /// Votes of others on the same pairs.
    pub others: usize,
    /// The share of them that are the same as the voter's own.
    #[serde(with = "undefined")]
    pub with_others: Outcome<f64>,
}

/// Habits of voters, by criterion and rater.
pub fn voter_reports(votes: &[ModelVote]) -> BTreeMap<String, BTreeMap<String, VoterReport>> {
    let mut own: BTreeMap<(&str, &str), Vec<&ModelVote>> = BTreeMap::new();
    let mut of_pair: BTreeMap<[&str; 4], Vec<(&str, Preference)>> = BTreeMap::new();
    for vote in votes {
        own.entry((&vote.criterion, &vote.rater)).or_default().push(vote);
        let (first, second, preference) = in_order(vote);
        of_pair.entry([&vote.criterion, &vote.item, first, second]).or_default().push((&vote.rater, preference));
    }
    let mut reports: BTreeMap<String, BTreeMap<String, VoterReport>> = BTreeMap::new();
    for ((criterion, rater), mine) in own {
        let (mut same, mut others) = (0, 0);
        for vote in &mine {
            let (first, second, preference) = in_order(vote);
            for (other, theirs) in of_pair.get(&[criterion, &vote.item, first, second]).into_iter().flatten() {
                if *other != rater {
                    others += 1;
                    same += usize::from(*theirs == preference);
                }
            }
        }
        let decided = mine.iter().filter(|vote| !vote.preference.is_tie()).count();
        let left = mine.iter().filter(|vote| vote.preference == Preference::First).count();
        let report = VoterReport {
            votes: mine.len(),
            first_share: share(left, decided, "no vote prefers one of the two"),
            tie_share: share(mine.len() - decided, mine.len(), "no vote"),
            others,
            with_others: share(same, others, "nobody else voted on the same pairs"),
        };
        reports.entry(criterion.to_owned()).or_default().insert(rater.to_owned(), report);
    }
    reports
}

fn share(part: usize, whole: usize, why: &str) -> Outcome<f64> {
    if whole == 0 { Outcome::NotApplicable(why.to_owned()) } else { Outcome::Value(part as f64 / whole as f64) }
}

/// The two models in alphabetical order, and the choice between them so ordered.
pub(super) fn in_order(vote: &ModelVote) -> (&str, &str, Preference) {
    if vote.first <= vote.second {
        (&vote.first, &vote.second, vote.preference)
    } else {
        (&vote.second, &vote.first, vote.preference.swapped())
    }
}

/// How one rater answers one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaterReport {
    /// Edits answered.
    pub answers: usize,
    /// Mean of own answer minus the mean of the others on the same edit.
    #[serde(with = "undefined")]
    pub bias: Outcome<f64>,
    /// Standard deviation of own answers (n − 1).
    #[serde(with = "undefined")]
    pub spread: Outcome<f64>,
    /// Spearman's ρ with the mean of the others.
    #[serde(with = "undefined")]
    pub with_others: Outcome<f64>,
    /// Edits answered more than once.
    pub repeats: usize,
    /// The share of repeats where the last two answers are equal.
    #[serde(with = "undefined")]
    pub self_consistency: Outcome<f64>,
    /// Mean distance of the last two answers.
    #[serde(with = "undefined")]
    pub self_distance: Outcome<f64>,
    /// Median time for an answer.
    #[serde(with = "undefined")]
    pub median_seconds: Outcome<f64>,
}

/// ρ below which a rater runs against the others; with fewer edits than `ENOUGH` nothing is said.
const AGAINST: f64 = -0.3;
const ENOUGH: usize = 10;

impl RaterReport {
    /// Whether this rater answers so much against the others that the scale may be reversed.
    pub fn runs_against(&self) -> bool {
        self.answers >= ENOUGH && self.with_others.value().is_some_and(|rho| *rho < AGAINST)
    }
}

/// Habits of raters, by criterion and rater.
pub fn rater_reports(answers: &[Answer]) -> BTreeMap<String, BTreeMap<String, RaterReport>> {
    rater_reports_of(&counted(answers))
}

pub(super) fn rater_reports_of(tables: &[Asked<'_>]) -> BTreeMap<String, BTreeMap<String, RaterReport>> {
    tables.par_iter().map(|asked| (asked.criterion.to_owned(), reports_of(asked))).collect()
}

fn reports_of(asked: &Asked<'_>) -> BTreeMap<String, RaterReport> {
    let beside = beside_others(&asked.units);
    let habits = habits(&asked.units);
    let of = |(at, rater): (usize, &&str)| {
        let (habit, (own, others)) = (&habits[at], &beside[at]);
        let repeats = asked.repeats(at);
        let none = || Outcome::NotApplicable("no edit was answered twice".to_owned());
        let mean =
            |values: &[f64]| if values.is_empty() { none() } else { Outcome::Value(values.iter().sum::<f64>() / values.len() as f64) };
        let equal: Vec<f64> = repeats.iter().map(|distance| f64::from(u8::from(*distance == 0.0))).collect();
        let report = RaterReport {
            answers: habit.answers,
            bias: habit.bias.clone(),
            spread: habit.spread.clone(),
            with_others: if own.is_empty() { Outcome::NotApplicable("nobody else answered".into()) } else { spearman(own, others) },
            repeats: repeats.len(),
            self_consistency: mean(&equal),
            self_distance: mean(&repeats),
            median_seconds: median(asked.seconds(at), "no time is recorded"),
        };
        ((*rater).to_owned(), report)
    };
    asked.raters.iter().enumerate().map(of).collect()
}

pub(super) fn median(mut values: Vec<f64>, why: &str) -> Outcome<f64> {
    values.retain(|value| value.is_finite());
    if values.is_empty() {
        return Outcome::NotApplicable(why.to_owned());
    }
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    Outcome::Value(if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) })
}

/// An edit about which people disagree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    pub item: String,
    pub model: String,
    pub criterion: String,
    /// Greatest minus least answer.
    pub spread: f64,
    /// Standard deviation (n − 1).
    pub deviation: f64,
    /// By rater.
    pub answers: BTreeMap<String, f64>,
}

/// Edits on which people's answers lie furthest apart, at most `most` for each criterion; edits without difference are none.
pub fn disagreements(answers: &[Answer], most: usize) -> Vec<Disagreement> {
    disagreements_of(&counted(answers), most)
}

pub(super) fn disagreements_of(tables: &[Asked<'_>], most: usize) -> Vec<Disagreement> {
    let of = |asked: &Asked<'_>| {
        let apart = |(at, unit): (usize, &Unit)| {
            let given: Vec<f64> = unit.iter().flatten().copied().collect();
            let (min, max) = given.iter().fold((f64::MAX, f64::MIN), |(min, max), v| (min.min(*v), max.max(*v)));
            let mean = given.iter().sum::<f64>() / given.len() as f64;
            let squares: f64 = given.iter().map(|v| (v - mean).powi(2)).sum();
            (given.len() > 1 && max > min).then(|| (at, max - min, (squares / (given.len() - 1) as f64).sqrt()))
        };
        let mut apart: Vec<(usize, f64, f64)> = asked.units.iter().enumerate().filter_map(apart).collect();
        apart.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.2.total_cmp(&a.2)));
        apart.truncate(most);
        let disagreement = |(at, spread, deviation): (usize, f64, f64)| {
            let cells = asked.raters.iter().zip(&asked.units[at]);
            Disagreement {
                item: asked.edits[at].0.to_owned(),
                model: asked.edits[at].1.to_owned(),
                criterion: asked.criterion.to_owned(),
                spread,
                deviation,
                answers: cells.filter_map(|(rater, cell)| Some(((*rater).to_owned(), (*cell)?))).collect(),
            }
        };
        apart.into_iter().map(disagreement).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of).collect()
}
