//! The metric's distance between two pictures, as they lie and with a motion taken back.

use image::RgbImage;

use crate::domain::{Mask, Size};

use super::Motion;
use super::plane::{Axis, Tap};

/// Mean distances over the pixels that count and are visible in both pictures.
pub(super) struct Loss {
    pub edit_as_it_is: f64,
    pub edit_warped_back: f64,
    /// As the pictures lie, over those of these pixels whose place in the edit is looked at warped back too: what only leaves the sight is not
    /// explained. 0 when there is none.
    pub in_place_of_both: f64,
    /// Share of the counting pixels that are visible in both.
    pub overlap: f64,
}

/// Two pictures of one size (at least 2×2), and the pixels of it that do not count.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub source: &'a RgbImage,
    pub edit: &'a RgbImage,
    pub ignore: Option<&'a Mask>,
}

impl Pair<'_> {
    pub fn size(&self) -> Size {
        Size::new(self.source.width(), self.source.height())
    }

    /// Whether a pixel takes part.
    pub fn counts(&self, x: u32, y: u32) -> bool {
        !self.ignore.is_some_and(|mask| mask.get(x, y))
    }

    /// Mean over the counting pixels of `sqrt(mean over channels of (a − b)²) / 255`; `None` when no pixel counts.
    pub fn loss_in_place(&self) -> Option<f64> {
        let row_bytes = 3 * self.source.width() as usize;
        let (mut sum, mut counting) = (0.0, 0u64);
        for (y, (source, edit)) in (0..).zip(self.source.chunks_exact(row_bytes).zip(self.edit.chunks_exact(row_bytes))) {
            let mut row_sum = 0.0f32;
            for (x, (a, b)) in (0..).zip(source.chunks_exact(3).zip(edit.chunks_exact(3))) {
                if self.counts(x, y) {
                    let squares: i32 = a.iter().zip(b).map(|(a, b)| (i32::from(*a) - i32::from(*b)).pow(2)).sum();
                    row_sum += (squares as f32 / 3.0).sqrt();
                    counting += 1;
                }
            }
            sum += f64::from(row_sum) / 255.0;
        }
        (counting > 0).then(|| sum / counting as f64)
    }

    /// The same before and after taking `motion` back (bilinear); `None` when no counting pixel is visible in both pictures.
    pub fn loss(&self, motion: &Motion) -> Option<Loss> {
        let (columns, rows) = Axis::both(self.size(), motion);
        let row_of = |picture: &RgbImage, y: usize| -> Vec<[f32; 3]> {
            let bytes = 3 * picture.width() as usize;
            picture.as_raw()[y * bytes..(y + 1) * bytes].chunks_exact(3).map(|rgb| [rgb[0], rgb[1], rgb[2]].map(f32::from)).collect()
        };
        let looked_at = |axis: &Axis| match axis.visible.clone().next_back() {
            Some(last) => axis.tap(axis.visible.start).first..axis.tap(last).first + 2,
            None => 0..0,
        };
        let (columns_of_both, rows_of_both) = (looked_at(&columns), looked_at(&rows));
        let (mut before, mut after, mut visible) = (0.0, 0.0, 0u64);
        let (mut before_of_both, mut both) = (0.0, 0u64);
        for y in rows.visible.clone() {
            let (source, edit) = (row_of(self.source, y), row_of(self.edit, y));
            let Tap { first, next_share } = rows.tap(y);
            let rows_seen = row_of(self.edit, first).into_iter().zip(row_of(self.edit, first + 1));
            let seen: Vec<[f32; 3]> = rows_seen.map(|(upper, lower)| between(upper, lower, next_share)).collect();
            for x in columns.visible.clone().filter(|&x| self.counts(x as u32, y as u32)) {
                let Tap { first, next_share } = columns.tap(x);
                let in_place = distance(source[x], edit[x]);
                before += in_place;
                if columns_of_both.contains(&x) && rows_of_both.contains(&y) {
                    before_of_both += in_place;
                    both += 1;
                }
                after += distance(source[x], between(seen[first], seen[first + 1], next_share));
                visible += 1;
            }
        }
        let counting = self.size().pixels() - self.ignore.map_or(0, Mask::count);
        let mean = |sum: f64| sum / visible as f64;
        (visible > 0).then(|| Loss {
            edit_as_it_is: mean(before),
            edit_warped_back: mean(after),
            in_place_of_both: if both > 0 { before_of_both / both as f64 } else { 0.0 },
            overlap: visible as f64 / counting as f64,
        })
    }
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f64 {
    f64::from((a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>() / 3.0).sqrt()) / 255.0
}

fn between(a: [f32; 3], b: [f32; 3], share_of_b: f32) -> [f32; 3] {
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * share_of_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ramp: each pixel ten levels brighter than its left neighbour.
    fn ramp(offset: u32) -> RgbImage {
        RgbImage::from_fn(20, 4, |x, _| image::Rgb([(10 * (x + offset)) as u8; 3]))
    }

    #[test]
    fn half_a_pixel_of_a_ramp_is_half_a_step() {
        let (source, edit) = (ramp(0), ramp(1));
        let pair = Pair { source: &source, edit: &edit, ignore: None };
        // Every pixel differs by 10 levels; half a pixel to the left the edit shows 5 levels less, so 5 are left.
        assert!((pair.loss_in_place().expect("all pixels count") - 10.0 / 255.0).abs() < 1e-6);
        let half = pair.loss(&Motion { dx: -0.5, dy: 0.0, zoom: 1.0 }).expect("nearly all pixels are visible");
        // The first column has no left neighbour and stays as it is: 19 of 20 columns are halved.
        let by_hand = (19.0 * 5.0 + 10.0) / 20.0 / 255.0;
        assert!((half.edit_warped_back - by_hand).abs() < 1e-6 && half.overlap > 0.999, "{}", half.edit_warped_back * 255.0);
    }

    #[test]
    fn only_what_counts_and_is_visible_counts() {
        let (source, edit) = (ramp(0), ramp(1));
        let left = Mask::from_fn(Size::new(20, 4), |x, _| x < 10);
        let pair = Pair { source: &source, edit: &edit, ignore: Some(&left) };
        // Five columns to the right the last five leave the picture: 5 of the 10 that count are left.
        let moved = pair.loss(&Motion { dx: 5.0, dy: 0.0, zoom: 1.0 }).expect("half is visible");
        assert!((moved.overlap - 0.5).abs() < 1e-9, "{}", moved.overlap);
        let all = Mask::full(Size::new(20, 4));
        assert!(Pair { ignore: Some(&all), ..pair }.loss_in_place().is_none());
    }
}
