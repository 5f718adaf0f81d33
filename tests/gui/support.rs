//! A window with a store and an engine that tests control.
//!
//! The store holds the demo's pictures with scores made from its true boxes (not from networks), so that nothing here needs a
//! checkpoint. The engine decodes pictures for real and "scores" by handing out those scores.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use editscope::domain::rle::Rle;
use editscope::domain::{
    Baselines, BoxesBySide, Detection, EditType, Item, Mask, Outcome, PaperWeights, Parse, Parts, Point, Profile, Range, Rating, Rect,
    Score, Size, TokenMatch, TraceKind, TraceStep, Triage, Zoned, columns,
};
use editscope::editor::{
    Audit, Automatic, Cell as TableCell, Columns, Combined, EditDetails, Flag, Flags, HistoryLine, PictureState, Row, RowId,
};
use editscope::engine::audit::{AuditEvent, AuditRequest, PastedBack, Sensitivity};
use editscope::engine::evidence::{self, Gathered};
use editscope::engine::{
    CanvasEvent, CanvasRequest, Event, Partial, Pending, PictureToken, Pixels, PromptEvent, PromptRequest, Request, RunToken,
};
use editscope::engine::{combine, fit_range};
use editscope::gui::agreement::{AgreementEvent, AgreementRequest, EvidenceJob, nothing_kept};
use editscope::gui::engine_link::EngineLink;
use editscope::gui::region_store::RegionStore;
use editscope::gui::settings::{Settings, ThemeChoice};
use editscope::gui::store::{Shown, Store, StoreInfo};
use editscope::gui::{App, Parts as WindowParts};
use editscope::imaging::decode::{DecodeOptions, decode};
use editscope::stats::comparison::Subject;
use editscope::storage::EditId;
use egui_kittest::Harness;

use region_memory::{Journal, MemoryRegions};

// Named by its path, because the bench includes this file too.
#[path = "region_memory.rs"]
mod region_memory;

/// What was written to the store, for tests to look at.
#[derive(Default)]
pub struct Written {
    pub ratings: Vec<(RowId, Rating)>,
    pub parses: Vec<(RowId, Parse)>,
}

/// The demo as a store.
pub struct SampleStore {
    items: Vec<Item>,
    truth: HashMap<String, serde_json::Value>,
    /// Scores by row; removed ones are "not scored yet".
    scores: HashMap<RowId, Arc<Score>>,
    ratings: HashMap<RowId, Vec<Rating>>,
    parses: HashMap<RowId, Parse>,
    written: Arc<Mutex<Written>>,
    shared: Scores,
    pub regions: MemoryRegions,
    /// Scores that count in place of the automatic ones.
    corrected: Scores,
}

/// Scores that the engine's "run" puts into the store.
pub type Scores = Arc<Mutex<HashMap<RowId, Arc<Score>>>>;

fn demo_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo")
}

