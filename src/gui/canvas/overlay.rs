//! Boxes, masks, crop and change map over the pictures.

use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui};

use crate::domain::{Bpm500, Detection, ImageSpace, Mask, Point, RegionRole, Scale, Score, Side, Size};
use crate::editor::{Content, Overlay};

use super::frame::{Frame, Pane, wanted};
use super::labels::Label;
use super::picture::{Look, layer_ui};
use crate::engine::DifferenceKind;
use crate::gui::context::Context;
use crate::gui::pictures::{Ready, Wanted};
use crate::gui::raster::{Layer, Style};
use crate::gui::widgets::paint_corners;

/// Draws every overlay that is on over a pane, and adds the labels of its boxes to `labels`.
pub fn overlays_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, labels: &mut Vec<Label>) {
    if frame.size.pixels() == 0 || !pane.is_selected(frame) {
        return;
    }
    // A difference shows the change itself.
    if matches!(pane.content, Content::Picture(Side::Edit) | Content::Onion) {
        change_ui(ui, cx, pane, frame);
    }
    let details = cx.state.details.as_ref().filter(|details| details.id == frame.row.id);
    let Some(score) = details.and_then(|details| details.score.as_deref()) else { return };
    mask_ui(ui, cx, pane, frame, score);
    crop_ui(ui, cx, pane, frame, score);
    for side in [Side::Source, Side::Edit].into_iter().filter(|side| pane.content.shows(*side)) {
        boxes_ui(ui, cx, pane, frame, score, side, labels);
    }
    super::pointed::pointed_ui(ui, cx, pane, frame, score, labels);
}

fn drawn(cx: &Context<'_>, overlay: Overlay) -> f32 {
    cx.state.overlays.drawn(overlay, cx.state.highlight)
}

/// How much each pixel changed, over a veil that makes the picture step back.
fn change_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>) {
    let opacity = drawn(cx, Overlay::ChangeMap);
    let (source, edit) = (frame.row.source.clone(), frame.row.edited.clone());
    let both = [&source, &edit].into_iter().all(|path| cx.pictures.ready(&Wanted::Full(path.clone())).is_some());
    if opacity <= 0.0 || !both {
        return;
    }
    let Some(ready) = wanted(cx, Wanted::Difference { source, edit, kind: DifferenceKind::L2 }) else { return };
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.clip);
    let rect = frame.ui_rect_from_image(pane, &crate::domain::Rect::whole(frame.size));
    painter.rect_filled(rect, 0.0, palette.canvas.0.gamma_multiply(opacity * 0.75));
    let tint = palette.change.0.gamma_multiply(opacity);
    layer_ui(&painter, cx, pane, frame, ready, Look { style: Style::Change, gain: 1.0, tint });
}

fn mask_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, score: &Score) {
    let (fill, outline) = (drawn(cx, Overlay::Mask), drawn(cx, Overlay::MaskOutline));
    // A person's mask, or one that is being drawn, is drawn by the tools.
    let drawn_by_tools = cx.state.tools.draws(frame.row.id, Side::Edit, RegionRole::EditMask);
    if (fill <= 0.0 && outline <= 0.0) || score.mask.is_none() || drawn_by_tools {
        return;
    }
    let Some(ready) = wanted(cx, Wanted::Mask(frame.row.id)) else { return };
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.clip);
    if fill > 0.0 {
        let tint = palette.overlay(Overlay::Mask).gamma_multiply(fill);
        layer_ui(&painter, cx, pane, frame, ready, Look { style: Style::Fill, gain: 1.0, tint });
    }
    if outline > 0.0 {
        outline_ui(&painter, cx, pane, frame, ready, palette.overlay(Overlay::MaskOutline).gamma_multiply(outline));
    }
}

/// From this zoom on (screen pixels a picture pixel) the outline is drawn as lines between pixels instead of as pixels.
const LINES_FROM: f32 = 4.0;

/// The border of a mask: as texels from afar, as lines of constant width where single pixels are seen.
fn outline_ui(painter: &Painter, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, ready: &Ready, color: Color32) {
    let Some(Layer::Mask(levels)) = &ready.layer else { return };
    let Some(mask) = levels.first() else { return };
    // A mask of another size than the canvas is stretched to it, as pictures are.
    if mask.size() != frame.size || frame.zoom() * frame.ppp < LINES_FROM {
        layer_ui(painter, cx, pane, frame, ready, Look { style: Style::Outline, gain: 1.0, tint: color });
        return;
    }
    let seen = frame.seen(pane).clipped(frame.size);
    let stroke = Stroke::new(2.0, color);
    for [x0, y0, x1, y1] in border_lines(mask, [seen.x0 as u32, seen.y0 as u32, seen.x1.ceil() as u32, seen.y1.ceil() as u32]) {
        let at = |x: u32, y: u32| frame.ui_from_image(pane, Point::new(x as f32, y as f32));
        painter.line_segment([at(x0, y0), at(x1, y1)], stroke);
    }
}

