//! The agreement page: a number of the metric against people, linked to the edits, and how well each number agrees.

use egui::{Align, CentralPanel, ComboBox, Layout, Panel, RichText, ScrollArea, Ui, vec2};
use egui_extras::{Column, TableBuilder};
use egui_plot::{MarkerShape, Plot, PlotPoint, PlotPoints, Points};

use super::queue::model_name;
use crate::domain::{Better, CRITERIA, Outcome, Zone};
use crate::editor::{Measure, MeasurePoint, RowId, measure_points};
use crate::gui::agreement::Table;
use crate::gui::context::{Action, Context};
use crate::gui::state::AgreementView;
use crate::gui::widgets::section;

/// Told apart without colour, too.
const SHAPES: [MarkerShape; 8] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Diamond,
    MarkerShape::Up,
    MarkerShape::Down,
    MarkerShape::Cross,
    MarkerShape::Plus,
    MarkerShape::Asterisk,
];
/// Points within which a click means a mark.
const REACH: f32 = 14.0;

/// More marks than this are not named one by one.
const MARKS_NAMED: usize = 500;

/// Draws the page.
pub fn agreement_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let width = ui.available_width();
    let frame = egui::Frame::side_top_panel(ui.style()).inner_margin(12);
    Panel::right("agreement table").frame(frame).resizable(true).default_size((width * 0.42).clamp(420.0, 820.0)).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| tables_ui(ui, cx));
    });
    CentralPanel::default().frame(egui::Frame::new().fill(palette.background.0).inner_margin(12)).show(ui, |ui| {
        choices_ui(ui, cx);
        let AgreementView { measure, criterion, .. } = &cx.state.agreement;
        let points = measure_points(cx.state.queue.rows(), measure, *criterion);
        if points.is_empty() {
            ui.add_space(40.0);
            ui.vertical_centered(|ui| {
                let text = "No edit has both this number and a rating. Score the project, and rate edits in the inspector's Rate tab.";
                ui.label(RichText::new(text).color(palette.text_dim.0));
            });
            return;
        }
        scatter_ui(ui, cx, &points);
    });
}

fn choices_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let mut view = cx.state.agreement.clone();
    ui.horizontal_wrapped(|ui| {
        let label = ui.label("Metric");
        let combo = ComboBox::from_id_salt("measure").selected_text(view.measure.label()).show_ui(ui, |ui| {
            let offered = cx.state.agreement_table.iter().flat_map(|table| &table.lines).map(|line| &line.measure);
            for measure in offered {
                let choice = ui.selectable_value(&mut view.measure, measure.clone(), measure.label());
                if let Some(definition) = measure.definition() {
                    choice.on_hover_text(definition);
                }
            }
        });
        combo.response.labelled_by(label.id);
        let label = ui.label("against people on");
        let combo = ComboBox::from_id_salt("criterion").selected_text(view.criterion.name()).show_ui(ui, |ui| {
            for criterion in CRITERIA {
                ui.selectable_value(&mut view.criterion, criterion, criterion.name());
            }
        });
        combo.response.labelled_by(label.id);
        zone_ui(ui, cx, &mut view);
        if cx.state.queue.rows().iter().any(|row| row.simulated) {
            let text = RichText::new("⚠ includes simulated ratings").size(12.0).color(palette.warning.0);
            ui.label(text).on_hover_text("A program made these ratings by a documented rule; no person said so.");
        }
    });
    if view != cx.state.agreement {
        cx.send(Action::SetAgreement(view));
    }
}

/// Which part of the picture the other metrics are of; nothing to choose while no edit has any.
fn zone_ui(ui: &mut Ui, cx: &Context<'_>, view: &mut AgreementView) {
    if cx.state.queue.rows().iter().all(|row| row.columns.is_empty()) {
        return;
    }
    let label = ui.label("other metrics of");
    let name = |zone| match zone {
        Zone::Whole => "the whole picture",
        Zone::Inside => "the edit region",
        Zone::Outside => "outside the region",
    };
    let combo = ComboBox::from_id_salt("zone").selected_text(name(view.zone)).show_ui(ui, |ui| {
        for zone in Zone::ALL {
            ui.selectable_value(&mut view.zone, zone, name(zone));
        }
    });
    combo.response.labelled_by(label.id).on_hover_text("L1, SSIM and the like, computed over this part of the picture.");
    if view.zone != cx.state.agreement.zone && matches!(view.measure, Measure::Column(_)) {
        // The column of the other zone would no longer be among the choices.
        view.measure = Measure::Overall;
    }
}

