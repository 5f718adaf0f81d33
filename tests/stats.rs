//! Statistics against independent implementations (`tests/golden/stats/generate.py` says which), by hand, and by property.

use editscope::domain::Outcome;
use editscope::stats::bradley_terry::{Duel, Judge, Ties, Winner, duels, elo, records, strength_intervals, strengths};
use editscope::stats::correlation::{Correlation, area_under_curve, kendall_tau_b, pearson, per_item, spearman};
use editscope::stats::ground_truth::{KnownEdit, ground_truth};
use editscope::stats::intervals::{Mean, agreement_interval, compare, interval, items_needed};
use editscope::stats::raters::{Icc, Unit, Weights, cohen_kappa, fleiss_kappa, habits, icc, percent_agreement};
use editscope::stats::weights::{PartsRow, held_out, sweep};
use editscope::stats::{Bootstrap, Interval, Level, Row, TiePolicy, agreement, best_tie_threshold, krippendorff_alpha};
use proptest::prelude::*;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/stats/tables.json")).unwrap() // committed beside its generator
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

/// `null` in the golden table must be undefined here, a number equal within 1e-9 (relative to 1).
#[track_caller]
fn same(ours: &Outcome<f64>, theirs: &Value, what: &str) {
    close(ours, theirs, 1e-9, what);
}

#[track_caller]
fn close(ours: &Outcome<f64>, theirs: &Value, tolerance: f64, what: &str) {
    match (ours, theirs.as_f64()) {
        (Outcome::Value(a), Some(b)) => assert!((a - b).abs() < tolerance, "{what}: {a} against {b}"),
        (Outcome::NotApplicable(why), None) => assert!(!why.is_empty()),
        (ours, theirs) => panic!("{what}: {ours:?} against {theirs:?}"),
    }
}

#[test]
fn correlations_are_those_of_scipy() {
    for case in golden()["correlation"].as_array().unwrap() {
        // a list in the golden file
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        for (which, name) in Correlation::ALL.into_iter().zip(["pearson", "spearman", "kendall_tau_b"]) {
            same(&which.of(&x, &y), &case[name], name);
            same(&which.of(&y, &x), &case[name], name);
        }
    }
}

#[test]
fn areas_under_the_curve_are_those_of_scipy() {
    for case in golden()["curve"].as_array().unwrap() {
        let good: Vec<bool> = case["good"].as_array().unwrap().iter().map(|g| g == &Value::Bool(true)).collect();
        same(&area_under_curve(&numbers(&case["scores"]), &good), &case["area"], "area");
    }
}

fn units(case: &Value) -> Vec<Unit> {
    case["units"].as_array().unwrap().iter().map(|unit| unit.as_array().unwrap().iter().map(Value::as_f64).collect()).collect()
}

#[test]
fn agreement_of_raters_is_that_of_krippendorff_statsmodels_and_pingouin() {
    for case in golden()["raters"].as_array().unwrap() {
        let units = units(case);
        for (level, name) in [(Level::Nominal, "nominal"), (Level::Ordinal, "ordinal"), (Level::Interval, "interval")] {
            same(&krippendorff_alpha(&units, level), &case[name], name);
        }
        let rater = |i: usize| -> Vec<Option<f64>> { units.iter().map(|unit| unit[i]).collect() };
        for (weights, name) in [(Weights::None, "cohen"), (Weights::Linear, "cohen_linear"), (Weights::Quadratic, "cohen_quadratic")] {
            same(&cohen_kappa(&rater(0), &rater(1), weights), &case[name], name);
        }
        same(&fleiss_kappa(&units), &case["fleiss"], "fleiss");
        same(&percent_agreement(&units), &case["percent"], "percent");
        for (which, name) in [
            (Icc::OneOne, "one_one"),
            (Icc::TwoOne, "two_one"),
            (Icc::ThreeOne, "three_one"),
            (Icc::TwoMean, "two_mean"),
            (Icc::ThreeMean, "three_mean"),
        ] {
            same(&icc(&units, which), &case["icc"][name], name);
        }
    }
}

