//! Draws a person's regions, the gesture under way, and the segmenter's proposal.
//!
//! Of roles that nobody speaks for, the overlays of the score draw the regions; here only the selected one is marked.

use std::sync::Arc;

use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, vec2};

use super::labels::Label;
use super::region_raster::{self, Hatch, Layer};
use super::{Frame, Pane};
use crate::domain::mask_ops::Brush;
use crate::domain::regions::{Area, KeptRegion};
use crate::domain::{ImageSpace, Point, RegionOrigin, RegionRole, Side};
use crate::editor::Overlay;
use crate::editor::regions::RegionDocument;
use crate::editor::tools::{Handle, Sketch, Tool, Tools};
use crate::gui::context::Context;
use crate::gui::theme::Palette;

/// Side of a handle, in points.
const HANDLE: f32 = 8.0;

/// The colour of a role: that of the overlay which shows the same of the score.
pub fn role_color(palette: &Palette, role: RegionRole) -> Color32 {
    match role {
        RegionRole::Original => palette.overlay(Overlay::SourceBoxes),
        RegionRole::Edited => palette.overlay(Overlay::EditBoxes),
        RegionRole::EditMask => palette.overlay(Overlay::Mask),
        RegionRole::Ignore => palette.overlay(Overlay::Ignored),
    }
}

fn overlay_of(role: RegionRole) -> Overlay {
    match role {
        RegionRole::Original => Overlay::SourceBoxes,
        RegionRole::Edited => Overlay::EditBoxes,
        RegionRole::EditMask => Overlay::Mask,
        RegionRole::Ignore => Overlay::Ignored,
    }
}

/// The selected box of a side, in canvas pixels.
pub fn selected_box(tools: &Tools, side: Side) -> Option<crate::domain::Rect<ImageSpace>> {
    let document = tools.document.as_ref()?;
    let (selected_side, region) = document.selected()?;
    match &region.area {
        Area::Box(rect) if selected_side == side => Some(document.side_from_canvas(side).inverse() * *rect),
        _ => None,
    }
}

/// The masks of roles that a person speaks for, with the stroke under way.
pub fn masks_ui(ui: &Ui, cx: &Context<'_>, painter: &Painter, pane: &Pane<'_>, frame: &Frame<'_>, document: &RegionDocument) {
    let (tools, palette) = (&cx.state.tools, cx.palette(ui));
    let stroke = match &tools.sketch {
        Some(Sketch::Stroke(stroke)) => Some(stroke),
        _ => None,
    };
    let mut layers: Vec<Layer> = Vec::new();
    for role in [RegionRole::EditMask, RegionRole::Ignore] {
        let opacity = cx.state.overlays.drawn(overlay_of(role), cx.state.highlight);
        let outline = match role {
            RegionRole::EditMask => cx.state.overlays.drawn(Overlay::MaskOutline, cx.state.highlight),
            _ => opacity.min(1.0),
        };
        let drawn_here = tools.draws(document.id, Side::Edit, role);
        if (opacity <= 0.0 && outline <= 0.0) || !drawn_here {
            continue;
        }
        let hatch = if role == RegionRole::Ignore { Hatch::Left } else { Hatch::Right };
        let color = role_color(palette, role);
        let visible = document.masks(role).filter(|region| !tools.is_hidden(document.id, Side::Edit, region.id));
        for region in visible.filter(|region| stroke.is_none_or(|stroke| stroke.target != Some(region.id))) {
            if let Area::Mask(mask) = &region.area {
                layers.push(Layer { mask: Arc::clone(mask), color, opacity, outline, hatch });
            }
        }
        if let Some(stroke) = stroke.filter(|stroke| stroke.role == role) {
            layers.push(Layer { mask: Arc::clone(&stroke.mask), color, opacity, outline: outline.max(0.8), hatch });
        }
    }
    if let Some((_, KeptRegion { area: Area::Mask(mask), .. })) = document.selected().filter(|_| stroke.is_none()) {
        layers.push(Layer { mask: Arc::clone(mask), color: palette.accent.0, opacity: 0.0, outline: 1.0, hatch: Hatch::None });
    }
    region_raster::layers_ui(cx, ui, painter, (pane, frame), ("regions", tools.revision), layers);
}

/// The boxes of roles that a person speaks for, of each side that the pane shows; their labels are added to `labels`.
pub fn boxes_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, document: &RegionDocument, labels: &mut Vec<Label>) {
    for side in [Side::Source, Side::Edit].into_iter().filter(|side| pane.content.shows(*side)) {
        boxes_of_side_ui(ui, cx, pane, frame, (document, side), labels);
    }
}

