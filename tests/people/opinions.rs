//! Votes and rankings of a project's own sessions go wherever imported ones go: into `agree`, raters' files and merged projects.

use std::path::Path;
use std::process::Command;

use editscope::datasets::read_rater_rows;
use editscope::domain::{Answer, EditKey, Item, Judgement, Preference, Protocol, TaskRole};
use editscope::export::write_ratings_csv;
use editscope::storage::{Project, merge};
use serde_json::Value;

use crate::support::{id_of, items, judgement, paper, project, rating, rubric_answer, setup};

fn shown(uid: &str, rater: &str, task: &str, edits: &[&str], answer: Answer, at_millis: i64) -> Judgement {
    let role = if task.starts_with("repeat:") { TaskRole::Repeat } else { TaskRole::Plain };
    let shown = edits.iter().map(|key| EditKey((*key).into())).collect();
    Judgement { task: task.into(), role, shown, rubric: None, ..judgement(uid, rater, edits[0], answer, at_millis) }
}

/// Two items with three edits each by model-0 to model-2; ann and bob voted, cho ranked.
fn voted(folder: &Path, name: &str, items: &[Item]) -> Project {
    let project = project(folder, name, items);
    let pairs = project.add_session(&setup(Protocol::Pairwise, items)).unwrap();
    let pair = |rater, task, edits: [&str; 2], vote, at| shown(&pairs, rater, task, &edits, Answer::Pair(vote), at);
    for said in [
        pair("ann", "0ab", ["i0-a", "i0-b"], Preference::Second, 1),
        // The correction counts, the repeat is no further vote.
        pair("ann", "0ab", ["i0-a", "i0-b"], Preference::First, 2),
        pair("ann", "repeat:0ab", ["i0-b", "i0-a"], Preference::First, 3),
        pair("ann", "1bc", ["i1-c", "i1-b"], Preference::Tie, 4),
        pair("bob", "0ab", ["i0-b", "i0-a"], Preference::Second, 5),
        pair("bob", "1bc", ["i1-b", "i1-c"], Preference::BothBad, 6),
    ] {
        project.add_judgement(&said).unwrap();
    }
    let ranking = project.add_session(&setup(Protocol::Ranking, items)).unwrap();
    let ranked = Answer::Ranking(vec![3, 1, 1]);
    project.add_judgement(&shown(&ranking, "cho", "item:i1", &["i1-b", "i1-c", "i1-a"], ranked, 7)).unwrap();
    project
}

#[track_caller]
fn agree(project: &Path) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_editscope"))
        .arg("agree")
        .arg(project)
        .arg("--json")
        .env("XDG_CACHE_HOME", project.parent().unwrap())
        .output()
        .unwrap();
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out.stderr)))
}

#[test]
fn votes_of_sessions_are_compared_as_imported_ones_are() {
    let folder = tempfile::tempdir().unwrap();
    let project = voted(folder.path(), "p.editscope", &items(folder.path(), 2, 3));
    let path = project.path().to_owned();
    drop(project);
    let found = agree(&path);
    // By hand: two votes of ann and two of bob that count, and the three pairs of the ranking.
    assert_eq!(found["vote_count"], 7);
    assert_eq!(found["rater_set"], serde_json::json!(["ann", "bob", "cho"]));
    // ann and bob agree on item 0 (model-0 beats model-1), and say tie and both bad on item 1: one of two pairs of votes is the same.
    let voters = &found["between_voters"]["overall"];
    assert_eq!((&voters["percent"], &voters["edits_with_two"]), (&Value::from(0.5), &Value::from(2)));
    let ann = &found["voters"]["overall"]["ann"];
    assert_eq!(
        (&ann["votes"], &ann["first_share"], &ann["tie_share"], &ann["with_others"]),
        (&2.into(), &1.0.into(), &0.5.into(), &0.5.into())
    );
    assert_eq!(found["voters"]["overall"]["bob"]["first_share"], 0.0, "his vote for model-0 went to the right side");
    let record = |criterion: &str, model: &str| {
        let boards = found["leaderboards"].as_array().unwrap();
        let board = boards.iter().find(|board| board["judge"] == "votes" && board["criterion"] == criterion).unwrap();
        let standing = board["standings"].as_array().unwrap().iter().find(|standing| standing["model"] == model).unwrap();
        ["wins", "losses", "ties"].map(|word| standing[word].as_u64().unwrap())
    };
    assert_eq!(
        [record("overall", "model-0"), record("overall", "model-1"), record("overall", "model-2")],
        [[2, 0, 0], [0, 2, 2], [0, 0, 2]]
    );
    // cho's ranks 3 1 1 of b, c, a: both others beat b, a and c tie.
    assert_eq!(
        [record("ranking", "model-0"), record("ranking", "model-1"), record("ranking", "model-2")],
        [[1, 0, 1], [0, 2, 0], [1, 0, 1]]
    );
}

