//! The canvas: source and edit side by side with one shared zoom and pan, and what the metric saw drawn over them.
//!
//! Both panes have the same size and show the same place. The edit is stretched to the size of the source, as the metric does; a note
//! says so when the sizes differ.

mod overlay;
mod pointed;
mod probe;
mod toolbar;

use egui::{Color32, CursorIcon, Id, Pos2, Rect, RichText, Role, Sense, Ui, Vec2, pos2, vec2};

use crate::domain::{ImageSpace, Point, Side, Size, UiSpace};
use crate::editor::{Row, View};

use super::context::{Action, Context};
use super::pictures::{Slot, Wanted};
use super::widgets;

/// Points between the two panes.
const GAP: f32 = 2.0;
/// Height of a pane's title.
const TITLE: f32 = 24.0;

/// Where the last drawn pane is remembered, so that keys can zoom into its middle.
pub fn pane_id() -> Id {
    Id::unique("canvas pane")
}

/// A rectangle of the window.
pub fn ui_rect(rect: Rect) -> crate::domain::Rect<UiSpace> {
    crate::domain::Rect::new(rect.left(), rect.top(), rect.right(), rect.bottom())
}

/// What both panes share this frame.
pub(super) struct Frame<'a> {
    pub row: &'a Row,
    /// Size of the canvas: that of the source, or of the edit when the source cannot be shown.
    pub size: Size,
    /// Size of the edit on disk, if it could be read.
    pub edit_size: Option<Size>,
    /// The view with fit spelled out.
    pub view: View,
}

/// One of the two panes.
pub(super) struct Pane {
    pub side: Side,
    /// Where pictures are drawn.
    pub rect: Rect,
}

impl Frame<'_> {
    /// `ui_from_image`: where a pixel of the canvas is drawn.
    pub fn ui_from_image(&self, pane: &Pane, p_in_image: Point<ImageSpace>) -> Pos2 {
        let p = self.view.ui_from_image(&ui_rect(pane.rect), p_in_image);
        pos2(p.x, p.y)
    }

    /// As above for a rectangle.
    pub fn ui_rect_from_image(&self, pane: &Pane, rect: &crate::domain::Rect<ImageSpace>) -> Rect {
        Rect::from_min_max(self.ui_from_image(pane, Point::new(rect.x0, rect.y0)), self.ui_from_image(pane, Point::new(rect.x1, rect.y1)))
    }
}

/// The middle of the window.
pub fn canvas_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    egui::CentralPanel::default().frame(egui::Frame::new().fill(palette.canvas.0)).show(ui, |ui| {
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        let Some(row) = cx.state.queue.selected_row() else {
            ui.centered_and_justified(|ui| ui.label(RichText::new("Select an edit in the queue.").color(palette.text_dim.0)));
            return;
        };
        let legend = toolbar::legend_height(ui);
        let whole = ui.available_rect_before_wrap();
        let tools = Rect::from_min_size(whole.min, vec2(whole.width(), toolbar::HEIGHT));
        let bottom = Rect::from_min_max(pos2(whole.left(), whole.bottom() - legend), whole.max);
        let pictures = Rect::from_min_max(tools.left_bottom(), bottom.right_top());
        let width = (pictures.width() - GAP) / 2.0;
        let left = Rect::from_min_size(pictures.min, vec2(width, pictures.height()));
        let right = left.translate(vec2(width + GAP, 0.0));
        let below_title = |rect: Rect| Rect::from_min_max(rect.min + vec2(0.0, TITLE), rect.max);
        let panes = [Pane { side: Side::Source, rect: below_title(left) }, Pane { side: Side::Edit, rect: below_title(right) }];
        ui.ctx().data_mut(|data| data.insert_temp(pane_id(), panes[0].rect));

        let frame = frame_of(cx, row, panes[0].rect);
        let response = interact(ui, cx, pictures, &panes, &frame);
        for (pane, title) in panes.iter().zip([left, right]) {
            title_ui(ui, cx, pane, &frame, Rect::from_min_size(title.min, vec2(title.width(), TITLE)));
            picture_ui(ui, cx, pane, &frame);
        }
        overlay::overlays_ui(ui, cx, &panes, &frame);
        probe::crosshair_ui(ui, cx, &panes, &frame, &response);
        toolbar::toolbar_ui(ui, cx, tools, &panes, &frame, &response);
        toolbar::legend_ui(ui, cx, bottom);
        ui.allocate_rect(whole, Sense::hover());
    });
}

