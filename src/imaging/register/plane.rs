//! One channel of floating-point numbers, as registration computes with, and how a motion reads it.

use std::ops::Range;

use image::RgbImage;

use crate::domain::Size;

use super::Motion;

/// `width × height` numbers, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plane {
    pub size: Size,
    pub values: Vec<f32>,
}

impl Plane {
    /// Each pixel from its column and row.
    pub fn from_fn(size: Size, value: impl Fn(u32, u32) -> f32) -> Self {
        let mut values = Vec::with_capacity(size.width as usize * size.height as usize);
        for y in 0..size.height {
            values.extend((0..size.width).map(|x| value(x, y)));
        }
        Self { size, values }
    }

    /// Luma (ITU-R BT.601, `0.299 R + 0.587 G + 0.114 B`) in `0..=1`.
    pub fn luma(picture: &RgbImage) -> Self {
        let luma = |&image::Rgb([r, g, b]): &image::Rgb<u8>| (0.299 * f32::from(r) + 0.587 * f32::from(g) + 0.114 * f32::from(b)) / 255.0;
        Self { size: Size::new(picture.width(), picture.height()), values: picture.pixels().map(luma).collect() }
    }

    /// The value of a pixel inside the plane.
    pub fn at(&self, x: u32, y: u32) -> f32 {
        self.row(y as usize)[x as usize]
    }

    /// A row inside the plane.
    pub fn row(&self, y: usize) -> &[f32] {
        let width = self.size.width as usize;
        &self.values[y * width..(y + 1) * width]
    }

    /// The mean of the old pixels under each new one, weighted by how much of them it covers (for making smaller).
    pub fn area_resized(&self, size: Size) -> Self {
        let columns = Cover::of(self.size.width, size.width);
        let mut values = Vec::with_capacity(size.width as usize * size.height as usize);
        let mut tall = vec![0.0f32; self.size.width as usize];
        for Cover { first, shares } in Cover::of(self.size.height, size.height) {
            tall.fill(0.0);
            for (y, share) in (first..).zip(shares) {
                tall.iter_mut().zip(self.row(y)).for_each(|(sum, value)| *sum += share * value);
            }
            values.extend(
                columns.iter().map(|cover| cover.shares.iter().zip(&tall[cover.first..]).map(|(share, value)| share * value).sum::<f32>()),
            );
        }
        Self { size, values }
    }

    /// Central differences along x and along y; at the border the border is repeated.
    pub fn slopes(&self) -> [Self; 2] {
        let (width, height) = (self.size.width as usize, self.size.height as usize);
        let half = |next: f32, last: f32| (next - last) / 2.0;
        let (mut along_x, mut along_y) = (Vec::with_capacity(self.values.len()), Vec::with_capacity(self.values.len()));
        for y in 0..height {
            let row = self.row(y);
            along_x.push(half(row[1.min(width - 1)], row[0]));
            along_x.extend(row.windows(3).map(|near| half(near[2], near[0])));
            along_x.extend((width > 1).then(|| half(row[width - 1], row[width - 2])));
            let (above, below) = (self.row(y.saturating_sub(1)), self.row((y + 1).min(height - 1)));
            along_y.extend(below.iter().zip(above).map(|(below, above)| half(*below, *above)));
        }
        [along_x, along_y].map(|values| Self { size: self.size, values })
    }

    /// A row of the plane as `rows` and `columns` see it, over the visible columns; `y` must be a visible row.
    pub fn seen_row(&self, (columns, rows): (&Axis, &Axis), y: usize, blended: &mut Vec<f32>, seen: &mut Vec<f32>) {
        let Tap { first, next_share } = rows.tap(y);
        blended.clear();
        blended.extend(self.row(first).iter().zip(self.row(first + 1)).map(|(a, b)| a + (b - a) * next_share));
        seen.clear();
        seen.extend(columns.taps.iter().map(|tap| {
            let (a, b) = (blended[tap.first], blended[tap.first + 1]);
            a + (b - a) * tap.next_share
        }));
    }
}

/// The cells of a longer axis under one cell of a shorter one.
struct Cover {
    first: usize,
    /// How much of the short cell each of them is, from the first on.
    shares: Vec<f32>,
}

