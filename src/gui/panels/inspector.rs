//! The inspector: tabs about the selected edit.

use egui::{Button, RichText, ScrollArea, Ui};

use super::{history, parse, rate, regions, score};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::state::Tab;

const TABS: [(Command, Tab); 5] = [
    (Command::TabScore, Tab::Score),
    (Command::TabParse, Tab::Parse),
    (Command::TabRegions, Tab::Regions),
    (Command::TabRate, Tab::Rate),
    (Command::TabHistory, Tab::History),
];

/// Draws the panel.
pub fn inspector_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for (command, tab) in TABS {
            let button = Button::selectable(cx.state.tab == tab, command.label());
            if ui.add(button).on_hover_text(command.tooltip(ui.ctx())).clicked() {
                cx.send(Action::Do(command));
            }
        }
    });
    ui.separator();
    let Some(row) = cx.state.queue.selected_row() else {
        ui.label(RichText::new("Nothing is selected.").color(palette.text_dim.0));
        return;
    };
    let Some(details) = cx.state.details.as_deref().filter(|details| details.id == row.id) else {
        ui.spinner();
        return;
    };
    // What does not fit although words wrap can be scrolled to: nothing is cut off.
    let width = ui.available_width();
    ScrollArea::both().id_salt(("inspector", cx.state.tab as u8)).auto_shrink(false).show(ui, |ui| {
        ui.set_max_width(width);
        match cx.state.tab {
            Tab::Score => score::score_ui(ui, cx, row, details),
            Tab::Parse => parse::parse_ui(ui, cx, details),
            Tab::Regions => regions::regions_ui(ui, cx, details),
            Tab::Rate => rate::rate_ui(ui, cx, details),
            Tab::History => {
                regions::journal_ui(ui, cx, details);
                history::history_ui(ui, cx, details);
            }
        }
    });
}
