//! What opens over the page: settings and the key sheet.

use egui::{Button, Id, Modal, RichText, Ui, vec2};

use super::columns::columns_ui;
use super::commands::commands_ui;
use super::leaving::leaving_ui;
use super::networks::networks_ui;
use super::settings::settings_ui;
use crate::domain::ProtocolKind;
use crate::gui::command::{Command, Group};
use crate::gui::context::{Action, Context};
use crate::gui::people::keys::keys_of;
use crate::gui::state::Dialog;
use crate::gui::tool_keys::TOOL_KEYS;
use crate::gui::widgets::{right, section};

/// Draws the open dialog, if there is one.
pub fn dialogs_ui(ui: &mut Ui, cx: &Context<'_>) {
    let Some(dialog) = cx.state.dialog else { return };
    let (title, width) = match dialog {
        Dialog::Settings => ("Settings", 520.0),
        Dialog::Networks => ("Published networks", 640.0),
        Dialog::Keys => ("Keys", 760.0),
        Dialog::Commands => ("Find a command", 560.0),
        Dialog::Columns => ("Ratings from a table", 860.0),
        Dialog::Leaving => ("Not everything is saved", 480.0),
    };
    let modal = Modal::new(Id::unique("dialog")).show(ui.ctx(), |ui| {
        ui.set_width(width);
        ui.horizontal(|ui| {
            ui.heading(title);
            right(ui, |ui| {
                if ui.add(Button::new("Close")).on_hover_text("Esc closes too.").clicked() {
                    cx.send(Action::CloseDialog);
                }
            });
        });
        ui.separator();
        match dialog {
            Dialog::Settings => settings_ui(ui, cx),
            Dialog::Networks => networks_ui(ui, cx),
            Dialog::Keys => keys_ui(ui, cx),
            Dialog::Commands => commands_ui(ui, cx),
            Dialog::Columns => columns_ui(ui, cx),
            Dialog::Leaving => leaving_ui(ui, cx),
        }
    });
    if modal.should_close() {
        cx.send(Action::CloseDialog);
    }
}

fn keys_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let columns = [
        &[Group::Queue, Group::Rate, Group::View][..],
        &[Group::Tools, Group::Compare],
        &[Group::Overlays, Group::Inspector, Group::Project, Group::Window],
    ];
    ui.columns(3, |uis| {
        for (ui, groups) in uis.iter_mut().zip(columns) {
            for group in groups {
                section(ui, palette, group.label());
                group_ui(ui, cx, *group);
                if *group == Group::Tools {
                    tool_keys_ui(ui, cx);
                }
            }
        }
    });
    session_keys_ui(ui, cx);
    ui.add_space(8.0);
    let text = "Keys without Ctrl do nothing while text is being typed. Wheel: zoom to the cursor. Drag: move. Double click: fit.";
    ui.label(RichText::new(text).size(12.0).color(palette.text_dim.0));
}

/// Keys that the tools take only while they have a use for them.
fn tool_keys_ui(ui: &mut Ui, cx: &Context<'_>) {
    for (key, does) in TOOL_KEYS {
        key_ui(ui, cx, key, does);
    }
}

/// The keys of a running session, which replace those above on the Rating page.
fn session_keys_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    section(ui, palette, "In a rating session");
    for kind in ProtocolKind::ALL {
        let keys: Vec<String> = keys_of(kind).map(|key| format!("{} {}", key.key, key.does)).collect();
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(kind.name()).strong().size(12.0));
            ui.label(RichText::new(keys.join(" · ")).size(12.0).color(palette.text_dim.0));
        });
    }
}

fn group_ui(ui: &mut Ui, cx: &Context<'_>, group: Group) {
    for command in Command::all().filter(|command| command.group() == group) {
        let Some(key) = command.shortcut_text(ui.ctx()) else { continue };
        key_ui(ui, cx, &key, command.label());
    }
}

fn key_ui(ui: &mut Ui, cx: &Context<'_>, key: &str, label: &str) {
    let palette = cx.palette(ui);
    ui.horizontal(|ui| {
        egui::Frame::new().fill(palette.raised.0).corner_radius(3).inner_margin(egui::Margin::symmetric(6, 1)).show(ui, |ui| {
            ui.set_min_width(58.0);
            ui.label(RichText::new(key).monospace().size(11.5));
        });
        ui.allocate_ui(vec2(ui.available_width(), 18.0), |ui| {
            ui.add(egui::Label::new(label).truncate());
        });
    });
}
