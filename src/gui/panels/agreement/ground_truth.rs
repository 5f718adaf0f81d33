//! How often each metric prefers the edit that is known to be good.

use egui::{Label, RichText, Ui};

use super::cells::{Head, ROW, Reasons, count_ui, metric_label, table_ui, value_ui, words_ui};
use crate::editor::Measure;
use crate::gui::agreement::{AgreementAction, Choices};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets::{command_button, section};
use crate::stats::comparison::{Comparison, GOOD, MetricGroundTruth};

const HEADS: [Head; 5] = [
    Head::new("metric", "", 110.0),
    Head::new("share", "Items where the good edit scores strictly above every worse one; a tie is wrong.", 60.0),
    Head::new("right", "", 46.0),
    Head::new("items", "Items where every edit has a value.", 46.0),
    Head::new("over each kind of worse edit", "", 330.0),
];

pub(super) fn ground_truth_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let choices = &cx.state.agreement.choices;
    section(ui, palette, "Ground truth");
    let text = format!(
        "A table with the columns item, model and role says which edits are known to be '{GOOD}', and which are worse in a known way \
         (over_preserved, over_modified)."
    );
    words_ui(ui, palette, &text);
    ui.horizontal_wrapped(|ui| {
        command_button(ui, cx, Command::ChooseGroundTruth, cx.state.info().is_some());
        if let Some(table) = &choices.ground_truth {
            ui.label(RichText::new(table.display().to_string()).size(12.0).color(palette.text_dim.0));
            if ui.button("Leave it out").clicked() {
                cx.send(Action::Agreement(AgreementAction::Choose(Choices { ground_truth: None, ..choices.clone() })));
            }
        }
    });
    let zone = cx.state.agreement.view.zone;
    let lines: Vec<&MetricGroundTruth> = found.ground_truth.iter().filter(|line| Measure::named(&line.metric).is_of(zone)).collect();
    if lines.is_empty() {
        return;
    }
    table_ui(ui, cx, "ground truth", &HEADS, |body| {
        body.rows(ROW, lines.len(), |mut row| {
            let Some(line) = lines.get(row.index()) else { return };
            let result = &line.result;
            row.col(|ui| {
                ui.add(Label::new(RichText::new(metric_label(&line.metric)).strong()).truncate());
            });
            row.col(|ui| value_ui(ui, &result.share));
            row.col(|ui| count_ui(ui, result.right));
            row.col(|ui| count_ui(ui, result.items));
            row.col(|ui| {
                let share =
                    |share: &crate::domain::Outcome<f64>| share.value().map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
                let against: Vec<String> =
                    result.against.iter().map(|a| format!("{} {} ({}/{})", a.kind, share(&a.share), a.right, a.compared)).collect();
                let label = ui.add(Label::new(RichText::new(against.join(" · ")).size(12.0)).truncate());
                let why: Vec<String> = result.against.iter().filter_map(|a| Some(format!("{}: {}", a.kind, a.share.why()?))).collect();
                if !why.is_empty() {
                    label.on_hover_text(why.join("\n"));
                }
            });
        });
    });
    let mut reasons = Reasons::default();
    lines.iter().for_each(|line| reasons.add(&metric_label(&line.metric), &line.result.share));
    reasons.ui(ui, palette);
    if let Some(line) = lines.first() {
        let result = &line.result;
        let text = format!(
            "{} items lack a value of {}; {} have not exactly one good edit and a worse one.",
            result.missing_metric,
            metric_label(&line.metric),
            result.unmarked
        );
        words_ui(ui, palette, &text);
    }
}
