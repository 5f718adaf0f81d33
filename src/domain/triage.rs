//! Where an edit changed its picture, against the region that was to change: what says that a score deserves a second look.

use serde::{Deserialize, Serialize};

use super::geometry::Size;

/// A pixel counts as changed when its distance (`sqrt(mean of squared differences) / 255`) is above this: 8 of 255 levels, which
/// recompressing a picture as JPEG seldom reaches.
pub const CHANGED_ABOVE: f64 = 8.0 / 255.0;

/// Change of a pair on the metric's canvas, against its edit region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeShares {
    /// Share of all change that lies outside the region, `0..=1`: the sum of the distances of changed pixels outside, over that of
    /// all changed pixels. `None` when no pixel changed.
    pub leak: Option<f64>,
    /// Share of the region's pixels that did not change, `0..=1`. `None` when the region is empty.
    pub unchanged: Option<f64>,
    /// Share of all pixels that changed, `0..=1`.
    pub changed: f64,
}

/// How the whole edit is moved against its source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// Pixels of the source by which the edit's content lies to the right.
    pub dx: f64,
    /// Pixels of the source by which the edit's content lies lower.
    pub dy: f64,
    /// How many times larger the edit's content is.
    pub zoom: f64,
    /// Share of the preservation loss that moving the edit back takes away, `0..=1`: `1 − loss_aligned / loss`.
    pub explained: f64,
    /// Mean distance outside the region (as in preserve), over the pixels that both pictures show once aligned. `None` in scores of
    /// programs that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The same with the edit moved back. `None` like `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_aligned: Option<f64>,
}

impl Shift {
    /// What moved and how far, in words; `size` is that of the source. A motion or zoom that moves no corner by half a pixel has no word.
    pub fn words(&self, size: Size) -> String {
        let half_diagonal = f64::from(size.width).hypot(f64::from(size.height)) / 2.0;
        let moved = self.dx.hypot(self.dy) >= 0.5;
        let zoomed = (self.zoom - 1.0).abs() * half_diagonal >= 0.5;
        let moved_by = || format!("moved by {}, {} px", signed(self.dx), signed(self.dy));
        match (moved, zoomed) {
            (_, false) => moved_by(),
            (false, true) => format!("zoomed {:.3}", self.zoom),
            (true, true) => format!("{} and zoomed {:.3}", moved_by(), self.zoom),
        }
    }
}

/// One decimal, with a real minus sign.
fn signed(value: f64) -> String {
    let text = format!("{:.1}", value.abs());
    if value < 0.0 && text != "0.0" { format!("−{text}") } else { text }
}

/// What besides the parts is known of a pair; each field is empty when it has nothing to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Triage {
    /// `None` when the edit has no region (global edits).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeShares>,
    /// The size of the edit, where it is not that of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_size: Option<Size>,
    /// The edit looks moved or zoomed as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
}

impl Triage {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_told_in_words() {
        let shift = |dx, dy, zoom| Shift { dx, dy, zoom, explained: 0.71, loss: Some(0.1), loss_aligned: Some(0.029) };
        let size = Size::new(1000, 1000);
        assert_eq!(shift(3.02, -2.0, 1.02).words(size), "moved by 3.0, −2.0 px and zoomed 1.020");
        assert_eq!(shift(0.1, -0.01, 0.98).words(size), "zoomed 0.980");
        assert_eq!(shift(-7.5, -0.01, 1.0).words(size), "moved by −7.5, 0.0 px");
    }

    #[test]
    fn a_score_of_before_the_losses_were_kept_is_read() {
        let old: Shift = serde_json::from_str(r#"{"dx": 1.0, "dy": 2.0, "zoom": 1.0, "explained": 0.5}"#).expect("as it was written");
        assert_eq!((old.explained, old.loss, old.loss_aligned), (0.5, None, None));
    }
}
