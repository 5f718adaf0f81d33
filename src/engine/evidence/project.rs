//! What a project holds: scores, parts, labels, ratings, votes, and the same edits under the other profiles.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Context as _, bail};

use super::{Gathered, METRICS, metric_names};
use crate::datasets::Problem;
use crate::domain::{Asked, Outcome, Profile, Range, Score, columns};
use crate::engine::results::{self, ScoredEdit};
use crate::stats::comparison::{Evidence, OVERALL, Subject, labels_of};
use crate::stats::people::EditName;
use crate::stats::weights::PartsRow;
use crate::storage::{EditId, Flag, Project, SessionOpinions, flags_of};

/// The saved range of that name.
///
/// # Errors
/// When the project cannot be read or has no such range.
pub fn saved_range(project: &Project, name: &str, profile: Profile) -> anyhow::Result<Range> {
    project.range(name, profile)?.with_context(|| {
        let path = project.path().display();
        format!("{path}: the project has no range '{name}' of profile {profile}; `editscope range list` lists them")
    })
}

impl Gathered {
    /// Adds every edit of a project with its scores of `profile`, normalised by `range` or, without one, by one that is fitted on the
    /// project. `other_opinions`: opinions come from elsewhere too, so that a project without any is no error.
    ///
    /// # Errors
    /// When the project cannot be read, or has neither scores nor ratings.
    pub fn add_project(&mut self, project: &Project, profile: Profile, range: Option<Range>, other_opinions: bool) -> anyhow::Result<()> {
        let path = project.path().display().to_string();
        let range = match range {
            Some(range) => range,
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
        let names = project.model_names()?;
        self.mark_several(&scored);
        self.add_sessions(project, sessions, &scored, &names)?;
        let asked = project.asked_by_name()?;
        for edit in &scored {
            let model = name_of(edit, &names);
            add_scored(edit, model, &mut self.evidence);
            for rating in &edit.ratings {
                let answers = rating.values.iter().filter_map(|(name, value)| Some((asked.get(name)?.clone(), *value)));
                self.add_answers((&edit.item.0, model), rating, None, answers);
            }
            self.edits.push(edit.id);
            self.about.simulated_ratings |= edit.has_simulated_ratings();
        }
        self.of_project = (self.evidence.answers.len(), self.evidence.votes.len());
        self.add_imported(&project.edits()?);
        let mut metrics = metric_names(&self.evidence);
        // Without scores only numbers that came with the edits.
        metrics.retain(|name| !unscored || !METRICS.contains(&name.as_str()));
        self.evidence.metrics = metrics;
        self.evidence.profiles = profiles(project, profile, &scored, &names)?;
        self.about.profile = Some(profile.to_string());
        self.about.range = Some(range);
        self.name_runs(project, profile)
    }

    /// Remembers the names that stand for several edits of an item.
    fn mark_several(&mut self, scored: &[ScoredEdit]) {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for edit in scored {
            *counts.entry((&edit.item.0, &edit.model)).or_default() += 1;
        }
        for edit in scored.iter().filter(|edit| counts[&(edit.item.0.as_str(), edit.model.as_str())] > 1) {
            self.mark_ambiguous(&edit.item.0, &edit.model);
        }
    }

    /// Adds what sessions say beside the ratings. Second answers go before these, so that they show consistency and change no mean: of
    /// several answers by one rater the last one counts. They need the answer that counts: a question that was taken back since has none.
    fn add_sessions(&mut self, project: &Project, sessions: SessionOpinions, scored: &[ScoredEdit], names: &Names) -> anyhow::Result<()> {
        let by_key: BTreeMap<&str, &ScoredEdit> = scored.iter().map(|edit| (edit.key.0.as_str(), edit)).collect();
        let known = project.asked_by_name()?;
        for (edit, rating) in &sessions.repeats {
            let Some(edit) = by_key.get(edit.0.as_str()) else { continue };
            let own = edit.ratings.iter().filter(|own| own.rater == rating.rater);
            let counting: BTreeSet<&Asked> = own.flat_map(|own| own.values.keys()).filter_map(|name| known.get(name)).collect();
            let answers = project.asked_of(rating)?.into_iter().filter(|(asked, _)| counting.contains(asked));
            self.add_answers((&edit.item.0, name_of(edit, names)), rating, None, answers.collect::<Vec<_>>());
        }
        self.evidence.votes.extend(sessions.votes);
        let left_out = |why: String| Problem { place: "sessions".into(), reason: format!("{why}; left out") };
        self.problems.extend(sessions.problems.into_iter().map(left_out));
        Ok(())
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

/// What comparisons call the model of each edit ([`Project::model_names`]).
type Names = HashMap<EditId, String>;

fn name_of<'a>(edit: &'a ScoredEdit, names: &'a Names) -> &'a str {
    names.get(&edit.id).unwrap_or(&edit.model)
}

fn add_scored(edit: &ScoredEdit, model: &str, evidence: &mut Evidence) {
    let metrics: BTreeMap<String, f64> =
        METRICS.into_iter().filter_map(|metric| Some((metric.to_owned(), *edit.value(metric).value()?))).collect();
    let metrics = metrics.into_iter().chain(columns(&edit.baselines)).collect();
    if let Some(score) = edit.score.as_ref().filter(|score| !score.global) {
        evidence.parts.push(parts_row(edit, model, score));
    }
    let labels = edit.score.as_ref().map(|score| {
        let flags: Vec<&str> = flags_of(score).into_iter().map(Flag::words).collect();
        labels_of(score, &flags)
    });
    let (item, model) = (edit.item.0.clone(), model.to_owned());
    evidence.subjects.push(Subject { item, model, metrics, human: BTreeMap::new(), labels: labels.unwrap_or_default() });
}

fn parts_row(edit: &ScoredEdit, model: &str, score: &Score) -> PartsRow {
    let value = |outcome: &Outcome<f64>| outcome.value().copied();
    PartsRow {
        item: edit.item.0.clone(),
        model: model.to_owned(),
        modify: value(&edit.combined.modify.value),
        preserve: value(&edit.combined.preserve.value),
        size: value(&score.parts.size),
        position: value(&score.parts.position),
        human: None,
    }
}

/// The overall under every profile that was scored, when there are two or more; `scored` are the edits under the profile `own`.
fn profiles(
    project: &Project,
    own: Profile,
    scored: &[ScoredEdit],
    names: &Names,
) -> anyhow::Result<Vec<(String, BTreeMap<EditName, f64>)>> {
    let name = |edit: &ScoredEdit| (edit.item.0.clone(), name_of(edit, names).to_owned());
    let values = |edits: &[ScoredEdit]| -> BTreeMap<EditName, f64> {
        edits.iter().filter_map(|edit| Some((name(edit), *edit.value(OVERALL).value()?))).collect()
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
