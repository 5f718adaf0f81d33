//! The eight handles of a box.

use crate::domain::{ImageSpace, Point, Rect};

/// A corner or the middle of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    TopLeft,
    Top,
    TopRight,
    Right,
    BottomRight,
    Bottom,
    BottomLeft,
    Left,
}

impl Handle {
    /// All handles, clockwise from the top left.
    pub const ALL: [Self; 8] =
        [Self::TopLeft, Self::Top, Self::TopRight, Self::Right, Self::BottomRight, Self::Bottom, Self::BottomLeft, Self::Left];

    /// Where it sits: −1, 0 or 1 from the middle of the box to its edges.
    const fn place(self) -> (i8, i8) {
        match self {
            Self::TopLeft => (-1, -1),
            Self::Top => (0, -1),
            Self::TopRight => (1, -1),
            Self::Right => (1, 0),
            Self::BottomRight => (1, 1),
            Self::Bottom => (0, 1),
            Self::BottomLeft => (-1, 1),
            Self::Left => (-1, 0),
        }
    }

    /// Its position on a box.
    pub fn on(self, rect: &Rect<ImageSpace>) -> Point<ImageSpace> {
        let (x, y) = self.place();
        let at = |place: i8, low: f32, high: f32| match place {
            -1 => low,
            1 => high,
            _ => (low + high) * 0.5,
        };
        Point::new(at(x, rect.x0, rect.x1), at(y, rect.y0, rect.y1))
    }

    /// The handle within `reach` of a position, the nearest first; corners go before the middles of edges where a box is tiny.
    pub fn near(rect: &Rect<ImageSpace>, p: Point<ImageSpace>, reach: f32) -> Option<Self> {
        let distance = |handle: &Self| {
            let at = handle.on(rect);
            (at.x - p.x).abs().max((at.y - p.y).abs())
        };
        let corners_first = |handle: &Self| if handle.place().0 != 0 && handle.place().1 != 0 { 0.0 } else { 1e-3 };
        Self::ALL
            .into_iter()
            .filter(|handle| distance(handle) <= reach)
            .min_by(|a, b| (distance(a) + corners_first(a)).total_cmp(&(distance(b) + corners_first(b))))
    }

    /// The box with this handle dragged to `p`; the opposite edges stay. Edges may come out swapped.
    pub fn dragged(self, rect: &Rect<ImageSpace>, p: Point<ImageSpace>) -> Rect<ImageSpace> {
        let (x, y) = self.place();
        Rect::new(
            if x < 0 { p.x } else { rect.x0 },
            if y < 0 { p.y } else { rect.y0 },
            if x > 0 { p.x } else { rect.x1 },
            if y > 0 { p.y } else { rect.y1 },
        )
    }
}
