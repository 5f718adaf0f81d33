//! The score of the selected edit: the overall, the parts, the item's other edits, and the path that led there.

use egui::{Grid, Label, RichText, Role, Sense, Ui, vec2};

use super::measures;
use super::queue::model_name;
use super::queue_row::share;
use crate::domain::{Outcome, Parts, Score, TraceKind, TraceStep};
use crate::editor::{EditDetails, Overlays, Row};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets::{self, outcome_text, section};

/// Draws the tab.
pub fn score_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row, details: &EditDetails) {
    let palette = cx.palette(ui);
    let Some(score) = &details.score else {
        ui.add_space(8.0);
        if details.made_by.is_empty() {
            ui.label("This edit has no score yet under this profile.");
        } else {
            ui.add(Label::new(RichText::new(&details.made_by).color(palette.bad.0)).wrap());
        }
        ui.horizontal(|ui| {
            widgets::primary_button(ui, cx, Command::ScoreSelected, true);
            widgets::command_button(ui, cx, Command::ScoreAll, true);
        });
        siblings_ui(ui, cx, row);
        return;
    };
    overall_ui(ui, cx, details, score);
    section(ui, palette, "Parts");
    parts_ui(ui, cx, details, score);
    flags_ui(ui, cx, row);
    siblings_ui(ui, cx, row);
    measures::measures_ui(ui, cx, details);
    section(ui, palette, "Trace");
    trace_ui(ui, cx, score);
}

fn overall_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, score: &Score) {
    let palette = cx.palette(ui);
    ui.horizontal(|ui| {
        let (text, why) = match details.combined.as_ref().map(|combined| &combined.overall) {
            Some(Outcome::Value(value)) => (RichText::new(format!("{value:.3}")).size(30.0).color(palette.text_strong.0), None),
            Some(Outcome::NotApplicable(why)) => (RichText::new("n/a").size(26.0).color(palette.text_dim.0), Some(why.as_str())),
            Some(Outcome::Failed(why)) => (RichText::new("failed").size(26.0).color(palette.bad.0), Some(why.as_str())),
            None => (
                RichText::new("–").size(30.0).color(palette.text_dim.0),
                Some("There is no range to put modify and preserve on one scale."),
            ),
        };
        ui.label(text);
        ui.vertical(|ui| {
            ui.add_space(4.0);
            let global = if score.global { " · global edit" } else { "" };
            ui.label(RichText::new(format!("BPM · {}{global}", score.profile)).strong());
            if let Some(why) = why {
                ui.add(Label::new(RichText::new(why).size(12.0).color(palette.warning.0)).wrap());
            } else if let Some(combined) = &details.combined {
                ui.add(Label::new(RichText::new(format!("range: {}", combined.range)).size(12.0).color(palette.text_dim.0)).wrap());
            }
        });
    });
    if !details.made_by.is_empty() {
        ui.add(Label::new(RichText::new(&details.made_by).size(11.5).color(palette.text_dim.0)).wrap());
    }
}

fn parts_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, score: &Score) {
    let palette = cx.palette(ui);
    let normalised = |name: &str| {
        let combined = details.combined.as_ref()?;
        match name {
            "modify" => Some(&combined.modify),
            "preserve" => Some(&combined.preserve),
            _ => None,
        }
    };
    Grid::new("parts").num_columns(4).spacing(vec2(10.0, 5.0)).show(ui, |ui| {
        for heading in ["", "", "value", "in range"] {
            ui.label(RichText::new(heading).size(11.0).color(palette.text_dim.0));
        }
        ui.end_row();
        for (index, name) in Parts::NAMES.into_iter().enumerate() {
            let Some(part) = score.parts.get(name) else { continue };
            let label = ui.add(Label::new(name).sense(Sense::hover()));
            let bar =
                widgets::bar(ui, palette, part.value().map(|value| f64::from(share(index, *value))), vec2(86.0, 10.0), palette.accent.0);
            let value = ui.label(outcome_text(part, palette));
            match normalised(name) {
                Some(outcome) => ui.label(outcome_text(outcome, palette)),
                None => ui.label(RichText::new("").monospace()),
            };
            if label.hovered() || bar.hovered() || value.hovered() {
                cx.send(Action::Highlight(kind_of(name)));
            }
            ui.end_row();
        }
    });
    for name in Parts::NAMES {
        if let Some(why) = score.parts.get(name).and_then(Outcome::why) {
            ui.add(Label::new(RichText::new(format!("{name}: {why}")).size(12.0).color(palette.text_dim.0)).wrap());
        }
    }
}

fn kind_of(part: &str) -> TraceKind {
    match part {
        "size" => TraceKind::Size,
        "position" => TraceKind::Position,
        "modify" => TraceKind::Modify,
        _ => TraceKind::Preserve,
    }
}

fn flags_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row) {
    let palette = cx.palette(ui);
    if row.flags.is_empty() {
        return;
    }
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        for flag in row.flags.iter() {
            egui::Frame::new().fill(palette.raised.0).corner_radius(4).inner_margin(egui::Margin::symmetric(6, 2)).show(ui, |ui| {
                let text = RichText::new(format!("⚠ {}", flag.label())).size(11.5).color(palette.warning.0);
                ui.label(text).on_hover_text(flag.meaning());
            });
        }
    });
}

