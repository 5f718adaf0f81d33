//! The chosen metric on groups of edits: by scope, edit type, model, size of the region, or flag.

use egui::{ComboBox, Label, RichText, Ui};

use super::cells::{Head, Reasons, count_ui, interval_ui, metric_label, table_ui, value_ui, words_ui};
use super::how_ui;
use crate::gui::agreement::{AgreementAction, Choices};
use crate::gui::context::{Action, Context};
use crate::gui::widgets::section;
use crate::stats::comparison::{ALL, BY_FLAG, BY_MODEL, BY_REGION, BY_SCOPE, BY_TYPE, Comparison, Line, SPLITS};

fn split_name(split: &str) -> &str {
    match split {
        BY_SCOPE => "local or global",
        BY_TYPE => "edit type",
        BY_MODEL => "model",
        BY_REGION => "size of the region",
        BY_FLAG => "flag",
        other => other,
    }
}

const HEADS: [Head<'static>; 7] = [
    Head::new("group", "", 170.0),
    Head::new("pairwise", "Mean over the pairs of models; by model: over the pairs that hold the model.", 136.0),
    Head::new("Spearman", "", 60.0),
    Head::new("Kendall", "", 56.0),
    Head::new("AUC", "", 50.0),
    Head::new("edits", "Edits that have both values.", 44.0),
    Head::new("pairs", "Pairs of edits that were compared.", 44.0),
];

pub(super) fn splits_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let agreement = &cx.state.agreement;
    let (view, mut choices) = (&agreement.view, agreement.choices.clone());
    ui.horizontal(|ui| {
        let label = ui.label("Split the edits by");
        let combo = ComboBox::from_id_salt("split").selected_text(split_name(&choices.split)).show_ui(ui, |ui| {
            for split in SPLITS {
                ui.selectable_value(&mut choices.split, split.to_owned(), split_name(split));
            }
        });
        combo.response.labelled_by(label.id);
    });
    if choices != agreement.choices {
        cx.send(Action::Agreement(AgreementAction::Choose(Choices { split: choices.split.clone(), ..agreement.choices.clone() })));
    }
    let shown = found.plan.splits.first().map_or(BY_SCOPE, String::as_str);
    let lines: Vec<&Line> = found
        .lines
        .iter()
        .filter(|line| line.metric == view.metric && line.criterion == view.criterion && (line.split == shown || line.split == ALL))
        .collect();
    if lines.is_empty() {
        super::pairs::no_line_ui(ui, cx);
        return;
    }
    let heading = format!("{} against people on {}, by {}", metric_label(&view.metric), view.criterion, split_name(shown));
    section(ui, palette, &heading);
    let mut reasons = Reasons::default();
    table_ui(ui, cx, "splits", &HEADS, lines.len(), |row| {
        let Some(line) = lines.get(row.index()) else { return };
        row.col(|ui| {
            let name = if line.split == ALL { "all edits" } else { line.group.as_str() };
            ui.add(Label::new(RichText::new(name).strong()).truncate());
        });
        row.col(|ui| interval_ui(ui, cx, &line.agreement.macro_mean, &line.macro_interval));
        for value in [&line.spearman, &line.kendall_tau_b, &line.area_under_curve] {
            row.col(|ui| value_ui(ui, value));
        }
        row.col(|ui| count_ui(ui, line.complete));
        row.col(|ui| count_ui(ui, line.agreement.counts.compared));
    });
    for line in &lines {
        reasons.add(&line.group, &line.agreement.macro_mean);
        reasons.add(&line.group, &line.spearman);
    }
    reasons.ui(ui, palette);
    if lines.len() == 1 {
        words_ui(ui, palette, "No edit belongs to a group of this split: labels come with scores.");
    }
    how_ui(ui, cx, found);
}
