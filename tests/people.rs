//! Rating sessions and merged projects, from outside: every word of a rater is kept once, whole or not at all.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use editscope::domain::{
    Answer, Edit, EditKey, Item, ItemKey, Judgement, Parse, ParseOrigin, PictureRef, Protocol, Rating, Rubric, RubricId, SessionEdit,
    SessionSetup, TaskRole, Visible, Vote,
};
use editscope::editor::{SessionRun, newest, order, summary};
use editscope::storage::{ConflictKind, EditId, ItemId, MergeReport, Project, StorageError, merge};
use proptest::prelude::*;
use rusqlite::Connection;

fn picture(folder: &Path, name: &str, content: &str) -> PictureRef {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("the folder is ours");
    PictureRef { path, given: name.into() }
}

/// Items `i0`, `i1`, … with edits `i0-a`, `i0-b`, …; the pictures hold their names.
fn items(folder: &Path, count: usize, edits: usize) -> Vec<Item> {
    let edit = |key: String, letter: usize| Edit {
        picture: picture(folder, &format!("{key}.png"), &key),
        key: EditKey(key),
        model: format!("model-{letter}"),
        ratings: Vec::new(),
        extra: Default::default(),
    };
    let letters = ["a", "b", "c", "d"];
    (0..count)
        .map(|item| Item {
            key: ItemKey(format!("i{item}")),
            source: picture(folder, &format!("i{item}.png"), &format!("source {item}")),
            instruction: format!("make it {item}"),
            parse: None,
            edits: (0..edits).map(|index| edit(format!("i{item}-{}", letters[index]), index)).collect(),
            extra: Default::default(),
        })
        .collect()
}

fn project(folder: &Path, name: &str, items: &[Item]) -> Project {
    let project = Project::create(&folder.join(name)).expect("the folder is ours");
    project.import(items).expect("the items are fine");
    project
}

fn setup(protocol: Protocol, items: &[Item]) -> SessionSetup {
    let edits = items
        .iter()
        .flat_map(|item| item.edits.iter().map(|edit| SessionEdit { item: item.key.clone(), edit: edit.key.clone() }).collect::<Vec<_>>());
    SessionSetup {
        name: "first round".into(),
        protocol,
        blind: true,
        live_agreement: false,
        repeat_percent: 0,
        checks: 0,
        seed: 1,
        which: "all".into(),
        edits: edits.collect(),
        created_by: "ann".into(),
        created_millis: 0,
    }
}

fn paper() -> Protocol {
    Protocol::Rubric { rubric: Rubric::paper() }
}

fn rubric_answer(value: f64) -> Answer {
    let values = Rubric::paper().questions.into_iter().map(|question| (question.name, value)).collect();
    Answer::Rubric { values, cannot_judge: Vec::new() }
}

fn judgement(session: &str, rater: &str, edit: &str, answer: Answer, at_millis: i64) -> Judgement {
    Judgement {
        session: session.into(),
        rater: rater.into(),
        item: ItemKey(edit.split('-').next().unwrap_or_default().into()),
        shown: vec![EditKey(edit.into())],
        task: format!("edit:{edit}"),
        role: TaskRole::Plain,
        answer,
        comment: String::new(),
        place: 3,
        seconds: 4.5,
        at_millis,
        visible: Visible::default(),
        rubric: Some(RubricId::from(&Rubric::paper())),
    }
}

fn id_of(project: &Project, key: &str) -> EditId {
    project.edit_by_key(&EditKey(key.into())).expect("readable").expect("imported")
}

fn rating(rater: &str, overall: f64, at_millis: Option<i64>) -> Rating {
    Rating { at_millis, ..Rating::new(rater, BTreeMap::from([("overall".into(), overall)])) }
}

