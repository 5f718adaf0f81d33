//! The pixel under the pointer, in both pictures.

use egui::{Color32, FontId, Response, RichText, Role, Sense, Stroke, StrokeKind, Ui, UiBuilder, vec2};

use crate::domain::{ImageSpace, Point, Size};

use super::{Frame, Pane};
use crate::gui::context::Context;
use crate::gui::pictures::{Ready, Wanted};
use crate::gui::widgets;

/// Height of the strip below the pictures.
pub const HEIGHT: f32 = 22.0;

/// What lies under the pointer.
pub struct Probe {
    /// Upright pixel of the source.
    pub x: u32,
    pub y: u32,
    pub source: Option<[u8; 3]>,
    pub edit: Option<[u8; 3]>,
}

/// What the numbers of the strip mean.
const MEANING: &str = "Levels of red, green and blue, 0 to 255, in both pictures at the pixel under the pointer; an edit of another size is \
                       read where it is drawn. Then edit minus source, and Δ, their distance as the metric measures it: the square root \
                       of the mean of the three squared differences, over 255.";

impl Probe {
    /// The two values, what was added to each channel, and their distance in the metric's measure: `sqrt(mean of squared differences) / 255`.
    pub fn text(&self) -> String {
        let Self { x, y, source, edit } = *self;
        format!("x {x:>4} y {y:>4}  source {}  edit {}  edit−source {}", levels(source), levels(edit), self.difference())
    }

    /// The same with signs in place of words, for a narrow canvas.
    fn short_text(&self) -> String {
        format!("{},{}  {} → {}  {}", self.x, self.y, levels(self.source), levels(self.edit), self.difference())
    }

    fn difference(&self) -> String {
        self.source.zip(self.edit).map_or_else(
            || "–".to_owned(),
            |(a, b)| {
                let [r, g, b_] = std::array::from_fn(|c| i16::from(b[c]) - i16::from(a[c]));
                format!("{r:>+4} {g:>+4} {b_:>+4}  Δ {:.3}", distance(a, b))
            },
        )
    }
}

fn levels(color: Option<[u8; 3]>) -> String {
    color.map_or_else(|| "–".to_owned(), |[r, g, b]| format!("{r:>3} {g:>3} {b:>3}"))
}

fn distance(a: [u8; 3], b: [u8; 3]) -> f64 {
    let squares: f64 = a.iter().zip(b).map(|(&a, b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
    (squares / 3.0).sqrt() / 255.0
}

/// The probe at the pointer; `None` outside the pictures.
fn probe(cx: &Context<'_>, panes: &[Pane<'_>], frame: &Frame<'_>, response: &Response) -> Option<Probe> {
    let (pane, p_in_image) = pointed(panes, frame, response)?;
    let value = |path: &std::path::PathBuf| {
        let full = cx.pictures.ready(&Wanted::Full(path.clone())).or_else(|| cx.pictures.ready(&Wanted::Reduced(path.clone())));
        let picture = full.and_then(Ready::picture)?;
        let (x, y) = sampled(picture.pyramid.size(), frame.size, p_in_image);
        picture.pyramid.pixel(x, y)
    };
    let (x, y) = (p_in_image.x as u32, p_in_image.y as u32);
    Some(Probe { x, y, source: value(&pane.row.source), edit: value(cx.edited_of(pane.row)) })
}

fn pointed<'a, 'b>(panes: &'a [Pane<'b>], frame: &Frame<'_>, response: &Response) -> Option<(&'a Pane<'b>, Point<ImageSpace>)> {
    let pointer = response.hover_pos()?;
    let pane = panes.iter().find(|pane| pane.clip.contains(pointer))?;
    let p_in_image = frame.image_from_ui(pane, pointer);
    crate::domain::Rect::whole(frame.size).contains(p_in_image).then_some((pane, p_in_image))
}

/// The pixel of a decoded picture that is drawn at a pixel of the canvas.
fn sampled(decoded: Size, canvas: Size, p_in_image: Point<ImageSpace>) -> (u32, u32) {
    let scaled = |p: f32, to: u32, from: u32| ((p * to as f32 / from as f32) as u32).min(to.saturating_sub(1));
    (scaled(p_in_image.x, decoded.width, canvas.width), scaled(p_in_image.y, decoded.height, canvas.height))
}

