//! Resamples by weights against resamples written out: the fast ways must give what the plain statistic gives on the drawn rows. Also what
//! hand calculations say of ties, constants and votes.

use editscope::domain::{ModelVote, Outcome, Preference};
use editscope::stats::alpha::alpha_intervals;
use editscope::stats::bradley_terry::{Duel, Judge, Ties, Winner, duels, strengths};
use editscope::stats::comparison::{About, Comparison, Evidence, Plan, Subject, compare_all};
use editscope::stats::correlation::{Correlation, area_under_curve};
use editscope::stats::intervals::{Mean, compare, interval};
use editscope::stats::people::{Answer, between_voters};
use editscope::stats::raters::{Icc, Level, Unit, Weights, cohen_kappa, icc, krippendorff_alpha};
use editscope::stats::resampled::column_intervals;
use editscope::stats::{Bootstrap, Interval, Row, TiePolicy, agreement, best_tie_threshold};
use proptest::prelude::*;

const SETTINGS: Bootstrap = Bootstrap { resamples: 60, level: 0.9, seed: 7 };

prop_compose! {
    /// Up to eight items of up to four models, with ties, missing cells and constants.
    fn any_rows()(cells in prop::collection::vec((0..8_u8, 0..4_u8, prop::option::weighted(0.9, 0..4_i8), prop::option::weighted(0.9, 1..4_i8)), 1..40)) -> Vec<Row> {
        let number = |cell: Option<i8>| cell.map(|value| f64::from(value) / 3.0);
        cells.into_iter().map(|(item, model, metric, human)| Row {
            item: format!("i{item}"), model: format!("m{model}"), metric: number(metric), human: number(human),
        }).collect()
    }
}

/// Rows item by item, in the order of the items' names.
fn by_item(rows: &[Row]) -> Vec<Vec<Row>> {
    let mut names: Vec<&String> = rows.iter().map(|row| &row.item).collect();
    names.sort();
    names.dedup();
    let of = |name: &String| -> Vec<Row> { rows.iter().filter(|row| row.item == *name).cloned().collect() };
    // Drawing an item without a complete edit would draw nothing.
    names.into_iter().map(of).filter(|rows| rows.iter().any(|row| row.metric.is_some() && row.human.is_some())).collect()
}

fn columns(rows: &[Row]) -> (Vec<f64>, Vec<f64>) {
    rows.iter().filter_map(|row| row.metric.zip(row.human)).unzip()
}

