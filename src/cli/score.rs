//! `score`: runs the engine on this thread, shows progress, and writes one JSON object an edit.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::domain::{PaperWeights, Range};
use crate::engine::results::{self, ScoredEdit};
use crate::engine::{
    BaselineView, Combined, Event, Level, ModelSource, NetworkSlot, Run, RunToken, ScoreRequest, Tally, evaluate, explain, files,
};
use crate::export::{AutomaticLine, FailedLine, Normalised, ScoreLine, check_output, is_stream, write_file};
use crate::storage::{EditId, Project, flags_of};
use anyhow::{Context as _, bail};

use super::Finish;
use super::args::{Score, Shard};
use super::progress::{Progress, told};

/// Scores a project or a data set.
pub fn run(score: &Score) -> anyhow::Result<Finish> {
    if let Some(out) = &score.out {
        check_output(out, &[&score.data])?;
    }
    let scratch;
    let (project_path, mut some_failed) = match project_for(score)? {
        Place::Project(path) => (path, false),
        Place::Import { data, project } => {
            let done = files::import_to_score(&data, &project, &told("items"))?;
            report_problems(&done.problems);
            tell!("{}", done.summary);
            (project, !done.problems.is_empty())
        }
        Place::Scratch { data } => {
            scratch = Scratch::new()?;
            let project = scratch.0.join("score.editscope");
            let done = files::import_to_score(&data, &project, &told("items"))?;
            report_problems(&done.problems);
            (project, !done.problems.is_empty())
        }
    };
    let project = Project::open(&project_path)?;
    refuse_early(&project, score)?;
    let edits = score.shard.map(|shard| shard_edits(&project, shard)).transpose()?;
    let range = score.range.as_deref().map(|name| saved_range(&project, name, score)).transpose()?;
    let request = ScoreRequest {
        project: project_path.clone(),
        edits: edits.clone(),
        models: ModelSource::from_argument(&score.networks.models),
        profile: score.profile,
        device: score.networks.device.preference(),
        range,
        rescore: score.rescore,
        baselines: score.baselines,
    };
    let tally = run_with_progress(&project, &request)?;
    some_failed |= tally.failed > 0;

    let range = match (request.range, score.shard) {
        (Some(range), _) => Some(range),
        // A shard does not know the range of the whole set.
        (None, Some(_)) => None,
        (None, None) => Some(results::fit(&project, score.profile, None)?),
    };
    if let (Some(name), Some(range)) = (&score.save_range, &range) {
        project.save_range(&Range { name: name.clone(), ..range.clone() })?;
        tell!("range '{name}' saved");
    }
    let scored = results::all(&project, score.profile, range.as_ref(), edits.as_deref())?;
    if scored.is_empty() {
        bail!("{}: there is no edit to score", score.data.display());
    }
    write_lines(&scored, score, range.as_ref())?;
    range.iter().for_each(super::range::warn);
    say_outside(&scored);
    tell!("{} lines; {} scored, {} failed", scored.len(), tally.done, tally.failed);
    if score.out.as_ref().is_some_and(|out| !is_stream(out)) && !Project::is_project(&score.data) {
        say_where(&project_path);
    }
    Ok(if some_failed { Finish::SomeFailed } else { Finish::Done })
}

/// Says before hours of scoring, not after, that what comes out of it would replace something.
fn refuse_early(project: &Project, score: &Score) -> anyhow::Result<()> {
    if let Some(out) = &score.out {
        super::export::refuse_lost(project, out)?;
    }
    if let Some(name) = &score.save_range {
        super::range::refuse_known(project, name, score.profile, score.replace)?;
    }
    Ok(())
}

/// Says where the work is kept.
fn say_where(project: &Path) {
    let path = project.display();
    tell!("kept in {path}: run again to resume, or look at it with `editscope open {path}`");
}

/// Says how many edits the range does not hold.
fn say_outside(scored: &[ScoredEdit]) {
    let outside = scored.iter().filter(|edit| !edit.outside().is_empty()).count();
    if outside > 0 {
        tell!("note: {outside} edits lie outside the range: the set that it was fitted on had no such value (key 'outside')");
    }
}

/// A saved range of the project, or one from a file.
fn saved_range(project: &Project, name: &str, score: &Score) -> anyhow::Result<Range> {
    if let Some(range) = super::range::from_named_file(name, score.profile)? {
        return Ok(range);
    }
    project.range(name, score.profile)?.with_context(|| format!("--range: {}", super::range::unknown(project, name, score.profile)))
}

/// Where a score's work is kept.
enum Place {
    Project(PathBuf),
    Import {
        data: PathBuf,
        project: PathBuf,
    },
    /// A data set without `--out`, or with a pipe or device there: nothing is kept.
    Scratch {
        data: PathBuf,
    },
}

fn project_for(score: &Score) -> anyhow::Result<Place> {
    let data = score.data.clone();
    if !data.exists() {
        bail!("{}: there is no such file or folder", data.display());
    }
    if Project::is_meant(&data) {
        return Ok(Place::Project(data));
    }
    Ok(match &score.out {
        // Beside a device nothing can be kept, and beside a pipe nobody would look for it.
        Some(out) if !is_stream(out) => Place::Import { data, project: out.with_extension("editscope") },
        _ => Place::Scratch { data },
    })
}