impl SampleStore {
    /// The data in `folder` (the demo, or pairs without truth) repeated until it has at least `edits` edits.
    pub fn new(folder: &Path, edits: usize, scored: bool, written: Arc<Mutex<Written>>, shared: Scores) -> Self {
        let dataset = editscope::datasets::read(folder, None).unwrap();
        let mut items = Vec::new();
        while items.iter().map(|item: &Item| item.edits.len()).sum::<usize>() < edits {
            let copy = items.len() / dataset.items.len();
            items.extend(dataset.items.iter().cloned().map(|mut item| {
                item.key.0 = format!("{}-{copy}", item.key.0);
                item
            }));
        }
        let truth = std::fs::read_to_string(folder.join("truth.jsonl")).unwrap_or_default();
        let truth = truth
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|line| (line["picture"].as_str().unwrap().to_owned(), line))
            .collect();
        let mut store = Self {
            items,
            truth,
            scores: HashMap::new(),
            ratings: HashMap::new(),
            parses: HashMap::new(),
            written,
            shared,
            regions: MemoryRegions::default(),
            corrected: Scores::default(),
        };
        store.ratings = store.edits().map(|(id, _, edit)| (id, edit.ratings.clone())).collect();
        store.parses = store.edits().map(|(id, item, _)| (id, item.parse.clone().unwrap_or_default())).collect();
        // Copies of the demo share their scores.
        let mut made: HashMap<editscope::domain::EditKey, Arc<Score>> = HashMap::new();
        let mut score_of = |item: &Item, edit: &editscope::domain::Edit| {
            Arc::clone(made.entry(edit.key.clone()).or_insert_with(|| Arc::new(store.made_up(item, edit))))
        };
        let scores: HashMap<_, _> = store.edits().map(|(id, item, edit)| (id, score_of(item, edit))).collect();
        if scored {
            store.scores = scores;
        } else {
            *store.shared.lock().unwrap() = scores;
        }
        store
    }

    /// Every edit with its item, in the order of the rows; borrowed, because tests of 100,000 edits ask for them again and again.
    fn edits(&self) -> impl Iterator<Item = (RowId, &Item, &editscope::domain::Edit)> {
        let pairs = self.items.iter().flat_map(|item| item.edits.iter().map(move |edit| (item, edit)));
        pairs.enumerate().map(|(index, (item, edit))| (RowId(index as i64 + 1), item, edit))
    }

    fn found(&self, given: &str, phrase: &str) -> Vec<Detection> {
        let Some(objects) = self.truth.get(given).and_then(|line| line["objects"].as_array()) else { return Vec::new() };
        let detection = |object: &serde_json::Value| {
            let edges: Vec<f32> = object["box"].as_array()?.iter().filter_map(|edge| Some(edge.as_f64()? as f32)).collect();
            let [x0, y0, x1, y1] = edges[..] else { return None };
            let name = object["phrase"].as_str()?;
            let wanted = phrase.contains(object["class"].as_str()?);
            Some(Detection {
                rect_in_image: Rect::new(x0, y0, x1, y1),
                phrase: name.to_owned(),
                confidence: if wanted { 0.87 } else { 0.12 },
                tokens: vec![TokenMatch { token: name.to_owned(), probability: if wanted { 0.87 } else { 0.12 } }],
            })
        };
        objects.iter().filter_map(detection).collect()
    }

    fn made_up(&self, item: &Item, edit: &editscope::domain::Edit) -> Score {
        let parse = item.parse.clone().unwrap_or_default();
        let people = |name: &str| edit.ratings.iter().filter_map(|r| r.values.get(name)).sum::<f64>() / 15.0;
        let adding = parse.kind() == EditType::Add;
        let source_phrase = if adding { &parse.being_added } else { &parse.original_part };
        let edit_phrase = if adding { &parse.added_object } else { &parse.edited_part };
        let candidates =
            BoxesBySide { source: self.found(&item.source.given, source_phrase), edit: self.found(&edit.picture.given, edit_phrase) };
        let used = |all: &[Detection]| all.iter().filter(|found| found.confidence > 0.3).cloned().collect::<Vec<_>>();
        let boxes = BoxesBySide { source: used(&candidates.source), edit: used(&candidates.edit) };
        let size = Size::new(448, 448);
        let inside = |x: u32, y: u32| {
            boxes.source.iter().chain(&boxes.edit).any(|found| {
                let r = found.rect_in_image;
                let (cx, cy) = ((r.x0 + r.x1) / 2.0, (r.y0 + r.y1) / 2.0);
                let (dx, dy) = ((x as f32 - cx) / (r.width() / 2.0), (y as f32 - cy) / (r.height() / 2.0));
                dx * dx + dy * dy <= 1.0
            })
        };
        let mask = Mask::from_fn(size, inside);
        let global = parse.is_global();
        let none = |why: &str| Outcome::NotApplicable(why.to_owned());
        let judged = |value: f64| if global { none("the whole picture was to change") } else { Outcome::Value(value) };
        let parts = Parts {
            size: judged((people("size") * 2.0).round() / 2.0),
            position: if boxes.edit.is_empty() && !global {
                none("the edit has no box to measure")
            } else {
                judged((people("position") * 2.0).round() / 2.0)
            },
            modify: Outcome::Value(people("modification") * 0.6 - 0.1),
            preserve: judged(0.7 + people("preservation") * 0.3),
        };
        let around = boxes.source.iter().chain(&boxes.edit).map(|found| found.rect_in_image).reduce(|a, b| a.enclosing(&b));
        let crop = around.map(|r| {
            let scale = 500.0 / 448.0;
            let (cx, cy, w, h) = (r.center().x * scale, r.center().y * scale, r.width() * 0.75 * scale, r.height() * 0.75 * scale);
            Rect::new((cx - w).max(0.0).floor(), (cy - h).max(0.0).floor(), (cx + w).min(500.0).floor(), (cy + h).min(500.0).floor())
        });
        let trace = trace(&parse, &boxes, &parts);
        Score {
            profile: Profile::Corrected,
            parts,
            global,
            parse,
            boxes,
            candidates,
            mask: (!global).then(|| Rle::from_mask(&mask)),
            crop_in_bpm500: crop.filter(|_| !global),
            trace,
            triage: Triage::default(),
        }
    }

    fn range(&self) -> Range {
        fit_range(Profile::Corrected, self.scores.values().map(Arc::as_ref), "demo", "96 edits of the demo")
    }

    /// What was automatic about a corrected edit.
    fn audit(&self, id: RowId, range: &Range) -> Audit {
        let automatic = self.corrected.lock().unwrap().get(&id).map(|_| self.scores[&id].clone());
        let automatic = automatic.map(|score| Automatic { combined: Some(self.combined(&score, range)), score });
        Audit { automatic, range: Some(range.clone()) }
    }

    fn combined(&self, score: &Score, range: &Range) -> Combined {
        let combined = combine(score, Some(range), PaperWeights::default());
        Combined {
            modify: combined.modify.value,
            preserve: combined.preserve.value,
            overall: combined.overall,
            range: range.fitted_on.clone(),
        }
    }
}

