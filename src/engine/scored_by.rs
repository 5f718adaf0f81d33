//! Which networks scored a project: what is computed later about its edits is computed with the same ones, because scores of different networks
//! cannot be compared.

use serde::{Deserialize, Serialize};

use crate::domain::Profile;
use crate::nets::preference::{DevicePreference, PrecisionChoice};
use crate::storage::{EditId, NewRun, Project, Run, RunKind, StorageError};

use super::audit::Ask;
use super::messages::{Event, ModelSource};
use super::networks::NetworkSlot;

/// The networks of a run, as they can be asked for again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredBy {
    /// As the run names them: "paper (0123456789ab)".
    pub words: String,
    pub models: ModelSource,
    /// Never `Auto`: another precision gives other numbers.
    pub precision: PrecisionChoice,
    /// Why they cannot be loaded on this machine, where that is so. Only whether files are there is looked at, not what is in them.
    pub missing: Option<String>,
}

/// The networks of the newest run of the set; `None` when nothing was scored.
///
/// # Errors
/// When the project cannot be read.
pub fn scored_by(project: &Project) -> Result<Option<ScoredBy>, StorageError> {
    let Some(run) = project.runs()?.into_iter().find(|run| run.about.kind == RunKind::Set) else { return Ok(None) };
    let Noted { models, precision } = Noted::of(project, &run.about)?;
    let missing = missing(&models);
    Ok(Some(ScoredBy { words: run.about.models, models, precision, missing }))
}

/// Why networks cannot be loaded; `None` where their files are there.
fn missing(models: &ModelSource) -> Option<String> {
    match models {
        // Inside the program.
        ModelSource::Demo => None,
        #[cfg(feature = "nets")]
        other => super::model_parts::parts_of(other).err().map(|error| error.to_string()),
        #[cfg(not(feature = "nets"))]
        _ => Some("this build has no networks (features `wgpu` and `flex` are off)".to_owned()),
    }
}

/// What a project notes of the networks behind a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    pub models: ModelSource,
    pub precision: PrecisionChoice,
}

/// [`Noted`] in the project file.
#[derive(Serialize, Deserialize)]
struct Kept {
    models: String,
    half: bool,
}

fn setting(models_fingerprint: &str) -> String {
    format!("networks/{models_fingerprint}")
}

impl Noted {
    /// Notes networks under their fingerprint, which runs name.
    ///
    /// # Errors
    /// When the project cannot be written.
    #[cfg_attr(not(feature = "nets"), allow(dead_code))] // only a build with networks has some to note
    pub fn remember(&self, project: &Project, models_fingerprint: &str) -> Result<(), StorageError> {
        let kept = Kept { models: self.models.to_argument(), half: self.precision == PrecisionChoice::F16 };
        // A text and a truth value always become JSON.
        serde_json::to_string(&kept).map_or(Ok(()), |text| project.set_meta(&setting(models_fingerprint), &text))
    }

    /// The networks of a run. Of one that an older program made, what its words say.
    fn of(project: &Project, about: &NewRun) -> Result<Self, StorageError> {
        let kept = project.meta(&setting(&about.models_fingerprint))?.and_then(|text| serde_json::from_str::<Kept>(&text).ok());
        let precision = |half| if half { PrecisionChoice::F16 } else { PrecisionChoice::F32 };
        Ok(match kept {
            Some(kept) => Self { models: ModelSource::from_argument(&kept.models), precision: precision(kept.half) },
            None => Self { models: ModelSource::from_words(&about.models), precision: precision(about.device.contains(", f16")) },
        })
    }
}

