//! One run: every edit that is asked for, from pictures to a stored score.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use image::RgbImage;

use crate::domain::{Baselines, Detection, Parse, RegionOrigin, RegionRole, RegionShape, Score, Side};
use crate::imaging::decode::{DecodeOptions, decode};
use crate::instruct::parse_instruction;
use crate::metrics::bpm::{Overrides, PairInput, Settings, score_pair};
use crate::metrics::ports::PortError;
use crate::storage::{EditId, NewRun, Project, RunEnd, RunId, RunKind, StorageError, StoredEdit, StoredItem};

use super::baselines::{ScoredPair, Wanted};
use super::cache::ProjectCache;
use super::messages::{Event, Level, RunToken, ScoreRequest};
use super::networks::NetworkSlot;
use super::results;

/// What one run needs besides the project and the networks.
pub struct Run<'a> {
    pub token: RunToken,
    pub request: &'a ScoreRequest,
    /// Asked before each edit and before each network call.
    pub cancelled: &'a dyn Fn() -> bool,
    pub emit: &'a mut dyn FnMut(Event),
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Edits that have a score now, computed or found.
    pub done: usize,
    pub failed: usize,
    pub cancelled: bool,
}

/// Why an edit has no score.
enum Missing {
    Cancelled,
    Failed(String),
}

impl From<PortError> for Missing {
    fn from(error: PortError) -> Self {
        match error {
            PortError::Cancelled => Self::Cancelled,
            error => Self::Failed(error.to_string()),
        }
    }
}

/// What became of an edit.
struct Scored {
    score: Score,
    /// Time that the score took, without the baselines.
    seconds: f64,
    baselines: Baselines,
}

/// Scores the edits of a request, storing each score as it is made.
///
/// A run of the same profile, checkpoints and settings is gone on with, whether it was interrupted or finished: only edits that it has not
/// scored, or whose picture, instruction, parse or regions changed since, are scored (all, with `rescore`).
///
/// # Errors
/// When the networks cannot be loaded or the project cannot be read or written. An edit that fails is an event, not an error.
pub fn evaluate(project: &Project, networks: &mut NetworkSlot, run: &mut Run<'_>) -> anyhow::Result<Tally> {
    let started = Instant::now();
    let items = wanted(project, run.request.edits.as_deref())?;
    let total = items.iter().map(|(_, edits)| edits.len()).sum();
    networks.load(&run.request.models, run.request.device, run.emit)?;
    let (device, models, fingerprint) = networks.words();
    let about = NewRun {
        kind: RunKind::Set,
        profile: run.request.profile,
        models: models.clone(),
        models_fingerprint: fingerprint,
        device: device.clone(),
        settings: serde_json::json!({ "box_threshold": Settings::new(run.request.profile).box_threshold }),
        range: run.request.range.clone(),
    };
    let (id, ready) = begin(project, &about, run.request.rescore)?;
    let already = items.iter().flat_map(|(_, edits)| edits).filter(|edit| ready.contains(&edit.id)).count();
    (run.emit)(Event::RunStarted { run: run.token, total, already, device, models });

    let baselines = Wanted::of(run.request.baselines);
    // Scores that hold may lack baselines: they were made without, or a network has been fetched since.
    let measured = if already > 0 && !baselines.is_empty() { project.baselines_of_run(id)? } else { BTreeMap::new() };
    networks.baselines.begin_run(run.request.device);
    let mut work = Work { project, networks, run, id, ready, baselines, measured, total, started, tally: Tally::default() };
    let finished = items.iter().try_for_each(|(item, edits)| work.item(item, edits));
    let (tally, emit, request, token) = (work.tally, &mut *work.run.emit, work.run.request, work.run.token);
    let end = match (&finished, tally.cancelled) {
        (Err(error), _) => RunEnd::Failed(format!("{error:#}")),
        (Ok(()), true) => RunEnd::Cancelled,
        (Ok(()), false) => RunEnd::Done,
    };
    project.finish_run(id, &end)?;
    finished?;
    keep_overalls(project, id, request)?;
    emit(Event::RunFinished {
        run: token,
        done: tally.done,
        failed: tally.failed,
        cancelled: tally.cancelled,
        seconds: started.elapsed().as_secs_f64(),
    });
    Ok(tally)
}

/// The items of a request with those of their edits that are asked for, in the order of the project.
fn wanted(project: &Project, edits: Option<&[EditId]>) -> Result<Vec<(StoredItem, Vec<StoredEdit>)>, StorageError> {
    let asked: Option<HashSet<EditId>> = edits.map(|edits| edits.iter().copied().collect());
    let mut by_item: BTreeMap<_, Vec<StoredEdit>> = BTreeMap::new();
    for edit in project.edits()? {
        if asked.as_ref().is_none_or(|asked| asked.contains(&edit.id)) {
            by_item.entry(edit.item).or_default().push(edit);
        }
    }
    Ok(project.items()?.into_iter().filter_map(|item| Some((by_item.remove(&item.id)?, item))).map(|(edits, item)| (item, edits)).collect())
}