fn flags(score: &Score) -> Flags {
    let mut flags = Flags::NONE;
    flags.set(Flag::NoBox, !score.global && score.boxes.edit.is_empty());
    flags.set(Flag::Fallback, score.trace.iter().any(|step| step.fallback));
    flags
}

fn step(kind: TraceKind, text: impl Into<String>, numbers: &[(&str, f64)]) -> TraceStep {
    let numbers: BTreeMap<String, f64> = numbers.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    TraceStep { kind, text: text.into(), fallback: false, numbers }
}

fn trace(parse: &Parse, boxes: &BoxesBySide, parts: &Parts) -> Vec<TraceStep> {
    let number = |part: &Outcome<f64>| part.value().copied().unwrap_or(f64::NAN);
    let mut steps = vec![
        step(TraceKind::Parse, format!("The instruction was read as: {}.", parse.edit_type), &[]),
        step(
            TraceKind::Boxes,
            format!("Looked for “{}” on the source and for “{}” on the edit.", parse.original_part, parse.edited_part),
            &[("source boxes", boxes.source.len() as f64), ("edit boxes", boxes.edit.len() as f64)],
        ),
        step(TraceKind::Mask, "The edit region is the union of the masks of both pictures.", &[]),
        step(TraceKind::Crop, "Modify looks at the boxes grown by half about their centre.", &[]),
        step(TraceKind::Modify, "How far the picture moved in the direction of the words.", &[("cosine", number(&parts.modify))]),
        step(TraceKind::Preserve, "How little the rest of the picture changed.", &[("preserve", number(&parts.preserve))]),
    ];
    if boxes.edit.is_empty() {
        steps[1].fallback = true;
        steps[1].text.push_str(" The edit has no box: the source boxes stand in for it.");
    }
    steps.iter_mut().for_each(|step| step.numbers.retain(|_, value| value.is_finite()));
    steps
}

impl Store for SampleStore {
    fn open(&mut self, path: &Path) -> Result<StoreInfo, String> {
        if path.file_stem().is_some_and(|stem| stem == "broken") {
            return Err("this file is no project".to_owned());
        }
        Ok(StoreInfo { path: path.to_owned(), name: "demo".into(), items: self.items.len(), ranges: vec!["paper".into()], only_read: None })
    }

