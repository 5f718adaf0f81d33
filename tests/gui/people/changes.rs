//! Rubrics that are changed in the window, presets, and answers that cannot be kept.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use editscope::domain::{Answer, Judgement, Parse, Rating, Rubric, TaskRole};
use editscope::editor::{EditDetails, Row, RowId};
use editscope::gui::people::{PeopleEvent, PeopleRequest};
use editscope::gui::project_store::ProjectStore;
use editscope::gui::store::{Keeper, Shown, Store, StoreInfo};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;

use crate::support::Window;

use super::{Bench, paper};

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

    fn export(&mut self, to: &Path, shown: &Shown) -> Result<String, String> {
        self.inner.export(to, shown)
    }

    fn keeper(&mut self) -> Box<dyn Keeper> {
        Box::new(FailingKeeper { inner: self.inner.keeper(), fails: Arc::clone(&self.fails) })
    }

    fn people(&mut self, request: PeopleRequest) -> PeopleEvent {
        self.inner.people(request)
    }
}

struct FailingKeeper {
    inner: Box<dyn Keeper>,
    fails: Arc<AtomicBool>,
}

impl Keeper for FailingKeeper {
    fn open(&mut self, path: &Path) -> Result<(), String> {
        self.inner.open(path)
    }

    fn regions(&mut self) -> &mut dyn editscope::gui::region_store::RegionStore {
        self.inner.regions()
    }

