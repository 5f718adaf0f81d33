//! Rubrics that are changed in the window, presets, and answers that cannot be kept.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use editscope::domain::{Answer, Parse, Rating, Rubric, TaskRole};
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
