//! Answers of people as one long table: what counts, means, agreement by criterion and model, habits, and where people disagree.
//!
//! The same rater may have answered twice for an edit: the last answer counts, earlier ones show how consistent the rater is.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::correlation::spearman;
use super::raters::{Icc, Level, Unit, Weights, cohen_kappa, fleiss_kappa, icc, krippendorff_alpha, percent_agreement};
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

/// Answers of one criterion: edit → rater → answer that counts.
type Counted<'a> = BTreeMap<(&'a str, &'a str), BTreeMap<&'a str, f64>>;

/// The answers that count, by criterion. Of several by one rater for an edit the last one counts.
fn counted(answers: &[Answer]) -> BTreeMap<&str, Counted<'_>> {
    let mut tables: BTreeMap<&str, Counted<'_>> = BTreeMap::new();
    for answer in answers.iter().filter(|answer| answer.value.is_finite()) {
        let table = tables.entry(&answer.criterion).or_default();
        table.entry((&answer.item, &answer.model)).or_default().insert(&answer.rater, answer.value);
    }
    tables
}

/// Mean over raters, by edit and criterion.
pub fn means(answers: &[Answer]) -> BTreeMap<EditName, BTreeMap<String, f64>> {
    let mut means: BTreeMap<EditName, BTreeMap<String, f64>> = BTreeMap::new();
    for (criterion, table) in counted(answers) {
        for ((item, model), cells) in table {
            let mean = cells.values().sum::<f64>() / cells.len() as f64;
            means.entry((item.to_owned(), model.to_owned())).or_default().insert(criterion.to_owned(), mean);
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
    /// Differences weighed by the square of their steps.
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
            answers: units.iter().map(|unit| unit.iter().flatten().count()).sum(),
            percent: percent_agreement(units),
            alpha_nominal: krippendorff_alpha(units, Level::Nominal),
            alpha_ordinal: krippendorff_alpha(units, Level::Ordinal),
            alpha_interval: krippendorff_alpha(units, Level::Interval),
            fleiss_kappa: fleiss_kappa(units),
            cohen_kappa: pairs,
            icc_single: icc(units, Icc::TwoOne),
            icc_mean: icc(units, Icc::TwoMean),
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
    let by_model = |table: &Counted<'_>| {
        let models: BTreeSet<&str> = table.keys().map(|(_, model)| *model).collect();
        models
            .into_iter()
            .map(|model| {
                let (raters, units) = units_of(table.iter().filter(|((_, of), _)| *of == model).map(|(_, cells)| cells));
                (model.to_owned(), BetweenRaters::of(&raters, &units))
            })
            .collect()
    };
    counted(answers).iter().map(|(criterion, table)| ((*criterion).to_owned(), by_model(table))).collect()
}

/// Agreement between people, by criterion, over the edits of all models together.
pub fn between_raters_all(answers: &[Answer]) -> BTreeMap<String, BetweenRaters> {
    let of = |table: &Counted<'_>| {
        let (raters, units) = units_of(table.values());
        BetweenRaters::of(&raters, &units)
    };
    counted(answers).iter().map(|(criterion, table)| ((*criterion).to_owned(), of(table))).collect()
}

/// Agreement between people who voted, by criterion: a unit is an item with a pair of models. Only nominal statistics mean something.
pub fn between_voters(votes: &[ModelVote]) -> BTreeMap<String, BetweenRaters> {
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
            ((*criterion).to_owned(), BetweenRaters::of(&raters, &units))
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
    let tables = counted(answers);
    let mut reports: BTreeMap<String, BTreeMap<String, RaterReport>> = BTreeMap::new();
    for (criterion, table) in &tables {
        let (raters, units) = units_of(table.values());
        for (i, (rater, habit)) in raters.iter().zip(super::raters::habits(&units)).enumerate() {
            let (own, others): (Vec<f64>, Vec<f64>) = units.iter().filter_map(|unit| beside_others(unit, i)).unzip();
            let mine: Vec<&Answer> =
                answers.iter().filter(|a| a.criterion == *criterion && a.rater == *rater && a.value.is_finite()).collect();
            let repeats = repeats(&mine);
            let none = || Outcome::NotApplicable("no edit was answered twice".to_owned());
            let mean =
                |values: &[f64]| if values.is_empty() { none() } else { Outcome::Value(values.iter().sum::<f64>() / values.len() as f64) };
            let equal: Vec<f64> = repeats.iter().map(|distance| f64::from(u8::from(*distance == 0.0))).collect();
            let report = RaterReport {
                answers: habit.answers,
                bias: habit.bias,
                spread: habit.spread,
                with_others: if own.is_empty() { Outcome::NotApplicable("nobody else answered".into()) } else { spearman(&own, &others) },
                repeats: repeats.len(),
                self_consistency: mean(&equal),
                self_distance: mean(&repeats),
                median_seconds: median(mine.iter().filter_map(|answer| answer.seconds).collect(), "no time is recorded"),
            };
            reports.entry((*criterion).to_owned()).or_default().insert((*rater).to_owned(), report);
        }
    }
    reports
}

/// A rater's answer with the mean of the others, where both exist.
fn beside_others(unit: &Unit, rater: usize) -> Option<(f64, f64)> {
    let others: Vec<f64> = unit.iter().enumerate().filter(|(i, _)| *i != rater).filter_map(|(_, cell)| *cell).collect();
    let own = unit.get(rater).copied().flatten()?;
    (!others.is_empty()).then(|| (own, others.iter().sum::<f64>() / others.len() as f64))
}

/// Distance of the last two answers to each edit that was answered more than once.
fn repeats(answers: &[&Answer]) -> Vec<f64> {
    let mut by_edit: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for answer in answers {
        by_edit.entry((&answer.item, &answer.model)).or_default().push(answer.value);
    }
    by_edit.values().filter_map(|values| values.last_chunk::<2>()).map(|[a, b]| (a - b).abs()).collect()
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
    let mut found = Vec::new();
    for (criterion, table) in counted(answers) {
        let mut of_criterion: Vec<Disagreement> = table
            .into_iter()
            .filter(|(_, cells)| cells.len() > 1)
            .map(|((item, model), cells)| {
                let mean = cells.values().sum::<f64>() / cells.len() as f64;
                let (min, max) = cells.values().fold((f64::MAX, f64::MIN), |(min, max), v| (min.min(*v), max.max(*v)));
                let squares: f64 = cells.values().map(|v| (v - mean).powi(2)).sum();
                Disagreement {
                    item: item.to_owned(),
                    model: model.to_owned(),
                    criterion: criterion.to_owned(),
                    spread: max - min,
                    deviation: (squares / (cells.len() - 1) as f64).sqrt(),
                    answers: cells.into_iter().map(|(rater, value)| (rater.to_owned(), value)).collect(),
                }
            })
            .filter(|found| found.spread > 0.0)
            .collect();
        of_criterion.sort_by(|a, b| b.spread.total_cmp(&a.spread).then(b.deviation.total_cmp(&a.deviation)));
        of_criterion.truncate(most);
        found.extend(of_criterion);
    }
    found
}
