//! Which items change the order of their edits between two profiles of the metric.

use egui::Ui;

use super::cells::words_ui;
use super::pick::edit_link;
use crate::domain::Profile;
use crate::gui::context::Context;
use crate::gui::panels::queue::model_name;
use crate::gui::widgets::section;
use crate::stats::comparison::Comparison;

/// More changes of one pair of profiles are counted only.
const LISTED: usize = 40;

pub(super) fn profiles_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    if found.profiles.is_empty() {
        let names: Vec<&str> = Profile::ALL.iter().map(|profile| profile.name()).collect();
        let text = format!(
            "Only one profile is scored. Choose another one ({}) in the settings and score all: what is cached needs no network again.",
            names.join(", ")
        );
        words_ui(ui, palette, &text);
        return;
    }
    for changes in &found.profiles {
        section(ui, palette, &format!("{} against {}", changes.readings[0], changes.readings[1]));
        let text = format!(
            "{} of {} pairs of edits change their order, on {} of {} items; {} tie under one profile only; {} lack a value.",
            changes.reversals.len(),
            changes.pairs,
            changes.items_changed,
            changes.items,
            changes.ties_in_one,
            changes.missing
        );
        words_ui(ui, palette, &text);
        for reversal in changes.reversals.iter().take(LISTED) {
            let [first, second] = &reversal.models;
            let about = format!(
                "before {} ({:.3}, {:.3}), then behind it ({:.3}, {:.3})",
                model_name(second),
                reversal.before[0],
                reversal.before[1],
                reversal.after[0],
                reversal.after[1]
            );
            edit_link(ui, cx, &reversal.item, first, &about);
        }
        if changes.reversals.len() > LISTED {
            words_ui(ui, palette, &format!("… and {} more; the report and `agree --json` list all.", changes.reversals.len() - LISTED));
        }
    }
}
