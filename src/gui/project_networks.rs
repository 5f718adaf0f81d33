//! Which networks a window works with: those that scored the project, unless the person named others.

use crate::engine::scored_by::ScoredBy;
use crate::engine::{ModelSource, PrecisionChoice};

use super::app::App;

impl App {
    /// A project is open: from now on the networks of its newest run are used. Says where they are not here, and where the person named
    /// others, which then make new runs only.
    pub(super) fn take_networks(&mut self, scored_by: Option<&ScoredBy>) {
        let settings = &mut self.settings;
        if !settings.models_given {
            settings.models = scored_by.map_or_else(ModelSource::default, |networks| networks.models.clone());
        }
        if !settings.precision_given {
            settings.device.precision = scored_by.map_or(PrecisionChoice::Auto, |networks| networks.precision);
        }
        self.state.about_networks = scored_by.and_then(|networks| about(networks, &self.settings.models));
        self.state.notice_dismissed &= self.state.about_networks.is_none();
    }
}

/// What a person should know: the networks that scored the project are not here, or others were chosen.
fn about(networks: &ScoredBy, chosen: &ModelSource) -> Option<String> {
    let here = match &networks.missing {
        Some(why) => {
            format!(
                " They are not on this machine: {why}. Until they are (Ctrl+M fetches published ones), scores do not follow corrections."
            )
        }
        None if *chosen == networks.models => return None,
        None => String::new(),
    };
    let others = if *chosen == networks.models {
        String::new()
    } else {
        format!(
            " The networks that were chosen, {chosen}, are for new runs only (Score all): what a correction, a pasted region or the sensitivity \
             comes to is computed with the networks that scored the edit, so that a set does not mix two kinds of scores."
        )
    };
    Some(format!("This project was scored with {}.{here}{others}", networks.words))
}
