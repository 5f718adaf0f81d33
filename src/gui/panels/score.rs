//! The score of the selected edit: the overall, the parts before and after correction, the item's other edits, and what is behind them.

use egui::{Button, Grid, Label, RichText, Role, Sense, Ui, vec2};

use super::queue::model_name;
use super::queue_row::share;
use super::{firmness, localization, measures, paste_back, trace};
use crate::domain::{Outcome, Parts, TraceKind};
use crate::editor::{Automatic, Combined, EditDetails, Filter, Row, ShowOnly};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::rescore::{Reveal, ShownScore};
use crate::gui::theme::Palette;
use crate::gui::widgets::{self, outcome_text, section};

/// Draws the tab.
pub fn score_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row, details: &EditDetails) {
    let palette = cx.palette(ui);
    let Some(shown) = cx.state.audit.shown(details) else {
        ui.add_space(8.0);
        if details.made_by.is_empty() {
            ui.label("This edit has no score yet under this profile.");
        } else {
            ui.add(Label::new(RichText::new(&details.made_by).color(palette.bad.0)).wrap());
        }
        ui.horizontal(|ui| {
            widgets::primary_button(ui, cx, Command::ScoreSelected, true);
            widgets::command_button(ui, cx, Command::ScoreAll, true);
        });
        siblings_ui(ui, cx, row);
        return;
    };
    overall_ui(ui, cx, row, details, &shown);
    section(ui, palette, "Parts");
    parts_ui(ui, cx, details, &shown);
    flags_ui(ui, cx, row);
    localization::change_ui(ui, cx, shown.score);
    siblings_ui(ui, cx, row);
    trace::trace_ui(ui, cx, row, details, &shown);
    firmness::firmness_ui(ui, cx, details, &shown);
    paste_back::paste_back_ui(ui, cx, details, &shown);
    localization::candidates_ui(ui, cx, details, &shown);
    measures::measures_ui(ui, cx, details);
}

/// Scrolls here, if a key asked for this section.
pub fn reveal(ui: &Ui, cx: &Context<'_>, section: Reveal) {
    if cx.state.audit.reveal == Some(section) {
        ui.scroll_to_cursor(Some(egui::Align::TOP));
    }
}

fn overall_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row, details: &EditDetails, shown: &ShownScore<'_>) {
    let palette = cx.palette(ui);
    let waiting = !shown.pending.is_none();
    ui.horizontal(|ui| {
        let (text, why) = match shown.combined.as_ref().map(|combined| &combined.overall) {
            _ if waiting => (RichText::new("…").size(30.0).color(palette.text_dim.0), None),
            Some(Outcome::Value(value)) => (RichText::new(format!("{value:.3}")).size(30.0).color(palette.text_strong.0), None),
            Some(Outcome::NotApplicable(why)) => (RichText::new("n/a").size(26.0).color(palette.text_dim.0), Some(why.as_str())),
            Some(Outcome::Failed(why)) => (RichText::new("failed").size(26.0).color(palette.bad.0), Some(why.as_str())),
            None => (
                RichText::new("–").size(30.0).color(palette.text_dim.0),
                Some("There is no range to put modify and preserve on one scale."),
            ),
        };
        ui.label(text);
        ui.vertical(|ui| {
            ui.add_space(4.0);
            let global = if shown.score.global { " · global edit" } else { "" };
            ui.add(Label::new(RichText::new(format!("BPM · profile {}{global}", shown.score.profile)).strong()).wrap());
            if let Some(why) = why {
                ui.add(Label::new(RichText::new(why).size(12.0).color(palette.warning.0)).wrap());
            } else if let Some(combined) = &shown.combined {
                ui.add(Label::new(RichText::new(format!("range: {}", combined.range)).size(12.0).color(palette.text_dim.0)).wrap());
            }
        });
    });
    if let Some(automatic) = &details.audit.automatic {
        corrected_ui(ui, cx, row, automatic, shown);
    }
    if let Some(why) = shown.outdated {
        outdated_ui(ui, cx, why);
    } else if waiting {
        let text =
            RichText::new("… Some parts are being computed; the others already follow the correction.").size(12.0).color(palette.info.0);
        ui.add(Label::new(text).wrap());
    }
    if !details.made_by.is_empty() {
        ui.add(Label::new(RichText::new(&details.made_by).size(11.5).color(palette.text_dim.0)).wrap());
    }
}

