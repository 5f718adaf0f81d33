//! Keys that mean something only while a gesture, a proposal or a selected region is there; otherwise they are left to others.

use egui::Key;

use crate::domain::regions::Area;
use crate::editor::tools::{Sketch, Tool, Tools};

use super::app::App;
use super::key_press::KeyPress;
use super::tool_actions::ToolAction;

/// For the key sheet: keys and what they do.
pub const TOOL_KEYS: [(&str, &str); 6] = [
    ("Arrows", "Move the selected box by 1 px (Box tool)"),
    ("Shift+Arrows", "Move it by 10 px"),
    ("Enter", "Accept the proposal, close the polygon"),
    ("Esc", "Reject the proposal, drop the gesture, end a preview"),
    ("Backspace", "Take back the last corner"),
    ("Delete", "Delete the selected region"),
];

/// Arrow keys with the direction they move in, y down.
const ARROWS: [(Key, f32, f32); 4] =
    [(Key::ArrowLeft, -1.0, 0.0), (Key::ArrowRight, 1.0, 0.0), (Key::ArrowUp, 0.0, -1.0), (Key::ArrowDown, 0.0, 1.0)];

impl App {
    /// Gives a key to the tools, if they have a use for it now. Typed text never gets here.
    pub(super) fn tool_key(&mut self, press: &KeyPress) -> bool {
        if self.state.dialog.is_some() || press.typing || self.state.page != super::state::Page::Audit {
            return false;
        }
        let esc = press.is_plain(Key::Escape);
        // An open menu is what Esc closes first.
        if esc && egui::Popup::is_any_open(&self.ctx) {
            return false;
        }
        let action = action_of(press, &self.state.tools);
        let ends_trying = action.is_none() && esc && self.is_trying();
        if ends_trying {
            self.end_trying();
        }
        let taken = action.is_some() || ends_trying;
        action.into_iter().for_each(|action| self.apply_tool(action));
        taken
    }
}

fn action_of(press: &KeyPress, tools: &Tools) -> Option<ToolAction> {
    let polygon = matches!(tools.sketch, Some(Sketch::Polygon { .. }));
    let selected = tools.document.as_ref().and_then(|document| document.selected());
    if press.is_plain(Key::Enter) {
        return if tools.prompt.is_some() { Some(ToolAction::Accept) } else { polygon.then_some(ToolAction::ClosePolygon) };
    }
    if press.is_plain(Key::Backspace) {
        return polygon.then_some(ToolAction::DropCorner);
    }
    if press.is_plain(Key::Escape) {
        return (tools.is_busy() || selected.is_some()).then_some(ToolAction::Cancel);
    }
    let (side, region) = selected?;
    if press.is_plain(Key::Delete) {
        return Some(ToolAction::Delete(side, region.id));
    }
    let movable = tools.tool == Tool::Box && matches!(region.area, Area::Box(_));
    let (_, dx, dy) = ARROWS.into_iter().find(|(key, ..)| movable && press.is_plain(*key))?;
    let step = if press.modifiers.shift { 10.0 } else { 1.0 };
    Some(ToolAction::Nudge { dx: step * dx, dy: step * dy })
}
