//! Says plainly that demo checkpoints know only the demo's scenes, and how to get the published ones.

use egui::{Button, Panel, RichText, Ui};

use crate::engine::ModelSource;
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};

use crate::engine::DEMO_NOTICE as NOTICE;
/// Draws the line, unless other networks are chosen or the person closed it.
pub fn notice_ui(ui: &mut Ui, cx: &Context<'_>) {
    if cx.settings.models != ModelSource::Demo || cx.state.notice_dismissed {
        return;
    }
    let palette = cx.palette(ui);
    let frame = egui::Frame::new().fill(palette.raised.0).inner_margin(egui::Margin::symmetric(10, 4));
    Panel::top("notice").frame(frame).resizable(false).show_separator_line(false).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new("ℹ").color(palette.info.0));
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
                    ui.add(egui::Label::new(RichText::new(NOTICE).size(12.0)).truncate()).on_hover_text(NOTICE);
                });
            });
        });
    });
}
