//! Rating sessions in the window, on a real project, from the keyboard alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use editscope::domain::{
    Answer, BoxesBySide, Judgement, Outcome, Parse, Parts, Preference, Profile, Protocol, Rating, Rubric, Score, SessionEdit, SessionSetup,
    TaskRole,
};
use editscope::editor::{EditDetails, Row, RowId};
use editscope::gui::command::Command;
use editscope::gui::people::{PeopleEvent, PeopleRequest};
use editscope::gui::project_store::ProjectStore;
use editscope::gui::state::Page;
use editscope::gui::store::{Shown, Store, StoreInfo};
use editscope::storage::{NewRun, Project, RunKind};
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::support::{Setup, Window};

/// A scored project of the demo's first items, in a folder of its own.
struct Bench {
    folder: tempfile::TempDir,
    models: Vec<String>,
}

impl Bench {
    fn new(items: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
        let mut data = editscope::datasets::read(&demo, None).unwrap();
        data.items.truncate(items);
        let project = Project::create(&folder.path().join("p.editscope")).unwrap();
        project.import(&data.items).unwrap();
        let run = NewRun {
            kind: RunKind::Set,
            profile: Profile::Corrected,
            models: "demo".into(),
            models_fingerprint: "f".into(),
            device: "cpu".into(),
            settings: serde_json::Value::Null,
            range: None,
        };
        let run = project.start_run(&run).unwrap();
        for (index, edit) in project.edits().unwrap().iter().enumerate() {
            let part = |offset: f64| Outcome::Value(offset + index as f64 / 100.0);
            let score = Score {
                profile: Profile::Corrected,
                parts: Parts { size: part(0.123), position: part(0.234), modify: part(0.345), preserve: part(0.456) },
                global: false,
                parse: Parse::default(),
                boxes: BoxesBySide::default(),
                candidates: BoxesBySide::default(),
                mask: None,
                crop_in_bpm500: None,
                trace: Vec::new(),
                triage: Default::default(),
            };
            project.put_score(run, edit.id, &score, 1.0).unwrap();
        }
        let mut models: Vec<String> = project.edits().unwrap().into_iter().map(|edit| edit.model).collect();
        models.sort();
        models.dedup();
        Self { folder, models }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("p.editscope")
    }

    fn project(&self) -> Project {
        Project::open(&self.path()).unwrap()
    }

    fn session(&self, protocol: Protocol, change: impl FnOnce(&mut SessionSetup)) -> String {
        let project = self.project();
        let keys: std::collections::HashMap<_, _> = project.items().unwrap().into_iter().map(|item| (item.id, item.key)).collect();
        let edits = project.edits().unwrap().into_iter().map(|edit| SessionEdit { item: keys[&edit.item].clone(), edit: edit.key });
        let mut setup = SessionSetup {
            name: "Round one".into(),
            protocol,
            blind: true,
            live_agreement: false,
            repeat_percent: 0,
            checks: 0,
            seed: 3,
            which: "all edits".into(),
            edits: edits.collect(),
            created_by: "eve".into(),
            created_millis: 1,
        };
        change(&mut setup);
        project.add_session(&setup).unwrap()
    }

    fn window(&self, rater: &'static str) -> Window {
        self.window_on(rater, Box::new(ProjectStore::default()))
    }

    fn window_on(&self, rater: &'static str, store: Box<dyn Store>) -> Window {
        Window::with_store(Setup { open: Some(self.path()), rater, ..Setup::default() }, store)
    }

    /// What the window shows that a blind rater must not see: names of models, and numbers as scores are written.
    fn leaks(&self, window: &Window) -> Vec<String> {
        let texts = texts(window);
        assert!(texts.len() > 5, "the window shows something: {texts:?}");
        let is_score = |text: &str| {
            text.split(|c: char| !c.is_ascii_digit() && c != '.')
                .any(|word| word.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 3))
        };
        texts.into_iter().filter(|text| is_score(text) || self.models.iter().any(|model| text.contains(model.as_str()))).collect()
    }
}

/// All labels, values and descriptions of the accessibility tree.
fn texts(window: &Window) -> Vec<String> {
    let mut all = Vec::new();
    let mut waiting = vec![window.harness.root().accesskit_node()];
    while let Some(node) = waiting.pop() {
        all.extend([node.label(), node.value(), node.description()].into_iter().flatten());
        waiting.extend(node.children());
    }
    all
}

