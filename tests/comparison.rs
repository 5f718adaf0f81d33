//! `stats::comparison` and `stats::people` against independent implementations (`tests/golden/stats/generate_comparison.py` says which),
//! by hand, and by property.

use std::collections::BTreeMap;

use editscope::domain::{Bounds, ModelVote, Outcome, Preference, Range};
use editscope::stats::comparison::{
    About, Change, Comparison, Evidence, Leaderboard, Plan, Subject, Ties, changes, compare_all, holm, labels_of, mismatches,
};
use editscope::stats::intervals::{Mean, agreement_interval, compare};
use editscope::stats::orders::{TwoReadings, order_changes};
use editscope::stats::people::{
    Answer, BetweenRaters, between_raters, between_raters_all, between_voters, disagreements, means, rater_reports,
};
use editscope::stats::{Bootstrap, Row, TiePolicy};
use proptest::prelude::*;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/stats/comparison.json")).unwrap() // committed beside its generator
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

fn answers(case: &Value) -> Vec<Answer> {
    let answer = |a: &Value| Answer {
        item: text(&a["item"]),
        model: text(&a["model"]),
        rater: text(&a["rater"]),
        criterion: text(&a["criterion"]),
        value: a["value"].as_f64().unwrap_or(f64::NAN),
        seconds: None,
    };
    list(&case["answers"]).iter().map(answer).collect()
}

#[test]
fn people_agree_as_krippendorff_says() {
    for case in list(&golden()["people"]) {
        let answers = answers(case);
        let found = between_raters(&answers);
        for (criterion, models) in case["between"].as_object().unwrap() {
            for (model, theirs) in models.as_object().unwrap() {
                let ours = &found[criterion][model];
                same(&ours.alpha_nominal, &theirs["nominal"], "nominal");
                same(&ours.alpha_ordinal, &theirs["ordinal"], "ordinal");
                same(&ours.alpha_interval, &theirs["interval"], "interval");
                same(&ours.percent, &theirs["percent"], "percent");
            }
        }
        let means = means(&answers);
        assert_eq!(means.values().map(BTreeMap::len).sum::<usize>(), list(&case["means"]).len());
        for mean in list(&case["means"]) {
            let ours = means[&(text(&mean[0]), text(&mean[1]))][&text(&mean[2])];
            same(&Outcome::Value(ours), &mean[3], "mean");
        }
        let reports = rater_reports(&answers);
        for (criterion, raters) in case["repeats"].as_object().unwrap() {
            for (rater, theirs) in raters.as_object().unwrap() {
                let ours = &reports[criterion][rater];
                assert_eq!(Some(ours.repeats as u64), theirs["repeats"].as_u64());
                same(&ours.self_consistency, &theirs["equal"], "self-consistency");
                same(&ours.self_distance, &theirs["distance"], "self-distance");
            }
        }
    }
}

fn rows(case: &Value, metric: &str) -> Vec<Row> {
    let row = |r: &Value| Row { item: text(&r["item"]), model: text(&r["model"]), metric: r[metric].as_f64(), human: r["human"].as_f64() };
    list(&case["rows"]).iter().map(row).collect()
}

fn evidence(case: &Value) -> Evidence {
    let subject = |r: &Value| Subject {
        item: text(&r["item"]),
        model: text(&r["model"]),
        metrics: [("overall", "metric"), ("other", "other")]
            .into_iter()
            .filter_map(|(name, key)| Some((name.to_owned(), r[key].as_f64()?)))
            .collect(),
        human: r["human"].as_f64().map(|human| ("overall".to_owned(), human)).into_iter().collect(),
        labels: BTreeMap::new(),
    };
    Evidence {
        subjects: list(&case["rows"]).iter().map(subject).collect(),
        metrics: vec!["overall".into(), "other".into()],
        ..Evidence::default()
    }
}

fn quick() -> Plan {
    Plan { bootstrap: Bootstrap { resamples: 50, ..Bootstrap::default() }, ..Plan::default() }
}

