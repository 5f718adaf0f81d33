//! Keys of sessions, of the Rate tab and of commands: several in one frame, in the order in which they were pressed.

use editscope::domain::{Answer, Preference, Protocol, Rubric};
use editscope::gui::state::Page;
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

use super::{Bench, answers, paper};

/// Presses keys within one frame, as a fast typist does in a busy window, and lets the window react.
fn in_one_frame(window: &mut Window, keys: &[Key]) {
    let event = |key: Key, pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers: Modifiers::NONE };
    let events: Vec<Event> = keys.iter().flat_map(|key| [event(*key, true), event(*key, false)]).collect();
    window.harness.input_mut().events.extend(events);
    window.settle();
}

fn begun(bench: &Bench) -> Window {
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::Enter);
    assert!(window.state().people.open.is_some());
    window
}

/// What the first answer of a log says, in the order of the rubric's questions.
fn values(bench: &Bench, place: usize, rubric: &Rubric) -> Vec<Option<f64>> {
    let log = bench.project().judgements().unwrap();
    let Answer::Rubric { values, .. } = &log[place].answer else { panic!("{log:?}") };
    rubric.questions.iter().map(|question| values.get(&question.name).copied()).collect()
}

#[test]
fn keys_of_one_frame_are_answers_in_the_order_in_which_they_were_pressed() {
    let bench = Bench::new(1);
    bench.session(paper(), |_| {});
    let mut window = begun(&bench);
    in_one_frame(&mut window, &[Key::Num3, Key::Num4, Key::Num5, Key::Num3, Key::Num4, Key::Enter]);
    assert_eq!(values(&bench, 0, &Rubric::paper()), [3.0, 4.0, 5.0, 3.0, 4.0].map(Some));
    in_one_frame(&mut window, &[Key::Num5, Key::Num4, Key::Num3, Key::Num2, Key::Num0, Key::ArrowUp, Key::Num1, Key::Enter]);
    // The arrow goes back to position, which is then 1; overall cannot be judged.
    assert_eq!(values(&bench, 1, &Rubric::paper()), [Some(5.0), Some(4.0), Some(3.0), Some(1.0), None]);
    // All of a comment is text, up to the key that leaves it.
    in_one_frame(&mut window, &[Key::Num1; 5]);
    let typed = |window: &mut Window, key: Key, text: &str| {
        let event = Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
        window.harness.input_mut().events.extend([event, Event::Text(text.into())]);
    };
    for (key, text) in [(Key::C, "c"), (Key::C, "c"), (Key::X, "x"), (Key::Num2, "2")] {
        typed(&mut window, key, text);
    }
    in_one_frame(&mut window, &[Key::Escape, Key::Enter]);
    assert_eq!(values(&bench, 2, &Rubric::paper()), [Some(1.0); 5]);
    assert_eq!(bench.project().judgements().unwrap()[2].comment, "cx2");
}

#[test]
fn votes_and_ranks_of_one_frame_are_taken_in_order_and_only_for_the_task_on_the_screen() {
    let bench = Bench::new(1);
    bench.session(Protocol::Pairwise, |_| {});
    let mut window = begun(&bench);
    // Every pair was on the screen once, but not since it came back.
    (0..6).for_each(|_| window.key(Key::S));
    let said = || -> Vec<Answer> {
        let log = bench.project().judgements().unwrap();
        answers(&log).into_iter().filter(|answer| **answer != Answer::Skipped).cloned().collect()
    };
    in_one_frame(&mut window, &[Key::Num4, Key::Num3, Key::X, Key::Num0]);
    assert_eq!(said(), [Answer::Pair(Preference::BothBad)]);
    in_one_frame(&mut window, &[Key::Num3, Key::Backspace, Key::Num1]);
    assert_eq!(said(), [Preference::BothBad, Preference::Tie].map(Answer::Pair), "back is another task too");
    let log = bench.project().judgements().unwrap();
    assert!(log.iter().all(|said| said.seconds > 0.0), "{log:?}");

    let bench = Bench::new(2);
    bench.session(Protocol::Ranking, |_| {});
    let mut window = begun(&bench);
    let next = [Key::Num1, Key::Num1, Key::Num1, Key::Num1, Key::Enter];
    let first = [Key::Num4, Key::Num2, Key::Num2, Key::Num2, Key::ArrowLeft, Key::Enter];
    in_one_frame(&mut window, &[&first[..], &next].concat());
    // D goes from 2 to 1; then one is before two 2s, and the 4 stays the last.
    assert_eq!(answers(&bench.project().judgements().unwrap()), [&Answer::Ranking(vec![4, 2, 2, 1])]);
}

