//! The thread that answers at once from what is known.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, TryRecvError};

use crate::domain::Profile;
use crate::engine::cache::ProjectCache;
use crate::engine::handle::Outbox;
use crate::engine::inputs::{self, Reading};
use crate::engine::known::{CacheNames, Known};
use crate::engine::messages::Event;
use crate::engine::scored_by::run_of;
use crate::engine::{corrections, measured, triage};
use crate::metrics::bpm::{PairInput, Partial, Settings, judge, sensitivity};
use crate::metrics::ports::Networks;
use crate::storage::{EditId, Project, Run};

use super::finish::{Background, Newest};
use super::pair::{Pair, Pairs};
use super::{Ask, AuditEvent, AuditRequest, Sensitivity};

/// Answers until the engine is gone; what waits for a network is passed on.
pub fn serve(requests: &Receiver<AuditRequest>, background: &Sender<Background>, newest: &Newest, out: &Outbox) {
    let mut desk = Desk::default();
    // The inference thread ends only with the engine.
    let pass_on = |jobs: Vec<Background>| jobs.into_iter().for_each(|job| drop(background.send(job)));
    loop {
        let first = if desk.touched.is_empty() { requests.recv().map_err(|_| TryRecvError::Disconnected) } else { requests.try_recv() };
        match first {
            Ok(first) => {
                let mut waiting = vec![first];
                waiting.extend(requests.try_iter());
                for request in without_older(waiting) {
                    pass_on(desk.answer(&request, newest, out));
                }
            }
            Err(TryRecvError::Empty) => pass_on(desk.follow_up(newest, out)),
            Err(TryRecvError::Disconnected) => return,
        }
    }
}

/// Of requests of one kind for one edit only the newest is answered.
fn without_older(requests: Vec<AuditRequest>) -> Vec<AuditRequest> {
    let about = |request: &AuditRequest| (std::mem::discriminant(request), request.ask().edit);
    let last = |at: usize| requests[at + 1..].iter().all(|later| about(later) != about(&requests[at]));
    let kept: Vec<bool> = (0..requests.len()).map(last).collect();
    requests.into_iter().zip(kept).filter_map(|(request, kept)| kept.then_some(request)).collect()
}

impl AuditRequest {
    /// Which edit it is about.
    pub const fn ask(&self) -> &Ask {
        match self {
            Self::Rescore(ask) | Self::Sensitivity { ask, .. } | Self::PasteBack { ask, .. } => ask,
        }
    }
}

/// What the thread holds between requests.
#[derive(Default)]
struct Desk {
    project: Option<(PathBuf, Project)>,
    pairs: Pairs,
    /// Other edits whose scores a change touched; scored while nobody asks.
    touched: VecDeque<Ask>,
}

impl Desk {
    /// Answers, and returns what is left to the inference thread.
    fn answer(&mut self, request: &AuditRequest, newest: &Newest, out: &Outbox) -> Vec<Background> {
        let ask = request.ask();
        let (ticket, edit) = (ask.ticket, ask.edit);
        let result = match request {
            AuditRequest::Rescore(ask) if !newest.is(ask) => Ok(Vec::new()),
            AuditRequest::Rescore(ask) => {
                self.touched.retain(|other| other.edit != ask.edit);
                self.rescore_item(ask, out)
            }
            AuditRequest::Sensitivity { ask, all } => self.sensitivity(ask, *all, out).map(Vec::from_iter),
            AuditRequest::PasteBack { ask, feather } => Ok(vec![Background::PasteBack { ask: ask.clone(), feather: *feather }]),
        };
        match result {
            Ok(passed_on) => passed_on,
            Err(error) => {
                let why = crate::engine::in_words(&error);
                out.publish(Event::Audit(match request {
                    AuditRequest::Sensitivity { .. } => AuditEvent::Sensitivity { ticket, edit, result: Err(why) },
                    _ => AuditEvent::Failed { ticket, edit, why },
                }));
                Vec::new()
            }
        }
    }

    fn open(&mut self, path: &Path) -> anyhow::Result<()> {
        if self.project.as_ref().is_none_or(|(known, _)| known != path) {
            self.pairs.clear();
            self.project = Some((path.to_owned(), Project::open(path)?));
        }
        Ok(())
    }

    /// The edit that is asked about; the others of its item whose scores a change of the source or of the parse touched are put aside, so
    /// that the next question does not wait for them.
    fn rescore_item(&mut self, ask: &Ask, out: &Outbox) -> anyhow::Result<Vec<Background>> {
        let later = Vec::from_iter(self.rescore(ask, out)?);
        let Some((_, project)) = &self.project else { return Ok(later) };
        for edit in project.edits_of(project.edit(ask.edit)?.item)? {
            let score = project.queue_row(edit.id, ask.profile)?.score;
            if edit.id != ask.edit && score.is_some_and(|score| score.stale) {
                self.touched.retain(|other| other.edit != edit.id);
                self.touched.push_back(Ask { edit: edit.id, ..ask.clone() });
            }
        }
        Ok(later)
    }

    /// Scores one of the edits that were put aside.
    fn follow_up(&mut self, newest: &Newest, out: &Outbox) -> Vec<Background> {
        let Some(ask) = self.touched.pop_front() else { return Vec::new() };
        if !newest.set_unless_newer(&ask) {
            return Vec::new();
        }
        self.rescore(&ask, out).map_or_else(
            |error| {
                out.publish(Event::Audit(AuditEvent::Failed { ticket: ask.ticket, edit: ask.edit, why: crate::engine::in_words(&error) }));
                Vec::new()
            },
            Vec::from_iter,
        )
    }

