//! Cells that several tables of the page share: numbers with intervals, reasons of what is undefined, headings.

use std::collections::BTreeMap;

use egui::{Align, Label, Layout, RichText, Ui};
use egui_extras::{Column, TableBody, TableBuilder};

use crate::domain::Outcome;
use crate::editor::Measure;
use crate::gui::agreement::Work;
use crate::gui::context::Context;
use crate::gui::theme::Palette;
use crate::stats::Interval;

/// Height of a row of a table.
pub(super) const ROW: f32 = 24.0;

/// A metric's name on screen, with an arrow where lower is better.
pub(super) fn metric_label(name: &str) -> String {
    let measure = Measure::named(name);
    let arrow = if measure.better() == crate::domain::Better::Lower { " ↓" } else { "" };
    format!("{}{arrow}", measure.label())
}

/// A coefficient or share; where there is none, the reason is said on hover.
pub(super) fn value_ui(ui: &mut Ui, outcome: &Outcome<f64>) {
    match outcome {
        Outcome::Value(value) => ui.label(RichText::new(format!("{value:.3}")).monospace()),
        Outcome::NotApplicable(why) | Outcome::Failed(why) => ui.label(RichText::new("–").monospace()).on_hover_text(why),
    };
}

/// A value with its interval.
pub(super) fn interval_ui(ui: &mut Ui, cx: &Context<'_>, outcome: &Outcome<f64>, interval: &Outcome<Interval>) {
    let palette = cx.palette(ui);
    let agreement = &cx.state.agreement;
    // What was opened is as it was saved; of the newest result the intervals come after the numbers.
    let is_drawing = agreement.work == Work::Intervals && agreement.kept.opened.is_none();
    ui.spacing_mut().item_spacing.x = 5.0;
    value_ui(ui, outcome);
    match interval {
        Outcome::Value(found) => {
            let text = format!("[{:.2}, {:.2}]", found.low, found.high);
            let label = ui.label(RichText::new(text).monospace().size(10.5).color(palette.text_dim.0));
            let undefined = if found.undefined > 0 { format!("; not defined on {} of them", found.undefined) } else { String::new() };
            label.on_hover_text(format!(
                "{:.0} % interval {:.4} to {:.4} from {} resamples of items{undefined}",
                found.level * 100.0,
                found.low,
                found.high,
                found.resamples
            ));
        }
        Outcome::NotApplicable(why) | Outcome::Failed(why) if outcome.value().is_some() => {
            let (words, why) = no_interval(is_drawing, why);
            ui.label(RichText::new(words).size(10.5).color(palette.text_dim.0)).on_hover_text(why);
        }
        _ => {}
    }
}

/// What stands where there is no interval, and why: it may only not be there yet.
const fn no_interval(is_drawing: bool, why: &str) -> (&str, &str) {
    if is_drawing { ("being drawn…", "The interval is being computed.") } else { ("no interval", why) }
}

/// A whole number.
pub(super) fn count_ui(ui: &mut Ui, count: usize) {
    ui.label(RichText::new(count.to_string()).monospace());
}

/// Dim words that may run over several lines.
pub(super) fn words_ui(ui: &mut Ui, palette: &Palette, text: &str) {
    ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
}

/// A column of a table: its heading, what the heading means, its width.
pub(super) struct Head {
    pub label: &'static str,
    pub meaning: &'static str,
    pub width: f32,
}

impl Head {
    /// A column.
    pub(super) const fn new(label: &'static str, meaning: &'static str, width: f32) -> Self {
        Self { label, meaning, width }
    }
}

/// A table whose width is that of its columns.
pub(super) fn table_ui(ui: &mut Ui, cx: &Context<'_>, salt: &str, heads: &[Head], body: impl FnOnce(TableBody<'_>)) {
    let palette = cx.palette(ui);
    ui.push_id(salt, |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let mut table = TableBuilder::new(ui).striped(true).vscroll(false).cell_layout(Layout::left_to_right(Align::Center));
        for head in heads {
            table = table.column(Column::exact(head.width).clip(true));
        }
        table
            .header(22.0, |mut header| {
                for head in heads {
                    header.col(|ui| {
                        let label = ui.label(RichText::new(head.label).size(11.5).color(palette.text_dim.0));
                        if !head.meaning.is_empty() {
                            label.on_hover_text(head.meaning);
                        }
                    });
                }
            })
            .body(body);
    });
}

/// Reasons of undefined statistics, each once with what it is the reason for.
#[derive(Default)]
pub(super) struct Reasons(BTreeMap<String, Vec<String>>);

impl Reasons {
    /// Notes why there is no value, if there is none.
    pub(super) fn add<T>(&mut self, of: &str, outcome: &Outcome<T>) {
        if let Some(why) = outcome.why() {
            let known = self.0.entry(why.to_owned()).or_default();
            if !known.iter().any(|other| other == of) {
                known.push(of.to_owned());
            }
        }
    }

    /// Says them below a table.
    pub(super) fn ui(&self, ui: &mut Ui, palette: &Palette) {
        for (why, of) in &self.0 {
            let more = if of.len() > 3 { format!(" and {} more", of.len() - 3) } else { String::new() };
            let names = of.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            words_ui(ui, palette, &format!("– {names}{more}: {why}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::no_interval;

    #[test]
    fn an_interval_that_is_not_there_yet_is_not_called_undefined() {
        assert_eq!(no_interval(true, "no resamples were drawn").0, "being drawn…");
        assert_eq!(no_interval(false, "one item").0, "no interval");
    }
}
