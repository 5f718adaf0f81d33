//! The buttons of the compare modes, and what the mode in use can be set to.

use egui::{Button, ComboBox, Rect, Role, Sense, Slider, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::editor::{Compare, CompareMode, DifferenceView, Divider};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets;

/// Least and greatest width of a slider, in points.
const SLIDER: (f32, f32) = (48.0, 110.0);

/// One button a mode, with a picture of what it does.
pub fn modes_ui(ui: &mut Ui, cx: &Context<'_>) {
    ui.spacing_mut().item_spacing.x = 2.0;
    for command in Command::all() {
        if let Some(mode) = command.compare_mode() {
            mode_ui(ui, cx, command, mode);
        }
    }
    ui.spacing_mut().item_spacing.x = 6.0;
}

fn mode_ui(ui: &mut Ui, cx: &Context<'_>, command: Command, mode: CompareMode) {
    let palette = cx.palette(ui);
    let on = cx.state.compare.mode == mode;
    let (rect, response) = ui.allocate_exact_size(vec2(26.0, 24.0), Sense::click());
    widgets::name(&response, Role::RadioButton, on, mode.label());
    let fill = match (on, response.hovered()) {
        (true, _) => palette.selection.0,
        (false, true) => palette.hovered.0,
        (false, false) => palette.panel.0,
    };
    let color = if on { palette.text_strong.0 } else { palette.text.0 };
    ui.painter().rect(rect, 4.0, fill, ui.style().interact(&response).bg_stroke, StrokeKind::Inside);
    paint_mode(ui.painter(), mode, Rect::from_center_size(rect.center(), vec2(16.0, 12.0)), color);
    if response.on_hover_text(format!("{}\n{}", mode.label(), command.tooltip(ui.ctx()))).clicked() {
        cx.send(Action::Do(command));
    }
}

/// A small drawing of a mode.
fn paint_mode(painter: &egui::Painter, mode: CompareMode, rect: Rect, color: egui::Color32) {
    let stroke = Stroke::new(1.3, color);
    let weak = color.gamma_multiply(0.35);
    let frame = |rect: Rect| {
        painter.rect_stroke(rect, 1.0, stroke, StrokeKind::Inside);
    };
    let (left, right) = rect.split_left_right_at_fraction(0.5);
    match mode {
        CompareMode::SideBySide => {
            frame(left.with_max_x(left.right() - 0.8));
            frame(right.with_min_x(right.left() + 0.8));
        }
        CompareMode::Wipe => {
            frame(rect);
            painter.rect_filled(right, 0.0, weak);
            painter.vline(rect.center().x, rect.y_range().expand(2.0), stroke);
        }
        CompareMode::Blink => {
            let part = vec2(rect.width() * 0.68, rect.height() * 0.7);
            painter.rect_filled(Rect::from_min_size(rect.max - part, part), 1.0, weak);
            frame(Rect::from_min_size(rect.min, part));
            painter.extend(egui::Shape::dashed_line(
                &[pos2(rect.right(), rect.bottom() - part.y), rect.max, pos2(rect.right() - part.x, rect.bottom())],
                stroke,
                2.0,
                1.5,
            ));
        }
        CompareMode::Onion => {
            let radius = rect.height() / 2.0;
            painter.circle(pos2(rect.left() + radius, rect.center().y), radius, egui::Color32::TRANSPARENT, stroke);
            painter.circle(pos2(rect.right() - radius, rect.center().y), radius, weak, stroke);
        }
        CompareMode::Difference => {
            frame(rect);
            let (x, y) = (rect.center().x, rect.center().y);
            painter.hline(x - 3.0..=x + 3.0, y - 1.6, stroke);
            painter.vline(x, y - 4.6..=y + 1.4, stroke);
            painter.hline(x - 3.0..=x + 3.0, y + 3.4, stroke);
        }
        CompareMode::Single => frame(rect.shrink2(vec2(2.5, 0.0))),
        CompareMode::Grid => {
            for (x, y) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                let cell = vec2(rect.width() / 2.0 - 0.8, rect.height() / 2.0 - 0.8);
                frame(Rect::from_min_size(rect.min + vec2(x * (cell.x + 1.6), y * (cell.y + 1.6)), cell));
            }
        }
    }
}

/// What the mode in use can be set to; folded into a menu where there is no room.
pub fn options_ui(ui: &mut Ui, cx: &Context<'_>) {
    if matches!(cx.state.compare.mode, CompareMode::SideBySide | CompareMode::Grid) {
        return;
    }
    if ui.available_width() >= room(cx.state.compare.mode) + SLIDER.0 {
        mode_options_ui(ui, cx);
    } else {
        ui.menu_button("Options", |ui| mode_options_ui(ui, cx)).response.on_hover_text("What this mode can be set to.");
    }
}

/// Points that the options of a mode take besides a slider.
const fn room(mode: CompareMode) -> f32 {
    match mode {
        CompareMode::Wipe => 130.0,
        CompareMode::Blink => 150.0,
        CompareMode::Onion => 90.0,
        CompareMode::Difference => 170.0,
        CompareMode::Single => 130.0,
        CompareMode::SideBySide | CompareMode::Grid => 0.0,
    }
}

fn mode_options_ui(ui: &mut Ui, cx: &Context<'_>) {
    let now = cx.state.compare;
    let mut next = now;
    ui.spacing_mut().slider_width = (ui.available_width() - room(now.mode)).clamp(SLIDER.0, SLIDER.1);
    match now.mode {
        CompareMode::Wipe => {
            for (divider, text) in [(Divider::Vertical, "Left | right"), (Divider::Horizontal, "Above / below")] {
                ui.selectable_value(&mut next.divider, divider, text);
            }
        }
        CompareMode::Blink => {
            let text = if now.blink_paused { "Go on" } else { "Pause" };
            if ui.add(Button::new(text)).on_hover_text("Stops at the edit, and goes on.").clicked() {
                next.blink_paused = !now.blink_paused;
            }
            let label = ui.label("each");
            let (least, most) = Compare::BLINK_LIMITS;
            let slider = Slider::new(&mut next.blink_seconds, least..=most).suffix(" s").fixed_decimals(1).step_by(0.1);
            ui.add(slider).labelled_by(label.id).on_hover_text("How long each picture is shown.");
        }
        CompareMode::Onion => {
            let label = ui.label("Edit");
            let mut percent = now.onion * 100.0;
            let slider = ui.add(Slider::new(&mut percent, 0.0..=100.0).suffix(" %").fixed_decimals(0)).labelled_by(label.id);
            slider.on_hover_text("Opacity of the edit over the source.");
            next.onion = percent / 100.0;
        }
        CompareMode::Difference => {
            ComboBox::from_id_salt("difference view").width(84.0).selected_text(now.difference.label()).show_ui(ui, |ui| {
                for view in DifferenceView::ALL {
                    ui.selectable_value(&mut next.difference, view, view.label());
                }
            });
            let label = ui.label("×");
            let (least, most) = Compare::GAIN_LIMITS;
            let slider = Slider::new(&mut next.gain, least..=most).logarithmic(true).fixed_decimals(0);
            ui.add(slider).labelled_by(label.id).on_hover_text("Gain: differences are multiplied by this before they are drawn.");
        }
        CompareMode::Single => {
            for (side, text) in [(crate::domain::Side::Source, "Source alone"), (crate::domain::Side::Edit, "Edit alone")] {
                ui.selectable_value(&mut next.single, side, text);
            }
        }
        CompareMode::SideBySide | CompareMode::Grid => {}
    }
    if next != now {
        cx.send(Action::SetCompare(next));
    }
}
