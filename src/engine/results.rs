//! Scores as they stand in a project, made comparable by a range: what `score` writes, tables show and agreement is computed from.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{
    AutomaticResult, Baselines, EditKey, ExportResult, ExportRow, ItemKey, Outcome, PaperWeights, Profile, Range, Rating, Score,
    baseline_column,
};
use crate::metrics::bpm::{Combined, Marked, combine, fit_range};
use crate::storage::{EditId, Project, QueueRow, Run, RunId, RunKind, StorageError, StoredEdit, StoredScore, flags_of};

/// One edit with its newest score under a profile.
#[derive(Clone, Debug)]
pub struct ScoredEdit {
    pub id: EditId,
    pub key: EditKey,
    pub item: ItemKey,
    pub model: String,
    pub instruction: String,
    /// `None` when it has not been scored, or scoring failed (`why`).
    pub score: Option<Score>,
    /// Why there is no score.
    pub why: Option<String>,
    /// Picture, parse or regions changed since the score was made: the queue calls it outdated.
    pub outdated: bool,
    /// A picture of the edit holds something else now than when it was scored, as far as [`mark_changed`] has looked.
    pub changed: bool,
    pub combined: Combined,
    /// What the metric said by itself, where `score` is a person's correction; `None` where nothing was corrected.
    pub automatic: Option<Automatic>,
    /// Other metrics beside the score, as far as they were computed.
    pub baselines: Baselines,
    /// The newest rating of each rater.
    pub ratings: Vec<Rating>,
    pub models: String,
    pub device: String,
    /// Time that scoring took when it was first done.
    pub seconds: f64,
}

/// The automatic score beside a corrected one.
#[derive(Clone, Debug)]
pub struct Automatic {
    pub score: Score,
    pub combined: Combined,
}

impl ScoredEdit {
    /// Mean over raters of one criterion; `None` without ratings of it.
    pub fn human(&self, criterion: &str) -> Option<f64> {
        let values: Vec<f64> = self.ratings.iter().filter_map(|rating| rating.values.get(criterion).copied()).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Mean over raters of every criterion that somebody answered.
    pub fn human_means(&self) -> BTreeMap<String, f64> {
        let criteria: BTreeSet<&String> = self.ratings.iter().flat_map(|rating| rating.values.keys()).collect();
        criteria.into_iter().filter_map(|criterion| Some((criterion.clone(), self.human(criterion)?))).collect()
    }

    /// Mean over raters of the overall impression.
    pub fn human_overall(&self) -> Option<f64> {
        self.human("overall")
    }

    /// Whether a rating was made by a program.
    pub fn has_simulated_ratings(&self) -> bool {
        self.ratings.iter().any(|rating| rating.simulated)
    }

    /// The parts whose value lies outside the range.
    pub fn outside(&self) -> Vec<&'static str> {
        let parts = [("modify", self.combined.modify.outside), ("preserve", self.combined.preserve.outside)];
        parts.into_iter().filter_map(|(part, outside)| outside.then_some(part)).collect()
    }

    /// The value of `overall`, of a part, or of a column of the baselines (`ssim`, `ssim.outside`).
    pub fn value(&self, metric: &str) -> Outcome<f64> {
        let missing = || Outcome::NotApplicable(self.why.clone().unwrap_or_else(|| "not scored yet".to_owned()));
        match (&self.score, metric) {
            (_, "overall") => self.combined.overall.clone(),
            (Some(score), part) => {
                score.parts.get(part).or_else(|| baseline_column(&self.baselines, part)).cloned().unwrap_or_else(missing)
            }
            (None, _) => missing(),
        }
    }
}

/// Fits the range of a profile on the newest automatic scores of `edits` (all, when `None`): correcting one edit moves no other.
///
/// # Errors
/// When the project cannot be read.
pub fn fit(project: &Project, profile: Profile, edits: Option<&[EditId]>) -> Result<Range, StorageError> {
    let asked: Option<BTreeSet<EditId>> = edits.map(|edits| edits.iter().copied().collect());
    let rows = project.queue(profile)?;
    let wanted = rows.iter().filter(|row| asked.as_ref().is_none_or(|asked| asked.contains(&row.edit)));
    let scores: Vec<Score> = wanted.filter_map(|row| automatic_parts(row, profile)).collect();
    Ok(fit_range(profile, &scores, "fitted", &format!("{} edits of this set", scores.len())))
}

/// Some edits of a project, and which they are in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub edits: Vec<EditId>,
    pub which: String,
}

