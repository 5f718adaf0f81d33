//! One channel of floating-point numbers, as registration computes with.

use image::RgbImage;

use crate::domain::Size;

/// `width × height` numbers, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plane {
    pub size: Size,
    pub values: Vec<f32>,
}

impl Plane {
    /// Each pixel from its column and row.
    pub fn from_fn(size: Size, value: impl Fn(u32, u32) -> f32) -> Self {
        let values = (0..size.height).flat_map(|y| (0..size.width).map(move |x| (x, y))).map(|(x, y)| value(x, y)).collect();
        Self { size, values }
    }

    /// Luma (ITU-R BT.601, `0.299 R + 0.587 G + 0.114 B`) in `0..=1`.
    pub fn luma(picture: &RgbImage) -> Self {
        let luma = |&image::Rgb([r, g, b]): &image::Rgb<u8>| (0.299 * f32::from(r) + 0.587 * f32::from(g) + 0.114 * f32::from(b)) / 255.0;
        Self { size: Size::new(picture.width(), picture.height()), values: picture.pixels().map(luma).collect() }
    }

    /// The value of a pixel inside the plane.
    pub fn at(&self, x: u32, y: u32) -> f32 {
        self.values[y as usize * self.size.width as usize + x as usize]
    }

    /// The mean of the old pixels under each new one, weighted by how much of them it covers (for making smaller).
    pub fn area_resized(&self, size: Size) -> Self {
        let across =
            area_pass(&self.values, self.size.width as usize, size.width as usize, self.size.height as usize, 1, self.size.width as usize);
        let (width, height) = (size.width as usize, self.size.height as usize);
        // The second pass walks down the columns and gives them column by column.
        let down = area_pass(&across, height, size.height as usize, width, width, 1);
        let tall = size.height as usize;
        Self { size, values: (0..tall * width).map(|i| down[i % width * tall + i / width]).collect() }
    }

    /// The value at a position (pixel centres at half-integers) by bilinear interpolation; `None` where the plane does not reach.
    pub fn sample(&self, x: f64, y: f64) -> Option<f32> {
        let (width, height) = (f64::from(self.size.width), f64::from(self.size.height));
        if !(0.0..=width).contains(&x) || !(0.0..=height).contains(&y) {
            return None;
        }
        let (x0, x1, fx) = neighbours(x, self.size.width);
        let (y0, y1, fy) = neighbours(y, self.size.height);
        let upper = self.at(x0, y0) * (1.0 - fx) + self.at(x1, y0) * fx;
        let lower = self.at(x0, y1) * (1.0 - fx) + self.at(x1, y1) * fx;
        Some(upper * (1.0 - fy) + lower * fy)
    }
}

fn neighbours(p: f64, side: u32) -> (u32, u32, f32) {
    let p = (p - 0.5).clamp(0.0, f64::from(side - 1));
    let first = (p as u32).min(side - 1);
    (first, (first + 1).min(side - 1), (p - f64::from(first)) as f32)
}

/// Averages lines of `from` numbers to lines of `to`; `lines` of them, each starting `line_step` after the last, its numbers `step` apart.
fn area_pass(values: &[f32], from: usize, to: usize, lines: usize, step: usize, line_step: usize) -> Vec<f32> {
    let scale = from as f64 / to as f64;
    let mut out = Vec::with_capacity(lines * to);
    for line in 0..lines {
        for i in 0..to {
            let (begin, end) = (i as f64 * scale, (i + 1) as f64 * scale);
            let mut sum = 0.0;
            let mut at = begin as usize;
            while (at as f64) < end && at < from {
                let covered = (end.min((at + 1) as f64) - begin.max(at as f64)).max(0.0);
                sum += f64::from(values[line * line_step + at * step]) * covered;
                at += 1;
            }
            out.push((sum / scale) as f32);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_averaged_with_shares_of_pixels() {
        // Three pixels to two: (1 + 2·½) / 1.5 and (2·½ + 6) / 1.5, by hand.
        let plane = Plane { size: Size::new(3, 1), values: vec![1.0, 2.0, 6.0] };
        let half = plane.area_resized(Size::new(2, 1));
        assert!((half.values[0] - 4.0 / 3.0).abs() < 1e-6 && (half.values[1] - 14.0 / 3.0).abs() < 1e-6, "{half:?}");
        let tall = Plane { size: Size::new(2, 2), values: vec![1.0, 2.0, 3.0, 6.0] };
        assert_eq!(tall.area_resized(Size::new(2, 1)).values, [2.0, 4.0]);
    }

    #[test]
    fn samples_outside_are_none() {
        let plane = Plane { size: Size::new(2, 1), values: vec![0.0, 1.0] };
        assert_eq!((plane.sample(1.0, 0.5), plane.sample(2.1, 0.5)), (Some(0.5), None));
    }
}