    fn rescore(&mut self, ask: &Ask, out: &Outbox) -> anyhow::Result<Option<Background>> {
        let began = Instant::now();
        self.open(&ask.project)?;
        let Some((_, project)) = &self.project else { return Ok(None) };
        let later = Some(Background::Rescore(ask.clone()));
        // Without a run there is nothing to correct: the networks have never seen this project.
        let Some((run, names)) = known_run(project, ask)? else { return Ok(later) };
        // The pair is read anew where its files changed; the person must know that the score is of other pictures than the last one.
        let report = project.look_for_pictures_of(ask.edit)?;
        if report.news > 0 {
            out.publish(Event::PicturesSeen { project: ask.project.clone(), report });
        }
        let pair = self.pairs.get(project, ask.edit)?;
        let instant = instant(project, &pair, ask, &names)?;
        let millis = began.elapsed().as_secs_f64() * 1e3;
        let tell = |partial: &Arc<Partial>, kept| {
            let partial = Arc::clone(partial);
            out.publish(Event::Audit(AuditEvent::Rescored { ticket: ask.ticket, edit: ask.edit, partial, millis, kept }));
        };
        let partial = Arc::new(instant.partial);
        tell(&partial, false);
        if !partial.pending.is_none() {
            return Ok(later);
        }
        let before = measured::before(project, ask.edit, ask.profile)?;
        let score = triage::complete((partial.score.clone(), partial.mask_in_bpm500.clone()), &pair.canvases);
        if instant.corrected {
            corrections::keep_corrected(project, &run.about, ask.edit, Some(&score), ask.profile, millis / 1e3)?;
        } else {
            project.put_score(run.id, ask.edit, &score, millis / 1e3)?;
            project.drop_corrections(ask.edit, ask.profile)?;
        }
        let measure = before.is_some();
        if let Some(before) = before {
            measured::carry(project, ask.edit, before, &score)?;
        }
        tell(&Arc::new(Partial { score, ..Partial::clone(&partial) }), true);
        Ok(measure.then(|| Background::Measure(ask.clone())))
    }

    fn sensitivity(&mut self, ask: &Ask, all: bool, out: &Outbox) -> anyhow::Result<Option<Background>> {
        self.open(&ask.project)?;
        let Some((_, project)) = &self.project else { return Ok(None) };
        let known = known_run(project, ask)?;
        let Some((_, names)) = known.filter(|_| !all) else { return Ok(Some(Background::Sensitivity(ask.clone()))) };
        let pair = self.pairs.get(project, ask.edit)?;
        let cache = ProjectCache(project);
        let result = Known { cache: &cache, names: &names, hashed: &pair.hashed() }
            .with_networks(|nets| curves(project, &pair, ask.edit, ask.profile, nets))?;
        out.publish(Event::Audit(AuditEvent::Sensitivity { ticket: ask.ticket, edit: ask.edit, result: Ok(Arc::new(result)) }));
        Ok(None)
    }
}

/// The run that made the automatic score of the edit, and the names of its networks' results in the cache.
fn known_run(project: &Project, ask: &Ask) -> anyhow::Result<Option<(Run, CacheNames)>> {
    let Some(run) = run_of(project, ask.edit, ask.profile)? else { return Ok(None) };
    let names = CacheNames::of(project, &run.about.models_fingerprint)?;
    Ok(names.map(|names| (run, names)))
}

/// What could be told at once.
pub struct AtOnce {
    pub partial: Partial,
    /// A person corrected something.
    pub corrected: bool,
}

/// Judges an edit from what is in the cache.
fn instant(project: &Project, pair: &Pair, ask: &Ask, names: &CacheNames) -> anyhow::Result<AtOnce> {
    let readings = inputs::readings(project, &pair.item, ask.edit, pair.sizes())?;
    let corrected = readings.corrected.is_some();
    let reading = readings.corrected.unwrap_or(readings.automatic);
    let cache = ProjectCache(project);
    let input = input_of(pair, &reading);
    let settings = Settings::new(ask.profile);
    let partial =
        Known { cache: &cache, names, hashed: &pair.hashed() }.with_networks(|nets| judge(&input, &pair.canvases, &settings, nets))?;
    Ok(AtOnce { partial, corrected })
}

/// A pair as it is read.
pub fn input_of<'a>(pair: &'a Pair, reading: &'a Reading) -> PairInput<'a> {
    PairInput {
        source: &pair.source,
        edit: &pair.edit,
        instruction: &pair.item.instruction,
        parse: &reading.parse,
        overrides: &reading.overrides,
    }
}

/// Both curves of an edit as it counts, as far as `nets` know.
///
/// # Errors
/// When the project cannot be read or a network fails.
pub fn curves(project: &Project, pair: &Pair, edit: EditId, profile: Profile, nets: &mut Networks<'_>) -> anyhow::Result<Sensitivity> {
    let readings = inputs::readings(project, &pair.item, edit, pair.sizes())?;
    let reading = readings.corrected.unwrap_or(readings.automatic);
    let (input, settings) = (input_of(pair, &reading), Settings::new(profile));
    let now = judge(&input, &pair.canvases, &settings, nets)?;
    let by_box_threshold =
        if now.score.global { Vec::new() } else { sensitivity::by_box_threshold(&input, &pair.canvases, &settings, nets)? };
    let by_growth = match &now.mask_in_bpm500 {
        Some(mask) if !mask.is_empty() => {
            sensitivity::by_growth(&pair.canvases, (mask, reading.overrides.ignore.as_ref()), profile, &now.score.parts)
        }
        _ => Vec::new(),
    };
    // As people write it: 0.3, not 0.30000001192092896.
    let box_threshold = (f64::from(settings.box_threshold) * 1000.0).round() / 1000.0;
    Ok(Sensitivity { profile, box_threshold, by_box_threshold, by_growth })
}