/// Fits the range of a profile on the edits of a project that were chosen (all, when `None`) and keeps it there under a name; one of that
/// name and profile is replaced.
///
/// # Errors
/// When none of them is scored, or the project cannot be read or written.
pub fn fit_and_save(project: &Project, name: &str, profile: Profile, chosen: Option<&Chosen>) -> anyhow::Result<Range> {
    let fitted = fit(project, profile, chosen.map(|chosen| chosen.edits.as_slice()))?;
    if fitted.modify.is_none() && fitted.preserve.is_none() {
        let which = chosen.map_or_else(String::new, |chosen| format!(" of {}", chosen.which));
        anyhow::bail!(
            "{}: no edit{which} has a score of profile {profile} to fit on; run `editscope score` first",
            project.path().display()
        );
    }
    let file = project.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let asked: Option<BTreeSet<EditId>> = chosen.map(|chosen| chosen.edits.iter().copied().collect());
    let among = |row: &QueueRow| asked.as_ref().is_none_or(|asked| asked.contains(&row.edit)) && automatic_parts(row, profile).is_some();
    let edits = project.queue(profile)?.iter().filter(|row| among(row)).count();
    let which = chosen.map_or_else(String::new, |chosen| format!(": {}", chosen.which));
    let range = Range { name: name.to_owned(), fitted_on: format!("{edits} edits of {file}{which}"), ..fitted };
    project.save_range(&range)?;
    Ok(range)
}

/// The automatic score of a row of the queue, as far as a range needs it; `None` when it has none.
pub fn automatic_parts(row: &QueueRow, profile: Profile) -> Option<Score> {
    let stored = row.score.as_ref()?;
    let parts = stored.automatic.as_ref().or(stored.parts.as_ref().ok())?;
    Some(Score::of_parts(profile, stored.global, parts.clone()))
}

/// The overall of each score under a range.
pub fn overalls(scores: &[StoredScore], range: &Range) -> Vec<(EditId, Outcome<f64>)> {
    scores.iter().map(|stored| (stored.edit, combine(&stored.score, Some(range), PaperWeights::default()).overall)).collect()
}

fn newest_scores(project: &Project, profile: Profile, edits: Option<&[EditId]>) -> Result<BTreeMap<EditId, StoredScore>, StorageError> {
    let ids = match edits {
        Some(edits) => edits.to_vec(),
        None => project.edits()?.into_iter().map(|edit| edit.id).collect(),
    };
    let mut scores = BTreeMap::new();
    for id in ids {
        if let Some(stored) = project.latest_score(id, profile)? {
            scores.insert(id, stored);
        }
    }
    Ok(scores)
}

/// Every edit of the project (or those of `edits`) in the order of the project, with its newest score of `profile` normalised by `range`.
///
/// # Errors
/// When the project cannot be read.
pub fn all(project: &Project, profile: Profile, range: Option<&Range>, edits: Option<&[EditId]>) -> Result<Vec<ScoredEdit>, StorageError> {
    let mut scores = newest_scores(project, profile, edits)?;
    let asked: Option<BTreeSet<EditId>> = edits.map(|edits| edits.iter().copied().collect());
    let runs: BTreeMap<RunId, Run> = project.runs()?.into_iter().map(|run| (run.id, run)).collect();
    let mut failures = BTreeMap::new();
    if let Some(run) = runs.values().rev().find(|run| run.about.profile == profile && run.about.kind == RunKind::Set) {
        failures.extend(project.failures_of_run(run.id)?);
    }
    let items: BTreeMap<_, _> = project.items()?.into_iter().map(|item| (item.id, item)).collect();
    let mut ratings = project.all_latest_ratings()?;
    let mut all_baselines = project.all_latest_baselines(profile)?;
    let mut found = Vec::new();
    for edit in project.edits()? {
        if asked.as_ref().is_some_and(|asked| !asked.contains(&edit.id)) {
            continue;
        }
        let Some(item) = items.get(&edit.item) else { continue };
        let stored = scores.remove(&edit.id);
        let why = failures.remove(&edit.id);
        let combined = match (&stored, &why) {
            // A failure of the newest run outweighs a score of an older one.
            (_, Some(why)) => nothing(&Outcome::Failed(why.clone())),
            (Some(stored), None) => combine(&stored.score, range, PaperWeights::default()),
            (None, None) => nothing(&Outcome::NotApplicable("not scored yet".to_owned())),
        };
        let stored = stored.filter(|_| why.is_none());
        let baselines = all_baselines.remove(&edit.id).filter(|_| stored.is_some()).unwrap_or_default();
        let run = stored.as_ref().and_then(|stored| runs.get(&stored.run));
        let automatic = match run.filter(|run| run.about.kind == RunKind::Correction) {
            Some(_) => project.latest_score_of(edit.id, profile, RunKind::Set)?,
            None => None,
        };
        let automatic =
            automatic.map(|stored| Automatic { combined: combine(&stored.score, range, PaperWeights::default()), score: stored.score });
        found.push(ScoredEdit {
            id: edit.id,
            key: edit.key,
            item: item.key.clone(),
            model: edit.model,
            instruction: item.instruction.clone(),
            models: run.map(|run| run.about.models.clone()).unwrap_or_default(),
            device: run.map(|run| run.about.device.clone()).unwrap_or_default(),
            seconds: stored.as_ref().map_or(0.0, |stored| stored.seconds),
            outdated: stored.as_ref().is_some_and(|stored| stored.stale),
            changed: false,
            score: stored.map(|stored| stored.score),
            why,
            combined,
            automatic,
            ratings: ratings.remove(&edit.id).unwrap_or_default(),
            baselines,
        });
    }
    Ok(found)
}

