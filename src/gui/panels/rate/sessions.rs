//! The sessions of the project: go on with one, or make one.

use egui::{Button, CentralPanel, CollapsingHeader, Frame, Label, Margin, RichText, ScrollArea, Ui};

use super::tab::rater_ui;
use super::{plural, send};
use crate::domain::{Protocol, SessionSetup, names_alike};
use crate::gui::context::Context;
use crate::gui::people::{PeopleAction, SessionLine};
use crate::gui::widgets;

/// Points that a line of text is wide at most, so that it can be read.
const WIDTH: f32 = 760.0;

/// Points of it that the buttons of a session take.
const BUTTONS: f32 = 200.0;

/// Draws the list.
pub fn sessions_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    CentralPanel::default().frame(Frame::new().fill(palette.background.0).inner_margin(Margin::symmetric(24, 20))).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(WIDTH);
            ui.heading(RichText::new("Rating sessions").color(palette.text_strong.0));
            ui.add_space(4.0);
            let text = "A session asks every rater the same things, each in an order of their own: questions about an edit, which of \
                        two is better, or a ranking. Blind, if you wish, with repeats and attention checks.";
            ui.add(Label::new(RichText::new(text).color(palette.text_dim.0)).wrap());
            ui.add_space(12.0);
            ui.horizontal(|ui| {
                rater_ui(ui, cx);
                widgets::right(ui, |ui| {
                    let words = RichText::new("New session…").color(palette.on_accent.0).strong();
                    let new = ui
                        .add(Button::new(words).fill(palette.accent.0))
                        .on_hover_text("Protocol, rubric, blind, repeats, which edits.  [N]");
                    if new.clicked() {
                        send(cx, PeopleAction::NewSetup);
                    }
                });
            });
            ui.add_space(12.0);
            match &cx.state.people.sessions {
                None => {
                    ui.spinner();
                }
                Some(lines) if lines.is_empty() => {
                    ui.label(
                        "This project has no session yet. “New session…” makes one; other raters find it in their copies of the project.",
                    );
                }
                Some(lines) => lines_ui(ui, cx, lines),
            }
        });
    });
}

fn lines_ui(ui: &mut Ui, cx: &Context<'_>, lines: &[SessionLine]) {
    let listed = lines.iter().rev().filter(|line| !line.archived);
    listed.enumerate().for_each(|(place, line)| line_ui(ui, cx, Some(place), line));
    let archived: Vec<&SessionLine> = lines.iter().rev().filter(|line| line.archived).collect();
    if archived.is_empty() {
        return;
    }
    CollapsingHeader::new(format!("Archived ({})", archived.len())).show(ui, |ui| {
        archived.into_iter().for_each(|line| line_ui(ui, cx, None, line));
    });
}