/// The run to write to, and the edits whose scores in it still hold.
fn begin(project: &Project, about: &NewRun, rescore: bool) -> Result<(RunId, HashSet<EditId>), StorageError> {
    if !rescore {
        // Numbers depend on all of these, and on the device only below the digits that are shown.
        let like = |other: &NewRun| {
            (other.kind, other.profile, &other.models_fingerprint, &other.settings)
                == (about.kind, about.profile, &about.models_fingerprint, &about.settings)
        };
        if let Some(run) = project.runs()?.into_iter().find(|run| like(&run.about)) {
            return Ok((run.id, project.scored_in_run(run.id)?));
        }
    }
    Ok((project.start_run(about)?, HashSet::new()))
}

/// Keeps the overall scores beside the parts, so that the queue needs no arithmetic.
fn keep_overalls(project: &Project, id: RunId, request: &ScoreRequest) -> Result<(), StorageError> {
    let range = match &request.range {
        Some(range) => range.clone(),
        None => results::fit(project, request.profile, None)?,
    };
    project.set_overalls(id, &results::overalls(&project.scores_of_run(id)?, &range))
}

/// A run under way.
struct Work<'a, 'r> {
    project: &'a Project,
    networks: &'a mut NetworkSlot,
    run: &'a mut Run<'r>,
    id: RunId,
    /// Edits whose scores hold.
    ready: HashSet<EditId>,
    baselines: Wanted,
    /// The baselines that these scores have.
    measured: BTreeMap<EditId, Baselines>,
    total: usize,
    started: Instant,
    tally: Tally,
}

impl Work<'_, '_> {
    /// Scores the edits of one item; its source is decoded once, and only if an edit needs it.
    fn item(&mut self, item: &StoredItem, edits: &[StoredEdit]) -> anyhow::Result<()> {
        let mut source: Option<Result<RgbImage, String>> = None;
        let parse = parse_of(self.project, item)?;
        for edit in edits {
            if self.tally.cancelled || (self.run.cancelled)() {
                self.tally.cancelled = true;
                return Ok(());
            }
            let label = if edit.model.is_empty() { edit.key.to_string() } else { format!("{} ({})", edit.key, edit.model) };
            let mut source = || source.get_or_insert_with(|| picture(&item.source.path)).as_ref();
            if self.ready.contains(&edit.id) {
                let lacking = self.baselines.lacking(self.measured.get(&edit.id));
                if !lacking.is_empty() {
                    let outcome = self.baselines_of_ready(source(), item, edit, &lacking)?;
                    self.keep_baselines(edit, &label, outcome)?;
                }
                self.tally.done += usize::from(!self.tally.cancelled);
            } else {
                let outcome = self.edit(source(), item, edit, &parse)?;
                self.keep_score(edit, &label, outcome)?;
            }
            if self.tally.cancelled {
                return Ok(());
            }
            (self.run.emit)(Event::Progress {
                run: self.run.token,
                done: self.tally.done,
                failed: self.tally.failed,
                total: self.total,
                seconds: self.started.elapsed().as_secs_f64(),
                current: label,
            });
        }
        Ok(())
    }

    /// Stores what became of an edit and tells.
    fn keep_score(&mut self, edit: &StoredEdit, label: &str, outcome: Result<Scored, Missing>) -> Result<(), StorageError> {
        match outcome {
            Ok(Scored { score, seconds, baselines }) => {
                self.project.put_score(self.id, edit.id, &score, seconds)?;
                self.project.put_baselines(self.id, edit.id, &baselines)?;
                self.tally.done += 1;
                (self.run.emit)(Event::EditScored { run: self.run.token, edit: edit.id, score: Arc::new(score), seconds });
            }
            Err(Missing::Cancelled) => self.tally.cancelled = true,
            Err(Missing::Failed(why)) => {
                self.project.put_failure(self.id, edit.id, self.run.request.profile, &why)?;
                self.tally.failed += 1;
                (self.run.emit)(Event::EditFailed { run: self.run.token, edit: edit.id, label: label.to_owned(), why });
            }
        }
        Ok(())
    }

    /// Stores baselines beside a score that holds; where there are none, the score stays and a message says why.
    fn keep_baselines(&mut self, edit: &StoredEdit, label: &str, outcome: Result<Baselines, Missing>) -> Result<(), StorageError> {
        match outcome {
            Ok(baselines) => self.project.put_baselines(self.id, edit.id, &baselines)?,
            Err(Missing::Cancelled) => self.tally.cancelled = true,
            Err(Missing::Failed(why)) => (self.run.emit)(Event::Message {
                level: Level::Warning,
                text: format!("{label}: the score holds, but its other metrics cannot be computed: {why}"),
            }),
        }
        Ok(())
    }

