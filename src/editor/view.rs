//! The one zoom and pan that all pictures of a pair share.
//!
//! The canvas is measured in image pixels of the source; an edit of another size is stretched to it, as the metric does.

use crate::domain::{ImageSpace, Point, Rect, Size, UiSpace};

/// Least and greatest zoom, in screen pixels a source pixel: 1 % and 6400 %, whatever the scale of the screen.
const ZOOM_LIMITS: (f32, f32) = (0.01, 64.0);
/// Points left free around a fitted picture.
const FIT_MARGIN: f32 = 8.0;

/// Zoom and pan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Follow the pane: the whole picture is shown whatever the pane's size.
    pub fit: bool,
    /// Window points a source pixel; only used without `fit`.
    pub zoom: f32,
    /// The source pixel in the middle of the pane; only used without `fit`.
    pub center_in_image: Point<ImageSpace>,
}

impl Default for View {
    fn default() -> Self {
        Self { fit: true, zoom: 1.0, center_in_image: Point::new(0.0, 0.0) }
    }
}

impl View {
    /// The view with zoom and centre spelled out for a pane showing a picture of `size`. `ppp` is screen pixels a window point.
    ///
    /// A fitted picture is seen whole, even if that takes less than the least zoom.
    pub fn resolved(&self, pane: &Rect<UiSpace>, size: Size, ppp: f32) -> Self {
        if !self.fit || size.pixels() == 0 {
            return *self;
        }
        let zoom_x = (pane.width() - 2.0 * FIT_MARGIN).max(1.0) / size.width as f32;
        let zoom_y = (pane.height() - 2.0 * FIT_MARGIN).max(1.0) / size.height as f32;
        let zoom = zoom_x.min(zoom_y).min(ZOOM_LIMITS.1 / ppp);
        Self { fit: true, zoom, center_in_image: Rect::whole(size).center() }
    }

    /// `ui_from_image`: where a source pixel is drawn in `pane`. The view must be resolved.
    pub fn ui_from_image(&self, pane: &Rect<UiSpace>, p_in_image: Point<ImageSpace>) -> Point<UiSpace> {
        let middle = pane.center();
        Point::new(
            middle.x + (p_in_image.x - self.center_in_image.x) * self.zoom,
            middle.y + (p_in_image.y - self.center_in_image.y) * self.zoom,
        )
    }

    /// `image_from_ui`: which source pixel lies under a position of `pane`. The view must be resolved.
    pub fn image_from_ui(&self, pane: &Rect<UiSpace>, p_in_ui: Point<UiSpace>) -> Point<ImageSpace> {
        let middle = pane.center();
        Point::new(self.center_in_image.x + (p_in_ui.x - middle.x) / self.zoom, self.center_in_image.y + (p_in_ui.y - middle.y) / self.zoom)
    }

    /// Zooms by `factor` so that the pixel under `cursor_in_ui` stays under it. `ppp` is screen pixels a window point. The view must be
    /// resolved.
    pub fn zoomed_at(&self, pane: &Rect<UiSpace>, cursor_in_ui: Point<UiSpace>, factor: f32, ppp: f32) -> Self {
        let held = self.image_from_ui(pane, cursor_in_ui);
        let zoom = self.limited(self.zoom * factor, ppp);
        let middle = pane.center();
        let center_in_image = Point::new(held.x - (cursor_in_ui.x - middle.x) / zoom, held.y - (cursor_in_ui.y - middle.y) / zoom);
        Self { fit: false, zoom, center_in_image }
    }

    /// Moves the picture by some window points. The view must be resolved.
    pub fn panned(&self, dx: f32, dy: f32) -> Self {
        let center = Point::new(self.center_in_image.x - dx / self.zoom, self.center_in_image.y - dy / self.zoom);
        Self { fit: false, zoom: self.zoom, center_in_image: center }
    }

    /// The view moved by less than half a screen pixel so that picture pixels begin where screen pixels do: from 100 % up they are then
    /// drawn crisp. `ppp` is screen pixels a window point. The view must be resolved.
    pub fn snapped(&self, pane: &Rect<UiSpace>, ppp: f32) -> Self {
        let origin = self.ui_from_image(pane, Point::new(0.0, 0.0));
        let off = |at: f32| ((at * ppp).round() - at * ppp) / ppp / self.zoom;
        let center = Point::new(self.center_in_image.x - off(origin.x), self.center_in_image.y - off(origin.y));
        Self { center_in_image: center, ..*self }
    }

    /// The part of the canvas that is seen in `pane`. The view must be resolved.
    pub fn seen(&self, pane: &Rect<UiSpace>) -> Rect<ImageSpace> {
        let (first, last) =
            (self.image_from_ui(pane, Point::new(pane.x0, pane.y0)), self.image_from_ui(pane, Point::new(pane.x1, pane.y1)));
        Rect::new(first.x, first.y, last.x, last.y)
    }

