//! The metrics that papers report beside BPM: an edit against its source, as a whole, inside and outside the edit region.
//!
//! What each one is stands in [`Baseline::definition`]. Pixel metrics and LPIPS compare at the size of the source, to which the edit is
//! stretched where it has another one (OpenCV bilinear, as BPM stretches both to its canvas). CLIP and DINO see each picture as it is, with
//! their own resize. A network that fails costs its own values only.

mod features;
mod pixels;
mod ssim;
mod texts;

pub use features::{clip, dino, lpips};
pub use texts::{Caption, Texts};

use std::borrow::Cow;

use image::RgbImage;

use crate::domain::{Baseline, Baselines, Mask, Outcome, Size, Zoned};
use crate::imaging::resize::cv2_resize_linear;

/// Source and edit at the size of the source, with the region that splits the picture.
pub struct Aligned<'a> {
    source: &'a RgbImage,
    edit: Cow<'a, RgbImage>,
    /// At the size of the source; else why there is none.
    region: Result<&'a Mask, &'a str>,
    note: String,
}

impl<'a> Aligned<'a> {
    /// Brings the upright pictures of a pair to one size.
    ///
    /// `region` is the edit region at the size of the source, or the reason why there is none; a mask of another size counts as none.
    pub fn new(source: &'a RgbImage, edit: &'a RgbImage, region: Result<&'a Mask, &'a str>) -> Self {
        let [source_size, edit_size] = [source, edit].map(|picture| Size::new(picture.width(), picture.height()));
        let region = region.and_then(|mask| match mask.size() == source_size {
            true => Ok(mask),
            false => Err("the edit region is not of the size of the source"),
        });
        if source_size == edit_size {
            return Self { source, edit: Cow::Borrowed(edit), region, note: String::new() };
        }
        let note = format!("the edit is {edit_size} and was stretched to the source's {source_size}");
        Self { source, edit: Cow::Owned(cv2_resize_linear(edit, source_size)), region, note }
    }

    /// Whether pixel (x, y) of the source is in the region; nothing is where there is no region.
    fn inside(&self, x: u32, y: u32) -> bool {
        self.region.is_ok_and(|mask| mask.get(x, y))
    }

    /// The outcome for each zone, from numbers of the two halves of the picture.
    ///
    /// `finish` turns the sum over some pixels into a value; it is not asked for a zone without pixels.
    fn zoned<S: Sum>(&self, [inside, outside]: &[S; 2], finish: impl Fn(&S) -> Outcome<f64>) -> Zoned {
        let whole = inside.plus(outside);
        let of = |zone: &S, empty: &str| match (self.region, zone.is_empty()) {
            (Err(why), _) => Outcome::NotApplicable(why.to_owned()),
            (Ok(_), true) => Outcome::NotApplicable(empty.to_owned()),
            (Ok(_), false) => finish(zone),
        };
        Zoned {
            whole: if whole.is_empty() { Outcome::NotApplicable("the picture has no pixels".to_owned()) } else { finish(&whole) },
            inside: of(inside, "no pixel that it looks at is inside the edit region"),
            outside: of(outside, "no pixel that it looks at is outside the edit region"),
            note: self.note.clone(),
        }
    }
}

/// Numbers of some pixels that can be added up.
trait Sum {
    fn is_empty(&self) -> bool;
    fn plus(&self, other: &Self) -> Self;
}

/// A sum of values over some pixels.
#[derive(Clone, Copy, Debug, Default)]
struct MeanSum {
    sum: f64,
    pixels: u64,
}

impl MeanSum {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.pixels += 1;
    }

    fn mean(&self) -> f64 {
        self.sum / self.pixels as f64
    }
}

impl Sum for MeanSum {
    fn is_empty(&self) -> bool {
        self.pixels == 0
    }

    fn plus(&self, other: &Self) -> Self {
        Self { sum: self.sum + other.sum, pixels: self.pixels + other.pixels }
    }
}

/// L1, L2, PSNR and SSIM of a pair.
pub fn from_pixels(pair: &Aligned<'_>) -> Baselines {
    let mut found = pixels::baselines(pair);
    found.insert(Baseline::Ssim.name().to_owned(), ssim::ssim(pair));
    found
}
