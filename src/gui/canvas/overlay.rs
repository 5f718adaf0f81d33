//! Boxes, masks, crop and change map over the pictures.

use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui};

use crate::domain::regions::{Area, KeptRegion};
use crate::domain::{Bpm500, Detection, ImageSpace, Mask, Point, RegionRole, Scale, Score, Side, Size};
use crate::editor::{Content, Overlay, Thresholds};

use super::frame::{Frame, Pane, wanted};
use super::labels::Label;
use super::picture::{Look, layer_ui};
use crate::engine::DifferenceKind;
use crate::gui::context::Context;
use crate::gui::panels::localization::phrase_of;
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
    // The score that the inspector shows, also while some of its parts are being computed.
    let details = cx.state.details.as_ref().filter(|details| details.id == frame.row.id);
    let Some(shown) = details.and_then(|details| cx.state.audit.shown(details)) else { return };
    let score = shown.score;
    mask_ui(ui, cx, pane, frame);
    crop_ui(ui, cx, pane, frame, score);
    for side in [Side::Source, Side::Edit].into_iter().filter(|side| pane.content.shows(*side)) {
        boxes_ui(ui, cx, pane, frame, score, side, labels);
    }
    super::pointed::pointed_ui(ui, cx, pane, frame, score, labels);
}

fn drawn(cx: &Context<'_>, overlay: Overlay) -> f32 {
    cx.state.overlays.drawn(overlay, cx.state.highlight)
}

/// How much each pixel of the picture that is shown as the edit changed, over a veil that makes the picture step back.
fn change_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>) {
    let opacity = drawn(cx, Overlay::ChangeMap);
    let (source, edit) = (frame.row.source.clone(), cx.edited_of(frame.row).clone());
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

fn mask_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>) {
    let (fill, outline) = (drawn(cx, Overlay::Mask), drawn(cx, Overlay::MaskOutline));
    // A person's mask, or one that is being drawn, is drawn by the tools.
    let drawn_by_tools = cx.state.tools.draws(frame.row.id, Side::Edit, RegionRole::EditMask);
    let hidden = cx.state.tools.hidden_found(frame.row.id, Side::Edit).any(|region| region.facts.role == RegionRole::EditMask);
    if (fill <= 0.0 && outline <= 0.0) || cx.state.shown_mask(frame.row.id).is_none() || drawn_by_tools || hidden {
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
/// The work goes with the runs of the rows, not with their pixels.
fn border_lines(mask: &Mask, [x0, y0, x1, y1]: [u32; 4]) -> Vec<[u32; 4]> {
    let edges = |y: u32| -> Vec<u32> { mask.runs(y).flat_map(|run| [run.start, run.end]).collect() };
    let clipped = |edges: &[u32]| -> Vec<u32> {
        let runs = edges.chunks_exact(2).map(|run| [run[0].clamp(x0, x1), run[1].clamp(x0, x1)]);
        runs.filter(|[start, end]| start < end).flatten().collect()
    };
    let (mut lines, mut upright) = (Vec::new(), Vec::new());
    // Where a line between two columns is open, and the row that it begins at.
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut above = y0.checked_sub(1).map(edges).unwrap_or_default();
    for y in y0..=y1 {
        let here = edges(y);
        // Two rows differ between the edges that only one of them has.
        let apart = only_in_one(&clipped(&above), &clipped(&here));
        lines.extend(apart.chunks_exact(2).map(|run| [run[0], y, run[1], y]));
        let goes_on = |x: u32| y < y1 && here.binary_search(&x).is_ok();
        upright.extend(open.iter().filter(|(x, _)| !goes_on(*x)).map(|(x, from)| [*x, *from, *x, y]));
        let seen = here.iter().filter(|x| (x0..=x1).contains(*x));
        open = seen.map(|x| (*x, open.binary_search_by_key(x, |(x, _)| *x).map_or(y, |at| open[at].1))).collect();
        above = here;
    }
    lines.extend(upright);
    lines
}

/// The numbers of two ascending lists that the other has not, ascending.
fn only_in_one(a: &[u32], b: &[u32]) -> Vec<u32> {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let mut found = Vec::new();
    loop {
        match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x == y => {
                a.next();
                b.next();
            }
            (Some(x), Some(y)) if x > y => found.extend(b.next()),
            (Some(_), _) => found.extend(a.next()),
            (None, Some(_)) => found.extend(b.next()),
            (None, None) => return found,
        }
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

/// What becomes of a box under the thresholds that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Used by the metric, as it stands.
    Used,
    /// It would be used.
    Added,
    /// It would be used no longer.
    Dropped,
}

/// The boxes that were used and, while other thresholds are tried, those that would be; a person's boxes stay, whatever the thresholds.
fn chosen<'s>(used: &'s [Detection], candidates: &'s [Detection], preview: Option<Thresholds>) -> Vec<(&'s Detection, Choice)> {
    let Some(Thresholds { boxes, .. }) = preview else { return used.iter().map(|found| (found, Choice::Used)).collect() };
    let stays = |found: &Detection| found.is_above(boxes) || !candidates.contains(found);
    let used_before = used.iter().map(|found| (found, if stays(found) { Choice::Used } else { Choice::Dropped }));
    let added = candidates.iter().filter(|found| found.is_above(boxes) && !used.contains(found));
    used_before.chain(added.map(|found| (found, Choice::Added))).collect()
}

fn boxes_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, score: &Score, side: Side, labels: &mut Vec<Label>) {
    let (used, all, role) = match side {
        Side::Source => (&score.boxes.source, &score.candidates.source, RegionRole::Original),
        Side::Edit => (&score.boxes.edit, &score.candidates.edit, RegionRole::Edited),
    };
    let drawn_by_tools = cx.state.tools.draws(frame.row.id, side, role);
    // Where the regions are read, the boxes are those that the list has and that a gesture begins with.
    let found = cx.state.audit.found_of(frame.row.id).filter(|_| cx.state.tools.document_of(frame.row.id).is_some());
    let used = found.map_or(used.as_slice(), |found| found.boxes(side));
    let chosen = chosen(used, all, cx.state.overlays.preview().filter(|_| !drawn_by_tools));
    if !drawn_by_tools {
        chosen_ui(ui, cx, (pane, frame, side), &chosen, labels);
    }
    let opacity = drawn(cx, Overlay::Candidates);
    if opacity > 0.0 {
        let painter = ui.painter().with_clip_rect(pane.clip);
        let color = cx.palette(ui).overlay(Overlay::Candidates).gamma_multiply(opacity);
        let threshold = cx.state.overlays.threshold();
        let is_chosen = |candidate: &Detection| chosen.iter().any(|(found, _)| *found == candidate);
        for found in all.iter().filter(|candidate| candidate.confidence >= threshold && !is_chosen(candidate)) {
            let rect = frame.ui_rect_from_image(pane, &frame.on_canvas(side, &found.rect_in_image));
            box_ui(&painter, rect, Overlay::Candidates, color, Color32::TRANSPARENT);
            // After all boxes that the metric used.
            if rect.size().min_elem() >= LEAST_LABELLED {
                labels.push(Label { rect, text: format!("{:.2}", found.confidence), rank: found.confidence - 1.0, color });
            }
        }
    }
}