fn paper() -> Protocol {
    Protocol::Rubric { rubric: Rubric::paper() }
}

fn answers(judgements: &[Judgement]) -> Vec<&Answer> {
    judgements.iter().map(|said| &said.answer).collect()
}

#[test]
fn a_rubric_session_goes_by_keys_from_beginning_to_end() {
    let bench = Bench::new(1);
    let uid = bench.session(paper(), |_| {});
    let mut window = bench.window("ann");
    window.key(Key::V);
    assert_eq!(window.state().page, Page::Rate);
    window.key(Key::Enter);
    window.harness.get_by_label("0 of 4");
    for key in [Key::Num5, Key::Num4, Key::Num3, Key::Num0] {
        window.key(key);
    }
    // Not complete: nothing is kept, and what is missing is said.
    window.key(Key::Enter);
    window.harness.get_by_label("Still open: overall. 0 says “can’t judge”.");
    assert!(bench.project().session_log(&uid).unwrap().is_empty());
    window.key(Key::Num2);
    window.key(Key::Enter);
    window.harness.get_by_label("1 of 4");
    window.key(Key::S);
    window.harness.get_by_label("1 of 4, 1 skipped");
    window.key(Key::X);
    (0..5).for_each(|_| window.key(Key::Num1));
    window.key(Key::Enter);
    // Back to the skipped one.
    window.harness.get_by_label("3 of 4, 1 skipped");
    (0..5).for_each(|_| window.key(Key::Num3));
    window.key(Key::Enter);
    window.harness.get_by_label("✔ Done, thank you");

    let log = bench.project().session_log(&uid).unwrap();
    assert_eq!(log.len(), 5, "four answers and a skip: {log:?}");
    assert!(log.iter().all(|said| said.rater == "ann" && !said.visible.models && !said.visible.scores));
    let Answer::Rubric { values, cannot_judge } = &log[0].answer else { panic!("{:?}", log[0]) };
    assert_eq!((values["modification"], values["overall"], cannot_judge.as_slice()), (5.0, 2.0, &["position".to_owned()][..]));
    assert_eq!((&log[1].answer, &log[2].answer), (&Answer::Skipped, &Answer::CannotJudge));
    // Three answer sets are ratings that count in the queue.
    window.key(Key::Enter);
    let project = bench.project();
    let mine =
        |edit: &editscope::storage::StoredEdit| project.latest_ratings(edit.id).unwrap().into_iter().filter(|r| r.rater == "ann").count();
    assert_eq!(project.edits().unwrap().iter().map(mine).sum::<usize>(), 3);
    assert_eq!(window.state().people.sessions.as_ref().map(Vec::len), Some(1));
    window.harness.get_by_label("4 of 4 answered · answers of ann");
}

#[test]
fn a_pairwise_session_goes_by_keys_and_can_be_corrected() {
    let bench = Bench::new(1);
    let uid = bench.session(Protocol::Pairwise, |_| {});
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::Enter);
    // Four edits make six pairs; one key is one answer.
    window.harness.get_by_label("0 of 6");
    for key in [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num0] {
        window.key(key);
    }
    window.key(Key::Backspace);
    window.harness.get_by_label("Answered before; saving again corrects it, both are kept.");
    window.key(Key::Num1);
    window.key(Key::Num2);
    window.harness.get_by_label("✔ Done, thank you");
    let log = bench.project().session_log(&uid).unwrap();
    let votes = [Preference::First, Preference::Second, Preference::Tie, Preference::BothBad].map(Answer::Pair);
    let expected = [&votes[0], &votes[1], &votes[2], &votes[3], &Answer::CannotJudge, &votes[0], &votes[1]];
    assert_eq!(answers(&log), expected);
    assert_eq!(log[4].task, log[5].task, "the correction is of the same pair");
}

