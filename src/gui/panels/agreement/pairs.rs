//! The chosen metric, pair of models by pair of models: as a matrix, and as a table with its counts.

use egui::{Align2, Color32, FontId, Label, RichText, ScrollArea, Sense, Ui, vec2};

use super::cells::{Head, count_ui, metric_label, table_ui, value_ui, words_ui};
use super::how_ui;
use crate::gui::context::Context;
use crate::gui::panels::queue::model_name;
use crate::gui::theme::Palette;
use crate::gui::widgets::section;
use crate::stats::ModelPair;
use crate::stats::comparison::{ALL, Comparison, Line};

/// The line of the plot's metric and criterion over all edits.
pub(super) fn chosen_line<'a>(cx: &Context<'_>, found: &'a Comparison) -> Option<&'a Line> {
    let view = &cx.state.agreement.view;
    found.lines.iter().find(|line| line.split == ALL && line.metric == view.metric && line.criterion == view.criterion)
}

/// What is said where the chosen metric is not held against the chosen criterion.
pub(super) fn no_line_ui(ui: &mut Ui, cx: &Context<'_>) {
    let view = &cx.state.agreement.view;
    let text = format!(
        "{} is not compared with people on {}: the criteria of parts are compared with their own part only. Choose overall, or the part.",
        metric_label(&view.metric),
        view.criterion
    );
    words_ui(ui, cx.palette(ui), &text);
}

pub(super) fn pairs_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let Some(line) = chosen_line(cx, found) else {
        no_line_ui(ui, cx);
        return;
    };
    section(ui, palette, &format!("{} against people on {}, by pair of models", metric_label(&line.metric), line.criterion));
    if line.agreement.pairs.is_empty() {
        words_ui(ui, palette, line.agreement.macro_mean.why().unwrap_or("No two models share an item."));
        return;
    }
    matrix_ui(ui, palette, &line.agreement.pairs);
    ui.add_space(10.0);
    counts_ui(ui, cx, &line.agreement.pairs);
    let text = "Share of the compared items on which the metric prefers the edit that people prefer; 0.5 is chance where nothing ties.";
    words_ui(ui, palette, text);
    how_ui(ui, cx, found);
}

const CELL: egui::Vec2 = vec2(62.0, 34.0);
const NAMES: f32 = 110.0;

/// Models against models; the shade of a cell says what its number says. Many models scroll sideways beside their names.
fn matrix_ui(ui: &mut Ui, palette: &Palette, pairs: &[ModelPair]) {
    let mut models: Vec<&str> = pairs.iter().flat_map(|pair| pair.models.iter().map(String::as_str)).collect();
    models.sort_unstable();
    models.dedup();
    let height = CELL.y * (models.len() + 1) as f32;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let (rect, _) = ui.allocate_exact_size(vec2(NAMES, height), Sense::hover());
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        for (at, model) in models.iter().enumerate() {
            let name = shortened(model_name(model), 15);
            let place = rect.min + vec2(0.0, CELL.y * (at as f32 + 1.5));
            painter.text(place, Align2::LEFT_CENTER, name, FontId::proportional(12.0), palette.text.0);
        }
        ScrollArea::horizontal().id_salt("matrix").show(ui, |ui| cells_ui(ui, palette, &models, pairs, height));
    });
}

fn cells_ui(ui: &mut Ui, palette: &Palette, models: &[&str], pairs: &[ModelPair], height: f32) {
    // Room for the bar below the last row.
    let size = vec2(CELL.x * models.len() as f32, height + ui.spacing().scroll.bar_width);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let cell = |row: usize, column: usize| {
        let left_top = rect.min + vec2(CELL.x * column as f32, CELL.y * (row + 1) as f32);
        egui::Rect::from_min_size(left_top, CELL).shrink(1.5)
    };
    for (at, model) in models.iter().enumerate() {
        let above = cell(0, at).center_top() - vec2(0.0, 6.0);
        painter.text(above, Align2::CENTER_BOTTOM, shortened(model_name(model), 9), FontId::proportional(12.0), palette.text.0);
        painter.rect_filled(cell(at, at), 3.0, palette.field.0);
    }
    for pair in pairs {
        let place = |model: &str| models.binary_search(&model).unwrap_or_default(); // every model of a pair is in the list
        let (a, b) = (place(&pair.models[0]), place(&pair.models[1]));
        for (row, column) in [(a, b), (b, a)] {
            let at = cell(row, column);
            painter.rect_filled(at, 3.0, shade(palette, pair.share.value().copied()));
            let text = pair.share.value().map_or_else(|| "–".to_owned(), |share| format!("{share:.2}"));
            painter.text(at.center(), Align2::CENTER_CENTER, text, FontId::monospace(12.0), palette.text_strong.0);
            let response = ui.interact(at, ui.scope_id().with(("pair", row, column)), Sense::hover());
            let words = pair_words(pair);
            crate::gui::widgets::name(&response, egui::Role::Cell, false, words.clone());
            response.on_hover_text(words);
        }
    }
}

/// Everything about a pair in words.
fn pair_words(pair: &ModelPair) -> String {
    let counts = &pair.counts;
    let share = match (pair.share.value(), pair.share.why()) {
        (Some(share), _) => format!("{share:.3} of {} compared", counts.compared),
        (None, why) => why.unwrap_or("undefined").to_owned(),
    };
    format!(
        "{} – {}: {share}; {} human ties, {} metric ties, {} without a metric value, {} not rated",
        model_name(&pair.models[0]),
        model_name(&pair.models[1]),
        counts.human_ties,
        counts.metric_ties,
        counts.missing_metric,
        counts.missing_human
    )
}

/// From chance (the field's colour) to always right (`good`) or always wrong (`bad`).
fn shade(palette: &Palette, share: Option<f64>) -> Color32 {
    let Some(share) = share else { return palette.field.0 };
    let far = ((share - 0.5).abs() * 2.0).clamp(0.0, 1.0) as f32;
    let end = if share >= 0.5 { palette.good.0 } else { palette.bad.0 };
    palette.field.0.lerp_to_gamma(end, far * 0.5)
}

fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most { name.to_owned() } else { format!("{}…", name.chars().take(most - 1).collect::<String>()) }
}

const HEADS: [Head<'static>; 6] = [
    Head::new("models", "", 200.0),
    Head::new("share", "", 56.0),
    Head::new("compared", "Items on which people prefer one of the two and the metric has both values.", 66.0),
    Head::new("people tie", "Items on which people see no difference.", 66.0),
    Head::new("metric ties", "Items on which people see a difference and the metric none.", 70.0),
    Head::new("missing", "Items without a metric value or a rating.", 60.0),
];

fn counts_ui(ui: &mut Ui, cx: &Context<'_>, pairs: &[ModelPair]) {
    table_ui(ui, cx, "pairs", &HEADS, pairs.len(), |row| {
        let Some(pair) = pairs.get(row.index()) else { return };
        row.col(|ui| {
            let text = format!("{} – {}", model_name(&pair.models[0]), model_name(&pair.models[1]));
            ui.add(Label::new(RichText::new(text)).truncate());
        });
        row.col(|ui| value_ui(ui, &pair.share));
        let counts = &pair.counts;
        for count in [counts.compared, counts.human_ties, counts.metric_ties, counts.missing_metric + counts.missing_human] {
            row.col(|ui| count_ui(ui, count));
        }
    });
}
