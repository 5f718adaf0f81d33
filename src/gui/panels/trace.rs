//! The path to a score, from the instruction to the overall, in steps that point at the pictures.

use egui::{Label, RichText, Sense, Stroke, Ui, pos2, vec2};

use crate::domain::{PaperWeights, TraceKind, TraceStep};
use crate::editor::{EditDetails, Overlays, Row};
use crate::engine::{explain, phrases};
use crate::gui::context::{Action, Context};
use crate::gui::rescore::ShownScore;
use crate::gui::widgets::{self, section};

/// Points to the left of the steps, for their numbers and the line that joins them.
const GUTTER: f32 = 24.0;

/// Draws the trace.
pub fn trace_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row, details: &EditDetails, shown: &ShownScore<'_>) {
    let palette = cx.palette(ui);
    let mut steps = shown.score.trace.clone();
    steps.push(phrases(shown.score));
    if shown.pending.is_none() {
        steps.extend(explain(shown.score, details.audit.range.as_ref(), PaperWeights::default()));
    }
    steps.sort_by_key(|step| place(step.kind));
    section(ui, palette, "Trace");
    let fallbacks = steps.iter().filter(|step| step.fallback).count();
    let (summary, color) = match fallbacks {
        0 => ("The plain rule all the way: no fallback was taken.".to_owned(), palette.text_dim.0),
        1 => ("⚠ 1 step left the plain rule".to_owned(), palette.warning.0),
        n => (format!("⚠ {n} steps left the plain rule"), palette.warning.0),
    };
    ui.label(RichText::new(summary).size(12.0).color(color));
    ui.label(RichText::new("Point at a step to see it on the pictures.").size(11.5).color(palette.text_dim.0));
    let instruction =
        TraceStep { kind: TraceKind::Parse, text: format!("“{}”", row.instruction), fallback: false, numbers: Default::default() };
    let count = steps.len();
    step_ui(ui, cx, &Numbered { number: 1, last: count == 0, title: "Instruction", step: &instruction });
    for (index, step) in steps.iter().enumerate() {
        step_ui(ui, cx, &Numbered { number: index + 2, last: index + 1 == count, title: title(step.kind), step });
    }
}

/// A step with its place on the path.
struct Numbered<'a> {
    number: usize,
    last: bool,
    title: &'static str,
    step: &'a TraceStep,
}

/// The order in which a reader follows: read, locate, look, judge, combine.
const fn place(kind: TraceKind) -> u8 {
    match kind {
        TraceKind::Parse => 0,
        TraceKind::Phrase => 1,
        TraceKind::Boxes => 2,
        TraceKind::Branch => 3,
        TraceKind::Mask => 4,
        TraceKind::Crop => 5,
        TraceKind::Direction => 6,
        TraceKind::Size => 7,
        TraceKind::Position => 8,
        TraceKind::Modify => 9,
        TraceKind::Preserve => 10,
        TraceKind::Range => 11,
        TraceKind::Overall => 12,
        TraceKind::Device => 13,
    }
}

fn step_ui(ui: &mut Ui, cx: &Context<'_>, numbered: &Numbered<'_>) {
    let palette = cx.palette(ui);
    let step = numbered.step;
    let linked = !Overlays::of_trace(step.kind).is_empty();
    let pointed = cx.state.highlight == Some(step.kind) && linked;
    let fill = if pointed { palette.hovered.0 } else { palette.background.0 };
    let stroke = if step.fallback { Stroke::new(1.0, palette.warning.0) } else { Stroke::NONE };
    let left = ui.cursor().left();
    let frame = egui::Frame::new().fill(fill).stroke(stroke).corner_radius(4).inner_margin(egui::Margin::symmetric(8, 5));
    let frame = frame.outer_margin(egui::Margin { left: GUTTER as i8, ..egui::Margin::ZERO });
    let response = frame
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 3.0;
            head_ui(ui, cx, numbered, linked);
            ui.add(Label::new(RichText::new(&step.text).size(12.5)).wrap());
            if !step.numbers.is_empty() {
                let numbers: Vec<String> =
                    step.numbers.iter().map(|(name, value)| format!("{}\u{a0}{}", name.replace(' ', "\u{a0}"), plain(*value))).collect();
                let text = RichText::new(numbers.join("   ")).monospace().size(11.0).color(palette.text_dim.0);
                ui.add(Label::new(text).wrap());
            }
        })
        .response;
    path_ui(ui, cx, numbered, egui::Rect::from_min_max(pos2(left, response.rect.top()), pos2(left + GUTTER, response.rect.bottom())));
    if response.contains_pointer() && linked {
        cx.send(Action::Highlight(step.kind));
    }
    if !linked {
        response.on_hover_text("This step is about numbers alone: there is nothing on the pictures to show.");
    }
}

fn head_ui(ui: &mut Ui, cx: &Context<'_>, numbered: &Numbered<'_>, linked: bool) {
    let palette = cx.palette(ui);
    ui.horizontal(|ui| {
        ui.label(RichText::new(numbered.title).size(11.5).strong().color(palette.text_dim.0));
        if numbered.step.fallback {
            ui.label(RichText::new("⚠ fallback").size(11.5).strong().color(palette.warning.0))
                .on_hover_text("The score left the plain rule here.");
        }
        if linked {
            widgets::right(ui, |ui| {
                for overlay in Overlays::of_trace(numbered.step.kind).iter().rev() {
                    let (rect, _) = ui.allocate_exact_size(vec2(13.0, 10.0), Sense::hover());
                    widgets::paint_swatch(ui.painter(), palette, *overlay, rect, 1.0);
                }
            });
        }
    });
}

/// The step's number, and the line to the next one.
fn path_ui(ui: &Ui, cx: &Context<'_>, numbered: &Numbered<'_>, gutter: egui::Rect) {
    let palette = cx.palette(ui);
    let center = pos2(gutter.left() + 9.0, gutter.top() + 13.0);
    if !numbered.last {
        let below = gutter.bottom() + ui.spacing().item_spacing.y + 4.0;
        ui.painter().line_segment([center + vec2(0.0, 10.0), pos2(center.x, below)], Stroke::new(1.0, palette.outline.0));
    }
    let color = if numbered.step.fallback { palette.warning.0 } else { palette.text_dim.0 };
    ui.painter().circle_stroke(center, 9.0, Stroke::new(1.0, color));
    let font = egui::FontId::proportional(10.5);
    ui.painter().text(center, egui::Align2::CENTER_CENTER, numbered.number.to_string(), font, color);
}

/// Whole numbers without decimals, others with three.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 { format!("{value:.0}") } else { format!("{value:.3}") }
}

const fn title(kind: TraceKind) -> &'static str {
    match kind {
        TraceKind::Parse => "Parse",
        TraceKind::Phrase => "Phrase",
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
