//! What is said again: a correction counts, the same twice counts once, names are one name, numbers that no scale needs are listed.

use std::path::Path;
use std::process::{Command, Output};

use editscope::domain::{Preference, Range};
use editscope::storage::{EditVote, Project, StorageError, merge};
use serde_json::Value;

use crate::support::{id_of, items, project, rating};

fn editscope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_editscope"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .expect("the program starts")
}

fn put(folder: &Path, name: &str, content: &str) {
    std::fs::write(folder.join(name), content).unwrap();
}

fn import(folder: &Path, name: &str, content: &str) -> String {
    put(folder, name, content);
    String::from_utf8_lossy(&editscope(folder, &["import", name, "-o", "p.editscope", "--ratings"]).stdout).into_owned()
}

#[track_caller]
fn agree(folder: &Path, arguments: &[&str]) -> (Value, String) {
    let out = editscope(folder, &[&["agree"], arguments, &["--resamples", "20", "--json"]].concat());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    (serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {said}")), said)
}

fn counting(project: &Project, edit: &str) -> Vec<(String, f64)> {
    let latest = project.latest_ratings(id_of(project, edit)).unwrap();
    latest.into_iter().map(|rating| (rating.rater, rating.values["overall"])).collect()
}

#[test]
fn a_rating_that_is_changed_back_is_a_correction() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), "p.editscope", &items(folder.path(), 1, 2));
    let table = |margit: u32| format!("item,model,rater,overall\ni0,model-0,Margit,{margit}\ni0,model-1,Margit,2\n");
    // Each step: what Margit says, how many rows are new, in the order of the report.
    for (value, new) in [(3, 2), (5, 1), (3, 1), (3, 0), (5, 1), (5, 0)] {
        let printed = import(folder.path(), "kim.csv", &table(value));
        assert!(printed.contains(&format!("{new} of 2 ratings are new")), "{value}: {printed}");
        assert_eq!(counting(&project, "i0-a"), [("Margit".to_owned(), f64::from(value))]);
    }
    assert_eq!(project.rating_history(id_of(&project, "i0-a")).unwrap().len(), 4, "corrections are rows of their own: 3, 5, 3, 5");
}

#[test]
fn several_answers_of_one_table_count_by_their_order_and_come_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), "p.editscope", &items(folder.path(), 1, 1));
    let edit = id_of(&project, "i0-a");
    let said = |values: &[f64]| -> Vec<_> { values.iter().map(|value| (edit, rating("kim", *value, None))).collect() };
    for (values, new) in [(&[3.0, 5.0, 3.0][..], 3), (&[3.0, 5.0, 3.0], 0), (&[5.0], 1), (&[3.0, 5.0], 0), (&[3.0, 5.0, 3.0], 1)] {
        assert_eq!(project.import_opinions(&said(values), &[]).unwrap().0, new, "{values:?}");
        assert_eq!(counting(&project, "i0-a"), [("kim".to_owned(), values[values.len() - 1])]);
    }
    // With times the time counts, whatever comes last.
    let timed = [(edit, rating("kim", 4.0, Some(20))), (edit, rating("kim", 1.0, Some(10)))];
    assert_eq!(project.import_opinions(&timed, &[]).unwrap().0, 2);
    assert_eq!(project.import_opinions(&timed[1..], &[]).unwrap().0, 0);
    let latest = project.latest_ratings(edit).unwrap();
    assert_eq!(latest.last().map(|rating| rating.values["overall"]), Some(4.0));
    // The history as rows of another copy ends in the same.
    let copy = crate::support::project(folder.path(), "copy.editscope", &items(folder.path(), 1, 1));
    let rows = project.rater_rows(None).unwrap();
    copy.import_rater_rows(&rows).unwrap();
    assert_eq!(counting(&copy, "i0-a"), counting(&project, "i0-a"));
    assert_eq!(copy.import_rater_rows(&rows).unwrap().ratings_added, 0);
}