#[test]
fn a_ranking_session_goes_by_keys_with_ties() {
    let bench = Bench::new(2);
    let uid = bench.session(Protocol::Ranking, |_| {});
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::Enter);
    for key in [Key::Num2, Key::Num2, Key::Num4] {
        window.key(key);
    }
    window.key(Key::Enter);
    window.harness.get_by_label("No rank yet: D.");
    window.key(Key::Num1);
    window.harness.get_by_label("Edit D: rank 1");
    window.key(Key::ArrowUp);
    window.key(Key::ArrowUp);
    window.key(Key::Enter);
    window.key(Key::X);
    window.harness.get_by_label("✔ Done, thank you");
    let log = bench.project().session_log(&uid).unwrap();
    assert_eq!(answers(&log), [&Answer::Ranking(vec![2, 2, 4, 1]), &Answer::CannotJudge]);
    assert_eq!(log[0].shown.len(), 4);
}

#[test]
fn an_edit_is_dragged_to_its_rank() {
    let bench = Bench::new(1);
    bench.session(Protocol::Ranking, |_| {});
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::Enter);
    let from = window.harness.get_by_label("Edit B: no rank").rect().center();
    let to = window.harness.get_by_label("1 best").rect().center() + egui::vec2(90.0, 0.0);
    window.harness.hover_at(from);
    window.harness.drag_at(from);
    window.harness.run_steps(2);
    window.harness.hover_at(from.lerp(to, 0.5));
    window.harness.run_steps(2);
    window.harness.hover_at(to);
    window.harness.run_steps(2);
    window.harness.drop_at(to);
    window.settle();
    window.harness.get_by_label("Edit B: rank 1");
}

#[test]
fn blind_means_no_model_and_no_score_anywhere() {
    let bench = Bench::new(1);
    bench.session(paper(), |setup| setup.checks = 1);
    let mut window = bench.window("ann");
    // What is looked for is there before.
    let before = bench.leaks(&window);
    assert!(before.iter().any(|text| text.contains(&bench.models[0])) && before.iter().any(|text| text.contains("0.")), "{before:?}");
    window.key(Key::V);
    window.key(Key::Enter);
    for _ in 0..2 {
        assert_eq!(bench.leaks(&window), Vec::<String>::new());
        // The other pages are closed, and so is the way through search and the key sheet.
        for key in [Key::A, Key::G] {
            window.key(key);
            window.harness.get_by_label("A blind session is underway");
            assert_eq!(bench.leaks(&window), Vec::<String>::new());
        }
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
        window.settle();
        assert_eq!(bench.leaks(&window), Vec::<String>::new());
        window.key(Key::V);
        (0..5).for_each(|_| window.key(Key::Num4));
        window.key(Key::Enter);
    }
    // Who looks behind the blind is let, and it is written down.
    window.key(Key::A);
    window.harness.get_by_label("Show models and scores").click();
    window.settle();
    assert!(!bench.leaks(&window).is_empty());
    window.key(Key::V);
    (0..5).for_each(|_| window.key(Key::Num4));
    window.key(Key::Enter);
    let log = bench.project().judgements().unwrap();
    let seen: Vec<bool> = log.iter().map(|said| said.visible.models).collect();
    assert_eq!((seen, &log[2].answer), (vec![false, false, false, true], &Answer::Unblinded));
}

#[test]
fn without_the_blind_models_and_scores_are_shown_beside_the_pictures() {
    let bench = Bench::new(1);
    bench.session(Protocol::Pairwise, |setup| setup.blind = false);
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::Enter);
    let shown = bench.leaks(&window);
    assert!(shown.iter().any(|text| text.starts_with("A · ")), "{shown:?}");
    window.key(Key::Num1);
    let log = bench.project().judgements().unwrap();
    assert!(log[0].visible.models && log[0].visible.scores);
}

#[test]
fn an_interrupted_blind_session_is_resumed_at_its_task_before_any_score_is_seen() {
    let bench = Bench::new(1);
    let uid = bench.session(paper(), |_| {});
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::Enter);
    (0..5).for_each(|_| window.key(Key::Num4));
    window.key(Key::Enter);
    (0..3).for_each(|_| window.key(Key::Num1));
    let task = |window: &Window| window.state().people.open.as_ref().and_then(|open| Some(open.run.task()?.key.clone()));
    let before = task(&window);
    drop(window);
    let window = bench.window("ann");
    assert_eq!((window.state().page, task(&window)), (Page::Rate, before));
    window.harness.get_by_label("1 of 4");
    assert_eq!(bench.leaks(&window), Vec::<String>::new());
    assert_eq!(bench.project().session_log(&uid).unwrap().len(), 1, "the half-filled form left nothing");
    drop(window);
    // Another rater is not in it.
    assert_eq!(bench.window("bob").state().page, Page::Audit);
}