    /// Scores one edit and computes its baselines.
    fn edit(
        &mut self,
        source: Result<&RgbImage, &String>,
        item: &StoredItem,
        edit: &StoredEdit,
        parse: &Parse,
    ) -> anyhow::Result<Result<Scored, Missing>> {
        let began = Instant::now();
        let (source, picture) = match both(source, edit) {
            Ok(pair) => pair,
            Err(why) => return Ok(Err(why)),
        };
        let overrides = overrides_of(self.project, edit.id)?;
        let input = PairInput { source, edit: &picture, instruction: &item.instruction, parse, overrides: &overrides };
        let settings = Settings::new(self.run.request.profile);
        let cache = ProjectCache(self.project);
        let wanted = &self.baselines;
        let (mut seconds, mut baselines) = (0.0, Baselines::new());
        let score = self.networks.score(&cache, self.run.cancelled, self.run.emit, &mut |nets| {
            let score = score_pair(&input, &settings, nets)?;
            seconds = began.elapsed().as_secs_f64();
            baselines = ScoredPair { source, edit: &picture, score: &score }.pixels_and_clip(wanted, item, edit, nets.encoder)?;
            Ok(score)
        });
        let finished = score.and_then(|score| {
            let pair = ScoredPair { source, edit: &picture, score: &score };
            baselines.extend(pair.own_networks(wanted, &mut self.networks.baselines, &cache, self.run.cancelled)?);
            Ok(Scored { score, seconds, baselines })
        });
        Ok(finished.map_err(Missing::from))
    }

    /// Computes the baselines that a score that holds lacks.
    fn baselines_of_ready(
        &mut self,
        source: Result<&RgbImage, &String>,
        item: &StoredItem,
        edit: &StoredEdit,
        lacking: &Wanted,
    ) -> anyhow::Result<Result<Baselines, Missing>> {
        let Some(stored) = self.project.score_in_run(self.id, edit.id)? else { return Ok(Ok(Baselines::new())) };
        let (source, picture) = match both(source, edit) {
            Ok(pair) => pair,
            Err(why) => return Ok(Err(why)),
        };
        let cache = ProjectCache(self.project);
        let pair = ScoredPair { source, edit: &picture, score: &stored.score };
        let mut baselines = Baselines::new();
        let found = self.networks.score(&cache, self.run.cancelled, self.run.emit, &mut |nets| {
            baselines = pair.pixels_and_clip(lacking, item, edit, nets.encoder)?;
            Ok(stored.score.clone())
        });
        let finished = found.and_then(|_| {
            baselines.extend(pair.own_networks(lacking, &mut self.networks.baselines, &cache, self.run.cancelled)?);
            Ok(baselines)
        });
        Ok(finished.map_err(Missing::from))
    }
}

/// The two pictures of a pair, or which of them cannot be had and why.
fn both<'a>(source: Result<&'a RgbImage, &String>, edit: &StoredEdit) -> Result<(&'a RgbImage, RgbImage), Missing> {
    let source = source.map_err(|why| Missing::Failed(format!("the source image: {why}")))?;
    let picture = picture(&edit.picture.path).map_err(|why| Missing::Failed(format!("the edited image: {why}")))?;
    Ok((source, picture))
}

fn picture(path: &Path) -> Result<RgbImage, String> {
    decode(path, &DecodeOptions::default()).map(|decoded| decoded.rgb).map_err(|error| error.to_string())
}

/// The parse that counts; the rules read the instruction where there is none yet, or only an older reading of the rules.
fn parse_of(project: &Project, item: &StoredItem) -> Result<Parse, StorageError> {
    match &item.parse {
        Some(parse) => Ok(parse.clone()),
        None => project.suggest_parse(item.id, &parse_instruction(&item.instruction), "rules"),
    }
}

/// What people (or the data) say about the regions of a pair; networks do not override themselves.
fn overrides_of(project: &Project, edit: EditId) -> anyhow::Result<Overrides> {
    let mut overrides = Overrides::default();
    for side in [Side::Source, Side::Edit] {
        let Some(set) = project.regions(edit, side)? else { continue };
        for region in set.regions {
            if !matches!(region.origin, RegionOrigin::Person | RegionOrigin::Import) {
                continue;
            }
            match (region.role, region.shape) {
                (RegionRole::Original | RegionRole::Edited, RegionShape::Box(rect_in_image)) => {
                    let boxes = match side {
                        Side::Source => &mut overrides.source_boxes,
                        Side::Edit => &mut overrides.edit_boxes,
                    };
                    let confidence = region.confidence.unwrap_or(1.0);
                    boxes.get_or_insert_default().push(Detection { rect_in_image, phrase: region.label, confidence });
                }
                (RegionRole::EditMask, RegionShape::Mask(rle)) => overrides.mask = Some(rle.to_mask()?),
                // Boxes as masks, masks as boxes and ignored pixels are not yet part of the metric's input.
                _ => {}
            }
        }
    }
    Ok(overrides)
}