#[test]
fn votes_travel_with_their_rater_and_through_a_merge() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 2, 3);
    let a = voted(folder.path(), "a.editscope", &items);
    let b = project(folder.path(), "b.editscope", &items);
    for rater in ["ann", "bob", "cho"] {
        let file = folder.path().join(format!("{rater}.csv"));
        write_ratings_csv(&a.rater_rows(Some(rater)).unwrap(), &file).unwrap();
        let file = read_rater_rows(&file).unwrap();
        assert_eq!(file.problems, []);
        assert_eq!(b.import_rater_rows(&file.rows).unwrap().problems, []);
    }
    let opinions = a.session_opinions().unwrap();
    assert_eq!((opinions.votes.len(), &opinions.problems), (7, &vec![]));
    assert_eq!(b.session_opinions().unwrap(), opinions);
    let output = folder.path().join("c.editscope");
    merge(&[a.path().to_owned(), b.path().to_owned()], &output).unwrap();
    assert_eq!(Project::open(&output).unwrap().session_opinions().unwrap(), opinions);
}

#[test]
fn a_rater_is_measured_by_what_was_asked_twice_and_how_long_it_took() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let project = project(folder.path(), "p.editscope", &items);
    let uid = project.add_session(&setup(paper(), &items)).unwrap();
    let said = |rater: &str, edit: &str, value, seconds| Judgement { seconds, ..judgement(&uid, rater, edit, rubric_answer(value), 9) };
    let again =
        |edit: &str, value| Judgement { task: format!("repeat:edit:{edit}"), role: TaskRole::Repeat, ..said("ann", edit, value, 30.0) };
    for judgement in [
        said("ann", "i0-a", 4.0, 10.0),
        said("ann", "i0-b", 2.0, 20.0),
        again("i0-a", 4.0),
        again("i0-b", 5.0),
        said("bob", "i0-a", 2.0, 5.0),
        said("bob", "i0-b", 1.0, 7.0),
    ] {
        project.add_judgement(&judgement).unwrap();
    }
    let path = project.path().to_owned();
    drop(project);
    let found = agree(&path);
    let ann = &found["raters"]["overall"]["ann"];
    // By hand: the mean of 4 − 2 and 2 − 1; answers 4 and 2 lie √2 apart from their mean's square root of n − 1; of two repeats one
    // is the same, the other 3 away; the middle of 10, 20, 30, 30 seconds.
    assert_eq!((&ann["answers"], &ann["bias"], &ann["repeats"]), (&2.into(), &1.5.into(), &2.into()));
    assert_eq!((&ann["self_consistency"], &ann["self_distance"], &ann["median_seconds"]), (&0.5.into(), &1.5.into(), &25.0.into()));
    assert!((ann["spread"].as_f64().unwrap() - 2.0_f64.sqrt()).abs() < 1e-12);
    // The first answers count: of item i0 on the whole 4 and 2 of ann, 2 and 1 of bob.
    assert_eq!(found["between_raters_all"]["overall"]["answers"], 4);
    assert!(found["raters"]["overall"]["bob"]["self_consistency"]["undefined"].is_string());
}

#[test]
fn who_looks_again_and_cannot_judge_takes_the_rating_back() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let project = project(folder.path(), "p.editscope", &items);
    let uid = project.add_session(&setup(paper(), &items)).unwrap();
    let cannot = |edit: &str, at| Judgement { answer: Answer::CannotJudge, ..judgement(&uid, "ann", edit, rubric_answer(1.0), at) };
    project.add_judgement(&judgement(&uid, "ann", "i0-a", rubric_answer(4.0), 1)).unwrap();
    project.add_judgement(&cannot("i0-a", 2)).unwrap();
    project.add_judgement(&cannot("i0-b", 3)).unwrap();
    let ratings = project.latest_ratings(id_of(&project, "i0-a")).unwrap();
    assert_eq!(ratings.len(), 1);
    assert!(ratings[0].values.is_empty() && ratings[0].context.as_ref().unwrap().cannot_judge.len() == 5, "{ratings:?}");
    assert_eq!(project.rating_history(id_of(&project, "i0-a")).unwrap().len(), 2, "both are kept");
    assert_eq!(project.rating_history(id_of(&project, "i0-b")).unwrap(), [], "there was nothing to take back");
    let rows = project.queue(editscope::domain::Profile::Corrected).unwrap();
    assert!(rows.iter().all(|row| row.human.is_none()), "nobody's rating counts");
    project.add_rating(id_of(&project, "i0-a"), &rating("bob", 3.0, Some(4))).unwrap();
    let rows = project.queue(editscope::domain::Profile::Corrected).unwrap();
    assert_eq!(rows[0].human.map(|human| (human.raters, human.mean)), Some((1, Some(3.0))));
}
