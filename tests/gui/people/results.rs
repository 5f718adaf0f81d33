//! What the end of a session shows, and what goes on beside it: agreement, repeats, checks, the displayed order.

use editscope::domain::{Outcome, Protocol, TaskRole};
use editscope::gui::command::Command;
use editscope::gui::state::Page;
use egui::Key;
use egui_kittest::kittest::Queryable as _;

use crate::support::Window;

use super::{Bench, paper};

/// What ann and bob answer in a session of the window, one key an answer.
fn answer_all(bench: &Bench, rater: &'static str, keys: &[Key]) -> Window {
    let mut window = bench.window(rater);
    window.key(Key::V);
    window.key(Key::Enter);
    for key in keys {
        window.key(*key);
    }
    window
}

#[test]
fn the_end_shows_all_raters_and_opens_what_they_differ_about() {
    let bench = Bench::new(1);
    bench.session(Protocol::Pairwise, |setup| setup.live_agreement = false);
    drop(answer_all(&bench, "bob", &[Key::Num3; 6]));
    // Ann says tie as bob does, but for her last pair.
    let mut window = answer_all(&bench, "ann", &[Key::Num3, Key::Num3, Key::Num3, Key::Num3, Key::Num3, Key::Num1]);
    window.harness.get_by_label("✔ Done, thank you");
    let open = window.state().people.open.as_ref().unwrap();
    let found = open.results.clone().unwrap().unwrap();
    // By hand: five of six pairs of answers are the same; one of ann's votes is decided, for A.
    assert_eq!(found.agreement.lines[0].equal, Outcome::Value(5.0 / 6.0));
    assert_eq!(
        found.raters.iter().map(|rater| (rater.name.as_str(), rater.for_a.value().copied())).collect::<Vec<_>>(),
        [("ann", Some(1.0)), ("bob", None)]
    );
    assert_eq!((found.differing_count, found.differing[0].apart), (1, 1));
    window.harness.get_by_label("2 raters");
    window.harness.get_by_label("83 %");
    window.harness.get_by_label("100 %");
    window.harness.get_by_label(&format!("Open {}: {}", found.differing[0].item, found.differing[0].words));
    // The digit opens the edit where everything about it is seen, its history too.
    window.key(Key::Num1);
    assert_eq!((window.state().page, window.state().queue.selected()), (Page::Audit, found.differing[0].row));
    let history: Vec<String> = window.state().details.as_ref().unwrap().history.iter().map(|line| line.what.clone()).collect();
    let votes = history.iter().filter(|what| what.contains("session “Round one”")).count();
    assert_eq!(votes, 6, "three pairs with this edit, by two raters: {history:?}");
}

#[test]
fn live_agreement_follows_every_answer_and_a_rubric_has_a_line_a_question() {
    let bench = Bench::new(1);
    bench.session(paper(), |setup| (setup.blind, setup.live_agreement) = (true, true));
    let same = [Key::Num4, Key::Num4, Key::Num4, Key::Num4, Key::Num4, Key::Enter];
    drop(answer_all(&bench, "bob", &same.repeat(4)));
    let mut window = answer_all(&bench, "ann", &same);
    let live = |window: &Window| window.state().people.open.as_ref().unwrap().live.clone().unwrap();
    let first = live(&window);
    assert_eq!((first.raters, first.lines.len(), first.lines[4].name.as_str(), first.lines[4].units), (2, 5, "overall", 1));
    assert_eq!(first.lines[4].equal, Outcome::Value(1.0));
    assert!(first.lines[4].alpha.why().is_some_and(|why| why.contains("one value only")), "undefined is said: {:?}", first.lines[4].alpha);
    for key in [Key::Num4, Key::Num4, Key::Num4, Key::Num4, Key::Num1, Key::Enter] {
        window.key(key);
    }
    let second = live(&window);
    assert_eq!((second.lines[4].units, &second.lines[4].equal, &second.lines[0].equal), (2, &Outcome::Value(0.5), &Outcome::Value(1.0)));
    assert_eq!(bench.leaks(&window), Vec::<String>::new(), "agreement is no score of a model");
}

#[test]
fn blind_holds_for_votes_and_ranks_and_in_every_dialog() {
    for protocol in [Protocol::Pairwise, Protocol::Ranking] {
        let bench = Bench::new(1);
        bench.session(protocol.clone(), |setup| setup.checks = 1);
        let mut window = answer_all(&bench, "ann", &[if protocol == Protocol::Pairwise { Key::Num1 } else { Key::S }]);
        assert_eq!(bench.leaks(&window), Vec::<String>::new(), "{protocol:?}");
        // The key sheet, the settings, the networks: each opened over the page and closed again.
        for command in [Command::KeySheet, Command::OpenSettings, Command::OpenNetworks] {
            let shortcut = command.shortcut().unwrap();
            window.harness.key_press_modifiers(shortcut.modifiers, shortcut.logical_key);
            window.settle();
            assert_eq!(bench.leaks(&window), Vec::<String>::new(), "{protocol:?} {command:?}");
            window.key(Key::Escape);
        }
        // Back in the list: the line of the session tells no more.
        window.harness.get_by_label("Leave").click();
        window.settle();
        assert_eq!(bench.leaks(&window), Vec::<String>::new(), "{protocol:?}, the list");
        // Who leaves it for now is still in it.
        for key in [Key::A, Key::G] {
            window.key(key);
            window.harness.get_by_label("A blind session is underway");
            assert_eq!(bench.leaks(&window), Vec::<String>::new(), "{protocol:?}, left");
        }
    }
}

