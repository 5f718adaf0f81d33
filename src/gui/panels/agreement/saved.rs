//! Comparisons and ranges kept by name, what moved between two comparisons, and reports.

use egui::{Label, RichText, TextEdit, Ui};

use super::cells::{Head, metric_label, table_ui, value_ui, words_ui};
use crate::export::{stayed, stayed_words};
use crate::gui::agreement::{AgreementAction, SavedLine, Work};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::panels::queue::model_name;
use crate::gui::widgets::{command_button, section};
use crate::stats::comparison::{ALL, Change, Comparison, PEOPLE, VOTES, utc_text};

pub(super) fn saved_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let agreement = &cx.state.agreement;
    section(ui, palette, "Comparisons");
    name_ui(ui, cx);
    if agreement.kept.list.comparisons.is_empty() {
        words_ui(ui, palette, "No comparison is saved yet: give the present one a name and save it, to come back to these numbers later.");
    }
    agreement.kept.list.comparisons.iter().for_each(|line| line_ui(ui, cx, line));
    if let Some((before, moved)) = &agreement.kept.against {
        changes_ui(ui, cx, before, moved);
    }
    section(ui, palette, "Report");
    command_button(ui, cx, Command::WriteReport, agreement.shown().is_some());
    words_ui(ui, palette, "One self-contained web page with plots and the worst disagreements as pictures, or a CSV or LaTeX table.");
    section(ui, palette, "Ranges of modify and preserve");
    ranges_ui(ui, cx);
}

fn name_ui(ui: &mut Ui, cx: &Context<'_>) {
    let agreement = &cx.state.agreement;
    ui.horizontal(|ui| {
        let mut name = agreement.kept.name.clone();
        let edit = ui.add(TextEdit::singleline(&mut name).hint_text("name of this comparison").desired_width(240.0));
        edit.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Comparison name"));
        if edit.changed() {
            cx.send(Action::Agreement(AgreementAction::DraftName(name)));
        }
        let ready = agreement.comparison.is_some() && agreement.work == Work::Nothing && !agreement.kept.name.trim().is_empty();
        let entered = edit.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let button = ui.add_enabled(ready, egui::Button::new("Save comparison"));
        let button = button.on_hover_text("Keeps every number with what it was made of: data, networks, range, raters, ties, seeds.");
        if button.on_disabled_hover_text("It needs a name, and finished numbers.").clicked() || (entered && ready) {
            cx.send(Action::Agreement(AgreementAction::Save));
        }
    });
}

fn line_ui(ui: &mut Ui, cx: &Context<'_>, line: &SavedLine) {
    let palette = cx.palette(ui);
    let send = |action| cx.send(Action::Agreement(action));
    ui.horizontal_wrapped(|ui| {
        if ui.button("Open").on_hover_text(format!("Shows the numbers of '{}' in the tables.", line.name)).clicked() {
            send(AgreementAction::Open(line.name.clone()));
        }
        let ready = cx.state.agreement.shown().is_some();
        let compare = ui.add_enabled(ready, egui::Button::new("What moved"));
        if compare.on_hover_text(format!("Compares what the tables show with '{}'.", line.name)).clicked() {
            send(AgreementAction::Against(line.name.clone()));
        }
        ui.label(RichText::new(&line.name).strong());
        let who = if line.who.is_empty() { String::new() } else { format!(" by {}", line.who) };
        let text = format!("{}{who} · {} edits, {} rated", utc_text(line.at_millis), line.edits, line.rated);
        ui.label(RichText::new(text).size(12.0).color(palette.text_dim.0));
    });
}

const CHANGES: [Head<'static>; 7] = [
    Head::new("number", "", 150.0),
    Head::new("of", "The metric or judge, and the model.", 150.0),
    Head::new("criterion", "", 90.0),
    Head::new("before", "", 56.0),
    Head::new("now", "", 56.0),
    Head::new("change", "", 60.0),
    Head::new("", "", 110.0),
];

/// Every number of both comparisons over all edits, and what was made differently.
fn changes_ui(ui: &mut Ui, cx: &Context<'_>, before: &Comparison, moved: &[Change]) {
    let palette = cx.palette(ui);
    section(ui, palette, &format!("What moved since '{}'", before.about.name));
    if let Some(now) = cx.state.agreement.shown() {
        words_ui(ui, palette, &before.data_words(now));
        for (what, old, new) in before.made_differently(now) {
            words_ui(ui, palette, &format!("{what}: {old} → {new}"));
        }
    }
    let (same, shown): (Vec<&Change>, Vec<&Change>) = moved.iter().filter(|change| change.split == ALL).partition(|change| stayed(change));
    if shown.is_empty() {
        words_ui(ui, palette, if same.is_empty() { "Neither of the two holds a number over all edits." } else { "Nothing moved." });
    } else {
        table_of_changes(ui, cx, &shown);
    }
    if !same.is_empty() {
        words_ui(ui, palette, &stayed_words(same.len()));
    }
    let groups = moved.iter().filter(|change| change.split != ALL && !stayed(change)).count();
    if groups > 0 {
        let text = format!(
            "{groups} more that moved are of groups of edits: `editscope agree PROJECT --against '{}'` lists them.",
            before.about.name
        );
        words_ui(ui, palette, &text);
    }
}

