//! Structural similarity (Wang, Bovik, Sheikh, Simoncelli 2004) with the conventions of scikit-image's `structural_similarity` for 8-bit
//! RGB (`channel_axis=-1`, `data_range=255`): uniform windows of 7×7, sample covariance, the mean over the centres whose window lies in the
//! picture, then over the channels.
//!
//! Windows are summed in whole numbers, column by column and then along the row, so that a window costs two additions and no rounding.

use std::ops::Range;

use rayon::prelude::*;

use super::{Aligned, MeanSum, Sum as _};
use crate::domain::{Outcome, Zoned};

/// Side of a window, in pixels.
const WINDOW: usize = 7;
/// Centres closer to the border than this have no whole window.
const MARGIN: usize = WINDOW / 2;
/// Rows of centres that one task works through; only the order of additions depends on it.
const BAND: usize = 64;

/// Sums over a window (or a column of one) of a, b, a², b² and a·b.
#[derive(Clone, Copy, Default)]
struct Moments([u32; 5]);

impl Moments {
    fn of(a: u8, b: u8) -> Self {
        let (a, b) = (u32::from(a), u32::from(b));
        Self([a, b, a * a, b * b, a * b])
    }

    fn add(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, value)| *sum += value);
    }

    fn remove(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, value)| *sum -= value);
    }

    /// The index of one window, −1 to 1.
    fn similarity(self) -> f64 {
        const PIXELS: f64 = (WINDOW * WINDOW) as f64;
        const SAMPLE: f64 = PIXELS / (PIXELS - 1.0);
        const C1: f64 = (0.01 * 255.0) * (0.01 * 255.0);
        const C2: f64 = (0.03 * 255.0) * (0.03 * 255.0);
        let [a, b, aa, bb, ab] = self.0.map(|sum| f64::from(sum) / PIXELS);
        let (variance_a, variance_b, covariance) = (SAMPLE * (aa - a * a), SAMPLE * (bb - b * b), SAMPLE * (ab - a * b));
        (2.0 * a * b + C1) * (2.0 * covariance + C2) / ((a * a + b * b + C1) * (variance_a + variance_b + C2))
    }
}

/// The similarity of a pair; not applicable where the picture is smaller than a window.
pub(super) fn ssim(pair: &Aligned<'_>) -> Zoned {
    let (width, height) = (pair.source.width() as usize, pair.source.height() as usize);
    if width < WINDOW || height < WINDOW {
        let why = format!("the source is {width}×{height}, smaller than a window of {WINDOW}×{WINDOW}");
        return Zoned { note: pair.note.clone(), ..Zoned::uniform(&Outcome::NotApplicable(why)) };
    }
    let centres: Vec<Range<usize>> = (MARGIN..height - MARGIN).step_by(BAND).map(|y| y..(y + BAND).min(height - MARGIN)).collect();
    let bands: Vec<[MeanSum; 2]> = centres.into_par_iter().map(|rows| band(pair, rows)).collect();
    let zones: [MeanSum; 2] = bands.iter().fold(Default::default(), |[a, b], band| [a.plus(&band[0]), b.plus(&band[1])]);
    pair.zoned(&zones, |zone| Outcome::Value(zone.mean()))
}

/// Inside and outside of the region, for the centres in `rows`; a pixel counts with the mean of its channels.
fn band(pair: &Aligned<'_>, rows: Range<usize>) -> [MeanSum; 2] {
    let width = pair.source.width() as usize;
    let (source, edit) = (pair.source.as_raw(), pair.edit.as_raw());
    let moments = |y: usize, i: usize| Moments::of(source[y * width * 3 + i], edit[y * width * 3 + i]);
    // Sums of a window's rows, for each column and channel.
    let mut columns = vec![Moments::default(); width * 3];
    for y in rows.start - MARGIN..rows.start + MARGIN {
        columns.iter_mut().enumerate().for_each(|(i, column)| column.add(moments(y, i)));
    }
    let mut zones = [MeanSum::default(); 2];
    for y in rows.clone() {
        columns.iter_mut().enumerate().for_each(|(i, column)| column.add(moments(y + MARGIN, i)));
        let mut window: [Moments; 3] = Default::default();
        for x in 0..width {
            for (channel, window) in window.iter_mut().enumerate() {
                window.add(columns[x * 3 + channel]);
                if x >= WINDOW {
                    window.remove(columns[(x - WINDOW) * 3 + channel]);
                }
            }
            if x + 1 >= WINDOW {
                let inside = pair.inside((x - MARGIN) as u32, y as u32);
                zones[usize::from(!inside)].add(window.iter().map(|w| w.similarity()).sum::<f64>() / 3.0);
            }
        }
        columns.iter_mut().enumerate().for_each(|(i, column)| column.remove(moments(y - MARGIN, i)));
    }
    zones
}