#[test]
fn the_displayed_order_is_the_raters_own_and_it_is_kept() {
    let bench = Bench::new(2);
    let uid = bench.session(Protocol::Pairwise, |setup| (setup.repeat_percent, setup.checks) = (20, 1));
    let setup = bench.project().sessions().unwrap().remove(0).setup;
    let mut orders = Vec::new();
    for rater in ["ann", "bob"] {
        drop(answer_all(&bench, rater, &[Key::Num1; 4]));
        let log = bench.project().session_log(&uid).unwrap();
        let said: Vec<_> = log.iter().filter(|said| said.rater == rater).collect();
        assert_eq!(said.iter().map(|said| said.place).collect::<Vec<_>>(), [1, 2, 3, 4], "the displayed position");
        // From the stored seed and the name alone the same order comes again.
        let tasks = editscope::editor::order(&setup, rater);
        let expected: Vec<_> = tasks.iter().take(4).map(|task| (task.key.clone(), task.shown.clone(), task.role)).collect();
        assert_eq!(said.iter().map(|said| (said.task.clone(), said.shown.clone(), said.role)).collect::<Vec<_>>(), expected);
        assert!(said.iter().all(|said| said.seconds >= 0.0 && said.seconds.is_finite()));
        orders.push(expected);
    }
    assert_ne!(orders[0], orders[1]);
}

#[test]
fn repeats_and_checks_come_in_a_session_and_are_summed_up() {
    let bench = Bench::new(2);
    let uid = bench.session(paper(), |setup| (setup.repeat_percent, setup.checks) = (25, 1));
    // Eight edits, two of them again, one check.
    let all_fours = [Key::Num4, Key::Num4, Key::Num4, Key::Num4, Key::Num4, Key::Enter].repeat(11);
    let window = answer_all(&bench, "ann", &all_fours);
    window.harness.get_by_label("✔ Done, thank you");
    window.harness.get_by_label("100 % the same (10 of 10 answers, 2 tasks), 0.00 points apart on average");
    window.harness.get_by_label("0 of 1 passed");
    let log = bench.project().session_log(&uid).unwrap();
    let roles = |role| log.iter().filter(|said| said.role == role).count();
    assert_eq!([TaskRole::Plain, TaskRole::Repeat, TaskRole::SourceAsEdit].map(roles), [8, 2, 1]);
    let rated: usize = bench.project().all_latest_ratings().unwrap().values().flatten().filter(|rating| rating.rater == "ann").count();
    assert_eq!(rated, 8, "repeats and checks are no ratings");
}

#[test]
fn a_digit_opens_a_session_of_the_list_and_its_end_has_no_empty_columns() {
    let bench = Bench::new(1);
    let pairs = bench.session(Protocol::Pairwise, |setup| setup.name = "Pairs".into());
    bench.session(Protocol::Ranking, |setup| setup.name = "Ranks".into());
    let mut window = bench.window("ann");
    window.key(Key::V);
    // The newest stands first.
    window.key(Key::Num2);
    assert_eq!(window.state().people.open.as_ref().map(|open| open.run.uid().to_owned()), Some(pairs));
    (0..6).for_each(|_| window.key(Key::Num1));
    window.harness.get_by_label("✔ Done, thank you");
    window.harness.get_by_label("for A");
    // Nothing was asked twice, and there were no checks.
    for absent in ["spread", "bias", "same twice", "checks"] {
        assert!(window.harness.query_by_label(absent).is_none(), "{absent}");
    }
}

#[test]
fn the_end_of_a_rubric_tells_bias_and_spread_by_question_and_which_alpha_it_shows() {
    let bench = Bench::new(1);
    bench.session(Protocol::Rubric { rubric: editscope::domain::Rubric::imagenhub() }, |_| {});
    let of = |sc, pq| [sc, pq, Key::Enter];
    drop(answer_all(&bench, "bob", &of(Key::Num0, Key::Num5).repeat(4)));
    let window = answer_all(&bench, "ann", &[of(Key::Num1, Key::Num5).repeat(2), of(Key::Num0, Key::Num5).repeat(2)].concat());
    for label in ["α ordinal", "bias", "spread"] {
        window.harness.get_by_label(label);
    }
    assert!(window.harness.query_by_label("-0.00").is_none() && window.harness.query_by_label("+0.00").is_none());
    let found = window.state().people.open.as_ref().unwrap().results.clone().unwrap().unwrap();
    // By hand for ann's SC 1, 1, 0, 0 beside bob's zeros: bias 0.5; each is half a point from the mean, so the spread is √(4 · 0.25 / 3).
    let (question, habit) = &found.raters[0].habits[0];
    assert_eq!((question.as_str(), &habit.bias), ("SC", &Outcome::Value(0.5)));
    assert!(habit.spread.value().is_some_and(|spread| (spread - (1.0_f64 / 3.0).sqrt()).abs() < 1e-12), "{habit:?}");
}

#[test]
fn alone_in_a_session_it_is_said_whose_ratings_are_not_counted() {
    let bench = Bench::new(1);
    bench.session(Protocol::Pairwise, |setup| (setup.blind, setup.live_agreement) = (false, true));
    let window = answer_all(&bench, "ann", &[Key::Num1]);
    window.harness.get_by_label(
        "Nobody else has answered in this session yet. Ratings from elsewhere, simulated ones among them, are not counted here.",
    );
}
