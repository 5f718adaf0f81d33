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
        let (read, problems) = read_rater_rows(&file).unwrap();
        assert_eq!((&read, problems), (&rows, vec![]), "{name}");
        let b = project(folder.path(), &format!("{name}.editscope"), &items);
        let done = b.import_rater_rows(&read).unwrap();
        assert_eq!((done.sessions_added, done.ratings_added, done.judgements_added, done.known), (1, 2, 2, 0));
        let again = b.import_rater_rows(&read).unwrap();
        assert_eq!((again.sessions_added, again.ratings_added, again.judgements_added, again.known), (0, 0, 0, 5));
        assert_eq!(b.rater_rows(None).unwrap(), rows);
    }
    let other = project(folder.path(), "other.editscope", &items[..1]);
    let done = other.import_rater_rows(&rows).unwrap();
    assert_eq!(done.problems, ["this project has no edit 'i1-a'; the rating of 'ann' is left out"]);
}

#[test]
fn a_file_of_ratings_that_is_broken_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let good = r#"{"kind":"rating","item":"i","edit":"e","rater":"ann","values":{"overall":3.0}}"#;
    std::fs::write(&file, format!("{good}\n{{\"kind\":\"rating\"}}\nnot json\n")).unwrap();
    let (rows, problems) = read_rater_rows(&file).unwrap();
    assert_eq!((rows.len(), problems.len()), (1, 2));
    assert_eq!((problems[0].place.as_str(), problems[1].place.as_str()), ("r.jsonl:2", "r.jsonl:3"));
    std::fs::write(&file, "a,b\n1,2\n").unwrap();
    assert!(read_rater_rows(&file).unwrap_err().to_string().contains("no 'kind'"));
}