fn table_of_changes(ui: &mut Ui, cx: &Context<'_>, shown: &[&Change]) {
    let palette = cx.palette(ui);
    table_ui(ui, cx, "changes", &CHANGES, shown.len(), |row| {
        let Some(change) = shown.get(row.index()) else { return };
        let (quantity, of) = (change.quantity.as_str(), change_of(change));
        for text in [RichText::new(quantity), RichText::new(of).strong(), RichText::new(&change.criterion)] {
            row.col(|ui| {
                ui.add(Label::new(text).truncate());
            });
        }
        row.col(|ui| value_ui(ui, &change.before));
        row.col(|ui| value_ui(ui, &change.after));
        row.col(|ui| match change.difference.value() {
            Some(by) => drop(ui.label(RichText::new(format!("{by:+.3}")).monospace())),
            None => value_ui(ui, &change.difference),
        });
        row.col(|ui| {
            if change.intervals_apart {
                ui.label(RichText::new("intervals apart").size(12.0).color(palette.warning.0));
            }
        });
    });
}

/// Whose number it is.
fn change_of(change: &Change) -> String {
    let metric = match change.metric.as_str() {
        "" => None,
        judge @ (PEOPLE | VOTES) => Some(judge.to_owned()),
        metric => Some(metric_label(metric)),
    };
    let model = (!change.model.is_empty()).then(|| model_name(&change.model).to_owned());
    let named: Vec<String> = metric.into_iter().chain(model).collect();
    if named.is_empty() { "all models".to_owned() } else { named.join(": ") }
}

fn ranges_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let kept = &cx.state.agreement.kept;
    let send = |action| cx.send(Action::Agreement(action));
    ui.horizontal_wrapped(|ui| {
        let mut name = kept.range_name.clone();
        let edit = ui.add(TextEdit::singleline(&mut name).hint_text("name of a new range").desired_width(240.0));
        edit.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Range name"));
        if edit.changed() {
            send(AgreementAction::DraftRange(name));
        }
        let button = ui.add_enabled(!kept.range_name.trim().is_empty(), egui::Button::new("Fit and save range"));
        let text = format!(
            "Takes the least and greatest modify and preserve of the automatic {} scores of the edits chosen below.",
            cx.settings.profile
        );
        if button.on_hover_text(text).on_disabled_hover_text("It needs a name.").clicked() {
            send(AgreementAction::FitRange);
        }
        let text = "Takes a range out of a JSON file that was exported, under its own name or the one in the field.";
        if ui.button("Import…").on_hover_text(text).clicked() {
            send(AgreementAction::ImportRange);
        }
    });
    ui.horizontal_wrapped(|ui| {
        let queue = &cx.state.queue;
        ui.label("Fit on");
        if ui.radio(!kept.range_on_shown, format!("all {} edits", queue.rows().len())).clicked() {
            send(AgreementAction::RangeOnShown(false));
        }
        let meaning = "Search, filters and a rectangle in the plot choose the edits.";
        if ui.radio(kept.range_on_shown, format!("the {} that the queue shows", queue.shown().len())).on_hover_text(meaning).clicked() {
            send(AgreementAction::RangeOnShown(true));
        }
    });
    let chosen = cx.settings.range.as_deref();
    if ui.radio(chosen.is_none(), "fitted on this project as it is").clicked() {
        send(AgreementAction::UseRange(None));
    }
    for range in kept.list.ranges.iter().filter(|range| range.profile == cx.settings.profile) {
        ui.horizontal_wrapped(|ui| {
            if ui.radio(chosen == Some(&range.name), &range.name).clicked() {
                send(AgreementAction::UseRange(Some(range.name.clone())));
            }
            let export = ui.button("Export…").on_hover_text("Writes it to a file, for other projects and `score --range FILE.json`.");
            crate::gui::widgets::name(&export, egui::Role::Button, false, format!("Export range {}", range.name));
            if export.clicked() {
                send(AgreementAction::ExportRange(range.name.clone()));
            }
            ui.label(RichText::new(range.bounds_words()).size(12.0).color(palette.text_dim.0));
        });
    }
    let other = kept.list.ranges.iter().filter(|range| range.profile != cx.settings.profile).count();
    if other > 0 {
        words_ui(ui, palette, &format!("{other} more of other profiles: a range means nothing for the parts of another profile."));
    }
    let text =
        "A range is applied when scores are read and never changes stored parts. `editscope range` does the same on the command line.";
    words_ui(ui, palette, text);
}
