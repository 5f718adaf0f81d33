//! The pictures of a task side by side, with one shared zoom and pan. Nothing is drawn over them, and titles say no more than they may.

use std::path::PathBuf;

use egui::{Align2, Color32, FontId, Id, Rect, RichText, Role, Sense, Ui, Vec2, vec2};

use crate::domain::{Point, Size};
use crate::editor::View;
use crate::gui::canvas::{Place, ui_rect};
use crate::gui::context::{Action, Context};
use crate::gui::people::PeopleAction;
use crate::gui::pictures::{Slot, Wanted};
use crate::gui::widgets;

/// Height of a pane's title.
const TITLE: f32 = 26.0;
/// Points between panes.
const GAP: f32 = 4.0;

/// One picture to show.
pub struct PaneSpec {
    pub title: String,
    /// The picture; `None` when the project does not know it.
    pub path: Option<PathBuf>,
    /// The marked one of a ranking.
    pub marked: bool,
}

/// Where the first pane is remembered, so that keys can zoom into its middle.
pub fn pane_id() -> Id {
    Id::unique("rating pane")
}

/// Draws the panes into what is left of `ui`. All are as large as the first picture: the source.
pub fn panes_ui(ui: &mut Ui, cx: &Context<'_>, specs: &[PaneSpec]) {
    let area = ui.available_rect_before_wrap();
    let first = specs.first().and_then(|spec| spec.path.clone());
    let size = first.and_then(|path| Some(cx.pictures.ready(&Wanted::Full(path))?.full_size)).unwrap_or(Size::new(0, 0));
    let rects = grid(area, specs.len(), size);
    let Some(first) = rects.first().map(|rect| below_title(*rect)) else { return };
    ui.ctx().data_mut(|data| data.insert_temp(pane_id(), first));
    let response = ui.interact(area, Id::unique("rating pictures"), Sense::click_and_drag());
    widgets::name(&response, Role::Canvas, false, "Pictures");
    let view = cx.state.people.view.resolved(&ui_rect(first), size, ui.ctx().pixels_per_point());
    if size.pixels() > 0 {
        interact(ui, cx, &response, view, &rects);
    }
    for (spec, rect) in specs.iter().zip(&rects) {
        title_ui(ui, cx, spec, *rect);
        // All panes show the same place: the view is that of the first, moved along.
        let moved = View { fit: false, ..view };
        picture_ui(ui, cx, spec, below_title(*rect), moved, size);
    }
    ui.allocate_rect(area, Sense::hover());
}

fn below_title(rect: Rect) -> Rect {
    Rect::from_min_max(rect.min + vec2(0.0, TITLE), rect.max)
}

/// Equal panes in the number of columns that shows pictures of `size` largest.
fn grid(area: Rect, count: usize, size: Size) -> Vec<Rect> {
    let aspect = if size.pixels() > 0 { size.width as f32 / size.height as f32 } else { 1.0 };
    let pane = |columns: usize| {
        let rows = count.div_ceil(columns);
        let width = (area.width() - GAP * (columns - 1) as f32) / columns as f32;
        let height = (area.height() - GAP * (rows - 1) as f32) / rows as f32;
        vec2(width.max(1.0), height.max(TITLE + 1.0))
    };
    let shown_width = |pane: Vec2| pane.x.min((pane.y - TITLE) * aspect);
    let best = (1..=count).max_by(|&a, &b| shown_width(pane(a)).total_cmp(&shown_width(pane(b))));
    let Some(columns) = best else { return Vec::new() };
    let each = pane(columns);
    (0..count)
        .map(|index| {
            let (column, row) = (index % columns, index / columns);
            let at = area.min + vec2((each.x + GAP) * column as f32, (each.y + GAP) * row as f32);
            Rect::from_min_size(at, each)
        })
        .collect()
}

/// Drag, wheel and double click.
fn interact(ui: &Ui, cx: &Context<'_>, response: &egui::Response, view: View, rects: &[Rect]) {
    let set = |view: View| cx.send(Action::People(PeopleAction::SetView(view)));
    let first = ui_rect(below_title(rects[0]));
    if response.double_clicked() {
        set(View { fit: true, ..view });
    } else if response.dragged() && response.drag_delta() != Vec2::ZERO {
        set(view.panned(response.drag_delta().x, response.drag_delta().y));
    }
    let Some(pointer) = response.hover_pos() else { return };
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    let factor = pinch * (scroll * 0.004).exp();
    if factor != 1.0
        && let Some(pane) = rects.iter().find(|rect| rect.contains(pointer))
    {
        // The panes show the same place: the cursor is taken to the first one.
        let at = pointer - pane.min.to_vec2() + rects[0].min.to_vec2();
        set(view.zoomed_at(&first, Point::new(at.x, at.y), factor, ui.ctx().pixels_per_point()));
    }
}

fn title_ui(ui: &mut Ui, cx: &Context<'_>, spec: &PaneSpec, rect: Rect) {
    let palette = cx.palette(ui);
    let bar = Rect::from_min_size(rect.min, vec2(rect.width(), TITLE));
    let fill = if spec.marked { palette.selection.0 } else { palette.panel.0 };
    ui.painter().rect_filled(bar, 0.0, fill);
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(bar.shrink2(vec2(8.0, 2.0))));
    inner.horizontal_centered(|ui| {
        let mark = if spec.marked { "▶ " } else { "" };
        ui.add(egui::Label::new(RichText::new(format!("{mark}{}", spec.title)).strong().color(palette.text_strong.0)).truncate());
    });
}

fn picture_ui(ui: &Ui, cx: &Context<'_>, spec: &PaneSpec, rect: Rect, view: View, size: Size) {
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(rect);
    painter.rect_filled(rect, 0.0, palette.canvas.0);
    let message = |text: &str, color: Color32| {
        let font = FontId::proportional(13.0);
        painter.text(rect.center(), Align2::CENTER_CENTER, text, font, color);
    };
    let Some(path) = &spec.path else {
        message("⚠ This edit is not in the project.", palette.bad.0);
        return;
    };
    let wanted = Wanted::Full(path.clone());
    match cx.pictures.get(&wanted) {
        Some(Slot::Ready(ready)) => {
            let place = Place { rect, clip: rect, view, canvas: size, ppp: ui.ctx().pixels_per_point() };
            place.picture_ui(&painter, cx, ready);
        }
        // The reason may hold a file's name, and that a model's.
        Some(Slot::Failed(_)) => message("⚠ This picture cannot be shown.", palette.bad.0),
        Some(Slot::Loading) => message("Loading…", palette.text_dim.0),
        None => cx.send(Action::Want(wanted)),
    }
}

#[cfg(test)]
mod tests {
    use egui::pos2;

    use super::*;

    #[test]
    fn panes_are_arranged_so_that_pictures_are_largest() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(900.0, 500.0));
        let columns = |count: usize, size: Size| {
            let rects = grid(area, count, size);
            rects.iter().filter(|rect| rect.top() == rects[0].top()).count()
        };
        // By hand: three squares in one row are 297 wide (900/3); in two rows (500−4)/2−26 = 222 wide.
        assert_eq!(columns(3, Size::new(100, 100)), 3);
        // Three pictures of 4:1: in one column 165−26 = 137 high could be 549 wide; in a row they are 297.
        assert_eq!(columns(3, Size::new(400, 100)), 1);
        // Five of 2:1: three columns give 297 wide, four 222, two 138·2 = 276.
        assert_eq!(columns(5, Size::new(200, 100)), 3);
    }
}