/// That what stands here is not the score of now, and why.
fn outdated_ui(ui: &mut Ui, cx: &Context<'_>, why: &str) {
    let text = RichText::new(format!("⚠ score outdated: {why}")).color(cx.palette(ui).warning.0);
    ui.add(Label::new(text).wrap());
    widgets::command_button(ui, cx, Command::ScoreSelected, true);
}

/// What the correction did to the overall, and to the edit's rank among those of its item.
fn corrected_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row, automatic: &Automatic, shown: &ShownScore<'_>) {
    let palette = cx.palette(ui);
    let overall = |combined: &Option<Combined>| combined.as_ref().and_then(|combined| combined.overall.value().copied());
    let (before, after) = (overall(&automatic.combined), overall(&shown.combined).filter(|_| shown.pending.is_none()));
    let text = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.3}"));
    let mut words =
        format!("automatic {} → corrected {}", text(before), if shown.pending.is_none() { text(after) } else { "…".to_owned() });
    if let (Some(before), Some(after)) = (before, after) {
        // Kept together where the line wraps.
        words.push_str(&format!("   Δ\u{a0}{:+.3}", after - before));
    }
    ui.add(Label::new(RichText::new(words).monospace().color(palette.text_strong.0)).wrap())
        .on_hover_text("What the metric said by itself, and with a person's regions and parse. Both are kept and exported.");
    let others: Vec<f64> =
        cx.state.queue.siblings(row).filter(|other| other.id != row.id).filter_map(|other| other.overall.value()).collect();
    let rank = |value: f64| 1 + others.iter().filter(|other| **other > value).count();
    if let (Some(before), Some(after)) = (before.map(rank), after.map(rank)) {
        let edits = others.len() + 1;
        let words =
            if before == after { format!("rank {after} of {edits}, as before") } else { format!("rank {before} → {after} of {edits}") };
        ui.label(RichText::new(words).size(12.0).color(palette.text.0))
            .on_hover_text("Place among the edits of this item by their overall.");
    }
}

fn parts_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, shown: &ShownScore<'_>) {
    let palette = cx.palette(ui);
    let automatic = details.audit.automatic.as_ref();
    let headings: &[&str] =
        if automatic.is_some() { &["", "automatic", "corrected", "Δ", "in range"] } else { &["", "", "value", "in range"] };
    Grid::new("parts").num_columns(headings.len()).spacing(vec2(10.0, 5.0)).show(ui, |ui| {
        for heading in headings {
            ui.label(RichText::new(*heading).size(11.0).color(palette.text_dim.0));
        }
        ui.end_row();
        for (index, name) in Parts::NAMES.into_iter().enumerate() {
            let Some(part) = shown.score.parts.get(name) else { continue };
            let mut hovered = ui.add(Label::new(name).sense(Sense::hover())).hovered();
            let before = automatic.and_then(|automatic| automatic.score.parts.get(name));
            match before {
                Some(before) => {
                    hovered |= ui.label(outcome_text(before, palette)).hovered();
                }
                None => {
                    let share = part.value().map(|value| f64::from(share(index, *value)));
                    hovered |= widgets::bar(ui, palette, share, vec2(86.0, 10.0), palette.accent.0).hovered();
                }
            }
            if shown.pending.has(name) {
                hovered |= pending_ui(ui, cx, shown.outdated.is_some()).hovered();
            } else {
                hovered |= ui.label(outcome_text(part, palette)).hovered();
            }
            if let Some(before) = before {
                ui.label(change_text(before, part, palette));
            }
            match normalised(shown, name).filter(|_| !shown.pending.has(name)) {
                Some(outcome) => ui.label(outcome_text(outcome, palette)),
                None => ui.label(RichText::new("").monospace()),
            };
            if hovered {
                cx.send(Action::Highlight(kind_of(name)));
            }
            ui.end_row();
        }
    });
    for name in Parts::NAMES.into_iter().filter(|name| !shown.pending.has(name)) {
        if let Some(why) = shown.score.parts.get(name).and_then(Outcome::why) {
            ui.add(Label::new(RichText::new(format!("{name}: {why}")).size(12.0).color(palette.text_dim.0)).wrap());
        }
    }
}

