//! What a blind session hides, from when on, and what its log says where something was seen all the same. And what a copy of the file holds.

use std::time::Duration;

use editscope::domain::Answer;
use editscope::gui::state::Page;
use editscope::storage::Project;
use egui::Key;
use egui_kittest::kittest::Queryable as _;

use crate::support::Window;

use super::{Bench, paper};

const FOURS: [Key; 6] = [Key::Num4, Key::Num4, Key::Num4, Key::Num4, Key::Num4, Key::Enter];

fn begin(window: &mut Window, name: &str) {
    window.key(Key::V);
    window.harness.get_by_label(&format!("Begin: {name}")).click();
    window.settle();
    assert!(window.state().people.open.is_some());
}

fn leave(window: &mut Window) {
    window.harness.get_by_label("Leave").click();
    window.settle();
}

fn is_walled(bench: &Bench, window: &mut Window) -> bool {
    window.key(Key::A);
    let walled = window.harness.query_by_label("A blind session is underway").is_some();
    assert_eq!(walled, bench.leaks(window).is_empty(), "the wall hides all, and nothing else does");
    window.key(Key::V);
    walled
}

#[test]
fn a_blind_session_hides_from_its_first_task_on_also_after_a_restart() {
    let bench = Bench::new(1);
    bench.session(paper(), |setup| setup.name = "Blind".into());
    let mut window = bench.window("lee");
    window.key(Key::V);
    assert!(!is_walled(&bench, &mut window));
    begin(&mut window, "Blind");
    leave(&mut window);
    assert!(is_walled(&bench, &mut window), "nothing was answered, but the first task was shown");
    drop(window);
    let window = bench.window("lee");
    assert_eq!(window.state().page, Page::Rate);
    assert!(window.state().people.open.is_some());
}

#[test]
fn another_name_in_the_same_window_opens_nothing() {
    let bench = Bench::new(1);
    bench.session(paper(), |setup| setup.name = "Blind".into());
    let mut window = bench.window("lee");
    begin(&mut window, "Blind");
    FOURS.into_iter().for_each(|key| window.key(key));
    leave(&mut window);
    window.harness.get_by_label("Rater").focus();
    window.settle();
    window.harness.event(egui::Event::Text("x".into()));
    window.settle();
    window.key(Key::Escape);
    assert_ne!(window.harness.state().settings().rater, "lee");
    assert!(is_walled(&bench, &mut window));
}

#[test]
fn what_a_session_that_is_not_blind_showed_is_said_with_the_blind_answer() {
    let bench = Bench::new(1);
    let blind = bench.session(paper(), |setup| setup.name = "Blind".into());
    bench.session(paper(), |setup| (setup.name, setup.blind, setup.seed) = ("Open".into(), false, 9));
    let mut window = bench.window("lee");
    // Two of the four edits are shown with models and scores; the second one is not even answered.
    begin(&mut window, "Open");
    FOURS.into_iter().for_each(|key| window.key(key));
    let open = window.state().people.open.as_ref().unwrap();
    let mut seen = vec![open.log.last().unwrap().shown[0].clone(), open.run.task().unwrap().shown[0].clone()];
    leave(&mut window);
    window.harness.get_by_label("Begin: Blind").click();
    window.settle();
    (0..4).for_each(|_| FOURS.into_iter().for_each(|key| window.key(key)));
    let log = bench.project().session_log(&blind).unwrap();
    assert_eq!(log.len(), 4);
    assert!(log.iter().all(|said| !said.visible.models && !said.visible.scores));
    let mut told: Vec<_> = log.iter().filter(|said| said.visible.seen_before).map(|said| said.shown[0].clone()).collect();
    seen.sort();
    told.sort();
    assert_eq!(told, seen);
}

#[test]
fn a_session_that_is_not_blind_waits_for_a_blind_one_that_is_underway() {
    let bench = Bench::new(1);
    bench.session(paper(), |setup| setup.name = "Blind".into());
    bench.session(paper(), |setup| (setup.name, setup.blind, setup.seed) = ("Open".into(), false, 9));
    let mut window = bench.window("lee");
    begin(&mut window, "Open");
    FOURS.into_iter().for_each(|key| window.key(key));
    leave(&mut window);
    begin(&mut window, "Blind");
    FOURS.into_iter().for_each(|key| window.key(key));
    leave(&mut window);
    window.harness.get_by_label("Go on: Open").click();
    window.settle();
    assert!(window.state().people.open.is_none());
    assert_eq!(bench.leaks(&window), Vec::<String>::new());
    let why = "Models and scores cannot be shown yet: that waits until the blind session “Blind” is done or archived.";
    window.harness.get_by_label(why);
    // Enter goes on with the blind one, although the other is newer; when it is done, the other may go on.
    window.key(Key::Enter);
    (0..3).for_each(|_| FOURS.into_iter().for_each(|key| window.key(key)));
    window.harness.get_by_label("✔ Done, thank you");
    window.key(Key::Enter);
    window.harness.get_by_label("Go on: Open").click();
    window.settle();
    assert!(window.state().people.open.is_some() && !bench.leaks(&window).is_empty());
}

