//! Rating sessions in the window, on a real project, from the keyboard alone.

use std::path::{Path, PathBuf};

use editscope::domain::{
    Answer, BoxesBySide, Judgement, Outcome, Parse, Parts, Preference, Profile, Protocol, Rubric, Score, SessionEdit, SessionSetup,
};
use editscope::gui::project_store::ProjectStore;
use editscope::gui::state::Page;
use editscope::gui::store::Store;
use editscope::storage::{NewRun, Project, RunKind};
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::support::{Setup, Window};

mod changes;
mod results;

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
                said: Vec::new(),
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
fn an_edit_is_moved_to_any_rank_by_arrows() {
    let bench = Bench::new(1);
    let uid = bench.session(Protocol::Ranking, |_| {});
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::Enter);
    // A comes in as the best and goes down to 3; B comes in from below; C and D are first and second.
    for key in [Key::ArrowRight, Key::ArrowRight, Key::ArrowRight, Key::ArrowDown, Key::ArrowLeft, Key::ArrowDown, Key::ArrowRight] {
        window.key(key);
    }
    window.harness.get_by_label("Edit A: rank 3");
    window.harness.get_by_label("Edit B: rank 4");
    for key in [Key::ArrowDown, Key::ArrowRight, Key::ArrowRight, Key::Enter] {
        window.key(key);
    }
    assert_eq!(answers(&bench.project().session_log(&uid).unwrap()), [&Answer::Ranking(vec![3, 4, 1, 2])]);
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
