//! Small things that several panels draw: command buttons, numbers, bars, section headings.

use egui::{Align, Button, Color32, Layout, Rect, Response, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo};

use crate::domain::Outcome;
use crate::editor::{Cell, Overlay};

use super::command::Command;
use super::context::{Action, Context};
use super::theme::Palette;

/// A button of a command, with its tooltip and key.
pub fn command_button(ui: &mut Ui, cx: &Context<'_>, command: Command, enabled: bool) -> Response {
    let response = ui.add_enabled(enabled, Button::new(command.label())).on_hover_text(command.tooltip(ui.ctx()));
    if response.clicked() {
        cx.send(Action::Do(command));
    }
    response
}

/// The one button of a page that matters most.
pub fn primary_button(ui: &mut Ui, cx: &Context<'_>, command: Command, enabled: bool) -> Response {
    let palette = cx.palette(ui);
    let text = RichText::new(command.label()).color(palette.on_accent.0).strong();
    let response = ui.add_enabled(enabled, Button::new(text).fill(palette.accent.0)).on_hover_text(command.tooltip(ui.ctx()));
    if response.clicked() {
        cx.send(Action::Do(command));
    }
    response
}

/// The key of a button, readable on the accent too.
pub fn key_hint(palette: &Palette, key: impl Into<String>, on_accent: bool) -> RichText {
    RichText::new(key).color(if on_accent { palette.on_accent.0 } else { palette.text_dim.0 })
}

/// An entry of a menu, with its key on the right.
pub fn command_menu_item(ui: &mut Ui, cx: &Context<'_>, command: Command, enabled: bool) {
    let mut button = Button::new(command.label());
    if let Some(key) = command.shortcut_text(ui.ctx()) {
        button = button.shortcut_text(key);
    }
    if ui.add_enabled(enabled, button).on_hover_text(command.tooltip(ui.ctx())).clicked() {
        cx.send(Action::Do(command));
        ui.close();
    }
}

/// A heading with room above.
pub fn section(ui: &mut Ui, palette: &Palette, text: &str) {
    ui.add_space(8.0);
    ui.label(RichText::new(text.to_uppercase()).small().strong().color(palette.text_dim.0));
    ui.add_space(1.0);
}

/// Three decimals, with room for a minus sign, so that columns align.
pub fn number(value: f64) -> String {
    format!("{value:>6.3}")
}

/// A number of the table, or a sign for its absence: `·` not scored, `n/a` not applicable, `failed`.
pub fn cell_text(cell: Cell, palette: &Palette) -> RichText {
    match cell {
        Cell::Value(value) => RichText::new(number(value)).monospace().color(palette.text_strong.0),
        Cell::Unscored => RichText::new("·").monospace().color(palette.text_dim.0),
        Cell::NotApplicable => RichText::new("n/a").monospace().color(palette.text_dim.0),
        Cell::Failed => RichText::new("failed").monospace().color(palette.bad.0),
    }
}

/// As [`cell_text`], for an outcome with its reason.
pub fn outcome_text(outcome: &Outcome<f64>, palette: &Palette) -> RichText {
    cell_text(outcome.into(), palette)
}

/// Something at the right end of the row.
pub fn right<R>(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> R) -> R {
    ui.with_layout(Layout::right_to_left(Align::Center), add).inner
}

/// A horizontal bar of `share` (`0..=1`); an outline alone when there is no number.
pub fn bar(ui: &mut Ui, palette: &Palette, share: Option<f64>, size: Vec2, color: Color32) -> Response {
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    paint_bar(ui.painter(), palette, rect, share, color);
    response
}

/// Paints a bar into `rect`.
pub fn paint_bar(painter: &egui::Painter, palette: &Palette, rect: Rect, share: Option<f64>, color: Color32) {
    match share {
        Some(share) => {
            painter.rect_filled(rect, 2.0, palette.field.0);
            let mut filled = rect;
            filled.set_width(rect.width() * share.clamp(0.0, 1.0) as f32);
            painter.rect_filled(filled, 2.0, color);
        }
        None => {
            painter.rect_stroke(rect.shrink(0.5), 2.0, Stroke::new(1.0, palette.outline.0), StrokeKind::Inside);
        }
    }
}

