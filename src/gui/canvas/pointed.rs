//! The detector's candidate that a person points at in the inspector.

use egui::{Stroke, StrokeKind, Ui};

use super::labels::Label;
use super::{Frame, Pane};
use crate::domain::{Score, Side};
use crate::gui::context::Context;

/// Draws the candidate on the pane of its side, above all other boxes, and adds its label.
pub fn pointed_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, score: &Score, labels: &mut Vec<Label>) {
    let Some((side, index)) = cx.state.audit.pointed.filter(|(side, _)| pane.content.shows(*side)) else { return };
    let candidates = if side == Side::Source { &score.candidates.source } else { &score.candidates.edit };
    let Some(found) = candidates.get(index) else { return };
    let rect = frame.ui_rect_from_image(pane, &frame.on_canvas(side, &found.rect_in_image));
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.clip);
    let color = palette.candidate.0;
    painter.rect_filled(rect, 0.0, color.gamma_multiply(0.2));
    painter.rect_stroke(rect, 0.0, Stroke::new(5.0, palette.label_background.0), StrokeKind::Middle);
    painter.rect_stroke(rect, 0.0, Stroke::new(3.0, color), StrokeKind::Middle);
    let text = Label::words(&found.phrase, Some(found.confidence));
    labels.push(Label { rect, text, rank: Label::POINTED, color: palette.text_strong.0 });
}