fn frame_of<'a>(cx: &Context<'_>, row: &'a Row, pane: Rect) -> Frame<'a> {
    let size_of = |path: &std::path::PathBuf| {
        let wanted = Wanted::Full(path.clone());
        if cx.pictures.get(&wanted).is_none() {
            cx.send(Action::Want(wanted.clone()));
        }
        cx.pictures.ready(&wanted).map(|ready| ready.full_size)
    };
    let (source_size, edit_size) = (size_of(&row.source), size_of(cx.edited_of(row)));
    let size = source_size.or(edit_size).unwrap_or(Size::new(0, 0));
    Frame { row, size, edit_size, view: cx.state.view.resolved(&ui_rect(pane), size) }
}

/// Drag, wheel and double click on either pane.
fn interact(ui: &Ui, cx: &Context<'_>, area: Rect, panes: &[Pane; 2], frame: &Frame<'_>) -> egui::Response {
    let response = ui.interact(area, Id::unique("canvas"), Sense::click_and_drag());
    widgets::name(&response, Role::Canvas, false, "Canvas");
    if frame.size.pixels() == 0 {
        return response;
    }
    if response.double_clicked() {
        cx.send(Action::SetView(View { fit: true, ..frame.view }));
    } else if response.dragged() && response.drag_delta() != Vec2::ZERO {
        ui.set_cursor_icon(CursorIcon::Grabbing);
        cx.send(Action::SetView(frame.view.panned(response.drag_delta().x, response.drag_delta().y)));
    }
    if let Some(pointer) = response.hover_pos() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = pinch * (scroll * 0.004).exp();
        if factor != 1.0
            && let Some(pane) = panes.iter().find(|pane| pane.rect.contains(pointer))
        {
            // The panes show the same place, so the cursor means the same pixel in either.
            let zoomed = frame.view.zoomed_at(&ui_rect(pane.rect), Point::new(pointer.x, pointer.y), factor);
            cx.send(Action::SetView(zoomed));
        }
    }
    response
}

fn title_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane, frame: &Frame<'_>, rect: Rect) {
    let palette = cx.palette(ui);
    let painter = ui.painter();
    painter.rect_filled(rect, 0.0, palette.panel.0);
    let (name, path) = match pane.side {
        Side::Source => ("Source".to_owned(), &frame.row.source),
        Side::Edit if cx.edited_of(frame.row) != &frame.row.edited => {
            ("Region pasted back on the source".to_owned(), cx.edited_of(frame.row))
        }
        Side::Edit if frame.row.model.is_empty() => ("Edit".to_owned(), &frame.row.edited),
        Side::Edit => (format!("Edit · {}", frame.row.model), &frame.row.edited),
    };
    let stretched = pane.side == Side::Edit && frame.edit_size.is_some_and(|size| size != frame.size);
    let size = cx.pictures.ready(&Wanted::Full(path.clone())).map(|ready| ready.full_size.to_string());
    let size = if stretched { size.map(|size| format!("{size}, stretched to the source")) } else { size };
    let font = egui::FontId::proportional(12.5);
    let clip = painter.with_clip_rect(rect.shrink2(vec2(8.0, 0.0)));
    let drawn = clip.text(rect.left_center() + vec2(8.0, 0.0), egui::Align2::LEFT_CENTER, name, font.clone(), palette.text_strong.0);
    if let Some(size) = size {
        let color = if stretched { palette.warning.0 } else { palette.text_dim.0 };
        let galley = painter.layout_no_wrap(size, egui::FontId::proportional(11.5), color);
        let at = pos2((rect.right() - 8.0 - galley.size().x).max(drawn.right() + 10.0), rect.center().y - galley.size().y / 2.0);
        clip.galley(at, galley, color);
    }
}

fn picture_ui(ui: &mut Ui, cx: &Context<'_>, pane: &Pane, frame: &Frame<'_>) {
    let palette = cx.palette(ui);
    let path = match pane.side {
        Side::Source => &frame.row.source,
        Side::Edit => cx.edited_of(frame.row),
    };
    match cx.pictures.get(&Wanted::Full(path.clone())) {
        Some(Slot::Ready(ready)) => {
            let rect = frame.ui_rect_from_image(pane, &crate::domain::Rect::whole(frame.size));
            let painter = ui.painter().with_clip_rect(pane.rect);
            let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            painter.image(ready.texture.id(), rect, whole, Color32::WHITE);
        }
        Some(Slot::Failed(why)) => {
            let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(pane.rect.shrink(24.0)));
            inner.centered_and_justified(|ui| {
                let text = format!("⚠ This picture cannot be shown.\n{why}");
                ui.add(egui::Label::new(RichText::new(text).color(palette.bad.0)).wrap());
            });
        }
        Some(Slot::Loading) | None => {
            let spinner = Rect::from_center_size(pane.rect.center(), vec2(24.0, 24.0));
            ui.put(spinner, egui::Spinner::new());
        }
    }
}