#[test]
fn an_answer_set_is_a_judgement_and_a_rating_and_a_correction_is_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let project = project(folder.path(), "p.editscope", &items);
    let setup = setup(paper(), &items);
    let uid = project.add_session(&setup).unwrap();
    assert_eq!(project.add_session(&setup).unwrap(), uid, "the same setup is the same session");
    assert_eq!(project.sessions().unwrap().len(), 1);

    let first = judgement(&uid, "ann", "i0-a", rubric_answer(2.0), 10);
    let second = Judgement { comment: "on reflection".into(), answer: rubric_answer(4.0), at_millis: 20, ..first.clone() };
    for said in [&first, &second] {
        project.add_judgement(said).unwrap();
    }
    assert_eq!(project.session_log(&uid).unwrap(), [first.clone(), second]);
    let edit = id_of(&project, "i0-a");
    let counting = project.latest_ratings(edit).unwrap();
    assert_eq!((counting.len(), counting[0].values["overall"], counting[0].comment.as_str()), (1, 4.0, "on reflection"));
    assert_eq!(project.rating_history(edit).unwrap().len(), 2);
    let context = counting[0].context.clone().unwrap();
    assert_eq!((context.session.as_deref(), context.place, context.seconds), (Some(uid.as_str()), Some(3), Some(4.5)));
    assert_eq!(context.rubric.map(|rubric| rubric.version), Some(Rubric::paper().version()));

    // What only tests the rater, and what says nothing, are no ratings.
    for role in [TaskRole::Repeat, TaskRole::SourceAsEdit] {
        project.add_judgement(&Judgement { role, task: format!("{role:?}"), ..first.clone() }).unwrap();
    }
    project.add_judgement(&Judgement { answer: Answer::Skipped, ..first.clone() }).unwrap();
    project.add_judgement(&Judgement { answer: Answer::CannotJudge, ..first }).unwrap();
    assert_eq!(project.rating_history(edit).unwrap().len(), 2);
    assert_eq!(project.session_log(&uid).unwrap().len(), 6);
}

#[test]
fn nothing_that_was_said_can_be_changed_and_half_of_it_is_never_kept() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let project = project(folder.path(), "p.editscope", &items);
    let uid = project.add_session(&setup(paper(), &items)).unwrap();
    let said = judgement(&uid, "ann", "i0-a", rubric_answer(2.0), 10);
    project.add_judgement(&said).unwrap();
    let conn = Connection::open(project.path()).unwrap();
    for change in
        ["DELETE FROM judgements", "UPDATE judgements SET answer = '1'", "DELETE FROM ratings", "UPDATE ratings SET context = '1'"]
    {
        assert!(conn.execute(change, []).is_err(), "{change}");
    }
    // The second edit is not there: neither the judgement nor the first edit is kept.
    let pair = Judgement {
        shown: vec![EditKey("i0-a".into()), EditKey("no such".into())],
        answer: Answer::Pair(Vote::First),
        task: "pair".into(),
        ..said.clone()
    };
    let error = project.add_judgement(&pair).unwrap_err();
    assert!(error.to_string().contains("no such"), "{error}");
    for wrong in [Judgement { rater: " ".into(), ..said.clone() }, Judgement { seconds: f64::NAN, ..said.clone() }] {
        assert!(matches!(project.add_judgement(&wrong), Err(StorageError::Invalid { .. })));
    }
    assert_eq!(project.judgements().unwrap(), [said]);
    let empty = SessionSetup { edits: Vec::new(), ..setup(Protocol::Ranking, &items) };
    assert!(project.add_session(&empty).unwrap_err().to_string().contains("no edit"));
}

/// Not a test by itself: the program that the next test kills. It says each answer after it was kept.
#[test]
#[ignore = "is started and killed by the test below"]
fn rates_until_killed() {
    let Some(path) = std::env::var_os("EDITSCOPE_TEST_PROJECT") else { return };
    let project = Project::open(Path::new(&path)).unwrap();
    let session = project.sessions().unwrap().remove(0);
    for number in 0.. {
        let edit = &session.setup.edits[number % session.setup.edits.len()].edit;
        let said = judgement(&session.uid, &format!("rater {number}"), &edit.0, rubric_answer(3.0), number as i64);
        project.add_judgement(&said).unwrap();
        println!("kept {number}");
    }
}