/// One session; `place` counts from 0 where a digit opens it.
fn line_ui(ui: &mut Ui, cx: &Context<'_>, place: Option<usize>, line: &SessionLine) {
    let palette = cx.palette(ui);
    let first = cx.state.people.first_open().is_some_and(|first| first.uid == line.uid);
    let setup = &line.setup;
    Frame::new().fill(palette.panel.0).corner_radius(6).inner_margin(Margin::symmetric(14, 10)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 3.0;
                ui.set_max_width((ui.available_width() - BUTTONS).max(120.0));
                let line_of = |ui: &mut Ui, text: RichText| drop(ui.add(Label::new(text).wrap()));
                line_of(ui, RichText::new(&setup.name).strong().size(14.0).color(palette.text_strong.0));
                let what = match &setup.protocol {
                    Protocol::Rubric { rubric } => format!("Rubric: {}", rubric.name),
                    Protocol::Pairwise => "Pairwise: which of two edits is better".to_owned(),
                    Protocol::Ranking => "Ranking: the edits of an item in order".to_owned(),
                };
                let blind = if setup.blind { "blind" } else { "models and scores visible" };
                // The filter may name a model.
                let which = if setup.blind { plural(setup.edits.len(), "edit") } else { setup.which.clone() };
                line_of(ui, RichText::new(format!("{what} · {blind} · {which}{}", extras(setup))).size(12.0));
                line_of(ui, RichText::new(said(line)).size(12.0).color(palette.text_dim.0));
                if let Some(hint) = alike(&line.raters, line.begun, &cx.settings.rater_name()) {
                    line_of(ui, RichText::new(hint).size(12.0).color(palette.warning.0));
                }
            });
            widgets::right(ui, |ui| {
                let label = match (line.begun, line.is_underway()) {
                    (false, _) => "Begin",
                    (true, true) => "Go on",
                    (true, false) => "Results",
                };
                let button = ui.add(Button::new(label).min_size(egui::vec2(84.0, 28.0)));
                widgets::name(&button, egui::Role::Button, false, format!("{label}: {}", setup.name));
                let digit = place.filter(|place| *place < 9).map(|place| format!("[{}]", place + 1));
                let keys: Vec<String> = first.then(|| "[Enter]".to_owned()).into_iter().chain(digit).collect();
                let button = if keys.is_empty() { button } else { button.on_hover_text(keys.join(" ")) };
                if button.clicked() {
                    send(cx, PeopleAction::Open(line.uid.clone()));
                }
                archive_ui(ui, cx, line);
            });
        });
    });
    ui.add_space(6.0);
}

fn archive_ui(ui: &mut Ui, cx: &Context<'_>, line: &SessionLine) {
    let (label, meaning) = if line.archived {
        ("Bring back", "Lists the session among the others again.")
    } else if line.hides() {
        (
            "Archive",
            "Puts the session away; its answers stay and count. It hides nothing any more, and its log says that you are not blind from now on.",
        )
    } else {
        ("Archive", "Puts the session away; nothing is deleted, and its answers count.")
    };
    let button = ui.button(label);
    widgets::name(&button, egui::Role::Button, false, format!("{label}: {}", line.setup.name));
    if button.on_hover_text(meaning).clicked() {
        send(cx, PeopleAction::Archive(line.uid.clone(), !line.archived));
    }
}

/// Repeats and checks of a session, where it has any.
fn extras(setup: &SessionSetup) -> String {
    let repeats = if setup.repeat_percent > 0 { format!(" · {} % asked twice", setup.repeat_percent) } else { String::new() };
    let checks = if setup.checks > 0 { format!(" · {}", plural(usize::from(setup.checks), "check")) } else { String::new() };
    repeats + &checks
}

/// How far the rater is, and who else has answered.
fn said(line: &SessionLine) -> String {
    let progress = line.progress;
    let mine = match (line.begun, progress.skipped) {
        (false, _) => format!("{}, not begun", plural(progress.total, "task")),
        (true, 0) => format!("{} of {} answered", progress.done, progress.total),
        (true, skipped) => format!("{} of {} answered, {skipped} skipped", progress.done, progress.total),
    };
    let raters =
        if line.raters.is_empty() { "nobody has answered yet".to_owned() } else { format!("answers of {}", line.raters.join(", ")) };
    format!("{mine} · {raters}")
}

/// Whether somebody with nearly the rater's name has answered: retyped in another case, a session looks as if it was not begun.
fn alike(raters: &[String], begun: bool, rater: &str) -> Option<String> {
    if begun || rater.is_empty() {
        return None;
    }
    let names = names_alike(raters.iter().map(String::as_str).chain([rater]));
    let other = names.into_iter().flatten().find(|name| *name != rater && !names_alike([*name, rater]).is_empty())?;
    Some(format!("'{other}' has answered here; if that is you, write your name just so to go on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_another_case_is_asked_about_where_the_session_looks_untouched() {
        let raters = ["Kim".to_owned(), "jo".to_owned()];
        let hint = alike(&raters, false, "kim").expect("Kim is nearly kim");
        assert!(hint.starts_with("'Kim' has answered here"), "{hint}");
        assert_eq!([alike(&raters, true, "kim"), alike(&raters, false, "Kim"), alike(&raters, false, "lee")], [None, None, None]);
    }
}
