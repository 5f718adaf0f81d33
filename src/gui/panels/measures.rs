//! The other metrics of the selected edit: whole picture, edit region and the rest, beside BPM.

use egui::{Grid, Label, RichText, Ui, vec2};

use crate::domain::{Baseline, Better, Outcome, Zone, Zoned};
use crate::editor::EditDetails;
use crate::gui::context::Context;
use crate::gui::widgets::{outcome_text, section};

/// Draws the section; nothing without a score.
pub fn measures_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails) {
    let palette = cx.palette(ui);
    if details.baselines.is_empty() {
        return;
    }
    let mut rows: Vec<(&String, &Zoned)> = details.baselines.iter().collect();
    rows.sort_by_key(|(name, _)| Baseline::from_name(name).map_or(usize::MAX, |baseline| baseline as usize));
    let (missing, present): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, zoned)| nowhere(zoned).is_some());
    section(ui, palette, "Other metrics");
    if !present.is_empty() {
        table_ui(ui, cx, &present);
    }
    if missing.is_empty() {
        return;
    }
    let heading = RichText::new(format!("{} without a value", missing.len())).size(12.0).color(palette.text_dim.0);
    egui::CollapsingHeader::new(heading).id_salt("measures without a value").default_open(present.is_empty()).show(ui, |ui| {
        for (name, zoned) in missing {
            let line = format!("{}: {}", label(name), nowhere(zoned).unwrap_or_default());
            ui.add(Label::new(RichText::new(line).size(12.0).color(palette.text_dim.0)).wrap()).on_hover_text(explained(name, zoned));
        }
    });
}

/// Why no zone has a value, if none has and nothing failed; a failure belongs into the table.
fn nowhere(zoned: &Zoned) -> Option<&str> {
    let none = Zone::ALL.iter().all(|zone| matches!(zoned.get(*zone), Outcome::NotApplicable(_)));
    zoned.whole.why().filter(|_| none)
}

fn label(name: &str) -> &str {
    match Baseline::from_name(name) {
        Some(baseline) => baseline.label(),
        None => name,
    }
}

/// Definition, good end and note of a metric, for its tooltip.
fn explained(name: &str, zoned: &Zoned) -> String {
    let mut text = match Baseline::from_name(name) {
        Some(baseline) => format!("{} Compared is the edit with its source; {}.", baseline.definition(), baseline.better().words()),
        None => "This program does not know this metric; the project was written by another version.".to_owned(),
    };
    if !zoned.note.is_empty() {
        text.push_str(&format!("\n\nNote: {}.", zoned.note));
    }
    text
}

fn table_ui(ui: &mut Ui, cx: &Context<'_>, rows: &[(&String, &Zoned)]) {
    let palette = cx.palette(ui);
    Grid::new("measures").num_columns(4).spacing(vec2(14.0, 4.0)).show(ui, |ui| {
        ui.label("");
        for (zone, meaning) in [
            (Zone::Whole, "The whole picture."),
            (Zone::Inside, "Only the edit region: what was to change."),
            (Zone::Outside, "Everything but the edit region: what was to stay."),
        ] {
            ui.label(RichText::new(zone.name()).size(11.0).color(palette.text_dim.0)).on_hover_text(meaning);
        }
        ui.end_row();
        for (name, zoned) in rows {
            let better = Baseline::from_name(name).map_or(Better::Higher, Baseline::better);
            let arrow = if better == Better::Lower { "↓" } else { "↑" };
            let text = if zoned.note.is_empty() { format!("{} {arrow}", label(name)) } else { format!("{} {arrow} *", label(name)) };
            ui.label(text).on_hover_text(explained(name, zoned));
            for zone in Zone::ALL {
                let outcome = zoned.get(zone);
                let cell = ui.label(outcome_text(outcome, palette));
                match outcome.why() {
                    Some(why) => cell.on_hover_text(why),
                    None => cell.on_hover_text(format!("{} {}: {}", label(name), zone.name(), better.words())),
                };
            }
            ui.end_row();
        }
    });
    let legend = "↑ higher is better, ↓ lower is better, always against the source; * has a note. Point at a name for its definition.";
    ui.add(Label::new(RichText::new(legend).size(11.0).color(palette.text_dim.0)).wrap());
}