#[test]
fn an_edit_that_was_never_shown_is_not_rated() {
    let bench = Bench::new(1);
    bench.session(paper(), |_| {});
    let mut window = begun(&bench);
    let first = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Enter];
    let second = [Key::Num2, Key::Num2, Key::Num2, Key::Num2, Key::Num2, Key::Enter];
    in_one_frame(&mut window, &[first, second].concat());
    let log = bench.project().judgements().unwrap();
    assert_eq!(log.len(), 1, "{log:?}");
    let open = window.state().people.open.as_ref().unwrap();
    assert!(open.run.missing_answer().is_some_and(|why| why.contains("modification")), "nothing is filled in");
    assert!(window.state().toasts.iter().any(|toast| toast.text.contains("not on the screen yet")));
    in_one_frame(&mut window, &second);
    assert_eq!(values(&bench, 1, &Rubric::paper()), [Some(2.0); 5]);
}

#[test]
fn commands_and_the_rate_tab_take_every_key_of_a_frame_too() {
    let mut slow = Window::open(Setup::default());
    let mut fast = Window::open(Setup::default());
    let moves = [Key::J, Key::J, Key::J, Key::K, Key::ArrowDown, Key::ArrowDown];
    moves.into_iter().for_each(|key| slow.key(key));
    in_one_frame(&mut fast, &moves);
    assert_eq!(fast.state().queue.selected(), slow.state().queue.selected());
    fast.key(Key::F4);
    in_one_frame(&mut fast, &[Key::Num5, Key::Num4, Key::Num4, Key::Num0, Key::Num1]);
    let given: Vec<Option<u8>> = (0..5).map(|question| fast.state().rating.answer(question)).collect();
    assert_eq!(given, [5, 4, 4, 0, 1].map(Some));
    // A key acts on what the keys before it left: the page is another one, and the pages' keys with it.
    let bench = Bench::new(1);
    bench.session(paper(), |_| {});
    let mut window = bench.window("ann");
    in_one_frame(&mut window, &[Key::V, Key::Enter]);
    assert!(window.state().page == Page::Rate && window.state().people.open.is_some());
}

#[test]
fn a_digit_that_is_a_value_of_the_scale_means_that_value() {
    let bench = Bench::new(1);
    bench.session(Protocol::Rubric { rubric: Rubric::imagenhub() }, |_| {});
    let mut window = begun(&bench);
    for keys in [[Key::Num1, Key::Num5], [Key::Num0, Key::Num1], [Key::U, Key::Num0]] {
        keys.into_iter().for_each(|key| window.key(key));
        window.key(Key::Enter);
    }
    let said = |place| values(&bench, place, &Rubric::imagenhub());
    assert_eq!([said(0), said(1), said(2)], [[Some(1.0), Some(0.5)], [Some(0.0), Some(1.0)], [None, Some(0.0)]].map(Vec::from));
}

#[test]
fn what_was_missing_is_no_longer_said_once_it_is_there() {
    let bench = Bench::new(1);
    bench.session(paper(), |_| {});
    let mut window = begun(&bench);
    (0..4).for_each(|_| window.key(Key::Num3));
    window.key(Key::Enter);
    window.harness.get_by_label("Still open: overall. U says “can’t judge”.");
    window.key(Key::Num3);
    assert!(window.state().toasts.is_empty(), "{:?}", window.state().toasts);
}

