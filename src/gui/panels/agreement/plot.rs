//! The plot: one mark an edit, with what is under the pointer, the selected edit, and a rectangle that picks edits for the queue.

use std::sync::Arc;

use egui::{Button, Id, Panel, Pos2, Rect, Response, RichText, Sense, Stroke, StrokeKind, TextWrapMode, Ui, vec2};
use egui_plot::{Plot, PlotPoint, PlotTransform};

use super::cells::{metric_label, words_ui};
use super::plot_shapes::{SIGNS, marks, ring};
use crate::domain::{CRITERIA, Criterion, Outcome};
use crate::editor::{Measure, Row};
use crate::gui::agreement::{AgreementAction, AgreementView, Cloud, CloudPoint, PlotKind};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::panels::queue::{model_name, picked_ui};
use crate::gui::pictures::{Slot, Wanted};
use crate::gui::widgets::command_button;

/// Points within which the pointer means a mark.
const REACH: f32 = 14.0;
/// More marks than this are not named one by one.
const NAMED: usize = 500;
/// A rectangle smaller than this, in points, is a click that slipped.
const SLIP: f32 = 5.0;
/// Longer side of a picture beside the plot, in points.
const THUMB: f32 = 84.0;

pub(super) fn plot_ui(ui: &mut Ui, cx: &Context<'_>) {
    let agreement = &cx.state.agreement;
    let Some(cloud) = &agreement.cloud else {
        if !agreement.is_working() {
            super::nothing_ui(ui, cx);
        }
        return;
    };
    legend_ui(ui, cx, cloud);
    let frame = egui::Frame::new().inner_margin(egui::Margin { top: 8, ..egui::Margin::ZERO });
    Panel::bottom("agreement selected").frame(frame).resizable(false).show_separator_line(false).show(ui, |ui| {
        ui.set_min_height(THUMB + 6.0);
        selected_ui(ui, cx, cloud);
    });
    if cloud.points.is_empty() {
        let text = format!("No edit has both a value of {} and a rating of {}.", metric_label(&cloud.metric), cloud.criterion);
        words_ui(ui, cx.palette(ui), &text);
        words_ui(ui, cx.palette(ui), "Score the project, and rate edits on the Rating page or in the inspector's Rate tab.");
        return;
    }
    marks_ui(ui, cx, cloud);
}

/// Kinds of plot, stepping, and models with their signs; a click on a model shows only its edits.
fn legend_ui(ui: &mut Ui, cx: &Context<'_>, cloud: &Cloud) {
    let palette = cx.palette(ui);
    let view = &cx.state.agreement.view;
    let set = |view: AgreementView| cx.send(Action::Agreement(AgreementAction::View(view)));
    ui.horizontal_wrapped(|ui| {
        for (kind, label) in [(PlotKind::Scatter, "Scatter"), (PlotKind::Residuals, "Residuals")] {
            let tooltip = Command::SwitchPlot.tooltip(ui.ctx());
            if ui.add(Button::selectable(view.plot == kind, label)).on_hover_text(tooltip).clicked() {
                set(AgreementView { plot: kind, ..view.clone() });
            }
        }
        command_button(ui, cx, Command::NextDisagreement, !cloud.order.is_empty());
        picked_ui(ui, cx);
    });
    ui.horizontal_wrapped(|ui| {
        for (index, model) in cloud.models.iter().enumerate() {
            let only = view.only_model.as_deref() == Some(model);
            let text = format!("{} {}", SIGNS[index % SIGNS.len()], model_name(model));
            let button = Button::selectable(only, RichText::new(text).color(palette.model(index))).small();
            let tooltip = if only { "Shows all models again." } else { "Shows only this model's edits." };
            if ui.add(button).on_hover_text(tooltip).clicked() {
                set(AgreementView { only_model: (!only).then(|| model.clone()), ..view.clone() });
            }
        }
        let text = format!("{} edits", cloud.points.len());
        let label = ui.label(RichText::new(text).size(12.0).color(palette.text_dim.0));
        if cloud.left_out > 0 {
            label.on_hover_text(format!("{} more lack a value of the metric or a rating.", cloud.left_out));
        }
        if let Some(why) = cloud.line.why() {
            ui.label(RichText::new("no line").size(12.0).color(palette.text_dim.0)).on_hover_text(why);
        }
    });
}

/// Where a point stands up the plot.
fn height_of(point: &CloudPoint, kind: PlotKind) -> f64 {
    match kind {
        PlotKind::Scatter => point.value,
        PlotKind::Residuals => point.residual,
    }
}

