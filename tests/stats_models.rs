//! Elo, the sweep of the weight α and the ground-truth test against an independent implementation on random tables with ties, missing
//! values and constants (`tests/golden/stats/generate_models.py`).

use editscope::domain::Outcome;
use editscope::stats::TiePolicy;
use editscope::stats::bradley_terry::{Duel, Winner, elo};
use editscope::stats::ground_truth::{KnownEdit, ground_truth};
use editscope::stats::weights::{PartsRow, held_out, sweep};
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/stats/models.json")).unwrap() // committed beside its generator
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
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
fn elo_ratings_are_those_of_the_logistic_function() {
    for case in list(&golden()["elo"]) {
        let duel = |duel: &Value| Duel {
            item: "i".into(),
            first: text(&duel[0]),
            second: text(&duel[1]),
            winner: match duel[2].as_str() {
                Some("first") => Winner::First,
                Some("second") => Winner::Second,
                _ => Winner::Tie,
            },
        };
        let duels: Vec<Duel> = list(&case["duels"]).iter().map(duel).collect();
        let found = elo(&duels, case["k"].as_f64().unwrap());
        let expected = case["ratings"].as_object().unwrap();
        assert_eq!(found.len(), expected.len());
        for (model, rating) in found {
            let theirs = expected[&model].as_f64().unwrap();
            assert!((rating - theirs).abs() < 1e-6, "{model}: {rating} against {theirs} after {} duels", duels.len());
        }
    }
}

#[test]
fn the_sweep_and_its_held_out_half_are_those_of_the_definition() {
    for (number, case) in list(&golden()["weights"]).iter().enumerate() {
        let row = |row: &Value| PartsRow {
            item: text(&row["item"]),
            model: text(&row["model"]),
            modify: row["modify"].as_f64(),
            preserve: row["preserve"].as_f64(),
            size: row["size"].as_f64(),
            position: row["position"].as_f64(),
            human: row["human"].as_f64(),
        };
        let rows: Vec<PartsRow> = list(&case["rows"]).iter().map(row).collect();
        let alphas: Vec<f64> = list(&case["alphas"]).iter().filter_map(Value::as_f64).collect();
        for (name, policy) in [("paper", TiePolicy::Paper), ("half", TiePolicy::MetricTiesHalf)] {
            let expected = &case[name];
            let found = sweep(&rows, &alphas, policy);
            assert_eq!(found.len(), list(&expected["sweep"]).len());
            for (at, theirs) in found.iter().zip(list(&expected["sweep"])) {
                same(&at.agreement, theirs, &format!("case {number}, {name}, α {}", at.alpha));
            }
            let what = format!("case {number}, {name}, held out");
            let halves = &expected["held_out"];
            match held_out(&rows, &alphas, policy, case["seed"].as_u64().unwrap()) {
                Outcome::Value(found) => {
                    assert_eq!(Some(found.alpha), halves["alpha"].as_f64(), "{what}");
                    assert_eq!(vec![found.items_chosen, found.items_held_out], sizes(&halves["items"]), "{what}");
                    same(&Outcome::Value(found.agreement_on_chosen), &halves["chosen"], &what);
                    same(&Outcome::Value(found.agreement_held_out), &halves["held_out"], &what);
                }
                Outcome::NotApplicable(why) | Outcome::Failed(why) => {
                    assert!(halves.is_null() && !why.is_empty(), "{what}: {why} against {halves}");
                }
            }
        }
    }
}

fn sizes(value: &Value) -> Vec<usize> {
    list(value).iter().filter_map(Value::as_u64).map(|n| n as usize).collect()
}

#[test]
fn the_ground_truth_test_counts_as_its_definition_says() {
    for (number, case) in list(&golden()["ground_truth"]).iter().enumerate() {
        let edit = |edit: &Value| KnownEdit {
            item: text(&edit["item"]),
            kind: text(&edit["kind"]),
            metric: edit["metric"].as_f64(),
            good: edit["good"].as_bool().unwrap(),
        };
        let edits: Vec<KnownEdit> = list(&case["edits"]).iter().map(edit).collect();
        let found = ground_truth(&edits, &[]);
        same(&found.share, &case["share"], &format!("case {number}"));
        let counts = [found.right, found.items, found.missing_metric, found.unmarked];
        let expected = ["right", "items", "missing_metric", "unmarked"].map(|name| case[name].as_u64().unwrap() as usize);
        assert_eq!(counts, expected, "case {number}");
        let against: Vec<(String, Vec<usize>)> = found.against.iter().map(|a| (a.kind.clone(), vec![a.right, a.compared])).collect();
        let expected: Vec<(String, Vec<usize>)> =
            case["against"].as_object().unwrap().iter().map(|(kind, counts)| (kind.clone(), sizes(counts))).collect();
        assert_eq!(against, expected, "case {number}");
    }
}