fn boxes_of_side_ui(
    ui: &Ui,
    cx: &Context<'_>,
    pane: &Pane<'_>,
    frame: &Frame<'_>,
    (document, side): (&RegionDocument, Side),
    labels: &mut Vec<Label>,
) {
    let (tools, palette) = (&cx.state.tools, cx.palette(ui));
    let painter = &ui.painter().with_clip_rect(pane.clip);
    let canvas_from_side = document.side_from_canvas(side).inverse();
    let reshaped = match &tools.sketch {
        Some(Sketch::Reshape { side: of, id, to, .. }) if *of == side => Some((*id, *to)),
        _ => None,
    };
    for region in document.shown(side) {
        let Area::Box(rect) = &region.area else { continue };
        let rect = reshaped.filter(|(id, _)| *id == region.id).map_or(*rect, |(_, to)| to);
        let selected = document.selected == Some((side, region.id));
        let pointed = tools.pointed == Some((side, region.id));
        let opacity = cx.state.overlays.drawn(overlay_of(region.facts.role), cx.state.highlight);
        let said = document.speaks_for(side, region.facts.role);
        let visible = said && opacity > 0.0 && !tools.is_hidden(document.id, side, region.id);
        if !visible && !selected && !pointed {
            continue;
        }
        let on_screen = frame.ui_rect_from_image(pane, &(canvas_from_side * rect));
        let color = role_color(palette, region.facts.role).gamma_multiply(opacity.max(0.6));
        if visible || pointed {
            outline(painter, on_screen, region.facts.role, color, palette.label_background.0);
        }
        if visible {
            labels.push(Label { rect: on_screen, text: words(region), rank: Label::PERSON, color });
        }
        // Gestures on a pane mean the regions of its side.
        if selected && side == pane.side {
            handles(painter, on_screen, palette, tools.tool == Tool::Box);
        }
    }
}

/// Boxes of the source have solid lines, boxes of the edit dashed ones, as in the legend.
fn outline(painter: &Painter, rect: Rect, role: RegionRole, color: Color32, shadow: Color32) {
    painter.rect_stroke(rect, 0.0, Stroke::new(4.0, shadow), StrokeKind::Middle);
    let corners = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom(), rect.left_top()];
    if role == RegionRole::Original {
        painter.rect_stroke(rect, 0.0, Stroke::new(2.0, color), StrokeKind::Middle);
    } else {
        painter.extend(Shape::dashed_line(&corners, Stroke::new(2.0, color), 9.0, 4.0));
    }
}

/// A region's name; a pen stands for a person's work, whatever the colours.
fn words(region: &KeptRegion) -> String {
    let facts = &region.facts;
    if facts.origin == RegionOrigin::Person {
        return format!("✏ {}", Label::words(&facts.name, None));
    }
    Label::words(&facts.name, facts.confidence)
}

fn handles(painter: &Painter, rect: Rect, palette: &Palette, live: bool) {
    painter.rect_stroke(rect, 0.0, Stroke::new(1.0, palette.accent.0), StrokeKind::Middle);
    let in_ui = crate::domain::Rect::new(rect.left(), rect.top(), rect.right(), rect.bottom());
    for handle in Handle::ALL {
        let at = handle.on(&in_ui);
        let square = Rect::from_center_size(Pos2::new(at.x, at.y), vec2(HANDLE, HANDLE));
        let fill = if live { palette.accent.0 } else { palette.panel.0 };
        painter.rect(square, 1.0, fill, Stroke::new(1.5, palette.text_strong.0), StrokeKind::Inside);
    }
}

/// The gesture under way: a box, or the outline of polygon and lasso.
pub fn sketch_ui(ui: &Ui, cx: &Context<'_>, painter: &Painter, pane: &Pane<'_>, frame: &Frame<'_>, sketch: &Sketch) {
    let (tools, palette) = (&cx.state.tools, cx.palette(ui));
    let Some(document) = &tools.document else { return };
    let shadow = Stroke::new(3.5, palette.label_background.0);
    let line = Stroke::new(1.5, palette.accent.0);
    if let Some((side, rect)) = sketch.box_in_canvas(document)
        && side == pane.side
        && !matches!(sketch, Sketch::Reshape { .. })
    {
        let on_screen = frame.ui_rect_from_image(pane, &rect);
        painter.rect_stroke(on_screen, 0.0, shadow, StrokeKind::Middle);
        painter.rect_stroke(on_screen, 0.0, line, StrokeKind::Middle);
        size_note(painter, on_screen, &rect, palette);
    }
    let Some(corners) = sketch.outline() else { return };
    let mut points: Vec<Pos2> = corners.iter().map(|p| frame.ui_from_image(pane, *p)).collect();
    if matches!(sketch, Sketch::Polygon { .. }) {
        for at in &points {
            painter.circle(*at, 3.5, palette.accent.0, Stroke::new(1.0, palette.text_strong.0));
        }
        points.extend(tools.hover.filter(|(side, _)| *side == pane.side).map(|(_, p)| frame.ui_from_image(pane, p)));
    }
    painter.line(points.clone(), shadow);
    painter.line(points, line);
}