fn rows(case: &Value) -> Vec<Row> {
    let row = |row: &Value| Row {
        item: row["item"].as_str().unwrap_or_default().to_owned(),
        model: row["model"].as_str().unwrap_or_default().to_owned(),
        metric: row["metric"].as_f64(),
        human: row["human"].as_f64(),
    };
    case["rows"].as_array().into_iter().flatten().map(row).collect()
}

#[test]
fn pairwise_agreement_is_that_of_an_independent_count() {
    for case in golden()["agreement"].as_array().unwrap() {
        let rows = rows(case);
        let threshold = case["threshold"].as_f64().unwrap_or_default();
        for (policy, name) in [
            (TiePolicy::Paper, "paper"),
            (TiePolicy::MetricTiesHalf, "half"),
            (TiePolicy::MetricTiesDropped, "dropped"),
            (TiePolicy::Calibrated(threshold), "calibrated"),
        ] {
            let ours = agreement(&rows, policy);
            same(&ours.macro_mean, &case[name]["macro"], name);
            same(&ours.micro_mean, &case[name]["micro"], name);
            assert_eq!(Some(ours.counts.compared as u64), case[name]["compared"].as_u64(), "{name}");
            assert_eq!(Some(ours.counts.right), case[name]["right"].as_f64(), "{name}");
        }
    }
}

#[test]
fn strengths_are_those_of_choix_and_of_numerical_optimisation() {
    for case in golden()["strengths"].as_array().unwrap() {
        let text = |duel: &Value, key: &str| duel[key].as_str().unwrap_or_default().to_owned();
        let duels: Vec<Duel> = case["duels"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|duel| Duel {
                item: String::new(),
                first: text(duel, "first"),
                second: text(duel, "second"),
                winner: match duel["winner"].as_str() {
                    Some("first") => Winner::First,
                    Some("second") => Winner::Second,
                    _ => Winner::Tie,
                },
            })
            .collect();
        for (ties, name) in [(Ties::HalfWins, "half_wins"), (Ties::Davidson, "davidson")] {
            let Outcome::Value(ours) = strengths(&duels, ties) else { panic!("{name} is defined") };
            for ((model, strength), theirs) in ours.models.iter().zip(numbers(&case[name])) {
                assert!((strength - theirs).abs() < 1e-5, "{name} {model}: {strength} against {theirs}"); // the optimisers stop at about 1e-6
            }
            if ties == Ties::Davidson {
                close(&Outcome::Value(ours.tie), &case["tie"], 1e-5, "tie");
            }
        }
    }
}

fn row(item: &str, model: &str, metric: f64, human: f64) -> Row {
    Row { item: item.into(), model: model.into(), metric: Some(metric), human: Some(human) }
}

/// By hand: three items, two models. People prefer a, a, b; the metric says a, tie, a; a fourth item is a human tie.
#[test]
fn tie_policies_by_hand() {
    let rows = [
        row("1", "a", 0.9, 5.0),
        row("1", "b", 0.1, 3.0),
        row("2", "a", 0.5, 4.0),
        row("2", "b", 0.5, 2.0),
        row("3", "a", 0.8, 1.0),
        row("3", "b", 0.2, 2.0),
        row("4", "a", 0.8, 3.0),
        row("4", "b", 0.2, 3.0),
        row("5", "a", 0.7, 4.0),
        Row { metric: None, ..row("5", "b", 0.0, 1.0) },
        Row { human: None, ..row("6", "a", 0.7, 0.0) },
        row("6", "b", 0.7, 3.0),
    ];
    let share = |policy| agreement(&rows, policy).macro_mean;
    assert_eq!(share(TiePolicy::Paper), Outcome::Value(1.0 / 3.0));
    assert_eq!(share(TiePolicy::MetricTiesHalf), Outcome::Value(1.5 / 3.0));
    assert_eq!(share(TiePolicy::MetricTiesDropped), Outcome::Value(1.0 / 2.0));
    // A threshold of 0.6 makes items 3 and 4 metric ties: right are 1 and 4 of four.
    assert_eq!(share(TiePolicy::Calibrated(0.600_001)), Outcome::Value(2.0 / 4.0));
    let counts = agreement(&rows, TiePolicy::Paper).counts;
    assert_eq!((counts.compared, counts.human_ties, counts.metric_ties), (3, 1, 1));
    assert_eq!((counts.missing_metric, counts.missing_human), (1, 1));
    assert_eq!(agreement(&rows, TiePolicy::Paper).items, 3);
    // Distances 0 (people prefer), 0.6 (wrong way), 0.6 (people tie), 0.8 (right): only equal values tie: 1 right; up to 0.6: 2; up to 0.8: 1.
    let Outcome::Value(best) = best_tie_threshold(&rows) else { panic!("defined") };
    assert!((best - 0.6).abs() < 1e-12, "{best}");
}