/// The boxes that the metric used. Of those that other thresholds would choose the label says so by a sign; what they would drop has the line
/// of a candidate.
fn chosen_ui(
    ui: &Ui,
    cx: &Context<'_>,
    (pane, frame, side): (&Pane<'_>, &Frame<'_>, Side),
    chosen: &[(&Detection, Choice)],
    labels: &mut Vec<Label>,
) {
    let overlay = if side == Side::Source { Overlay::SourceBoxes } else { Overlay::EditBoxes };
    let overlays = &cx.state.overlays;
    // What is tried is seen also where the boxes are switched off.
    let least = if overlays.preview().is_some() && !overlays.bare { 0.6 } else { 0.0 };
    let opacity = drawn(cx, overlay).max(least);
    if opacity <= 0.0 {
        return;
    }
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.clip);
    let rim = palette.label_background.0.gamma_multiply(opacity);
    let hidden = |found: &Detection| {
        let is = |region: &KeptRegion| {
            region.facts.name == found.name() && matches!(region.area, Area::Box(rect) if rect == found.rect_in_image)
        };
        cx.state.tools.hidden_found(frame.row.id, side).any(is)
    };
    for (found, choice) in chosen.iter().filter(|(found, _)| !hidden(found)) {
        let rect = frame.ui_rect_from_image(pane, &frame.on_canvas(side, &found.rect_in_image));
        let (line, sign) = match choice {
            Choice::Used => (overlay, ""),
            Choice::Added => (overlay, "+ "),
            Choice::Dropped => (Overlay::Candidates, "− "),
        };
        let color = palette.overlay(line).gamma_multiply(opacity);
        box_ui(&painter, rect, line, color, rim);
        let text = format!("{sign}{}", Label::words(&phrase_of(cx, found), Some(found.confidence)));
        labels.push(Label { rect, text, rank: found.confidence, color });
    }
}

