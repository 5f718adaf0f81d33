//! The mini-map: where the visible part lies in a picture that is zoomed in.

use egui::{Color32, Id, Rect, Role, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::domain::{Point, Side};
use crate::editor::Content;

use super::{Frame, Pane};
use crate::gui::context::{Action, Context};
use crate::gui::pictures::Wanted;
use crate::gui::widgets;

/// Longest side, in points; in a small pane a share of its shorter side, and no map at all where that would be too small to click on.
const LONGEST: f32 = 150.0;
const MOST_OF_PANE: f32 = 0.35;
const LEAST: f32 = 56.0;
/// Shortest side: a picture of one column still has a map to click on.
const SHORTEST: f32 = 12.0;
/// Points of the frame around the map.
const FRAME: f32 = 4.0;
/// Points to the pane's corner.
const MARGIN: f32 = 10.0;

/// The map's place with its frame: in the lower right corner of the last pane, while part of the picture is out of sight.
pub fn rect(panes: &[Pane<'_>], frame: &Frame<'_>) -> Option<Rect> {
    let pane = map_pane(panes, frame)?;
    let seen = frame.seen(&Pane { clip: pane.rect, ..*pane });
    let (width, height) = (frame.size.width as f32, frame.size.height as f32);
    let all_in_sight = seen.x0 <= 0.0 && seen.y0 <= 0.0 && seen.x1 >= width && seen.y1 >= height;
    let longest = (MOST_OF_PANE * pane.rect.size().min_elem()).min(LONGEST);
    if frame.size.pixels() == 0 || all_in_sight || longest < LEAST {
        return None;
    }
    let scale = longest / width.max(height);
    let size = vec2((width * scale).max(SHORTEST), (height * scale).max(SHORTEST));
    Some(Rect::from_min_size(pane.rect.max - vec2(MARGIN, MARGIN) - size, size).expand(FRAME))
}

fn map_pane<'a, 'b>(panes: &'a [Pane<'b>], frame: &Frame<'_>) -> Option<&'a Pane<'b>> {
    panes.iter().rfind(|pane| pane.is_selected(frame))
}

/// Draws the map; a click or drag goes there.
pub fn minimap_ui(ui: &Ui, cx: &Context<'_>, panes: &[Pane<'_>], frame: &Frame<'_>) {
    let (Some(pane), Some(outer)) = (map_pane(panes, frame), rect(panes, frame)) else { return };
    let map = outer.shrink(FRAME);
    let seen = frame.seen(&Pane { clip: pane.rect, ..*pane });
    let (width, height) = (frame.size.width as f32, frame.size.height as f32);
    let response = ui.interact(outer, Id::unique("mini-map"), Sense::click_and_drag());
    widgets::name(&response, Role::Canvas, false, "Mini-map");
    if (response.clicked() || response.dragged())
        && let Some(at) = response.interact_pointer_pos()
    {
        let share = (at - map.min) / map.size();
        let center = Point::new(share.x.clamp(0.0, 1.0) * width, share.y.clamp(0.0, 1.0) * height);
        cx.send(Action::SetView(frame.view.centered(center)));
    }
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(outer.expand(1.0));
    painter.rect(outer, 4.0, palette.panel.0, Stroke::new(1.0, palette.outline.0), StrokeKind::Outside);
    let path = if pane.content == Content::Picture(Side::Source) { &frame.row.source } else { cx.edited_of(frame.row) };
    if let Some(ready) = cx.pictures.ready(&Wanted::Full(path.clone()))
        && let Some(whole) = &ready.whole
    {
        let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        painter.image(whole.id(), map, uv, Color32::WHITE);
    }
    let on_map = |x: f32, y: f32| map.min + vec2(x / width, y / height).clamp(egui::Vec2::ZERO, vec2(1.0, 1.0)) * map.size();
    let part = Rect::from_min_max(on_map(seen.x0, seen.y0), on_map(seen.x1, seen.y1)).expand(1.0);
    painter.rect_stroke(part, 0.0, Stroke::new(3.0, palette.label_background.0), StrokeKind::Middle);
    painter.rect_stroke(part, 0.0, Stroke::new(1.5, palette.accent.0), StrokeKind::Middle);
}
