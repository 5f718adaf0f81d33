//! Was the right place found? Change against the region, and what the detector proposed.

use egui::text::{LayoutJob, TextFormat};
use egui::{Grid, Label, RichText, Role, Sense, Ui, vec2};

use super::thresholds::thresholds_ui;
use crate::domain::{Detection, RegionRole, Score, Side, Size, TokenMatch};
use crate::editor::{EditDetails, Thresholds};
use crate::gui::canvas::{loss_text, motion_text};
use crate::gui::context::{Action, Context};
use crate::gui::rescore::{AuditAction, ShownScore};
use crate::gui::widgets::{self, section};

const LEAK: &str = "Leak: the share of all change that lies outside the region that was to change. A pixel counts as changed when it differs by \
                    more than 8 of 255 levels (root mean square over the channels); changes are added up by how large they are, on the 500×500 canvas.";
const UNCHANGED: &str = "The share of the region's pixels that did not change (by at most 8 of 255 levels). High: the edit may not have been \
                         made, or the region is too large.";
const CHANGED: &str = "The share of all pixels that changed (by more than 8 of 255 levels).";

/// How the change lies to the region, how the edit lies to its source.
pub fn change_ui(ui: &mut Ui, cx: &Context<'_>, score: &Score) {
    let palette = cx.palette(ui);
    let triage = &score.triage;
    if triage.is_empty() {
        return;
    }
    section(ui, palette, "Change and region");
    // What the names, the gaps and a number leave, or the words in a number's place.
    let words = triage.change.is_some_and(|change| change.leak.is_none() || change.unchanged.is_none());
    let bar_width = (ui.available_width() - if words { 250.0 } else { 206.0 }).clamp(30.0, 86.0);
    let line = |ui: &mut Ui, name: &str, value: Option<f64>, none: &str, meaning: &str| {
        let label = ui.add(Label::new(name).sense(Sense::hover()));
        let bar = widgets::bar(ui, palette, value, vec2(bar_width, 10.0), palette.change.0);
        let text = match value {
            Some(share) => RichText::new(format!("{:>5.1} %", share * 100.0)).monospace().color(palette.text_strong.0),
            None => RichText::new(none).size(12.0).color(palette.text_dim.0),
        };
        let value = ui.label(text);
        if label.union(bar).union(value).on_hover_text(meaning).hovered() {
            cx.send(Action::Highlight(crate::domain::TraceKind::Preserve));
        }
        ui.end_row();
    };
    if let Some(change) = &triage.change {
        Grid::new("change").num_columns(3).spacing(vec2(10.0, 4.0)).show(ui, |ui| {
            // Without a region everything lies outside of it, which says nothing.
            let (leak, none) = if change.unchanged.is_some() { (change.leak, "nothing changed") } else { (None, "no region") };
            line(ui, "leak (change outside)", leak, none, LEAK);
            line(ui, "region unchanged", change.unchanged, "no region", UNCHANGED);
            line(ui, "picture changed", Some(change.changed), "", CHANGED);
        });
    }
    if let Some(size) = triage.other_size {
        let text = format!("⚠ The edit is {size}, another size than the source: both are stretched to the metric's canvas.");
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.warning.0)).wrap());
    }
    if let Some(shift) = triage.shift {
        // The mask has the size of the source; without one the canvas will do.
        let source = score.mask.as_ref().map_or(Size::BPM500, |mask| Size::new(mask.size[1], mask.size[0]));
        let text = format!("⚠ {}.", motion_text(&shift, source));
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.warning.0)).wrap());
        ui.add(Label::new(RichText::new(loss_text(&shift)).size(12.0).color(palette.text_dim.0)).wrap());
    }
}

/// How many boxes below the threshold are listed before the person asks for the rest.
const NEXT_BEST: usize = 2;