#[test]
fn a_kill_at_any_moment_leaves_no_half_rating() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 2, 2);
    let project = project(folder.path(), "p.editscope", &items);
    project.add_session(&setup(paper(), &items)).unwrap();
    let path = project.path().to_owned();
    drop(project);
    for round in 0..12_u64 {
        let before = Project::open(&path).unwrap().judgements().unwrap().len();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "rates_until_killed", "--nocapture"])
            .env("EDITSCOPE_TEST_PROJECT", &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = 0;
        while said < 3 {
            let line = lines.next().expect("it goes on until it is killed").unwrap();
            said += usize::from(line.starts_with("kept "));
        }
        // Some way into the next answers: each round at another moment.
        std::thread::sleep(std::time::Duration::from_micros(round * 700));
        child.kill().unwrap();
        child.wait().unwrap();
        said += lines.map_while(Result::ok).filter(|line| line.starts_with("kept ")).count();

        let project = Project::open(&path).unwrap();
        let kept = project.judgements().unwrap();
        // What was said to be kept is there; at most the answer that was being written is more.
        assert!((said..=said + 1).contains(&(kept.len() - before)), "{said} were said, {} are kept", kept.len() - before);
        let ratings: usize = project.edits().unwrap().iter().map(|edit| project.rating_history(edit.id).unwrap().len()).sum();
        assert_eq!(ratings, kept.len(), "each answer is a judgement and a rating");
        assert!(kept.iter().all(|judgement| judgement.shown.len() == 1));
    }
}

