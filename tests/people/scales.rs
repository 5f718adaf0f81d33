//! Several rubrics, scales and edits of one model in one project: what counts, what it is called, and that nothing is mixed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use editscope::domain::{Answer, Item, Judgement, Profile, Protocol, Rating, RatingContext, Rubric, RubricId, ScalePoint, TaskRole};
use editscope::engine::results;
use editscope::export::{write_jsonl, write_ratings_jsonl};
use editscope::storage::Project;
use serde_json::Value;

use crate::support::{id_of, items, judgement, paper, project, rating, rubric_answer, setup};

fn editscope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_editscope"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .expect("the program starts")
}

#[track_caller]
fn agree(folder: &Path, project: &str) -> (Value, String) {
    let out = editscope(folder, &["agree", project, "--resamples", "20", "--json"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    (serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {said}")), said)
}

fn values(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

/// What counts of each rater about an edit, one map a rating.
fn counting(project: &Project, edit: &str) -> Vec<(String, BTreeMap<String, f64>)> {
    project.latest_ratings(id_of(project, edit)).unwrap().into_iter().map(|rating| (rating.rater, rating.values)).collect()
}

fn said(uid: &str, rubric: &Rubric, rater: &str, edit: &str, answers: &[(&str, f64)], at: i64) -> Judgement {
    let answer = Answer::Rubric { values: values(answers), cannot_judge: Vec::new() };
    Judgement { rubric: Some(RubricId::from(rubric)), ..judgement(uid, rater, edit, answer, at) }
}

#[test]
fn a_second_rubric_takes_nothing_from_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let project = project(folder.path(), "p.editscope", &items);
    let hub = Rubric::imagenhub();
    let five = project.add_session(&setup(paper(), &items)).unwrap();
    let two = project.add_session(&setup(Protocol::Rubric { rubric: hub.clone() }, &items)).unwrap();
    project.add_judgement(&judgement(&five, "ann", "i0-a", rubric_answer(4.0), 10)).unwrap();
    project.add_judgement(&said(&two, &hub, "ann", "i0-a", &[("SC", 0.5), ("PQ", 1.0)], 20)).unwrap();
    let paper_values: BTreeMap<String, f64> = Rubric::paper().questions.into_iter().map(|question| (question.name, 4.0)).collect();
    assert_eq!(
        counting(&project, "i0-a"),
        [("ann".to_owned(), paper_values.clone()), ("ann".to_owned(), values(&[("PQ", 1.0), ("SC", 0.5)]))]
    );
    let human = || project.queue_row(id_of(&project, "i0-a"), Profile::Corrected).unwrap().human.unwrap();
    assert_eq!((human().mean, human().raters), (Some(4.0), 1), "one rater with an overall of 4");
    // A repeat of the first session is no answer, whatever was asked since.
    let again = judgement(&five, "ann", "i0-a", rubric_answer(1.0), 30);
    project.add_judgement(&Judgement { task: "repeat:edit:i0-a".into(), role: TaskRole::Repeat, ..again }).unwrap();
    let scored = results::all(&project, Profile::Corrected, None, None).unwrap();
    assert_eq!((scored[0].human("overall"), scored[0].human("SC")), (Some(4.0), Some(0.5)));
    let (found, _) = agree(folder.path(), "p.editscope");
    let ann = &found["raters"]["overall"]["ann"];
    // By hand: one answer, repeated once, 3 points away.
    assert_eq!((&ann["answers"], &ann["repeats"], &ann["self_distance"]), (&1.into(), &1.into(), &3.0.into()));
    assert_eq!(found["between_raters_all"]["SC"]["answers"], 1);

    // Who cannot judge it under the second rubric takes back what was said under the second.
    let cannot = Judgement { answer: Answer::CannotJudge, ..said(&two, &hub, "ann", "i0-a", &[], 40) };
    project.add_judgement(&cannot).unwrap();
    assert_eq!(counting(&project, "i0-a"), [("ann".to_owned(), paper_values), ("ann".to_owned(), values(&[]))]);
    let latest = project.latest_ratings(id_of(&project, "i0-a")).unwrap();
    assert_eq!(latest[1].context.as_ref().unwrap().cannot_judge, ["PQ", "SC"]);
    assert_eq!((human().mean, human().raters), (Some(4.0), 1));
    // And a question that is left open in a correction of the first one is taken back alone.
    project.add_judgement(&said(&five, &Rubric::paper(), "ann", "i0-a", &[("modification", 2.0), ("overall", 3.0)], 50)).unwrap();
    assert_eq!(counting(&project, "i0-a").last().unwrap().1, values(&[("modification", 2.0), ("overall", 3.0)]));
    assert_eq!(human().mean, Some(3.0));
}

/// The paper's rubric with an overall from 1 to 7.
fn seven() -> Rubric {
    let mut rubric = Rubric::paper();
    rubric.name = "seven points".into();
    rubric.questions[4].scale = (1..=7).map(|value| ScalePoint { value: f64::from(value), anchor: value.to_string() }).collect();
    rubric
}

/// Two edits: ann and bob answered both on 1 to 5 (4 and 2, 2 and 4), ann one of them on 1 to 7 as well (7).
fn two_scales(folder: &Path, name: &str, items: &[Item]) -> Project {
    let project = project(folder, name, items);
    let five = project.add_session(&setup(paper(), items)).unwrap();
    let other = project.add_session(&setup(Protocol::Rubric { rubric: seven() }, items)).unwrap();
    for (rater, edit, value) in [("ann", "i0-a", 4.0), ("ann", "i0-b", 2.0), ("bob", "i0-a", 2.0), ("bob", "i0-b", 4.0)] {
        project.add_judgement(&said(&five, &Rubric::paper(), rater, edit, &[("overall", value)], 10)).unwrap();
    }
    project.add_judgement(&said(&other, &seven(), "ann", "i0-a", &[("overall", 7.0)], 20)).unwrap();
    project
}

#[test]
fn answers_on_other_scales_have_another_name_and_are_in_no_mean_together() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let project = two_scales(folder.path(), "p.editscope", &items);
    assert_eq!(
        counting(&project, "i0-a"),
        [
            ("ann".to_owned(), values(&[("overall", 4.0)])),
            ("ann".to_owned(), values(&[("overall (1 to 7)", 7.0)])),
            ("bob".to_owned(), values(&[("overall", 2.0)])),
        ]
    );
    let human = project.queue_row(id_of(&project, "i0-a"), Profile::Corrected).unwrap().human.unwrap();
    // By hand: (4 + 2) / 2; with the 7 in it the mean would be 13/3 or, instead of the 4, 4.5.
    assert_eq!((human.mean, human.spread, human.raters), (Some(3.0), Some(2.0), 2));
    let (found, said) = agree(folder.path(), "p.editscope");
    let between = &found["between_raters_all"];
    assert_eq!((&between["overall"]["answers"], &between["overall (1 to 7)"]["answers"]), (&4.into(), &1.into()));
    assert!(said.contains("'overall' was answered on 2 scales, which are not pooled: 1 to 5 (4 answers) is 'overall'"), "{said}");

    // Where most answer on the other scale, it has the plain name.
    let other = project.sessions().unwrap().into_iter().find(|session| session.setup.protocol.rubric() == Some(&seven())).unwrap().uid;
    for (n, rater) in ["cho", "dan", "eve", "fay"].into_iter().enumerate() {
        project.add_judgement(&self::said(&other, &seven(), rater, "i0-a", &[("overall", 6.0)], 30 + n as i64)).unwrap();
    }
    let human = project.queue_row(id_of(&project, "i0-a"), Profile::Corrected).unwrap().human.unwrap();
    assert_eq!((human.mean, human.raters), (Some((7.0 + 4.0 * 6.0) / 5.0), 6));
    assert_eq!(counting(&project, "i0-b")[0].1, values(&[("overall (1 to 5)", 2.0)]));
    // Other words for the same points are the same scale: the newest counts.
    let mut reworded = Rubric::paper();
    reworded.questions[4].asks.push('!');
    let third = project.add_session(&setup(Protocol::Rubric { rubric: reworded.clone() }, &items)).unwrap();
    project.add_judgement(&self::said(&third, &reworded, "bob", "i0-b", &[("overall", 1.0)], 99)).unwrap();
    assert_eq!(counting(&project, "i0-b")[1], ("bob".to_owned(), values(&[("overall (1 to 5)", 1.0)])));
}

#[test]
fn what_counts_does_not_depend_on_the_order_of_arrival() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let a = two_scales(folder.path(), "a.editscope", &items);
    let hub = Rubric::imagenhub();
    let two = a.add_session(&setup(Protocol::Rubric { rubric: hub.clone() }, &items)).unwrap();
    a.add_judgement(&said(&two, &hub, "ann", "i0-a", &[("SC", 0.5), ("PQ", 1.0)], 40)).unwrap();
    a.add_judgement(&said(&two, &hub, "ann", "i0-a", &[("SC", 1.0)], 50)).unwrap();
    a.add_rating(id_of(&a, "i0-a"), &rating("ann", 1.0, Some(5))).unwrap();
    let b = project(folder.path(), "b.editscope", &items);
    let mut rows = a.rater_rows(None).unwrap();
    rows.reverse();
    // Sessions first: answers are about them.
    rows.sort_by_key(|row| !matches!(row, editscope::domain::RaterRow::Session { .. }));
    assert_eq!(b.import_rater_rows(&rows).unwrap().problems, []);
    for edit in ["i0-a", "i0-b"] {
        assert_eq!(counting(&a, edit), counting(&b, edit), "{edit}");
    }
    assert!(counting(&a, "i0-a").iter().any(|(_, answers)| *answers == values(&[("SC", 1.0)])), "{:?}", counting(&a, "i0-a"));
    let c = folder.path().join("c.editscope");
    editscope::storage::merge(&[b.path().to_owned(), a.path().to_owned()], &c).unwrap();
    assert_eq!(counting(&Project::open(&c).unwrap(), "i0-a"), counting(&a, "i0-a"));
}

#[test]
fn what_is_exported_is_not_added_again() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let project = two_scales(folder.path(), "p.editscope", &items);
    project.add_rating(id_of(&project, "i0-b"), &rating("ann", 5.0, Some(99))).unwrap();
    let scored = results::all(&project, Profile::Corrected, None, None).unwrap();
    let rows = results::rows(&project, &scored, Profile::Corrected, "none").unwrap();
    let manifest = folder.path().join("out.jsonl");
    write_jsonl(&rows, &manifest).unwrap();
    let before: Vec<_> = ["i0-a", "i0-b"].map(|edit| counting(&project, edit)).into();
    let read = editscope::datasets::read(&manifest, None).unwrap();
    let report = project.import(&read.items).unwrap();
    assert_eq!((report.ratings_added, &report.notes), (0, &vec![]));
    assert_eq!(["i0-a", "i0-b"].map(|edit| counting(&project, edit)).to_vec(), before);
}

