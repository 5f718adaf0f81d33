//! Copies of a project come together: nothing twice, nothing lost, and what differs is said.

use std::path::{Path, PathBuf};

use editscope::domain::{Parse, ParseOrigin};
use editscope::storage::{ConflictKind, ItemId, MergeReport, Project, StorageError, merge};
use rusqlite::Connection;

use crate::support::{id_of, items, judgement, paper, project, rating, rubric_answer, setup};

/// Everything a project holds, ids replaced by what they stand for, as one list of lines.
fn dump(path: &Path) -> Vec<String> {
    let conn = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let queries = [
        "SELECT 'item', items.key, path, instruction, extra, parse, source_given FROM items
         JOIN pictures ON pictures.id = source_id LEFT JOIN parses ON parses.id = parse_id ORDER BY items.id",
        "SELECT 'edit', edits.key, items.key, path, model, edits.extra, given FROM edits
         JOIN items ON items.id = item_id JOIN pictures ON pictures.id = picture_id ORDER BY edits.id",
        "SELECT 'picture', path, hex(hash), bytes, state FROM pictures ORDER BY path",
        "SELECT 'rating', key, rater, simulated, answers, overall, comment, ratings.at_millis, newest, context FROM ratings
         JOIN edits ON edits.id = edit_id ORDER BY ratings.id",
        "SELECT 'parse', key, origin, who, at_millis, doubtful, parse FROM parses JOIN items ON items.id = item_id ORDER BY parses.id",
        "SELECT 'session', uid, setup FROM rating_sessions ORDER BY id",
        "SELECT 'judgement', uid, rater, items.key, task, role, answer, comment, place, seconds, at_millis, visible, rubric,
             (SELECT group_concat(edits.key) FROM judgement_edits JOIN edits ON edits.id = edit_id WHERE judgement_id = judgements.id)
         FROM judgements JOIN rating_sessions ON rating_sessions.id = session_id JOIN items ON items.id = item_id ORDER BY judgements.id",
        "SELECT 'run', kind, runs.profile, models, settings, started_millis, finished_millis, end FROM runs ORDER BY id",
        "SELECT 'score', started_millis, key, at_millis, size, position, modify, preserve, flags, failure, stale, detail FROM scores
         JOIN runs ON runs.id = run_id JOIN edits ON edits.id = edit_id LEFT JOIN score_details ON score_id = scores.id ORDER BY scores.id",
        "SELECT 'range', name, profile, range FROM ranges ORDER BY id",
        "SELECT 'baseline', baselines.* FROM baselines ORDER BY score_id, name",
        "SELECT 'comparison', name, who, content FROM comparisons ORDER BY name",
    ];
    let mut lines = Vec::new();
    for query in queries {
        let mut statement = conn.prepare(query).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            let cells: Vec<String> =
                (0..columns).map(|column| row.get_ref(column).map(|value| format!("{value:?}"))).collect::<Result<_, _>>()?;
            Ok(cells.join(" | "))
        });
        lines.extend(rows.unwrap().map(Result::unwrap));
    }
    lines
}

/// A project with something in every table.
fn full(folder: &Path, name: &str) -> PathBuf {
    use editscope::domain::{Bounds, Outcome, Parts, Profile, Range, Score};
    use editscope::storage::{NewRun, RunEnd, RunKind};
    let items = items(folder, 2, 2);
    let project = project(folder, name, &items);
    let a = id_of(&project, "i0-a");
    project.add_rating(a, &rating("ann", 2.0, Some(5))).unwrap();
    project.add_rating(a, &rating("ann", 3.0, Some(6))).unwrap();
    project.add_rating(a, &rating("ann", 2.0, Some(7))).unwrap();
    project.add_rating(a, &rating("old", 1.0, Some(4))).unwrap();
    let parse = Parse { original_part: "cup".into(), origin: ParseOrigin::Person, ..Parse::default() };
    project.suggest_parse(ItemId(1), &Parse::default(), "rules").unwrap();
    project.set_parse(ItemId(1), &parse, "ann").unwrap();
    let uid = project.add_session(&setup(paper(), &items)).unwrap();
    project.add_judgement(&judgement(&uid, "ann", "i1-b", rubric_answer(4.0), 9)).unwrap();
    let run = NewRun {
        kind: RunKind::Set,
        profile: Profile::Corrected,
        models: "demo".into(),
        models_fingerprint: "f".into(),
        device: "cpu".into(),
        settings: serde_json::json!({}),
        range: None,
    };
    let run = project.start_run(&run).unwrap();
    let half = || Outcome::Value(0.5);
    let score = Score {
        profile: Profile::Corrected,
        parts: Parts { size: half(), position: Outcome::NotApplicable("no box".into()), modify: half(), preserve: half() },
        global: false,
        parse: Parse::default(),
        boxes: Default::default(),
        candidates: Default::default(),
        mask: None,
        crop_in_bpm500: None,
        trace: Vec::new(),
        triage: Default::default(),
        said: Vec::new(),
    };
    project.put_score(run, a, &score, 1.0).unwrap();
    project.finish_run(run, &RunEnd::Done).unwrap();
    let bounds = Bounds { min: 0.0, max: 1.0 };
    let range =
        Range { name: "ours".into(), profile: Profile::Corrected, modify: Some(bounds), preserve: Some(bounds), fitted_on: "here".into() };
    project.save_range(&range).unwrap();
    project.save_comparison("first", "ann", &serde_json::json!({"n": 1})).unwrap();
    project.check_pictures(|_, _| true).unwrap();
    project.path().to_owned()
}