#[test]
fn of_contradictory_votes_the_last_counts_and_a_vote_can_be_changed_back() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), "p.editscope", &items(folder.path(), 1, 2));
    let vote = |preference| EditVote {
        first: id_of(&project, "i0-a"),
        second: id_of(&project, "i0-b"),
        rater: "kim".into(),
        criterion: "overall".into(),
        preference,
    };
    let (a, b) = (vote(Preference::First), vote(Preference::Second));
    let steps = [(vec![a.clone()], 1), (vec![b.clone()], 1), (vec![a.clone()], 1), (vec![a.clone(), b.clone()], 2), (vec![a, b], 0)];
    for (votes, new) in steps {
        assert_eq!(project.import_opinions(&[], &votes).unwrap().1, new, "{votes:?}");
        assert_eq!(project.table_votes().unwrap(), votes[votes.len() - 1..]);
    }
    put(folder.path(), "v.csv", "item,first,second,rater,vote\ni0,x,y,jo,left\ni0,y,x,jo,left\ni0,x,y,kim,left\ni0,x,y,kim,left\n");
    let (found, said) = agree(folder.path(), &["--ratings", "v.csv"]);
    assert_eq!(found["vote_count"], 2);
    assert!(
        said.contains("1 votes contradict an earlier one of the same rater") && said.contains("first jo about y and x of i0"),
        "{said}"
    );
    assert!(said.contains("1 votes are given more than once by the same rater"), "{said}");
}

#[test]
fn a_file_given_twice_is_read_once_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..5).map(|item| format!("i{item},m,kim,{}\n", item % 3 + 1)).collect();
    put(folder.path(), "h1.csv", &format!("item,model,rater,overall\n{rows}"));
    put(folder.path(), "h2.csv", &format!("item,model,rater,overall\n{}", rows.replace("kim", "jo")));
    put(folder.path(), "copy.csv", &format!("item,model,rater,overall\n{rows}"));
    let (once, _) = agree(folder.path(), &["--ratings", "h1.csv", "h2.csv"]);
    let (twice, said) = agree(folder.path(), &["--ratings", "h1.csv", "h2.csv", "h1.csv", "copy.csv"]);
    assert!(
        said.contains("h1.csv has the same content as h1.csv and is read once") && said.contains("copy.csv has the same content"),
        "{said}"
    );
    assert_eq!(twice["raters"], once["raters"]);
    put(folder.path(), "v.csv", "item,first,second,vote\ni0,x,y,left\ni1,x,y,left\n");
    let (found, _) = agree(folder.path(), &["--ratings", "v.csv", "v.csv"]);
    assert_eq!(found["vote_count"], 2);
    // Rows of GenAI-Bench are votes of different people.
    let row = r#"{"id": "i0", "left_model": "x", "right_model": "y", "vote_type": "leftvote"}"#;
    put(folder.path(), "g.jsonl", &format!("{row}\n{row}\n"));
    assert_eq!(agree(folder.path(), &["--ratings", "g.jsonl"]).0["vote_count"], 2);
}

#[test]
fn what_a_project_knows_already_is_not_counted_again() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), "p.editscope", &items(folder.path(), 3, 2));
    let rows: String = (0..3).flat_map(|item| (0..2).map(move |model| format!("i{item},model-{model},kim,{}\n", 2 + model))).collect();
    let table = format!("item,model,rater,overall\n{rows}");
    assert!(import(folder.path(), "kim.csv", &table).contains("6 of 6 ratings are new"));
    let (alone, _) = agree(folder.path(), &["p.editscope"]);
    let (both, said) = agree(folder.path(), &["p.editscope", "--ratings", "kim.csv"]);
    assert!(said.contains("6 answers of kim.csv are known already from the same raters; each counts once"), "{said}");
    assert_eq!(both["raters"], alone["raters"]);
    put(folder.path(), "kim2.csv", &table.replacen(",2", ",4", 1));
    let (_, said) = agree(folder.path(), &["p.editscope", "--ratings", "kim2.csv"]);
    assert!(said.contains("1 answers differ from what the same raters said before"), "{said}");
    // Votes too, whichever edit stands first.
    let votes = "item,first,second,rater,vote\ni0,model-0,model-1,jo,left\ni1,model-0,model-1,jo,tie\n";
    assert!(import(folder.path(), "v.csv", votes).contains("2 of 2 votes are new"));
    put(folder.path(), "again.csv", "item,first,second,rater,vote\ni0,model-1,model-0,jo,right\ni1,model-0,model-1,jo,right\n");
    let (found, said) = agree(folder.path(), &["p.editscope", "--ratings", "again.csv"]);
    assert_eq!(found["vote_count"], 2);
    assert!(said.contains("1 votes of again.csv are known already"), "{said}");
    assert!(
        said.contains("again.csv: 1 votes differ from what the same raters said before about the same edits; the last counts"),
        "{said}"
    );
}

