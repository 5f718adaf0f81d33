//! Rating: the tab of the inspector for a quick opinion, and the page for sessions with a protocol.

mod end;
mod forms;
mod panes;
mod ranking;
mod results;
mod rubric_editor;
mod run;
mod sessions;
mod setup;
mod tab;

use std::collections::BTreeSet;

use egui::{CentralPanel, Frame, RichText, Ui};

use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::people::PeopleAction;
use crate::gui::widgets;

pub use panes::pane_id;
pub use tab::rate_ui;

/// Draws the Rating page: the running session, its end, the setup of a new one, or the list.
pub fn page_ui(ui: &mut Ui, cx: &Context<'_>) {
    let people = &cx.state.people;
    match (&people.open, &people.draft) {
        (Some(open), _) if open.is_done() => end::end_ui(ui, cx, open),
        (Some(open), _) => run::run_ui(ui, cx, open),
        (None, Some(draft)) => setup::setup_ui(ui, cx, draft),
        (None, None) => sessions::sessions_ui(ui, cx),
    }
}

/// Stands in the place of pages with scores while a blind session is underway, or while it is not known yet whether one is.
pub fn wall_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    CentralPanel::default().frame(Frame::new().fill(palette.background.0)).show(ui, |ui| {
        let height = ui.available_height();
        ui.vertical_centered(|ui| {
            ui.add_space((height * 0.3).max(24.0));
            if cx.state.people.sessions.is_none() {
                ui.spinner();
                return;
            }
            ui.heading(RichText::new("A blind session is underway").color(palette.text_strong.0));
            ui.add_space(4.0);
            ui.label("Models and scores stay hidden until it is done, so that they do not colour your answers.");
            ui.add_space(16.0);
            widgets::primary_button(ui, cx, Command::PageRate, true);
            ui.add_space(24.0);
            let others: BTreeSet<&str> = cx
                .state
                .people
                .sessions
                .iter()
                .flatten()
                .filter(|line| line.hides())
                .flat_map(|line| &line.hidden_for)
                .map(String::as_str)
                .collect();
            if !others.is_empty() {
                let names = others.into_iter().collect::<Vec<_>>().join(", ");
                ui.label(format!(
                    "Begun in this window by {names}. Another name shows no more: go on under the name that began, or archive the session."
                ));
                return;
            }
            if !cx.state.people.open.as_ref().is_some_and(|open| open.run.is_blind()) {
                ui.label("To see them before, go on with the session and come back here.");
                return;
            }
            let text = "Show models and scores";
            let meaning = "Ends the blind for you. The session goes on, and its log says from which answer on you could see them.";
            if ui.button(text).on_hover_text(meaning).clicked() {
                cx.send(Action::People(PeopleAction::Unblind));
            }
            ui.label(RichText::new(meaning).size(12.0).color(palette.text_dim.0));
        });
    });
}

/// Sends an action of the page.
fn send(cx: &Context<'_>, action: PeopleAction) {
    cx.send(Action::People(action));
}

/// A number of things with its word.
pub fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