/// The edits of the same item, best first where they are scored.
fn siblings_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row) {
    let palette = cx.palette(ui);
    let mut siblings: Vec<&Row> = cx.state.queue.siblings(row).collect();
    if siblings.len() < 2 {
        return;
    }
    siblings.sort_by(|a, b| b.overall.value().unwrap_or(f64::NEG_INFINITY).total_cmp(&a.overall.value().unwrap_or(f64::NEG_INFINITY)));
    section(ui, palette, "Edits of this item");
    for sibling in siblings {
        let selected = sibling.id == row.id;
        let width = ui.available_width();
        let (rect, response) = ui.allocate_exact_size(vec2(width, 22.0), Sense::click());
        widgets::name(&response, Role::ListItem, selected, format!("sibling {}", model_name(&sibling.model)));
        let fill = match (selected, response.hovered()) {
            (true, _) => palette.selection.0,
            (false, true) => palette.hovered.0,
            (false, false) => palette.panel.0,
        };
        ui.painter().rect_filled(rect, 3.0, fill);
        let font = egui::FontId::proportional(12.5);
        let mono = egui::FontId::monospace(12.0);
        let painter = ui.painter().with_clip_rect(rect);
        let people = sibling.human().map_or_else(|| "people   –".to_owned(), |mean| format!("people {mean:.1}"));
        let overall = widgets::cell_text(sibling.overall, palette).text().to_owned();
        let right = rect.right_center() - vec2(6.0, 0.0);
        painter.text(right, egui::Align2::RIGHT_CENTER, people, mono.clone(), palette.text_dim.0);
        painter.text(right - vec2(92.0, 0.0), egui::Align2::RIGHT_CENTER, overall, mono, palette.text_strong.0);
        let name = painter.with_clip_rect(rect.with_max_x(rect.right() - 150.0));
        name.text(rect.left_center() + vec2(6.0, 0.0), egui::Align2::LEFT_CENTER, model_name(&sibling.model), font, palette.text.0);
        if response.clicked() {
            cx.send(Action::Select(sibling.id));
        }
    }
}

fn trace_ui(ui: &mut Ui, cx: &Context<'_>, score: &Score) {
    let palette = cx.palette(ui);
    ui.label(RichText::new("Point at a step to see it on the pictures.").size(11.5).color(palette.text_dim.0));
    for step in &score.trace {
        step_ui(ui, cx, step);
    }
}

fn step_ui(ui: &mut Ui, cx: &Context<'_>, step: &TraceStep) {
    let palette = cx.palette(ui);
    let linked = !Overlays::of_trace(step.kind).is_empty();
    let pointed = cx.state.highlight == Some(step.kind) && linked;
    let fill = if pointed { palette.hovered.0 } else { palette.background.0 };
    let frame = egui::Frame::new().fill(fill).corner_radius(4).inner_margin(egui::Margin::symmetric(8, 5));
    let response = frame
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 3.0;
            ui.horizontal(|ui| {
                ui.label(RichText::new(title(step.kind)).size(11.5).strong().color(palette.text_dim.0));
                if step.fallback {
                    ui.label(RichText::new("⚠ fallback").size(11.5).strong().color(palette.warning.0))
                        .on_hover_text("The score left the plain rule here.");
                }
                if linked {
                    widgets::right(ui, |ui| {
                        let swatches = Overlays::of_trace(step.kind);
                        for overlay in swatches.iter().rev() {
                            let (rect, _) = ui.allocate_exact_size(vec2(13.0, 10.0), Sense::hover());
                            widgets::paint_swatch(ui.painter(), palette, *overlay, rect, 1.0);
                        }
                    });
                }
            });
            ui.add(Label::new(RichText::new(&step.text).size(12.5)).wrap());
            if !step.numbers.is_empty() {
                let numbers: Vec<String> = step.numbers.iter().map(|(name, value)| format!("{name} {}", plain(*value))).collect();
                let text = RichText::new(numbers.join("   ")).monospace().size(11.0).color(palette.text_dim.0);
                ui.add(Label::new(text).wrap());
            }
        })
        .response;
    if response.contains_pointer() && linked {
        cx.send(Action::Highlight(step.kind));
    }
}

/// Whole numbers without decimals, others with three.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 { format!("{value:.0}") } else { format!("{value:.3}") }
}

const fn title(kind: TraceKind) -> &'static str {
    match kind {
        TraceKind::Parse => "Parse",
        TraceKind::Boxes => "Boxes",
        TraceKind::Branch => "Rule",
        TraceKind::Mask => "Edit mask",
        TraceKind::Crop => "Crop",
        TraceKind::Direction => "Direction",
        TraceKind::Size => "Size",
        TraceKind::Position => "Position",
        TraceKind::Modify => "Modify",
        TraceKind::Preserve => "Preserve",
        TraceKind::Range => "Range",
        TraceKind::Overall => "Overall",
        TraceKind::Device => "Device",
    }
}
