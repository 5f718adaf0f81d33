//! Keys that mean something only while a gesture, a proposal or a selected region is there; otherwise they are left to others.

use egui::{Key, Modifiers};

use crate::domain::regions::Area;
use crate::editor::tools::{Sketch, Tool, Tools};

use super::app::App;
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
    /// Takes the keys that the tools have a use for now. Typed text never gets here.
    pub(super) fn tool_keys(&mut self) {
        if self.state.dialog.is_some() || self.ctx.text_edit_focused() || self.state.page != super::state::Page::Audit {
            return;
        }
        // An open menu is what Esc closes first.
        let esc = !egui::Popup::is_any_open(&self.ctx);
        let actions = self.ctx.input_mut(|input| pressed(input, &self.state.tools, esc));
        actions.into_iter().for_each(|action| self.apply_tool(action));
        if esc && self.is_trying() && self.ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
            self.end_trying();
        }
    }
}

fn pressed(input: &mut egui::InputState, tools: &Tools, esc: bool) -> Vec<ToolAction> {
    let mut actions = Vec::new();
    let mut take = |wanted: bool, modifiers: Modifiers, key: Key, action: ToolAction| {
        if wanted && input.consume_key(modifiers, key) {
            actions.push(action);
        }
    };
    let polygon = matches!(tools.sketch, Some(Sketch::Polygon { .. }));
    let selected = tools.document.as_ref().and_then(|document| document.selected());
    take(tools.prompt.is_some(), Modifiers::NONE, Key::Enter, ToolAction::Accept);
    take(polygon, Modifiers::NONE, Key::Enter, ToolAction::ClosePolygon);
    take(polygon, Modifiers::NONE, Key::Backspace, ToolAction::DropCorner);
    take(esc && (tools.is_busy() || selected.is_some()), Modifiers::NONE, Key::Escape, ToolAction::Cancel);
    if let Some((side, region)) = selected {
        take(true, Modifiers::NONE, Key::Delete, ToolAction::Delete(side, region.id));
        let movable = tools.tool == Tool::Box && matches!(region.area, Area::Box(_));
        for (key, dx, dy) in ARROWS {
            // The longer step first: without modifiers a key matches whatever Shift does.
            take(movable, Modifiers::SHIFT, key, ToolAction::Nudge { dx: 10.0 * dx, dy: 10.0 * dy });
            take(movable, Modifiers::NONE, key, ToolAction::Nudge { dx, dy });
        }
    }
    actions
}
