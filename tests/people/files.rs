//! One rater's work as a file.

use std::path::Path;

use editscope::datasets::read_rater_rows;
use editscope::domain::{Answer, Judgement, RaterRow};
use editscope::export::{ExportError, write_ratings_csv, write_ratings_jsonl};

use crate::support::{id_of, items, judgement, paper, project, rating, rubric_answer, setup};

/// One of the two writers.
type Write = fn(&[RaterRow], &Path) -> Result<(), ExportError>;

#[test]
fn one_raters_work_travels_as_a_file_and_is_not_added_twice() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 2, 2);
    let a = project(folder.path(), "a.editscope", &items);
    let uid = a.add_session(&setup(paper(), &items)).unwrap();
    let comment = "two lines,\n\"quoted\"; and a comma";
    let first = Judgement { comment: comment.into(), ..judgement(&uid, "ann", "i0-a", rubric_answer(4.0), 9) };
    a.add_judgement(&first).unwrap();
    a.add_judgement(&Judgement { answer: Answer::CannotJudge, ..judgement(&uid, "ann", "i0-b", rubric_answer(1.0), 10) }).unwrap();
    a.add_judgement(&judgement(&uid, "bob", "i0-a", rubric_answer(1.0), 11)).unwrap();
    a.add_rating(id_of(&a, "i1-a"), &rating("ann", 2.5, None)).unwrap();
    let rows = a.rater_rows(Some("ann")).unwrap();
    // Her session, two ratings, two judgements.
    assert_eq!(rows.len(), 5);
    let writers: [(&str, Write); 2] = [("ann.jsonl", write_ratings_jsonl), ("ann.csv", write_ratings_csv)];
    for (name, write) in writers {
        let file = folder.path().join(name);
        write(&rows, &file).unwrap();
        let file = read_rater_rows(&file).unwrap();
        assert_eq!((&file.rows, file.problems), (&rows, vec![]), "{name}");
        let read = file.rows;
        let b = project(folder.path(), &format!("{name}.editscope"), &items);
        let done = b.import_rater_rows(&read).unwrap();
        assert_eq!((done.sessions_added, done.ratings_added, done.judgements_added, done.known), (1, 2, 2, 0));
        let again = b.import_rater_rows(&read).unwrap();
        assert_eq!((again.sessions_added, again.ratings_added, again.judgements_added, again.known), (0, 0, 0, 5));
        assert_eq!(b.rater_rows(None).unwrap(), rows);
    }
    let other = project(folder.path(), "other.editscope", &items[..1]);
    let done = other.import_rater_rows(&rows).unwrap();
    assert_eq!(done.problems, [(2, "this project has no edit 'i1-a'; the rating of 'ann' is left out".to_owned())]);
}

#[test]
fn a_file_about_other_edits_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let all = items(folder.path(), 4, 2);
    let a = project(folder.path(), "a.editscope", &all[..2]);
    let uid = a.add_session(&setup(paper(), &all[..2])).unwrap();
    a.add_judgement(&judgement(&uid, "ann", "i0-a", rubric_answer(4.0), 9)).unwrap();
    let rows = a.rater_rows(None).unwrap();
    let other = project(folder.path(), "other.editscope", &all[2..]);
    let done = other.import_rater_rows(&rows).unwrap();
    assert!(done.is_about_nothing() && done.sessions_added == 0, "{done:?}");
    assert_eq!(done.problems.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(other.sessions().unwrap().len(), 0, "its session was taken back");
    assert!(!a.import_rater_rows(&rows).unwrap().is_about_nothing(), "what is known already is about it");
}

#[test]
fn a_file_of_ratings_that_is_broken_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let good = r#"{"kind":"rating","item":"i","edit":"e","rater":"ann","values":{"overall":3.0}}"#;
    std::fs::write(&file, format!("{good}\n{{\"kind\":\"rating\"}}\nnot json\n")).unwrap();
    let wrong = [
        r#"{"kind":"rating","item":"i","edit":"e","rater":"ann","values":{"overall":NaN}}"#,
        r#"{"kind":"rating","item":"i","edit":["e"],"rater":"ann","values":{}}"#,
        r#"{"kind":"poll","item":"i"}"#,
        r#"{"kind":"judgement","session":"s","rater":"ann","item":"i","shown":["e"],"task":"t","role":"plain","answer":{"ranking":[1,"x"]}}"#,
    ];
    std::fs::write(&file, [&[good, "", "{\"kind\":\"rating\"}", "not json"], &wrong[..]].concat().join("\n")).unwrap();
    let read = read_rater_rows(&file).unwrap();
    assert_eq!((read.rows.len(), read.places), (1, vec!["r.jsonl:1".to_owned()]));
    let said: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "r.jsonl:3: it lacks the key 'item'; left out",
            "r.jsonl:4: the row is no JSON (expected ident at column 2); left out",
            "r.jsonl:5: field 'values.overall' is NaN or Infinity, not a number; left out",
            "r.jsonl:6: field 'edit' is a list, not text; left out",
            "r.jsonl:7: field 'kind' is 'poll'; it can be session, rating, judgement, vote; left out",
            "r.jsonl:8: field 'answer.ranking[1]' is text 'x', not a whole number from 0; left out",
        ]
    );
}

#[test]
fn a_file_that_is_something_else_is_called_so_and_the_way_to_use_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, content: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        read_rater_rows(&file).unwrap_err().to_string()
    };
    let scores = told("scores.csv", "item,model,lpips,clip\ni,m,0.5,0.25\n");
    assert!(scores.contains("is no file that `export --format ratings` wrote: it is a table with the numbers lpips, clip"), "{scores}");
    assert!(scores.contains("`agree PROJECT --scores ") && scores.contains("overall=lpips`"), "{scores}");
    let rated = told("votes.csv", "uid,method,annotator,overall\ni,m,kim,4\n");
    assert!(rated.contains("--columns item=uid,model=method,rater=annotator,overall=overall"), "{rated}");
    let manifest = told("m.csv", "source,instruction,edited\ns.png,x,e.png\n");
    assert!(manifest.contains("without --ratings"), "{manifest}");
    let lines = told("s.jsonl", r#"{"item":"i","model":"m","parts":{},"overall":0.5}"#);
    assert!(lines.contains("scores that `score` wrote") && lines.contains("agree "), "{lines}");
    let words = told("w.txt", "hello\n");
    assert!(words.contains("the row has no 'kind'") || words.contains("there are no rows"), "{words}");
}

#[test]
fn a_table_of_ratings_holds_no_formula_and_reads_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 1);
    let a = project(folder.path(), "a.editscope", &items);
    let said = editscope::domain::Rating { comment: "=HYPERLINK(\"x\")".into(), ..rating("@ann", -1.0, Some(1)) };
    a.add_rating(id_of(&a, "i0-a"), &said).unwrap();
    let rows = a.rater_rows(None).unwrap();
    let file = folder.path().join("r.csv");
    write_ratings_csv(&rows, &file).unwrap();
    let mut table = csv::Reader::from_path(&file).unwrap();
    let cells: Vec<String> = table.records().next().unwrap().unwrap().iter().map(str::to_owned).collect();
    for cell in ["'=HYPERLINK(\"x\")", "'@ann", "-1.0"] {
        assert!(cells.iter().any(|known| known == cell), "{cell}: {cells:?}");
    }
    assert_eq!(read_rater_rows(&file).unwrap().rows, rows);
}
