//! What waits for a network, on the thread that owns them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Context as _;
use image::RgbImage;

use crate::domain::{Mask, Score};
use crate::engine::baselines::BaselineChoice;
use crate::engine::cache::ProjectCache;
use crate::engine::evaluate::{Run, evaluate};
use crate::engine::handle::Outbox;
use crate::engine::inputs;
use crate::engine::messages::{Event, Level, RunToken, ScoreRequest};
use crate::engine::networks::NetworkSlot;
use crate::engine::scored_by::load_for;
use crate::engine::{baselines, measured};
use crate::imaging::paste::paste_back;
use crate::metrics::bpm::{PairInput, Partial, Pending, Settings, score_pair};
use crate::metrics::ports::{Networks, PortError};
use crate::storage::{EditId, Project};

use super::pair::Pair;
use super::thread::curves;
use super::{Ask, AuditEvent, PastedBack};

/// Work for the inference thread.
#[derive(Clone, Debug, PartialEq)]
pub enum Background {
    Rescore(Ask),
    /// The score has followed; other metrics of pixels still have to.
    Measure(Ask),
    Sensitivity(Ask),
    PasteBack {
        ask: Ask,
        feather: f32,
    },
}

impl Background {
    /// Which edit it is about.
    pub const fn ask(&self) -> &Ask {
        match self {
            Self::Rescore(ask) | Self::Measure(ask) | Self::Sensitivity(ask) | Self::PasteBack { ask, .. } => ask,
        }
    }
}

/// The newest re-score of each edit, shared by the threads: an older one stops where it is.
#[derive(Clone, Default)]
pub struct Newest(Arc<Mutex<HashMap<EditId, u64>>>);

impl Newest {
    /// From now on this is the newest of its edit.
    pub fn set(&self, ask: &Ask) {
        // A panic elsewhere cannot leave a map of numbers half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(ask.edit, ask.ticket);
    }

    /// As [`Self::set`], unless somebody asked about the edit since; says whether it is the newest now.
    pub fn set_unless_newer(&self, ask: &Ask) -> bool {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = newest.entry(ask.edit).or_insert(ask.ticket);
        *known = (*known).max(ask.ticket);
        *known == ask.ticket
    }

    /// Whether nobody asked about the edit since.
    pub fn is(&self, ask: &Ask) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&ask.edit).is_none_or(|newest| *newest == ask.ticket)
    }
}

/// Does one piece of work and tells what came of it.
pub fn finish(job: &Background, networks: &mut NetworkSlot, newest: &Newest, out: &Outbox) {
    let Ask { ticket, edit, .. } = *job.ask();
    let failed = |error: anyhow::Error| crate::engine::in_words(&error);
    match job {
        Background::Rescore(ask) | Background::Measure(ask) if !newest.is(ask) => {}
        Background::Rescore(ask) => {
            if let Err(error) = rescore(ask, networks, newest, out) {
                out.publish(Event::Audit(AuditEvent::Failed { ticket, edit, why: failed(error) }));
            }
        }
        Background::Measure(ask) => {
            let measured = Project::open(&ask.project).map_err(Into::into).and_then(|project| measure(&project, ask, out));
            if let Err(error) = measured {
                out.say(
                    Level::Warning,
                    format!("The score holds, but its other metrics could not be measured anew: {}", crate::engine::in_words(&error)),
                );
            }
        }
        Background::Sensitivity(ask) => {
            let result = sensitivity(ask, networks, out).map(Arc::new).map_err(failed);
            out.publish(Event::Audit(AuditEvent::Sensitivity { ticket, edit, result }));
        }
        Background::PasteBack { ask, feather } => {
            if let Err(error) = pasted_back(ask, *feather, networks, out) {
                out.publish(Event::Audit(AuditEvent::PastedBack { ticket, edit, result: Err(failed(error)) }));
            }
        }
    }
}

/// A run of one edit, which scores and keeps both readings; only what it comes to is told.
fn rescore(ask: &Ask, networks: &mut NetworkSlot, newest: &Newest, out: &Outbox) -> anyhow::Result<()> {
    let began = Instant::now();
    let project = Project::open(&ask.project)?;
    // With the networks that scored the edit, and so into their run, whichever the window names.
    let ask = &load_for(&project, ask, networks, &mut |event| out.publish(event))?;
    let request = ScoreRequest {
        project: ask.project.clone(),
        edits: Some(vec![ask.edit]),
        models: ask.models.clone(),
        profile: ask.profile,
        device: ask.device,
        range: None,
        rescore: false,
        baselines: BaselineChoice::None,
    };
    let before = measured::before(&project, ask.edit, ask.profile)?;
    let mut scored = None;
    let mut emit = |event: Event| {
        let answer = match event {
            Event::EditScored { score, .. } => {
                scored = Some(score);
                return;
            }
            Event::EditFailed { edit, why, .. } => AuditEvent::Failed { ticket: ask.ticket, edit, why },
            Event::Message { level, text } => return out.say(level, text),
            _ => return,
        };
        out.publish(Event::Audit(answer));
    };
    // Not among the jobs of the window, which have tokens from 1 on.
    let token = RunToken(0);
    let mut run = Run { token, request: &request, cancelled: &|| !newest.is(ask), emit: &mut emit, between: &mut |_| {} };
    let ended = evaluate(&project, networks, &mut run).map(drop);
    let Some(score) = scored else { return ended };
    // Beside the score before it is told: whoever hears of it reads both.
    if let Some(before) = before {
        measured::carry(&project, ask.edit, before, &score)?;
    }
    let partial = Arc::new(Partial { score: Score::clone(&score), pending: Pending::default(), mask_in_bpm500: None });
    let millis = began.elapsed().as_secs_f64() * 1e3;
    out.publish(Event::Audit(AuditEvent::Rescored { ticket: ask.ticket, edit: ask.edit, partial, millis, kept: true }));
    ended?;
    measure(&project, ask, out)
}

