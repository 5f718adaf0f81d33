//! The demo as a store: its pictures with scores made from its true boxes (not from networks), so that no test needs a checkpoint.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use editscope::domain::rle::Rle;
use editscope::domain::{
    Baselines, BoxesBySide, Detection, EditType, Item, Mask, Outcome, PaperWeights, Parse, Parts, Profile, Range, Rating, Rect, Score,
    Size, TokenMatch, TraceKind, TraceStep, Triage, Zoned, columns,
};
use editscope::editor::{
    Audit, Automatic, Cell as TableCell, Columns, Combined, EditDetails, Flag, Flags, HistoryLine, PictureState, Row, RowId,
};
use editscope::engine::evidence::{self, Gathered};
use editscope::engine::scored_by::ScoredBy;
use editscope::engine::{combine, fit_range};
use editscope::gui::agreement::{AgreementEvent, AgreementRequest, EvidenceJob, nothing_kept};
use editscope::gui::region_store::RegionStore;
use editscope::gui::store::{Keeper, Shown, Store, StoreInfo};
use editscope::stats::comparison::Subject;
use editscope::storage::EditId;

use super::region_memory::MemoryRegions;

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
    ratings: Ratings,
    parses: HashMap<RowId, Parse>,
    written: Arc<Mutex<Written>>,
    shared: Scores,
    pub regions: MemoryRegions,
    /// Scores that count in place of the automatic ones.
    pub corrected: Scores,
    /// The networks of the newest run, as the project names them.
    pub networks: Option<ScoredBy>,
}

/// The ratings of each row, which the keeper adds to.
type Ratings = Arc<Mutex<HashMap<RowId, Vec<Rating>>>>;

/// Scores that the engine's "run" puts into the store.
pub type Scores = Arc<Mutex<HashMap<RowId, Arc<Score>>>>;

pub fn demo_folder() -> PathBuf {
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
            ratings: Ratings::default(),
            parses: HashMap::new(),
            written,
            shared,
            regions: MemoryRegions::default(),
            corrected: Scores::default(),
            networks: None,
        };
        let ratings = store.edits().map(|(id, _, edit)| (id, edit.ratings.clone())).collect();
        store.ratings = Arc::new(Mutex::new(ratings));
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
            said: Vec::new(),
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
        step(TraceKind::Branch, "The boxes of both pictures make the region.", &[]),
        step(TraceKind::Mask, "The edit region is the union of the masks of both pictures.", &[]),
        step(TraceKind::Crop, "Modify looks at the boxes grown by half about their centre.", &[]),
        step(TraceKind::Direction, "The wanted direction is from the old words to the new ones.", &[]),
        step(TraceKind::Size, "Its area was compared with that of the source.", &[]),
        step(TraceKind::Position, "Its centre was compared with that of the source.", &[]),
        step(TraceKind::Modify, "How far the picture moved in the direction of the words.", &[("cosine", number(&parts.modify))]),
        step(TraceKind::Preserve, "How little the rest of the picture changed.", &[("preserve", number(&parts.preserve))]),
        step(TraceKind::Device, "Judged on the processor.", &[]),
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
        let (name, items, networks) = ("demo".into(), self.items.len(), self.networks.clone());
        Ok(StoreInfo { path: path.to_owned(), name, items, ranges: vec!["paper".into()], only_read: None, networks })
    }

    fn rows(&mut self, _shown: &Shown) -> Result<Vec<Row>, String> {
        if self.scores.is_empty() && !self.shared.lock().unwrap().is_empty() && self.shared_taken() {
            self.scores = self.shared.lock().unwrap().clone();
        }
        let range = self.range();
        let ratings = self.ratings.lock().unwrap();
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
            row.take_ratings(&ratings[&id]);
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
            ratings: self.ratings.lock().unwrap()[&id].clone(),
            history: vec![HistoryLine { at_millis: Some(0), who: "import".into(), what: "Parse came with the data.".into() }],
        })
    }

    fn save_parse(&mut self, id: RowId, parse: &Parse, _who: &str) -> Result<(), String> {
        self.parses.insert(id, parse.clone());
        self.written.lock().unwrap().parses.push((id, parse.clone()));
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

    fn keeper(&mut self) -> Box<dyn Keeper> {
        let (regions, ratings, written) = (self.regions.clone(), Arc::clone(&self.ratings), Arc::clone(&self.written));
        Box::new(SampleKeeper { regions, ratings, written })
    }
}

/// What keeps a person's work beside the store.
struct SampleKeeper {
    regions: MemoryRegions,
    ratings: Ratings,
    written: Arc<Mutex<Written>>,
}

impl Keeper for SampleKeeper {
    fn open(&mut self, _path: &Path) -> Result<(), String> {
        Ok(())
    }

    fn regions(&mut self) -> &mut dyn RegionStore {
        &mut self.regions
    }

    fn save_rating(&mut self, id: RowId, rating: &Rating) -> Result<(), String> {
        let mut all = self.ratings.lock().unwrap();
        let ratings = all.entry(id).or_default();
        ratings.retain(|other| other.rater != rating.rater);
        ratings.push(rating.clone());
        self.written.lock().unwrap().ratings.push((id, rating.clone()));
        Ok(())
    }
}

impl SampleStore {
    /// What the rows and ratings of this store say, as the engine would gather it from a project.
    fn evidence(&mut self, shown: &Shown) -> Result<EvidenceJob, String> {
        let rows = self.rows(shown)?;
        let ratings = self.ratings.lock().unwrap().clone();
        Ok(EvidenceJob(Arc::new(move |ground_truth| {
            let mut gathered = Gathered::new("demo".into());
            for row in &rows {
                let (item, model) = (row.item.to_string(), row.model.to_string());
                let own = Parts::NAMES.iter().zip(row.parts).chain([(&"overall", row.overall)]);
                let mut metrics: BTreeMap<String, f64> = own.filter_map(|(name, cell)| Some(((*name).to_owned(), cell.value()?))).collect();
                metrics.extend(row.columns.iter().map(|(name, value)| (name.to_string(), *value)));
                for rating in &ratings[&row.id] {
                    gathered.add_rating(&item, &model, rating);
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