#[test]
fn intervals_are_those_of_numpy_on_the_same_draws() {
    for case in list(&golden()["bootstrap"]) {
        let settings =
            Bootstrap { resamples: case["resamples"].as_u64().unwrap() as usize, level: 0.95, seed: case["seed"].as_u64().unwrap() };
        let rows = rows(case, "metric");
        let Outcome::Value(found) = agreement_interval(&rows, TiePolicy::Paper, Mean::Macro, settings) else { panic!("defined") };
        same(&Outcome::Value(found.low), &case["low"], "low");
        same(&Outcome::Value(found.high), &case["high"], "high");
        let compared = compare_all(About::default(), &evidence(case), &Plan { bootstrap: settings, ..Plan::default() });
        let line = &compared.lines[0];
        same(&line.agreement.macro_mean, &case["macro"], "macro");
        assert_eq!(Some(line.agreement.items as u64), case["items"].as_u64());
        assert_eq!(line.macro_interval, Outcome::Value(found));
    }
}

#[test]
fn the_permutation_test_is_that_of_a_second_implementation() {
    for case in list(&golden()["permutation"]) {
        let settings =
            Bootstrap { resamples: case["resamples"].as_u64().unwrap() as usize, level: 0.95, seed: case["seed"].as_u64().unwrap() };
        let found = compare(&rows(case, "metric"), &rows(case, "other"), TiePolicy::Paper, Mean::Macro, settings);
        let Outcome::Value(found) = found else { panic!("defined") };
        same(&Outcome::Value(found.difference), &case["difference"], "difference");
        same(&Outcome::Value(found.p_value), &case["p"], "p");
    }
}

#[test]
fn a_line_is_what_scipy_says() {
    for case in list(&golden()["lines"]) {
        let found = compare_all(About::default(), &evidence(case), &quick());
        let line = &found.lines[0];
        assert_eq!((line.metric.as_str(), line.criterion.as_str(), line.group.as_str()), ("overall", "overall", "all"));
        same(&line.spearman, &case["spearman"], "spearman");
        same(&line.pearson, &case["pearson"], "pearson");
        same(&line.kendall_tau_b, &case["kendall"], "kendall");
        same(&line.spearman_per_item.mean, &case["per_item_spearman"], "spearman within items");
        same(&line.kendall_per_item.mean, &case["per_item_kendall"], "kendall within items");
        assert_eq!(Some(line.spearman_per_item.items as u64), case["items_with_rho"].as_u64());
        same(&line.area_under_curve, &case["area"], "area");
        let places: BTreeMap<(String, String), (f64, f64)> =
            list(&case["places"]).iter().map(|p| ((text(&p[0]), text(&p[1])), (p[2].as_f64().unwrap(), p[3].as_f64().unwrap()))).collect();
        let worst = mismatches(&evidence(case), "overall", "overall", usize::MAX);
        assert!(worst.windows(2).all(|two| two[0].gap().abs() >= two[1].gap().abs()), "furthest first");
        for found in &worst {
            let (metric, human) = places[&(found.item.clone(), found.model.clone())];
            assert!((found.metric_place - metric).abs() < 1e-9 && (found.human_place - human).abs() < 1e-9, "{found:?}");
        }
    }
}

fn votes(case: &Value) -> Vec<ModelVote> {
    let vote = |v: &Value| ModelVote {
        item: text(&v["item"]),
        criterion: "overall".into(),
        rater: text(&v["rater"]),
        first: text(&v["first"]),
        second: text(&v["second"]),
        preference: serde_json::from_value(v["preference"].clone()).unwrap(), // the words of the enum
    };
    list(&case["votes"]).iter().map(vote).collect()
}

