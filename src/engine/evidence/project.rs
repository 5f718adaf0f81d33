//! What a project holds: scores, parts, labels, ratings, votes, and the same edits under the other profiles.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};

use super::{Gathered, METRICS, answers, metric_names};
use crate::datasets::Problem;
use crate::domain::{Outcome, Profile, Score, columns};
use crate::engine::results::{self, ScoredEdit};
use crate::stats::comparison::{Evidence, OVERALL, Subject, labels_of};
use crate::stats::people::EditName;
use crate::stats::weights::PartsRow;
use crate::storage::{Flag, Project, SessionOpinions, flags_of};

impl Gathered {
    /// Adds every edit of a project with its scores of `profile`, normalised by the saved range of that name or by one that is
    /// fitted on the project. `other_opinions`: opinions come from elsewhere too, so that a project without any is no error.
    ///
    /// # Errors
    /// When the project cannot be read, has no such range, or neither scores nor ratings.
    pub fn add_project(&mut self, project: &Project, profile: Profile, range: Option<&str>, other_opinions: bool) -> anyhow::Result<()> {
        let path = project.path().display().to_string();
        let range = match range {
            Some(name) => project.range(name, profile)?.with_context(|| {
                format!("{path}: the project has no range '{name}' of profile {profile}; `editscope range list` lists them")
            })?,
            None => results::fit(project, profile, None)?,
        };
        let scored = results::all(project, profile, Some(&range), None)?;
        let unscored = scored.iter().all(|edit| edit.score.is_none());
        let sessions = project.session_opinions()?;
        if unscored && scored.iter().all(|edit| edit.ratings.is_empty()) && sessions.votes.is_empty() && !other_opinions {
            bail!("{path}: no edit is scored or rated; run `editscope score {path}` first");
        }
        if unscored {
            self.remarks.push(format!("no edit has a score of profile {profile}: only people are compared"));
        }
        self.add_sessions(sessions);
        for edit in &scored {
            add_scored(edit, &mut self.evidence);
            self.edits.push(edit.id);
            self.about.simulated_ratings |= edit.has_simulated_ratings();
        }
        if !unscored {
            self.evidence.metrics = metric_names(&self.evidence);
        }
        self.evidence.profiles = profiles(project, profile, &scored)?;
        self.about.profile = Some(profile.to_string());
        self.about.range = Some(range);
        self.name_runs(project, profile)
    }

    /// Adds what sessions say beside the ratings. Second answers go before these, so that they show consistency and change no mean: of
    /// several answers by one rater the last one counts.
    fn add_sessions(&mut self, sessions: SessionOpinions) {
        for (item, model, rating) in &sessions.repeats {
            self.evidence.answers.extend(answers(&item.0, model, rating, None));
        }
        self.evidence.votes.extend(sessions.votes);
        let left_out = |why: String| Problem { place: "sessions".into(), reason: format!("{why}; left out") };
        self.problems.extend(sessions.problems.into_iter().map(left_out));
    }

    /// Which networks and devices made the scores, and what the project holds.
    fn name_runs(&mut self, project: &Project, profile: Profile) -> anyhow::Result<()> {
        let runs: BTreeSet<(String, String)> = project
            .runs()?
            .into_iter()
            .filter(|run| run.about.profile == profile && run.scored > 0)
            .map(|run| (format!("{} ({})", run.about.models, run.about.models_fingerprint), run.about.device))
            .collect();
        let about = &mut self.about;
        about.checkpoints = runs.iter().map(|(models, _)| models.clone()).collect::<BTreeSet<_>>().into_iter().collect();
        about.devices = runs.into_iter().map(|(_, device)| device).collect::<BTreeSet<_>>().into_iter().collect();
        about.add_content("edits and pictures", project.content_lines()?);
        Ok(())
    }
}

fn add_scored(edit: &ScoredEdit, evidence: &mut Evidence) {
    let metrics: BTreeMap<String, f64> =
        METRICS.into_iter().filter_map(|metric| Some((metric.to_owned(), *edit.value(metric).value()?))).collect();
    let metrics = metrics.into_iter().chain(columns(&edit.baselines)).collect();
    if let Some(score) = edit.score.as_ref().filter(|score| !score.global) {
        evidence.parts.push(parts_row(edit, score));
    }
    for rating in &edit.ratings {
        evidence.answers.extend(answers(&edit.item.0, &edit.model, rating, None));
    }
    let labels = edit.score.as_ref().map(|score| {
        let flags: Vec<&str> = flags_of(score).into_iter().map(Flag::words).collect();
        labels_of(score, &flags)
    });
    let (item, model) = (edit.item.0.clone(), edit.model.clone());
    evidence.subjects.push(Subject { item, model, metrics, human: BTreeMap::new(), labels: labels.unwrap_or_default() });
}

fn parts_row(edit: &ScoredEdit, score: &Score) -> PartsRow {
    let value = |outcome: &Outcome<f64>| outcome.value().copied();
    PartsRow {
        item: edit.item.0.clone(),
        model: edit.model.clone(),
        modify: value(&edit.combined.modify.value),
        preserve: value(&edit.combined.preserve.value),
        size: value(&score.parts.size),
        position: value(&score.parts.position),
        human: None,
    }
}

/// The overall under every profile that was scored, when there are two or more; `scored` are the edits under the profile `own`.
fn profiles(project: &Project, own: Profile, scored: &[ScoredEdit]) -> anyhow::Result<Vec<(String, BTreeMap<EditName, f64>)>> {
    let values = |edits: &[ScoredEdit]| -> BTreeMap<EditName, f64> {
        edits.iter().filter_map(|edit| Some(((edit.item.0.clone(), edit.model.clone()), *edit.value(OVERALL).value()?))).collect()
    };
    let scored_under: BTreeSet<Profile> = project.runs()?.into_iter().filter(|run| run.scored > 0).map(|run| run.about.profile).collect();
    let mut found = Vec::new();
    for profile in Profile::ALL.into_iter().filter(|profile| *profile == own || scored_under.contains(profile)) {
        let of_profile = if profile == own {
            values(scored)
        } else {
            let range = results::fit(project, profile, None)?;
            values(&results::all(project, profile, Some(&range), None)?)
        };
        if !of_profile.is_empty() {
            found.push((profile.to_string(), of_profile));
        }
    }
    Ok(if found.len() > 1 { found } else { Vec::new() })
}