fn scatter_ui(ui: &mut Ui, cx: &Context<'_>, points: &[MeasurePoint]) {
    let palette = cx.palette(ui);
    let AgreementView { measure, criterion, .. } = &cx.state.agreement;
    let criterion = *criterion;
    let queue = &cx.state.queue;
    let selected = queue.selected();
    let models = queue.models();
    ui.horizontal_wrapped(|ui| legend_ui(ui, cx));
    let plot = Plot::new(("scatter", measure.label(), criterion.name()))
        .x_axis_label(format!("people: {} (mean, 1 to 5)", criterion.name()))
        .y_axis_label(format!("{} ({})", measure.label(), measure.better().words()))
        .include_x(0.8)
        .include_x(5.2)
        .allow_boxed_zoom(false)
        .set_margin_fraction(vec2(0.03, 0.08))
        .show_grid(true)
        .grid_color(palette.outline.0)
        .label_formatter(|_| None);
    let mut nearest: Option<(f32, RowId)> = None;
    let shown = plot.show(ui, |plot_ui| {
        let pointer = plot_ui.response().hover_pos();
        for point in points {
            let at = plot_ui.screen_from_plot(PlotPoint::new(point.human, point.metric));
            if let Some(pointer) = pointer
                && nearest.is_none_or(|(distance, _)| at.distance(pointer) < distance)
            {
                nearest = Some((at.distance(pointer), point.row));
            }
        }
        for (index, model) in models.iter().enumerate() {
            let of_model: Vec<[f64; 2]> = points
                .iter()
                .filter(|point| queue.rows().get(point.index).is_some_and(|row| row.model == *model))
                .map(|point| [point.human, point.metric])
                .collect();
            let marks = Points::new(model_name(model).to_owned(), PlotPoints::from(of_model))
                .color(palette.model(index))
                .shape(SHAPES[index % SHAPES.len()])
                .radius(4.5);
            plot_ui.points(marks);
        }
        if let Some(point) = points.iter().find(|point| Some(point.row) == selected) {
            let ring = Points::new("selected", PlotPoints::from(vec![[point.human, point.metric]]));
            plot_ui.points(ring.color(palette.text_strong.0).shape(MarkerShape::Circle).filled(false).radius(9.0));
        }
        let places: Vec<(RowId, egui::Pos2)> =
            points.iter().map(|point| (point.row, plot_ui.screen_from_plot(PlotPoint::new(point.human, point.metric)))).collect();
        (nearest, places)
    });
    crate::gui::widgets::name(&shown.response, egui::Role::Canvas, false, "Scatter");
    let (nearest, places) = shown.inner;
    name_marks(ui, cx, &places);
    let Some((_, id)) = nearest.filter(|(distance, _)| *distance <= REACH) else { return };
    if shown.response.clicked() {
        cx.send(Action::Select(id));
    }
    if let Some(row) = queue.row(id) {
        shown.response.on_hover_ui_at_pointer(|ui| {
            ui.label(RichText::new(&*row.instruction).strong());
            ui.label(model_name(&row.model));
            let value = measure.of(row).map_or_else(String::new, |value| format!("{} {value:.3}", measure.label()));
            let people = row.people_on(criterion).map_or_else(String::new, |mean| format!("people {mean:.2}"));
            ui.label(format!("{value} · {people}"));
            ui.label(RichText::new("Click opens the edit.").color(palette.text_dim.0));
        });
    }
}

/// Names the marks for screen readers and tests, as long as they can be told apart.
fn name_marks(ui: &Ui, cx: &Context<'_>, places: &[(RowId, egui::Pos2)]) {
    if places.len() > MARKS_NAMED {
        return;
    }
    for (id, at) in places {
        let Some(row) = cx.state.queue.row(*id) else { continue };
        let rect = egui::Rect::from_center_size(*at, vec2(8.0, 8.0));
        let response = ui.interact(rect, ui.scope_id().with(("mark", id.0)), egui::Sense::hover());
        crate::gui::widgets::name(&response, egui::Role::Mark, false, format!("mark {} · {}", row.instruction, model_name(&row.model)));
    }
}

