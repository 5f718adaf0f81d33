//! The strip below the pictures: one switch an overlay with its line style and key, their opacities, and the threshold of the candidates.

use std::sync::Arc;

use egui::{Galley, Rect, Role, Sense, Slider, Ui, UiBuilder, Vec2, pos2, vec2};

use crate::editor::Overlay;
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets;

/// Height of a chip and distance between chips, in points.
const CHIP: f32 = 24.0;
const GAP: f32 = 4.0;
/// Points left free around the chips.
const MARGIN: Vec2 = vec2(8.0, 6.0);
/// Width of the swatch of a chip, and points around and between what a chip holds.
const SWATCH: f32 = 16.0;
const PAD: f32 = 8.0;
const SPACE: f32 = 6.0;
/// Width of the threshold with its slider.
const THRESHOLD: f32 = 180.0;
/// Width of the buttons behind the chips.
const BARE: f32 = 100.0;
const OPACITY: f32 = 72.0;
/// Where chips with all their words would take more of the canvas' height than this, they say less.
const MOST_SHARE: f32 = 0.15;

/// How much a chip says. What is left out stands in its tooltip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wording {
    NameAndKey,
    Name,
    Key,
}

impl Wording {
    const ALL: [Self; 3] = [Self::NameAndKey, Self::Name, Self::Key];
}

/// Something in the strip.
enum Piece {
    /// Swatch and words of an overlay's switch.
    Chip {
        command: Command,
        overlay: Overlay,
        words: Vec<Arc<Galley>>,
    },
    Threshold,
    Bare,
    Opacity,
}

/// The strip, laid out: pieces with their places from the strip's corner.
pub struct Legend {
    pieces: Vec<(Piece, Rect)>,
    height: f32,
}

impl Legend {
    /// Breaks the pieces into as many lines as the canvas' width asks for; chips say as much as its height has room for.
    ///
    /// The room of the threshold is always kept, so that switching the candidates on moves nothing.
    pub fn new(ui: &Ui, cx: &Context<'_>, canvas: Vec2) -> Self {
        let room = canvas.x - 2.0 * MARGIN.x;
        let line = |line: usize| MARGIN.y + line as f32 * (CHIP + GAP);
        let height = |lines: usize| line(lines - 1) + CHIP + MARGIN.y;
        let laid_out = |wording: Wording| {
            let pieces = pieces(ui, cx, wording);
            let widths: Vec<f32> = pieces.iter().map(|piece| piece_width(piece).min(room)).collect();
            let (places, lines) = wrapped(&widths, room);
            (pieces, widths, places, lines)
        };
        let fitting = Wording::ALL.into_iter().map(laid_out).find(|(.., lines)| height(*lines) <= MOST_SHARE * canvas.y);
        let (pieces, widths, places, lines) = fitting.unwrap_or_else(|| laid_out(Wording::Key));
        let rects =
            places.iter().zip(&widths).map(|((x, at), width)| Rect::from_min_size(pos2(MARGIN.x + x, line(*at)), vec2(*width, CHIP)));
        Self { pieces: pieces.into_iter().zip(rects).collect(), height: height(lines) }
    }

    /// Points that the strip takes.
    pub const fn height(&self) -> f32 {
        self.height
    }

    /// Draws the strip.
    pub fn show(self, ui: &mut Ui, cx: &Context<'_>, rect: Rect) {
        ui.painter().rect_filled(rect, 0.0, cx.palette(ui).panel.0);
        for (piece, place) in self.pieces {
            let place = place.translate(rect.min.to_vec2());
            match piece {
                Piece::Chip { command, overlay, words } => chip_ui(ui, cx, place, command, overlay, &words),
                Piece::Threshold if is_on(cx, Overlay::Candidates) => threshold_ui(ui, cx, place),
                Piece::Threshold => {}
                Piece::Bare => {
                    let bare = egui::Button::selectable(cx.state.overlays.bare, Command::BarePictures.label());
                    if ui.put(place, bare).on_hover_text(Command::BarePictures.tooltip(ui.ctx())).clicked() {
                        cx.send(Action::Do(Command::BarePictures));
                    }
                }
                Piece::Opacity => {
                    ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
                        ui.menu_button("Opacity", |ui| opacities_ui(ui, cx)).response.on_hover_text("How strongly each overlay is drawn.");
                    });
                }
            }
        }
    }
}

fn pieces(ui: &Ui, cx: &Context<'_>, wording: Wording) -> Vec<Piece> {
    let palette = cx.palette(ui);
    let mut pieces = Vec::new();
    for command in Command::all() {
        let Some(overlay) = command.overlay() else { continue };
        let color = if is_on(cx, overlay) { palette.text_strong.0 } else { palette.text_dim.0 };
        let name = || ui.painter().layout_no_wrap(overlay_name(cx, overlay), egui::FontId::proportional(12.5), color);
        let key = || {
            let key = command.shortcut_text(ui.ctx()).unwrap_or_default();
            ui.painter().layout_no_wrap(key, egui::FontId::monospace(10.5), palette.text_dim.0)
        };
        let words = match wording {
            Wording::NameAndKey => vec![name(), key()],
            Wording::Name => vec![name()],
            Wording::Key => vec![key()],
        };
        pieces.push(Piece::Chip { command, overlay, words });
    }
    pieces.extend([Piece::Bare, Piece::Opacity, Piece::Threshold]);
    pieces
}