/// Every box that the detector proposed, with how surely each word of the phrase was seen in it.
pub fn candidates_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails, shown: &ShownScore<'_>) {
    let (palette, score) = (cx.palette(ui), shown.score);
    if score.global {
        return;
    }
    section(ui, palette, "Detector's candidates");
    thresholds_ui(ui, cx, details, shown);
    ui.add_space(4.0);
    let sides = [
        (Side::Source, RegionRole::Original, "On the source", &score.candidates.source, &score.boxes.source),
        (Side::Edit, RegionRole::Edited, "On the edit", &score.candidates.edit, &score.boxes.edit),
    ];
    for (side, role, name, candidates, used) in sides {
        let sought = sought(candidates).map(|phrase| format!(", looking for “{phrase}”")).unwrap_or_default();
        // Boxes of a person stay, whatever the thresholds.
        let preview = cx.state.overlays.preview().filter(|_| !cx.state.tools.draws(details.id, side, role));
        let is_used = |index: &usize| match preview {
            Some(preview) => candidates[*index].is_above(preview.boxes),
            None => used.iter().any(|found| is_same(found, &candidates[*index])),
        };
        let kept = (0..candidates.len()).filter(is_used).count();
        let by_hand = used.iter().filter(|found| !candidates.iter().any(|candidate| is_same(found, candidate))).count();
        let by_hand = if by_hand > 0 { format!(", {by_hand} drawn by a person") } else { String::new() };
        let used = if preview.is_some() { "would be used" } else { "used" };
        let text = format!("{name}: {kept} of {} {used}{by_hand}{sought}", candidates.len());
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap())
            .on_hover_text("The detector returns every box above a confidence of 0.05; those above the box threshold are used.");
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|&a, &b| is_used(&b).cmp(&is_used(&a)).then(candidates[b].confidence.total_cmp(&candidates[a].confidence)));
        let (shown, rest) = order.split_at(order.len().min(kept + NEXT_BEST));
        let line = |ui: &mut Ui, index: usize| candidate_ui(ui, cx, (side, index), &candidates[index], is_used(&index));
        shown.iter().for_each(|index| line(ui, *index));
        if let Some(best) = rest.first() {
            let text = format!("{} more, of confidence {:.2} and less", rest.len(), candidates[*best].confidence);
            egui::CollapsingHeader::new(RichText::new(text).size(12.0).color(palette.text_dim.0))
                .id_salt(("more candidates", side as u8))
                .show(ui, |ui| rest.iter().for_each(|index| line(ui, *index)));
        }
    }
}

/// The phrase that the detector was given, put together from the words of its answer.
fn sought(candidates: &[Detection]) -> Option<String> {
    let words = words(&candidates.first()?.tokens);
    (!words.is_empty()).then(|| words.into_iter().map(|(word, _)| word).collect::<Vec<_>>().join(" "))
}

const TOKENS: &str = "How surely the detector saw each word of the phrase here; those above the text threshold (0.25; bright) make the label. The \
                      confidence of the box is the largest over all tokens, also over those that only begin, end or separate phrases and are \
                      not listed.";

fn candidate_ui(ui: &mut Ui, cx: &Context<'_>, at: (Side, usize), found: &Detection, used: bool) {
    let palette = cx.palette(ui);
    let pointed = cx.state.audit.pointed == Some(at);
    let text_threshold = cx.state.overlays.preview().unwrap_or(Thresholds::METRIC).text;
    let fill = if pointed { palette.hovered.0 } else { palette.background.0 };
    let frame = egui::Frame::new().fill(fill).corner_radius(4).inner_margin(egui::Margin::symmetric(8, 3));
    let response = frame
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing = vec2(6.0, 2.0);
            ui.horizontal(|ui| {
                let (sign, meaning) =
                    if used { ("✔", "used by the metric") } else { ("·", "below the threshold, or replaced by a person") };
                ui.label(RichText::new(sign).monospace().color(if used { palette.good.0 } else { palette.text_dim.0 }))
                    .on_hover_text(meaning);
                let confidence = f64::from(found.confidence);
                widgets::bar(ui, palette, Some(confidence), vec2(44.0, 8.0), palette.candidate.0);
                ui.label(RichText::new(format!("{confidence:.2}")).monospace().color(palette.text_strong.0));
                let words = phrase_of(cx, found);
                let phrase = if words.is_empty() { format!("(no word above {text_threshold:.2})") } else { words };
                ui.add(Label::new(RichText::new(phrase).color(palette.text.0)).truncate());
            });
            tokens_ui(ui, cx, &found.tokens, text_threshold);
        })
        .response;
    let [x0, y0, x1, y1] = found.rect_in_image.to_array().map(f32::round);
    widgets::name(&response, Role::ListItem, used, format!("candidate {:.2} {}", found.confidence, found.phrase));
    if response.contains_pointer() {
        cx.send(Action::Audit(AuditAction::PointAt(at.0, at.1)));
    }
    response.on_hover_text(format!("Box {x0:.0}, {y0:.0} to {x1:.0}, {y1:.0} in pixels of its picture."));
}

