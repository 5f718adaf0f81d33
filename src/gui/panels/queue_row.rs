//! One row of the queue.

use egui::{Align, Layout, Rect, RichText, Role, Sense, Ui, vec2};
use egui_extras::TableRow;

use super::queue::model_name;
use crate::domain::Parts;
use crate::editor::{Cell, Row};
use crate::gui::context::{Action, Context};
use crate::gui::pictures::{Slot, Wanted};
use crate::gui::widgets;

/// Points of a thumbnail's longer side.
const THUMB: f32 = 44.0;

/// Draws the cells of one row.
pub fn row_ui(table_row: &mut TableRow<'_, '_>, cx: &Context<'_>, row: &Row, wide: bool) {
    let selected = cx.state.queue.selected() == Some(row.id);
    table_row.set_selected(selected);
    table_row.col(|ui| thumb_ui(ui, cx, row));
    table_row.col(|ui| words_ui(ui, cx, row));
    if wide {
        for cell in row.parts {
            table_row.col(|ui| number_ui(ui, cx, cell));
        }
    }
    table_row.col(|ui| overall_ui(ui, cx, row, wide));
    table_row.col(|ui| people_ui(ui, cx, row));
    let response = table_row.response();
    widgets::name(&response, Role::ListItem, selected, format!("{} · {}", row.instruction, model_name(&row.model)));
    if response.clicked() {
        cx.send(Action::Select(row.id));
    }
}

fn thumb_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row) {
    let palette = cx.palette(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(THUMB, THUMB), Sense::hover());
    let wanted = Wanted::Thumb(row.edited.clone());
    match cx.pictures.get(&wanted) {
        Some(Slot::Ready(ready)) => {
            let Some(texture) = &ready.whole else { return };
            let size = texture.size_vec2();
            let shown = size * (THUMB / size.max_elem().max(1.0));
            let at = Rect::from_center_size(rect.center(), shown);
            egui::Image::from_texture(texture).corner_radius(3.0).paint_at(ui, at);
        }
        Some(Slot::Failed(_)) => {
            ui.painter().rect_filled(rect, 3.0, palette.field.0);
            let font = egui::FontId::proportional(16.0);
            ui.painter().text(rect.center(), egui::Align2::CENTER_CENTER, "⚠", font, palette.bad.0);
        }
        Some(Slot::Loading) => {
            ui.painter().rect_filled(rect, 3.0, palette.field.0);
        }
        None => {
            ui.painter().rect_filled(rect, 3.0, palette.field.0);
            cx.send(Action::Want(wanted));
        }
    }
}

fn words_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row) {
    let palette = cx.palette(ui);
    ui.with_layout(Layout::top_down(Align::Min), |ui| {
        ui.add_space(8.0);
        ui.spacing_mut().item_spacing.y = 2.0;
        let text = RichText::new(&*row.instruction).color(palette.text_strong.0);
        ui.add(egui::Label::new(text).truncate());
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            if !row.flags.is_empty() {
                let text = RichText::new(flags_text(row)).size(11.5).color(palette.warning.0);
                let all: Vec<String> = row.flags.iter().map(|flag| format!("⚠ {}: {}", flag.label(), flag.meaning())).collect();
                ui.label(text).on_hover_text(format!("Look twice before you believe this number:\n{}", all.join("\n")));
            }
            ui.add(egui::Label::new(RichText::new(model_name(&row.model)).size(11.5).color(palette.text_dim.0)).truncate());
        });
    });
}

/// The only flag by its name, several by their number.
fn flags_text(row: &Row) -> String {
    match (row.flags.count(), row.flags.iter().next()) {
        (1, Some(only)) => format!("⚠ {}", only.label()),
        (count, _) => format!("⚠ {count} flags"),
    }
}

fn number_ui(ui: &mut Ui, cx: &Context<'_>, cell: Cell) {
    let palette = cx.palette(ui);
    widgets::right(ui, |ui| ui.label(widgets::cell_text(cell, palette)));
}

/// The overall; under it the four parts as small bars, where they have no columns.
fn overall_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row, wide: bool) {
    let palette = cx.palette(ui);
    if wide {
        number_ui(ui, cx, row.overall);
        return;
    }
    ui.with_layout(Layout::top_down(Align::Max), |ui| {
        ui.add_space(9.0);
        ui.spacing_mut().item_spacing.y = 4.0;
        ui.label(widgets::cell_text(row.overall, palette));
        let (rect, response) = ui.allocate_exact_size(vec2(46.0, 12.0), Sense::hover());
        for (index, cell) in row.parts.into_iter().enumerate() {
            let at = rect.min + vec2(12.0 * index as f32, 0.0);
            let whole = Rect::from_min_size(at, vec2(10.0, 12.0));
            ui.painter().rect_filled(whole, 1.0, palette.field.0);
            if let Some(value) = cell.value() {
                let height = (share(index, value) * 12.0).max(1.0);
                let filled = Rect::from_min_max(egui::pos2(whole.left(), whole.bottom() - height), whole.max);
                ui.painter().rect_filled(filled, 1.0, palette.accent.0);
            }
        }
        let lines: Vec<String> = Parts::NAMES.into_iter().zip(row.parts).map(|(name, cell)| format!("{name}: {}", words(cell))).collect();
        response.on_hover_text(format!("The four parts, from left to right:\n{}", lines.join("\n")));
    });
}

/// Where a part lies on its natural scale: modify runs from −1 to 1, the others from 0 to 1.
pub fn share(part: usize, value: f64) -> f32 {
    let value = if part == 2 { (value + 1.0) / 2.0 } else { value };
    value.clamp(0.0, 1.0) as f32
}

fn words(cell: Cell) -> String {
    match cell {
        Cell::Value(value) => widgets::number(value),
        Cell::Unscored => "not scored yet".to_owned(),
        Cell::NotApplicable => "not applicable".to_owned(),
        Cell::Failed => "failed".to_owned(),
    }
}

fn people_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row) {
    let palette = cx.palette(ui);
    ui.with_layout(Layout::top_down(Align::Max), |ui| {
        ui.add_space(9.0);
        ui.spacing_mut().item_spacing.y = 2.0;
        match row.human() {
            Some(mean) => ui.label(RichText::new(format!("{mean:.1}")).monospace().color(palette.text_strong.0)),
            None => ui.label(RichText::new("·").monospace().color(palette.text_dim.0)),
        };
        if row.raters > 0 {
            let kind = if row.simulated { "sim. " } else { "" };
            let raters = if row.raters == 1 { "1 rater".to_owned() } else { format!("{} raters", row.raters) };
            let text = RichText::new(format!("{kind}{}×", row.raters)).size(10.5).color(palette.text_dim.0);
            let simulated = if row.simulated { " Some of these ratings are simulated: a program made them, no person." } else { "" };
            ui.label(text).on_hover_text(format!("Mean of the overall answers of {raters}, 1 (bad) to 5 (good).{simulated}"));
        }
    });
}