/// Points that the shorter side of a candidate's box must have for its confidence to stand at it: at smaller ones the numbers of a dozen
/// candidates would hide what they are about. Zooming in brings them, and the inspector lists them.
const LEAST_LABELLED: f32 = 40.0;

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
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn thresholds_add_and_drop_boxes_as_the_metric_would_and_leave_a_persons() {
        let found = |x: f32, confidence: f32| Detection {
            rect_in_image: crate::domain::Rect::new(x, 0.0, x + 5.0, 5.0),
            phrase: "cup".into(),
            confidence,
            tokens: Vec::new(),
        };
        let candidates = [found(0.0, 0.9), found(10.0, 0.35), found(20.0, 0.25), found(30.0, 0.2), found(40.0, 0.1)];
        let drawn = found(50.0, 0.01);
        // As the metric has it at 0.3, with a box that a person drew beside the candidates.
        let used = [candidates[0].clone(), candidates[1].clone(), drawn];
        let choices = |boxes: f32| -> Vec<(f32, Choice)> {
            let preview = Some(Thresholds { boxes, ..Thresholds::METRIC });
            chosen(&used, &candidates, preview).into_iter().map(|(found, choice)| (found.rect_in_image.x0, choice)).collect()
        };
        // A box at the threshold is not above it.
        let (used_, added, dropped) = (Choice::Used, Choice::Added, Choice::Dropped);
        assert_eq!(choices(0.2), [(0.0, used_), (10.0, used_), (50.0, used_), (20.0, added)]);
        assert_eq!(choices(0.5), [(0.0, used_), (10.0, dropped), (50.0, used_)]);
        assert_eq!(chosen(&used, &candidates, None).len(), 3);
    }

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

    /// A line for each side of a pixel behind which the mask changes, as the words say; cut into pieces of one pixel.
    fn by_pixels(mask: &Mask, [x0, y0, x1, y1]: [u32; 4]) -> BTreeSet<[u32; 4]> {
        let inside = |x: i64, y: i64| x >= 0 && y >= 0 && mask.get(x as u32, y as u32);
        let at = |x: u32, y: u32, left: i64, up: i64| inside(i64::from(x) - left, i64::from(y) - up);
        let level = (y0..=y1).flat_map(|y| (x0..x1).map(move |x| [x, y, x + 1, y]));
        let upright = (y0..y1).flat_map(|y| (x0..=x1).map(move |x| [x, y, x, y + 1]));
        let level = level.filter(|[x, y, ..]| at(*x, *y, 0, 1) != at(*x, *y, 0, 0));
        let upright = upright.filter(|[x, y, ..]| at(*x, *y, 1, 0) != at(*x, *y, 0, 0));
        level.chain(upright).collect()
    }

    proptest! {
        #[test]
        fn border_lines_are_those_between_unlike_pixels(
            w in 1u32..80, h in 1u32..9, bits in proptest::collection::vec(any::<bool>(), 80 * 9), part in any::<[u8; 4]>()
        ) {
            let mask = Mask::from_fn(Size::new(w, h), |x, y| bits[(y * 80 + x) as usize]);
            let within = |a: u8, b: u8, side: u32| { let (a, b) = (u32::from(a) % (side + 1), u32::from(b) % (side + 1)); (a.min(b), a.max(b)) };
            let ((x0, x1), (y0, y1)) = (within(part[0], part[1], w), within(part[2], part[3], h));
            let lines = border_lines(&mask, [x0, y0, x1, y1]);
            let pieces: Vec<[u32; 4]> = lines.iter().flat_map(|[ax, ay, bx, by]| {
                let (ax, ay) = (*ax, *ay);
                let level = (ax..*bx).map(move |x| [x, ay, x + 1, ay]);
                level.chain((ay..*by).map(move |y| [ax, y, ax, y + 1]))
            }).collect();
            let set: BTreeSet<[u32; 4]> = pieces.iter().copied().collect();
            prop_assert_eq!(set.len(), pieces.len(), "no line twice");
            prop_assert_eq!(set, by_pixels(&mask, [x0, y0, x1, y1]));
        }
    }
}
