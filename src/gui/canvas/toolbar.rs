//! The strips above and below the pictures: zoom and pixel values, legend with switches and opacities.

use egui::{Align, Layout, Rect, Response, RichText, Role, Sense, Slider, Ui, UiBuilder, vec2};

use super::probe::probe;
use super::{Frame, Pane};
use crate::editor::Overlay;
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets::{self, command_button};

/// Height of the strip above the pictures.
pub const HEIGHT: f32 = 62.0;
/// Of it, the line with the instruction.
const INSTRUCTION: f32 = 30.0;

/// The strip above: the instruction; under it the zoom buttons, and the pixel under the pointer at the right.
pub fn toolbar_ui(ui: &mut Ui, cx: &Context<'_>, rect: Rect, panes: &[Pane; 2], frame: &Frame<'_>, canvas: &Response) {
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
        let percent = frame.view.zoom * ui.ctx().pixels_per_point() * 100.0;
        ui.label(RichText::new(format!("{percent:>4.0} %")).monospace().color(palette.text_dim.0))
            .on_hover_text("Screen pixels a source pixel. Wheel: zoom to the cursor. Drag: move. Double click: fit.");
        if let Some(probe) = probe(cx, panes, frame, canvas) {
            widgets::right(ui, |ui| {
                let text = RichText::new(probe.text()).monospace().size(11.0).color(palette.text.0);
                ui.add(egui::Label::new(text).truncate());
            });
        }
    });
}

/// Height of the legend: one line, or two where the window is narrow.
pub fn legend_height(ui: &Ui) -> f32 {
    if ui.available_width() < 760.0 { 66.0 } else { 36.0 }
}

/// The strip below: one switch an overlay, and their opacities.
pub fn legend_ui(ui: &mut Ui, cx: &Context<'_>, rect: Rect) {
    let palette = cx.palette(ui);
    ui.painter().rect_filled(rect, 0.0, palette.panel.0);
    ui.scope_builder(UiBuilder::new().max_rect(rect.shrink2(vec2(8.0, 5.0))), |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
            for command in Command::all() {
                if let Some(overlay) = command.overlay() {
                    chip_ui(ui, cx, command, overlay);
                }
            }
            let bare = egui::Button::selectable(cx.state.overlays.bare, Command::BarePictures.label());
            if ui.add(bare).on_hover_text(Command::BarePictures.tooltip(ui.ctx())).clicked() {
                cx.send(Action::Do(Command::BarePictures));
            }
            ui.menu_button("Opacity", |ui| opacities_ui(ui, cx)).response.on_hover_text("How strongly each overlay is drawn.");
        });
    });
}

/// A switch that shows the overlay's line style, name and key.
fn chip_ui(ui: &mut Ui, cx: &Context<'_>, command: Command, overlay: Overlay) {
    let palette = cx.palette(ui);
    let on = cx.state.overlays.is_on(overlay) && !cx.state.overlays.bare;
    let color = if on { palette.text_strong.0 } else { palette.text_dim.0 };
    let galley = ui.painter().layout_no_wrap(overlay.label().to_owned(), egui::FontId::proportional(12.5), color);
    let key = command.shortcut_text(ui.ctx()).unwrap_or_default();
    let key = ui.painter().layout_no_wrap(key, egui::FontId::monospace(10.5), palette.text_dim.0);
    let size = vec2(8.0 + 16.0 + 6.0 + galley.size().x + 6.0 + key.size().x + 8.0, 24.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    widgets::name(&response, Role::CheckBox, on, overlay.label());
    let visuals = ui.style().interact_selectable(&response, false);
    let fill = if on { palette.raised.0 } else { palette.panel.0 };
    ui.painter().rect(rect, 4.0, if response.hovered() { visuals.weak_bg_fill } else { fill }, visuals.bg_stroke, egui::StrokeKind::Inside);
    let swatch = Rect::from_min_size(rect.left_center() + vec2(8.0, -6.0), vec2(16.0, 12.0));
    widgets::paint_swatch(ui.painter(), palette, overlay, swatch, if on { 1.0 } else { 0.35 });
    let text_at = swatch.right_center() + vec2(6.0, -galley.size().y / 2.0);
    let key_at = rect.right_center() - vec2(8.0 + key.size().x, key.size().y / 2.0);
    ui.painter().galley(text_at, galley, color);
    ui.painter().galley(key_at, key, palette.text_dim.0);
    if response.on_hover_text(command.tooltip(ui.ctx())).clicked() {
        cx.send(Action::Do(command));
    }
}

fn opacities_ui(ui: &mut Ui, cx: &Context<'_>) {
    ui.set_min_width(280.0);
    egui::Grid::new("opacities").num_columns(2).spacing(vec2(12.0, 6.0)).show(ui, |ui| {
        for overlay in Overlay::ALL {
            let label = ui.label(overlay.label());
            let mut percent = cx.state.overlays.opacity(overlay) * 100.0;
            let slider = ui.add(Slider::new(&mut percent, 0.0..=100.0).suffix(" %").fixed_decimals(0)).labelled_by(label.id);
            if slider.changed() {
                cx.send(Action::SetOpacity(overlay, percent / 100.0));
            }
            ui.end_row();
        }
    });
}