    fn rows(&mut self, _shown: &Shown) -> Result<Vec<Row>, String> {
        if self.scores.is_empty() && !self.shared.lock().unwrap().is_empty() && self.shared_taken() {
            self.scores = self.shared.lock().unwrap().clone();
        }
        let range = self.range();
        let rows = self.edits().map(|(id, item, edit)| {
            let mut row = Row {
                id,
                item: item.key.0.as_str().into(),
                instruction: item.instruction.as_str().into(),
                model: edit.model.as_str().into(),
                source: item.source.path.clone(),
                edited: edit.picture.path.clone(),
                parts: [TableCell::Unscored; 4],
                overall: TableCell::Unscored,
                columns: self.scores.get(&id).map(|_| sample_columns(id)).unwrap_or_default(),
                people: [None; 5],
                raters: 0,
                simulated: false,
                flags: Flags::NONE,
            };
            row.take_ratings(&self.ratings[&id]);
            if let Some(score) = self.scores.get(&id) {
                row.take_score(score);
                row.overall = (&self.combined(score, &range).overall).into();
                row.flags = flags(score);
            }
            row
        });
        Ok(rows.collect())
    }

    fn details(&mut self, id: RowId, _shown: &Shown) -> Result<EditDetails, String> {
        let (_, item, edit) = self.edits().find(|(other, _, _)| *other == id).ok_or("there is no such edit")?;
        let corrected = self.corrected.lock().unwrap().get(&id).cloned();
        let score = corrected.or_else(|| self.scores.get(&id).cloned());
        let range = self.range();
        let score_flags = score.as_deref().map(flags).unwrap_or_default();
        let made_by = score.as_ref().map(|_| "made up from the true boxes".to_owned()).unwrap_or_default();
        Ok(EditDetails {
            id,
            source: PictureState { path: item.source.path.clone(), problem: None },
            edited: PictureState { path: edit.picture.path.clone(), problem: None },
            parse: Some(self.parses[&id].clone()),
            combined: score.as_ref().map(|score| self.combined(score, &range)),
            audit: self.audit(id, &range),
            baselines: score.as_ref().map(|_| sample_baselines(id)).unwrap_or_default(),
            score,
            flags: score_flags,
            made_by,
            ratings: self.ratings[&id].clone(),
            history: vec![HistoryLine { at_millis: Some(0), who: "import".into(), what: "Parse came with the data.".into() }],
        })
    }

    fn save_parse(&mut self, id: RowId, parse: &Parse, _who: &str) -> Result<(), String> {
        self.parses.insert(id, parse.clone());
        self.written.lock().unwrap().parses.push((id, parse.clone()));
        Ok(())
    }

    fn save_rating(&mut self, id: RowId, rating: &Rating) -> Result<(), String> {
        let ratings = self.ratings.entry(id).or_default();
        ratings.retain(|other| other.rater != rating.rater);
        ratings.push(rating.clone());
        self.written.lock().unwrap().ratings.push((id, rating.clone()));
        Ok(())
    }

    fn export(&mut self, to: &Path, _shown: &Shown) -> Result<String, String> {
        Err(format!("not in this test: {}", to.display()))
    }

    fn agreement(&mut self, request: AgreementRequest) -> AgreementEvent {
        match request {
            AgreementRequest::Source(shown) => AgreementEvent::Source(self.evidence(&shown)),
            other => nothing_kept(other),
        }
    }

    fn regions(&mut self) -> &mut dyn RegionStore {
        &mut self.regions
    }
}

impl SampleStore {
    /// What the rows and ratings of this store say, as the engine would gather it from a project.
    fn evidence(&mut self, shown: &Shown) -> Result<EvidenceJob, String> {
        let rows = self.rows(shown)?;
        let ratings = self.ratings.clone();
        Ok(EvidenceJob(Arc::new(move |ground_truth| {
            let mut gathered = Gathered::new("demo".into());
            for row in &rows {
                let (item, model) = (row.item.to_string(), row.model.to_string());
                let own = Parts::NAMES.iter().zip(row.parts).chain([(&"overall", row.overall)]);
                let mut metrics: BTreeMap<String, f64> = own.filter_map(|(name, cell)| Some(((*name).to_owned(), cell.value()?))).collect();
                metrics.extend(row.columns.iter().map(|(name, value)| (name.to_string(), *value)));
                for rating in &ratings[&row.id] {
                    gathered.evidence.answers.extend(evidence::answers(&item, &model, rating, None));
                    gathered.about.simulated_ratings |= rating.simulated;
                }
                gathered.evidence.subjects.push(Subject { item, model, metrics, ..Subject::default() });
                gathered.edits.push(EditId(row.id.0));
            }
            gathered.evidence.metrics = evidence::metric_names(&gathered.evidence);
            gathered.finish(&[], ground_truth).map_err(|error| error.to_string())
        })))
    }