impl Cover {
    /// One for each of `to` cells.
    fn of(from: u32, to: u32) -> Vec<Self> {
        let scale = f64::from(from) / f64::from(to);
        let cover = |i: u32| {
            let (begin, end) = (f64::from(i) * scale, f64::from(i + 1) * scale);
            let share = |at: usize| ((end.min((at + 1) as f64) - begin.max(at as f64)).max(0.0) / scale) as f32;
            let last = (end.ceil() as usize).min(from as usize);
            Self { first: begin as usize, shares: (begin as usize..last).map(share).collect() }
        };
        (0..to).map(cover).collect()
    }
}

/// Where a position lies between two neighbouring pixels of an axis.
#[derive(Clone, Copy)]
pub(super) struct Tap {
    /// The pixel before it; the next one exists too.
    pub first: usize,
    /// Weight of the next one.
    pub next_share: f32,
}

/// Where the pixels of the source lie in the edit along one axis. A motion without rotation moves each axis by itself.
pub(super) struct Axis {
    /// Pixels of the source that the edit shows: without gaps, because a motion keeps their order.
    pub visible: Range<usize>,
    /// One for each visible pixel.
    taps: Vec<Tap>,
}

impl Axis {
    /// Columns and rows of a plane of `size`, both sides at least 2, under a motion in its pixels.
    pub fn both(size: Size, motion: &Motion) -> (Self, Self) {
        (Self::new(size.width, motion.zoom, motion.dx), Self::new(size.height, motion.zoom, motion.dy))
    }

    fn new(side: u32, zoom: f64, shift: f64) -> Self {
        let center = f64::from(side) / 2.0;
        let edit_from_source = |i: u32| center + zoom * (f64::from(i) + 0.5 - center) + shift;
        let shown: Vec<(u32, f64)> =
            (0..side).map(|i| (i, edit_from_source(i))).filter(|(_, at)| (0.0..=f64::from(side)).contains(at)).collect();
        let begin = shown.first().map_or(0, |(i, _)| *i as usize);
        let tap = |(_, at): &(u32, f64)| {
            // Pixel centres lie at halves; the outer half of the outermost pixels has no neighbour and takes their value.
            let at = (at - 0.5).clamp(0.0, f64::from(side - 1));
            let first = (at as usize).min(side as usize - 2);
            Tap { first, next_share: (at - first as f64) as f32 }
        };
        Self { visible: begin..begin + shown.len(), taps: shown.iter().map(tap).collect() }
    }

    /// Where the visible pixel `i` lies.
    pub fn tap(&self, i: usize) -> Tap {
        self.taps[i - self.visible.start]
    }
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
    fn slopes_of_a_ramp_are_its_step_and_half_of_it_at_the_border() {
        let ramp = Plane::from_fn(Size::new(4, 3), |x, y| (2 * x + 10 * y) as f32);
        let [along_x, along_y] = ramp.slopes();
        assert_eq!(along_x.row(1), [1.0, 2.0, 2.0, 1.0]);
        assert_eq!([along_y.at(2, 0), along_y.at(2, 1), along_y.at(2, 2)], [5.0, 10.0, 5.0]);
    }

    #[test]
    fn a_moved_row_is_read_between_pixels_and_not_beyond_the_border() {
        // Rows 0, 4, 8, 12 going down; columns add 0, 1, 2, 3.
        let plane = Plane::from_fn(Size::new(4, 4), |x, y| (4 * y + x) as f32);
        let (columns, rows) = Axis::both(plane.size, &Motion { dx: 1.0, dy: -0.5, zoom: 1.0 });
        // Moved one to the right the last column leaves the picture; half a pixel up only half of the first row does.
        assert_eq!((columns.visible.clone(), rows.visible.clone()), (0..3, 0..4));
        let (mut blended, mut seen) = (Vec::new(), Vec::new());
        plane.seen_row((&columns, &rows), 2, &mut blended, &mut seen);
        assert_eq!(seen, [7.0, 8.0, 9.0], "between rows 1 and 2: 6 + x, read one column to the right");
    }
}
