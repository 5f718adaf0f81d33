//! The divider of the wipe.

use egui::{CursorIcon, Id, Rect, Role, Sense, Stroke, Ui, pos2, vec2};

use crate::editor::{Compare, CompareMode, Divider};

use super::Pane;
use crate::gui::context::{Action, Context};
use crate::gui::widgets;

/// Points on each side of the line that take the pointer.
const REACH: f32 = 7.0;

/// The line between the two pictures, to drag.
pub fn divider_ui(ui: &Ui, cx: &Context<'_>, panes: &[Pane<'_>]) {
    let compare = &cx.state.compare;
    let Some(pane) = panes.first().filter(|_| compare.mode == CompareMode::Wipe) else { return };
    let rect = pane.rect;
    let vertical = compare.divider == Divider::Vertical;
    let (x, y) = (rect.left() + compare.divider_at * rect.width(), rect.top() + compare.divider_at * rect.height());
    let line = if vertical { [pos2(x, rect.top()), pos2(x, rect.bottom())] } else { [pos2(rect.left(), y), pos2(rect.right(), y)] };
    let grip = Rect::from_two_pos(line[0], line[1]).expand(REACH).intersect(rect);
    let response = ui.interact(grip, Id::unique("wipe divider"), Sense::drag());
    widgets::name(&response, Role::Slider, false, "Wipe divider");
    if response.hovered() || response.dragged() {
        ui.set_cursor_icon(if vertical { CursorIcon::ResizeHorizontal } else { CursorIcon::ResizeVertical });
    }
    if response.dragged()
        && let Some(at) = response.interact_pointer_pos()
    {
        let share = if vertical { (at.x - rect.left()) / rect.width() } else { (at.y - rect.top()) / rect.height() };
        cx.send(Action::SetCompare(Compare { divider_at: share.clamp(0.0, 1.0), ..*compare }));
    }
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(rect);
    painter.line_segment(line, Stroke::new(4.0, palette.label_background.0));
    painter.line_segment(line, Stroke::new(1.5, palette.text_strong.0));
    let middle = Rect::from_two_pos(line[0], line[1]).center();
    painter.circle(middle, 11.0, palette.raised.0, Stroke::new(1.5, palette.text_strong.0));
    for sign in [-1.0, 1.0] {
        // An arrow head on each side says which way it moves.
        let along = if vertical { vec2(1.0, 0.0) } else { vec2(0.0, 1.0) };
        let tip = middle + along * (sign * 7.0);
        for turn in [-1.0, 1.0] {
            let wing = tip - along * (sign * 3.5) + along.rot90() * (turn * 3.5);
            painter.line_segment([tip, wing], Stroke::new(1.5, palette.text_strong.0));
        }
    }
}