#[test]
fn two_edits_of_one_model_are_two_subjects() {
    let folder = tempfile::tempdir().unwrap();
    let mut items = items(folder.path(), 2, 3);
    for item in &mut items {
        item.edits[1].model = item.edits[0].model.clone();
    }
    let project = project(folder.path(), "p.editscope", &items);
    // ann: 1 for the first edit of model-0, 5 for its second, 3 for model-2.
    for (edit, value) in [("a", 1.0), ("b", 5.0), ("c", 3.0)] {
        for item in ["i0", "i1"] {
            project.add_rating(id_of(&project, &format!("{item}-{edit}")), &rating("ann", value, Some(1))).unwrap();
        }
    }
    let (found, said) = agree(folder.path(), "p.editscope");
    let ann = &found["raters"]["overall"]["ann"];
    assert_eq!((&found["edits"], &found["rated"], &ann["answers"], &ann["repeats"]), (&6.into(), &6.into(), &6.into(), &0.into()));
    let board = found["leaderboards"].as_array().unwrap().iter().find(|board| board["criterion"] == "overall").unwrap();
    let models: Vec<&str> = board["standings"].as_array().unwrap().iter().filter_map(|standing| standing["model"].as_str()).collect();
    // By hand: the second edits win twice, the first lose twice.
    assert_eq!(models, ["model-0 #2", "model-2", "model-0"]);
    assert!(said.contains("several edits of one item by one model are told apart by numbers"), "{said}");
    // A table that names only the model says nothing about either edit; one with a number does.
    std::fs::write(folder.path().join("jo.csv"), "item,model,overall\ni0,model-0,2\ni0,model-0 #2,4\ni0,model-0 #1,1\ni0,model-2,5\n")
        .unwrap();
    let out = editscope(folder.path(), &["import", "jo.csv", "-o", "p.editscope", "--ratings"]);
    let words = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        words.contains("'model-0' made several edits of 'i0'; which one is meant is not said (write 'model-0 #1' for the first)"),
        "{words}"
    );
    assert_eq!(counting(&project, "i0-a")[1], ("jo".to_owned(), values(&[("overall", 1.0)])));
    assert_eq!(counting(&project, "i0-b")[1], ("jo".to_owned(), values(&[("overall", 4.0)])));
    // The same against the project without importing it.
    let out = editscope(folder.path(), &["agree", "p.editscope", "--ratings", "jo.csv", "--resamples", "20", "--json"]);
    let words = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(words.contains("'model-0' made several edits of 'i0', and 1 rows do not say which one they mean"), "{words}");
}

