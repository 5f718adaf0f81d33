//! What a reader should know before believing a number, and what of the data was left out.

use egui::{CollapsingHeader, Label, RichText, Ui};

use crate::export::note_words;
use crate::gui::context::Context;
use crate::stats::comparison::Comparison;

/// Draws the notes, closed until they are wanted; nothing where there are none. What is said of the data is that of the project as it is
/// now, so a saved comparison shows its own notes only.
pub(super) fn notes_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let agreement = &cx.state.agreement;
    let gathered = agreement.gathered.as_ref().filter(|_| agreement.kept.opened.is_none());
    let problems = gathered.map(|gathered| gathered.problems.as_slice()).unwrap_or_default();
    let remarks = gathered.map(|gathered| gathered.remarks.as_slice()).unwrap_or_default();
    let count = found.notes.len() + problems.len() + remarks.len();
    if count == 0 {
        return;
    }
    let left_out = if problems.is_empty() { String::new() } else { format!(" · {} on data that were left out", problems.len()) };
    let color = if problems.is_empty() { palette.text.0 } else { palette.warning.0 };
    let title = RichText::new(format!("Notes on these numbers ({count}{left_out})")).color(color);
    CollapsingHeader::new(title).id_salt("notes on the numbers").default_open(false).show(ui, |ui| {
        for problem in problems {
            ui.add(Label::new(RichText::new(format!("⚠ {}: {}", problem.place, problem.reason)).color(palette.warning.0)).wrap());
        }
        for text in remarks {
            ui.add(Label::new(text).wrap());
        }
        for note in &found.notes {
            ui.add(Label::new(note_words(found, note)).wrap());
        }
    });
    ui.add_space(4.0);
}
