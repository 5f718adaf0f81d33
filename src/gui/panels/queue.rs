//! The queue: search, filter, order, and a table that draws only the rows on the screen.

use egui::{Align, Button, Id, Layout, RichText, Sense, TextEdit, Ui, vec2};
use egui_extras::{Column, TableBuilder};

use super::queue_row::row_ui;
use crate::domain::Parts;
use crate::editor::{Filter, ShowOnly, SortKey};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets::{self, right};

/// Height of a row: a thumbnail of 44 points with room around it.
pub const ROW: f32 = 52.0;
/// From this width on the four parts have columns of their own.
const WIDE: f32 = 560.0;

/// Draws the panel.
pub fn queue_ui(ui: &mut Ui, cx: &Context<'_>) {
    search_ui(ui, cx);
    filters_ui(ui, cx);
    flags_ui(ui, cx);
    picked_ui(ui, cx);
    ui.add_space(2.0);
    if cx.state.queue.shown().is_empty() {
        nothing_ui(ui, cx);
    } else {
        table_ui(ui, cx);
    }
}

fn search_ui(ui: &mut Ui, cx: &Context<'_>) {
    let mut filter = cx.state.queue.filter().clone();
    let hint = format!("Search  [{}]", Command::FindText.shortcut_text(ui.ctx()).unwrap_or_default());
    let edit = TextEdit::singleline(&mut filter.text).id(Id::unique("search")).hint_text(hint).desired_width(f32::INFINITY);
    let response = ui.add(edit).on_hover_text("Words that occur in instruction, model or item.");
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Search"));
    if cx.state.focus_search {
        response.request_focus();
    }
    if response.changed() {
        cx.send(Action::SetFilter(filter));
    }
}

fn filters_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let queue = &cx.state.queue;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let only = match queue.filter().only {
            ShowOnly::All => "All edits",
            ShowOnly::Unscored => "Not scored",
            ShowOnly::Unrated => "Not rated",
            ShowOnly::Flagged => "Flagged",
            ShowOnly::With(flag) => flag.label(),
        };
        ui.menu_button(only, |ui| only_menu(ui, cx)).response.on_hover_text("Which edits are shown.");
        let model = queue.filter().model.as_deref().map_or("All models", model_name);
        ui.menu_button(model, |ui| model_menu(ui, cx)).response.on_hover_text("Whose edits are shown.");
        ui.menu_button("Sort", |ui| sort_menu(ui, cx)).response.on_hover_text("In which order.");
        widgets::right(ui, |ui| {
            let text = format!("{} of {}", queue.shown().len(), queue.rows().len());
            ui.label(RichText::new(text).size(12.0).color(palette.text_dim.0));
        });
    });
}

/// The flags that edits have, with their numbers: a click shows those edits, another all again.
fn flags_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let filter = cx.state.queue.filter();
    if cx.state.queue.flags().next().is_none() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 3.0);
        ui.spacing_mut().button_padding = vec2(5.0, 1.0);
        let next = Command::NextProblem.shortcut_text(ui.ctx()).unwrap_or_default();
        ui.label(RichText::new("⚠").color(palette.warning.0)).on_hover_text(format!(
            "Edits whose number deserves a look before it is believed. [{next}] goes to the next of those that are shown."
        ));
        for (flag, count) in cx.state.queue.flags() {
            let selected = filter.only == ShowOnly::With(flag);
            let text = RichText::new(format!("{} {count}", flag.label())).size(11.5);
            let tooltip = format!("{} Click to show {}.", flag.meaning(), if selected { "all edits again" } else { "only these edits" });
            if ui.add(Button::selectable(selected, text).small()).on_hover_text(tooltip).clicked() {
                let only = if selected { ShowOnly::All } else { ShowOnly::With(flag) };
                cx.send(Action::SetFilter(Filter { only, ..filter.clone() }));
            }
        }
    });
}

/// Says that only edits are shown that were picked in the plot, with the way back; nothing otherwise.
pub fn picked_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let Some(picked) = &cx.state.queue.filter().picked else { return };
    let clear = Command::ClearPicked;
    let text = RichText::new(format!("▣ {}  ✕", picked.what)).color(palette.text_strong.0);
    let button = Button::new(text).fill(palette.selection.0);
    if ui.add(button).on_hover_text(format!("The queue shows only these. {}", clear.tooltip(ui.ctx()))).clicked() {
        cx.send(Action::Do(clear));
    }
}

/// A name for edits whose model is unknown.
pub fn model_name(model: &str) -> &str {
    if model.is_empty() { "(no model)" } else { model }
}

fn only_menu(ui: &mut Ui, cx: &Context<'_>) {
    let filter = cx.state.queue.filter();
    let choice = |ui: &mut Ui, only: ShowOnly, label: String, meaning: &str| {
        if ui.add(Button::selectable(filter.only == only, label)).on_hover_text(meaning).clicked() {
            cx.send(Action::SetFilter(Filter { only, ..filter.clone() }));
            ui.close();
        }
    };
    choice(ui, ShowOnly::All, "All edits".into(), "Every edit of the project.");
    choice(ui, ShowOnly::Unscored, "Not scored".into(), "Edits that have no score yet.");
    choice(ui, ShowOnly::Unrated, "Not rated".into(), "Edits that nobody has rated yet.");
    choice(ui, ShowOnly::Flagged, "Flagged".into(), "Edits whose number deserves a look before it is believed.");
    ui.separator();
    for (flag, count) in cx.state.queue.flags() {
        choice(ui, ShowOnly::With(flag), format!("⚠ {} ({count})", flag.label()), flag.meaning());
    }
}