#[test]
fn metrics_against_votes_are_those_of_an_independent_count() {
    for case in list(&golden()["votes"]) {
        let subject = |m: &Value| Subject {
            item: text(&m[0]),
            model: text(&m[1]),
            metrics: m[2].as_f64().map(|value| ("overall".to_owned(), value)).into_iter().collect(),
            ..Subject::default()
        };
        let evidence = Evidence {
            subjects: list(&case["metric"]).iter().map(subject).collect(),
            metrics: vec!["overall".into()],
            votes: votes(case),
            ..Evidence::default()
        };
        let found = compare_all(About::default(), &evidence, &quick());
        let line = &found.votes[0];
        for (share, name) in line.by_policy.iter().zip(["paper", "half", "dropped"]) {
            same(&share.micro_mean, &case["expected"][name]["micro"], name);
            same(&share.macro_mean, &case["expected"][name]["macro"], name);
            assert_eq!(Some(share.compared as u64), case["expected"][name]["compared"].as_u64(), "{name}");
        }
        assert_eq!(line.agreement.micro_mean, line.by_policy[0].micro_mean);
        // The order in which a vote names the two models changes nothing.
        let turned: Vec<ModelVote> = votes(case)
            .into_iter()
            .map(|v| ModelVote { first: v.second, second: v.first, preference: v.preference.swapped(), ..v })
            .collect();
        let again = compare_all(About::default(), &Evidence { votes: turned, ..evidence.clone() }, &quick());
        assert_eq!(again.votes[0].agreement, line.agreement);
        assert_eq!(again.between_voters, found.between_voters);
    }
}

#[test]
fn corrected_p_values_are_those_of_statsmodels() {
    for case in list(&golden()["holm"]) {
        let p: Vec<Option<f64>> = list(&case["p"]).iter().map(Value::as_f64).collect();
        for (ours, theirs) in holm(&p).into_iter().zip(list(&case["corrected"])) {
            same(&Outcome::Value(ours.unwrap()), theirs, "corrected");
        }
    }
    assert_eq!(holm(&[None, Some(0.04), None]), [None, Some(0.04), None]);
}

fn subject(item: &str, model: &str, metric: f64, human: f64) -> Subject {
    Subject {
        item: item.into(),
        model: model.into(),
        metrics: [("overall".to_owned(), metric)].into(),
        human: [("overall".to_owned(), human)].into(),
        labels: [("edit-type".to_owned(), vec![if item < "3" { "add" } else { "remove" }.to_owned()])].into(),
    }
}

/// By hand: on items 1 and 2 ("add") the metric is right, on 3 and 4 ("remove") wrong.
fn split_evidence() -> Evidence {
    let right = |item: &str| [subject(item, "a", 0.9, 5.0), subject(item, "b", 0.1, 1.0)];
    let wrong = |item: &str| [subject(item, "a", 0.1, 5.0), subject(item, "b", 0.9, 1.0)];
    let subjects = [right("1"), right("2"), wrong("3"), wrong("4")].concat();
    Evidence { subjects, metrics: vec!["overall".into()], ..Evidence::default() }
}

#[test]
fn groups_are_judged_by_themselves() {
    let plan = Plan { splits: vec!["edit-type".into(), "model".into()], ..quick() };
    let found = compare_all(About::default(), &split_evidence(), &plan);
    let shares: Vec<_> = found.lines.iter().map(|line| (line.group.as_str(), line.agreement.macro_mean.clone())).collect();
    assert_eq!(
        shares,
        [
            ("all", Outcome::Value(0.5)),
            ("add", Outcome::Value(1.0)),
            ("remove", Outcome::Value(0.0)),
            ("a", Outcome::Value(0.5)),
            ("b", Outcome::Value(0.5)),
        ]
    );
    assert!(found.lines[1].notes.iter().any(|note| note.contains("all 2 compared items say the same")), "{:?}", found.lines[1].notes);
    assert!(found.lines[1].items_needed.why().is_some_and(|why| why.contains("no width")), "{:?}", found.lines[1].items_needed);
    let boards: Vec<_> = found.leaderboards.iter().map(|board| (board.judge.as_str(), board.group.as_str())).collect();
    assert_eq!(
        boards,
        [("people", "all"), ("overall", "all"), ("people", "add"), ("overall", "add"), ("people", "remove"), ("overall", "remove")]
    );
    assert_eq!(found.leaderboards[0].standings[0].model, "a");
    assert_eq!(found.leaderboards[0].standings[0].win_rate, Outcome::Value(1.0));
    assert_eq!(found.leaderboards[1].standings[0].win_rate, Outcome::Value(0.5));
}

#[test]
fn one_comparison_says_that_it_is_one_and_has_no_interval() {
    let evidence = Evidence {
        subjects: vec![subject("1", "a", 0.9, 5.0), subject("1", "b", 0.1, 1.0)],
        metrics: vec!["overall".into()],
        ..Evidence::default()
    };
    let line = &compare_all(About::default(), &evidence, &quick()).lines[0];
    assert_eq!(line.agreement.macro_mean, Outcome::Value(1.0));
    assert!(line.macro_interval.why().unwrap().contains("1 item(s)"), "{:?}", line.macro_interval);
    assert!(line.notes.iter().any(|note| note.contains("one item is compared")), "{:?}", line.notes);
}