    /// The same zoom about another pixel of the source. The view must be resolved.
    pub const fn centered(&self, center_in_image: Point<ImageSpace>) -> Self {
        Self { fit: false, zoom: self.zoom, center_in_image }
    }

    /// The same centre at another zoom (window points a source pixel; `ppp` is screen pixels a window point). The view must be resolved.
    pub fn at_zoom(&self, zoom: f32, ppp: f32) -> Self {
        Self { fit: false, zoom: self.limited(zoom, ppp), center_in_image: self.center_in_image }
    }

    /// `zoom` within the limits. A fitted picture may lie below the least zoom: from there it can only be zoomed in.
    fn limited(&self, zoom: f32, ppp: f32) -> f32 {
        let least = (ZOOM_LIMITS.0 / ppp).min(self.zoom);
        zoom.clamp(least, ZOOM_LIMITS.1 / ppp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PANE: Rect<UiSpace> = Rect::new(100.0, 50.0, 316.0, 266.0);

    #[test]
    fn fitting_shows_the_whole_picture_with_a_margin() {
        // The pane is 216 points wide, 8 are left free on each side: 200 points for 400 pixels.
        let view = View::default().resolved(&PANE, Size::new(400, 100), 1.0);
        assert_eq!(view.zoom, 0.5);
        let corner = view.ui_from_image(&PANE, Point::new(0.0, 0.0));
        assert_eq!((corner.x, corner.y), (108.0, 133.0));
    }

    #[test]
    fn zooming_keeps_the_pixel_under_the_cursor() {
        let view = View::default().resolved(&PANE, Size::new(400, 100), 1.0);
        let cursor = Point::new(120.0, 140.0);
        let held = view.image_from_ui(&PANE, cursor);
        let zoomed = view.zoomed_at(&PANE, cursor, 4.0, 1.0);
        let back = zoomed.ui_from_image(&PANE, held);
        assert!((back.x - cursor.x).abs() < 1e-3 && (back.y - cursor.y).abs() < 1e-3);
        assert_eq!(zoomed.zoom, 2.0);
        assert!(!zoomed.fit);
    }

    #[test]
    fn zoom_stays_within_one_and_6400_percent_of_the_screen_s_pixels() {
        for (ppp, most, least) in [(1.0, 64.0, 0.01), (2.0, 32.0, 0.005)] {
            let view = View::default().resolved(&PANE, Size::new(400, 100), ppp);
            assert_eq!(view.zoomed_at(&PANE, PANE.center(), 1e9, ppp).zoom, most);
            assert_eq!(view.zoomed_at(&PANE, PANE.center(), 1e-9, ppp).zoom, least);
            assert_eq!(view.at_zoom(1e9, ppp).zoom, most);
            // A picture of one pixel is not fitted beyond it either: the pane has room for 200 points.
            assert_eq!(View::default().resolved(&PANE, Size::new(1, 1), ppp).zoom, most);
        }
    }

    #[test]
    fn a_fitted_picture_is_seen_whole_even_below_one_percent() {
        // 200 points for 100,000 pixels.
        let view = View::default().resolved(&PANE, Size::new(100_000, 10), 1.0);
        assert!((view.zoom - 0.002).abs() < 1e-7);
        assert_eq!(view.zoomed_at(&PANE, PANE.center(), 0.5, 1.0).zoom, view.zoom, "it does not jump to 1 % when zoomed out");
        assert_eq!(view.zoomed_at(&PANE, PANE.center(), 2.0, 1.0).zoom, 2.0 * view.zoom);
    }

    #[test]
    fn snapping_puts_the_origin_on_a_screen_pixel() {
        // The pane's middle is (208, 158); at zoom 1 the origin of a picture centred at (10.3, 0) lies at 197.7, on two screen pixels a
        // point at 395.4: it moves to 395 / 2 = 197.5.
        let view = View { fit: false, zoom: 1.0, center_in_image: Point::new(10.3, 0.0) };
        let origin = view.snapped(&PANE, 2.0).ui_from_image(&PANE, Point::new(0.0, 0.0));
        assert!((origin.x - 197.5).abs() < 1e-3 && (origin.y - 158.0).abs() < 1e-3, "{origin:?}");
    }

    #[test]
    fn what_is_seen_is_the_pane_in_pixels() {
        let view = View { fit: false, zoom: 2.0, center_in_image: Point::new(100.0, 50.0) };
        assert_eq!(view.seen(&PANE).to_array(), [46.0, -4.0, 154.0, 104.0]);
    }

    #[test]
    fn panning_moves_the_picture_with_the_hand() {
        let view = View::default().resolved(&PANE, Size::new(400, 100), 1.0).panned(10.0, 0.0);
        assert_eq!(view.center_in_image.x, 180.0);
    }
}