#[test]
fn typing_a_comment_presses_no_keys_and_goes_with_the_answer() {
    let bench = Bench::new(1);
    let uid = bench.session(paper(), |_| {});
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::Enter);
    (0..5).for_each(|_| window.key(Key::Num4));
    window.key(Key::C);
    for (text, key) in [("x", Key::X), ("s", Key::S), ("1", Key::Num1), ("v", Key::V)] {
        window.harness.event(egui::Event::Text(text.into()));
        window.harness.key_press(key);
        window.settle();
    }
    assert!(bench.project().session_log(&uid).unwrap().is_empty());
    window.key(Key::Escape);
    window.key(Key::Enter);
    let log = bench.project().session_log(&uid).unwrap();
    assert_eq!((log.len(), log[0].comment.as_str()), (1, "xs1v"));
}

#[test]
fn agreement_is_shown_after_an_answer_and_only_where_the_setup_says_so() {
    let bench = Bench::new(1);
    let uid = bench.session(Protocol::Pairwise, |setup| (setup.blind, setup.live_agreement) = (false, true));
    let mut bob = bench.window("bob");
    bob.key(Key::V);
    bob.key(Key::Enter);
    (0..6).for_each(|_| bob.key(Key::Num3));
    drop(bob);
    let mut ann = bench.window("ann");
    ann.key(Key::V);
    ann.key(Key::Enter);
    assert!(ann.harness.query_by_label("2 raters").is_none(), "never before an answer");
    ann.key(Key::Num3);
    ann.harness.get_by_label("2 raters");
    ann.harness.get_by_label("100 %");
    assert_eq!(bench.project().session_log(&uid).unwrap().len(), 7);
}

#[test]
fn a_session_is_set_up_from_the_queue_and_begun() {
    let bench = Bench::new(3);
    let mut window = bench.window("ann");
    let model = window.state().queue.models()[0].clone();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    window.settle();
    window.harness.event(egui::Event::Text(model.to_string()));
    window.settle();
    window.key(Key::Escape);
    window.key(Key::V);
    window.key(Key::N);
    // Twelve edits, a tenth of them again.
    window.harness.get_by_label("13 tasks for each rater, with 1 of them repeated, about 12 edits");
    window.harness.get_by_label("the 3 that the queue shows").click();
    window.settle();
    window.harness.get_by_label("3 tasks for each rater, about 3 edits");
    window.harness.get_by_label("Protocol Pairwise").click();
    window.settle();
    window.harness.get_by_label("⚠ no item has two edits to compare");
    window.harness.get_by_label("Protocol Rubric").click();
    window.settle();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.settle();
    window.harness.get_by_label("0 of 3");
    let sessions = bench.project().sessions().unwrap();
    let setup = &sessions[0].setup;
    assert_eq!((setup.edits.len(), setup.created_by.as_str(), setup.blind), (3, "ann", true));
    assert!(setup.which.contains("3 of 12 edits"), "{}", setup.which);
}

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
        found.raters.iter().map(|rater| (rater.name.as_str(), rater.bias.value().copied())).collect::<Vec<_>>(),
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
fn a_rubric_is_changed_in_the_window_and_kept_as_it_was_changed() {
    let bench = Bench::new(1);
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::N);
    let change = |window: &mut Window, label: &str, text: &str| {
        window.harness.get_by_label(label).focus();
        window.settle();
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        window.harness.event(egui::Event::Text(text.into()));
        window.settle();
    };
    change(&mut window, "Rubric name", "Ours");
    window.harness.get_by_label("Edit question 5").click();
    window.settle();
    change(&mut window, "Name in files", "taste");
    change(&mut window, "Asks", "Do you like it?");
    change(&mut window, "Meaning of point 1", "no");
    window.harness.get_by_label("required").click();
    window.settle();
    // Below the lower edge of the page: reached by Tab, not by the mouse.
    window.harness.get_by_label("Add a point").click_accesskit();
    window.settle();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.settle();
    window.harness.get_by_label("0 of 4");
    let setup = bench.project().sessions().unwrap().remove(0).setup;
    let rubric = setup.protocol.rubric().unwrap();
    let paper = Rubric::paper();
    assert_eq!((rubric.name.as_str(), &rubric.questions[..4]), ("Ours", &paper.questions[..4]));
    let question = &rubric.questions[4];
    assert_eq!((question.name.as_str(), question.asks.as_str(), question.required), ("taste", "Do you like it?", false));
    assert_eq!((question.scale[0].anchor.as_str(), question.scale.len(), question.scale[5].value), ("no", 6, 6.0));
    assert_ne!(rubric.version(), paper.version());
    // The optional question may stay open.
    for key in [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Enter] {
        window.key(key);
    }
    let log = bench.project().judgements().unwrap();
    let Answer::Rubric { values, .. } = &log[0].answer else { panic!("{log:?}") };
    assert_eq!((values.len(), log[0].rubric.as_ref().map(|id| id.version.clone())), (4, Some(rubric.version())));
}

