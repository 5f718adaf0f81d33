//! One run: every edit that is asked for, from pictures to a stored score.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use image::RgbImage;

use crate::domain::Score;
use crate::imaging::decode::{DecodeOptions, decode};
use crate::metrics::bpm::{Canvases, PairInput, Partial, Settings, judge};
use crate::metrics::ports::PortError;
use crate::storage::{EditId, NewRun, Project, RunEnd, RunId, RunKind, StorageError, StoredEdit, StoredItem};

use super::baselines::{self, Wanted};
use super::cache::ProjectCache;
use super::inputs::{self, Reading, Sizes};
use super::messages::{Event, Level, RunToken, ScoreRequest};
use super::networks::NetworkSlot;
use super::{corrections, results, scored_by, triage};

/// What one run needs besides the project and the networks.
pub struct Run<'a> {
    pub token: RunToken,
    pub request: &'a ScoreRequest,
    /// Asked before each edit and before each network call.
    pub cancelled: &'a dyn Fn() -> bool,
    pub emit: &'a mut dyn FnMut(Event),
    /// Called before each edit: what cannot wait until the run is done has its turn with the networks.
    pub between: &'a mut dyn FnMut(&mut NetworkSlot),
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
    say_mixed(project, &about, run)?;
    look_for_pictures(project, run)?;
    let (id, ready) = begin(project, &about, run.request.rescore)?;
    let already = items.iter().flat_map(|(_, edits)| edits).filter(|edit| ready.contains(&edit.id)).count();
    (run.emit)(Event::RunStarted { run: run.token, total, already, device, models });

    networks.remember(project)?;
    let mut work = Work { project, networks, run, about: &about, id, ready, total, started, tally: Tally::default() };
    let other_metrics = Wanted::of(work.run.request.baselines);
    work.networks.baselines.begin_run(work.run.request.device);
    let finished = items.iter().try_for_each(|(item, edits)| -> anyhow::Result<()> {
        work.item(item, edits)?;
        // After the scores, so that these come as soon as they can.
        work.tally.cancelled |= baselines::of_item(work.project, work.networks, work.run, &other_metrics, item, edits)?;
        Ok(())
    });
    let (tally, emit, request, token) = (work.tally, &mut *work.run.emit, work.run.request, work.run.token);
    let end = match (&finished, tally.cancelled) {
        (Err(error), _) => RunEnd::Failed(crate::engine::in_words(error)),
        (Ok(()), true) => RunEnd::Cancelled,
        (Ok(()), false) => RunEnd::Done,
    };
    project.finish_run(id, &end)?;
    finished?;
    keep_overalls(project, id, &about, request)?;
    emit(Event::RunFinished {
        run: token,
        done: tally.done,
        failed: tally.failed,
        cancelled: tally.cancelled,
        seconds: started.elapsed().as_secs_f64(),
    });
    Ok(tally)
}

/// A single edit is scored with other networks than before: its score and those of the rest cannot be compared, which a person should know.
fn say_mixed(project: &Project, about: &NewRun, run: &mut Run<'_>) -> Result<(), StorageError> {
    let Some([edit]) = run.request.edits.as_deref() else { return Ok(()) };
    let Some(before) = scored_by::run_of(project, *edit, about.profile)?.map(|run| run.about) else { return Ok(()) };
    if before.models_fingerprint != about.models_fingerprint {
        let text = format!(
            "This edit was scored with {} and is scored with {} now; scores of different networks cannot be compared. Score all edits with \
             the same ones (Score all).",
            before.models, about.models
        );
        (run.emit)(Event::Message { level: Level::Warning, text });
    }
    Ok(())
}

