//! Boxes, masks, crop and change map over the pictures, with labels that do not cover each other.

use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::domain::{Bpm500, Detection, ImageSpace, Scale, Score, Side, Size};
use crate::editor::{LabelBox, Overlay, place_labels};

use super::{Frame, Pane, ui_rect};
use crate::gui::context::{Action, Context};
use crate::gui::pictures::Wanted;
use crate::gui::widgets::paint_corners;

/// More labels than this on one picture are not read; the surest boxes get theirs.
const MOST_LABELS: usize = 10;
/// Longer labels are cut.
const MOST_LETTERS: usize = 28;

/// Boxes with a label, drawn after everything else.
struct Labelled {
    rect: Rect,
    text: String,
    confidence: f32,
    color: Color32,
}

/// Draws every overlay that is on, over both panes.
pub fn overlays_ui(ui: &Ui, cx: &Context<'_>, panes: &[Pane; 2], frame: &Frame<'_>) {
    let details = cx.state.details.as_ref().filter(|details| details.id == frame.row.id);
    let Some(score) = details.and_then(|details| details.score.as_deref()) else {
        change_ui(ui, cx, &panes[1], frame);
        return;
    };
    if frame.size.pixels() == 0 {
        return;
    }
    change_ui(ui, cx, &panes[1], frame);
    for pane in panes {
        mask_ui(ui, cx, pane, frame, score);
        crop_ui(ui, cx, pane, frame, score);
        boxes_ui(ui, cx, pane, frame, score);
        super::pointed::pointed_ui(ui, cx, pane, frame, score);
    }
}

fn drawn(cx: &Context<'_>, overlay: Overlay) -> f32 {
    cx.state.overlays.drawn(overlay, cx.state.highlight)
}

/// How much each pixel changed, over a veil that makes the picture step back.
fn change_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane, frame: &Frame<'_>) {
    let opacity = drawn(cx, Overlay::ChangeMap);
    if opacity <= 0.0 {
        return;
    }
    let wanted = Wanted::Change { source: frame.row.source.clone(), edit: frame.row.edited.clone() };
    if cx.pictures.get(&wanted).is_none() {
        cx.send(Action::Want(wanted.clone()));
    }
    let Some(ready) = cx.pictures.ready(&wanted) else { return };
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.rect);
    let rect = frame.ui_rect_from_image(pane, &crate::domain::Rect::whole(frame.size));
    painter.rect_filled(rect, 0.0, palette.canvas.0.gamma_multiply(opacity * 0.75));
    texture(&painter, ready.texture.id(), rect, palette.change.0.gamma_multiply(opacity));
}

fn mask_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane, frame: &Frame<'_>, score: &Score) {
    let opacity = drawn(cx, Overlay::Mask);
    if opacity <= 0.0 || score.mask.is_none() {
        return;
    }
    let wanted = Wanted::Mask(frame.row.id);
    if cx.pictures.get(&wanted).is_none() {
        cx.send(Action::Want(wanted.clone()));
    }
    let Some(ready) = cx.pictures.ready(&wanted) else { return };
    let color = cx.palette(ui).overlay(Overlay::Mask);
    let painter = ui.painter().with_clip_rect(pane.rect);
    let rect = frame.ui_rect_from_image(pane, &crate::domain::Rect::whole(frame.size));
    texture(&painter, ready.texture.id(), rect, color.gamma_multiply(opacity));
    if let Some(outline) = &ready.outline {
        texture(&painter, outline.id(), rect, color.gamma_multiply((opacity * 2.5).min(1.0)));
    }
}

fn texture(painter: &Painter, id: egui::TextureId, rect: Rect, tint: Color32) {
    painter.image(id, rect, Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), tint);
}

fn crop_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane, frame: &Frame<'_>, score: &Score) {
    let opacity = drawn(cx, Overlay::Crop);
    let Some(crop_in_bpm500) = score.crop_in_bpm500.filter(|_| opacity > 0.0) else { return };
    let image_from_bpm500 = Scale::<ImageSpace, Bpm500>::stretch(frame.size, Size::BPM500);
    let rect = frame.ui_rect_from_image(pane, &(image_from_bpm500 * crop_in_bpm500));
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.rect);
    let color = palette.overlay(Overlay::Crop).gamma_multiply(opacity);
    let shadow = palette.label_background.0.gamma_multiply(opacity);
    painter.rect_stroke(rect, 0.0, Stroke::new(1.0, color.gamma_multiply(0.4)), StrokeKind::Middle);
    let length = (rect.width().min(rect.height()) * 0.2).clamp(6.0, 24.0);
    paint_corners(&painter, rect, Stroke::new(4.5, shadow), length);
    paint_corners(&painter, rect, Stroke::new(2.5, color), length);
}

