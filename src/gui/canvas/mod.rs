//! The canvas: source and edit compared in one of seven modes with one shared zoom and pan, and what the metric saw drawn over them.
//!
//! All panes have the same size and show the same place. The edit is stretched to the size of the source, as the metric does; a note says
//! so when the sizes differ, and another when the edit is the source moved or zoomed.

mod divider;
mod frame;
mod labels;
mod legend;
mod minimap;
mod modes;
mod notes;
mod overlay;
mod picture;
mod pointed;
mod probe;
mod region_paint;
mod region_raster;
mod toolbar;
pub mod tools;

use egui::{CursorIcon, Id, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};

use crate::domain::{Point, Side};
use crate::editor::{CompareMode, Content, View};

use super::context::{Action, Context};
use super::pictures::Wanted;
use super::rescore::AuditAction;
use super::widgets;

pub use frame::{Frame, Pane, ui_rect};
pub use notes::{loss_text, motion_text};
pub use picture::Place;
pub use region_raster::RegionTextures;

/// Where the last drawn pane is remembered, so that keys can zoom into its middle.
pub fn pane_id() -> Id {
    Id::unique("canvas pane")
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
        let whole = ui.available_rect_before_wrap();
        let legend = legend::Legend::new(ui, cx, whole.size());
        let strips = Strips::new(cx, whole, legend.height());
        let (frame, panes) = Frame::new(ui, cx, row, strips.pictures);
        if let Some(pane) = panes.first() {
            ui.ctx().data_mut(|data| data.insert_temp(pane_id(), pane.rect));
        }
        let response = interact(ui, cx, strips.pictures, &panes, &frame);
        // What stands in the panes' corners, for labels to keep off.
        let mut furniture = notes::rects(ui, cx, &panes, &frame);
        furniture.extend(minimap::rect(&panes, &frame));
        for (index, pane) in panes.iter().enumerate() {
            title_ui(ui, cx, index, pane, &frame);
            picture::pane_ui(ui, cx, pane, &frame);
            let mut labels = Vec::new();
            overlay::overlays_ui(ui, cx, pane, &frame, &mut labels);
            tools::paint_ui(ui, cx, pane, &frame, &mut labels);
            let painter = ui.painter().with_clip_rect(pane.clip);
            labels::labels_ui(&painter, pane, palette.label_background.0, &labels, &furniture);
        }
        grid_selection_ui(ui, cx, &panes, &frame);
        probe::crosshair_ui(ui, cx, &panes, &frame, &response);
        divider::divider_ui(ui, cx, &panes);
        notes::notes_ui(ui, cx, &panes, &frame);
        minimap::minimap_ui(ui, cx, &panes, &frame);
        toolbar::toolbar_ui(ui, cx, strips.toolbar, &frame);
        tools::strip_ui(ui, cx, strips.tools, &frame);
        tools::options_ui(ui, cx, strips.tool_options, &frame);
        probe::strip_ui(ui, cx, strips.probe, &panes, &frame, &response);
        legend.show(ui, cx, strips.legend);
        ui.allocate_rect(whole, Sense::hover());
    });
}

/// How the canvas is divided.
struct Strips {
    toolbar: Rect,
    /// The tools, at the left of the pictures.
    tools: Rect,
    /// What the tool in use can be set to, above the pictures.
    tool_options: Rect,
    pictures: Rect,
    probe: Rect,
    legend: Rect,
}

impl Strips {
    fn new(cx: &Context<'_>, whole: Rect, legend_height: f32) -> Self {
        let (toolbar, rest) = whole.split_top_bottom_at_y(whole.top() + toolbar::HEIGHT);
        let (rest, legend) = rest.split_top_bottom_at_y((rest.bottom() - legend_height).max(rest.top()));
        let (rest, probe) = rest.split_top_bottom_at_y((rest.bottom() - probe::HEIGHT).max(rest.top()));
        let (tools, rest) = rest.split_left_right_at_x(rest.left() + tools::strip_width(cx));
        let (tool_options, pictures) = rest.split_top_bottom_at_y(rest.top() + tools::options_height(cx));
        Self { toolbar, tools, tool_options, pictures, probe, legend }
    }
}

/// Drag, wheel, click and double click on the panes.
fn interact(ui: &Ui, cx: &Context<'_>, area: Rect, panes: &[Pane<'_>], frame: &Frame<'_>) -> egui::Response {
    let response = ui.interact(area, Id::unique("canvas"), Sense::click_and_drag());
    widgets::name(&response, Role::Canvas, false, "Canvas");
    if frame.size.pixels() == 0 {
        return response;
    }
    let mut taken = false;
    for pane in panes.iter().filter(|pane| pane.is_selected(frame)) {
        taken |= tools::interact_ui(ui, cx, pane, frame, &response);
    }
    tools::end_lost_ui(ui, cx, panes, frame);
    let under = |at: egui::Pos2| panes.iter().find(|pane| pane.clip.contains(at));
    if !taken {
        if response.double_clicked() {
            cx.send(Action::SetView(View { fit: true, ..frame.view }));
        } else if response.dragged() && response.drag_delta() != Vec2::ZERO {
            ui.set_cursor_icon(CursorIcon::Grabbing);
            cx.send(Action::SetView(frame.view.panned(response.drag_delta().x, response.drag_delta().y)));
        } else if response.clicked()
            && let Some(pane) = response.interact_pointer_pos().and_then(under).filter(|pane| !pane.is_selected(frame))
        {
            cx.send(Action::Select(pane.row.id));
        }
    }
    if let Some(pointer) = response.hover_pos() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = pinch * (scroll * 0.004).exp();
        if factor != 1.0
            && let Some(pane) = under(pointer)
        {
            // The panes show the same place, so the cursor means the same pixel in each.
            let zoomed = frame.view.zoomed_at(&ui_rect(pane.rect), Point::new(pointer.x, pointer.y), factor, frame.ppp);
            cx.send(Action::SetView(zoomed));
        }
    }
    response
}

