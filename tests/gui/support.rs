//! A window with a store and an engine that tests control.
//!
//! The store holds the demo's pictures with scores made from its true boxes (not from networks), so that nothing here needs a
//! checkpoint. The engine decodes pictures for real and "scores" by handing out those scores.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use editscope::engine::scored_by::ScoredBy;
use editscope::engine::{Event, ModelSource};
use editscope::gui::settings::{Settings, ThemeChoice};
use editscope::gui::store::Store;
use editscope::gui::{App, Parts as WindowParts};
use egui_kittest::Harness;

use fake_engine::{AuditAnswers, FakeEngine, PicturesAsked};
use region_memory::Journal;
pub use sample_store::{SampleStore, demo_folder};
use sample_store::{Scores, Written};

// Named by their paths, because the bench includes this file too.
#[path = "fake_engine.rs"]
mod fake_engine;
#[path = "region_memory.rs"]
mod region_memory;
#[path = "sample_store.rs"]
mod sample_store;

/// A window under test.
pub struct Window {
    pub harness: Harness<'static, App>,
    pub written: Arc<Mutex<Written>>,
    pub asked: Rc<RefCell<Vec<String>>>,
    pub regions: Arc<Mutex<Journal>>,
    pub audit: Rc<RefCell<AuditAnswers>>,
    pub pictures: Rc<RefCell<PicturesAsked>>,
    late: Rc<RefCell<VecDeque<Event>>>,
}

/// What a window under test begins with.
pub struct Setup {
    pub edits: usize,
    pub scored: bool,
    pub open: Option<PathBuf>,
    pub rater: &'static str,
    pub size: [f32; 2],
    pub pixels_per_point: f32,
    pub light: bool,
    /// A data set in place of the demo.
    pub data: Option<PathBuf>,
    /// The engine with its threads in place of one that answers at once.
    pub real_engine: bool,
    /// The networks of the project's newest run.
    pub networks: Option<ScoredBy>,
    /// Networks that the person named when the window was opened.
    pub named: Option<ModelSource>,
    /// The range that was chosen in the project the last time.
    pub range: Option<&'static str>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            edits: 96,
            scored: true,
            open: Some("demo.editscope".into()),
            rater: "ann",
            size: [1280.0, 800.0],
            pixels_per_point: 1.0,
            light: false,
            data: None,
            real_engine: false,
            networks: None,
            named: None,
            range: None,
        }
    }
}

impl Window {
    /// Opens a window, with the demo open and read unless told otherwise.
    pub fn open(setup: Setup) -> Self {
        let written = Arc::new(Mutex::new(Written::default()));
        let scores = Scores::default();
        let corrected = Scores::default();
        let folder = setup.data.clone().unwrap_or_else(demo_folder);
        let mut store = SampleStore::new(&folder, setup.edits, setup.scored, Arc::clone(&written), Arc::clone(&scores));
        store.corrected = Arc::clone(&corrected);
        store.networks = setup.networks.clone();
        let regions = Arc::clone(&store.regions.0);
        Self::with(setup, Box::new(store), written, scores, corrected, regions)
    }

    /// Opens a window on a store that the test brings.
    pub fn with_store(setup: Setup, store: Box<dyn Store>) -> Self {
        Self::with(setup, store, Arc::default(), Scores::default(), Scores::default(), Arc::default())
    }

    fn with(
        setup: Setup,
        store: Box<dyn Store>,
        written: Arc<Mutex<Written>>,
        scores: Scores,
        corrected: Scores,
        regions: Arc<Mutex<Journal>>,
    ) -> Self {
        let asked = Rc::new(RefCell::new(Vec::new()));
        let pictures = Rc::<RefCell<PicturesAsked>>::default();
        let (audit, events) = (Rc::<RefCell<AuditAnswers>>::default(), Rc::<RefCell<VecDeque<Event>>>::default());
        let engine = FakeEngine {
            events: Rc::clone(&events),
            tokens: Cell::new(0),
            scores,
            asked: Rc::clone(&asked),
            audit: Rc::clone(&audit),
            corrected,
            pictures: Rc::clone(&pictures),
        };
        let theme = if setup.light { ThemeChoice::Light } else { ThemeChoice::Dark };
        let (models_given, models) = (setup.named.is_some(), setup.named.clone().unwrap_or_default());
        let ranges = setup.open.iter().zip(setup.range).map(|(path, range)| (path.clone(), range.to_owned())).collect();
        let settings = Settings { rater: setup.rater.into(), theme, models, models_given, ranges, ..Settings::default() };
        let mut parts = WindowParts {
            engine: Box::new(engine),
            store,
            settings,
            settings_file: None,
            open: setup.open,
            score: false,
            screenshot: None,
        };
        let harness = Harness::builder()
            .with_size(egui::Vec2::from(setup.size))
            .with_pixels_per_point(setup.pixels_per_point)
            .with_theme(if setup.light { egui::Theme::Light } else { egui::Theme::Dark })
            .with_max_steps(200)
            // A screen's frame: two clicks in a row are as near as those of a person.
            .with_step_dt(1.0 / 60.0)
            .build_eframe(move |creation| {
                if setup.real_engine {
                    let repaint = creation.egui_ctx.clone();
                    parts.engine = Box::new(editscope::engine::Engine::start(Arc::new(move || repaint.request_repaint())).unwrap());
                }
                App::new(&creation.egui_ctx, parts).unwrap()
            });
        let mut window = Self { harness, written, asked, regions, audit, pictures, late: events };
        // The store of the tests takes its time with very many edits.
        window.settle_within(Duration::from_secs(if setup.edits > 10_000 { 300 } else { 60 }));
        window
    }

    /// Steps until nothing is on its way. Threads are really waited for, so this has a limit.
    pub fn settle(&mut self) {
        self.settle_within(Duration::from_secs(60));
    }

    /// As [`Self::settle`], with another limit.
    pub fn settle_within(&mut self, limit: Duration) {
        let began = Instant::now();
        let mut calm = 0;
        while calm < 4 {
            assert!(began.elapsed() < limit, "the window does not settle");
            self.harness.step();
            calm = if self.harness.state().is_settled() { calm + 1 } else { 0 };
            if calm == 0 {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }

    /// Has the late answers of the engine arrive.
    pub fn let_go(&mut self) {
        let held: Vec<Event> = self.audit.borrow_mut().held.drain(..).collect();
        self.late.borrow_mut().extend(held);
        self.settle();
    }

    /// Has the pictures arrive that were held back.
    pub fn let_pictures_go(&mut self) {
        let held = {
            let mut pictures = self.pictures.borrow_mut();
            pictures.hold = false;
            std::mem::take(&mut pictures.held)
        };
        let answers = held.into_iter().map(|request| Event::Canvas(editscope::engine::pictures::answer(request)));
        self.late.borrow_mut().extend(answers);
        self.settle();
    }

    /// Has an event of the engine arrive.
    pub fn told(&mut self, event: Event) {
        self.late.borrow_mut().push_back(event);
        self.settle();
    }

    /// The application's state.
    pub fn state(&self) -> &editscope::gui::state::State {
        self.harness.state().state()
    }

    /// Presses a key and lets the window react.
    pub fn key(&mut self, key: egui::Key) {
        self.harness.key_press(key);
        self.settle();
    }
}
