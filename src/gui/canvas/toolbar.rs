//! The strip above the pictures: the instruction; under it zoom, compare modes and what the mode can be set to.

use egui::{Align, Layout, Rect, RichText, Ui, UiBuilder, vec2};

use super::{Frame, modes};
use crate::gui::command::Command;
use crate::gui::context::Context;
use crate::gui::widgets::command_button;

/// Height of the strip.
pub const HEIGHT: f32 = 64.0;
/// Of it, the line with the instruction.
const INSTRUCTION: f32 = 30.0;

/// Draws the strip.
pub fn toolbar_ui(ui: &mut Ui, cx: &Context<'_>, rect: Rect, frame: &Frame<'_>) {
    let palette = cx.palette(ui);
    ui.painter().rect_filled(rect, 0.0, palette.panel.0);
    let (above, below) = rect.split_top_bottom_at_y(rect.top() + INSTRUCTION);
    ui.scope_builder(UiBuilder::new().max_rect(above.shrink2(vec2(10.0, 2.0))).layout(Layout::left_to_right(Align::Center)), |ui| {
        let text = RichText::new(&*frame.row.instruction).size(15.0).color(palette.text_strong.0);
        ui.add(egui::Label::new(text).truncate().selectable(true));
    });
    ui.scope_builder(UiBuilder::new().max_rect(below.shrink2(vec2(8.0, 4.0))).layout(Layout::left_to_right(Align::Center)), |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        command_button(ui, cx, Command::FitView, true);
        command_button(ui, cx, Command::OneToOne, true);
        let percent = frame.view.zoom * frame.ppp * 100.0;
        let digits = usize::from(percent < 9.95);
        ui.label(RichText::new(format!("{percent:>4.digits$} %")).monospace().color(palette.text_dim.0))
            .on_hover_text("Screen pixels a source pixel. Wheel: zoom to the cursor. Drag: move. Double click: fit.");
        ui.add_space(2.0);
        modes::modes_ui(ui, cx);
        ui.add_space(2.0);
        modes::options_ui(ui, cx);
    });
}