fn merged(folder: &Path, inputs: &[&Path], name: &str) -> (PathBuf, MergeReport) {
    let output = folder.join(name);
    let inputs: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
    let report = merge(&inputs, &output).unwrap();
    (output, report)
}

#[test]
fn merging_a_project_with_itself_gives_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let a = full(folder.path(), "a.editscope");
    let (output, report) = merged(folder.path(), &[&a, &a], "c.editscope");
    assert_eq!(report.conflicts, []);
    let (before, after) = (dump(&a), dump(&output));
    assert!(before.len() > 20, "something of everything: {before:#?}");
    assert_eq!(before, after);
    assert_eq!(report.merged, report.inputs[0].counts);
}

#[test]
fn raters_on_copies_come_together_whatever_the_order() {
    let folder = tempfile::tempdir().unwrap();
    let base = full(folder.path(), "a.editscope");
    let copy = |name: &str| {
        let path = folder.path().join(name);
        // The log of the write-ahead mode is merged into the file when the project is closed.
        std::fs::copy(&base, &path).unwrap();
        Project::open(&path).unwrap()
    };
    let (b, c) = (copy("b.editscope"), copy("c.editscope"));
    let uid = b.sessions().unwrap()[0].uid.clone();
    b.add_judgement(&judgement(&uid, "bob", "i0-a", rubric_answer(5.0), 100)).unwrap();
    c.add_judgement(&judgement(&uid, "cho", "i0-a", rubric_answer(1.0), 50)).unwrap();
    c.add_rating(id_of(&c, "i1-a"), &rating("cho", 3.0, None)).unwrap();
    let paths = [base, b.path().to_owned(), c.path().to_owned()];
    drop((b, c));
    let (first, report) = merged(folder.path(), &[&paths[0], &paths[1], &paths[2]], "abc.editscope");
    let (second, other) = merged(folder.path(), &[&paths[2], &paths[0], &paths[1]], "cab.editscope");
    assert_eq!((&report.conflicts, &report.conflicts), (&vec![], &other.conflicts));
    // 4 + 1 ratings of the base, one of bob, two of cho; 1 + 1 + 1 judgements.
    assert_eq!((report.merged.ratings, report.merged.judgements, report.merged.sessions), (8, 3, 1));
    assert_eq!(dump(&first), dump(&second));
    let project = Project::open(&first).unwrap();
    let raters: Vec<String> = project.latest_ratings(id_of(&project, "i0-a")).unwrap().into_iter().map(|rating| rating.rater).collect();
    assert_eq!(raters, ["ann", "bob", "cho", "old"]);
    // Merging again what is merged already adds nothing.
    let (third, _) = merged(folder.path(), &[&first, &paths[1]], "again.editscope");
    assert_eq!(dump(&third), dump(&first));
}