/// By hand: a part of three values ties on items 2 and 3; people prefer a on all: 1 right of 3, with ties half 2 of 3.
#[test]
fn ties_of_a_part_with_three_values_are_explained() {
    let values = [("1", 1.0, 0.0), ("2", 0.5, 0.5), ("3", 1.0, 1.0)];
    let subjects = values.iter().flat_map(|(item, a, b)| [subject(item, "a", *a, 5.0), subject(item, "b", *b, 1.0)]).collect();
    let evidence = Evidence { subjects, metrics: vec!["overall".into()], ..Evidence::default() };
    let found = compare_all(About::default(), &evidence, &quick());
    assert_eq!(found.lines[0].agreement.macro_mean, Outcome::Value(1.0 / 3.0));
    let note = found.lines[0].notes.join(" ");
    assert!(note.contains("ties in 2 of 3 compared pairs") && note.contains("0.667"), "{note}");
    let half = compare_all(About::default(), &evidence, &Plan { ties: Ties::As(TiePolicy::MetricTiesHalf), ..quick() });
    assert_eq!(half.lines[0].agreement.macro_mean, Outcome::Value(2.0 / 3.0));
    assert!(half.lines[0].notes.is_empty(), "{:?}", half.lines[0].notes);
}

/// By hand: a > b > c becomes a > c > b; d has no second value.
#[test]
fn a_changed_order_is_found() {
    let edit =
        |model: &str, before: f64, after: Option<f64>| TwoReadings { item: "1".into(), model: model.into(), values: [Some(before), after] };
    let edits = [edit("a", 3.0, Some(9.0)), edit("b", 2.0, Some(4.0)), edit("c", 1.0, Some(5.0)), edit("d", 0.0, None)];
    let found = order_changes(&edits, ["corrected", "paper"]);
    assert_eq!((found.pairs, found.missing, found.items, found.items_changed), (3, 3, 1, 1));
    assert_eq!(found.reversals.len(), 1);
    assert_eq!(found.reversals[0].models, ["b", "c"]);
    assert_eq!((found.reversals[0].before, found.reversals[0].after), ([2.0, 1.0], [4.0, 5.0]));
    assert_eq!(found.kept, Outcome::Value(2.0 / 3.0));
    assert!(order_changes(&[], ["a", "b"]).kept.why().is_some());
}

#[test]
fn a_rater_with_a_reversed_scale_is_noticed() {
    let answer = |rater: &str, item: i32, value: i32| Answer {
        item: item.to_string(),
        model: "m".into(),
        rater: rater.into(),
        criterion: "overall".into(),
        value: f64::from(value),
        seconds: Some(f64::from(item)),
    };
    let all: Vec<Answer> = (1..=11).flat_map(|i| [answer("ann", i, i % 5), answer("ben", i, i % 5), answer("eve", i, 4 - i % 5)]).collect();
    let found = compare_all(About::default(), &Evidence { answers: all.clone(), ..Evidence::default() }, &quick());
    assert!(found.notes.iter().any(|note| note.contains("'eve'")), "{:?}", found.notes);
    assert!(!found.notes.iter().any(|note| note.contains("'ann'")), "{:?}", found.notes);
    assert_eq!(found.raters["overall"]["ann"].median_seconds, Outcome::Value(6.0)); // the middle of 1 to 11
    let far = disagreements(&all, 1);
    assert_eq!((far.len(), far[0].spread), (1, 4.0));
}