/// The macro mean is over pairs of models, the micro mean over pairs of edits: (1/1 + 1/1 + 0/2) / 3 and 2/4.
#[test]
fn macro_and_micro_means_differ_by_hand() {
    let rows = [
        row("1", "a", 3.0, 3.0),
        row("1", "b", 1.0, 1.0),
        row("2", "a", 3.0, 3.0),
        row("2", "c", 1.0, 1.0),
        row("3", "b", 3.0, 1.0),
        row("3", "c", 1.0, 3.0),
        row("4", "b", 3.0, 1.0),
        row("4", "c", 1.0, 3.0),
    ];
    let found = agreement(&rows, TiePolicy::Paper);
    assert_eq!(found.macro_mean, Outcome::Value(2.0 / 3.0));
    assert_eq!(found.micro_mean, Outcome::Value(0.5));
    assert_eq!(found.pairs.iter().map(|p| p.models.join("-")).collect::<Vec<_>>(), ["a-b", "a-c", "b-c"]);
}

/// Trial inputs 15 and 18: what is not defined says why, and is never a number.
#[test]
fn undefined_statistics_say_why() {
    let why = |outcome: Outcome<f64>| match outcome {
        Outcome::NotApplicable(why) => why,
        other => panic!("{other:?} should not be defined"),
    };
    let all_ties = [row("1", "a", 0.9, 3.0), row("1", "b", 0.1, 3.0)];
    assert!(why(agreement(&all_ties, TiePolicy::Paper).macro_mean).contains("no difference"));
    let one_model = [row("1", "a", 0.9, 3.0), row("2", "a", 0.1, 3.0)];
    assert!(why(agreement(&one_model, TiePolicy::Paper).macro_mean).contains("one model"));
    assert!(why(agreement(&[], TiePolicy::Paper).micro_mean).contains("no edits"));
    let apart = [row("1", "a", 0.9, 3.0), row("2", "b", 0.1, 3.0)];
    assert!(why(agreement(&apart, TiePolicy::Paper).macro_mean).contains("no item has edits of two"));
    let nan = [row("1", "a", f64::NAN, 3.0), row("1", "b", 0.1, 2.0)];
    assert!(why(agreement(&nan, TiePolicy::Paper).macro_mean).contains("1 without a metric value"));

    assert!(why(pearson(&[1.0, 1.0], &[1.0, 2.0])).contains("constant"));
    assert!(why(spearman(&[1.0], &[1.0])).contains("two are needed"));
    assert!(why(kendall_tau_b(&[1.0, 2.0], &[1.0, f64::NAN])).contains("not a number"));
    assert!(why(area_under_curve(&[1.0, 2.0], &[true, true])).contains("0 bad"));
    assert!(why(per_item(&all_ties, Correlation::Spearman).mean).contains("no item"));

    let constant: Vec<Unit> = vec![vec![Some(0.0); 3]; 5];
    for level in [Level::Nominal, Level::Ordinal, Level::Interval] {
        assert!(why(krippendorff_alpha(&constant, level)).contains("one value only"));
    }
    assert!(why(fleiss_kappa(&constant)).contains("one value only"));
    assert!(why(icc(&constant, Icc::TwoOne)).contains("one value only"));
    assert!(why(cohen_kappa(&[Some(1.0)], &[Some(1.0)], Weights::None)).contains("one value only"));
    let one_rater: Vec<Unit> = vec![vec![Some(1.0)], vec![Some(2.0)]];
    assert!(why(krippendorff_alpha(&one_rater, Level::Ordinal)).contains("two raters"));
    assert!(why(fleiss_kappa(&one_rater)).contains("two are needed"));
    assert!(why(percent_agreement(&one_rater)).contains("two raters"));

    let unbeaten = [Duel { item: "1".into(), first: "a".into(), second: "b".into(), winner: Winner::First }];
    assert!(matches!(strengths(&unbeaten, Ties::Davidson), Outcome::NotApplicable(why) if why.contains("infinite")));
}

