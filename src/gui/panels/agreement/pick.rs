//! Words about one edit that lead to it.

use egui::{Label, RichText, Sense, Ui};

use crate::editor::RowId;
use crate::gui::context::{Action, Context};
use crate::gui::panels::queue::model_name;

/// An edit by item and model with something about it; a click opens the edit in the canvas.
pub(super) fn edit_link(ui: &mut Ui, cx: &Context<'_>, item: &str, model: &str, about: &str) {
    let palette = cx.palette(ui);
    let edit = cx.state.agreement.gathered.as_ref().and_then(|gathered| gathered.edit_of(item, model));
    let row = edit.and_then(|id| cx.state.queue.row(RowId(id.0)));
    ui.horizontal_wrapped(|ui| {
        let name = format!("{item} · {}", model_name(model));
        match row {
            Some(row) => {
                let link = Label::new(RichText::new(&name).color(palette.accent.0)).sense(Sense::click());
                let link = ui.add(link).on_hover_text(format!("{}\nClick to open it in the canvas.", row.instruction));
                crate::gui::widgets::name(&link, egui::Role::Link, false, format!("open {name}"));
                if link.clicked() {
                    cx.send(Action::Select(row.id));
                }
            }
            None => {
                ui.label(&name).on_hover_text("The project has no such edit now.");
            }
        }
        ui.label(RichText::new(about).size(12.0).color(palette.text_dim.0));
    });
}