/// The line of the legend that stands for an overlay: shape and line style say the same as the colour.
pub fn paint_swatch(painter: &egui::Painter, palette: &Palette, overlay: Overlay, rect: Rect, opacity: f32) {
    let color = palette.overlay(overlay).gamma_multiply(opacity);
    let stroke = Stroke::new(1.5, color);
    let corners = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom(), rect.left_top()];
    match overlay {
        Overlay::SourceBoxes => {
            painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
        }
        Overlay::EditBoxes => {
            painter.extend(egui::Shape::dashed_line(&corners, stroke, 4.0, 2.5));
        }
        Overlay::Candidates => {
            painter.extend(egui::Shape::dashed_line(&corners, Stroke::new(1.0, color), 1.5, 2.0));
        }
        Overlay::MaskOutline => {
            let painter = painter.with_clip_rect(rect);
            painter.circle_stroke(rect.center(), rect.height() / 2.0 - 1.0, Stroke::new(2.0, color));
        }
        Overlay::Mask | Overlay::Ignored => {
            let painter = painter.with_clip_rect(rect);
            painter.rect_filled(rect, 0.0, color.gamma_multiply(0.35));
            // The edit mask is hatched to the right, ignored pixels to the left.
            let (from, to) = if overlay == Overlay::Mask { (rect.bottom(), rect.top()) } else { (rect.top(), rect.bottom()) };
            for step in -2..5 {
                let x = rect.left() + step as f32 * 5.0;
                painter.line_segment([egui::pos2(x, from), egui::pos2(x + rect.height(), to)], Stroke::new(1.5, color));
            }
            painter.rect_stroke(rect, 0.0, Stroke::new(1.0, color), StrokeKind::Inside);
        }
        Overlay::Crop => paint_corners(painter, rect, stroke, 4.0),
        Overlay::ChangeMap => {
            for step in 0..6 {
                let slice = rect.width() / 6.0;
                let left = rect.left() + step as f32 * slice;
                let part = Rect::from_min_size(egui::pos2(left, rect.top()), egui::vec2(slice, rect.height()));
                painter.rect_filled(part, 0.0, color.gamma_multiply((step + 1) as f32 / 6.0));
            }
        }
    }
}

/// Marks the four corners of a rectangle.
pub fn paint_corners(painter: &egui::Painter, rect: Rect, stroke: Stroke, length: f32) {
    for (corner, dx, dy) in
        [(rect.left_top(), 1.0, 1.0), (rect.right_top(), -1.0, 1.0), (rect.right_bottom(), -1.0, -1.0), (rect.left_bottom(), 1.0, -1.0)]
    {
        painter.line_segment([corner, corner + egui::vec2(dx * length, 0.0)], stroke);
        painter.line_segment([corner, corner + egui::vec2(0.0, dy * length)], stroke);
    }
}

/// Names a widget for screen readers and tests.
pub fn name(response: &Response, kind: Role, selected: bool, text: impl Into<String>) {
    let text = text.into();
    response.widget_info(|| WidgetInfo::selected(kind, true, selected, text.clone()));
}

/// A number with two decimals; what rounds to nothing has no sign.
pub fn two_decimals(value: f64) -> String {
    let text = format!("{value:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

/// The same with a sign, for differences.
pub fn two_decimals_signed(value: f64) -> String {
    let text = two_decimals(value);
    if value > 0.0 && text != "0.00" { format!("+{text}") } else { text }
}

/// Seconds as people say them.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounds_to_nothing_has_no_sign() {
        assert_eq!([-0.004, -0.0, 0.004, -0.006, 0.5].map(two_decimals), ["0.00", "0.00", "0.00", "-0.01", "0.50"]);
        assert_eq!([-0.004, 0.004, -0.006, 0.5].map(two_decimals_signed), ["0.00", "0.00", "-0.01", "+0.50"]);
    }

    #[test]
    fn durations_are_said_in_two_units_at_most() {
        for (seconds, text) in [(0.4, "0 s"), (59.4, "59 s"), (60.0, "1 min 00 s"), (3599.0, "59 min 59 s"), (7260.0, "2 h 01 min")] {
            assert_eq!(duration(seconds), text);
        }
    }
}
