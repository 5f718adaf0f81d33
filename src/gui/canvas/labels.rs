//! The words beside boxes: one set for each pane, so that the labels of the score, of a person and of a pointed candidate keep off each other
//! and off the notes in the pane's corners.

use egui::{Align2, Color32, FontId, Painter, Rect};

use super::frame::{Pane, egui_rect, ui_rect};
use crate::editor::{LabelBox, place_labels};

/// More labels than this on one picture are not read; the first in rank get theirs.
const MOST_LABELS: usize = 12;
/// Longer texts are cut.
const MOST_LETTERS: usize = 28;

/// A box's label.
pub struct Label {
    /// The box, in points of the window.
    pub rect: Rect,
    pub text: String,
    /// Labels of higher rank are placed first: a confidence, or more for what a person made or points at.
    pub rank: f32,
    pub color: Color32,
}

impl Label {
    /// Rank of what a person drew, above any confidence.
    pub const PERSON: f32 = 2.0;
    /// Rank of what a person points at.
    pub const POINTED: f32 = 3.0;

    /// A box's phrase, cut to what is read at a glance, with its confidence where there is one.
    pub fn words(phrase: &str, confidence: Option<f32>) -> String {
        let mut text: String = phrase.chars().take(MOST_LETTERS).collect();
        if phrase.chars().count() > MOST_LETTERS {
            text.push('…');
        }
        if let Some(confidence) = confidence {
            text.push_str(&format!(" {confidence:.2}"));
        }
        text
    }
}

/// Draws the labels of a pane, each at a free place beside its box; those that find none are left out. `kept_free` is where notes stand.
pub fn labels_ui(painter: &Painter, pane: &Pane<'_>, background: Color32, labels: &[Label], kept_free: &[Rect]) {
    let font = FontId::proportional(11.5);
    let mut visible: Vec<&Label> = labels.iter().filter(|label| label.rect.intersects(pane.clip)).collect();
    visible.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    visible.truncate(MOST_LABELS);
    let galleys: Vec<_> = visible.iter().map(|label| painter.layout_no_wrap(label.text.clone(), font.clone(), label.color)).collect();
    let asked: Vec<LabelBox> = visible
        .iter()
        .zip(&galleys)
        .map(|(label, galley)| LabelBox { anchor: ui_rect(label.rect), width: galley.size().x + 8.0, height: galley.size().y + 2.0 })
        .collect();
    let kept_free: Vec<_> = kept_free.iter().map(|rect| ui_rect(*rect)).collect();
    for ((place, galley), label) in place_labels(&asked, &ui_rect(pane.clip), &kept_free).into_iter().zip(galleys).zip(visible) {
        let Some(place) = place else { continue };
        let rect = egui_rect(&place);
        painter.rect_filled(rect, 2.0, background);
        painter.galley(Align2::LEFT_CENTER.anchor_size(rect.left_center() + egui::vec2(4.0, 0.0), galley.size()).min, galley, label.color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_phrases_are_cut_and_say_so() {
        assert_eq!(Label::words("red mug", Some(0.875)), "red mug 0.88");
        let long = "a".repeat(40);
        assert_eq!(Label::words(&long, None), format!("{}…", "a".repeat(28)));
    }
}
