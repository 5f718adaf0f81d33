//! The pixel under the pointer, in both pictures.

use egui::{Response, Stroke, Ui, vec2};

use crate::domain::{ImageSpace, Point, Size};

use super::{Frame, Pane, ui_rect};
use crate::gui::context::Context;
use crate::gui::pictures::Wanted;

/// What lies under the pointer.
pub struct Probe {
    /// Upright pixel of the source.
    pub x: u32,
    pub y: u32,
    pub source: Option<[u8; 3]>,
    pub edit: Option<[u8; 3]>,
}

impl Probe {
    /// The two values and their distance, in the metric's measure: `sqrt(mean of squared differences) / 255`.
    pub fn text(&self) -> String {
        let hex = |color: Option<[u8; 3]>| color.map_or_else(|| "–".to_owned(), |[r, g, b]| format!("{r:>3} {g:>3} {b:>3}"));
        let distance = self.source.zip(self.edit).map_or_else(|| "–".to_owned(), |(a, b)| format!("{:.3}", distance(a, b)));
        format!("x {:>4} y {:>4}   source {}   edit {}   Δ {distance}", self.x, self.y, hex(self.source), hex(self.edit))
    }
}

fn distance(a: [u8; 3], b: [u8; 3]) -> f64 {
    let squares: f64 = a.iter().zip(b).map(|(&a, b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
    (squares / 3.0).sqrt() / 255.0
}

/// The probe at the pointer; `None` outside the pictures.
pub fn probe(cx: &Context<'_>, panes: &[Pane; 2], frame: &Frame<'_>, response: &Response) -> Option<Probe> {
    let p_in_image = pointed(panes, frame, response)?;
    let (x, y) = (p_in_image.x as u32, p_in_image.y as u32);
    let value = |path: &std::path::PathBuf| {
        let ready = cx.pictures.ready(&Wanted::Full(path.clone()))?;
        let pixels = ready.pixels.as_ref()?;
        sample(&pixels.rgb, pixels.size, frame.size, p_in_image)
    };
    Some(Probe { x, y, source: value(&frame.row.source), edit: value(&frame.row.edited) })
}

fn pointed(panes: &[Pane; 2], frame: &Frame<'_>, response: &Response) -> Option<Point<ImageSpace>> {
    let pointer = response.hover_pos()?;
    let pane = panes.iter().find(|pane| pane.rect.contains(pointer))?;
    let p_in_image = frame.view.image_from_ui(&ui_rect(pane.rect), Point::new(pointer.x, pointer.y));
    crate::domain::Rect::whole(frame.size).contains(p_in_image).then_some(p_in_image)
}

/// The pixel of a decoded picture that is drawn at a pixel of the canvas.
fn sample(rgb: &[u8], decoded: Size, canvas: Size, p_in_image: Point<ImageSpace>) -> Option<[u8; 3]> {
    let scaled = |p: f32, to: u32, from: u32| ((p * to as f32 / from as f32) as u32).min(to.saturating_sub(1));
    let (x, y) = (scaled(p_in_image.x, decoded.width, canvas.width), scaled(p_in_image.y, decoded.height, canvas.height));
    let at = 3 * (y as usize * decoded.width as usize + x as usize);
    rgb.get(at..at + 3).map(|rgb| [rgb[0], rgb[1], rgb[2]])
}

/// Marks in both panes the place under the pointer.
pub fn crosshair_ui(ui: &Ui, cx: &Context<'_>, panes: &[Pane; 2], frame: &Frame<'_>, response: &Response) {
    let Some(p_in_image) = pointed(panes, frame, response) else { return };
    let palette = cx.palette(ui);
    for pane in panes {
        let at = frame.ui_from_image(pane, p_in_image);
        if response.hover_pos().is_some_and(|pointer| pane.rect.contains(pointer)) {
            continue;
        }
        let painter = ui.painter().with_clip_rect(pane.rect);
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
    fn a_smaller_edit_is_sampled_where_it_is_drawn() {
        // A 2×1 picture drawn on a canvas of 4×1: the right half shows its second pixel.
        let rgb = [1, 2, 3, 4, 5, 6];
        assert_eq!(sample(&rgb, Size::new(2, 1), Size::new(4, 1), Point::new(2.5, 0.5)), Some([4, 5, 6]));
        assert_eq!(sample(&rgb, Size::new(2, 1), Size::new(4, 1), Point::new(1.9, 0.5)), Some([1, 2, 3]));
    }
}