    fn save_rating(&mut self, id: RowId, rating: &Rating) -> Result<(), String> {
        self.inner.save_rating(id, rating)
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
fn checks_that_no_question_can_judge_are_told_when_the_session_is_made_and_nobody_fails_them() {
    let bench = Bench::new(1);
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::N);
    let checks = |window: &mut Window, text: &str| {
        window.harness.get_by_label("Checks").focus();
        window.settle();
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        window.harness.event(egui::Event::Text(text.into()));
        window.settle();
    };
    checks(&mut window, "1");
    window.harness.get_by_label("judged by: modification, preservation");
    // A rubric of which no question knows the answer about the unedited source.
    for number in [1, 2] {
        window.harness.get_by_label(&format!("Edit question {number}")).click_accesskit();
        window.settle();
        window.harness.get_by_label("For the unedited source").click_accesskit();
        window.settle();
        window.harness.get_by_label("it cannot tell").click();
        window.settle();
    }
    window.harness.get_by_label_contains("⚠ No question can tell that nothing was edited, so checks will not be judged.");
    drop(window);

    let mut rubric = Rubric::paper();
    rubric.questions.iter_mut().for_each(|question| question.unedited = editscope::domain::Unedited::Unknown);
    bench.session(editscope::domain::Protocol::Rubric { rubric }, |setup| setup.checks = 1);
    let mut window = bench.window("bob");
    window.key(Key::V);
    window.key(Key::Enter);
    for key in [Key::Num4, Key::Num4, Key::Num4, Key::Num4, Key::Num4, Key::Enter].repeat(5) {
        window.key(key);
    }
    window.harness.get_by_label("✔ Done, thank you");
    window.harness.get_by_label("1 check not judged: no answered question can tell that nothing was edited");
    assert!(window.harness.query_by_label("0 of 1 passed").is_none());
}

#[test]
fn what_was_said_in_a_blind_session_is_not_saved_again_by_the_rate_tab() {
    let bench = Bench::new(1);
    let rubric = Rubric::paper();
    let mut judged = None;
    let uid = bench.session(editscope::domain::Protocol::Rubric { rubric: rubric.clone() }, |setup| {
        setup.edits.truncate(1);
        judged = setup.edits.first().cloned();
    });
    let judged = judged.unwrap();
    let said = Judgement {
        session: uid,
        rater: "ann".into(),
        item: judged.item,
        shown: vec![judged.edit.clone()],
        task: format!("edit:{}", judged.edit),
        role: TaskRole::Plain,
        answer: Answer::Rubric { values: [("modification".to_owned(), 2.0), ("overall".to_owned(), 4.0)].into(), cannot_judge: Vec::new() },
        comment: String::new(),
        place: 1,
        seconds: 3.0,
        at_millis: 1,
        visible: Default::default(),
        rubric: Some((&rubric).into()),
    };
    bench.project().add_judgement(&said).unwrap();
    let id = bench.project().edit_by_key(&judged.edit).unwrap().unwrap();
    // The demo's simulated raters have answers too.
    let history = || -> Vec<_> {
        let all = bench.project().rating_history(id).unwrap();
        all.into_iter().filter(|stored| stored.rating.rater == "ann").collect()
    };
    let mut window = bench.window("ann");
    assert_eq!(window.state().queue.selected(), Some(RowId(id.0)));
    window.key(Key::F4);
    window.harness.get_by_label_contains("You answered in a session, under “BPM, five criteria 1–5”. Rated: modification 2, overall 4.");
    // A slip of the key takes nothing away.
    window.key(Key::Num3);
    assert_eq!(history().len(), 1);
    window.key(Key::Num3);
    let kept = history();
    assert_eq!(kept.len(), 2);
    let newest = &kept[0].rating;
    assert_eq!(newest.values, BTreeMap::from([("modification".to_owned(), 3.0)]), "only what was asked here");
    let context = newest.context.as_ref().unwrap();
    assert_eq!(context.rubric, Some((&Rubric::paper()).into()));
    assert!(context.session.is_none() && context.visible.as_ref().is_some_and(|visible| visible.models && visible.scores));
    // What was not asked again here goes on counting as it was said there.
    let counting: Vec<_> = bench.project().latest_ratings(id).unwrap().into_iter().filter(|rating| rating.rater == "ann").collect();
    assert_eq!(
        counting.iter().map(|rating| rating.values.clone()).collect::<Vec<_>>(),
        [BTreeMap::from([("overall".to_owned(), 4.0)]), BTreeMap::from([("modification".to_owned(), 3.0)]),]
    );
}

#[test]
fn the_rate_tab_takes_cannot_judge_and_its_seconds_have_no_breaks() {
    let mut window = Window::open(crate::support::Setup::default());
    window.key(Key::Num5);
    window.key(Key::Num0);
    window.harness.get_by_label("size can’t judge").click();
    window.settle();
    let last = |window: &Window| window.written.lock().unwrap().ratings.last().cloned().unwrap().1;
    let rating = last(&window);
    let context = rating.context.clone().unwrap();
    assert_eq!(rating.values, BTreeMap::from([("modification".to_owned(), 5.0)]));
    assert_eq!(context.cannot_judge, ["preservation", "size"]);
    let before = context.seconds.expect("the pictures are shown");
    // Ten seconds of frames while another window is in front.
    window.harness.input_mut().focused = false;
    (0..600).for_each(|_| window.harness.step());
    window.harness.input_mut().focused = true;
    window.key(Key::Num2);
    let after = last(&window).context.unwrap().seconds.unwrap();
    assert!(after >= before && after < before + 5.0, "{before} {after}");
}

#[test]
fn the_blind_is_taken_off_and_agreement_stays_as_it_was() {
    let bench = Bench::new(1);
    let mut window = bench.window("ann");
    window.key(Key::V);
    window.key(Key::N);
    let chosen = |window: &Window| window.state().people.draft.as_ref().map(|draft| (draft.setup.blind, draft.setup.live_agreement));
    assert_eq!(chosen(&window), Some((true, false)));
    window.harness.get_by_label("hide the names of models and all scores").click();
    window.settle();
    assert_eq!(chosen(&window), Some((false, false)));
}

#[test]
fn lines_of_sessions_end_before_their_buttons_and_keys_before_the_edge() {
    let bench = Bench::new(1);
    let which = "the 4 edits that the queue shows ".repeat(8);
    bench.session(paper(), |setup| (setup.blind, setup.which, setup.checks) = (false, which.clone(), 2));
    let mut window = bench.window("ann");
    window.key(Key::V);
    let line = window.harness.get_by_label_contains("the 4 edits that").rect();
    let archive = window.harness.get_by_label("Archive: Round one").rect();
    assert!(line.right() <= archive.left(), "{line:?} runs under {archive:?}");
    window.key(Key::Enter);
    let keys = ["0–9 answer, as the buttons say", "Space hold: source", "F Z fit, 1:1"];
    for key in keys {
        let rect = window.harness.get_by_label(key).rect();
        assert!(rect.right() <= 1280.0 - 12.0 && rect.bottom() <= 800.0, "{key}: {rect:?}");
    }
}