proptest! {
    #[test]
    fn every_task_comes_once_and_repeats_come_after_what_they_repeat(
        count in 1_usize..30, edits in 2_usize..4, percent in 0_u8..=100, checks in 0_u16..6, seed: u32, which in 0..3,
    ) {
        let session = SessionSetup {
            protocol: match which { 0 => paper(), 1 => Protocol::Pairwise, _ => Protocol::Ranking },
            repeat_percent: percent,
            checks,
            seed,
            edits: (0..count * edits).map(|n| SessionEdit {
                item: ItemKey(format!("i{}", n / edits)),
                edit: EditKey(format!("e{n}")),
            }).collect(),
            ..setup(paper(), &[])
        };
        let tasks = order(&session, "ann");
        prop_assert_eq!(&tasks, &order(&session, "ann"));
        let of_role = |role| tasks.iter().filter(|task| task.role == role).count();
        // By hand: one task an edit; edits·(edits−1)/2 pairs an item; one ranking an item.
        let plain = match which { 0 => count * edits, 1 => count * edits * (edits - 1) / 2, _ => count };
        prop_assert_eq!(of_role(TaskRole::Plain), plain);
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (index, task) in tasks.iter().enumerate() {
            prop_assert_eq!(task.place as usize, index + 1);
            prop_assert!(places.insert(&task.key, index).is_none(), "{} comes twice", task.key);
        }
        let gap = 8.min(plain / 2).max(1);
        let repeats: Vec<_> = tasks.iter().filter(|task| task.role == TaskRole::Repeat).collect();
        for repeat in &repeats {
            let first = places[repeat.key.strip_prefix("repeat:").unwrap()];
            prop_assert!(places[repeat.key.as_str()] >= first + gap, "{} comes too soon", repeat.key);
            if which == 1 {
                let reversed: Vec<_> = tasks[first].shown.iter().rev().cloned().collect();
                prop_assert_eq!(&repeat.shown, &reversed);
            }
        }
        // Rounded, and no more than there are tasks with room behind them.
        prop_assert_eq!(repeats.len(), ((plain * usize::from(percent) + 50) / 100).min((plain + 1).saturating_sub(gap)));
        let checks_found = tasks.iter().filter(|task| task.role.is_check()).count();
        prop_assert_eq!(checks_found, usize::from(checks).min(plain));
        prop_assert!(!tasks[0].role.is_check());
        if plain > 12 {
            prop_assert_ne!(order(&session, "bob").iter().map(|t| &t.key).collect::<Vec<_>>(), tasks.iter().map(|t| &t.key).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_session_resumes_where_it_was_left_with_skips_to_come_back_to() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 2, 2);
    let setup = std::sync::Arc::new(setup(paper(), &items));
    let mut log: Vec<Judgement> = Vec::new();
    let resumed = |log: &[Judgement]| SessionRun::resume(std::sync::Arc::clone(&setup), "ann", log, |_| true);
    let answer = |run: &mut SessionRun| {
        (0..5).for_each(|_| drop(run.press(4)));
        run.submit(9.0, 1).unwrap()
    };
    let mut run = resumed(&log);
    let order: Vec<String> = std::iter::from_fn(|| Some(run.task()?.key.clone())).take(1).collect();
    log.push(answer(&mut run));
    log.push(run.skip(9.0, 2).unwrap());
    let third = run.task().unwrap().key.clone();
    assert!(run.submit(9.0, 3).unwrap_err().contains("Still open: modification"));

    // Killed here: the same task again, nothing half done.
    let mut run = resumed(&log);
    assert_eq!(run.task().unwrap().key, third);
    let progress = run.progress();
    assert_eq!((progress.done, progress.skipped, progress.total), (1, 1, 4));
    // Back two tasks, the first answer is corrected; then on with what is open.
    assert!(run.back() && run.back() && !run.back());
    assert_eq!(run.task().unwrap().key, order[0]);
    drop(run.press(1));
    log.push(run.submit(9.0, 4).unwrap());
    assert_eq!(run.task().unwrap().key, third);
    log.push(answer(&mut run));
    log.push(answer(&mut run));
    // Only the skipped one is left.
    let skipped = run.task().unwrap().key.clone();
    assert_eq!(log[1].task, skipped);
    assert_eq!(resumed(&log).task().unwrap().key, skipped);
    log.push(run.cannot_judge(9.0, 7).unwrap());
    assert!(run.task().is_none() && resumed(&log).task().is_none());
    let counting = newest(&log, "ann");
    assert_eq!(counting.len(), 4);
    let corrected = &counting[order[0].as_str()].answer;
    assert!(
        matches!(corrected, Answer::Rubric { values, .. } if values["modification"] == 1.0 && values["overall"] == 4.0),
        "{corrected:?}"
    );
}

#[test]
fn the_clock_counts_looking_and_not_the_breaks() {
    let folder = tempfile::tempdir().unwrap();
    let setup = std::sync::Arc::new(setup(Protocol::Pairwise, &items(folder.path(), 1, 2)));
    let mut run = SessionRun::resume(setup, "ann", &[], |_| true);
    run.look(100.0);
    run.look(101.0);
    run.pause(103.0);
    run.look(500.0);
    drop(run.press(2));
    let said = run.submit(501.5, 1).unwrap();
    // 3 seconds before the break and 1.5 after it.
    assert_eq!((said.seconds, said.answer), (4.5, Answer::Pair(Vote::Second)));
}

#[test]
fn a_rater_is_measured_by_repeats_checks_and_time() {
    let items: Vec<Item> = Vec::new();
    let setup = setup(paper(), &items);
    let said = |task: &str, role, value: f64, seconds: f64| Judgement {
        task: task.into(),
        role,
        seconds,
        ..judgement("s", "ann", "i0-a", rubric_answer(value), 1)
    };
    let log = [
        said("edit:a", TaskRole::Plain, 4.0, 2.0),
        said("edit:b", TaskRole::Plain, 1.0, 4.0),
        said("repeat:edit:a", TaskRole::Repeat, 2.0, 9.0),
        said("repeat:edit:b", TaskRole::Repeat, 1.0, 3.0),
        // Modification 5 for the source itself: not attentive.
        said("check:edit:a", TaskRole::SourceAsEdit, 5.0, 1.0),
        Judgement { answer: Answer::Skipped, ..said("edit:c", TaskRole::Plain, 1.0, 7.0) },
        Judgement { rater: "bob".into(), ..said("edit:a", TaskRole::Plain, 1.0, 100.0) },
    ];
    let found = summary(&setup, &log, "ann");
    assert_eq!((found.answered, found.skipped, found.checks, found.checks_passed), (5, 1, 1, 0));
    // By hand: 2 + 4 + 9 + 3 + 1 = 19 seconds, the middle of 1 2 3 4 9 is 3.
    assert_eq!((found.seconds, found.median_seconds), (19.0, Some(3.0)));
    // Two tasks of five questions; a differs by two points in each, b by none.
    let twice = &found.consistency;
    assert_eq!((twice.tasks, twice.answers, twice.same, twice.points_apart), (2, 10, 5, 10));

    let pair = |task: &str, shown: [&str; 2], vote| Judgement {
        shown: shown.map(|key| EditKey(key.into())).into(),
        answer: Answer::Pair(vote),
        ..said(task, if task.starts_with("repeat") { TaskRole::Repeat } else { TaskRole::Plain }, 1.0, 1.0)
    };
    // The other way round, B is the same edit as A before.
    let log = [pair("pair:x", ["a", "b"], Vote::First), pair("repeat:pair:x", ["b", "a"], Vote::Second)];
    let twice = summary(&SessionSetup { protocol: Protocol::Pairwise, ..setup }, &log, "ann").consistency;
    assert_eq!((twice.tasks, twice.answers, twice.same), (1, 1, 1));
}

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
        "SELECT 'regions', items.key, edits.key, who, what, at_millis, regions FROM region_sets
         JOIN items ON items.id = region_sets.item_id LEFT JOIN edits ON edits.id = edit_id ORDER BY region_sets.id",
        "SELECT 'session', uid, setup FROM rating_sessions ORDER BY id",
        "SELECT 'judgement', uid, rater, items.key, task, role, answer, comment, place, seconds, at_millis, visible, rubric,
             (SELECT group_concat(edits.key) FROM judgement_edits JOIN edits ON edits.id = edit_id WHERE judgement_id = judgements.id)
         FROM judgements JOIN rating_sessions ON rating_sessions.id = session_id JOIN items ON items.id = item_id ORDER BY judgements.id",
        "SELECT 'run', kind, runs.profile, models, settings, started_millis, finished_millis, end FROM runs ORDER BY id",
        "SELECT 'score', started_millis, key, at_millis, size, position, modify, preserve, flags, failure, stale, detail FROM scores
         JOIN runs ON runs.id = run_id JOIN edits ON edits.id = edit_id LEFT JOIN score_details ON score_id = scores.id ORDER BY scores.id",
        "SELECT 'range', name, profile, range FROM ranges ORDER BY id",
        "SELECT 'comparison', name, content FROM comparisons ORDER BY name",
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
    use editscope::domain::{Bounds, Outcome, Parts, Profile, Range, Region, RegionOrigin, RegionRole, RegionShape, Score, Side};
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
    let region = Region {
        side: Side::Source,
        role: RegionRole::Original,
        origin: RegionOrigin::Person,
        shape: RegionShape::Box(editscope::domain::Rect::new(0.0, 0.0, 2.0, 2.0)),
        label: "cup".into(),
        confidence: None,
    };
    project.set_regions(a, Side::Source, std::slice::from_ref(&region), "ann", "drew a box").unwrap();
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
    };
    project.put_score(run, a, &score, 1.0).unwrap();
    project.finish_run(run, &RunEnd::Done).unwrap();
    let bounds = Bounds { min: 0.0, max: 1.0 };
    let range =
        Range { name: "ours".into(), profile: Profile::Corrected, modify: Some(bounds), preserve: Some(bounds), fitted_on: "here".into() };
    project.save_range(&range).unwrap();
    project.save_comparison("first", &serde_json::json!({"n": 1})).unwrap();
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
    [&here, &there].map(|folder| std::fs::create_dir(folder).unwrap());
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

#[test]
fn one_raters_work_travels_as_a_file_and_is_not_added_twice() {
    use editscope::datasets::read_rater_rows;
    use editscope::export::{write_ratings_csv, write_ratings_jsonl};
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
    for (name, write) in [("ann.jsonl", write_ratings_jsonl as fn(&[_], &Path) -> _), ("ann.csv", write_ratings_csv)] {
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
    use editscope::datasets::read_rater_rows;
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
