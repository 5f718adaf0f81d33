//! Comparisons and ranges kept by name: what the page shows of them, and the project thread's side.

use std::sync::Arc;

use super::EvidenceJob;
use crate::domain::{Profile, Range, json};
use crate::engine::results;
use crate::gui::store::Shown;
use crate::stats::comparison::{Change, Comparison};
use crate::storage::{Project, StorageError};

/// A saved comparison as the list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedLine {
    pub name: String,
    /// Who saved it; empty when nobody said.
    pub who: String,
    /// Milliseconds since 1970, UTC.
    pub at_millis: i64,
    pub edits: u64,
    pub rated: u64,
}

/// What is kept in the project.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct KeptList {
    /// Newest first.
    pub comparisons: Vec<SavedLine>,
    pub ranges: Vec<Range>,
}

/// What the page knows of what is kept.
#[derive(Debug, Default)]
pub struct Kept {
    pub list: KeptList,
    /// The name that the next comparison is saved under.
    pub name: String,
    /// The name that the next range is saved under.
    pub range_name: String,
    /// A saved comparison that is shown in place of the newest one.
    pub opened: Option<Arc<Comparison>>,
    /// A saved comparison, and what moved since.
    pub against: Option<(Arc<Comparison>, Vec<Change>)>,
    /// Answers that are awaited.
    pub waiting: usize,
}

/// What the window asks the project's thread.
#[derive(Clone, Debug)]
pub enum AgreementRequest {
    /// How to gather what is compared.
    Source(Shown),
    List,
    /// A name that is taken is refused.
    Save {
        name: String,
        who: String,
        comparison: Arc<Comparison>,
    },
    /// To look at, or (`against`) to compare with.
    Load {
        name: String,
        against: bool,
    },
    FitRange {
        name: String,
        profile: Profile,
    },
}

/// What the project's thread answers.
#[derive(Clone, Debug)]
pub enum AgreementEvent {
    Source(Result<EvidenceJob, String>),
    Listed(Result<KeptList, String>),
    /// The name.
    Saved(Result<String, String>),
    Loaded {
        against: bool,
        result: Result<Arc<Comparison>, String>,
    },
    RangeFitted(Result<Range, String>),
}

/// The answer of a store that keeps nothing and has nothing to compare.
pub fn nothing_kept(request: AgreementRequest) -> AgreementEvent {
    let none = || "this store keeps no comparisons".to_owned();
    match request {
        AgreementRequest::Source(_) => AgreementEvent::Source(Err("this store has nothing to compare".to_owned())),
        AgreementRequest::List => AgreementEvent::Listed(Ok(KeptList::default())),
        AgreementRequest::Save { .. } => AgreementEvent::Saved(Err(none())),
        AgreementRequest::Load { against, .. } => AgreementEvent::Loaded { against, result: Err(none()) },
        AgreementRequest::FitRange { .. } => AgreementEvent::RangeFitted(Err(none())),
    }
}

/// Answers from a project; errors are sentences for the person.
pub fn answer(project: Result<&Project, String>, request: AgreementRequest) -> AgreementEvent {
    match request {
        AgreementRequest::Source(shown) => AgreementEvent::Source(project.map(|project| {
            // On its own connection: reading everything takes long, and the project's thread has the canvas waiting.
            let path = project.path().to_owned();
            EvidenceJob(Arc::new(move |ground_truth| {
                crate::engine::evidence::of_project(&path, shown.profile, shown.range.as_deref(), ground_truth)
                    .map_err(|error| format!("{error:#}"))
            }))
        })),
        AgreementRequest::List => AgreementEvent::Listed(project.and_then(|project| list(project).map_err(said))),
        AgreementRequest::Save { name, who, comparison } => {
            AgreementEvent::Saved(project.and_then(|project| save(project, &name, &who, &comparison)).map(|()| name))
        }
        AgreementRequest::Load { name, against } => {
            AgreementEvent::Loaded { against, result: project.and_then(|project| load(project, &name)).map(Arc::new) }
        }
        AgreementRequest::FitRange { name, profile } => {
            let refused = project.clone().and_then(|project| project.refuse_known_range(&name, profile).map_err(said));
            let fit = |project| results::fit_and_save(project, &name, profile).map_err(|error| error.to_string());
            let fitted = refused.and(project).and_then(fit);
            AgreementEvent::RangeFitted(fitted)
        }
    }
}

fn said(error: StorageError) -> String {
    error.to_string()
}

fn list(project: &Project) -> Result<KeptList, StorageError> {
    let line = |saved: crate::storage::SavedComparison| {
        let number = |key: &str| saved.content[key].as_u64().unwrap_or_default();
        SavedLine { edits: number("edits"), rated: number("rated"), name: saved.name, who: saved.who, at_millis: saved.at_millis }
    };
    Ok(KeptList { comparisons: project.comparisons()?.into_iter().map(line).collect(), ranges: project.ranges(None)? })
}

fn save(project: &Project, name: &str, who: &str, comparison: &Comparison) -> Result<(), String> {
    if project.comparison(name).map_err(said)?.is_some() {
        return Err(format!("there is a comparison '{name}' already; take another name"));
    }
    let content = serde_json::to_value(comparison).map_err(|error| error.to_string())?;
    project.save_comparison(name, who, &content).map_err(said)
}

fn load(project: &Project, name: &str) -> Result<Comparison, String> {
    let saved = project.comparison(name).map_err(said)?.ok_or_else(|| format!("there is no comparison '{name}' any more"))?;
    json::from_value(&saved.content)
        .map_err(|error| format!("the comparison '{name}' was saved by another version of this program: {error}"))
}
