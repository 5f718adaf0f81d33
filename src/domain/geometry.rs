//! Points, sizes and boxes that carry their coordinate space in the type.
//!
//! Four pixel spaces meet in this program; adding a box of one to a box of another does not compile.

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Logical points of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UiSpace;
/// Upright pixels of one picture (after its EXIF orientation), origin at the top left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSpace;
/// The metric's 500×500 canvas (`bpm.md` section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bpm500;
/// Pixels of a network's resized input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetSpace;

/// A width and a height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl Size {
    /// A size from its width and height.
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    /// The metric's canvas.
    pub const BPM500: Self = Self::new(500, 500);

    /// Number of pixels; `u64`, because 65,536² does not fit in `u32`.
    pub const fn pixels(self) -> u64 {
        self.width as u64 * self.height as u64
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×{}", self.width, self.height)
    }
}

/// A position in space `S`; pixel centres lie at half-integers.
#[derive(Debug, PartialEq)]
pub struct Point<S> {
    pub x: f32,
    pub y: f32,
    space: PhantomData<S>,
}

impl<S> Clone for Point<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Point<S> {}

impl<S> Point<S> {
    /// A position from its coordinates in `S`.
    pub const fn new(x: f32, y: f32) -> Self {
        Self { x, y, space: PhantomData }
    }
}

/// An axis-aligned box `[x0, x1) × [y0, y1)` in space `S`, written as `[x0, y0, x1, y1]` in JSON.
///
/// Nothing is normalised on construction: a detector may return a box that leaves the picture.
#[derive(Debug, PartialEq)]
pub struct Rect<S> {
    pub x0: f32,
    pub y0: f32,
    pub x1: f32,
    pub y1: f32,
    space: PhantomData<S>,
}

impl<S> Clone for Rect<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Rect<S> {}

impl<S> Rect<S> {
    /// A box from its left, top, right and bottom edge in `S`.
    pub const fn new(x0: f32, y0: f32, x1: f32, y1: f32) -> Self {
        Self { x0, y0, x1, y1, space: PhantomData }
    }

    /// The box that covers a whole picture of `size`.
    pub const fn whole(size: Size) -> Self {
        Self::new(0.0, 0.0, size.width as f32, size.height as f32)
    }

    /// Width; negative for a box whose edges are swapped.
    pub fn width(&self) -> f32 {
        self.x1 - self.x0
    }

    /// Height; negative for a box whose edges are swapped.
    pub fn height(&self) -> f32 {
        self.y1 - self.y0
    }

    /// Area in square units of `S`; 0 for an empty or swapped box.
    pub fn area(&self) -> f32 {
        self.width().max(0.0) * self.height().max(0.0)
    }

    /// The centre.
    pub fn center(&self) -> Point<S> {
        Point::new((self.x0 + self.x1) * 0.5, (self.y0 + self.y1) * 0.5)
    }

    /// Whether `point` lies inside (left and top edges included).
    pub fn contains(&self, point: Point<S>) -> bool {
        point.x >= self.x0 && point.x < self.x1 && point.y >= self.y0 && point.y < self.y1
    }

    /// The common part of two boxes; possibly empty (swapped edges, area 0).
    pub fn intersection(&self, other: &Self) -> Self {
        Self::new(self.x0.max(other.x0), self.y0.max(other.y0), self.x1.min(other.x1), self.y1.min(other.y1))
    }

    /// The smallest box around two boxes.
    pub fn enclosing(&self, other: &Self) -> Self {
        Self::new(self.x0.min(other.x0), self.y0.min(other.y0), self.x1.max(other.x1), self.y1.max(other.y1))
    }

    /// Intersection over union, in `0..=1`; 0 when both boxes are empty.
    pub fn iou(&self, other: &Self) -> f32 {
        let common = self.intersection(other).area();
        let union = self.area() + other.area() - common;
        if union > 0.0 { common / union } else { 0.0 }
    }

    /// The part of the box inside a picture of `size`.
    pub fn clipped(&self, size: Size) -> Self {
        self.intersection(&Self::whole(size))
    }

    /// `[x0, y0, x1, y1]`.
    pub const fn to_array(&self) -> [f32; 4] {
        [self.x0, self.y0, self.x1, self.y1]
    }
}

impl<S> Serialize for Rect<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        self.to_array().serialize(serializer)
    }
}

impl<'de, S> Deserialize<'de> for Rect<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let [x0, y0, x1, y1] = <[f32; 4]>::deserialize(deserializer)?;
        Ok(Self::new(x0, y0, x1, y1))
    }
}

/// An axis-wise scaling from space `From` to space `To`; name values `to_from_from`, as in `bpm500_from_image`.
#[derive(Debug, PartialEq)]
pub struct Scale<To, From> {
    pub x: f32,
    pub y: f32,
    spaces: PhantomData<(To, From)>,
}

impl<To, From> Clone for Scale<To, From> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<To, From> Copy for Scale<To, From> {}

impl<To, From> Scale<To, From> {
    /// The scaling that stretches a picture of size `from` to size `to` (both non-zero).
    pub fn stretch(to: Size, from: Size) -> Self {
        Self { x: to.width as f32 / from.width as f32, y: to.height as f32 / from.height as f32, spaces: PhantomData }
    }

    /// The other direction.
    pub fn inverse(self) -> Scale<From, To> {
        Scale { x: 1.0 / self.x, y: 1.0 / self.y, spaces: PhantomData }
    }
}

impl<To, From> std::ops::Mul<Point<From>> for Scale<To, From> {
    type Output = Point<To>;
    fn mul(self, p: Point<From>) -> Point<To> {
        Point::new(p.x * self.x, p.y * self.y)
    }
}

impl<To, From> std::ops::Mul<Rect<From>> for Scale<To, From> {
    type Output = Rect<To>;
    fn mul(self, r: Rect<From>) -> Rect<To> {
        Rect::new(r.x0 * self.x, r.y0 * self.y, r.x1 * self.x, r.y1 * self.y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iou_of_half_overlapping_unit_boxes_is_a_third() {
        // Hand calculation: intersection 0.5, union 1.5.
        let a = Rect::<ImageSpace>::new(0.0, 0.0, 1.0, 1.0);
        let b = Rect::new(0.5, 0.0, 1.5, 1.0);
        assert!((a.iou(&b) - 1.0 / 3.0).abs() < 1e-6);
        assert_eq!(a.iou(&Rect::new(2.0, 2.0, 3.0, 3.0)), 0.0);
    }

    #[test]
    fn empty_boxes_have_no_area_and_no_overlap() {
        let empty = Rect::<ImageSpace>::new(3.0, 3.0, 3.0, 9.0);
        let swapped = Rect::<ImageSpace>::new(5.0, 5.0, 1.0, 1.0);
        assert_eq!((empty.area(), swapped.area(), empty.iou(&swapped)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn stretching_there_and_back_is_the_identity() {
        let bpm500_from_image = Scale::<Bpm500, ImageSpace>::stretch(Size::BPM500, Size::new(1000, 250));
        let boxed = bpm500_from_image * Rect::new(100.0, 100.0, 200.0, 200.0);
        assert_eq!(boxed.to_array(), [50.0, 200.0, 100.0, 400.0]);
        assert_eq!((bpm500_from_image.inverse() * boxed).to_array(), [100.0, 100.0, 200.0, 200.0]);
    }
}