/// The lines between pixels inside and outside a mask within `[x0, y0, x1, y1]`, as `[x0, y0, x1, y1]` each; neighbouring pieces are joined.
fn border_lines(mask: &Mask, [x0, y0, x1, y1]: [u32; 4]) -> Vec<[u32; 4]> {
    let inside = |x: i64, y: i64| x >= 0 && y >= 0 && mask.get(x as u32, y as u32);
    let mut lines = Vec::new();
    // Between each two rows, and between each two columns.
    for y in y0..=y1 {
        runs(x0, x1, |x| inside(i64::from(x), i64::from(y) - 1) != inside(i64::from(x), i64::from(y)), |a, b| lines.push([a, y, b, y]));
    }
    for x in x0..=x1 {
        runs(y0, y1, |y| inside(i64::from(x) - 1, i64::from(y)) != inside(i64::from(x), i64::from(y)), |a, b| lines.push([x, a, x, b]));
    }
    lines
}

/// Calls `found` with each run `[a, b)` of places in `from..to` that `is` holds for.
fn runs(from: u32, to: u32, is: impl Fn(u32) -> bool, mut found: impl FnMut(u32, u32)) {
    let mut begun = None;
    for at in from..to {
        match (is(at), begun) {
            (true, None) => begun = Some(at),
            (false, Some(first)) => {
                found(first, at);
                begun = None;
            }
            _ => {}
        }
    }
    if let Some(first) = begun {
        found(first, to);
    }
}

fn crop_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, score: &Score) {
    let opacity = drawn(cx, Overlay::Crop);
    let Some(crop_in_bpm500) = score.crop_in_bpm500.filter(|_| opacity > 0.0) else { return };
    let image_from_bpm500 = Scale::<ImageSpace, Bpm500>::stretch(frame.size, Size::BPM500);
    let rect = frame.ui_rect_from_image(pane, &(image_from_bpm500 * crop_in_bpm500));
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.clip);
    let color = palette.overlay(Overlay::Crop).gamma_multiply(opacity);
    let shadow = palette.label_background.0.gamma_multiply(opacity);
    painter.rect_stroke(rect, 0.0, Stroke::new(1.0, color.gamma_multiply(0.4)), StrokeKind::Middle);
    let length = (rect.width().min(rect.height()) * 0.2).clamp(6.0, 24.0);
    paint_corners(&painter, rect, Stroke::new(4.5, shadow), length);
    paint_corners(&painter, rect, Stroke::new(2.5, color), length);
}

fn boxes_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, score: &Score, side: Side, labels: &mut Vec<Label>) {
    let (used, all, overlay) = match side {
        Side::Source => (&score.boxes.source, &score.candidates.source, Overlay::SourceBoxes),
        Side::Edit => (&score.boxes.edit, &score.candidates.edit, Overlay::EditBoxes),
    };
    let on_screen = |found: &Detection| frame.ui_rect_from_image(pane, &frame.on_canvas(side, &found.rect_in_image));
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.clip);
    let (used_opacity, candidate_opacity) = (drawn(cx, overlay), drawn(cx, Overlay::Candidates));
    let role = if side == Side::Source { RegionRole::Original } else { RegionRole::Edited };
    if used_opacity > 0.0 && !cx.state.tools.draws(frame.row.id, side, role) {
        let color = palette.overlay(overlay).gamma_multiply(used_opacity);
        for found in used {
            let rect = on_screen(found);
            box_ui(&painter, rect, overlay, color, palette.label_background.0.gamma_multiply(used_opacity));
            let text = Label::words(&found.phrase, Some(found.confidence));
            labels.push(Label { rect, text, rank: found.confidence, color });
        }
    }
    if candidate_opacity > 0.0 {
        let color = palette.overlay(Overlay::Candidates).gamma_multiply(candidate_opacity);
        let threshold = cx.state.overlays.threshold();
        for found in all.iter().filter(|candidate| candidate.confidence >= threshold && !used.contains(candidate)) {
            let rect = on_screen(found);
            box_ui(&painter, rect, Overlay::Candidates, color, Color32::TRANSPARENT);
            // After all boxes that the metric used.
            labels.push(Label { rect, text: format!("{:.2}", found.confidence), rank: found.confidence - 1.0, color });
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_of_a_pixel_is_four_lines_and_of_a_bar_too() {
        let size = Size::new(6, 4);
        let bar = Mask::from_fn(size, |x, y| y == 1 && (2..5).contains(&x));
        let lines = border_lines(&bar, [0, 0, 6, 4]);
        assert_eq!(lines, [[2, 1, 5, 1], [2, 2, 5, 2], [2, 1, 2, 2], [5, 1, 5, 2]]);
        // At the picture's border the outside is outside.
        let corner = Mask::from_fn(size, |x, y| x == 5 && y == 3);
        assert_eq!(border_lines(&corner, [4, 2, 6, 4]), [[5, 3, 6, 3], [5, 4, 6, 4], [5, 3, 5, 4], [6, 3, 6, 4]]);
    }
}