#[test]
fn answers_count_from_when_the_pictures_are_on_the_screen() {
    let bench = Bench::new(6);
    // The first task is about an item whose pictures the Audit page has not decoded: not one of the first two.
    bench.session(paper(), |setup| {
        let near: Vec<_> = setup.edits.iter().take(8).map(|edit| edit.edit.clone()).collect();
        let is_far = |setup: &editscope::domain::SessionSetup| !near.contains(&editscope::editor::order(setup, "ann")[0].shown[0]);
        while !is_far(setup) {
            setup.seed += 1;
        }
    });
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.pictures.borrow_mut().hold = true;
    window.harness.key_press(Key::Enter);
    for _ in 0..200 {
        window.harness.step();
        if window.state().people.open.is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    window.harness.run_steps(3);
    assert!(!window.pictures.borrow().held.is_empty());
    window.harness.get_by_label("Loading the pictures…");
    for key in [Key::Num1, Key::X, Key::Enter] {
        window.harness.key_press(key);
        window.harness.run_steps(2);
    }
    let open = window.state().people.open.as_ref().unwrap();
    assert!(open.log.is_empty() && open.run.missing_answer().is_some_and(|why| why.contains("modification")));
    window.let_pictures_go();
    (0..5).for_each(|_| window.key(Key::Num2));
    window.key(Key::Enter);
    assert_eq!(values(&bench, 0, &Rubric::paper()), [Some(2.0); 5]);
}

/// A click at the button of that name, as events.
fn click(window: &Window, label: &str) -> [Event; 3] {
    let pos = window.harness.get_by_label(label).rect().center();
    let button = |pressed| Event::PointerButton { pos, button: egui::PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
    [Event::PointerMoved(pos), button(true), button(false)]
}

#[test]
fn what_is_typed_right_before_a_click_is_not_lost() {
    let bench = Bench::new(1);
    bench.session(paper(), |_| {});
    let mut window = begun(&bench);
    (0..5).for_each(|_| window.key(Key::Num4));
    window.key(Key::C);
    let remark = "a remark of thirty characters!";
    let letters = remark.chars().map(|letter| Event::Text(letter.to_string()));
    let events: Vec<Event> = letters.chain(click(&window, "Save, next")).collect();
    window.harness.input_mut().events.extend(events);
    window.settle();
    let log = bench.project().judgements().unwrap();
    assert_eq!((log.len(), log[0].comment.as_str()), (1, remark));

    let bench = Bench::new(1);
    let mut window = bench.window("");
    window.key(Key::V);
    window.harness.get_by_label("Rater").focus();
    window.settle();
    let letters = ["k", "i", "m"].map(|letter| Event::Text(letter.to_owned()));
    let events: Vec<Event> = letters.into_iter().chain(click(&window, "New session…")).collect();
    window.harness.input_mut().events.extend(events);
    window.settle();
    assert_eq!(window.harness.state().settings().rater, "kim");
    assert_eq!(window.state().people.draft.as_ref().map(|draft| draft.setup.created_by.as_str()), Some("kim"));
}

#[test]
fn messages_of_a_session_cover_none_of_its_buttons() {
    let bench = Bench::new(1);
    bench.session(paper(), |_| {});
    let mut window = begun(&bench);
    window.key(Key::Enter);
    let message = window.harness.get_by_label("Dismiss").rect();
    let text = window.harness.get_by_label_contains("Still open: ").rect();
    for label in ["Save, next", "Can’t judge", "Skip", "Back", "Leave"] {
        let button = window.harness.get_by_role_and_label(egui::accesskit::Role::Button, label).rect();
        // A message is 380 points wide at most.
        let covered = message.union(text).expand2(egui::vec2(380.0, 12.0));
        assert!(!covered.intersects(button), "{label} at {button:?} is under {covered:?}");
    }
}
