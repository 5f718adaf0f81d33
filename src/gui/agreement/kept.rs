//! Comparisons and ranges kept by name: what the page shows of them, and the project thread's side.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::EvidenceJob;
use crate::domain::{Profile, Range, json};
use crate::engine::results::{self, Chosen};
use crate::export::write_file;
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
    /// It is fitted only on the edits that the queue shows.
    pub range_on_shown: bool,
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
    /// Of the chosen edits, or of all.
    FitRange {
        name: String,
        profile: Profile,
        chosen: Option<Chosen>,
    },
    /// Into a file, for other projects and `score --range`.
    WriteRange {
        name: String,
        profile: Profile,
        to: PathBuf,
    },
    /// Out of a file, under its own name or another one. A name that is taken by another range is refused.
    ReadRange {
        from: PathBuf,
        name: Option<String>,
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
    /// What was written.
    RangeWritten(Result<String, String>),
    RangeRead(Result<Range, String>),
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
        AgreementRequest::WriteRange { .. } => AgreementEvent::RangeWritten(Err(none())),
        AgreementRequest::ReadRange { .. } => AgreementEvent::RangeRead(Err(none())),
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
                    .map_err(|error| crate::engine::in_words(&error))
            }))
        })),
        AgreementRequest::List => AgreementEvent::Listed(project.and_then(|project| list(project).map_err(said))),
        AgreementRequest::Save { name, who, comparison } => {
            AgreementEvent::Saved(project.and_then(|project| save(project, &name, &who, &comparison)).map(|()| name))
        }
        AgreementRequest::Load { name, against } => {
            AgreementEvent::Loaded { against, result: project.and_then(|project| load(project, &name)).map(Arc::new) }
        }
        AgreementRequest::FitRange { name, profile, chosen } => {
            let refused = project.clone().and_then(|project| project.refuse_known_range(&name, profile).map_err(said));
            let fit = |project| results::fit_and_save(project, &name, profile, chosen.as_ref()).map_err(|error| error.to_string());
            AgreementEvent::RangeFitted(refused.and(project).and_then(fit))
        }
        AgreementRequest::WriteRange { name, profile, to } => {
            AgreementEvent::RangeWritten(project.and_then(|project| write_range(project, &name, profile, &to)))
        }
        AgreementRequest::ReadRange { from, name } => {
            AgreementEvent::RangeRead(project.and_then(|project| read_range(project, &from, name)))
        }
    }
}

fn said(error: StorageError) -> String {
    error.to_string()
}

fn write_range(project: &Project, name: &str, profile: Profile, to: &Path) -> Result<String, String> {
    let range = project.range(name, profile).map_err(said)?.ok_or_else(|| format!("there is no range '{name}' any more"))?;
    crate::gui::exports::kept(project, to)?;
    let text = serde_json::to_string_pretty(&range).map_err(|error| error.to_string())?;
    write_file(to, |file| writeln!(file, "{text}").map_err(|error| error.to_string())).map_err(|error| error.to_string())?;
    Ok(to.display().to_string())
}

fn read_range(project: &Project, from: &Path, name: Option<String>) -> Result<Range, String> {
    let text = std::fs::read_to_string(from).map_err(|error| format!("{}: {error}", from.display()))?;
    let mut range = Range::from_json(&text).map_err(|why| format!("{} is no range: {why}", from.display()))?;
    if let Some(name) = name {
        range.name = name;
    }
    let known = project.range(&range.name, range.profile).map_err(said)?;
    if known.is_some_and(|known| known != range) {
        return Err(format!(
            "there is another range '{}' of profile {} already; write another name into the field above and import it again",
            range.name, range.profile
        ));
    }
    project.save_range(&range).map_err(said)?;
    Ok(range)
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
    json::from_value(&saved.content).map_err(|error| saved.unreadable(error))
}
