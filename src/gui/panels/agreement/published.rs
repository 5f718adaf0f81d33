//! Published tables beside our own numbers, marked as published on other data.

use egui::{Label, RichText, Ui};

use super::cells::{Head, ROW, interval_ui, table_ui, value_ui, words_ui};
use crate::domain::Outcome;
use crate::gui::context::Context;
use crate::gui::widgets::section;
use crate::stats::comparison::{ALL, BY_SCOPE, Comparison, Line, OVERALL};
use crate::stats::published::{PAPER, PublishedTable};

/// Our metric that means the same as a published one, where there is one.
fn ours(published: &str) -> Option<&'static str> {
    Some(match published {
        "BPM" => OVERALL,
        "L2" => "l2",
        "LPIPS" => "lpips-alex",
        "CLIP-I" => "clip-i",
        "CLIPScore" => "clip-t",
        "DINOScore" => "dino-vits16",
        _ => return None,
    })
}

/// Our line for a published table: local or global edits where they are split by scope, else all edits.
fn line_of<'a>(found: &'a Comparison, metric: &str, group: &str) -> Option<&'a Line> {
    let of = |split: &str, group: &str| {
        found.lines.iter().find(|line| line.metric == metric && line.criterion == OVERALL && line.split == split && line.group == group)
    };
    of(BY_SCOPE, group).or_else(|| of(ALL, ALL))
}

const HEADS: [Head; 3] = [
    Head::new("metric", "", 130.0),
    Head::new("published", "The plain mean over the paper's pairs of models, as printed.", 76.0),
    Head::new("ours", "This project, against people on overall.", 150.0),
];

pub(super) fn published_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    for (table, group) in PAPER.iter().zip(["local", "global"]) {
        section(ui, palette, &format!("Published on other data: {}", table.title));
        table_of(ui, cx, found, table, group);
        words_ui(ui, palette, &format!("{}. Not comparable item by item: the numbers only say what to expect.", table.source));
    }
}

fn table_of(ui: &mut Ui, cx: &Context<'_>, found: &Comparison, table: &PublishedTable, group: &str) {
    let none = Outcome::NotApplicable("no metric of this project is the same, or it has no values".to_owned());
    table_ui(ui, cx, table.title, &HEADS, |body| {
        body.rows(ROW, table.lines.len(), |mut row| {
            let Some(line) = table.lines.get(row.index()) else { return };
            row.col(|ui| {
                ui.add(Label::new(RichText::new(line.metric).strong()).truncate());
            });
            row.col(|ui| value_ui(ui, &Outcome::Value(line.mean)));
            row.col(|ui| match ours(line.metric).and_then(|metric| line_of(found, metric, group)) {
                Some(own) => interval_ui(ui, cx.palette(ui), &own.agreement.macro_mean, &own.macro_interval),
                None => value_ui(ui, &none),
            });
        });
    });
}
