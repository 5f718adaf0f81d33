//! Published networks in the window: what is asked for, and what became of it.

use std::sync::Arc;

use crate::engine::models::{FetchProgress, ListedNetwork, ModelsEvent, ModelsRequest};
use crate::engine::{Level, Request};

use super::app::App;

/// What the dialog of published networks is drawn from.
#[derive(Debug, Default)]
pub struct Networks {
    /// The catalog with the places on this machine; `None` until it was asked for.
    pub listed: Option<Arc<Vec<ListedNetwork>>>,
    /// The set or network that is being fetched or checked.
    pub busy: Option<String>,
    /// The person asked to stop it.
    pub stopping: bool,
    pub progress: Option<FetchProgress>,
    /// How the last fetch or check ended, and how much it matters.
    pub last: Option<(Level, String)>,
}

impl App {
    /// Asks the engine; one fetch or check at a time.
    pub(super) fn networks_asked(&mut self, request: ModelsRequest) {
        let networks = &mut self.state.networks;
        match &request {
            ModelsRequest::Fetch(name) | ModelsRequest::Verify(name) => {
                if networks.busy.is_some() {
                    return;
                }
                networks.busy = Some(name.clone());
                networks.stopping = false;
                networks.last = None;
            }
            ModelsRequest::Cancel => networks.stopping = true,
            ModelsRequest::List => {}
        }
        self.engine.send(Request::Models(request));
    }

    /// What became of it.
    pub(super) fn networks_event(&mut self, event: ModelsEvent) {
        let networks = &mut self.state.networks;
        let ended = match event {
            ModelsEvent::Listed(listed) => {
                networks.listed = Some(listed);
                return;
            }
            ModelsEvent::Progress(progress) => {
                networks.progress = Some(progress);
                return;
            }
            ModelsEvent::Fetched { name, summary } => (Level::Info, format!("{name} is here.\n{summary}")),
            ModelsEvent::Verified { name, problems, unchecked } if problems.is_empty() => {
                let rest = match unchecked.len() {
                    0 => String::new(),
                    n => format!(" Of {n} no size or sum is known: {}.", unchecked.join(", ")),
                };
                (Level::Info, format!("{name}: every file that can be checked is as published.{rest}"))
            }
            ModelsEvent::Verified { name, problems, .. } => {
                (Level::Error, format!("{name} is not as published; fetch it again:\n{}", problems.join("\n")))
            }
            ModelsEvent::Failed { name, why } => {
                // Stopping is what the person asked for, not a failure.
                let level = if networks.stopping { Level::Info } else { Level::Error };
                (level, if name.is_empty() { why } else { format!("{name}: {why}") })
            }
        };
        networks.busy = None;
        networks.progress = None;
        networks.stopping = false;
        networks.last = Some(ended.clone());
        // Whoever went on working hears of it too.
        if self.state.dialog != Some(super::state::Dialog::Networks) {
            self.toast(ended.0, ended.1);
        }
    }
}
