//! Two comparisons side by side: which numbers moved, and what was made differently.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{ALL, Comparison, Line};
use crate::domain::Outcome;
use crate::stats::intervals::Interval;
use crate::stats::undefined;

/// One number in two comparisons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Which number it is, in words ([`Change::MACRO`] and the others).
    pub quantity: String,
    /// The metric, or the judge of a leaderboard; empty for agreement between people.
    pub metric: String,
    /// What people were asked; empty where it does not matter.
    pub criterion: String,
    pub split: String,
    pub group: String,
    /// The model that the number is about; empty for all together.
    pub model: String,
    #[serde(with = "undefined")]
    pub before: Outcome<f64>,
    #[serde(with = "undefined")]
    pub after: Outcome<f64>,
    /// After minus before.
    #[serde(with = "undefined")]
    pub difference: Outcome<f64>,
    /// The two intervals have no value in common: more than chance in the choice of items, if the items are of one kind.
    pub intervals_apart: bool,
}

impl Change {
    /// Mean over the pairs of models of how often a metric prefers what people prefer.
    pub const MACRO: &str = "macro agreement";
    /// Spearman's ρ over all edits.
    pub const SPEARMAN: &str = "Spearman";
    /// Kendall's τ-b over all edits.
    pub const KENDALL: &str = "Kendall";
    pub const PEARSON: &str = "Pearson";
    /// Mean of Spearman's ρ within each item.
    pub const SPEARMAN_WITHIN: &str = "Spearman within items";
    /// Mean of Kendall's τ-b within each item.
    pub const KENDALL_WITHIN: &str = "Kendall within items";
    /// Area under the curve for telling good edits from others.
    pub const AREA: &str = "AUC";
    /// The share of the votes that a metric agrees with.
    pub const VOTES: &str = "agreement with votes";
    /// Krippendorff's α between raters.
    pub const ALPHA: &str = "α ordinal";
    /// Krippendorff's α between voters.
    pub const VOTE_ALPHA: &str = "α nominal of votes";
    /// A model's win rate by a judge.
    pub const WIN_RATE: &str = "win rate";
    /// Logarithm of a model's strength by a judge.
    pub const STRENGTH: &str = "log strength";
    /// The share of items where a metric prefers the edit that is known to be good.
    pub const GROUND_TRUTH: &str = "ground truth";
    /// Agreement at the chosen weight on the items that it was not chosen on.
    pub const HELD_OUT: &str = "agreement at the chosen α, held out";
}

/// Names a number within a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Name {
    quantity: &'static str,
    metric: String,
    criterion: String,
    split: String,
    group: String,
    model: String,
}

impl Name {
    /// Of all edits.
    fn of(quantity: &'static str, [metric, criterion, model]: [&str; 3]) -> Self {
        let owned = str::to_owned;
        Self { quantity, metric: owned(metric), criterion: owned(criterion), split: owned(ALL), group: owned(ALL), model: owned(model) }
    }
}

struct Number {
    name: Name,
    value: Outcome<f64>,
    interval: Option<Interval>,
}

/// Every number that is in one of the two, in the order of the first: macro agreement and correlations of every line, agreement with votes,
/// α between people, win rates and strengths of models, ground truth, and the held-out weight.
pub fn changes(before: &Comparison, after: &Comparison) -> Vec<Change> {
    let old = numbers(before);
    let mut new: HashMap<Name, Number> = HashMap::new();
    let mut order: Vec<Name> = Vec::new();
    for number in numbers(after) {
        order.push(number.name.clone());
        new.entry(number.name.clone()).or_insert(number);
    }
    let mut found: Vec<Change> = old
        .into_iter()
        .map(|number| {
            let now = new.remove(&number.name);
            change(&number.name.clone(), Some(number), now)
        })
        .collect();
    found.extend(order.into_iter().filter_map(|name| new.remove(&name)).map(|number| change(&number.name.clone(), None, Some(number))));
    found
}

fn numbers(found: &Comparison) -> Vec<Number> {
    let plain = |name: Name, value: &Outcome<f64>| Number { name, value: value.clone(), interval: None };
    let with = |name: Name, value: &Outcome<f64>, interval: &Outcome<Interval>| Number {
        name,
        value: value.clone(),
        interval: interval.value().copied(),
    };
    let mut all: Vec<Number> = Vec::new();
    let mut of_lines: [Vec<Number>; 7] = Default::default();
    for line in &found.lines {
        for (place, (quantity, value, interval)) in of_lines.iter_mut().zip(of_line(line)) {
            let name = Name::of(quantity, [&line.metric, &line.criterion, ""]);
            let name = Name { split: line.split.clone(), group: line.group.clone(), ..name };
            place.push(with(name, value, interval));
        }
    }
    all.extend(of_lines.into_iter().flatten());
    for line in &found.votes {
        let name = Name::of(Change::VOTES, [&line.metric, &line.criterion, ""]);
        all.push(with(name, &line.agreement.micro_mean, &line.micro_interval));
    }
    for (criterion, between) in &found.between_raters_all {
        all.push(plain(Name::of(Change::ALPHA, ["", criterion, ""]), &between.alpha_ordinal));
        for (model, between) in found.between_raters.get(criterion).into_iter().flatten() {
            all.push(plain(Name::of(Change::ALPHA, ["", criterion, model]), &between.alpha_ordinal));
        }
    }
    for (criterion, between) in &found.between_voters {
        all.push(plain(Name::of(Change::VOTE_ALPHA, ["", criterion, ""]), &between.alpha_nominal));
    }
    let (mut rates, mut strengths) = (Vec::new(), Vec::new());
    for board in &found.leaderboards {
        let name = |model: &str| Name {
            split: board.split.clone(),
            group: board.group.clone(),
            ..Name::of(Change::WIN_RATE, [&board.judge, &board.criterion, model])
        };
        rates.extend(board.standings.iter().map(|standing| plain(name(&standing.model), &standing.win_rate)));
        strengths.extend(board.standings.iter().map(|standing| {
            let name = Name { quantity: Change::STRENGTH, ..name(&standing.model) };
            with(name, &standing.strength, &standing.strength_interval)
        }));
    }
    all.extend(rates.into_iter().chain(strengths));
    for test in &found.ground_truth {
        all.push(plain(Name::of(Change::GROUND_TRUTH, [&test.metric, "", ""]), &test.result.share));
    }
    if let Some(weights) = &found.weights {
        let value = weights.held_out.clone().map(|test| test.agreement_held_out);
        all.push(plain(Name::of(Change::HELD_OUT, [super::OVERALL, "", ""]), &value));
    }
    all
}