/// Scores of pictures that changed since are made again; where a picture is missing, the project says so from now on.
fn look_for_pictures(project: &Project, run: &mut Run<'_>) -> Result<(), StorageError> {
    // A single edit is scored because a person asked for it or corrected it; looking at 100,000 files first would make them wait.
    if let Some([edit]) = run.request.edits.as_deref() {
        let changed = project.changed_pictures_of(*edit)?;
        if !changed.is_empty() {
            (run.emit)(Event::PicturesChanged(changed));
        }
        return Ok(());
    }
    let report = project.look_for_pictures()?;
    if report.changed.is_empty() {
        return Ok(());
    }
    let text = format!("pictures that changed since they were scored: {}; their edits are scored again", report.changed.len());
    (run.emit)(Event::Message { level: Level::Info, text });
    (run.emit)(Event::PicturesChanged(report.changed));
    Ok(())
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

/// Keeps the overall scores beside the parts, so that the queue needs no arithmetic: of the whole run, or of the edits that were asked for.
fn keep_overalls(project: &Project, id: RunId, about: &NewRun, request: &ScoreRequest) -> Result<(), StorageError> {
    let range = match &request.range {
        Some(range) => range.clone(),
        None => results::fit(project, request.profile, None)?,
    };
    let corrections = project.unfinished_run(&NewRun { kind: RunKind::Correction, ..about.clone() })?;
    for run in [Some(id), corrections].into_iter().flatten() {
        let scores = match &request.edits {
            None => project.scores_of_run(run)?,
            Some(edits) => {
                let newest = edits.iter().map(|edit| project.latest_score(*edit, request.profile)).collect::<Result<Vec<_>, _>>()?;
                newest.into_iter().flatten().filter(|stored| stored.run == run).collect()
            }
        };
        project.set_overalls(run, &results::overalls(&scores, &range))?;
    }
    Ok(())
}

/// A run under way.
struct Work<'a, 'r> {
    project: &'a Project,
    networks: &'a mut NetworkSlot,
    run: &'a mut Run<'r>,
    about: &'a NewRun,
    id: RunId,
    /// Edits that need no work.
    ready: HashSet<EditId>,
    total: usize,
    started: Instant,
    tally: Tally,
}

impl Work<'_, '_> {
    /// Scores the edits of one item; its source is decoded once, and only if an edit needs it.
    fn item(&mut self, item: &StoredItem, edits: &[StoredEdit]) -> anyhow::Result<()> {
        let mut source: Option<Result<RgbImage, String>> = None;
        for edit in edits {
            if self.tally.cancelled || (self.run.cancelled)() {
                self.tally.cancelled = true;
                return Ok(());
            }
            (self.run.between)(self.networks);
            let label = if edit.model.is_empty() { edit.key.to_string() } else { format!("{} ({})", edit.key, edit.model) };
            if self.ready.contains(&edit.id) {
                self.tally.done += 1;
            } else {
                let began = Instant::now();
                let source = source.get_or_insert_with(|| picture(&item.source.path));
                match self.edit(source.as_ref(), item, edit)? {
                    // A correction of the correction came meanwhile: this score is of regions that no longer hold.
                    Ok(_) if (self.run.cancelled)() => {
                        self.tally.cancelled = true;
                        return Ok(());
                    }
                    Ok(scores) => {
                        let seconds = began.elapsed().as_secs_f64();
                        let score = corrections::keep(self.project, (self.id, self.about), edit.id, scores, seconds)?;
                        self.tally.done += 1;
                        (self.run.emit)(Event::EditScored { run: self.run.token, edit: edit.id, score: Arc::new(score), seconds });
                    }
                    Err(Missing::Cancelled) => {
                        self.tally.cancelled = true;
                        return Ok(());
                    }
                    Err(Missing::Failed(why)) => {
                        self.project.put_failure(self.id, edit.id, self.run.request.profile, &why)?;
                        self.tally.failed += 1;
                        (self.run.emit)(Event::EditFailed { run: self.run.token, edit: edit.id, label: label.clone(), why });
                    }
                }
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

    fn edit(
        &mut self,
        source: Result<&RgbImage, &String>,
        item: &StoredItem,
        edit: &StoredEdit,
    ) -> anyhow::Result<Result<corrections::Scores, Missing>> {
        self.project.keep_content_of(edit.id)?;
        let source = match source {
            Ok(source) => source,
            Err(why) => return Ok(Err(Missing::Failed(format!("the source image: {why}")))),
        };
        let picture = match picture(&edit.picture.path) {
            Ok(picture) => picture,
            Err(why) => return Ok(Err(Missing::Failed(format!("the edited image: {why}")))),
        };
        let readings = inputs::readings(self.project, item, edit.id, Sizes::of(source, &picture))?;
        let canvases = match Canvases::new(source, &picture) {
            Ok(canvases) => canvases,
            Err(error) => return Ok(Err(Missing::Failed(error.to_string()))),
        };
        let settings = Settings::new(self.run.request.profile);
        let cache = ProjectCache(self.project);
        let mut score = |Reading { parse, overrides }: &Reading| -> anyhow::Result<Result<Score, Missing>> {
            let input = PairInput { source, edit: &picture, instruction: &item.instruction, parse, overrides };
            let judged =
                self.networks.lend(&cache, self.run.cancelled, self.run.emit, &mut |nets| judge(&input, &canvases, &settings, nets));
            if let Some(why) = self.networks.failure() {
                anyhow::bail!(why);
            }
            let judged = judged.and_then(Partial::complete).map_err(|error| match error {
                PortError::Cancelled => Missing::Cancelled,
                error => Missing::Failed(error.to_string()),
            });
            Ok(judged.map(|judged| triage::complete(judged, &canvases)))
        };
        let automatic = match score(&readings.automatic)? {
            Ok(automatic) => automatic,
            Err(missing) => return Ok(Err(missing)),
        };
        // A correction costs little: what it does not touch is in the cache by now.
        match readings.corrected.as_ref().map(score).transpose()?.transpose() {
            Ok(corrected) => Ok(Ok(corrections::Scores { automatic, corrected })),
            Err(missing) => Ok(Err(missing)),
        }
    }
}

/// The upright pixels of a file.
pub(super) fn picture(path: &Path) -> Result<RgbImage, String> {
    decode(path, &DecodeOptions::default()).map(|decoded| decoded.rgb).map_err(|error| error.to_string())
}