fn model_menu(ui: &mut Ui, cx: &Context<'_>) {
    let filter = cx.state.queue.filter();
    let models = std::iter::once(None).chain(cx.state.queue.models().iter().cloned().map(Some));
    for model in models {
        let label = model.as_deref().map_or("All models", model_name).to_owned();
        if ui.add(Button::selectable(filter.model == model, label)).clicked() {
            cx.send(Action::SetFilter(Filter { model, ..filter.clone() }));
            ui.close();
        }
    }
}

fn sort_menu(ui: &mut Ui, cx: &Context<'_>) {
    let (current, descending) = cx.state.queue.sort();
    let keys = [
        (SortKey::Given, "As in the data"),
        (SortKey::Instruction, "Instruction"),
        (SortKey::Model, "Model"),
        (SortKey::Overall, "BPM"),
        (SortKey::Part(0), "Size"),
        (SortKey::Part(1), "Position"),
        (SortKey::Part(2), "Modify"),
        (SortKey::Part(3), "Preserve"),
        (SortKey::Human, "People"),
        (SortKey::Disagreement, "Disagreement of BPM and people"),
        (SortKey::Flags, "Number of flags"),
    ];
    for (key, label) in keys {
        let selected = current == key;
        let text = if selected { format!("{label} {}", arrow(descending)) } else { label.to_owned() };
        if ui.add(Button::selectable(selected, text)).clicked() {
            cx.send(Action::SortBy(key));
            ui.close();
        }
    }
}

const fn arrow(descending: bool) -> &'static str {
    if descending { "⬇" } else { "⬆" }
}

fn nothing_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    ui.add_space(24.0);
    ui.vertical_centered(|ui| {
        if cx.state.queue.rows().is_empty() {
            ui.label(RichText::new("This project has no edits yet. Import data from the Project menu.").color(palette.text_dim.0));
        } else {
            ui.label(RichText::new("No edit fits the search and the filters.").color(palette.text_dim.0));
            if ui.button("Show all").clicked() {
                cx.send(Action::SetFilter(Filter::default()));
            }
        }
    });
}

fn table_ui(ui: &mut Ui, cx: &Context<'_>) {
    let wide = ui.available_width() >= WIDE;
    ui.spacing_mut().item_spacing = vec2(6.0, 0.0);
    // The bar stands beside the last column, not on it.
    ui.spacing_mut().scroll.floating_allocated_width = 8.0;
    let mut table = TableBuilder::new(ui)
        .id_salt("queue table")
        .striped(false)
        .sense(Sense::click())
        .cell_layout(Layout::left_to_right(Align::Center))
        .auto_shrink(false)
        .animate_scrolling(false)
        .column(Column::exact(48.0))
        .column(Column::remainder().clip(true).at_least(80.0));
    if wide {
        table = table.columns(Column::exact(56.0), 4);
    }
    table = table.column(Column::exact(52.0)).column(Column::exact(46.0));
    if cx.state.reveal_selection
        && let Some(place) = cx.state.queue.selected_place()
    {
        table = table.scroll_to_row(place, None);
    }
    let shown = cx.state.queue.shown();
    table
        .header(24.0, |mut header| {
            header.col(|_| {});
            header.col(|ui| heading(ui, cx, "Edit", SortKey::Given, "In the order of the data"));
            if wide {
                for (index, name) in Parts::NAMES.into_iter().enumerate() {
                    header.col(|ui| right(ui, |ui| heading(ui, cx, name, SortKey::Part(index), "Part score")));
                }
            }
            let bars = "The overall of the metric; the four bars under it are size, position, modify and preserve, each on its own scale";
            let meaning = if wide { "The overall of the metric" } else { bars };
            header.col(|ui| right(ui, |ui| heading(ui, cx, "BPM", SortKey::Overall, meaning)));
            let meaning = "Mean of the raters' overall answers, 1 to 5; under it how many raters (sim.: some of them are programs)";
            header.col(|ui| right(ui, |ui| heading(ui, cx, "People", SortKey::Human, meaning)));
        })
        .body(|body| {
            body.rows(ROW, shown.len(), |mut table_row| {
                if let Some(row) = shown.get(table_row.index()).and_then(|&index| cx.state.queue.rows().get(index)) {
                    row_ui(&mut table_row, cx, row, wide);
                }
            });
        });
}

fn heading(ui: &mut Ui, cx: &Context<'_>, label: &str, key: SortKey, meaning: &str) {
    let palette = cx.palette(ui);
    let (current, descending) = cx.state.queue.sort();
    let selected = current == key && key != SortKey::Given;
    let text = if selected { format!("{label} {}", arrow(descending)) } else { label.to_owned() };
    let color = if selected { palette.text_strong.0 } else { palette.text_dim.0 };
    let button = Button::new(RichText::new(text).size(11.5).color(color)).frame(false);
    let response = ui.add(button).on_hover_text(format!("{meaning}. Click to sort, click again to turn round."));
    if response.clicked() {
        cx.send(Action::SortBy(key));
    }
}
