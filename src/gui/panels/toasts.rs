//! Short messages in the lower right corner; in a running session on the left, where pictures and no buttons are.

use egui::{Align2, Area, Button, Id, Order, RichText, Ui, vec2};

use crate::engine::Level;
use crate::gui::context::{Action, Context};
use crate::gui::state::Page;

/// Draws the messages, newest at the bottom.
pub fn toasts_ui(ui: &mut Ui, cx: &Context<'_>) {
    if cx.state.toasts.is_empty() {
        return;
    }
    let palette = cx.palette(ui);
    let rates = cx.state.page == Page::Rate && cx.state.people.open.as_ref().is_some_and(|open| !open.is_done());
    let (corner, offset) = if rates { (Align2::LEFT_BOTTOM, vec2(12.0, -64.0)) } else { (Align2::RIGHT_BOTTOM, vec2(-12.0, -44.0)) };
    Area::new(Id::unique("toasts")).order(Order::Foreground).anchor(corner, offset).show(ui.ctx(), |ui| {
        for toast in &cx.state.toasts {
            let (sign, color) = match toast.level {
                Level::Info => ("ℹ", palette.info.0),
                Level::Warning => ("⚠", palette.warning.0),
                Level::Error => ("✖", palette.bad.0),
            };
            egui::Frame::popup(ui.style()).fill(palette.raised.0).inner_margin(10).show(ui, |ui| {
                ui.set_width(360.0);
                ui.horizontal_top(|ui| {
                    ui.label(RichText::new(sign).color(color));
                    ui.add(egui::Label::new(RichText::new(&toast.text)).wrap());
                });
                ui.horizontal(|ui| {
                    ui.add_space(ui.spacing().interact_size.y);
                    if ui.add(Button::new("Dismiss").small()).clicked() {
                        cx.send(Action::DismissToast(toast.id));
                    }
                    if toast.level != Level::Info && ui.add(Button::new("Copy").small()).clicked() {
                        cx.send(Action::CopyText(toast.text.clone()));
                    }
                });
            });
        }
    });
}