/// The run of the set that corrections of an edit belong to: that of the networks behind its newest score, else the newest; `None` when
/// nothing was scored under this profile.
///
/// # Errors
/// When there is no such edit, or the project cannot be read.
pub(super) fn run_of(project: &Project, edit: EditId, profile: Profile) -> Result<Option<Run>, StorageError> {
    let newest = project.queue_row(edit, profile)?.score.map(|score| score.run);
    let runs = project.runs()?;
    let of_edit = newest.and_then(|newest| runs.iter().find(|run| run.id == newest)).map(|run| run.about.models_fingerprint.clone());
    let of_set = |run: &Run| run.about.kind == RunKind::Set && run.about.profile == profile;
    Ok(runs.into_iter().find(|run| of_set(run) && of_edit.as_ref().is_none_or(|networks| *networks == run.about.models_fingerprint)))
}

/// Loads the networks that scored the edit that is asked about, whichever the question names; where nothing is scored yet, those that it
/// names. Returns the question with the networks that were loaded.
///
/// # Errors
/// When the networks that scored the edit are not at hand: others would mix two kinds of numbers in one set.
pub(super) fn load_for(project: &Project, ask: &Ask, networks: &mut NetworkSlot, emit: &mut dyn FnMut(Event)) -> anyhow::Result<Ask> {
    let Some(run) = run_of(project, ask.edit, ask.profile)? else {
        networks.load(&ask.models, ask.device, emit)?;
        return Ok(ask.clone());
    };
    let wanted = &run.about.models_fingerprint;
    let with = |models, device| Ask { models, device, ..ask.clone() };
    if let Some((models, device)) = networks.holds(wanted, ask.device.device) {
        return Ok(with(models, device));
    }
    let noted = Noted::of(project, &run.about)?;
    let mut places = vec![(noted.models, DevicePreference { precision: noted.precision, ..ask.device })];
    if places[0] != (ask.models.clone(), ask.device) {
        places.push((ask.models.clone(), ask.device));
    }
    let mut reasons: Vec<String> = Vec::new();
    for (models, device) in places {
        // Asked first, because loading lets go of the networks that are held.
        let found =
            missing(&models).map_or(Ok(()), Err).and_then(|()| networks.load(&models, device, emit).map_err(|e| super::in_words(&e)));
        match found {
            Ok(()) if networks.words().2 == *wanted => return Ok(with(models, device)),
            Ok(()) => reasons.push(format!("{models} are other ones now, {}", networks.words().1)),
            Err(why) => reasons.push(why),
        }
    }
    anyhow::bail!(
        "this edit was scored with the networks {}, which are not at hand ({}); scores of other networks cannot be compared with the rest of \
         the set. Put them back where they were (`editscope models fetch NAME` for a published set) and change something again, or score all \
         edits with other networks. Until then the score is outdated",
        run.about.models,
        reasons.join("; ")
    )
}

/// Whether the networks that are loaded are those that [`load_for`] would load.
pub(super) fn fits(ask: &Ask, networks: &NetworkSlot) -> bool {
    let run = Project::open(&ask.project).and_then(|project| run_of(&project, ask.edit, ask.profile));
    match run {
        Ok(Some(run)) => networks.holds(&run.about.models_fingerprint, ask.device.device).is_some(),
        Ok(None) => networks.is_for(&ask.models, ask.device),
        // Whoever does the work finds the same error, and tells it.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::catalog::Role;

    #[test]
    fn networks_are_found_again_by_what_a_run_says_of_them() {
        let set = super::super::models::sets()[0].clone();
        let with = |base: ModelSource| ModelSource::With { base: Box::new(base), role: Role::Sam, path: "slimsam-77".into() };
        let sources = [
            ModelSource::Demo,
            ModelSource::Catalog(set.clone()),
            ModelSource::Folder("/nets/my own (2)".into()),
            with(ModelSource::Catalog(set)),
            with(ModelSource::Folder("/nets/from home".into())),
        ];
        for source in sources {
            assert_eq!(ModelSource::from_words(&format!("{source} (0123456789ab)")), source, "an older program's word for it");
            assert_eq!(ModelSource::from_argument(&source.to_argument()), source);
        }
    }
}