/// A small table in the shape of a published rubric {0, 0.5, 1}; α by hand for the nominal case.
///
/// Units (1,1), (1,0.5), (0,0): values 1 1 1 0.5 0 0, n = 6; observed disagreement 2 of 6; expected (36 − 9 − 1 − 4) / 30 = 22/30;
/// α = 1 − (2/6) / (22/30) = 6/11.
#[test]
fn nominal_alpha_by_hand() {
    let units: Vec<Unit> = vec![
        vec![Some(1.0), Some(1.0), None],
        vec![Some(1.0), None, Some(0.5)],
        vec![None, Some(0.0), Some(0.0)],
        vec![Some(0.5), None, None], // one answer: cannot be paired
    ];
    let Outcome::Value(alpha) = krippendorff_alpha(&units, Level::Nominal) else { panic!("defined") };
    assert!((alpha - 6.0 / 11.0).abs() < 1e-12, "{alpha}");
}

#[test]
fn habits_of_raters_by_hand() {
    // The first rater is one above the second on every unit; 3 and 5 have a standard deviation of √2.
    let units: Vec<Unit> = vec![vec![Some(3.0), Some(2.0)], vec![Some(5.0), Some(4.0)], vec![None, Some(1.0)]];
    let habits = habits(&units);
    assert_eq!(habits[0].bias, Outcome::Value(1.0));
    assert_eq!(habits[1].bias, Outcome::Value(-1.0));
    assert_eq!((habits[0].answers, habits[1].answers), (2, 3));
    let Outcome::Value(spread) = habits[0].spread else { panic!("defined") };
    assert!((spread - 2.0_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn records_and_elo_by_hand() {
    let rows =
        [row("1", "a", 0.9, 5.0), row("1", "b", 0.1, 3.0), row("1", "c", 0.1, 3.0), row("2", "a", 0.5, 1.0), row("2", "b", 0.5, 2.0)];
    let duels = duels(&rows, Judge::Human);
    let lines: Vec<_> = records(&duels).iter().map(|r| (r.model.clone(), r.wins, r.losses, r.ties, r.win_rate())).collect();
    assert_eq!(
        lines,
        [
            ("a".into(), 2, 1, 0, Outcome::Value(2.0 / 3.0)),
            ("b".into(), 1, 1, 1, Outcome::Value(0.5)),
            ("c".into(), 0, 1, 1, Outcome::Value(0.25)),
        ]
    );
    // One win between equals moves K/2 = 16 points.
    assert_eq!(elo(&duels[..1], 32.0), [("a".into(), 1016.0), ("b".into(), 984.0)]);
}

/// The bootstrap of a mean against the normal theory: 100 numbers 0..99, standard error 29.01 / 10, width 2 × 1.96 × 2.89.
#[test]
fn the_interval_of_a_mean_has_the_width_of_theory() {
    let settings = Bootstrap { resamples: 4000, ..Bootstrap::default() };
    let mean = |drawn: &[usize]| Outcome::Value(drawn.iter().sum::<usize>() as f64 / drawn.len() as f64);
    let Outcome::Value(found) = interval(100, settings, mean) else { panic!("defined") };
    let theory = 2.0 * 1.959_964 * (9999.0_f64 / 12.0).sqrt() / 10.0; // population deviation of 0..99: √((100² − 1) / 12)
    assert!(((found.high - found.low) / theory - 1.0).abs() < 0.06, "{found:?} against {theory}");
    assert!((f64::midpoint(found.low, found.high) - 49.5).abs() < 0.5);
    assert_eq!(interval(100, settings, mean), Outcome::Value(found), "the same seed gives the same interval");
    let other = interval(100, Bootstrap { seed: 2, ..settings }, mean);
    assert_ne!(other, Outcome::Value(found));
    // Half the width needs four times the items.
    assert_eq!(items_needed(&found, 100, (found.high - found.low) / 2.0), Outcome::Value(400));
}

/// Forty items of two models; the first metric is always right, the second right on every other item.
fn two_metrics() -> (Vec<Row>, Vec<Row>) {
    let both = |right: fn(usize) -> bool| -> Vec<Row> {
        (0..40)
            .flat_map(|i| {
                let sign = if right(i) { 1.0 } else { -1.0 };
                [row(&i.to_string(), "a", sign, 5.0), row(&i.to_string(), "b", 0.0, 1.0)]
            })
            .collect()
    };
    (both(|_| true), both(|i| i % 2 == 0))
}

#[test]
fn a_better_metric_is_significantly_better_and_equal_ones_are_not() {
    let (good, half) = two_metrics();
    let Outcome::Value(found) = compare(&good, &half, TiePolicy::Paper, Mean::Macro, Bootstrap::default()) else { panic!("defined") };
    assert_eq!((found.difference, found.items, found.left_out), (0.5, 40, 0));
    assert!(found.p_value < 0.001, "{}", found.p_value); // sign test by hand: 2 · 2⁻²⁰
    let Outcome::Value(interval) = found.interval else { panic!("defined") };
    assert!(interval.low > 0.3 && interval.high < 0.7, "{interval:?}"); // 0.5 ± 1.96 · √(0.25 / 40) = 0.345 … 0.655
    let Outcome::Value(same) = compare(&good, &good, TiePolicy::Paper, Mean::Macro, Bootstrap::default()) else { panic!("defined") };
    assert_eq!((same.difference, same.p_value), (0.0, 1.0));
}

#[test]
fn intervals_of_agreement_and_strengths_hold_the_estimate() {
    let (_, half) = two_metrics();
    let Outcome::Value(found) = agreement_interval(&half, TiePolicy::Paper, Mean::Micro, Bootstrap::default()) else { panic!("defined") };
    assert!(found.low < 0.5 && 0.5 < found.high && found.undefined == 0, "{found:?}");
    let duels = duels(&half, Judge::Metric);
    let Outcome::Value(fitted) = strengths(&duels, Ties::Davidson) else { panic!("defined") };
    let intervals = strength_intervals(&duels, Ties::Davidson, Bootstrap { resamples: 200, ..Bootstrap::default() });
    for ((model, strength), (name, interval)) in fitted.models.iter().zip(&intervals) {
        let Outcome::Value(Interval { low, high, .. }) = interval else { panic!("{name}: {interval:?}") };
        assert!(model == name && low <= strength && strength <= high, "{model}: {strength} in {low}..{high}");
    }
    assert!(matches!(agreement_interval(&[], TiePolicy::Paper, Mean::Macro, Bootstrap::default()), Outcome::NotApplicable(_)));
}

/// By hand: item 1 right, item 2 wrong against "kept", item 3 a tie (wrong), item 4 without a value, item 5 without a worse edit.
#[test]
fn the_ground_truth_test_by_hand() {
    let edit = |item: &str, kind: &str, metric: f64| KnownEdit {
        item: item.into(),
        kind: kind.into(),
        metric: Some(metric).filter(|v| !v.is_nan()),
        good: kind == "good",
    };
    let edits = [
        edit("1", "good", 0.9),
        edit("1", "kept", 0.5),
        edit("1", "changed", 0.1),
        edit("2", "good", 0.4),
        edit("2", "kept", 0.5),
        edit("2", "changed", 0.1),
        edit("3", "good", 0.4),
        edit("3", "kept", 0.4),
        edit("4", "good", 0.4),
        edit("4", "kept", f64::NAN),
        edit("4", "changed", 0.1),
        edit("5", "good", 0.4),
    ];
    let found = ground_truth(&edits, &[]);
    assert_eq!((found.right, found.items, found.missing_metric, found.unmarked), (1, 3, 1, 1));
    assert_eq!(found.share, Outcome::Value(1.0 / 3.0));
    let against: Vec<_> = found.against.iter().map(|a| (a.kind.as_str(), a.right, a.compared)).collect();
    assert_eq!(against, [("changed", 3, 3), ("kept", 1, 3)]);
    let only = ground_truth(&edits, &["changed"]);
    assert_eq!((only.right, only.items, only.unmarked), (3, 3, 2)); // item 3 has no "changed"
    assert!(matches!(ground_truth(&[], &[]).share, Outcome::NotApplicable(_)));
}

/// By hand: people follow the region parts, which the semantic parts contradict, so α = 0 is right everywhere and α = 1 nowhere;
/// a and b differ by 1 both ways, so the sum ties at α = 0.5.
#[test]
fn the_sweep_finds_the_part_that_people_follow() {
    let rows: Vec<PartsRow> = (0..10)
        .flat_map(|i| {
            let part = |model: &str, semantic: f64, region: f64| PartsRow {
                item: i.to_string(),
                model: model.into(),
                modify: Some(semantic),
                preserve: Some(0.5),
                size: Some(region),
                position: Some(0.5),
                human: Some(region),
            };
            [part("a", 0.0, 1.0), part("b", 1.0, 0.0)]
        })
        .collect();
    let shares: Vec<_> = sweep(&rows, &[0.0, 0.5, 1.0], TiePolicy::Paper).into_iter().map(|at| at.agreement).collect();
    assert_eq!(shares, [Outcome::Value(1.0), Outcome::Value(0.0), Outcome::Value(0.0)]);
    let Outcome::Value(chosen) = held_out(&rows, &[0.0, 0.5, 1.0], TiePolicy::Paper, 7) else { panic!("defined") };
    assert_eq!((chosen.alpha, chosen.agreement_held_out, chosen.items_chosen, chosen.items_held_out), (0.0, 1.0, 5, 5));
    assert!(matches!(held_out(&rows[..2], &[0.5], TiePolicy::Paper, 7), Outcome::NotApplicable(_)));
    // A part without a value leaves the overall without one, unless its weight is 0.
    let missing = PartsRow { modify: None, ..rows[0].clone() };
    assert_eq!((missing.overall(0.7), missing.overall(0.0)), (None, Some(1.5)));
}

fn near(a: &Outcome<f64>, b: &Outcome<f64>) -> bool {
    match (a, b) {
        (Outcome::Value(a), Outcome::Value(b)) => (a - b).abs() < 1e-9,
        (a, b) => a == b,
    }
}

prop_compose! {
    fn any_rows()(cells in prop::collection::vec((0..6_u8, 0..4_u8, prop::option::weighted(0.9, 0..5_i8), prop::option::weighted(0.9, 1..6_i8)), 0..40)) -> Vec<Row> {
        cells.into_iter().map(|(item, model, metric, human)| Row {
            item: item.to_string(), model: model.to_string(), metric: metric.map(f64::from), human: human.map(f64::from),
        }).collect()
    }
}

fn any_units() -> impl Strategy<Value = Vec<Unit>> {
    prop::collection::vec(prop::collection::vec(prop::option::weighted(0.8, (0..3_u8).prop_map(|v| f64::from(v) / 2.0)), 4), 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The order of rows and the names of items and models change nothing.
    #[test]
    fn order_and_names_change_nothing(rows in any_rows(), seed in 0..1000_usize) {
        let mut turned = rows.clone();
        turned.reverse();
        if !turned.is_empty() {
            let by = seed % turned.len();
            turned.rotate_left(by);
        }
        let other_name = |name: &str| format!("{}", 9 - name.len() as i32 * name.parse::<i32>().unwrap_or_default()); // reverses the order
        let renamed: Vec<Row> = turned.iter().map(|r| Row { item: other_name(&r.item), model: other_name(&r.model), ..r.clone() }).collect();
        for policy in [TiePolicy::Paper, TiePolicy::MetricTiesHalf, TiePolicy::MetricTiesDropped, TiePolicy::Calibrated(1.0)] {
            let (a, b) = (agreement(&rows, policy), agreement(&renamed, policy));
            prop_assert!(near(&a.macro_mean, &b.macro_mean) || a.pairs.is_empty(), "{:?} {:?}", a.macro_mean, b.macro_mean);
            prop_assert_eq!(a.counts, b.counts);
        }
        prop_assert!(near(&per_item(&rows, Correlation::KendallTauB).mean, &per_item(&renamed, Correlation::KendallTauB).mean));
    }

    /// Agreement is a share, and turning the metric around turns right into wrong where nothing ties.
    #[test]
    fn agreement_is_a_share(rows in any_rows()) {
        let found = agreement(&rows, TiePolicy::MetricTiesHalf);
        let turned: Vec<Row> = rows.iter().map(|r| Row { metric: r.metric.map(|m| -m), ..r.clone() }).collect();
        if let (Outcome::Value(a), Outcome::Value(b)) = (found.micro_mean, agreement(&turned, TiePolicy::MetricTiesHalf).micro_mean) {
            prop_assert!((0.0..=1.0).contains(&a));
            prop_assert!((a + b - 1.0).abs() < 1e-12);
        }
    }

    /// The best threshold is at least as good as any other.
    #[test]
    fn no_threshold_beats_the_best(rows in any_rows(), other in 0.0..5.0_f64) {
        if let Outcome::Value(best) = best_tie_threshold(&rows) {
            let share = |t| agreement(&rows, TiePolicy::Calibrated(t)).counts.right;
            prop_assert!(share(best) >= share(other), "{} at {best}, {} at {other}", share(best), share(other));
        }
    }

    /// Perfect agreement is 1, whatever the level; raters and units in another order change nothing.
    #[test]
    fn alpha_of_perfect_agreement_is_one_and_order_does_not_matter(units in any_units()) {
        for level in [Level::Nominal, Level::Ordinal, Level::Interval] {
            let mut turned: Vec<Unit> = units.iter().map(|u| u.iter().rev().copied().collect()).collect();
            turned.reverse();
            prop_assert!(near(&krippendorff_alpha(&units, level), &krippendorff_alpha(&turned, level)));
            let perfect: Vec<Unit> = units.iter().filter_map(|u| u.iter().flatten().next().map(|v| vec![Some(*v); 3])).collect();
            match krippendorff_alpha(&perfect, level) {
                Outcome::Value(alpha) => prop_assert!((alpha - 1.0).abs() < 1e-12),
                Outcome::NotApplicable(why) => prop_assert!(why.contains("one value only") || why.contains("two raters")),
                Outcome::Failed(why) => prop_assert!(false, "{}", why),
            }
        }
    }

    /// No statistic panics or gives a number that is not finite.
    #[test]
    fn every_statistic_is_finite_or_says_why(units in any_units(), rows in any_rows()) {
        let mut found = vec![fleiss_kappa(&units), percent_agreement(&units), icc(&units, Icc::TwoMean), icc(&units, Icc::ThreeOne)];
        found.extend(Correlation::ALL.map(|which| per_item(&rows, which).mean));
        if let Outcome::Value(fitted) = strengths(&duels(&rows, Judge::Human), Ties::Davidson) {
            found.extend(fitted.models.iter().map(|(_, s)| Outcome::Value(*s)));
        }
        for outcome in found {
            match outcome {
                Outcome::Value(v) => prop_assert!(v.is_finite()),
                Outcome::NotApplicable(why) | Outcome::Failed(why) => prop_assert!(!why.is_empty()),
            }
        }
    }
}
