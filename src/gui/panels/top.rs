//! The bar at the top: menu, pages, project name, the main button.

use egui::{Button, Panel, RichText, Ui};

use crate::editor::Job;
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::state::{Page, ProjectState};
use crate::gui::widgets::{command_menu_item, primary_button, right};

/// Draws the bar.
pub fn top_bar_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let open = cx.state.info().is_some();
    let frame = egui::Frame::new().fill(palette.panel.0).inner_margin(egui::Margin::symmetric(10, 6));
    Panel::top("top bar").frame(frame).resizable(false).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.menu_button("Project", |ui| {
                command_menu_item(ui, cx, Command::OpenProject, true);
                command_menu_item(ui, cx, Command::ImportData, true);
                command_menu_item(ui, cx, Command::ImportRatings, open);
                command_menu_item(ui, cx, Command::MakeDemo, true);
                ui.separator();
                command_menu_item(ui, cx, Command::ExportScores, open);
                command_menu_item(ui, cx, Command::WriteReport, cx.state.agreement.shown().is_some());
                ui.separator();
                command_menu_item(ui, cx, Command::ScoreAll, open);
                command_menu_item(ui, cx, Command::ScoreSelected, cx.state.queue.selected().is_some());
                ui.separator();
                command_menu_item(ui, cx, Command::FindCommand, true);
            });
            ui.add_space(4.0);
            page_tab(ui, cx, Command::PageAudit, Page::Audit, open);
            page_tab(ui, cx, Command::PageAgreement, Page::Agreement, open);
            page_tab(ui, cx, Command::PageRate, Page::Rate, open);
            ui.add_space(8.0);
            right(ui, |ui| {
                for (command, sign) in [
                    (Command::KeySheet, "?"),
                    (Command::FindCommand, "Commands"),
                    (Command::SwitchTheme, "◐"),
                    (Command::OpenSettings, "Settings"),
                ] {
                    let button = ui.add(Button::new(sign).min_size(egui::vec2(28.0, 24.0))).on_hover_text(command.tooltip(ui.ctx()));
                    crate::gui::widgets::name(&button, egui::Role::Button, false, command.label());
                    if button.clicked() {
                        cx.send(Action::Do(command));
                    }
                }
                ui.add_space(4.0);
                let running = cx.state.jobs.0.iter().any(Job::is_active);
                primary_button(ui, cx, Command::ScoreAll, open && !running);
                ui.add_space(8.0);
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| title_ui(ui, cx));
            });
        });
    });
}

fn title_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    match &cx.state.project {
        ProjectState::None => {}
        ProjectState::Opening(path) => {
            ui.spinner();
            ui.label(format!("Opening {}", path.file_name().unwrap_or_default().to_string_lossy()));
        }
        ProjectState::Open(info) => {
            ui.label(RichText::new(&info.name).strong().color(palette.text_strong.0)).on_hover_text(info.path.display().to_string());
            if let Some(why) = &info.only_read {
                ui.label(RichText::new("⚠ only to read").color(palette.warning.0)).on_hover_text(why);
            }
            let edits = cx.state.queue.rows().len();
            let text = format!("{} items · {edits} edits · {} models", info.items, cx.state.queue.models().len());
            ui.add(egui::Label::new(RichText::new(text).color(palette.text_dim.0)).truncate());
        }
        ProjectState::Failed { .. } => {
            ui.label(RichText::new("⚠ The project could not be opened").color(palette.bad.0));
        }
    }
}

fn page_tab(ui: &mut Ui, cx: &Context<'_>, command: Command, page: Page, enabled: bool) {
    let button = Button::selectable(cx.state.page == page && enabled, command.label());
    if ui.add_enabled(enabled, button).on_hover_text(command.tooltip(ui.ctx())).clicked() {
        cx.send(Action::Do(command));
    }
}
