//! The two resizes that networks and metric were made with, exact to the bit.
//!
//! Published numbers depend on them: a resize that is "nearly the same" moves boxes and features. PIL's filter is antialiased and rounds
//! to 8 bits between its two passes; OpenCV's bilinear is not antialiased and works in 11-bit fixed point.

use image::RgbImage;
use rayon::prelude::*;

use crate::domain::Size;

/// The filters of PIL that are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PilFilter {
    /// Triangle of radius 1.
    Bilinear,
    /// Cubic of radius 2 with a = −0.5.
    Bicubic,
}

impl PilFilter {
    fn radius(self) -> f64 {
        match self {
            Self::Bilinear => 1.0,
            Self::Bicubic => 2.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        let x = x.abs();
        match self {
            Self::Bilinear => (1.0 - x).max(0.0),
            Self::Bicubic => {
                const A: f64 = -0.5;
                if x < 1.0 {
                    ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
                } else if x < 2.0 {
                    (((x - 5.0) * x + 8.0) * x - 4.0) * A
                } else {
                    0.0
                }
            }
        }
    }
}

/// Bits behind the point of PIL's 8-bit weights (`Resample.c`, `PRECISION_BITS`).
const PIL_BITS: u32 = 32 - 8 - 2;

/// The source pixels and fixed-point weights of one output pixel.
struct Taps {
    first: usize,
    weights: Vec<i32>,
}

/// PIL's taps for a side of `from` pixels becoming `to` pixels (`Resample.c`, `precompute_coeffs`, `normalize_coeffs_8bpc`).
fn pil_taps(from: u32, to: u32, filter: PilFilter) -> Vec<Taps> {
    let scale = f64::from(from) / f64::from(to);
    let stretch = scale.max(1.0);
    let support = filter.radius() * stretch;
    (0..to)
        .map(|i| {
            let center = (f64::from(i) + 0.5) * scale;
            // Truncation towards zero after adding a half, as the C code does; both are clamped to the side.
            let first = ((center - support + 0.5) as i64).max(0) as usize;
            let last = ((center + support + 0.5) as i64).min(i64::from(from)) as usize;
            let raw: Vec<f64> = (first..last).map(|x| filter.weight((x as f64 - center + 0.5) / stretch)).collect();
            let total: f64 = raw.iter().sum();
            let weights = raw
                .iter()
                .map(|w| {
                    let fixed = w / total * f64::from(1u32 << PIL_BITS);
                    (if fixed < 0.0 { fixed - 0.5 } else { fixed + 0.5 }) as i32
                })
                .collect();
            Taps { first, weights }
        })
        .collect()
}

fn pil_clip(sum: i64) -> u8 {
    (sum >> PIL_BITS).clamp(0, 255) as u8
}

/// Resizes as Pillow (8-bit RGB, `Image.resize` with `reducing_gap=None`): horizontal pass, rounded to 8 bits, then vertical. A pass that
/// keeps the length is skipped. Exact to the bit for Pillow up to 12; Pillow 13 turns the order round for tall pictures that get lower.
///
/// An empty picture or size gives an empty picture of that size.
pub fn pil_resize(picture: &RgbImage, size: Size, filter: PilFilter) -> RgbImage {
    let (width, height) = picture.dimensions();
    if width == 0 || height == 0 || size.width == 0 || size.height == 0 {
        return RgbImage::new(size.width, size.height);
    }
    let horizontal;
    let wide = if size.width == width {
        picture
    } else {
        horizontal = pil_horizontal(picture, size.width, filter);
        &horizontal
    };
    if size.height == height { wide.clone() } else { pil_vertical(wide, size.height, filter) }
}

fn pil_horizontal(picture: &RgbImage, to: u32, filter: PilFilter) -> RgbImage {
    let taps = pil_taps(picture.width(), to, filter);
    let mut out = RgbImage::new(to, picture.height());
    let (from_row, to_row) = (picture.width() as usize * 3, to as usize * 3);
    out.as_flat_samples_mut().samples.par_chunks_mut(to_row).zip(picture.as_raw().par_chunks(from_row)).for_each(|(target, source)| {
        for (pixel, tap) in target.chunks_exact_mut(3).zip(&taps) {
            let mut sums = [1i64 << (PIL_BITS - 1); 3];
            for (from, &weight) in source[tap.first * 3..].chunks_exact(3).zip(&tap.weights) {
                for (sum, &value) in sums.iter_mut().zip(from) {
                    *sum += i64::from(value) * i64::from(weight);
                }
            }
            pixel.copy_from_slice(&sums.map(pil_clip));
        }
    });
    out
}

fn pil_vertical(picture: &RgbImage, to: u32, filter: PilFilter) -> RgbImage {
    let taps = pil_taps(picture.height(), to, filter);
    let row = picture.width() as usize * 3;
    let mut out = RgbImage::new(picture.width(), to);
    out.as_flat_samples_mut().samples.par_chunks_mut(row).zip(taps.par_iter()).for_each(|(target, tap)| {
        let mut sums = vec![1i64 << (PIL_BITS - 1); row];
        for (source, &weight) in picture.as_raw()[tap.first * row..].chunks_exact(row).zip(&tap.weights) {
            for (sum, &value) in sums.iter_mut().zip(source) {
                *sum += i64::from(value) * i64::from(weight);
            }
        }
        for (value, sum) in target.iter_mut().zip(sums) {
            *value = pil_clip(sum);
        }
    });
    out
}

/// One output pixel of OpenCV's bilinear: two source indices and two 11-bit weights.
#[derive(Clone, Copy)]
struct Pair {
    first: usize,
    second: usize,
    weights: [i32; 2],
}

/// OpenCV's pairs for a side (`resize.cpp`, `INTER_LINEAR`, 8 bits). `clamp_weights`: columns outside take the border with weight 1;
/// rows outside keep their weights, both indices being clamped.
fn cv2_pairs(from: u32, to: u32, clamp_weights: bool) -> Vec<Pair> {
    let scale = f64::from(from) / f64::from(to);
    let last = i64::from(from) - 1;
    (0..to)
        .map(|d| {
            let f = ((f64::from(d) + 0.5) * scale - 0.5) as f32;
            let mut index = f.floor() as i64;
            let mut fraction = f - f.floor();
            if clamp_weights {
                if index < 0 {
                    (index, fraction) = (0, 0.0);
                }
                if index >= last {
                    (index, fraction) = (last, 0.0);
                }
            }
            let fixed = |w: f32| (w * 2048.0).round_ties_even() as i32;
            Pair {
                first: index.clamp(0, last) as usize,
                second: (index + 1).clamp(0, last) as usize,
                weights: [fixed(1.0 - fraction), fixed(fraction)],
            }
        })
        .collect()
}

/// Resizes as OpenCV 4 (`cv2.resize`, 8-bit RGB, `INTER_LINEAR`), exact to the bit: no antialiasing; when both sides halve exactly the
/// mean of four pixels, rounded.
///
/// An empty picture or size gives an empty picture of that size.
pub fn cv2_resize_linear(picture: &RgbImage, size: Size) -> RgbImage {
    let (width, height) = picture.dimensions();
    if width == 0 || height == 0 || size.width == 0 || size.height == 0 {
        return RgbImage::new(size.width, size.height);
    }
    if (width, height) == (size.width, size.height) {
        return picture.clone();
    }
    let mut out = RgbImage::new(size.width, size.height);
    let (from_row, to_row) = (width as usize * 3, size.width as usize * 3);
    let source = picture.as_raw();
    if u64::from(width) == 2 * u64::from(size.width) && u64::from(height) == 2 * u64::from(size.height) {
        out.as_flat_samples_mut().samples.par_chunks_mut(to_row).enumerate().for_each(|(y, target)| {
            let (upper, lower) = (&source[2 * y * from_row..], &source[(2 * y + 1) * from_row..]);
            for (i, value) in target.iter_mut().enumerate() {
                let at = i / 3 * 6 + i % 3;
                let sum = u32::from(upper[at]) + u32::from(upper[at + 3]) + u32::from(lower[at]) + u32::from(lower[at + 3]);
                *value = ((sum + 2) >> 2) as u8;
            }
        });
        return out;
    }
    let columns = cv2_pairs(width, size.width, true);
    let rows = cv2_pairs(height, size.height, false);
    let across = |y: usize| -> Vec<i32> {
        let row = &source[y * from_row..][..from_row];
        columns
            .iter()
            .flat_map(|pair| {
                [0, 1, 2]
                    .map(|c| i32::from(row[pair.first * 3 + c]) * pair.weights[0] + i32::from(row[pair.second * 3 + c]) * pair.weights[1])
            })
            .collect()
    };
    out.as_flat_samples_mut().samples.par_chunks_mut(to_row).zip(rows.par_iter()).for_each(|(target, pair)| {
        let (first, second) = (across(pair.first), across(pair.second));
        for ((value, a), b) in target.iter_mut().zip(first).zip(second) {
            let sum = ((pair.weights[0] * (a >> 4)) >> 16) + ((pair.weights[1] * (b >> 4)) >> 16) + 2;
            *value = (sum >> 2).clamp(0, 255) as u8;
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_picture_stays_constant() {
        let picture = RgbImage::from_pixel(13, 7, image::Rgb([17, 128, 255]));
        for size in [Size::new(5, 3), Size::new(40, 31), Size::new(13, 1), Size::new(1, 7)] {
            for out in [
                pil_resize(&picture, size, PilFilter::Bilinear),
                pil_resize(&picture, size, PilFilter::Bicubic),
                cv2_resize_linear(&picture, size),
            ] {
                assert!(out.pixels().all(|p| p.0 == [17, 128, 255]), "{size}");
                assert_eq!(out.dimensions(), (size.width, size.height));
            }
        }
    }

    #[test]
    fn an_exact_half_is_the_rounded_mean_of_four() {
        // Hand calculation: (1 + 2 + 3 + 5 + 2) >> 2 = 3.
        let picture = RgbImage::from_fn(2, 2, |x, y| image::Rgb([[[1, 2], [3, 5]][y as usize][x as usize]; 3]));
        assert_eq!(cv2_resize_linear(&picture, Size::new(1, 1)).get_pixel(0, 0).0, [3, 3, 3]);
    }

    #[test]
    fn empty_pictures_do_not_panic() {
        let empty = RgbImage::new(0, 0);
        assert_eq!(pil_resize(&empty, Size::new(3, 3), PilFilter::Bicubic).dimensions(), (3, 3));
        assert_eq!(cv2_resize_linear(&RgbImage::new(4, 4), Size::new(0, 2)).dimensions(), (0, 2));
    }
}
