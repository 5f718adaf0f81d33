//! Sessions: what is kept of them, in which order they ask, and where they resume.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use editscope::domain::{
    Answer, EditKey, Item, ItemKey, Judgement, Preference, Protocol, Rubric, SessionEdit, SessionSetup, TaskRole, counting_judgements,
};
use editscope::editor::{SessionRun, Task, order, summary};
use editscope::storage::{Project, StorageError};
use proptest::prelude::*;
use rusqlite::Connection;

use crate::support::{id_of, items, judgement, paper, project, rubric_answer, setup};

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
    project.add_judgement(&Judgement { answer: Answer::CannotJudge, rater: "zoe".into(), ..first }).unwrap();
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
        answer: Answer::Pair(Preference::First),
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
            .args(["--ignored", "--exact", "sessions::rates_until_killed", "--nocapture"])
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
            let keys = |tasks: &[Task]| tasks.iter().map(|task| task.key.clone()).collect::<Vec<_>>();
            prop_assert_ne!(keys(&order(&session, "bob")), keys(&tasks));
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
        for _ in 0..5 {
            run.press(4);
        }
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
    run.press(1);
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
    let counting = counting_judgements(&log);
    assert_eq!(counting.len(), 4);
    let corrected = &counting.iter().find(|said| said.task == order[0]).unwrap().answer;
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
    run.press(2);
    let said = run.submit(501.5, 1).unwrap();
    // 3 seconds before the break and 1.5 after it.
    assert_eq!((said.seconds, said.answer), (4.5, Answer::Pair(Preference::Second)));
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
    let log = [pair("pair:x", ["a", "b"], Preference::First), pair("repeat:pair:x", ["b", "a"], Preference::Second)];
    let twice = summary(&SessionSetup { protocol: Protocol::Pairwise, ..setup }, &log, "ann").consistency;
    assert_eq!((twice.tasks, twice.answers, twice.same), (1, 1, 1));
}