#[test]
fn a_saved_comparison_is_read_back_as_it_was_and_compared() {
    let plan = Plan { splits: vec!["edit-type".into()], ..quick() };
    let before = compare_all(About { name: "first".into(), ..About::default() }, &split_evidence(), &plan);
    let text = serde_json::to_string(&before).unwrap(); // plain data
    let again: Comparison = serde_json::from_str(&text).unwrap(); // written above
    assert_eq!(again, before);
    let mut better = split_evidence();
    for edit in better.subjects.iter_mut().filter(|edit| edit.item == "3") {
        edit.metrics.insert("overall".into(), edit.human["overall"]);
    }
    let after = compare_all(About::default(), &better, &plan);
    let moved: Vec<_> = changes(&before, &after)
        .iter()
        .filter(|change| change.quantity == Change::MACRO)
        .map(|change| (change.group.clone(), change.difference.clone()))
        .collect();
    assert_eq!(moved, [("all".into(), Outcome::Value(0.25)), ("add".into(), Outcome::Value(0.0)), ("remove".into(), Outcome::Value(0.5))]);
}

/// The one number of that name over all edits, before and after.
#[track_caller]
fn moved(found: &[Change], quantity: &str, metric: &str, model: &str) -> [Outcome<f64>; 2] {
    let named = |change: &&Change| (change.quantity.as_str(), change.metric.as_str(), change.model.as_str()) == (quantity, metric, model);
    let mut fitting = found.iter().filter(named).filter(|change| change.split == "all");
    let change = fitting.next().unwrap_or_else(|| panic!("no {quantity} of '{metric}' '{model}': {found:?}"));
    assert!(fitting.next().is_none(), "{quantity} of '{metric}' '{model}' is there once");
    [change.before.clone(), change.after.clone()]
}

/// By hand: the metric prefers a and the voter, the raters and the mark do too; then its values change places.
#[test]
fn what_moved_tells_votes_boards_and_ground_truth() {
    let of = |a: f64, b: f64| {
        let vote = ModelVote {
            item: "1".into(),
            criterion: "overall".into(),
            rater: "ann".into(),
            first: "a".into(),
            second: "b".into(),
            preference: Preference::First,
        };
        let marks = [(("1".to_owned(), "a".to_owned()), "good".to_owned()), (("1".to_owned(), "b".to_owned()), "worse".to_owned())];
        let evidence = Evidence {
            subjects: vec![subject("1", "a", a, 5.0), subject("1", "b", b, 1.0)],
            metrics: vec!["overall".into()],
            votes: vec![vote],
            marks: marks.into(),
            ..Evidence::default()
        };
        compare_all(About::default(), &evidence, &quick())
    };
    let found = changes(&of(0.9, 0.1), &of(0.1, 0.9));
    let [one, none] = [Outcome::Value(1.0), Outcome::Value(0.0)];
    assert_eq!(moved(&found, Change::MACRO, "overall", ""), [one.clone(), none.clone()]);
    assert_eq!(moved(&found, Change::VOTES, "overall", ""), [one.clone(), none.clone()]);
    assert_eq!(moved(&found, Change::GROUND_TRUTH, "overall", ""), [one.clone(), none.clone()]);
    assert_eq!(moved(&found, Change::WIN_RATE, "overall", "a"), [one.clone(), none.clone()]);
    // Two edits: every correlation turns round; the better edit is the one above the median of people, and then it is the lower one.
    let turned = [Outcome::Value(1.0), Outcome::Value(-1.0)];
    for correlation in [Change::SPEARMAN, Change::KENDALL, Change::PEARSON, Change::SPEARMAN_WITHIN, Change::KENDALL_WITHIN] {
        let [before, after] = moved(&found, correlation, "overall", "");
        let near = |found: &Outcome<f64>, by_hand: &Outcome<f64>| {
            found.value().zip(by_hand.value()).is_some_and(|(found, by_hand)| (found - by_hand).abs() < 1e-12)
        };
        assert!(near(&before, &turned[0]) && near(&after, &turned[1]), "{correlation}: {before:?} {after:?}");
    }
    assert_eq!(moved(&found, Change::AREA, "overall", ""), [one.clone(), none.clone()]);
    // The voter still prefers a.
    assert_eq!(moved(&found, Change::WIN_RATE, "votes", "a"), [one.clone(), one.clone()]);
    // What only one of the two has is told too.
    let people_only = compare_all(About::default(), &Evidence::default(), &quick());
    let found = changes(&people_only, &of(0.9, 0.1));
    let [before, after] = moved(&found, Change::VOTES, "overall", "");
    assert!(before.why().is_some_and(|why| why.contains("not in the comparison before")), "{before:?}");
    assert_eq!(after, one);
}

