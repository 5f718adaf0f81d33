//! Asks before work is lost that is not on disk.

use egui::{Button, Label, RichText, Ui};

use crate::gui::context::{Action, Context};
use crate::gui::leaving::{LeaveAnswer, Leaving, changes};

/// Draws the question.
pub fn leaving_ui(ui: &mut Ui, cx: &Context<'_>) {
    let Some(leaving) = &cx.state.leaving else { return };
    let palette = cx.palette(ui);
    if let Some(what) = &cx.state.not_kept {
        ui.add(Label::new(RichText::new(format!("⚠ Not on disk: {what}")).color(palette.bad.0)).wrap());
        ui.add_space(4.0);
        ui.label("It is kept in memory and tried again by itself; as soon as it is on disk, this goes on.");
        ui.add_space(8.0);
    }
    if let Some(what) = &cx.state.not_saved {
        ui.add(Label::new(format!("Typed and not saved: {what}.")).wrap());
        ui.add_space(8.0);
    }
    let lost = match cx.state.tools.unsaved_count() {
        0 => "it".to_owned(),
        count => changes(count),
    };
    let lose = match &leaving.to {
        Leaving::Close => format!("Close and lose {lost}"),
        Leaving::Open(path) => {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            format!("Open {name} and lose {lost}")
        }
    };
    ui.horizontal_wrapped(|ui| {
        if cx.state.not_kept.is_some() && ui.add(Button::new("Save again")).clicked() {
            cx.send(Action::Leave(LeaveAnswer::SaveAgain));
        }
        if ui.add(Button::new("Stay here")).clicked() {
            cx.send(Action::CloseDialog);
        }
        if ui.add(Button::new(RichText::new(lose).color(palette.bad.0))).clicked() {
            cx.send(Action::Leave(LeaveAnswer::Lose));
        }
    });
}