/// The numbers of one line.
fn of_line(line: &Line) -> [(&'static str, &Outcome<f64>, &Outcome<Interval>); 7] {
    [
        (Change::MACRO, &line.agreement.macro_mean, &line.macro_interval),
        (Change::SPEARMAN, &line.spearman, &line.spearman_interval),
        (Change::KENDALL, &line.kendall_tau_b, &line.kendall_tau_b_interval),
        (Change::PEARSON, &line.pearson, &line.pearson_interval),
        (Change::SPEARMAN_WITHIN, &line.spearman_per_item.mean, &line.spearman_per_item_interval),
        (Change::KENDALL_WITHIN, &line.kendall_per_item.mean, &line.kendall_per_item_interval),
        (Change::AREA, &line.area_under_curve, &line.area_under_curve_interval),
    ]
}

fn change(name: &Name, before: Option<Number>, after: Option<Number>) -> Change {
    let apart = |a: &Number, b: &Number| a.interval.zip(b.interval).is_some_and(|(a, b)| a.high < b.low || b.high < a.low);
    let intervals_apart = before.as_ref().zip(after.as_ref()).is_some_and(|(a, b)| apart(a, b));
    let value = |number: Option<Number>, which: &str| {
        number.map_or_else(|| Outcome::NotApplicable(format!("not in the comparison {which}")), |number| number.value)
    };
    let (before, after) = (value(before, "before"), value(after, "after"));
    let difference = before.clone().and_then(|old| after.clone().map(|new| new - old));
    Change {
        quantity: name.quantity.to_owned(),
        metric: name.metric.clone(),
        criterion: name.criterion.clone(),
        split: name.split.clone(),
        group: name.group.clone(),
        model: name.model.clone(),
        before,
        after,
        difference,
        intervals_apart,
    }
}

impl Comparison {
    /// What `after` was made with that differs from this one, seeds among it: what, here, there. The data are told by
    /// [`super::About::content`].
    pub fn made_differently(&self, after: &Self) -> Vec<(&'static str, String, String)> {
        let both = self.made_with().into_iter().zip(after.made_with());
        both.filter(|((_, old), (_, new))| old != new).map(|((what, old), (_, new))| (what, old, new)).collect()
    }

    /// What went into one of the two and not in the same form into the other: names of [`super::About::content`].
    pub fn other_data<'a>(&'a self, after: &'a Self) -> Vec<&'a str> {
        let (old, new) = (&self.about.content, &after.about.content);
        let gone = old.iter().filter(|one| !new.contains(one));
        let mut names: Vec<&str> = Vec::new();
        for one in gone.chain(new.iter().filter(|one| !old.contains(one))) {
            if !names.contains(&one.what.as_str()) {
                names.push(&one.what);
            }
        }
        names
    }

    /// Whether both are of the same data, as a sentence. Scores that are compared are normalised, so another range makes other scores of
    /// the same values; whether the values are the same too cannot be told from what is kept.
    pub fn data_words(&self, after: &Self) -> String {
        let range = |about: &super::About| about.range.as_ref().map(|range| range.name.clone());
        match &self.other_data(after)[..] {
            [] => "Both are of the same data.".to_owned(),
            ["scores"] if range(&self.about) != range(&after.about) => {
                "The scores are not the same (another range); all other data are.".to_owned()
            }
            names => format!("The data are not the same: {}.", names.join(", ")),
        }
    }

    fn made_with(&self) -> Vec<(&'static str, String)> {
        let (about, plan) = (&self.about, &self.plan);
        let none = || "none".to_owned();
        let listed = |names: &[String]| if names.is_empty() { none() } else { names.join(", ") };
        vec![
            ("profile", about.profile.clone().unwrap_or_else(none)),
            ("range", about.range.as_ref().map_or_else(none, |range| format!("{} ({})", range.name, range.bounds_words()))),
            ("ties", about.tie_policy.clone()),
            ("networks", listed(&about.checkpoints)),
            ("devices", listed(&about.devices)),
            ("raters", listed(&about.rater_set)),
            ("groups of edits", listed(&plan.splits)),
            ("resamples", plan.bootstrap.resamples.to_string()),
            ("level of intervals", plan.bootstrap.level.to_string()),
            ("seed of intervals", plan.bootstrap.seed.to_string()),
            ("seed of the held-out halves", plan.split_seed.to_string()),
            ("width for items needed", plan.width.to_string()),
            ("good from", plan.good_from.map_or_else(|| "above the median".to_owned(), |from| from.to_string())),
            ("metric held against the others", plan.first.clone().unwrap_or_else(|| "as usual".to_owned())),
            ("program", about.program.clone()),
        ]
    }
}