#[test]
fn of_two_blind_sessions_neither_the_end_nor_unblinding_of_one_tells_what_the_other_hides() {
    let bench = Bench::new(1);
    bench.session(paper(), |setup| setup.name = "First".into());
    let second = bench.session(paper(), |setup| (setup.name, setup.seed) = ("Second".into(), 9));
    let mut window = bench.window("lee");
    begin(&mut window, "First");
    FOURS.into_iter().for_each(|key| window.key(key));
    leave(&mut window);
    begin(&mut window, "Second");
    window.key(Key::A);
    window.harness.get_by_label("Show models and scores").click();
    window.settle();
    assert!(window.state().people.open.as_ref().unwrap().run.is_blind());
    window.key(Key::V);
    (0..4).for_each(|_| FOURS.into_iter().for_each(|key| window.key(key)));
    window.harness.get_by_label("✔ Done, thank you");
    assert_eq!(bench.leaks(&window), Vec::<String>::new());
    assert!(window.harness.query_all_by_label_contains("“First” is done or archived").next().is_some());
    assert!(bench.project().session_log(&second).unwrap().iter().all(|said| said.answer != Answer::Unblinded));
}

#[test]
fn a_mistaken_session_is_put_away_and_its_log_says_that_the_blind_is_over() {
    let bench = Bench::new(1);
    let uid = bench.session(paper(), |setup| (setup.name, setup.checks, setup.repeat_percent) = ("Mistake".into(), 2, 25));
    let mut window = bench.window("lee");
    window.key(Key::V);
    let texts = super::texts(&window);
    assert!(texts.iter().any(|text| text.ends_with(" · 25 % asked twice · 2 checks")), "{texts:?}");
    begin(&mut window, "Mistake");
    FOURS.into_iter().for_each(|key| window.key(key));
    leave(&mut window);
    window.harness.get_by_label("Archive: Mistake").click();
    window.settle();
    assert!(window.state().people.sessions.as_ref().unwrap()[0].archived);
    assert!(window.state().people.first_open().is_none());
    assert!(!is_walled(&bench, &mut window));
    let log = bench.project().session_log(&uid).unwrap();
    assert_eq!((log.len(), &log[1].answer), (2, &Answer::Unblinded), "the answer is kept");
    window.harness.get_by_label("Archived (1)").click();
    window.settle();
    // It opens slowly.
    window.harness.run_steps(30);
    window.harness.get_by_label("Bring back: Mistake");
}

#[test]
fn the_end_is_left_by_escape() {
    let bench = Bench::new(1);
    bench.session(paper(), |_| {});
    let mut window = bench.window("lee");
    window.key(Key::V);
    window.key(Key::Enter);
    (0..4).for_each(|_| window.key(Key::X));
    window.harness.get_by_label("✔ Done, thank you");
    window.key(Key::Escape);
    assert!(window.state().people.open.is_none());
    window.harness.get_by_label("4 of 4 answered · answers of lee");
}

#[test]
fn a_copy_of_the_file_alone_has_the_answers_some_seconds_after_the_last_one() {
    let bench = Bench::new(1);
    let uid = bench.session(paper(), |_| {});
    let mut window = bench.window("lee");
    window.key(Key::V);
    window.key(Key::Enter);
    FOURS.into_iter().for_each(|key| window.key(key));
    // The window stays open; it rests after two seconds.
    std::thread::sleep(Duration::from_secs(4));
    let copy = bench.folder.path().join("copy.editscope");
    std::fs::copy(bench.path(), &copy).unwrap();
    let log = Project::open(&copy).unwrap().session_log(&uid).unwrap();
    assert_eq!(log.len(), 1);
    drop(window);
    // What was said last is in the file once the window is closed, too.
    let mut window = bench.window("lee");
    FOURS.into_iter().for_each(|key| window.key(key));
    drop(window);
    let copy = bench.folder.path().join("another.editscope");
    std::fs::copy(bench.path(), &copy).unwrap();
    assert_eq!(Project::open(&copy).unwrap().session_log(&uid).unwrap().len(), 2);
}
