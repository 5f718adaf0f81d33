//! How often each metric prefers the edit that is known to be good.

use std::collections::BTreeSet;

use egui::{Label, RichText, Ui};

use super::cells::{Head, Reasons, count_ui, metric_label, table_ui, value_ui, words_ui};
use crate::domain::Outcome;
use crate::editor::Measure;
use crate::export::ground_truth_words;
use crate::gui::agreement::{AgreementAction, Choices};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets::{command_button, section};
use crate::stats::comparison::{Comparison, GOOD, MetricGroundTruth};

const HEADS: [Head<'static>; 4] = [
    Head::new("metric", "", 110.0),
    Head::new("share", "Items where the good edit scores strictly above every worse one; a tie is wrong.", 60.0),
    Head::new("right", "", 46.0),
    Head::new("items", "Items where every edit has a value; the share is of these.", 46.0),
];

/// What the head of a column of one kind of worse edit means.
const OVER: &str = "The share of the items where the good edit scores above this one, of those where both have a value.";

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
    lines_ui(ui, cx, &lines);
    let mut reasons = Reasons::default();
    lines.iter().for_each(|line| reasons.add(&metric_label(&line.metric), &line.result.share));
    reasons.ui(ui, palette);
    for line in &lines {
        if let Some(words) = ground_truth_words(&line.result) {
            words_ui(ui, palette, &format!("{}: {words}.", metric_label(&line.metric)));
        }
    }
    if let Some(unmarked) = lines.first().map(|line| line.result.unmarked).filter(|unmarked| *unmarked > 0) {
        words_ui(ui, palette, &format!("{unmarked} items have not exactly one good edit and a worse one."));
    }
}

/// A column for each kind of worse edit, wide enough for its name.
fn lines_ui(ui: &mut Ui, cx: &Context<'_>, lines: &[&MetricGroundTruth]) {
    let kinds: BTreeSet<&str> = lines.iter().flat_map(|line| &line.result.against).map(|against| against.kind.as_str()).collect();
    let names: Vec<String> = kinds.iter().map(|kind| format!("over {kind}")).collect();
    let mut heads = HEADS.to_vec();
    heads.extend(names.iter().map(|name| Head::new(name, OVER, (7.0 * name.chars().count() as f32).max(112.0))));
    table_ui(ui, cx, "ground truth", &heads, lines.len(), |row| {
        let Some(line) = lines.get(row.index()) else { return };
        let result = &line.result;
        row.col(|ui| {
            ui.add(Label::new(RichText::new(metric_label(&line.metric)).strong()).truncate());
        });
        row.col(|ui| value_ui(ui, &result.share));
        row.col(|ui| count_ui(ui, result.right));
        row.col(|ui| count_ui(ui, result.items));
        for kind in &kinds {
            row.col(|ui| match result.against.iter().find(|against| against.kind == *kind) {
                Some(against) => {
                    value_ui(ui, &against.share);
                    ui.label(RichText::new(format!("({}/{})", against.right, against.compared)).size(12.0));
                }
                None => value_ui(ui, &Outcome::NotApplicable("no item has a value of both edits".to_owned())),
            });
        }
    });
}