/// The strip below the pictures: what the pointer is on.
pub fn strip_ui(ui: &mut Ui, cx: &Context<'_>, rect: egui::Rect, panes: &[Pane<'_>], frame: &Frame<'_>, response: &Response) {
    let palette = cx.palette(ui);
    ui.painter().rect_filled(rect, 0.0, palette.panel.0);
    let probe = probe(cx, panes, frame, response);
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    ui.scope_builder(UiBuilder::new().max_rect(rect.shrink2(vec2(10.0, 2.0))).layout(layout), |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let Some(probe) = probe else {
            let text = RichText::new("Point at a pixel to read it in both pictures.").size(11.5).color(palette.text_dim.0);
            ui.add(egui::Label::new(text).truncate()).on_hover_text(MEANING);
            return;
        };
        swatches_ui(ui, &probe, palette.outline.0);
        let font = FontId::monospace(11.0);
        let width = |text: &str| ui.painter().layout_no_wrap(text.to_owned(), font.clone(), palette.text.0).size().x;
        let whole = probe.text();
        let text = if width(&whole) <= ui.available_width() { whole.clone() } else { probe.short_text() };
        let label = ui.add(egui::Label::new(RichText::new(text).font(font.clone()).color(palette.text.0)).truncate());
        widgets::name(&label, Role::Label, false, format!("Pixel {whole}"));
    });
}

/// The two colours beside each other, the source first.
fn swatches_ui(ui: &mut Ui, probe: &Probe, outline: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(28.0, 12.0), Sense::hover());
    let (left, right) = rect.split_left_right_at_fraction(0.5);
    for (half, color) in [(left, probe.source), (right, probe.edit)] {
        if let Some([r, g, b]) = color {
            ui.painter().rect_filled(half, 0.0, Color32::from_rgb(r, g, b));
        }
    }
    ui.painter().rect_stroke(rect, 0.0, Stroke::new(1.0, outline), StrokeKind::Outside);
}

/// Marks in the other panes the place under the pointer.
pub fn crosshair_ui(ui: &Ui, cx: &Context<'_>, panes: &[Pane<'_>], frame: &Frame<'_>, response: &Response) {
    let Some((pointed_at, p_in_image)) = pointed(panes, frame, response) else { return };
    let palette = cx.palette(ui);
    for pane in panes.iter().filter(|pane| pane.rect != pointed_at.rect) {
        let at = frame.ui_from_image(pane, p_in_image);
        let painter = ui.painter().with_clip_rect(pane.clip);
        for (width, color) in [(3.0, palette.label_background.0), (1.0, palette.text_strong.0)] {
            painter.line_segment([at - vec2(7.0, 0.0), at + vec2(7.0, 0.0)], Stroke::new(width, color));
            painter.line_segment([at - vec2(0.0, 7.0), at + vec2(0.0, 7.0)], Stroke::new(width, color));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_that_of_the_metric() {
        // bpm.md section 4: black against white is 1; 3 levels in one channel of three: sqrt(9 / 3) / 255.
        assert!((distance([0; 3], [255; 3]) - 1.0).abs() < 1e-12);
        assert!((distance([10, 20, 30], [13, 20, 30]) - 3f64.sqrt() / 255.0).abs() < 1e-12);
    }

    #[test]
    fn both_values_and_their_difference_are_told() {
        let probe = Probe { x: 7, y: 1234, source: Some([10, 20, 30]), edit: Some([13, 20, 9]) };
        // sqrt((9 + 0 + 441) / 3) / 255 = 0.04803.
        assert_eq!(probe.text(), "x    7 y 1234  source  10  20  30  edit  13  20   9  edit−source   +3   +0  -21  Δ 0.048");
        assert_eq!(probe.short_text(), "7,1234   10  20  30 →  13  20   9    +3   +0  -21  Δ 0.048");
    }

    #[test]
    fn a_smaller_edit_is_sampled_where_it_is_drawn() {
        // A 2×1 picture drawn on a canvas of 4×1: the right half shows its second pixel.
        assert_eq!(sampled(Size::new(2, 1), Size::new(4, 1), Point::new(2.5, 0.5)), (1, 0));
        assert_eq!(sampled(Size::new(2, 1), Size::new(4, 1), Point::new(1.9, 0.5)), (0, 0));
    }
}