#[test]
fn presets_are_offered_with_their_scales() {
    let bench = Bench::new(1);
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::N);
    for preset in [Rubric::imagenhub(), Rubric::edit_reward()] {
        window.harness.get_by_label("Start from").click();
        window.settle();
        window.harness.get_by_label(&preset.name).click();
        window.settle();
        let draft = window.state().people.draft.as_ref().unwrap();
        assert_eq!(draft.setup.protocol.rubric(), Some(&preset));
    }
    let scales: Vec<Vec<f64>> = [Rubric::imagenhub(), Rubric::edit_reward()]
        .iter()
        .map(|rubric| rubric.questions[0].scale.iter().map(|point| point.value).collect())
        .collect();
    // Ku et al. (ICLR 2024): SC and PQ in {0, 0.5, 1}; EditReward (2025): 1 to 4.
    assert_eq!(scales, [vec![0.0, 0.5, 1.0], vec![1.0, 2.0, 3.0, 4.0]]);
}

/// A store whose disk fails when it is told to.
struct Failing {
    inner: ProjectStore,
    fails: Arc<AtomicBool>,
}

impl Store for Failing {
    fn open(&mut self, path: &Path) -> Result<StoreInfo, String> {
        self.inner.open(path)
    }

    fn rows(&mut self, shown: &Shown) -> Result<Vec<Row>, String> {
        self.inner.rows(shown)
    }

    fn details(&mut self, id: RowId, shown: &Shown) -> Result<EditDetails, String> {
        self.inner.details(id, shown)
    }

    fn save_parse(&mut self, id: RowId, parse: &Parse, who: &str) -> Result<(), String> {
        self.inner.save_parse(id, parse, who)
    }

    fn save_rating(&mut self, id: RowId, rating: &Rating) -> Result<(), String> {
        self.inner.save_rating(id, rating)
    }

    fn export(&mut self, to: &Path, shown: &Shown) -> Result<String, String> {
        self.inner.export(to, shown)
    }

    fn regions(&mut self) -> &mut dyn editscope::gui::region_store::RegionStore {
        self.inner.regions()
    }

    fn people(&mut self, request: PeopleRequest) -> PeopleEvent {
        match request {
            PeopleRequest::Keep { judgement, .. } if self.fails.load(Ordering::Relaxed) => {
                PeopleEvent::Kept { judgement, result: Err("the disk is full".into()) }
            }
            request => self.inner.people(request),
        }
    }
}

#[test]
fn an_answer_that_cannot_be_kept_is_said_and_stays_on_the_form() {
    let bench = Bench::new(1);
    let uid = bench.session(paper(), |_| {});
    let fails = Arc::new(AtomicBool::new(true));
    let mut window = bench.window_on("ann", Box::new(Failing { inner: ProjectStore::default(), fails: Arc::clone(&fails) }));
    window.key(Key::V);
    window.key(Key::Enter);
    (0..5).for_each(|_| window.key(Key::Num4));
    window.key(Key::Enter);
    window.harness.get_by_label("The answer is not saved: the disk is full");
    window.harness.get_by_label("0 of 4");
    fails.store(false, Ordering::Relaxed);
    window.key(Key::Enter);
    window.harness.get_by_label("1 of 4");
    let log = bench.project().session_log(&uid).unwrap();
    let Answer::Rubric { values, .. } = &log[0].answer else { panic!("{log:?}") };
    assert_eq!((log.len(), values["overall"], log[0].role), (1, 4.0, TaskRole::Plain));
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