fn legend_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    for (index, model) in cx.state.queue.models().iter().enumerate() {
        let sign = ["●", "■", "◆", "▲", "▼", "×", "+", "∗"][index % 8];
        ui.label(RichText::new(sign).color(palette.model(index)));
        ui.label(RichText::new(model_name(model)).size(12.0));
        ui.add_space(6.0);
    }
}

fn tables_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let Some(table) = cx.state.agreement_table.as_deref() else {
        ui.spinner();
        return;
    };
    section(ui, palette, &format!("How each number agrees with people on {}", table.criterion.name()));
    statistics_ui(ui, cx, table);
    section(ui, palette, "By pair of models");
    pairs_ui(ui, cx, table);
    ui.add_space(8.0);
    let text = format!(
        "Pairwise: over the items on which people prefer one of two models' edits, the share on which the number prefers the same one; \
         then the plain mean over the pairs of models. Ties: {}. Where lower is better (↓), a number counts with its sign turned.",
        table.ties
    );
    ui.add(egui::Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
}

/// A coefficient or share; where there is none, the reason is said on hover.
fn value_ui(ui: &mut Ui, outcome: &Outcome<f64>) {
    match outcome {
        Outcome::Value(value) => ui.label(RichText::new(format!("{value:.3}")).monospace()),
        Outcome::NotApplicable(why) | Outcome::Failed(why) => ui.label(RichText::new("–").monospace()).on_hover_text(why),
    };
}

fn statistics_ui(ui: &mut Ui, cx: &Context<'_>, table: &Table) {
    let palette = cx.palette(ui);
    ui.push_id("statistics", |ui| {
        TableBuilder::new(ui)
            .striped(true)
            .vscroll(false)
            .cell_layout(Layout::left_to_right(Align::Center))
            .column(Column::exact(118.0))
            .columns(Column::remainder().at_least(50.0), 5)
            .header(22.0, |mut header| {
                for name in ["metric", "pairwise", "Spearman", "Kendall", "Pearson", "edits"] {
                    header.col(|ui| {
                        ui.label(RichText::new(name).size(11.5).color(palette.text_dim.0));
                    });
                }
            })
            .body(|body| {
                body.rows(24.0, table.lines.len(), |mut row| {
                    let Some(line) = table.lines.get(row.index()) else { return };
                    row.col(|ui| {
                        let arrow = if line.measure.better() == Better::Lower { " ↓" } else { "" };
                        let name = ui.add(egui::Label::new(RichText::new(format!("{}{arrow}", line.measure.label())).strong()).truncate());
                        if let Some(definition) = line.measure.definition() {
                            name.on_hover_text(format!("{definition} {}.", line.measure.better().words()));
                        }
                    });
                    for value in [&line.pairwise, &line.spearman, &line.kendall, &line.pearson] {
                        row.col(|ui| value_ui(ui, value));
                    }
                    row.col(|ui| {
                        ui.label(RichText::new(line.edits.to_string()).monospace());
                    });
                });
            });
    });
}

fn pairs_ui(ui: &mut Ui, cx: &Context<'_>, table: &Table) {
    let palette = cx.palette(ui);
    ui.push_id("pairs", |ui| {
        TableBuilder::new(ui)
            .striped(true)
            .vscroll(false)
            .cell_layout(Layout::left_to_right(Align::Center))
            .column(Column::remainder().clip(true).at_least(120.0))
            .columns(Column::exact(56.0), 1 + Measure::OWN.len())
            .header(22.0, |mut header| {
                let names = ["models", "items"].map(str::to_owned).into_iter().chain(Measure::OWN.map(|measure| measure.label()));
                for name in names {
                    header.col(|ui| {
                        ui.label(RichText::new(name).size(11.5).color(palette.text_dim.0));
                    });
                }
            })
            .body(|body| {
                body.rows(24.0, table.pairs.len(), |mut row| {
                    let Some(pair) = table.pairs.get(row.index()) else { return };
                    row.col(|ui| {
                        let text = format!("{} – {}", model_name(&pair.first), model_name(&pair.second));
                        ui.add(egui::Label::new(text).truncate());
                    });
                    row.col(|ui| {
                        ui.label(RichText::new(pair.items.to_string()).monospace());
                    });
                    for share in pair.shares.iter().take(Measure::OWN.len()) {
                        row.col(|ui| value_ui(ui, share));
                    }
                });
            });
    });
}