fn size_note(painter: &Painter, on_screen: Rect, rect: &crate::domain::Rect<ImageSpace>, palette: &Palette) {
    let text = format!("{:.0} × {:.0} px", rect.width(), rect.height());
    let galley = painter.layout_no_wrap(text, FontId::monospace(11.0), palette.text_strong.0);
    let place = Align2::LEFT_TOP.anchor_size(on_screen.left_bottom() + vec2(0.0, 4.0), galley.size() + vec2(8.0, 2.0));
    painter.rect_filled(place, 2.0, palette.label_background.0);
    painter.galley(place.min + vec2(4.0, 1.0), galley, palette.text_strong.0);
}

/// The segmenter's proposal with the points and the box that led to it.
pub fn prompt_ui(ui: &Ui, cx: &Context<'_>, painter: &Painter, pane: &Pane<'_>, frame: &Frame<'_>) {
    let (tools, palette) = (&cx.state.tools, cx.palette(ui));
    let Some(prompt) = &tools.prompt else { return };
    if let Some(proposal) = prompt.proposal() {
        let mask = Arc::clone(&proposal.mask);
        let layer = Layer { mask, color: palette.accent.0, opacity: 0.45, outline: 1.0, hatch: Hatch::Dots };
        region_raster::layers_ui(cx, ui, painter, (pane, frame), ("proposal", tools.revision), vec![layer]);
    }
    if pane.side != prompt.side {
        return;
    }
    if let Some(rect) = &prompt.rect {
        let on_screen = frame.ui_rect_from_image(pane, rect);
        let corners =
            [on_screen.left_top(), on_screen.right_top(), on_screen.right_bottom(), on_screen.left_bottom(), on_screen.left_top()];
        painter.rect_stroke(on_screen, 0.0, Stroke::new(3.0, palette.label_background.0), StrokeKind::Middle);
        painter.extend(Shape::dashed_line(&corners, Stroke::new(1.5, palette.accent.0), 5.0, 4.0));
    }
    for mark in &prompt.points {
        let at = frame.ui_from_image(pane, mark.at);
        let color = if mark.inside { palette.good.0 } else { palette.bad.0 };
        painter.circle(at, 7.0, palette.panel.0, Stroke::new(2.0, color));
        painter.line_segment([at - vec2(4.0, 0.0), at + vec2(4.0, 0.0)], Stroke::new(2.0, color));
        if mark.inside {
            painter.line_segment([at - vec2(0.0, 4.0), at + vec2(0.0, 4.0)], Stroke::new(2.0, color));
        }
    }
}

/// The brush where it would paint: snapped to pixels as the stroke is.
pub fn brush_ui(ui: &Ui, cx: &Context<'_>, painter: &Painter, pane: &Pane<'_>, frame: &Frame<'_>) {
    let (tools, palette) = (&cx.state.tools, cx.palette(ui));
    let Some((_, p)) = tools.hover else { return };
    if !matches!(tools.tool, Tool::Brush | Tool::Eraser) {
        return;
    }
    let brush = Brush { diameter: tools.options.brush_px };
    let [x, y] = brush.snapped(p);
    let middle = frame.ui_from_image(pane, Point::new(x as f32, y as f32));
    let radius = brush.diameter as f32 * frame.zoom() / 2.0;
    let color = if tools.tool == Tool::Eraser { palette.bad.0 } else { palette.accent.0 };
    painter.circle_stroke(middle, radius, Stroke::new(3.0, palette.label_background.0));
    painter.circle_stroke(middle, radius, Stroke::new(1.5, color));
    // The eraser has a bar, so that colour alone does not tell them apart.
    let arm = radius.clamp(2.0, 5.0);
    painter.line_segment([middle - vec2(arm, 0.0), middle + vec2(arm, 0.0)], Stroke::new(1.5, color));
    if tools.tool == Tool::Brush {
        painter.line_segment([middle - vec2(0.0, arm), middle + vec2(0.0, arm)], Stroke::new(1.5, color));
    }
    if let Some(last) = tools.last_dab.filter(|_| ui.input(|input| input.modifiers.shift)) {
        let from = frame.ui_from_image(pane, last);
        painter.line_segment([from, middle], Stroke::new(1.0, color));
    }
}
