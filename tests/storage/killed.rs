//! Several windows, programs that are killed, and files that are no project.

use std::path::Path;

use editscope::storage::{Project, StorageError};

use crate::{Bench, id_of, rating, two_edits};

#[test]
fn what_is_no_project_is_refused_and_left_alone() {
    let bench = Bench::new();
    let refused = |path: &Path| Project::open(path).expect_err("not a project").to_string();
    assert!(refused(&bench.path("none.editscope")).contains("there is no project"));
    assert!(refused(bench.folder.path()).contains("folder"));
    let text = bench
        .picture("text.editscope", "just some text, long enough to be looked at as a database header, one hundred bytes or more of it")
        .path;
    assert!(refused(&text).contains("no SQLite database"), "{}", refused(&text));
    let other = bench.path("other.sqlite");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(refused(&other).contains("another program"));
    assert!(matches!(Project::create(&text), Err(StorageError::Exists { .. })));
    assert!(matches!(Project::create(&bench.path("no/such/folder/p.editscope")), Err(StorageError::CannotOpen { .. })));

    drop(bench.project());
    let read_only = Project::open_read_only(&bench.path("p.editscope")).unwrap();
    assert!(matches!(read_only.set_meta("a", "b"), Err(StorageError::ReadOnly { .. })));
    assert_eq!(read_only.counts().unwrap(), (0, 0));
}

#[test]
fn two_windows_see_each_other_and_both_writes_arrive() {
    let bench = Bench::new();
    let (one, two) = (bench.project(), bench.project());
    one.import(&two_edits(&bench)).unwrap();
    let a = id_of(&two, "a");
    let before = two.data_version().unwrap();
    two.set_meta("own", "write").unwrap();
    assert_eq!(two.data_version().unwrap(), before, "one's own writes are no news");
    one.add_rating(a, &rating("one", 1.0, None)).unwrap();
    assert_ne!(two.data_version().unwrap(), before);
    // Both write at once, from two threads; SQLite makes them wait for each other.
    let path = bench.path("p.editscope");
    std::thread::scope(|scope| {
        for rater in ["t1", "t2"] {
            let path = &path;
            scope.spawn(move || {
                let project = Project::open(path).unwrap();
                for n in 0..50 {
                    project.add_rating(a, &rating(rater, f64::from(n), Some(n.into()))).unwrap();
                }
            });
        }
    });
    assert_eq!(two.rating_history(a).unwrap().len(), 101);
}

/// Names the project to the child of the test below.
const VICTIM: &str = "EDITSCOPE_TEST_VICTIM";

/// The child of the test below: rates without end, and says each rating after it was saved. Does nothing in a plain test run.
#[test]
fn victim() {
    let Ok(path) = std::env::var(VICTIM) else { return };
    let project = Project::open(Path::new(&path)).unwrap();
    let a = id_of(&project, "a");
    for n in 1.. {
        project.add_rating(a, &rating("x", f64::from(n), Some(n.into()))).unwrap();
        println!("saved {n}");
    }
}

#[test]
fn a_program_killed_while_saving_loses_nothing_that_was_saved() {
    use std::io::{BufRead, BufReader};
    let bench = Bench::new();
    bench.project().import(&two_edits(&bench)).unwrap();
    let path = bench.path("p.editscope");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::victim", "--nocapture"])
        .env(VICTIM, &path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut last = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if let Some(n) = line.unwrap().strip_prefix("saved ") {
            last = n.parse().unwrap();
            if last == 40 {
                child.kill().unwrap(); // SIGKILL
            }
        }
    }
    child.wait().unwrap();
    assert!(last >= 40);
    let project = Project::open(&path).unwrap();
    let history = project.rating_history(id_of(&project, "a")).unwrap();
    assert!(history.len() >= last, "{} of {last}", history.len());
    let counting = project.latest_ratings(id_of(&project, "a")).unwrap();
    assert_eq!(counting[0].values["overall"], history.len() as f64, "the newest whole rating counts");
}
