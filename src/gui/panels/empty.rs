//! What to do when nothing is open: three ways to begin.

use egui::{Align2, CentralPanel, RichText, Ui, vec2};

use crate::gui::command::Command;
use crate::gui::context::Context;
use crate::gui::state::ProjectState;
use crate::gui::widgets::{command_button, primary_button};

/// Draws the start page, the wait for a project, or why it could not be opened.
pub fn empty_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    CentralPanel::default().frame(egui::Frame::new().fill(palette.background.0)).show(ui, |ui| {
        let height = ui.available_height();
        ui.vertical_centered(|ui| {
            ui.add_space((height * 0.28).max(24.0));
            match &cx.state.project {
                ProjectState::Opening(path) => {
                    ui.spinner();
                    ui.label(format!("Opening {}", path.display()));
                }
                ProjectState::Failed { path, why } => {
                    ui.heading(RichText::new("⚠ This project could not be opened").color(palette.bad.0));
                    ui.label(why);
                    ui.label(RichText::new(path.display().to_string()).color(palette.text_dim.0));
                    ui.add_space(16.0);
                    ways_ui(ui, cx);
                }
                ProjectState::None | ProjectState::Open(_) => {
                    ui.heading(RichText::new("Audit image edits").size(24.0).color(palette.text_strong.0));
                    ui.add_space(4.0);
                    ui.label("See what a score is made of, put it right, and say what you think of the edit.");
                    ui.add_space(20.0);
                    ways_ui(ui, cx);
                }
            }
        });
    });
}

fn ways_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let dim = |text: &str| RichText::new(text).color(palette.text_dim.0);
    let width = 440.0_f32.min(ui.available_width());
    ui.allocate_ui(vec2(width, 0.0), |ui| {
        egui::Grid::new("ways to begin").num_columns(2).spacing(vec2(16.0, 14.0)).show(ui, |ui| {
            primary_button(ui, cx, Command::MakeDemo, true);
            ui.label(dim("24 items with four edits each, scored on this machine"));
            ui.end_row();
            command_button(ui, cx, Command::OpenProject, true);
            ui.label(dim("a file that ends in .editscope"));
            ui.end_row();
            command_button(ui, cx, Command::ImportData, true);
            ui.label(dim("a manifest: JSONL, CSV or BPM's JSON"));
            ui.end_row();
        });
    });
    ui.add_space(18.0);
    ui.label(dim("Or drop a project, a manifest or a folder of pairs on this window."));
}

/// While files are held over the window, says what dropping them will do.
pub fn drop_hint_ui(ui: &mut Ui, cx: &Context<'_>) {
    let hovered = ui.input(|input| input.raw.hovered_files.len());
    if hovered == 0 {
        return;
    }
    let palette = cx.palette(ui);
    let screen = ui.ctx().content_rect();
    let painter = ui.ctx().layer_painter(egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop hint")));
    painter.rect_filled(screen, 0.0, palette.label_background.0);
    let font = egui::FontId::proportional(22.0);
    painter.text(screen.center(), Align2::CENTER_CENTER, "Drop to open or import", font, palette.text_strong.0);
}
