//! The bar at the bottom: the run at work, or what the last one came to.

use egui::{Button, Panel, ProgressBar, RichText, ScrollArea, Ui};

use crate::editor::{Job, JobState};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets::{duration, right};

/// Draws the bar; its place is kept when there is nothing to say, so that nothing jumps.
pub fn status_bar_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let frame = egui::Frame::new().fill(palette.panel.0).inner_margin(egui::Margin::symmetric(10, 4));
    Panel::bottom("status bar").frame(frame).resizable(false).exact_size(34.0).show(ui, |ui| {
        ui.horizontal_centered(|ui| {
            match (cx.state.jobs.shown(), cx.state.exporting) {
                (Some(job), exporting) if job.is_active() || exporting.is_none() => job_ui(ui, cx, job),
                (_, Some((done, total))) => {
                    ui.spinner();
                    ui.label(if total == 0 { "Exporting…".to_owned() } else { format!("Exporting: {done} of {total} pictures") });
                }
                _ => {
                    ui.label(RichText::new(hint(cx)).color(palette.text_dim.0));
                }
            }
            right(ui, |ui| {
                let networks = if cx.state.device.is_empty() {
                    format!("networks: {} · device: {}", cx.settings.models, cx.settings.device.words())
                } else {
                    cx.state.device.clone()
                };
                ui.add(egui::Label::new(RichText::new(networks).size(12.0).color(palette.text_dim.0)).truncate());
            });
        });
    });
    if cx.state.failures_open
        && let Some(job) = cx.state.jobs.shown().filter(|job| !job.failures.is_empty())
    {
        failures_ui(ui, cx, job);
    }
}

fn hint(cx: &Context<'_>) -> &'static str {
    if cx.state.info().is_none() {
        "Nothing is open"
    } else if cx.state.queue.rows().is_empty() {
        "Nothing to score"
    } else {
        "Ready"
    }
}

fn job_ui(ui: &mut Ui, cx: &Context<'_>, job: &Job) {
    let palette = cx.palette(ui);
    ui.label(RichText::new(&job.title).strong());
    let finished = job.done + job.failed;
    match &job.state {
        JobState::Starting => {
            ui.spinner();
            ui.label(RichText::new("loading networks").color(palette.text_dim.0));
        }
        JobState::Running | JobState::Cancelling => {
            let progress = job.progress().unwrap_or(0.0);
            ui.add(ProgressBar::new(progress).desired_width(180.0).text(format!("{finished} / {}", job.total)));
            let speed = job.per_second().map_or_else(String::new, |speed| format!("{speed:.2} a second"));
            let left = job.seconds_left().map_or_else(String::new, |left| format!(" · {} left", duration(left)));
            ui.label(RichText::new(format!("{speed}{left}")).color(palette.text_dim.0));
        }
        JobState::Finished { cancelled } => {
            let (sign, word, color) = if *cancelled { ("■", "cancelled", palette.warning.0) } else { ("✔", "done", palette.good.0) };
            ui.label(RichText::new(format!("{sign} {word}")).color(color));
            ui.label(RichText::new(format!("{} scored in {}", job.done, duration(job.seconds))).color(palette.text_dim.0));
        }
        JobState::Failed(why) => {
            ui.label(RichText::new("✖ stopped").color(palette.bad.0)).on_hover_text(why);
        }
    }
    if job.failed > 0 || !job.failures.is_empty() {
        let text = RichText::new(format!("⚠ {} failed", job.failed.max(job.failures.len()))).color(palette.warning.0);
        if ui.add(Button::new(text).small()).on_hover_text("Shows which, and why.").clicked() {
            cx.send(Action::ToggleFailures);
        }
    }
    if job.is_active() {
        let cancelling = job.state == JobState::Cancelling;
        let label = if cancelling { "Cancelling…" } else { Command::CancelRuns.label() };
        if ui.add_enabled(!cancelling, Button::new(label).small()).on_hover_text(Command::CancelRuns.tooltip(ui.ctx())).clicked() {
            cx.send(Action::CancelRun(job.token));
        }
        ui.add(egui::Label::new(RichText::new(&job.current).size(12.0).color(palette.text_dim.0)).truncate());
    }
}

fn failures_ui(ui: &mut Ui, cx: &Context<'_>, job: &Job) {
    let palette = cx.palette(ui);
    let frame = egui::Frame::new().fill(palette.background.0).inner_margin(10);
    Panel::bottom("failures").frame(frame).default_size(140.0).resizable(true).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink(false).show_rows(ui, 22.0, job.failures.len(), |ui, range| {
            for failure in &job.failures[range] {
                ui.horizontal(|ui| {
                    if ui.add_enabled(failure.row.is_some(), Button::new(&failure.label).small()).clicked()
                        && let Some(row) = failure.row
                    {
                        cx.send(Action::Select(row));
                    }
                    ui.add(egui::Label::new(RichText::new(&failure.why).color(palette.warning.0)).truncate());
                });
            }
        });
    });
}