/// A folder that vanishes with the run.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> anyhow::Result<Self> {
        let cache = dirs::cache_dir().context("there is no cache folder for this user: set XDG_CACHE_HOME, or give --out")?;
        let folder = cache.join("editscope").join(format!("score-{}", std::process::id()));
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind in the cache folder hurts nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn report_problems(problems: &[String]) {
    for problem in problems {
        tell!("problem: {problem}");
    }
}

fn shard_edits(project: &Project, shard: Shard) -> anyhow::Result<Vec<EditId>> {
    let items: HashSet<_> = project.items()?.into_iter().skip(shard.index - 1).step_by(shard.count).map(|item| item.id).collect();
    Ok(project.edits()?.into_iter().filter(|edit| items.contains(&edit.item)).map(|edit| edit.id).collect())
}

/// Scores with a progress bar on a terminal, with plain lines elsewhere.
pub fn run_with_progress(project: &Project, request: &ScoreRequest) -> anyhow::Result<Tally> {
    let progress = Progress::new();
    let say = |text: &str| progress.say(text);
    if request.models == ModelSource::Demo {
        say(&format!("note: {}", crate::engine::DEMO_NOTICE));
    }
    let mut emit = |event: Event| match event {
        Event::RunStarted { total, already, device, models, .. } => {
            progress.set_total(total);
            let resumed = if already > 0 { format!(", {already} of them scored before") } else { String::new() };
            say(&format!("{total} edits{resumed}; networks {models} on {device}"));
        }
        Event::Progress { done, failed, total, current, .. } => progress.at(done + failed, total, &current),
        Event::EditFailed { label, why, .. } => say(&format!("failed: {label}: {why}")),
        Event::Message { level, text } => say(&match level {
            Level::Info => text,
            Level::Warning => format!("warning: {text}"),
            Level::Error => format!("error: {text}"),
        }),
        _ => {}
    };
    let mut run = Run { token: RunToken(0), request, cancelled: &|| false, emit: &mut emit, between: &mut |_| {} };
    let tally = evaluate(project, &mut NetworkSlot::default(), &mut run)?;
    progress.finish();
    Ok(tally)
}

fn write_lines(scored: &[ScoredEdit], score: &Score, range: Option<&Range>) -> anyhow::Result<()> {
    let Some(path) = &score.out else {
        return write_to(&mut std::io::stdout().lock(), scored, score, range).context("standard output");
    };
    Ok(write_file(path, |file| write_to(file, scored, score, range).map_err(|error| error.to_string()))?)
}

fn write_to(out: &mut dyn Write, scored: &[ScoredEdit], score: &Score, range: Option<&Range>) -> std::io::Result<()> {
    let view = BaselineView::of(score.baselines);
    for edit in scored {
        let line = match &edit.score {
            Some(found) => serde_json::to_string(&line_of(edit, found, range, &view)),
            None => {
                let why = edit.why.as_deref().unwrap_or("the run was interrupted before this edit; run again");
                serde_json::to_string(&FailedLine::new(
                    edit.key.0.clone(),
                    edit.item.0.clone(),
                    edit.model.clone(),
                    edit.instruction.clone(),
                    score.profile,
                    why,
                ))
            }
        };
        writeln!(out, "{}", line.map_err(std::io::Error::other)?)?;
    }
    out.flush()
}

fn line_of(edit: &ScoredEdit, score: &crate::domain::Score, range: Option<&Range>, view: &BaselineView) -> ScoreLine {
    let mut baselines = edit.baselines.clone();
    view.complete(&mut baselines);
    let normalised = |combined: &Combined| Normalised { modify: combined.modify.value.clone(), preserve: combined.preserve.value.clone() };
    let automatic = edit.automatic.as_ref().map(|automatic| AutomaticLine {
        parts: automatic.score.parts.clone(),
        normalised: normalised(&automatic.combined),
        overall: automatic.combined.overall.clone(),
        parse: automatic.score.parse.clone(),
        boxes: automatic.score.boxes.clone(),
        mask: automatic.score.mask.clone(),
    });
    // The path goes on to the overall: what the range made of the parts, and how they were weighed.
    let mut trace = score.trace.clone();
    trace.extend(explain(score, range, PaperWeights::default()));
    ScoreLine {
        id: edit.key.0.clone(),
        item: edit.item.0.clone(),
        model: edit.model.clone(),
        instruction: edit.instruction.clone(),
        profile: score.profile,
        parts: score.parts.clone(),
        normalised: normalised(&edit.combined),
        overall: edit.combined.overall.clone(),
        range: range.cloned(),
        outside: edit.outside().into_iter().map(str::to_owned).collect(),
        parse: score.parse.clone(),
        boxes: score.boxes.clone(),
        mask: score.mask.clone(),
        crop: score.crop_in_bpm500,
        global: score.global,
        trace,
        triage: score.triage,
        flags: flags_of(score).into_iter().map(|flag| flag.name().to_owned()).collect(),
        outdated: edit.outdated,
        automatic,
        models: edit.models.clone(),
        device: edit.device.clone(),
        human: edit.human_means(),
        human_simulated: edit.has_simulated_ratings(),
        seconds: edit.seconds,
        baselines,
    }
}