fn pending_ui(ui: &mut Ui, cx: &Context<'_>, given_up: bool) -> egui::Response {
    let (words, meaning) = if given_up {
        ("not computed", "This part needs a network, which did not answer; the reason stands above.")
    } else {
        ("computing…", "This part waits for a network; it comes in the background.")
    };
    ui.label(RichText::new(words).size(11.5).italics().color(cx.palette(ui).info.0)).on_hover_text(meaning)
}

fn normalised<'a>(shown: &'a ShownScore<'_>, name: &str) -> Option<&'a Outcome<f64>> {
    let combined = shown.combined.as_ref()?;
    match name {
        "modify" => Some(&combined.modify),
        "preserve" => Some(&combined.preserve),
        _ => None,
    }
}

/// The change of a part, with its sign.
fn change_text(before: &Outcome<f64>, after: &Outcome<f64>, palette: &Palette) -> RichText {
    match (before.value(), after.value()) {
        (Some(before), Some(after)) if before == after => RichText::new("     0").monospace().color(palette.text_dim.0),
        (Some(before), Some(after)) => RichText::new(format!("{:>+6.3}", after - before)).monospace().color(palette.text_strong.0).strong(),
        _ => RichText::new("     –").monospace().color(palette.text_dim.0),
    }
}

fn kind_of(part: &str) -> TraceKind {
    match part {
        "size" => TraceKind::Size,
        "position" => TraceKind::Position,
        "modify" => TraceKind::Modify,
        _ => TraceKind::Preserve,
    }
}

fn flags_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row) {
    let palette = cx.palette(ui);
    if row.flags.is_empty() {
        return;
    }
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        for flag in row.flags.iter() {
            let text = RichText::new(format!("⚠ {}", flag.label())).size(11.5).color(palette.warning.0);
            let tooltip = format!("{} Click to see all edits with this flag.", flag.meaning());
            if ui.add(Button::new(text).small()).on_hover_text(tooltip).clicked() {
                cx.send(Action::SetFilter(Filter { only: ShowOnly::With(flag), ..cx.state.queue.filter().clone() }));
            }
        }
    });
}

/// The edits of the same item, best first where they are scored.
fn siblings_ui(ui: &mut Ui, cx: &Context<'_>, row: &Row) {
    let palette = cx.palette(ui);
    let mut siblings: Vec<&Row> = cx.state.queue.siblings(row).collect();
    if siblings.len() < 2 {
        return;
    }
    siblings.sort_by(|a, b| b.overall.value().unwrap_or(f64::NEG_INFINITY).total_cmp(&a.overall.value().unwrap_or(f64::NEG_INFINITY)));
    section(ui, palette, "Edits of this item");
    for sibling in siblings {
        let selected = sibling.id == row.id;
        let width = ui.available_width();
        let (rect, response) = ui.allocate_exact_size(vec2(width, 22.0), Sense::click());
        widgets::name(&response, Role::ListItem, selected, format!("sibling {}", model_name(&sibling.model)));
        let fill = match (selected, response.hovered()) {
            (true, _) => palette.selection.0,
            (false, true) => palette.hovered.0,
            (false, false) => palette.panel.0,
        };
        ui.painter().rect_filled(rect, 3.0, fill);
        let font = egui::FontId::proportional(12.5);
        let mono = egui::FontId::monospace(12.0);
        let painter = ui.painter().with_clip_rect(rect);
        let people = sibling.human().map_or_else(|| "people   –".to_owned(), |mean| format!("people {mean:.1}"));
        let overall = widgets::cell_text(sibling.overall, palette).text().to_owned();
        let right = rect.right_center() - vec2(6.0, 0.0);
        painter.text(right, egui::Align2::RIGHT_CENTER, people, mono.clone(), palette.text_dim.0);
        painter.text(right - vec2(92.0, 0.0), egui::Align2::RIGHT_CENTER, overall, mono, palette.text_strong.0);
        let name = painter.with_clip_rect(rect.with_max_x(rect.right() - 150.0));
        name.text(rect.left_center() + vec2(6.0, 0.0), egui::Align2::LEFT_CENTER, model_name(&sibling.model), font, palette.text.0);
        if response.clicked() {
            cx.send(Action::Select(sibling.id));
        }
    }
}
