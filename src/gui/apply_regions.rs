//! What is done to the region that is selected, and which regions are not drawn.

use std::collections::HashSet;

use crate::domain::regions::{Area, KeptRegion, RegionId, roles_of};
use crate::domain::{RegionRole, Side};
use crate::editor::RowId;
use crate::engine::Level;

use super::app::App;
use super::command::Command;
use super::region_store::RegionRequest;
use super::state::Tab;
use super::tool_actions::{OfSelected, ToolAction};

impl App {
    /// Selects a region, or none.
    pub(super) fn select_region(&mut self, region: Option<(Side, RegionId)>) {
        let tools = &mut self.state.tools;
        let Some(document) = &mut tools.document else { return };
        document.selected = region;
        // Tools go on with the mask that was chosen.
        if let Some((_, region)) = document.selected()
            && matches!(region.facts.role, RegionRole::EditMask | RegionRole::Ignore)
        {
            tools.options.mask_role = region.facts.role;
        }
        tools.revision += 1;
    }

    /// Selects the region after (or before) the selected one, in the order of the Regions tab.
    pub(super) fn select_next_region(&mut self, forwards: bool) {
        let Some(document) = &self.state.tools.document else { return };
        let all: Vec<(Side, RegionId)> = document.listed().map(|(side, region)| (side, region.id)).collect();
        let now = document.selected.and_then(|selected| all.iter().position(|other| *other == selected));
        let next = match (now, forwards) {
            (Some(now), true) => (now + 1) % all.len(),
            (Some(now), false) => (now + all.len() - 1) % all.len(),
            (None, true) => 0,
            (None, false) => all.len().saturating_sub(1),
        };
        if all.is_empty() {
            self.toast(Level::Info, "This edit has no region yet: take a tool and draw one.");
        }
        self.select_region(all.get(next).copied());
    }

    /// Does something to the selected region.
    pub(super) fn apply_to_selected(&mut self, what: OfSelected) {
        let selected = self.state.tools.document.as_ref().and_then(|document| document.selected());
        let Some((side, region)) = selected else {
            let key = Command::NextRegion.shortcut_text(&self.ctx).unwrap_or_default();
            self.toast(Level::Info, format!("Select a region first, on the canvas, in the list or with {key}"));
            return;
        };
        match what {
            OfSelected::Rename => {
                self.state.tab = Tab::Regions;
                self.state.tools.focus_name = true;
            }
            OfSelected::Hide => self.toggle_hidden(side, region.id),
            OfSelected::ChangeRole => match next_role(side, region) {
                Some(action) => self.apply_tool(action),
                None => self.toast(Level::Info, "Regions of the source have one role only."),
            },
            OfSelected::BackToAutomatic => self.apply_tool(ToolAction::RevertToAutomatic(region.facts.role)),
        }
    }

    /// Draws a region no longer, or again, and keeps that with the project.
    pub(super) fn toggle_hidden(&mut self, side: Side, region: RegionId) {
        let tools = &mut self.state.tools;
        let Some(id) = tools.document.as_ref().map(|document| document.id) else { return };
        if !tools.hidden.remove(&(id, side, region)) {
            tools.hidden.insert((id, side, region));
        }
        self.keep_hidden(id);
    }

    /// Has the project keep which regions of an edit are not drawn.
    fn keep_hidden(&mut self, id: RowId) {
        let tools = &mut self.state.tools;
        tools.revision += 1;
        let mut hidden: Vec<(Side, RegionId)> = hidden_of(&tools.hidden, id).collect();
        hidden.sort_unstable();
        self.tool_traffic.hiding += 1;
        self.ask_regions(RegionRequest::Hide(id, hidden));
    }

    /// Does something that may change regions. One that is hidden and goes away is hidden no longer, so that it is seen when it comes back;
    /// one that is hidden and drawn on is shown, because a person must see what the pointer does.
    pub(super) fn following_hidden(&mut self, change: impl FnOnce(&mut Self)) {
        let tools = &self.state.tools;
        let areas = |app: &Self, id: RowId| -> Vec<(Side, RegionId, Area)> {
            let Some(document) = app.state.tools.document_of(id) else { return Vec::new() };
            let shown = |side| document.shown(side).map(move |region| (side, region));
            let all = [Side::Source, Side::Edit].into_iter().flat_map(shown);
            let hidden = all.filter(|(side, region)| app.state.tools.is_hidden(id, *side, region.id));
            hidden.map(|(side, region)| (side, region.id, region.area.clone())).collect()
        };
        let Some(id) = tools.document.as_ref().map(|document| document.id) else { return change(self) };
        let before = areas(self, id);
        change(self);
        // Another edit's regions are not those that were there before.
        if before.is_empty() || self.state.tools.document_of(id).is_none() {
            return;
        }
        let after = areas(self, id);
        let same = |(side, region, area): &(Side, RegionId, Area)| {
            after.iter().any(|(of, other, now)| (of, other) == (side, region) && now.is_same(area))
        };
        let changed: Vec<(Side, RegionId)> =
            before.iter().filter(|region| !same(region)).map(|(side, region, _)| (*side, *region)).collect();
        let hidden = &mut self.state.tools.hidden;
        // Those that the person just showed are hidden no longer already.
        let taken: usize = changed.iter().filter(|(side, region)| hidden.remove(&(id, *side, *region))).count();
        if taken > 0 {
            self.keep_hidden(id);
        }
    }

    /// What the project says of the regions of an edit that are not drawn.
    pub(super) fn take_hidden(&mut self, id: RowId, hidden: Vec<(Side, RegionId)>) {
        self.state.tools.hidden.retain(|(of, ..)| *of != id);
        self.state.tools.hidden.extend(hidden.into_iter().map(|(side, region)| (id, side, region)));
    }

    /// Whether the list of hidden regions is on disk.
    pub(super) fn hidden_kept(&mut self, result: Result<(), String>) {
        self.tool_traffic.hiding = self.tool_traffic.hiding.saturating_sub(1);
        if let Err(why) = result {
            self.toast(Level::Warning, format!("Which regions are hidden is forgotten at the end of the program: {why}"));
        }
    }
}

fn hidden_of(hidden: &HashSet<(RowId, Side, RegionId)>, id: RowId) -> impl Iterator<Item = (Side, RegionId)> {
    hidden.iter().filter(move |(of, ..)| *of == id).map(|(_, side, region)| (*side, *region))
}

/// The role after the one that a region has; `None` where its side knows one only.
fn next_role(side: Side, region: &KeptRegion) -> Option<ToolAction> {
    let roles = roles_of(side);
    let now = roles.iter().position(|role| *role == region.facts.role)?;
    let next = roles[(now + 1) % roles.len()];
    (next != region.facts.role).then_some(ToolAction::SetRole(side, region.id, next))
}
