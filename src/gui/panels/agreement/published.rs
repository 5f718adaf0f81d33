//! Published tables beside our own numbers, marked as published on other data.

use egui::{Label, RichText, Ui};

use super::cells::{Head, interval_ui, table_ui, value_ui, words_ui};
use crate::domain::Outcome;
use crate::gui::context::Context;
use crate::gui::widgets::section;
use crate::stats::comparison::Comparison;
use crate::stats::published::{PAPER, PublishedTable, beside, own_name};

const HEADS: [Head<'static>; 4] = [
    Head::new("metric", "", 130.0),
    Head::new("published", "The plain mean over the paper's pairs of models, as printed.", 76.0),
    Head::new("beside our", "Which of our variants stands beside it; hover a name for what the paper leaves open.", 116.0),
    Head::new("ours", "This project, against people on overall.", 150.0),
];

pub(super) fn published_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    for table in &PAPER {
        section(ui, palette, &format!("Published on other data: {}", table.title));
        table_of(ui, cx, found, table);
        words_ui(ui, palette, &format!("{}. Not comparable item by item: the numbers only say what to expect.", table.source));
    }
}

fn table_of(ui: &mut Ui, cx: &Context<'_>, found: &Comparison, table: &PublishedTable) {
    table_ui(ui, cx, table.title, &HEADS, table.lines.len(), |row| {
        let Some(line) = table.lines.get(row.index()) else { return };
        let (meant, own) = (beside(line.metric), table.own_line(line.metric, found));
        row.col(|ui| {
            ui.add(Label::new(RichText::new(line.metric).strong()).truncate());
        });
        row.col(|ui| value_ui(ui, &Outcome::Value(line.mean)));
        row.col(|ui| {
            let name = own.map(|own| own.metric.as_str()).or(meant.columns.first().copied()).map_or("–", own_name);
            ui.add(Label::new(name).truncate()).on_hover_text(meant.remark);
        });
        row.col(|ui| match own {
            Some(own) => interval_ui(ui, cx, &own.agreement.macro_mean, &own.macro_interval),
            None if meant.columns.is_empty() => value_ui(ui, &Outcome::NotApplicable(meant.remark.to_owned())),
            None => value_ui(ui, &Outcome::NotApplicable("it has no values in this project".to_owned())),
        });
    });
}
