//! The detector's candidate that a person points at in the inspector.

use egui::{Align2, FontId, Rect, Stroke, StrokeKind, Ui, vec2};

use crate::domain::{Score, Side};

use super::{Frame, Pane};
use crate::gui::context::Context;

/// Draws the candidate on the pane of its side, above all other boxes.
pub fn pointed_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, score: &Score) {
    let Some((side, index)) = cx.state.audit.pointed.filter(|(side, _)| pane.content.shows(*side)) else { return };
    let candidates = if side == Side::Source { &score.candidates.source } else { &score.candidates.edit };
    let Some(found) = candidates.get(index) else { return };
    // Boxes lie in pixels of their own picture; the edit is drawn stretched to the source.
    let (x, y) = match (side, frame.edit_size) {
        (Side::Edit, Some(size)) if size.pixels() > 0 => {
            (frame.size.width as f32 / size.width as f32, frame.size.height as f32 / size.height as f32)
        }
        _ => (1.0, 1.0),
    };
    let r = found.rect_in_image;
    let rect = frame.ui_rect_from_image(pane, &crate::domain::Rect::new(r.x0 * x, r.y0 * y, r.x1 * x, r.y1 * y));
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.clip);
    let color = palette.candidate.0;
    painter.rect_filled(rect, 0.0, color.gamma_multiply(0.2));
    painter.rect_stroke(rect, 0.0, Stroke::new(5.0, palette.label_background.0), StrokeKind::Middle);
    painter.rect_stroke(rect, 0.0, Stroke::new(3.0, color), StrokeKind::Middle);
    let text = format!("{} {:.2}", found.phrase, found.confidence);
    let galley = painter.layout_no_wrap(text, FontId::proportional(12.5), palette.text_strong.0);
    let inside = Rect::from_min_size(rect.min, galley.size() + vec2(8.0, 4.0));
    // Above the box, or inside where there is no room above.
    let label = if inside.top() - inside.height() >= pane.clip.top() { inside.translate(vec2(0.0, -inside.height())) } else { inside };
    painter.rect_filled(label, 2.0, palette.label_background.0);
    painter.galley(Align2::CENTER_CENTER.anchor_size(label.center(), galley.size()).min, galley, palette.text_strong.0);
}