#[test]
fn one_name_is_one_rater_however_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 1);
    let (a, b) = (project(folder.path(), "p.editscope", &items), project(folder.path(), "b.editscope", &items));
    a.add_rating(id_of(&a, "i0-a"), &rating(" Ren\u{e9} ", 3.0, Some(1))).unwrap();
    b.add_rating(id_of(&b, "i0-a"), &rating("Rene\u{301}", 5.0, Some(2))).unwrap();
    assert_eq!(a.raters_alike().unwrap(), Vec::<String>::new());
    let output = folder.path().join("c.editscope");
    merge(&[a.path().to_owned(), b.path().to_owned()], &output).unwrap();
    assert_eq!(counting(&Project::open(&output).unwrap(), "i0-a"), [("Ren\u{e9}".to_owned(), 5.0)]);
    // Another case may be another person: that is asked.
    put(folder.path(), "t.csv", "item,model,rater,overall\ni0,model-0,Kim,3\ni0,model-0,kim,4\n");
    let out = editscope(folder.path(), &["import", "t.csv", "-o", "p.editscope", "--ratings"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("are the raters Kim and kim one person? They count as 2"), "{said}");
    let (_, said) = agree(folder.path(), &["--ratings", "t.csv"]);
    assert!(said.contains("are the raters Kim and kim one person?"), "{said}");
}

#[test]
fn numbers_that_no_scale_needs_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), "p.editscope", &items(folder.path(), 1, 2));
    put(folder.path(), "t.csv", "item,model,rater,overall\ni0,model-0,kim,1e308\ni0,model-1,kim,3\ni0,model-1,jo,3\n");
    let out = editscope(folder.path(), &["import", "t.csv", "-o", "p.editscope", "--ratings"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("t.csv:2, column 'overall': '1e308' is beyond ±1e15, which no scale needs; read as missing"), "{said}");
    assert!(counting(&project, "i0-a").is_empty());
    let refused = project.add_rating(id_of(&project, "i0-a"), &rating("kim", 1e308, None));
    assert!(matches!(&refused, Err(StorageError::Invalid { .. })), "{refused:?}");
}

#[test]
fn ranges_without_width_are_warned_of_and_those_that_overflow_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), "p.editscope", &items(folder.path(), 1, 1));
    let range = |min: &str, max: &str| {
        let bounds = format!(r#"{{"min": {min}, "max": {max}}}"#);
        format!(
            r#"{{"name": "r", "profile": "corrected", "modify": {bounds}, "preserve": {{"min": 0.0, "max": 1.0}}, "fitted_on": "by hand"}}"#
        )
    };
    put(folder.path(), "flat.json", &range("0.5", "0.5"));
    let out = editscope(folder.path(), &["range", "import", "p.editscope", "flat.json"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success() && said.contains("warning: range 'r' has no width for modify"), "{said}");
    put(folder.path(), "wide.json", &range("-1e308", "1e308"));
    let out = editscope(folder.path(), &["range", "import", "p.editscope", "wide.json", "--replace"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(2) && said.contains("the bounds of modify lie too far apart"), "{said}");
    let wide = Range { name: "wide".into(), ..Range::from_json(&range("0.0", "1.0")).unwrap() };
    let modify = wide.modify.map(|bounds| editscope::domain::Bounds { max: f64::INFINITY, ..bounds });
    assert!(matches!(project.save_range(&Range { modify, ..wide }), Err(StorageError::Invalid { .. })));
}

#[test]
fn a_saved_comparison_that_cannot_be_read_names_its_field() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), "p.editscope", &items(folder.path(), 1, 1));
    let kept = |program: &str| serde_json::json!({"program": program, "plan": 5});
    for (program, words) in [(env!("CARGO_PKG_VERSION"), "cannot be read: "), ("0.0.1", "(it was saved by version 0.0.1 of this program")] {
        project.save_comparison("old", "kim", &kept(program)).unwrap();
        let out = editscope(folder.path(), &["agree", "p.editscope", "--saved", "old"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && said.contains(words) && said.contains("field '"), "{said}");
    }
}

#[test]
fn what_edits_without_scores_are_left_out_of_is_said_in_full() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "m.csv", "item,model,clip\ni0,x,0.5\ni0,y,0.2\ni1,x,0.4\ni1,y,0.3\n");
    let rows: String = ["i0", "i1", "i2"].iter().map(|item| format!("{item},x,kim,4\n{item},y,kim,2\n")).collect();
    put(folder.path(), "t.csv", &format!("item,model,rater,overall\n{rows}"));
    let (_, said) = agree(folder.path(), &["m.csv", "--ratings", "t.csv"]);
    let words = "2 rated edits have no scores here, first x of i2; left out of the agreement with metrics, and of people's means, win rates and \
                 strengths of models; the agreement between raters counts them";
    assert!(said.contains(words), "{said}");
}