#[test]
fn what_data_differ_is_named_and_another_range_is_no_other_project() {
    let of = |range: &str, scores: &str, opinions: &str| {
        let range = Range {
            name: range.into(),
            profile: Default::default(),
            modify: Some(Bounds { min: 0.0, max: 1.0 }),
            preserve: None,
            fitted_on: String::new(),
        };
        let mut about = About { range: Some(range), ..About::default() };
        about.add_content("scores", [scores.to_owned()]);
        about.add_content("opinions", [opinions.to_owned()]);
        compare_all(about, &Evidence::default(), &quick())
    };
    let before = of("fitted", "0.5", "4");
    assert_eq!(before.data_words(&before), "Both are of the same data.");
    assert_eq!(before.data_words(&of("own", "0.6", "4")), "The scores are not the same (another range); all other data are.");
    assert_eq!(before.data_words(&of("fitted", "0.6", "4")), "The data are not the same: scores.");
    assert_eq!(before.data_words(&of("own", "0.6", "5")), "The data are not the same: scores, opinions.");
}

/// By hand: ann and ben agree, then ben turns his scale round. Values 1, 2, 3 twice each: the ordinal distances are 4, 4 and 16, so
/// D_o = 64/6, D_e = 192/30 and α = 1 − 5/3.
#[test]
fn what_moved_between_people_alone_is_their_alpha() {
    let of = |ben: [f64; 3]| {
        let answer = |rater: &str, item: usize, value: f64| Answer {
            item: item.to_string(),
            model: "m".into(),
            rater: rater.into(),
            criterion: "overall".into(),
            value,
            seconds: None,
        };
        let answers = (0..3).flat_map(|item| [answer("ann", item, item as f64 + 1.0), answer("ben", item, ben[item])]).collect();
        compare_all(About::default(), &Evidence { answers, ..Evidence::default() }, &quick())
    };
    let found = changes(&of([1.0, 2.0, 3.0]), &of([3.0, 2.0, 1.0]));
    assert!(found.iter().all(|change| change.quantity == Change::ALPHA), "{found:?}");
    for model in ["", "m"] {
        let [before, after] = moved(&found, Change::ALPHA, "", model);
        assert_eq!(before, Outcome::Value(1.0));
        assert!(after.value().is_some_and(|alpha| (alpha + 2.0 / 3.0).abs() < 1e-12), "{after:?}");
    }
}

#[test]
fn of_many_metrics_the_chosen_one_is_held_against_each_of_the_others() {
    let metrics: Vec<String> = (0..8).map(|number| format!("m{number}")).collect();
    let edit = |model: &str, human: f64| Subject {
        metrics: metrics.iter().map(|name| (name.clone(), human)).collect(),
        ..subject("1", model, 0.0, human)
    };
    let evidence = Evidence { subjects: vec![edit("a", 5.0), edit("b", 1.0)], metrics: metrics.clone(), ..Evidence::default() };
    let pairs = |first: Option<&str>| -> Vec<(String, String)> {
        let plan = Plan { first: first.map(str::to_owned), ..quick() };
        let found = compare_all(About::default(), &evidence, &plan);
        found.significance.into_iter().map(|pair| (pair.first, pair.second)).collect()
    };
    let against = |first: &str| -> Vec<(String, String)> {
        metrics.iter().filter(|other| *other != first).map(|other| (first.to_owned(), other.clone())).collect()
    };
    assert_eq!(pairs(None), against("m0"));
    assert_eq!(pairs(Some("m3")), against("m3"));
}

#[test]
fn what_was_made_differently_is_told_range_and_seeds_among_it() {
    let range = |max: f64| Range {
        name: "spring".into(),
        profile: Default::default(),
        modify: Some(Bounds { min: 0.0, max }),
        preserve: None,
        fitted_on: "4 edits".into(),
    };
    let of = |max: f64, seed: u64| {
        let bootstrap = Bootstrap { seed, ..quick().bootstrap };
        let about = About { range: Some(range(max)), ..About::default() };
        compare_all(about, &split_evidence(), &Plan { bootstrap, split_seed: seed + 1, ..quick() })
    };
    let (before, after) = (of(0.5, 1), of(0.25, 7));
    assert_eq!(before.made_differently(&before), []);
    let told = before.made_differently(&after);
    let words: Vec<&str> = told.iter().map(|(what, _, _)| *what).collect();
    assert_eq!(words, ["range", "seed of intervals", "seed of the held-out halves"]);
    assert!(told[0].1.contains("modify 0.0000 to 0.5000") && told[0].2.contains("modify 0.0000 to 0.2500"), "{told:?}");
    assert_eq!((told[1].1.as_str(), told[1].2.as_str()), ("1", "7"));
}