fn near(a: &Outcome<Interval>, b: &Outcome<Interval>) -> bool {
    match (a, b) {
        (Outcome::Value(a), Outcome::Value(b)) => {
            (a.low - b.low).abs() < 1e-9 && (a.high - b.high).abs() < 1e-9 && a.undefined == b.undefined
        }
        (Outcome::NotApplicable(_), Outcome::NotApplicable(_)) => true,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn intervals_of_columns_are_those_of_written_out_resamples(rows in any_rows()) {
        let items = by_item(&rows);
        let written_out = |statistic: &dyn Fn(&[Row]) -> Outcome<f64>| {
            interval(items.len(), SETTINGS, |drawn| {
                let rows: Vec<Row> = drawn.iter().flat_map(|&item| items[item].iter().cloned()).collect();
                statistic(&rows)
            })
        };
        let found = column_intervals(&rows, 0.9, SETTINGS);
        for (which, ours) in [
            (Correlation::Spearman, &found.spearman), (Correlation::Pearson, &found.pearson), (Correlation::KendallTauB, &found.kendall_tau_b),
        ] {
            let plain = written_out(&|rows| { let (x, y) = columns(rows); which.of(&x, &y) });
            prop_assert!(near(ours, &plain), "{which:?}: {ours:?} against {plain:?}");
        }
        let area = written_out(&|rows| {
            let (metric, human) = columns(rows);
            area_under_curve(&metric, &human.iter().map(|human| *human >= 0.9).collect::<Vec<_>>())
        });
        prop_assert!(near(&found.area_under_curve, &area), "{:?} against {area:?}", found.area_under_curve);
        for (which, ours) in [(Correlation::Spearman, &found.spearman_per_item), (Correlation::KendallTauB, &found.kendall_per_item)] {
            let plain = interval(items.len(), SETTINGS, |drawn| {
                let within = drawn.iter().filter_map(|&item| { let (x, y) = columns(&items[item]); which.of(&x, &y).value().copied() });
                let values: Vec<f64> = within.collect();
                if values.is_empty() { Outcome::NotApplicable("none".into()) } else { Outcome::Value(values.iter().sum::<f64>() / values.len() as f64) }
            });
            prop_assert!(near(ours, &plain), "{which:?} within items: {ours:?} against {plain:?}");
        }
    }

    #[test]
    fn intervals_of_alpha_are_those_of_written_out_resamples(
        units in prop::collection::vec((0..6_usize, prop::collection::vec(prop::option::weighted(0.7, 1..5_i8), 3)), 1..20),
    ) {
        let (mut items, units): (Vec<usize>, Vec<Unit>) = units
            .into_iter()
            .map(|(item, cells)| (item, cells.into_iter().map(|cell| cell.map(f64::from)).collect::<Unit>()))
            .unzip();
        items.sort_unstable();
        // What is drawn is an item with a pair of answers.
        let pairable = |unit: &Unit| unit.iter().flatten().count() > 1;
        let mut names: Vec<usize> = items.iter().zip(&units).filter(|(_, unit)| pairable(unit)).map(|(item, _)| *item).collect();
        names.dedup();
        let found = alpha_intervals(&units, &items, SETTINGS);
        for (level, ours) in [(Level::Nominal, &found.nominal), (Level::Ordinal, &found.ordinal), (Level::Interval, &found.interval)] {
            let plain = interval(names.len(), SETTINGS, |drawn| {
                let of_item = |item: usize| items.iter().zip(&units).filter(move |(own, _)| **own == item).map(|(_, unit)| unit.clone());
                let drawn: Vec<Unit> = drawn.iter().flat_map(|&at| of_item(names[at])).collect();
                krippendorff_alpha(&drawn, level)
            });
            prop_assert!(near(ours, &plain), "{level:?}: {ours:?} against {plain:?}");
        }
    }
}

fn duel(item: usize, winner: Winner) -> Duel {
    Duel { item: item.to_string(), first: "a".into(), second: "b".into(), winner }
}

/// By hand, for two models: the chances of a win stand as the strengths do, and ν is ties over the root of wins times losses.
#[test]
fn strengths_are_found_where_nearly_every_duel_ties() {
    let (wins, losses, ties) = (2, 1, 20_000);
    let mut all: Vec<Duel> = (0..wins).map(|item| duel(item, Winner::First)).collect();
    all.extend((0..losses).map(|item| duel(100 + item, Winner::Second)));
    all.extend((0..ties).map(|item| duel(1000 + item, Winner::Tie)));
    let Outcome::Value(found) = strengths(&all, Ties::Davidson) else { panic!("{:?}", strengths(&all, Ties::Davidson)) };
    assert!((found.models[0].1 - found.models[1].1 - 2.0_f64.ln()).abs() < 1e-6, "{found:?}");
    assert!((found.tie / (20_000.0 / 2.0_f64.sqrt()) - 1.0).abs() < 1e-6, "{found:?}");
}

#[test]
fn models_that_always_tie_have_no_strength_and_the_reason_says_so() {
    let all: Vec<Duel> = (0..5).map(|item| duel(item, Winner::Tie)).collect();
    assert_eq!(strengths(&all, Ties::Davidson).why(), Some("all 5 duels tie: nothing tells one model from another"));
}

/// The sum of squares of three times 0.7 around their mean is 1e-32, not 0.
#[test]
fn the_intraclass_correlation_of_a_constant_is_undefined() {
    for value in [0.1, 0.7, 3.3] {
        let units: Vec<Unit> = vec![vec![Some(value); 3]; 7];
        for which in [Icc::OneOne, Icc::TwoOne, Icc::ThreeOne, Icc::TwoMean, Icc::ThreeMean] {
            assert!(
                icc(&units, which).why().is_some_and(|why| why.contains("one value only")),
                "{value} {which:?}: {:?}",
                icc(&units, which)
            );
        }
    }
}

/// By hand: the mean squares of a(4,4), b(4,3), c(3,6) are 0.5 between edits, 2/3 between raters and 13/6 within, so the denominator of ICC(2,k),
/// 1/2 + (2/3 − 13/6) / 3, is 0.
#[test]
fn an_intraclass_correlation_that_divides_by_nothing_is_undefined() {
    let units: Vec<Unit> = [[4.0, 4.0], [4.0, 3.0], [3.0, 6.0]].map(|unit| unit.map(Some).to_vec()).to_vec();
    assert!(icc(&units, Icc::TwoMean).why().is_some_and(|why| why.contains("no spread")), "{:?}", icc(&units, Icc::TwoMean));
}

/// By hand: observed (0 + 0 + 9 + 9 + 0) / 5 = 3.6; expected 1 · 0.16 + 16 · 0.32 + 9 · 0.16 = 6.72.
#[test]
fn quadratic_kappa_weighs_by_distance_also_where_values_between_never_occur() {
    let column = |values: [f64; 5]| values.map(Some);
    let found = cohen_kappa(&column([1.0, 1.0, 2.0, 5.0, 5.0]), &column([1.0, 1.0, 5.0, 2.0, 5.0]), Weights::Quadratic);
    assert!((found.value().unwrap() - (1.0 - 3.6 / 6.72)).abs() < 1e-12, "{found:?}");
}

/// The four differences are 0.1 but for floating point.
#[test]
fn differences_that_only_rounding_tells_apart_tie_together() {
    let pairs = [(0.3, 0.2), (0.4, 0.3), (0.8, 0.7), (1.0, 0.9)];
    let rows: Vec<Row> = pairs
        .iter()
        .enumerate()
        .flat_map(|(item, (a, b))| [row(&item.to_string(), "a", *a, 3.0), row(&item.to_string(), "b", *b, 3.0)])
        .collect();
    assert_eq!(agreement(&rows, TiePolicy::Calibrated(0.1)).macro_mean, Outcome::Value(1.0));
    let Outcome::Value(threshold) = best_tie_threshold(&rows) else { panic!("defined") };
    assert_eq!(agreement(&rows, TiePolicy::Calibrated(threshold)).macro_mean, Outcome::Value(1.0));
    assert_eq!(TiePolicy::Calibrated(threshold).words(), "ties count; metric differences up to 0.1 are ties");
}

/// JSON has no infinity: whatever does not fit is undefined, and what was saved can be read again.
#[test]
fn numbers_that_cannot_be_added_up_leave_no_infinity() {
    let answer = |item: usize, model: &str, rater: &str, value: f64| Answer {
        item: item.to_string(),
        model: model.into(),
        rater: rater.into(),
        criterion: "overall".into(),
        value,
        seconds: None,
    };
    let mut evidence = Evidence { metrics: vec!["m".into()], ..Evidence::default() };
    for item in 0..4 {
        for (at, model) in ["a", "b"].into_iter().enumerate() {
            let value = [1e308, -1e308, 3.0, 1e200][(item + at) % 4];
            evidence.answers.extend([answer(item, model, "k", value), answer(item, model, "l", -value)]);
            evidence.subjects.push(Subject {
                item: item.to_string(),
                model: model.into(),
                metrics: [("m".to_owned(), value)].into(),
                human: [("overall".to_owned(), -value)].into(),
                ..Subject::default()
            });
        }
    }
    let plan = Plan { bootstrap: SETTINGS, ..Plan::default() };
    let found = compare_all(About::default(), &evidence, &plan);
    let text = serde_json::to_string(&found).unwrap();
    let back: Comparison = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(back, found);
}

/// By hand: whoever wins second gains more, so one win each leaves 998.53 or 1001.47; over both orders 1000.
#[test]
fn elo_on_boards_is_a_mean_over_orders() {
    let votes = vec![vote(0, ["a", "b"], Preference::First), vote(1, ["a", "b"], Preference::Second)];
    let plan = Plan { bootstrap: SETTINGS, ..Plan::default() };
    let found = compare_all(About::default(), &Evidence { votes, ..Evidence::default() }, &plan);
    let elo: Vec<f64> = found.leaderboards[0].standings.iter().map(|standing| standing.elo).collect();
    assert!((elo[0] - 1000.0).abs() < 0.6 && (elo[0] + elo[1] - 2000.0).abs() < 1e-9, "{elo:?}");
}

/// One item of the four has both values, so there is nothing to draw from.
#[test]
fn one_item_has_no_interval() {
    let mut rows: Vec<Row> = (0..4).flat_map(|item| ["a", "b", "c"].map(|model| row(&item.to_string(), model, 1.0, 1.0))).collect();
    rows.iter_mut().enumerate().for_each(|(at, row)| row.metric = Some(at as f64));
    rows.iter_mut().enumerate().for_each(|(at, row)| row.human = (at < 3).then_some((at * 2 % 3) as f64));
    let found = column_intervals(&rows, 1.0, SETTINGS);
    assert!(found.spearman.why().is_some_and(|why| why.contains("needs two")), "{:?}", found.spearman);
}

#[test]
fn a_model_that_never_loses_is_named() {
    let found = strengths(&[duel(0, Winner::First), duel(1, Winner::Tie)], Ties::Davidson);
    assert_eq!(found.why(), Some("'a' never loses a duel, so its strength would be infinite"));
}

fn row(item: &str, model: &str, metric: f64, human: f64) -> Row {
    Row { item: item.into(), model: model.into(), metric: Some(metric), human: Some(human) }
}

/// The same three answers, added up in another order.
#[test]
fn equal_means_tie_whatever_the_order_of_their_answers() {
    let (one, other) = ((0.1 + 0.2 + 0.3) / 3.0, (0.3 + 0.2 + 0.1) / 3.0);
    assert_ne!(one, other);
    let found = duels(&[row("i", "a", 1.0, one), row("i", "b", 0.0, other)], Judge::Human);
    assert_eq!(found.first().map(|duel| duel.winner), Some(Winner::Tie));
}

/// Ten items are compared; ten more have a human tie and five no rating.
#[test]
fn a_paired_test_counts_what_is_compared() {
    let rows = |metric: f64| -> Vec<Row> {
        let item = |at: usize| -> Vec<Row> {
            let mut both = vec![row(&at.to_string(), "a", metric, 5.0), row(&at.to_string(), "b", 0.5, if at < 10 { 1.0 } else { 5.0 })];
            both.iter_mut().filter(|_| at >= 20).for_each(|row| row.human = None);
            both
        };
        (0..25).flat_map(item).collect()
    };
    let Outcome::Value(found) = compare(&rows(1.0), &rows(0.0), TiePolicy::Paper, Mean::Macro, SETTINGS) else { panic!("defined") };
    assert_eq!((found.items, found.left_out, found.difference), (10, 10, 1.0));
}

fn vote(item: usize, [first, second]: [&str; 2], preference: Preference) -> ModelVote {
    ModelVote {
        item: item.to_string(),
        criterion: "overall".into(),
        rater: "r".into(),
        first: first.into(),
        second: second.into(),
        preference,
    }
}

#[test]
fn votes_have_no_order() {
    let mut votes: Vec<ModelVote> = (0..6).map(|item| vote(item, ["a", "b"], Preference::First)).collect();
    votes.extend(
        (0..6).map(|item| ModelVote {
            rater: "s".into(),
            ..vote(item, ["a", "b"], if item < 3 { Preference::First } else { Preference::Tie })
        }),
    );
    let found = &between_voters(&votes)["overall"];
    assert_eq!(found.percent, Outcome::Value(0.5));
    assert!(found.alpha_nominal.value().is_some());
    for undefined in [&found.alpha_ordinal, &found.alpha_interval, &found.icc_single, &found.icc_mean, &found.cohen_kappa[0].quadratic] {
        assert!(undefined.why().is_some_and(|why| why.contains("no order")), "{undefined:?}");
    }
}

/// Elo depends on the order of duels, so the boards take one order whatever the table's.
#[test]
fn the_order_of_votes_changes_no_board() {
    let choices = [Preference::First, Preference::Second, Preference::Tie, Preference::First, Preference::BothBad, Preference::Second];
    let pairs = [["a", "b"], ["b", "c"], ["c", "a"]];
    let votes: Vec<ModelVote> = (0..18).map(|at| vote(at % 4, pairs[at % 3], choices[at % 6])).collect();
    let boards = |votes: Vec<ModelVote>| {
        let plan = Plan { bootstrap: SETTINGS, ..Plan::default() };
        compare_all(About::default(), &Evidence { votes, ..Evidence::default() }, &plan).leaderboards
    };
    let turned = votes.iter().rev().map(|vote| ModelVote {
        first: vote.second.clone(),
        second: vote.first.clone(),
        preference: vote.preference.swapped(),
        ..vote.clone()
    });
    let (plain, turned) = (boards(votes.clone()), boards(turned.collect()));
    assert!(!plain.is_empty());
    assert_eq!(plain, turned);
}

/// By hand: the metric differs by 0.1 where the vote is a tie and by 1 where it is not, so a threshold of 0.1 gets all four right.
#[test]
fn the_threshold_of_ties_is_fitted_for_votes_too() {
    let subject = |item: usize, model: &str, value: f64| Subject {
        item: item.to_string(),
        model: model.into(),
        metrics: [("m".to_owned(), value)].into(),
        ..Subject::default()
    };
    let mut evidence = Evidence { metrics: vec!["m".into()], ..Evidence::default() };
    for item in 0..4 {
        let apart = if item < 2 { 0.125 } else { 1.0 };
        evidence.subjects.extend([subject(item, "a", 1.0 + apart), subject(item, "b", 1.0)]);
        evidence.votes.push(vote(item, ["a", "b"], if item < 2 { Preference::Tie } else { Preference::First }));
    }
    let plan = Plan { ties: editscope::stats::comparison::Ties::Fitted, ..Plan::default() };
    let found = compare_all(About::default(), &evidence, &plan);
    assert_eq!(found.votes[0].agreement.policy, TiePolicy::Calibrated(0.125));
    assert_eq!(found.votes[0].agreement.micro_mean, Outcome::Value(1.0));
    assert_eq!(found.votes[0].by_policy.len(), 4);
}

/// Seven metrics: one against the others; the one that is asked for, if any.
#[test]
fn with_many_metrics_the_chosen_one_is_held_against_the_others() {
    let names: Vec<String> = (0..7).map(|at| format!("m{at}")).collect();
    let subject = |item: usize, model: usize| Subject {
        item: item.to_string(),
        model: model.to_string(),
        metrics: names.iter().enumerate().map(|(at, name)| (name.clone(), ((item * 7 + model * 3 + at * 5) % 11) as f64)).collect(),
        human: [("overall".to_owned(), ((item + model * 2) % 5) as f64)].into(),
        ..Subject::default()
    };
    let subjects = (0..6).flat_map(|item| (0..3).map(move |model| (item, model))).map(|(item, model)| subject(item, model)).collect();
    let evidence = Evidence { subjects, metrics: names.clone(), ..Evidence::default() };
    let pairs = |first: Option<&str>| -> Vec<(String, String)> {
        let plan = Plan { bootstrap: SETTINGS, first: first.map(str::to_owned), ..Plan::default() };
        let found = compare_all(About::default(), &evidence, &plan);
        assert!(found.significance.iter().all(|pair| pair.family == 6));
        found.significance.into_iter().map(|pair| (pair.first, pair.second)).collect()
    };
    let with = |first: &str| -> Vec<(String, String)> {
        names.iter().filter(|name| *name != first).map(|name| (first.to_owned(), name.clone())).collect()
    };
    assert_eq!(pairs(None), with("m0"));
    assert_eq!(pairs(Some("m3")), with("m3"));
}
