//! Cells that several tables of the page share: numbers with intervals, reasons of what is undefined, headings.

use std::collections::BTreeMap;

use egui::{Align, Label, Layout, RichText, ScrollArea, Ui, UiBuilder};
use egui_extras::{Column, TableBuilder, TableRow};

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
#[derive(Clone, Copy)]
pub(super) struct Head<'a> {
    pub label: &'a str,
    pub meaning: &'a str,
    pub width: f32,
}

impl<'a> Head<'a> {
    /// A column.
    pub(super) const fn new(label: &'a str, meaning: &'a str, width: f32) -> Self {
        Self { label, meaning, width }
    }
}

/// Which columns of a table one pass over its rows draws.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    /// The first ones, which stay in sight.
    First,
    /// All others, which scroll.
    Rest,
}

/// A row of a table: its cells in the order of the columns, as far as they are drawn in this pass.
pub(super) struct Row<'a, 'b> {
    inner: TableRow<'a, 'b>,
    part: Part,
    /// How many columns stay in sight.
    stay: usize,
    column: usize,
}

impl Row<'_, '_> {
    /// The place of the row in the table.
    pub(super) fn index(&self) -> usize {
        self.inner.index()
    }

    /// Marks the row as the chosen one.
    pub(super) fn set_selected(&mut self, selected: bool) {
        self.inner.set_selected(selected);
    }

    /// The next cell.
    pub(super) fn col(&mut self, add: impl FnOnce(&mut Ui)) {
        let first = self.column < self.stay;
        self.column += 1;
        if self.part == Part::All || first == (self.part == Part::First) {
            self.inner.col(add);
        }
    }
}

/// Between two columns, in points.
const GAP: f32 = 4.0;

/// A table as wide as its columns. Where it has less room, it scrolls sideways by itself, and its first column stays.
pub(super) fn table_ui(ui: &mut Ui, cx: &Context<'_>, salt: &str, heads: &[Head<'_>], rows: usize, row: impl FnMut(&mut Row<'_, '_>)) {
    table_staying_ui(ui, cx, salt, (heads, 1), rows, row);
}

/// The same, where the first `stay` columns together say what a row is about: they all stay.
pub(super) fn table_staying_ui(
    ui: &mut Ui,
    cx: &Context<'_>,
    salt: &str,
    (heads, stay): (&[Head<'_>], usize),
    rows: usize,
    mut row: impl FnMut(&mut Row<'_, '_>),
) {
    let palette = cx.palette(ui);
    let width = |heads: &[Head<'_>]| heads.iter().map(|head| head.width + GAP).sum::<f32>() - GAP;
    ui.push_id(salt, |ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        // Where they would leave no room for those that scroll, one stays.
        let fits = heads.get(..stay).is_some_and(|first| width(first) < ui.available_width() * 0.6);
        let stay = if fits { stay } else { 1.min(heads.len()) };
        let (first, rest) = heads.split_at(stay);
        if width(heads) <= ui.available_width() {
            part_ui(ui, palette, heads, (Part::All, stay), rows, &mut row);
            return;
        }
        let space = ui.available_rect_before_wrap();
        let (left, right) = space.split_left_right_at_x((space.left() + width(first) + GAP).min(space.right()));
        let beside = |salt: &str, rect| UiBuilder::new().id_salt(salt).max_rect(rect).layout(Layout::top_down(Align::Min));
        let mut staying = ui.new_child(beside("first", left));
        part_ui(&mut staying, palette, first, (Part::First, stay), rows, &mut row);
        let mut sliding = ui.new_child(beside("rest", right));
        ScrollArea::horizontal().id_salt("columns").show(&mut sliding, |ui| {
            // A scroll area shows a margin around itself; here it would show pieces of letters beside the columns that stay.
            let clip = ui.clip_rect().intersect(egui::Rect::everything_right_of(right.left()));
            ui.set_clip_rect(clip);
            part_ui(ui, palette, rest, (Part::Rest, stay), rows, &mut row);
            // So that the bar does not lie on the last row.
            ui.add_space(ui.spacing().scroll.bar_width + 2.0);
        });
        ui.advance_cursor_after_rect(staying.min_rect().union(sliding.min_rect()));
    });
}

fn part_ui(
    ui: &mut Ui,
    palette: &Palette,
    heads: &[Head<'_>],
    (part, stay): (Part, usize),
    rows: usize,
    row: &mut impl FnMut(&mut Row<'_, '_>),
) {
    let mut table = TableBuilder::new(ui).striped(true).vscroll(false).cell_layout(Layout::left_to_right(Align::Center));
    for head in heads {
        table = table.column(Column::exact(head.width).clip(true));
    }
    let header = |ui: &mut Ui, head: &Head<'_>| {
        let label = ui.label(RichText::new(head.label).size(11.5).color(palette.text_dim.0));
        if !head.meaning.is_empty() {
            label.on_hover_text(head.meaning);
        }
    };
    table
        .header(22.0, |mut cells| {
            for head in heads {
                cells.col(|ui| header(ui, head));
            }
        })
        .body(|body| body.rows(ROW, rows, |inner| row(&mut Row { inner, part, stay, column: 0 })));
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