fn marks_ui(ui: &mut Ui, cx: &Context<'_>, cloud: &Arc<Cloud>) {
    let palette = cx.palette(ui);
    let view = &cx.state.agreement.view;
    let measure = Measure::named(&cloud.metric);
    let paper = CRITERIA.map(Criterion::name).contains(&cloud.criterion.as_str());
    let [people, values, residuals] = cloud.ends;
    let x = if paper { [people[0].min(0.9), people[1].max(5.1)] } else { people };
    let y = if view.plot == PlotKind::Scatter { values } else { [residuals[0].min(0.0), residuals[1].max(0.0)] };
    let up = match view.plot {
        PlotKind::Scatter => format!("{} ({})", measure.label(), measure.better().words()),
        PlotKind::Residuals => format!("{}: distance from the line", measure.label()),
    };
    let mut plot = Plot::new(("agreement", &cloud.metric, &cloud.criterion, view.plot))
        .x_axis_label(format!("people: {} (mean over raters)", cloud.criterion))
        .y_axis_label(up)
        .allow_boxed_zoom(false)
        .allow_drag(false)
        .allow_scroll(false)
        .set_margin_fraction(vec2(0.03, 0.06))
        .show_grid(true)
        .show_crosshair(false)
        .grid_color(palette.outline.0)
        .sense(Sense::click_and_drag())
        .label_formatter(|_| None);
    for end in 0..2 {
        plot = plot.include_x(x[end]).include_y(y[end]);
    }
    let shown = plot.show(ui, |_| {});
    crate::gui::widgets::name(&shown.response, egui::Role::Canvas, false, "Plot");
    let transform = shown.transform;
    let painter = ui.painter().with_clip_rect(*transform.frame());
    line_ui(&painter, cx, ui, cloud, &transform);
    let only = view.only_model.as_ref().and_then(|model| cloud.models.binary_search(model).ok());
    for shape in marks(ui, palette, cloud, view.plot, only, &transform).iter() {
        painter.add(shape.clone());
    }
    let place = |point: &CloudPoint| transform.position_from_point(&PlotPoint::new(point.human, height_of(point, view.plot)));
    if let Some(point) = cx.state.queue.selected().and_then(|row| cloud.point(row)) {
        painter.extend(ring(place(point), palette.text_strong.0));
    }
    name_marks(ui, cx, cloud, &place);
    brush_ui(ui, cx, &shown.response, &transform);
    under_pointer(ui, cx, cloud, only, &place, shown.response);
}

/// The straight line through the scatter, or the zero of the residuals.
fn line_ui(painter: &egui::Painter, cx: &Context<'_>, ui: &Ui, cloud: &Cloud, transform: &PlotTransform) {
    let Outcome::Value(line) = cloud.line else { return };
    let bounds = transform.bounds();
    let residuals = cx.state.agreement.view.plot == PlotKind::Residuals;
    let ends = [bounds.min()[0], bounds.max()[0]].map(|x| {
        let y = if residuals { 0.0 } else { line.at(x) };
        transform.position_from_point(&PlotPoint::new(x, y))
    });
    painter.extend(egui::Shape::dashed_line(&ends, Stroke::new(1.5, cx.palette(ui).text_dim.0), 6.0, 4.0));
}

/// Names the marks for screen readers and tests, as long as they can be told apart.
fn name_marks(ui: &Ui, cx: &Context<'_>, cloud: &Cloud, place: &impl Fn(&CloudPoint) -> Pos2) {
    if cloud.points.len() > NAMED {
        return;
    }
    for point in &cloud.points {
        let Some(row) = cx.state.queue.row(point.row) else { continue };
        let rect = Rect::from_center_size(place(point), vec2(8.0, 8.0));
        let response = ui.interact(rect, ui.scope_id().with(("mark", point.row.0)), Sense::hover());
        crate::gui::widgets::name(&response, egui::Role::Mark, false, format!("mark {} · {}", row.instruction, model_name(&row.model)));
    }
}

/// Dragging draws a rectangle; letting go leaves only its edits in the queue.
fn brush_ui(ui: &Ui, cx: &Context<'_>, response: &Response, transform: &PlotTransform) {
    let palette = cx.palette(ui);
    let id = Id::unique("agreement brush");
    if response.drag_started() {
        let from = ui.input(|input| input.pointer.press_origin()).or(response.interact_pointer_pos());
        ui.data_mut(|data| from.map(|from| data.insert_temp(id, from)));
    }
    let Some(from) = ui.data(|data| data.get_temp::<Pos2>(id)) else { return };
    let to = response.interact_pointer_pos().unwrap_or(from);
    let rect = Rect::from_two_pos(from, to).intersect(*transform.frame());
    if response.dragged() {
        ui.painter().rect(rect, 2.0, palette.selection.0.gamma_multiply(0.35), Stroke::new(1.5, palette.accent.0), StrokeKind::Inside);
    }
    if response.drag_stopped() {
        ui.data_mut(|data| data.remove::<Pos2>(id));
        if rect.width() > SLIP && rect.height() > SLIP {
            let [a, b] = [rect.left_bottom(), rect.right_top()].map(|at| transform.value_from_position(at));
            cx.send(Action::Agreement(AgreementAction::Brush { x: [a.x, b.x], y: [a.y, b.y] }));
        }
    }
}