fn boxes_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane, frame: &Frame<'_>, score: &Score) {
    let (used, all, overlay) = match pane.side {
        Side::Source => (&score.boxes.source, &score.candidates.source, Overlay::SourceBoxes),
        Side::Edit => (&score.boxes.edit, &score.candidates.edit, Overlay::EditBoxes),
    };
    // Boxes lie in pixels of their own picture; the edit is drawn stretched to the source.
    let stretch = match (pane.side, frame.edit_size) {
        (Side::Edit, Some(size)) if size.pixels() > 0 => {
            (frame.size.width as f32 / size.width as f32, frame.size.height as f32 / size.height as f32)
        }
        _ => (1.0, 1.0),
    };
    let on_canvas = |found: &Detection| {
        let r = found.rect_in_image;
        let stretched = crate::domain::Rect::new(r.x0 * stretch.0, r.y0 * stretch.1, r.x1 * stretch.0, r.y1 * stretch.1);
        frame.ui_rect_from_image(pane, &stretched)
    };
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.rect);
    let mut labels = Vec::new();
    let (used_opacity, candidate_opacity) = (drawn(cx, overlay), drawn(cx, Overlay::Candidates));
    if used_opacity > 0.0 {
        let color = palette.overlay(overlay).gamma_multiply(used_opacity);
        for found in used {
            let rect = on_canvas(found);
            box_ui(&painter, rect, overlay, color, palette.label_background.0.gamma_multiply(used_opacity));
            let phrase: String = found.phrase.chars().take(MOST_LETTERS).collect();
            let text = format!("{phrase} {:.2}", found.confidence);
            labels.push(Labelled { rect, text, confidence: found.confidence, color });
        }
    }
    if candidate_opacity > 0.0 {
        let color = palette.overlay(Overlay::Candidates).gamma_multiply(candidate_opacity);
        for found in all.iter().filter(|candidate| !used.contains(candidate)) {
            let rect = on_canvas(found);
            box_ui(&painter, rect, Overlay::Candidates, color, Color32::TRANSPARENT);
            labels.push(Labelled { rect, text: format!("{:.2}", found.confidence), confidence: found.confidence, color });
        }
    }
    labels_ui(&painter, pane, palette.label_background.0, &labels);
}

/// A box in the line style of its overlay, on a dark rim that keeps it visible on any picture.
fn box_ui(painter: &Painter, rect: Rect, overlay: Overlay, color: Color32, rim: Color32) {
    painter.rect_stroke(rect, 0.0, Stroke::new(4.0, rim), StrokeKind::Middle);
    let corners: [Pos2; 5] = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom(), rect.left_top()];
    match overlay {
        Overlay::EditBoxes => {
            painter.extend(Shape::dashed_line(&corners, Stroke::new(2.0, color), 9.0, 4.0));
        }
        Overlay::Candidates => {
            painter.extend(Shape::dashed_line(&corners, Stroke::new(1.0, color), 2.0, 3.0));
        }
        _ => {
            painter.rect_stroke(rect, 0.0, Stroke::new(2.0, color), StrokeKind::Middle);
        }
    }
}

fn labels_ui(painter: &Painter, pane: &Pane, background: Color32, labels: &[Labelled]) {
    let font = FontId::proportional(11.5);
    let mut visible: Vec<&Labelled> = labels.iter().filter(|label| label.rect.intersects(pane.rect)).collect();
    visible.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    visible.truncate(MOST_LABELS);
    let galleys: Vec<_> = visible.iter().map(|label| painter.layout_no_wrap(label.text.clone(), font.clone(), label.color)).collect();
    let asked: Vec<LabelBox> = visible
        .iter()
        .zip(&galleys)
        .map(|(label, galley)| LabelBox { anchor: ui_rect(label.rect), width: galley.size().x + 8.0, height: galley.size().y + 2.0 })
        .collect();
    for ((place, galley), label) in place_labels(&asked, &ui_rect(pane.rect)).into_iter().zip(galleys).zip(visible) {
        let Some(place) = place else { continue };
        let rect = Rect::from_min_max(pos2(place.x0, place.y0), pos2(place.x1, place.y1));
        painter.rect_filled(rect, 2.0, background);
        painter.galley(Align2::LEFT_CENTER.anchor_size(rect.left_center() + vec2(4.0, 0.0), galley.size()).min, galley, label.color);
    }
}