/// Measures what pixels tell of the region as it is now, where an older region was measured.
fn measure(project: &Project, ask: &Ask, out: &Outbox) -> anyhow::Result<()> {
    let known = project.newest_baselines(ask.edit, ask.profile)?;
    if !known.is_some_and(|(_, known)| measured::outdated_pixels(&known)) {
        return Ok(());
    }
    let pair = Pair::load(project, ask.edit)?;
    if baselines::pixels_again(project, ask.edit, ask.profile, [&pair.source, &pair.edit])? {
        out.publish(Event::Audit(AuditEvent::Measured { ticket: ask.ticket, edit: ask.edit }));
    }
    Ok(())
}

fn sensitivity(ask: &Ask, networks: &mut NetworkSlot, out: &Outbox) -> anyhow::Result<super::Sensitivity> {
    let project = Project::open(&ask.project)?;
    let pair = Pair::load(&project, ask.edit)?;
    load_for(&project, ask, networks, &mut |event| out.publish(event))?;
    networks.remember(&project)?;
    let cache = ProjectCache(&project);
    let mut result = None;
    let lend = &mut |nets: &mut Networks<'_>| -> Result<(), PortError> {
        result = Some(curves(&project, &pair, ask.edit, ask.profile, nets));
        Ok(())
    };
    networks.lend(&cache, &|| false, &mut |event| out.publish(event), lend)?;
    result.unwrap_or_else(|| anyhow::bail!("the networks were not lent"))
}

/// Tells the pasted picture as soon as it is made, and again with its score.
fn pasted_back(ask: &Ask, feather: f32, networks: &mut NetworkSlot, out: &Outbox) -> anyhow::Result<()> {
    let project = Project::open(&ask.project)?;
    let pair = Pair::load(&project, ask.edit)?;
    let mask = region_of(&project, &pair, ask)?;
    let pasted = paste_back(&pair.source, &pair.edit, &mask, feather);
    let picture = keep_preview(&pasted, ask)?;
    let tell = |score| {
        let result = Ok(Arc::new(PastedBack { picture: picture.clone(), feather, score }));
        out.publish(Event::Audit(AuditEvent::PastedBack { ticket: ask.ticket, edit: ask.edit, result }));
    };
    tell(None);
    // The picture stands by itself, whatever becomes of its score.
    let loaded = load_for(&project, ask, networks, &mut |event| out.publish(event));
    let score = loaded.and_then(|_| score_pasted(&project, &pair, &pasted, ask, networks, out));
    tell(Some(score.map(Arc::new).map_err(|error| crate::engine::in_words(&error))));
    Ok(())
}

/// The edit region as it is now, at the size of the source: what a person drew, else what the score found.
fn region_of(project: &Project, pair: &Pair, ask: &Ask) -> anyhow::Result<Mask> {
    let readings = inputs::readings(project, &pair.item, ask.edit, pair.sizes())?;
    if let Some(drawn) = readings.corrected.and_then(|corrected| corrected.overrides.mask) {
        return Ok(drawn.resized_nearest(pair.sizes().source));
    }
    let stored = project.latest_score(ask.edit, ask.profile)?;
    let Some(stored) = stored else { anyhow::bail!("this edit has no score yet, so its region is not known: score it first") };
    if stored.stale {
        anyhow::bail!("the score of this edit is outdated, and so is the region that it found: score it again first");
    }
    match &stored.score.mask {
        Some(rle) => Ok(rle.to_mask()?),
        None => anyhow::bail!("the whole picture was to change: there is no region to paste back"),
    }
}

/// The pasted picture judged as the edit is: same parse, same corrections.
fn score_pasted(
    project: &Project,
    pair: &Pair,
    pasted: &RgbImage,
    ask: &Ask,
    networks: &mut NetworkSlot,
    out: &Outbox,
) -> anyhow::Result<Score> {
    let readings = inputs::readings(project, &pair.item, ask.edit, pair.sizes())?;
    let reading = readings.corrected.unwrap_or(readings.automatic);
    let input = PairInput {
        source: &pair.source,
        edit: pasted,
        instruction: &pair.item.instruction,
        parse: &reading.parse,
        overrides: &reading.overrides,
    };
    let (cache, settings) = (ProjectCache(project), Settings::new(ask.profile));
    let mut emit = |event| out.publish(event);
    Ok(networks.lend(&cache, &|| false, &mut emit, &mut |nets| score_pair(&input, &settings, nets))?)
}

/// Writes a preview where pictures of this process go that nobody asked to keep.
fn keep_preview(picture: &RgbImage, ask: &Ask) -> anyhow::Result<PathBuf> {
    let cache = dirs::cache_dir().context("there is no cache folder for this user: set XDG_CACHE_HOME or HOME")?;
    let folder = cache.join("editscope").join("previews");
    std::fs::create_dir_all(&folder)?;
    forget_old_previews(&folder);
    // Another name each time: whoever shows the old one is not surprised.
    let path = folder.join(format!("paste-back-{}-{}-{}.png", std::process::id(), ask.edit.0, ask.ticket));
    picture.save(&path)?;
    Ok(path)
}

/// Previews are of use for minutes; those of yesterday go. Best effort: what stays behind costs only space.
fn forget_old_previews(folder: &std::path::Path) {
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > day) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