/// Shows the pair under the pointer; a click opens it in the canvas.
fn under_pointer(ui: &Ui, cx: &Context<'_>, cloud: &Cloud, only: Option<usize>, place: &impl Fn(&CloudPoint) -> Pos2, response: Response) {
    let Some(pointer) = response.hover_pos().filter(|_| !response.dragged()) else { return };
    let of_model = |point: &&CloudPoint| only.is_none_or(|only| usize::from(point.model) == only);
    let distances = cloud.points.iter().filter(of_model).map(|point| (place(point).distance_sq(pointer), point));
    let Some((distance, point)) = distances.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    if distance > REACH * REACH {
        return;
    }
    let palette = cx.palette(ui);
    ui.painter().extend(ring(place(point), palette.accent.0));
    if response.clicked() {
        cx.send(Action::Select(point.row));
    }
    if let Some(row) = cx.state.queue.row(point.row) {
        response.on_hover_ui_at_pointer(|ui| {
            ui.set_max_width(360.0);
            pair_ui(ui, cx, cloud, point, row);
            ui.label(
                RichText::new("Click opens the edit in the canvas. Drag a rectangle to pick edits.").size(11.5).color(palette.text_dim.0),
            );
        });
    }
}

/// The selected edit below the plot, so that one can step without leaving the page.
fn selected_ui(ui: &mut Ui, cx: &Context<'_>, cloud: &Cloud) {
    let palette = cx.palette(ui);
    let Some(row) = cx.state.queue.selected_row() else {
        words_ui(ui, palette, "No edit is selected. Point at a mark to see its pair; click to open it; drag a rectangle to pick edits.");
        return;
    };
    let Some(point) = cloud.point(row.id) else {
        let text = format!("“{}” by {} has no mark here: it lacks the value or the rating.", row.instruction, model_name(&row.model));
        words_ui(ui, palette, &text);
        return;
    };
    ui.horizontal(|ui| {
        pictures_ui(ui, cx, row);
        ui.vertical(|ui| {
            numbers_ui(ui, cx, cloud, point, row, TextWrapMode::Truncate);
            if ui.button("Open in canvas").on_hover_text("Opens the selected edit on the Audit page.").clicked() {
                cx.send(Action::Select(row.id));
            }
        });
    });
}

fn pair_ui(ui: &mut Ui, cx: &Context<'_>, cloud: &Cloud, point: &CloudPoint, row: &Row) {
    pictures_ui(ui, cx, row);
    // Nobody can point at a word of a hover to read the rest of it.
    numbers_ui(ui, cx, cloud, point, row, TextWrapMode::Wrap);
}

/// Instruction, model and item as `names` says, and the numbers on as many lines as they need.
fn numbers_ui(ui: &mut Ui, cx: &Context<'_>, cloud: &Cloud, point: &CloudPoint, row: &Row, names: TextWrapMode) {
    let palette = cx.palette(ui);
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.add(egui::Label::new(RichText::new(&*row.instruction).strong()).wrap_mode(names));
    let text = format!("{} · {}", model_name(&row.model), row.item);
    ui.add(egui::Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap_mode(names));
    let verdict = match point.gap {
        gap if gap > 0.0 => "the metric is kinder",
        gap if gap < 0.0 => "the metric is harsher",
        _ => "both place it alike",
    };
    let text = format!(
        "{} {:.3} · people {:.2} · places apart {:.0} % ({verdict})",
        Measure::named(&cloud.metric).label(),
        point.value,
        point.human,
        point.gap.abs() * 100.0
    );
    ui.add(egui::Label::new(text).wrap()).on_hover_text(
        "The place of the metric's value among all edits against the place of the human mean; 100 % would be best against worst.",
    );
}

/// Source and edit side by side.
fn pictures_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (path, what) in [(&row.source, "source"), (&row.edited, "edit")] {
            let (rect, response) = ui.allocate_exact_size(vec2(THUMB, THUMB), Sense::hover());
            response.on_hover_text(what);
            picture_ui(ui, cx, rect, &Wanted::Thumb(path.clone()));
        }
    });
}

fn picture_ui(ui: &Ui, cx: &Context<'_>, rect: Rect, wanted: &Wanted) {
    let palette = cx.palette(ui);
    match cx.pictures.get(wanted) {
        Some(Slot::Ready(ready)) => {
            let Some(texture) = &ready.whole else { return };
            let size = texture.size_vec2();
            let at = Rect::from_center_size(rect.center(), size * (THUMB / size.max_elem().max(1.0)));
            egui::Image::from_texture(texture).corner_radius(3.0).paint_at(ui, at);
        }
        slot => {
            ui.painter().rect_filled(rect, 3.0, palette.field.0);
            if matches!(slot, Some(Slot::Failed(_))) {
                let font = egui::FontId::proportional(16.0);
                ui.painter().text(rect.center(), egui::Align2::CENTER_CENTER, "⚠", font, palette.bad.0);
            }
            if slot.is_none() {
                cx.send(Action::Want(wanted.clone()));
            }
        }
    }
}