#[test]
fn scores_are_grouped_by_what_they_are() {
    use editscope::domain::rle::{Counts, Rle};
    let mut score: editscope::domain::Score = serde_json::from_value(serde_json::json!({
        "profile": "corrected", "parts": {"size": 1.0, "position": 1.0, "modify": 0.1, "preserve": 0.9}, "global": false,
        "parse": {"edit_type": "change color."}, "boxes": {"source": [], "edit": []}, "candidates": {"source": [], "edit": []},
        "mask": null, "crop_in_bpm500": null, "trace": []
    }))
    .unwrap(); // a score as it is stored
    let labels = labels_of(&score, &[]);
    assert_eq!((labels["scope"][0].as_str(), labels["edit-type"][0].as_str()), ("local", "change color"));
    assert_eq!((labels["region-size"][0].as_str(), labels["flag"][0].as_str()), ("0: no region", "no flag"));
    // 10 × 10 pixels of which 7, 20 and 50 are set: 7 %, 20 %, 50 %.
    for (set, group) in [(7, "2: 5 to 20 %"), (20, "3: 20 to 50 %"), (50, "4: 50 % and more"), (4, "1: below 5 %"), (0, "0: no region")] {
        score.mask = Some(Rle { size: [10, 10], counts: Counts::Runs(vec![100 - set, set]) });
        assert_eq!(labels_of(&score, &["a", "b"])["region-size"], [group], "{set}");
    }
    assert_eq!(labels_of(&score, &["a", "b"])["flag"], ["a", "b"]);
}

fn any_answers() -> impl Strategy<Value = Vec<Answer>> {
    // Distinct (item, model, rater): which of two answers is the last would depend on the order.
    prop::collection::btree_map((0..6_u8, 0..2_u8, 0..4_u8), 0..3_u8, 0..40).prop_map(|cells| {
        cells
            .into_iter()
            .map(|((item, model, rater), value)| Answer {
                item: item.to_string(),
                model: model.to_string(),
                rater: rater.to_string(),
                criterion: "overall".into(),
                value: f64::from(value) / 2.0,
                seconds: None,
            })
            .collect()
    })
}

/// Equal, or undefined for a reason, up to the order in which floats were added.
fn near(a: &Outcome<f64>, b: &Outcome<f64>) -> bool {
    match (a, b) {
        (Outcome::Value(a), Outcome::Value(b)) => (a - b).abs() < 1e-12,
        (Outcome::NotApplicable(_), Outcome::NotApplicable(_)) => true,
        _ => false,
    }
}