/// A box's label under the text threshold that is tried, if one is.
pub fn phrase_of(cx: &Context<'_>, found: &Detection) -> String {
    match cx.state.overlays.preview() {
        Some(Thresholds { text, .. }) if text != Thresholds::METRIC.text => found.phrase_above(text),
        _ => found.name().to_owned(),
    }
}

/// The words of the phrase with how surely each was seen; those above the text threshold stand out, by a sign too.
fn tokens_ui(ui: &mut Ui, cx: &Context<'_>, tokens: &[TokenMatch], text_threshold: f32) {
    let palette = cx.palette(ui);
    let mut text = LayoutJob::default();
    for (word, probability) in words(tokens) {
        let matched = probability > text_threshold;
        let color = if matched { palette.text_strong.0 } else { palette.text_dim.0 };
        let format = TextFormat { font_id: egui::FontId::proportional(11.0), color, ..TextFormat::default() };
        text.append(
            &format!("{}{word} {probability:.2}", if matched { "✔ " } else { "" }),
            if text.is_empty() { 0.0 } else { 10.0 },
            format,
        );
    }
    if !text.is_empty() {
        ui.add(Label::new(text).wrap()).on_hover_text(TOKENS);
    }
}

/// Tokens as words; pieces of one word are written together with the least sure piece's probability.
fn words(tokens: &[TokenMatch]) -> Vec<(String, f32)> {
    let mut words: Vec<(String, f32)> = Vec::new();
    for TokenMatch { token, probability } in tokens {
        match (token.strip_prefix("##"), words.last_mut()) {
            (Some(piece), Some((word, least))) => {
                word.push_str(piece);
                *least = least.min(*probability);
            }
            (piece, _) => words.push((piece.unwrap_or(token).to_owned(), *probability)),
        }
    }
    words
}

/// Whether a box in use is what the detector found: its edges are rounded, and its words cut, once it stands among a person's.
fn is_same(used: &Detection, candidate: &Detection) -> bool {
    let edges = |found: &Detection| [found.rect_in_image.x0, found.rect_in_image.y0, found.rect_in_image.x1, found.rect_in_image.y1];
    let near = edges(used).into_iter().zip(edges(candidate)).all(|(a, b)| (a - b).abs() < 1.0);
    near && (used.confidence - candidate.confidence).abs() < 1e-3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_of_the_detector_is_known_again_among_those_of_a_person() {
        let found = |x0: f32, confidence, phrase: &str| Detection {
            rect_in_image: crate::domain::Rect::new(x0, 10.0, 60.0, 50.0),
            phrase: phrase.into(),
            confidence,
            tokens: Vec::new(),
        };
        let candidate = found(20.4, 0.571, "pizza .");
        assert!(is_same(&found(20.0, 0.571, "pizza"), &candidate), "rounded");
        assert!(!is_same(&found(24.0, 0.571, "pizza"), &candidate), "another place");
        assert!(!is_same(&found(20.0, 1.0, "pizza"), &candidate), "a person's");
    }

    #[test]
    fn pieces_of_a_word_are_joined() {
        let token = |token: &str, probability| TokenMatch { token: token.into(), probability };
        let tokens = [token("red", 0.5), token("sun", 0.4), token("##flower", 0.3), token("pot", 0.05)];
        assert_eq!(words(&tokens), [("red".to_owned(), 0.5), ("sunflower".to_owned(), 0.3), ("pot".to_owned(), 0.05)]);
    }
}
