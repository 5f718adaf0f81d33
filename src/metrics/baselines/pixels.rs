//! L1, L2, pixel L2 and PSNR: one pass over the pixels.

use rayon::prelude::*;

use super::{Aligned, Sum};
use crate::domain::{Baseline, Baselines, Outcome, Zoned};

/// What the pixel metrics need of some pixels. Sums of whole numbers are exact, so that the order of rows does not matter to them.
#[derive(Clone, Copy, Debug, Default)]
struct Differences {
    pixels: u64,
    /// Σ over pixels and channels of |a − b|, in levels.
    absolute: u64,
    /// Σ over pixels and channels of (a − b)².
    squared: u64,
    /// Σ over pixels of √(mean over channels of (a − b)²).
    rooted: f64,
}

impl Differences {
    fn add(&mut self, a: &[u8], b: &[u8]) {
        let (mut absolute, mut squared) = (0u32, 0u32);
        for (&a, &b) in a.iter().zip(b) {
            let difference = u32::from(a.abs_diff(b));
            absolute += difference;
            squared += difference * difference;
        }
        self.pixels += 1;
        self.absolute += u64::from(absolute);
        self.squared += u64::from(squared);
        self.rooted += (f64::from(squared) / 3.0).sqrt();
    }

    /// Mean of (a − b)² over pixels and channels, in levels².
    fn mean_squared(&self) -> f64 {
        self.squared as f64 / (3 * self.pixels) as f64
    }
}

impl Sum for Differences {
    fn is_empty(&self) -> bool {
        self.pixels == 0
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            pixels: self.pixels + other.pixels,
            absolute: self.absolute + other.absolute,
            squared: self.squared + other.squared,
            rooted: self.rooted + other.rooted,
        }
    }
}

/// Inside and outside of the region.
fn differences(pair: &Aligned<'_>) -> [Differences; 2] {
    let row_bytes = (pair.source.width() as usize * 3).max(1);
    let rows: Vec<[Differences; 2]> = pair
        .source
        .as_raw()
        .par_chunks_exact(row_bytes)
        .zip(pair.edit.as_raw().par_chunks_exact(row_bytes))
        .enumerate()
        .map(|(y, (source, edit))| {
            let mut zones = [Differences::default(); 2];
            for (x, (a, b)) in source.chunks_exact(3).zip(edit.chunks_exact(3)).enumerate() {
                let zone = usize::from(!pair.inside(x as u32, y as u32));
                zones[zone].add(a, b);
            }
            zones
        })
        .collect();
    // Added up in the order of the rows, so that the result does not depend on the number of threads.
    rows.iter().fold(Default::default(), |[inside, outside], row| [inside.plus(&row[0]), outside.plus(&row[1])])
}

/// The four metrics by name.
pub(super) fn baselines(pair: &Aligned<'_>) -> Baselines {
    let zones = differences(pair);
    let l1 = |d: &Differences| Outcome::Value(d.absolute as f64 / (3 * d.pixels) as f64 / 255.0);
    let l2 = |d: &Differences| Outcome::Value(d.mean_squared() / (255.0 * 255.0));
    let pixel_l2 = |d: &Differences| Outcome::Value(d.rooted / d.pixels as f64 / 255.0);
    let psnr = |d: &Differences| match d.squared {
        0 => Outcome::NotApplicable("the two are identical here, so the ratio is infinite".to_owned()),
        _ => Outcome::Value(10.0 * (255.0 * 255.0 / d.mean_squared()).log10()),
    };
    let entry = |baseline: Baseline, zoned: Zoned| (baseline.name().to_owned(), zoned);
    Baselines::from([
        entry(Baseline::L1, pair.zoned(&zones, l1)),
        entry(Baseline::L2, pair.zoned(&zones, l2)),
        entry(Baseline::PixelL2, pair.zoned(&zones, pixel_l2)),
        entry(Baseline::Psnr, pair.zoned(&zones, psnr)),
    ])
}
