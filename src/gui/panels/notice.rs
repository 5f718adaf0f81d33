//! Says plainly that demo checkpoints know only the demo's scenes, and how to get the published ones; and where the networks that scored the
//! project are not those that are worked with.

use egui::{Button, Panel, RichText, Ui};

use crate::engine::{DEMO_NOTICE, ModelSource};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};

/// Draws the line, unless there is nothing to say or the person closed it.
pub fn notice_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let (mark, color, words) = match &cx.state.about_networks {
        _ if cx.state.notice_dismissed => return,
        Some(words) => ("⚠", palette.warning.0, words.as_str()),
        None if cx.settings.models == ModelSource::Demo => ("ℹ", palette.info.0, DEMO_NOTICE),
        None => return,
    };
    let frame = egui::Frame::new().fill(palette.raised.0).inner_margin(egui::Margin::symmetric(10, 4));
    Panel::top("notice").frame(frame).resizable(false).show_separator_line(false).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new(mark).color(color));
            // The buttons first: the words get what is left.
            crate::gui::widgets::right(ui, |ui| {
                let close = ui.add(Button::new("×").frame(false)).on_hover_text("Hide this line.");
                crate::gui::widgets::name(&close, egui::Role::Button, false, "Hide the notice");
                if close.clicked() {
                    cx.send(Action::DismissNotice);
                }
                let open = Command::OpenNetworks;
                if ui.button("Get the published networks…").on_hover_text(open.tooltip(ui.ctx())).clicked() {
                    cx.send(Action::Do(open));
                }
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    ui.add(egui::Label::new(RichText::new(words).size(12.0)).truncate()).on_hover_text(words);
                });
            });
        });
    });
}