/// Looks whether the pictures are still those that the project knows, and marks edits where they are not: their scores are outdated. Returns
/// the keys of these edits with the picture that changed.
///
/// # Errors
/// When the project cannot be read.
pub fn mark_changed(project: &Project, scored: &mut [ScoredEdit]) -> Result<Vec<String>, StorageError> {
    let changed = project.changed_pictures()?;
    if changed.is_empty() {
        return Ok(Vec::new());
    }
    let sources: BTreeMap<_, _> = project.items()?.into_iter().map(|item| (item.id, item.source.path)).collect();
    let pictures: BTreeMap<EditId, _> =
        project.edits()?.into_iter().map(|edit| (edit.id, [sources.get(&edit.item).cloned(), Some(edit.picture.path)])).collect();
    let mut told = Vec::new();
    for edit in scored {
        let of_edit = pictures.get(&edit.id).into_iter().flatten().flatten();
        if let Some(picture) = of_edit.into_iter().find(|path| changed.contains(*path)) {
            edit.changed = true;
            edit.outdated |= edit.score.is_some();
            told.push(format!("{}: {} is another picture than the one that was scored or drawn on", edit.key, picture.display()));
        }
    }
    Ok(told)
}

fn nothing(why: &Outcome<f64>) -> Combined {
    let marked = || Marked { value: why.clone(), outside: false };
    Combined { modify: marked(), preserve: marked(), overall: why.clone() }
}

/// The rows that an export of `scored` writes, in the order of the project; `range` says in words what normalised the overalls.
///
/// # Errors
/// When the project cannot be read.
pub fn rows(project: &Project, scored: &[ScoredEdit], profile: Profile, range: &str) -> Result<Vec<ExportRow>, StorageError> {
    let items: BTreeMap<_, _> = project.items()?.into_iter().map(|item| (item.id, item)).collect();
    let mut by_id: BTreeMap<EditId, &ScoredEdit> = scored.iter().map(|edit| (edit.id, edit)).collect();
    let row = |edit: StoredEdit| {
        let (item, scored) = (items.get(&edit.item)?, by_id.remove(&edit.id)?);
        Some(ExportRow {
            id: edit.key.0,
            item: item.key.0.clone(),
            source: item.source.clone(),
            instruction: item.instruction.clone(),
            edited: edit.picture,
            model: edit.model,
            parse: item.parse.clone(),
            ratings: scored.ratings.clone(),
            item_extra: item.extra.clone(),
            extra: edit.extra,
            result: result_of(scored, profile, range),
        })
    };
    Ok(project.edits()?.into_iter().filter_map(row).collect())
}

fn result_of(scored: &ScoredEdit, profile: Profile, range: &str) -> Option<ExportResult> {
    let parts = match (&scored.score, &scored.why) {
        (Some(score), _) => Ok(score.parts.clone()),
        (None, Some(why)) => Err(why.clone()),
        (None, None) => return None,
    };
    let automatic = scored
        .automatic
        .as_ref()
        .map(|automatic| AutomaticResult { parts: automatic.score.parts.clone(), overall: automatic.combined.overall.clone() });
    Some(ExportResult {
        profile,
        parts,
        overall: Some(scored.combined.overall.clone()),
        range: Some(range.to_owned()),
        automatic,
        baselines: scored.baselines.clone(),
        triage: scored.score.as_ref().map(|score| score.triage).unwrap_or_default(),
        outdated: scored.outdated,
        flags: scored.score.iter().flat_map(flags_of).map(|flag| flag.name().to_owned()).collect(),
    })
}

/// Size of the upright picture at `path`, from its header alone where that tells it.
///
/// # Errors
/// When the file is not a picture; the error names it.
pub fn picture_size(path: &std::path::Path) -> anyhow::Result<crate::domain::Size> {
    Ok(crate::imaging::header::upright_size(path)?)
}
