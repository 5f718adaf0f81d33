//! What opens over the page: settings and the key sheet.

use egui::{Button, Id, Label, Modal, RichText, ScrollArea, TextEdit, Ui};

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
use crate::gui::typed_path::PathAction;
use crate::gui::widgets::{right, section};

/// Draws the open dialog, if there is one.
pub fn dialogs_ui(ui: &mut Ui, cx: &Context<'_>) {
    let Some(dialog) = cx.state.dialog else { return };
    let (title, width): (&str, f32) = match dialog {
        Dialog::Settings => ("Settings", 520.0),
        Dialog::Networks => ("Published networks", 640.0),
        Dialog::Keys => ("Keys", 960.0),
        Dialog::Path => (cx.state.typed_path.as_ref().map_or("", |typed| typed.title()), 560.0),
        Dialog::Commands => ("Find a command", 560.0),
        Dialog::Columns => ("Ratings from a table", 860.0),
        Dialog::Leaving => ("Not everything is saved", 480.0),
    };
    let modal = Modal::new(Id::unique("dialog")).show(ui.ctx(), |ui| {
        ui.set_width(width.min(ui.ctx().content_rect().width() - 48.0));
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
            Dialog::Keys => {
                // Higher than some windows: the rest is scrolled to.
                let height = (ui.ctx().content_rect().height() - KEYS_FRAME).max(80.0);
                ScrollArea::vertical().max_height(height).show(ui, |ui| keys_ui(ui, cx));
            }
            Dialog::Path => path_ui(ui, cx),
            Dialog::Commands => commands_ui(ui, cx),
            Dialog::Columns => columns_ui(ui, cx),
            Dialog::Leaving => leaving_ui(ui, cx),
        }
    });
    if modal.should_close() {
        cx.send(Action::CloseDialog);
    }
}

/// Height of the key sheet's frame, its heading and the margin to the window, in points.
const KEYS_FRAME: f32 = 110.0;

/// A path that is typed, where the system has no file dialog.
fn path_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let Some(typed) = &cx.state.typed_path else { return };
    ui.add(Label::new(RichText::new(&typed.because).size(12.0).color(palette.text_dim.0)).wrap());
    ui.add_space(4.0);
    let label = ui.label(format!("{}, as a path", typed.wanted()));
    let mut text = typed.text.clone();
    let field = TextEdit::singleline(&mut text).desired_width(f32::INFINITY).show(ui);
    let (mut cursor, field) = (field.state, field.response.response.labelled_by(label.id));
    if typed.fresh {
        field.request_focus();
        // Not where the last path was left.
        let end = egui::text::CCursor::new(text.chars().count());
        cursor.cursor.set_char_range(Some(egui::text::CCursorRange::one(end)));
        cursor.store(ui.ctx(), field.id);
    }
    if field.changed() {
        cx.send(Action::TypedPath(PathAction::Type(text)));
    }
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    if let Some(why) = &typed.objection {
        ui.add(Label::new(RichText::new(format!("⚠ {why}")).color(palette.warning.0)).wrap());
    }
    ui.add_space(4.0);
    if ui.button("OK").clicked() || entered {
        cx.send(Action::TypedPath(PathAction::Done));
    }
}

fn keys_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let columns = [
        &[Group::Queue, Group::Rate, Group::View][..],
        &[Group::Tools, Group::Compare],
        &[Group::Overlays, Group::Inspector, Group::Project, Group::Window],
    ];
    // The bar of the list is drawn over it and must hide nothing.
    ui.set_max_width(ui.available_width() - 14.0);
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
    ui.horizontal_top(|ui| {
        egui::Frame::new().fill(palette.raised.0).corner_radius(3).inner_margin(egui::Margin::symmetric(6, 1)).show(ui, |ui| {
            ui.set_min_width(58.0);
            ui.label(RichText::new(key).monospace().size(11.5));
        });
        ui.vertical(|ui| ui.add(egui::Label::new(label).wrap()));
    });
}