/// The overlay's name; the change map says when the picture that it is about is not the edit itself.
fn overlay_name(cx: &Context<'_>, overlay: Overlay) -> String {
    let pasted = cx.state.queue.selected_row().is_some_and(|row| cx.edited_of(row) != &row.edited);
    if overlay == Overlay::ChangeMap && pasted { format!("{} (pasted back)", overlay.label()) } else { overlay.label().to_owned() }
}

fn is_on(cx: &Context<'_>, overlay: Overlay) -> bool {
    cx.state.overlays.is_on(overlay) && !cx.state.overlays.bare
}

fn piece_width(piece: &Piece) -> f32 {
    match piece {
        Piece::Chip { words, .. } => 2.0 * PAD + SWATCH + words.iter().map(|word| SPACE + word.size().x).sum::<f32>(),
        Piece::Threshold => THRESHOLD,
        Piece::Bare => BARE,
        Piece::Opacity => OPACITY,
    }
}

/// The left edge and the line of each piece, and how many lines there are (at least 1).
fn wrapped(widths: &[f32], room: f32) -> (Vec<(f32, usize)>, usize) {
    let (mut x, mut line) = (0.0, 0);
    let places = widths
        .iter()
        .map(|width| {
            if x > 0.0 && x + width > room {
                (x, line) = (0.0, line + 1);
            }
            let place = (x, line);
            x += width + GAP;
            place
        })
        .collect();
    (places, line + 1)
}

/// A switch that shows the overlay's line style and, as far as there is room, its name and key.
fn chip_ui(ui: &Ui, cx: &Context<'_>, rect: Rect, command: Command, overlay: Overlay, words: &[Arc<Galley>]) {
    let palette = cx.palette(ui);
    let on = is_on(cx, overlay);
    let response = ui.interact(rect, egui::Id::unique(("overlay", overlay.label())), Sense::click());
    let name = overlay_name(cx, overlay);
    widgets::name(&response, Role::CheckBox, on, &name);
    let visuals = ui.style().interact_selectable(&response, false);
    let fill = if on { palette.raised.0 } else { palette.panel.0 };
    ui.painter().rect(rect, 4.0, if response.hovered() { visuals.weak_bg_fill } else { fill }, visuals.bg_stroke, egui::StrokeKind::Inside);
    let swatch = Rect::from_min_size(rect.left_center() + vec2(PAD, -6.0), vec2(SWATCH, 12.0));
    widgets::paint_swatch(ui.painter(), palette, overlay, swatch, if on { 1.0 } else { 0.35 });
    let mut x = swatch.right() + SPACE;
    for word in words {
        ui.painter().galley(pos2(x, rect.center().y - word.size().y / 2.0), Arc::clone(word), palette.text.0);
        x += word.size().x + SPACE;
    }
    let tooltip = format!("{name}\n{}", command.tooltip(ui.ctx()));
    if response.on_hover_text(tooltip).clicked() {
        cx.send(Action::Do(command));
    }
}

/// Which candidates are drawn. They were all kept when the edit was scored, so no network is asked.
fn threshold_ui(ui: &mut Ui, cx: &Context<'_>, rect: Rect) {
    ui.scope_builder(UiBuilder::new().max_rect(rect).layout(egui::Layout::left_to_right(egui::Align::Center)), |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.spacing_mut().slider_width = 80.0;
        let label = ui.label("from");
        let mut threshold = cx.state.overlays.threshold();
        let slider = Slider::new(&mut threshold, crate::editor::Overlays::LEAST_THRESHOLD..=0.6).fixed_decimals(2);
        let slider = ui.add(slider).labelled_by(label.id);
        if slider.changed() {
            cx.send(Action::SetThreshold(threshold));
        }
        slider.on_hover_text("Candidates from this confidence up are drawn. Runs keep all from 0.05 up; no network is asked.");
    });
}

fn opacities_ui(ui: &mut Ui, cx: &Context<'_>) {
    ui.set_min_width(280.0);
    egui::Grid::new("opacities").num_columns(2).spacing(vec2(12.0, 6.0)).show(ui, |ui| {
        for overlay in Overlay::ALL {
            let label = ui.label(overlay.label());
            let mut percent = cx.state.overlays.opacity(overlay) * 100.0;
            let slider = ui.add(Slider::new(&mut percent, 0.0..=100.0).suffix(" %").fixed_decimals(0)).labelled_by(label.id);
            if slider.changed() {
                cx.send(Action::SetOpacity(overlay, percent / 100.0));
            }
            ui.end_row();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_break_into_lines_where_there_is_no_room() {
        let (places, lines) = wrapped(&[100.0, 80.0, 30.0, 300.0, 20.0], 200.0);
        assert_eq!(places, [(0.0, 0), (104.0, 0), (0.0, 1), (0.0, 2), (0.0, 3)]);
        assert_eq!(lines, 4);
        assert_eq!(wrapped(&[], 200.0).1, 1);
    }
}