    /// The engine marks the scores as made by leaving an entry with id 0.
    fn shared_taken(&self) -> bool {
        self.shared.lock().unwrap().remove(&RowId(0)).is_some()
    }
}

/// Baselines made up from the row, with one that has no value.
fn sample_baselines(id: RowId) -> Baselines {
    let value = |salt: i64| Outcome::Value((id.0 * salt % 97) as f64 / 97.0);
    let zoned = |salt| Zoned { whole: value(salt), inside: value(salt + 1), outside: value(salt + 2), note: String::new() };
    let missing = Zoned::uniform(&Outcome::NotApplicable("the network is not fetched: `editscope models fetch lpips-alex`".into()));
    Baselines::from([("l1".to_owned(), zoned(5)), ("ssim".to_owned(), zoned(11)), ("lpips-alex".to_owned(), missing)])
}

fn sample_columns(id: RowId) -> Columns {
    columns(&sample_baselines(id)).into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// An engine that decodes for real and "scores" what it is told.
pub struct FakeEngine {
    events: Rc<RefCell<VecDeque<Event>>>,
    tokens: Cell<u64>,
    scores: Scores,
    pub asked: Rc<RefCell<Vec<String>>>,
    /// What questions about one edit are answered with.
    audit: Rc<RefCell<AuditAnswers>>,
    corrected: Scores,
}

/// What the engine answers when it is asked about one edit.
#[derive(Default)]
pub struct AuditAnswers {
    /// The score after correction; modify comes late.
    pub corrected: Option<Score>,
    pub sensitivity: Option<Sensitivity>,
    pub pasted: Option<PastedBack>,
    /// Late answers, let go by [`Window::let_go`].
    held: VecDeque<Event>,
}

impl FakeEngine {
    fn audit(&self, request: AuditRequest) {
        let mut answers = self.audit.borrow_mut();
        let mut events = self.events.borrow_mut();
        match request {
            AuditRequest::Rescore(ask) => {
                let Some(score) = answers.corrected.clone() else {
                    let why = "no answer in this test".to_owned();
                    events.push_back(Event::Audit(AuditEvent::Failed { ticket: ask.ticket, edit: ask.edit, why }));
                    return;
                };
                let told = |score: Score, pending, kept| {
                    let partial = Arc::new(Partial { score, pending, mask_in_bpm500: None });
                    Event::Audit(AuditEvent::Rescored { ticket: ask.ticket, edit: ask.edit, partial, millis: 12.0, kept })
                };
                events.push_back(told(score.clone(), Pending { modify: true, ..Pending::default() }, false));
                self.corrected.lock().unwrap().insert(RowId(ask.edit.0), Arc::new(score.clone()));
                answers.held.push_back(told(score, Pending::default(), true));
            }
            AuditRequest::Sensitivity { ask, .. } => {
                let result = answers.sensitivity.clone().map(Arc::new).ok_or_else(|| "no answer in this test".to_owned());
                events.push_back(Event::Audit(AuditEvent::Sensitivity { ticket: ask.ticket, edit: ask.edit, result }));
            }
            AuditRequest::PasteBack { ask, .. } => {
                let result = answers.pasted.clone().map(Arc::new).ok_or_else(|| "no answer in this test".to_owned());
                events.push_back(Event::Audit(AuditEvent::PastedBack { ticket: ask.ticket, edit: ask.edit, result }));
            }
        }
    }
}

impl EngineLink for FakeEngine {
    fn send(&self, request: Request) {
        let mut events = self.events.borrow_mut();
        match request {
            Request::Picture(token, request) => {
                events.push_back(Event::PictureReady { token, result: pixels(&request.path, request.max_side) });
            }
            // Looking for motions takes longest and is tested with the real engine.
            Request::Canvas(CanvasRequest::Register { token, .. }) => {
                events.push_back(Event::Canvas(CanvasEvent::Registered { token, found: None }));
            }
            Request::Canvas(request) => events.push_back(Event::Canvas(editscope::engine::pictures::answer(request))),
            Request::ForgetPictures | Request::LookForPictures { .. } => {}
            Request::Score(run, request) => {
                self.asked.borrow_mut().push(format!("score {:?}", request.edits));
                let mut scores = self.scores.lock().unwrap();
                let total = scores.len();
                events.push_back(Event::RunStarted { run, total, already: 0, device: "CPU".into(), models: "demo".into() });
                for (row, score) in scores.iter() {
                    events.push_back(Event::EditScored { run, edit: EditId(row.0), score: Arc::clone(score), seconds: 0.1 });
                }
                let marker = scores.values().next().cloned();
                scores.extend(marker.map(|score| (RowId(0), score)));
                events.push_back(Event::Progress { run, done: total, failed: 0, total, seconds: 9.6, current: "last".into() });
                events.push_back(Event::RunFinished { run, done: total, failed: 0, cancelled: false, seconds: 9.6 });
            }
            Request::Prompt(prompt) => {
                self.asked.borrow_mut().push(format!("prompt {} points", prompt.points.len()));
                let answered = PromptEvent::Answered { token: prompt.token, result: Ok(proposed(&prompt)) };
                events.push_back(Event::Prompt(answered));
            }
            Request::Audit(request) => {
                drop(events);
                self.audit(request);
            }
            Request::Import(import) => self.asked.borrow_mut().push(format!("import {}", import.data.display())),
            Request::Table(request) => events.push_back(Event::Table(editscope::engine::opinions::answer(&request))),
            other => self.asked.borrow_mut().push(format!("{other:?}")),
        }
    }

    fn try_next(&self) -> Option<Event> {
        self.events.borrow_mut().pop_front()
    }

    fn new_run(&self) -> RunToken {
        self.tokens.set(self.tokens.get() + 1);
        RunToken(self.tokens.get())
    }

    fn new_picture(&self) -> PictureToken {
        self.tokens.set(self.tokens.get() + 1);
        PictureToken(self.tokens.get())
    }
}

/// The box as a mask, or discs around the first point: three for a single point, as a segmenter answers.
fn proposed(prompt: &PromptRequest) -> Vec<(Mask, f32)> {
    if let Some(rect) = prompt.rect {
        return vec![(Mask::from_fn(prompt.out, |x, y| rect.contains(Point::new(x as f32, y as f32))), 0.9)];
    }
    let at = prompt.points[0].0;
    let disc = |radius: f32| Mask::from_fn(prompt.out, |x, y| (x as f32 - at.x).hypot(y as f32 - at.y) <= radius);
    let count = if prompt.points.len() == 1 { 3 } else { 1 };
    (1..=count).map(|n| (disc(10.0 * n as f32), 1.0 - 0.1 * n as f32)).collect()
}

fn pixels(path: &Path, max_side: Option<u32>) -> Result<Arc<Pixels>, String> {
    let rgb = decode(path, &DecodeOptions::default()).map_err(|error| error.to_string())?.rgb;
    let full_size = Size::new(rgb.width(), rgb.height());
    let rgb = match max_side {
        Some(side) if side < 1000 => image::imageops::thumbnail(&rgb, side, side),
        _ => rgb,
    };
    Ok(Arc::new(Pixels { size: Size::new(rgb.width(), rgb.height()), full_size, rgb: rgb.into_raw(), notes: Vec::new() }))
}

/// A window under test.
pub struct Window {
    pub harness: Harness<'static, App>,
    pub written: Arc<Mutex<Written>>,
    pub asked: Rc<RefCell<Vec<String>>>,
    pub regions: Arc<Mutex<Journal>>,
    pub audit: Rc<RefCell<AuditAnswers>>,
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
        let (audit, events) = (Rc::<RefCell<AuditAnswers>>::default(), Rc::<RefCell<VecDeque<Event>>>::default());
        let engine = FakeEngine {
            events: Rc::clone(&events),
            tokens: Cell::new(0),
            scores,
            asked: Rc::clone(&asked),
            audit: Rc::clone(&audit),
            corrected,
        };
        let theme = if setup.light { ThemeChoice::Light } else { ThemeChoice::Dark };
        let settings = Settings { rater: setup.rater.into(), theme, ..Settings::default() };
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
        let mut window = Self { harness, written, asked, regions, audit, late: events };
        window.settle();
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