#[test]
fn what_people_do_not_agree_about_is_listed_and_all_of_it_kept() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let a = project(folder.path(), "a.editscope", &items);
    let b = project(folder.path(), "b.editscope", &items);
    // The same rater answered differently on two machines; b alone has corrected edit b.
    a.add_rating(id_of(&a, "i0-a"), &rating("ann", 2.0, Some(10))).unwrap();
    b.add_rating(id_of(&b, "i0-a"), &rating("ann", 5.0, Some(11))).unwrap();
    for project in [&a, &b] {
        project.add_rating(id_of(project, "i0-b"), &rating("ann", 3.0, Some(12))).unwrap();
    }
    b.add_rating(id_of(&b, "i0-b"), &rating("ann", 4.0, Some(13))).unwrap();
    let parse = |part: &str| Parse { original_part: part.into(), origin: ParseOrigin::Person, ..Parse::default() };
    a.set_parse(ItemId(1), &parse("cup"), "ann").unwrap();
    // Times are kept in milliseconds; the later one counts.
    std::thread::sleep(std::time::Duration::from_millis(3));
    b.set_parse(ItemId(1), &parse("mug"), "bob").unwrap();
    let (output, report) = merged(folder.path(), &[a.path(), b.path()], "c.editscope");
    let kinds: Vec<ConflictKind> = report.conflicts.iter().map(|conflict| conflict.kind).collect();
    assert_eq!(kinds, [ConflictKind::Rating, ConflictKind::Parse], "{:?}", report.conflicts);
    let what = &report.conflicts[0].what;
    assert!(what.contains("'i0-a'") && what.contains("ann") && what.contains("a.editscope") && what.contains("b.editscope"), "{what}");
    let c = Project::open(&output).unwrap();
    let counting = |key: &str| c.latest_ratings(id_of(&c, key)).unwrap()[0].values["overall"];
    assert_eq!((counting("i0-a"), counting("i0-b")), (5.0, 4.0));
    assert_eq!(c.rating_history(id_of(&c, "i0-a")).unwrap().len(), 2);
    assert_eq!(c.items().unwrap()[0].parse.as_ref().unwrap().original_part, "mug", "the later of two people");
    assert_eq!(c.parse_history(ItemId(1)).unwrap().len(), 2);
}

#[test]
fn one_key_with_two_pictures_is_two_edits_and_their_ratings_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    for folder in [&here, &there] {
        std::fs::create_dir(folder).unwrap();
    }
    let first = items(&here, 1, 2);
    let mut second = items(&there, 1, 2);
    std::fs::write(there.join("i0-b.png"), "another picture").unwrap();
    second[0].edits[0].model = "model-x".into();
    let (a, b) = (project(&here, "a.editscope", &first), project(&there, "b.editscope", &second));
    a.add_rating(id_of(&a, "i0-b"), &rating("ann", 1.0, Some(1))).unwrap();
    b.add_rating(id_of(&b, "i0-b"), &rating("ann", 5.0, Some(2))).unwrap();
    let (output, report) = merged(folder.path(), &[a.path(), b.path()], "c.editscope");
    let (turned, _) = merged(folder.path(), &[b.path(), a.path()], "d.editscope");
    assert_eq!(dump(&output), dump(&turned));
    let (again, _) = merged(folder.path(), &[b.path(), &output, a.path()], "e.editscope");
    assert_eq!(dump(&again), dump(&output), "what was merged is known under the keys that it was given");
    let what: Vec<&str> = report.conflicts.iter().map(|conflict| conflict.what.as_str()).collect();
    assert_eq!(what.len(), 2, "{what:?}");
    assert!(what.iter().any(|what| what.contains("'i0-a' is of different models")), "{what:?}");
    assert!(what.iter().any(|what| what.contains("edit 'i0-b' is not the same in all projects (picture of")), "{what:?}");
    let c = Project::open(&output).unwrap();
    let keys: Vec<String> = c.edits().unwrap().into_iter().map(|edit| edit.key.0).collect();
    assert_eq!(keys.len(), 3, "{keys:?}");
    assert_eq!(c.items().unwrap().len(), 1, "sources of the same content are one, wherever they lie");
    for edit in c.edits().unwrap().iter().filter(|edit| edit.key.0.starts_with("i0-b")) {
        assert_eq!(c.rating_history(edit.id).unwrap().len(), 1, "{}", edit.key);
    }
}

#[test]
fn a_merge_that_cannot_be_made_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let a = project(folder.path(), "a.editscope", &items(folder.path(), 1, 1)).path().to_owned();
    let output = folder.path().join("c.editscope");
    let missing = merge(&[a.clone(), folder.path().join("none.editscope")], &output).unwrap_err();
    assert!(matches!(missing, StorageError::NotFound { .. }), "{missing}");
    assert!(!output.exists());
    let there = merge(&[a.clone(), a.clone()], &a).unwrap_err();
    assert!(matches!(there, StorageError::Exists { .. }), "{there}");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains(".part")), "{names:?}");
}