/// What a pane shows, in words.
fn title(cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>) -> String {
    let overlays = &cx.state.overlays;
    let picture = picture_title(cx, pane);
    match overlays.preview().filter(|_| pane.is_selected(frame) && !overlays.bare) {
        Some(preview) => format!("{picture} · preview of thresholds {:.2} and {:.2}", preview.boxes, preview.text),
        None => picture,
    }
}

fn picture_title(cx: &Context<'_>, pane: &Pane<'_>) -> String {
    let compare = &cx.state.compare;
    let model = if pane.row.model.is_empty() { String::new() } else { format!(" · {}", pane.row.model) };
    match pane.content {
        Content::Picture(Side::Source) => "Source".to_owned(),
        Content::Picture(Side::Edit) if cx.edited_of(pane.row) != &pane.row.edited => format!("Pasted back{model}"),
        Content::Picture(Side::Edit) => format!("Edit{model}"),
        Content::Onion => format!("Edit{model}, {:.0} % over the source", compare.onion * 100.0),
        Content::Difference => format!("{} of source and edit{model}, ×{}", compare.difference.label(), picture::gain_step(compare.gain)),
    }
}

fn title_ui(ui: &Ui, cx: &Context<'_>, index: usize, pane: &Pane<'_>, frame: &Frame<'_>) {
    let palette = cx.palette(ui);
    let rect = pane.title();
    let painter = ui.painter();
    painter.rect_filled(rect, 0.0, palette.panel.0);
    let size = match pane.content {
        Content::Picture(Side::Source) => Some((&pane.row.source, false)),
        Content::Picture(Side::Edit) => Some((cx.edited_of(pane.row), true)),
        Content::Onion | Content::Difference => None,
    };
    let size = size.and_then(|(path, is_edit)| {
        let full = cx.pictures.ready(&Wanted::Full(path.clone())).or_else(|| cx.pictures.ready(&Wanted::Reduced(path.clone())))?;
        let reduced = full.picture().is_some_and(|picture| picture.pyramid.size() != picture.full_size);
        let stretched = is_edit && full.full_size != frame.size;
        let mut text = full.full_size.to_string();
        text.push_str(if stretched { ", stretched to the source" } else { "" });
        text.push_str(if reduced { ", shown smaller" } else { "" });
        Some((text, if stretched { palette.warning.0 } else { palette.text_dim.0 }))
    });
    let font = egui::FontId::proportional(12.5);
    let rect = end_ui(ui, cx, index, (pane, frame), rect);
    let clip = painter.with_clip_rect(rect.shrink2(vec2(8.0, 0.0)));
    let text = title(cx, pane, frame);
    let drawn = clip.text(rect.left_center() + vec2(8.0, 0.0), egui::Align2::LEFT_CENTER, &text, font, palette.text_strong.0);
    if let Some((size, color)) = size {
        let galley = painter.layout_no_wrap(size, egui::FontId::proportional(11.5), color);
        let at = pos2(rect.right() - 8.0 - galley.size().x, rect.center().y - galley.size().y / 2.0);
        // What does not fit beside the name is left out, not cut: the probe tells sizes too.
        if at.x > drawn.right() + 10.0 || color == palette.warning.0 {
            clip.galley(pos2(at.x.max(drawn.right() + 10.0), at.y), galley, color);
        }
    }
    let response = ui.interact(rect, Id::unique(("pane title", index)), Sense::hover());
    widgets::name(&response, Role::Label, false, text);
}

/// A button that ends what is tried in a pane (other thresholds, the region pasted back); what is left of the title.
fn end_ui(ui: &Ui, cx: &Context<'_>, index: usize, (pane, frame): (&Pane<'_>, &Frame<'_>), title: Rect) -> Rect {
    let pasted = matches!(pane.content, Content::Picture(Side::Edit)) && cx.edited_of(pane.row) != &pane.row.edited;
    let preview = pane.is_selected(frame) && cx.state.overlays.preview().is_some() && !cx.state.overlays.bare;
    if !pasted && !preview {
        return title;
    }
    let palette = cx.palette(ui);
    let (rest, place) = title.split_left_right_at_x(title.right() - 24.0);
    let response = ui.interact(place, Id::unique(("end trying", index)), Sense::click());
    let color = if response.hovered() { palette.text_strong.0 } else { palette.warning.0 };
    ui.painter().text(place.center(), egui::Align2::CENTER_CENTER, "×", egui::FontId::proportional(16.0), color);
    widgets::name(&response, Role::Button, false, "Back to what was scored");
    if response.on_hover_text("Back to what was scored.  [Esc]").clicked() {
        cx.send(Action::Audit(AuditAction::EndTrying));
    }
    rest
}

/// Marks the selected edit in the grid, where it is one of several.
fn grid_selection_ui(ui: &Ui, cx: &Context<'_>, panes: &[Pane<'_>], frame: &Frame<'_>) {
    if cx.state.compare.mode != CompareMode::Grid {
        return;
    }
    let selected = panes.iter().skip(1).find(|pane| pane.is_selected(frame));
    if let Some(pane) = selected {
        let stroke = Stroke::new(2.0, cx.palette(ui).accent.0);
        ui.painter().rect_stroke(pane.title().union(pane.clip), 0.0, stroke, StrokeKind::Inside);
    }
}
