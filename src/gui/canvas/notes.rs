//! What the person should know about the pictures: an edit that is its source moved or zoomed, and the legend of a difference.

use std::sync::Arc;

use egui::{Align2, FontId, Galley, Id, Rect, Role, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::domain::{Shift, Size};
use crate::editor::{Content, DifferenceView};

use super::picture::gain_step;
use super::{Frame, Pane};
use crate::gui::colormap;
use crate::gui::context::Context;
use crate::gui::widgets;

/// Where they stand.
pub fn rects(ui: &Ui, cx: &Context<'_>, panes: &[Pane<'_>], frame: &Frame<'_>) -> Vec<Rect> {
    let motion = motion_pane(panes, frame).and_then(|pane| motion_note(ui, cx, pane, frame)).map(|note| note.0);
    let legends = panes.iter().filter(|pane| pane.content == Content::Difference).map(difference_legend_rect);
    motion.into_iter().chain(legends).collect()
}

fn motion_pane<'a, 'b>(panes: &'a [Pane<'b>], frame: &Frame<'_>) -> Option<&'a Pane<'b>> {
    panes.iter().rfind(|pane| pane.is_selected(frame))
}

/// Draws both, where they apply.
pub fn notes_ui(ui: &Ui, cx: &Context<'_>, panes: &[Pane<'_>], frame: &Frame<'_>) {
    if let Some(pane) = motion_pane(panes, frame) {
        motion_ui(ui, cx, pane, frame);
    }
    for pane in panes.iter().filter(|pane| pane.content == Content::Difference) {
        difference_legend_ui(ui, cx, pane);
    }
}

/// The motion in words: "Edit moved by 3.0, −2.0 px and zoomed 1.020: explains 71 % of the preservation loss."
pub fn motion_text(found: &Shift, size: Size) -> String {
    format!("Edit {}: explains {:.0} % of the preservation loss", found.words(size), found.explained * 100.0)
}

/// What the loss is with and without the motion.
pub fn loss_text(found: &Shift) -> String {
    let measured = match (found.loss, found.loss_aligned) {
        (Some(loss), Some(aligned)) => format!(
            "Outside the edit mask the pictures differ by {loss:.4}; with the edit moved back by {aligned:.4}, measured on the metric's 500×500 pixels. "
        ),
        _ => String::new(),
    };
    format!("{measured}The metric does not move it back: the loss counts against preserve.")
}

/// The note's place, its text laid out, and what it tells. Hidden with the overlays, for a look at the bare pictures.
fn motion_note<'a>(ui: &Ui, cx: &Context<'a>, pane: &Pane<'_>, frame: &Frame<'_>) -> Option<(Rect, Arc<Galley>, &'a Shift)> {
    let found = cx.state.motions.found(frame.row.id).filter(|_| !cx.state.overlays.bare)?;
    let text = format!("⚠ {}", motion_text(found, frame.size));
    let wrap = (pane.clip.width() - 36.0).clamp(80.0, 460.0);
    let galley = ui.painter().layout(text, FontId::proportional(12.5), cx.palette(ui).warning.0, wrap);
    Some((Rect::from_min_size(pane.clip.min + vec2(10.0, 10.0), galley.size() + vec2(16.0, 8.0)), galley, found))
}

fn motion_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>) {
    let Some((rect, galley, found)) = motion_note(ui, cx, pane, frame) else { return };
    let palette = cx.palette(ui);
    let painter = ui.painter().with_clip_rect(pane.clip);
    painter.rect(rect, 4.0, palette.panel.0.gamma_multiply(0.94), Stroke::new(1.0, palette.warning.0), StrokeKind::Inside);
    painter.galley(rect.min + vec2(8.0, 4.0), galley, palette.warning.0);
    let response = ui.interact(rect, Id::unique("motion note"), Sense::hover());
    widgets::name(&response, Role::Label, false, motion_text(found, frame.size));
    response.on_hover_text(loss_text(found));
}

/// The colour bar of a difference; its words stand above and below.
fn difference_bar(pane: &Pane<'_>) -> Rect {
    Rect::from_min_size(pos2(pane.clip.left() + 20.0, pane.clip.bottom() - 36.0), vec2(190.0, 10.0))
}

fn difference_legend_rect(pane: &Pane<'_>) -> Rect {
    difference_bar(pane).expand2(vec2(10.0, 22.0))
}

/// What the colours of a difference mean.
fn difference_legend_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>) {
    let palette = cx.palette(ui);
    let compare = &cx.state.compare;
    let gain = gain_step(compare.gain);
    let end = |levels: f32| if levels >= 10.0 { format!("{levels:.0}") } else { format!("{levels:.1}") };
    let most = end(255.0 / gain);
    // With a gain, what is further away has the colour of the end too.
    let beyond = if gain > 1.0 { "≥ " } else { "" };
    let (first, last, meaning) = match compare.difference {
        DifferenceView::L2 => ("0".to_owned(), format!("{beyond}{most}"), "L2 distance, levels of 255"),
        DifferenceView::Absolute => ("0".to_owned(), format!("{beyond}{most}"), "|edit − source| of R, G and B, levels"),
        DifferenceView::Signed => {
            let below = if gain > 1.0 { "≤ " } else { "" };
            (format!("{below}−{most} darker"), format!("brighter {beyond}+{most}"), "luma of edit − source, levels")
        }
    };
    let bar = difference_bar(pane);
    let painter = ui.painter().with_clip_rect(pane.clip);
    let frame = difference_legend_rect(pane);
    painter.rect(frame, 4.0, palette.panel.0.gamma_multiply(0.94), Stroke::new(1.0, palette.outline.0), StrokeKind::Inside);
    const STEPS: u16 = 64;
    for step in 0..STEPS {
        let share = f32::from(step) / f32::from(STEPS - 1);
        let color = match compare.difference {
            DifferenceView::L2 => colormap::heat(share),
            DifferenceView::Absolute => egui::Color32::from_gray((share * 255.0).round() as u8),
            DifferenceView::Signed => colormap::signed(2.0 * share - 1.0),
        };
        let width = bar.width() / f32::from(STEPS);
        let left = bar.left() + f32::from(step) * width;
        // Half a point of overlap hides the seams.
        painter.rect_filled(Rect::from_min_size(pos2(left, bar.top()), vec2(width + 0.5, bar.height())), 0.0, color);
    }
    let font = FontId::proportional(11.0);
    painter.text(pos2(bar.left(), bar.top() - 10.0), Align2::LEFT_CENTER, meaning, font.clone(), palette.text.0);
    painter.text(pos2(bar.left(), bar.bottom() + 10.0), Align2::LEFT_CENTER, first, font.clone(), palette.text.0);
    painter.text(pos2(bar.right(), bar.bottom() + 10.0), Align2::RIGHT_CENTER, last, font, palette.text.0);
    let response = ui.interact(frame, Id::unique("difference legend"), Sense::hover());
    widgets::name(&response, Role::Label, false, format!("Legend: {meaning}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_is_told_in_words() {
        let found = Shift { dx: 3.02, dy: -2.0, zoom: 1.02, explained: 0.71, loss: Some(0.1), loss_aligned: Some(0.029) };
        assert_eq!(
            motion_text(&found, Size::new(1000, 1000)),
            "Edit moved by 3.0, −2.0 px and zoomed 1.020: explains 71 % of the preservation loss"
        );
        assert!(loss_text(&found).starts_with("Outside the edit mask the pictures differ by 0.1000; with the edit moved back by 0.0290"));
        assert!(loss_text(&Shift { loss: None, ..found }).starts_with("The metric does not move it back"));
    }
}
