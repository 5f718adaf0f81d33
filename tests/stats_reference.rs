//! Statistics against `tests/golden/stats/expected.json`: SciPy's correlations, and Krippendorff's α and the pairwise agreement counted
//! directly by their definitions (`tests/golden/reference/make_stats.py`), on small tables with ties, gaps and constants.

use editscope::domain::Outcome;
use editscope::stats::correlation::{kendall_tau_b, pearson, spearman};
use editscope::stats::raters::Unit;
use editscope::stats::{Level, Row, TiePolicy, agreement, krippendorff_alpha};
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/stats/expected.json")).unwrap() // committed beside its generator
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// `null` in the golden table must be undefined here, a number equal within 1e-9.
#[track_caller]
fn same(ours: &Outcome<f64>, theirs: &Value, what: &str) {
    match (ours, theirs.as_f64()) {
        (Outcome::Value(a), Some(b)) => assert!((a - b).abs() < 1e-9, "{what}: {a} against {b}"),
        (Outcome::NotApplicable(why), None) => assert!(!why.is_empty()),
        (ours, theirs) => panic!("{what}: {ours:?} against {theirs:?}"),
    }
}

#[test]
fn correlations_are_those_of_scipy_on_short_vectors() {
    let golden = golden();
    let cases = list(&golden["correlations"]);
    assert_eq!(cases.len(), 6);
    for case in cases {
        let numbers = |key: &str| list(&case[key]).iter().filter_map(Value::as_f64).collect::<Vec<_>>();
        let (x, y) = (numbers("x"), numbers("y"));
        same(&pearson(&x, &y), &case["pearson"], "pearson");
        same(&spearman(&x, &y), &case["spearman"], "spearman");
        same(&kendall_tau_b(&x, &y), &case["kendall_tau_b"], "kendall_tau_b");
    }
}

#[test]
fn alpha_is_that_of_counting_pairs() {
    let golden = golden();
    let cases = list(&golden["krippendorff"]);
    assert_eq!(cases.len(), 5);
    for case in cases {
        let raters = list(&case["raters_by_units"]);
        let units = list(&raters[0]).len();
        let units: Vec<Unit> = (0..units).map(|unit| raters.iter().map(|rater| rater[unit].as_f64()).collect()).collect();
        for (level, name) in [(Level::Nominal, "nominal"), (Level::Ordinal, "ordinal"), (Level::Interval, "interval")] {
            same(&krippendorff_alpha(&units, level), &case[name], name);
        }
    }
}

#[test]
fn the_pairwise_agreement_is_that_of_counting_items() {
    let golden = golden();
    let case = &golden["pairwise"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row =
        |r: &Value| Row { item: text(&r["item"]), model: text(&r["model"]), metric: r["metric"].as_f64(), human: r["human"].as_f64() };
    let rows: Vec<Row> = list(&case["rows"]).iter().map(row).collect();
    let found = agreement(&rows, TiePolicy::Paper);
    same(&found.macro_mean, &case["macro"], "macro");
    same(&found.micro_mean, &case["micro"], "micro");
    let sum = |key: &str| list(&case["pairs"]).iter().filter_map(|pair| pair[key].as_u64()).sum::<u64>();
    assert_eq!((found.counts.compared as u64, found.counts.human_ties as u64), (sum("counted"), sum("human_ties")));
    assert_eq!(found.counts.right, sum("right") as f64);
}