fn numbers(found: &BetweenRaters) -> Vec<Outcome<f64>> {
    let all = [&found.percent, &found.alpha_nominal, &found.alpha_ordinal, &found.alpha_interval, &found.fleiss_kappa, &found.icc_single];
    all.map(|outcome| outcome.clone().map(|value| (value * 1e9).round())).into()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The order of rows and the names of raters change nothing.
    #[test]
    fn order_and_names_of_raters_change_nothing(answers in any_answers(), by in 0..40_usize) {
        let renamed = |name: &str| format!("rater {}", 9 - name.parse::<i32>().unwrap_or_default()); // reverses the order
        let mut turned: Vec<Answer> = answers.iter().map(|a| Answer { rater: renamed(&a.rater), ..a.clone() }).collect();
        turned.reverse();
        if !turned.is_empty() {
            let by = by % turned.len();
            turned.rotate_left(by);
        }
        let (ours, theirs) = (between_raters_all(&answers), between_raters_all(&turned));
        prop_assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
        for (criterion, found) in &ours {
            prop_assert_eq!(numbers(found), numbers(&theirs[criterion]));
        }
        let means_of = |answers: &[Answer]| -> Vec<i64> {
            means(answers).values().flat_map(BTreeMap::values).map(|mean| (mean * 1e9).round() as i64).collect()
        };
        prop_assert_eq!(means_of(&answers), means_of(&turned));
    }

    /// The order of edits changes nothing of a whole comparison: agreement, its interval, the worst disagreements, duels.
    #[test]
    fn order_of_edits_changes_nothing(values in prop::collection::vec((0..5_u8, 0..4_u8), 24), by in 0..24_usize) {
        let subjects: Vec<Subject> = values
            .iter()
            .enumerate()
            .map(|(i, (metric, human))| subject(&(i / 3).to_string(), &(i % 3).to_string(), f64::from(*metric), f64::from(*human)))
            .collect();
        let mut turned = subjects.clone();
        turned.reverse();
        turned.rotate_left(by);
        let plan = Plan { bootstrap: Bootstrap { resamples: 20, ..Bootstrap::default() }, ..Plan::default() };
        let compared = |subjects: Vec<Subject>| {
            let evidence = Evidence { subjects, metrics: vec!["overall".into()], ..Evidence::default() };
            compare_all(About::default(), &evidence, &plan)
        };
        let (ours, theirs) = (compared(subjects), compared(turned));
        for (a, b) in ours.lines.iter().zip(&theirs.lines) {
            prop_assert_eq!(&a.agreement, &b.agreement);
            prop_assert_eq!(&a.macro_interval, &b.macro_interval);
            prop_assert!(near(&a.spearman, &b.spearman), "{:?} {:?}", a.spearman, b.spearman);
        }
        prop_assert_eq!(&ours.mismatches, &theirs.mismatches);
        for (a, b) in ours.leaderboards.iter().zip(&theirs.leaderboards) {
            let duels = |board: &Leaderboard| -> Vec<_> {
                board.standings.iter().map(|s| (s.model.clone(), s.wins, s.losses, s.ties, s.strength.clone(), s.elo.to_bits())).collect()
            };
            prop_assert_eq!(duels(a), duels(b));
        }
        prop_assert_eq!((ours.lines.len(), ours.leaderboards.len()), (theirs.lines.len(), theirs.leaderboards.len()));
        prop_assert!(!ours.lines.is_empty());
    }

    /// Everybody copies the first rater: α is 1, or undefined where there is one value only.
    #[test]
    fn alpha_of_copies_is_one(answers in any_answers()) {
        let copies: Vec<Answer> = answers
            .iter()
            .filter(|a| a.rater == "0")
            .flat_map(|a| ["x", "y", "z"].map(|rater| Answer { rater: rater.into(), ..a.clone() }))
            .collect();
        for found in between_raters_all(&copies).values() {
            for alpha in [&found.alpha_nominal, &found.alpha_ordinal, &found.alpha_interval] {
                match alpha {
                    Outcome::Value(alpha) => prop_assert!((alpha - 1.0).abs() < 1e-12),
                    other => prop_assert!(other.why().is_some_and(|why| why.contains("one value only")), "{:?}", other),
                }
            }
            prop_assert_eq!(found.percent.clone(), Outcome::Value(1.0));
        }
    }

    /// Voters who agree about everything agree whatever the order of the two models.
    #[test]
    fn voters_who_agree_agree(choices in prop::collection::vec(0..4_usize, 1..12), turn in prop::collection::vec(any::<bool>(), 12)) {
        let preferences = [Preference::First, Preference::Second, Preference::Tie, Preference::BothBad];
        let vote = |i: usize, rater: &str, turned: bool| {
            let vote = ModelVote { item: i.to_string(), criterion: "c".into(), rater: rater.into(), first: "a".into(), second: "b".into(), preference: preferences[choices[i]] };
            if turned { ModelVote { first: "b".into(), second: "a".into(), preference: vote.preference.swapped(), ..vote } } else { vote }
        };
        let votes: Vec<ModelVote> = (0..choices.len()).flat_map(|i| [vote(i, "x", false), vote(i, "y", turn[i])]).collect();
        prop_assert_eq!(between_voters(&votes)["c"].percent.clone(), Outcome::Value(1.0));
    }
}