#[test]
fn edits_without_a_model_are_told_apart_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut items = items(folder.path(), 1, 2);
    items[0].edits.iter_mut().for_each(|edit| edit.model.clear());
    let project = project(folder.path(), "p.editscope", &items);
    for (edit, value) in [("i0-a", 2.0), ("i0-b", 4.0)] {
        project.add_rating(id_of(&project, edit), &rating("ann", value, Some(1))).unwrap();
    }
    let (found, _) = agree(folder.path(), "p.editscope");
    assert_eq!((&found["rated"], &found["raters"]["overall"]["ann"]["repeats"]), (&2.into(), &0.into()));
    let names = project.model_names().unwrap();
    assert_eq!([&names[&id_of(&project, "i0-a")], &names[&id_of(&project, "i0-b")]], ["#1", "#2"]);
}

#[test]
fn an_answer_may_bring_its_own_scale_and_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let project = project(folder.path(), "p.editscope", &items);
    std::fs::write(folder.path().join("kim.csv"), "item,model,overall,seconds\ni0,model-0,3,12.5\ni0,model-1,4,20\n").unwrap();
    let out = editscope(
        folder.path(),
        &["import", "kim.csv", "-o", "p.editscope", "--columns", "item=item,model=model,overall=overall,seconds=seconds"],
    );
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let (found, _) = agree(folder.path(), "p.editscope");
    // By hand: the middle of 12.5 and 20.
    assert_eq!(found["raters"]["overall"]["kim"]["median_seconds"], 16.25);
    let scales = BTreeMap::from([("overall".to_owned(), "2 to 8".to_owned())]);
    let pair = Rating { context: Some(RatingContext::of_table(None, scales)), ..rating("kim", 8.0, Some(1)) };
    project.add_rating(id_of(&project, "i0-a"), &pair).unwrap();
    assert_eq!(
        counting(&project, "i0-a"),
        [("kim".to_owned(), values(&[("overall", 3.0)])), ("kim".to_owned(), values(&[("overall (2 to 8)", 8.0)]))]
    );
    write_ratings_jsonl(&project.rater_rows(Some("kim")).unwrap(), &folder.path().join("kim.jsonl")).unwrap();
    let read = editscope::datasets::read_rater_rows(&folder.path().join("kim.jsonl")).unwrap();
    assert_eq!(project.import_rater_rows(&read.rows).unwrap().ratings_added, 0);
}
