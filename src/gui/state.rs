//! The window's state. Panels read it; only `apply` and `events` change it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::{Parse, TraceKind};
use crate::editor::{Compare, EditDetails, Jobs, Overlays, Queue, RatingDraft, View};
use crate::engine::Level;

use super::rescore::AuditState;
use super::store::StoreInfo;

/// The pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Page {
    #[default]
    Audit,
    Agreement,
    /// Rating sessions.
    Rate,
}

/// The inspector's tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tab {
    #[default]
    Score,
    Parse,
    Regions,
    Rate,
    History,
}

/// What is open over the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    Settings,
    /// Published networks: what there is, fetching and checking.
    Networks,
    Keys,
    /// Everything that can be done, to be found by typing.
    Commands,
    /// The columns of a table of ratings.
    Columns,
    /// A path is typed, where the system has no file dialog.
    Path,
    /// Something is not on disk, and the person wants to close the window or to open another project.
    Leaving,
}

/// A short message.
#[derive(Clone, Debug, PartialEq)]
pub struct Toast {
    pub id: u64,
    pub level: Level,
    pub text: String,
    /// Seconds on egui's clock at which it goes; errors stay until they are dismissed.
    pub until: Option<f64>,
}

/// What the window is doing with a project.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum ProjectState {
    /// Nothing is open.
    #[default]
    None,
    Opening(PathBuf),
    Open(StoreInfo),
    /// It could not be opened.
    Failed {
        path: PathBuf,
        why: String,
    },
}

/// Everything a frame is drawn from, except pictures.
#[derive(Debug, Default)]
pub struct State {
    pub project: ProjectState,
    pub queue: Queue,
    /// The selected edit; `None` while it is being read.
    pub details: Option<Arc<EditDetails>>,
    pub page: Page,
    pub tab: Tab,
    pub dialog: Option<Dialog>,
    /// The person wants to go somewhere else.
    pub leaving: Option<super::leaving::OnTheWay>,
    /// What is not on disk, while that is asked about.
    pub not_kept: Option<String>,
    /// What was typed and not saved, while that is asked about.
    pub not_saved: Option<String>,
    /// What is typed to find a command, and which of those found is marked.
    pub sought_command: (String, usize),
    /// A path that is being typed.
    pub typed_path: Option<super::typed_path::TypedPath>,
    /// A table of ratings whose columns are being chosen.
    pub columns: Option<super::columns::ColumnsDraft>,
    pub view: View,
    pub compare: Compare,
    /// While a gesture is under way: the moment, in seconds of egui's clock, whose pictures the panes go on showing.
    pub still_since: Option<f64>,
    pub motions: super::motions::Motions,
    pub overlays: Overlays,
    /// The step of the trace under the pointer.
    pub highlight: Option<TraceKind>,
    /// About the selected edit: corrections on their way, how firm the score is, the region pasted back.
    pub audit: AuditState,
    pub parse_draft: Option<Parse>,
    /// Fields that were typed and not saved of items that are not looked at, by project and item.
    pub typed_parses: HashMap<(PathBuf, Arc<str>), Parse>,
    pub rating: RatingDraft,
    /// Rating sessions.
    pub people: super::people::PeopleState,
    /// A rating or a parse is on its way to the project file.
    pub saving: bool,
    /// Details were asked for and are not here yet.
    pub reading: bool,
    pub jobs: Jobs,
    pub failures_open: bool,
    /// Regions are being exported: how many of how many pictures are written.
    pub exporting: Option<(usize, usize)>,
    pub agreement: super::agreement::AgreementState,
    pub toasts: Vec<Toast>,
    pub next_toast: u64,
    /// What is to be said about the networks that scored the project.
    pub about_networks: Option<String>,
    pub notice_dismissed: bool,
    /// The search field takes the cursor in the next frame.
    pub focus_search: bool,
    /// The queue scrolls to the selection in the next frame.
    pub reveal_selection: bool,
    /// Drawing and correcting regions.
    pub tools: crate::editor::tools::Tools,
    /// Networks of the last run, in words; tells whether demo checkpoints made the scores.
    pub device: String,
    /// Published networks and what is being fetched.
    pub networks: super::networks::Networks,
}

impl State {
    /// The open project.
    pub fn info(&self) -> Option<&StoreInfo> {
        match &self.project {
            ProjectState::Open(info) => Some(info),
            _ => None,
        }
    }

    /// The fields of the selected edit's item that were typed and not saved.
    pub fn typed_parse(&self) -> Option<&Parse> {
        let saved = self.details.as_ref().and_then(|details| details.parse.as_ref());
        self.parse_draft.as_ref().filter(|draft| saved != Some(draft))
    }

    /// A range of that name can be chosen from now on.
    pub fn know_range(&mut self, name: &str) {
        if let ProjectState::Open(info) = &mut self.project
            && !info.ranges.iter().any(|known| known == name)
        {
            info.ranges.push(name.to_owned());
        }
    }

    /// Adds a message; `now` is egui's clock in seconds.
    pub fn toast(&mut self, level: Level, text: impl Into<String>, now: f64) {
        let until = match level {
            Level::Info => Some(now + 4.0),
            Level::Warning => Some(now + 10.0),
            Level::Error => None,
        };
        let text = text.into();
        self.toasts.retain(|toast| toast.text != text);
        self.toasts.push(Toast { id: self.next_toast, level, text, until });
        self.next_toast += 1;
        if self.toasts.len() > 5 {
            self.toasts.remove(0);
        }
    }
}
