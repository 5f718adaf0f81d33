//! Shapes to pixels: boxes, polygons, brush strokes.

use crate::domain::{ImageSpace, Mask, Point, Rect};

/// The pixels `start..end` whose centres lie in `[from, to)`, clipped to `0..limit`.
fn centres_in(from: f64, to: f64, limit: u32) -> std::ops::Range<u32> {
    // Centre i + ½ ≥ from ⇔ i ≥ from − ½. Casts saturate, so shapes far outside the picture are harmless.
    let first = |edge: f64| (edge - 0.5).ceil().max(0.0) as u32;
    first(from).min(limit)..first(to).min(limit)
}

/// Sets (or clears) the pixels of a box: centres in `[x0, x1) × [y0, y1)`.
pub fn fill_rect(mask: &mut Mask, rect: &Rect<ImageSpace>, value: bool) {
    let size = mask.size();
    let columns = centres_in(f64::from(rect.x0), f64::from(rect.x1), size.width);
    for y in centres_in(f64::from(rect.y0), f64::from(rect.y1), size.height) {
        mask.set_span(y, columns.start, columns.end, value);
    }
}

/// Sets (or clears) the pixels of a polygon, which is closed by itself.
///
/// A centre is inside when the outline winds around it (non-zero rule, so that a lasso that crosses itself has no holes). On an edge it
/// is inside when the polygon lies to its right or below it: polygons that share an edge share no pixel and leave none out.
pub fn fill_polygon(mask: &mut Mask, corners: &[Point<ImageSpace>], value: bool) {
    let finite = |p: &Point<ImageSpace>| p.x.is_finite() && p.y.is_finite();
    if corners.len() < 3 || !corners.iter().all(finite) {
        return;
    }
    let edges: Vec<Edge> = corners.iter().zip(corners.iter().cycle().skip(1)).filter_map(|(a, b)| Edge::new(*a, *b)).collect();
    let top = edges.iter().map(|edge| edge.top).fold(f64::INFINITY, f64::min);
    let bottom = edges.iter().map(|edge| edge.bottom).fold(f64::NEG_INFINITY, f64::max);
    let size = mask.size();
    let mut crossings: Vec<(f64, i32)> = Vec::new();
    for y in centres_in(top, bottom, size.height) {
        let centre = f64::from(y) + 0.5;
        crossings.clear();
        crossings
            .extend(edges.iter().filter(|edge| edge.top <= centre && centre < edge.bottom).map(|edge| (edge.x_at(centre), edge.winds)));
        crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut winding = 0;
        for pair in crossings.windows(2) {
            winding += pair[0].1;
            if winding != 0 {
                let columns = centres_in(pair[0].0, pair[1].0, size.width);
                mask.set_span(y, columns.start, columns.end, value);
            }
        }
    }
}

/// An edge that is not horizontal, from its top to its bottom.
struct Edge {
    top: f64,
    bottom: f64,
    x_at_top: f64,
    /// Columns a row.
    slope: f64,
    /// +1 when the outline goes down here, −1 when it goes up.
    winds: i32,
}

impl Edge {
    fn new(a: Point<ImageSpace>, b: Point<ImageSpace>) -> Option<Self> {
        let (a, b) = ((f64::from(a.x), f64::from(a.y)), (f64::from(b.x), f64::from(b.y)));
        let (upper, lower, winds) = if a.1 < b.1 { (a, b, 1) } else { (b, a, -1) };
        let height = lower.1 - upper.1;
        (height > 0.0).then(|| Self { top: upper.1, bottom: lower.1, x_at_top: upper.0, slope: (lower.0 - upper.0) / height, winds })
    }

    fn x_at(&self, y: f64) -> f64 {
        self.x_at_top + (y - self.top) * self.slope
    }
}

/// A round brush with a hard edge.
///
/// Its middle is snapped to the middle of the pixel under the pointer when the diameter is odd, and to the nearest pixel corner when it
/// is even, so that a dab looks the same everywhere. It covers the centres at most half a diameter away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brush {
    /// In image pixels, at least 1.
    pub diameter: u32,
}

impl Brush {
    /// Where the brush sits for a pointer position, in image pixels.
    pub fn snapped(self, pointer: Point<ImageSpace>) -> [f64; 2] {
        let snap = |v: f32| {
            let v = f64::from(v);
            if self.diameter % 2 == 1 { v.floor() + 0.5 } else { v.round() }
        };
        [snap(pointer.x), snap(pointer.y)]
    }

    /// Sets (or clears) the pixels under the brush while it is drawn straight from `a` to `b` (the same point for a dab).
    pub fn stroke(self, mask: &mut Mask, a: Point<ImageSpace>, b: Point<ImageSpace>, value: bool) {
        if ![a.x, a.y, b.x, b.y].iter().all(|v| v.is_finite()) {
            return;
        }
        let (a, b) = (self.snapped(a), self.snapped(b));
        let radius = f64::from(self.diameter.max(1)) / 2.0;
        let size = mask.size();
        // One more row than the radius reaches: centres exactly on the rim belong to the brush.
        for y in centres_in(a[1].min(b[1]) - radius, a[1].max(b[1]) + radius + 1.0, size.height) {
            if let Some([from, to]) = capsule_at(a, b, radius, f64::from(y) + 0.5) {
                let end = centres_in(0.0, to, size.width).end;
                // The right rim is included too.
                let rim = u32::from(f64::from(end) + 0.5 == to);
                mask.set_span(y, centres_in(from, to, size.width).start, end + rim, value);
            }
        }
    }
}

/// Where the row `y` cuts the points at most `radius` from the segment `a`–`b`: `[from, to]`.
///
/// The cut is convex: the union of the cuts through both end discs and through the band between them.
fn capsule_at(a: [f64; 2], b: [f64; 2], radius: f64, y: f64) -> Option<[f64; 2]> {
    let mut cut: Option<[f64; 2]> = None;
    let mut add = |from: f64, to: f64| {
        let [old_from, old_to] = cut.unwrap_or([from, to]);
        cut = Some([old_from.min(from), old_to.max(to)]);
    };
    for end in [a, b] {
        let half = radius * radius - (y - end[1]).powi(2);
        if half >= 0.0 {
            add(end[0] - half.sqrt(), end[0] + half.sqrt());
        }
    }
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length = dx.hypot(dy);
    if length > 0.0 {
        // The four corners of the band; its cut lies between the crossings of its sides with the row.
        let (nx, ny) = (-dy / length * radius, dx / length * radius);
        let corners = [[a[0] + nx, a[1] + ny], [b[0] + nx, b[1] + ny], [b[0] - nx, b[1] - ny], [a[0] - nx, a[1] - ny]];
        for (p, q) in corners.iter().zip(corners.iter().cycle().skip(1)) {
            if (p[1] <= y) != (q[1] <= y) {
                let x = p[0] + (y - p[1]) * (q[0] - p[0]) / (q[1] - p[1]);
                add(x, x);
            }
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Size;

    fn picture(mask: &Mask) -> Vec<String> {
        let row = |y| (0..mask.size().width).map(|x| if mask.get(x, y) { '#' } else { '.' }).collect();
        (0..mask.size().height).map(row).collect()
    }

    #[test]
    fn a_box_covers_the_pixels_whose_centres_it_holds() {
        // Centres ½, 1½, 2½ …: from 0.5 (included) to 2.5 (not included) are columns 0 and 1; from 0.6 to 1.6 is row 1.
        let mut mask = Mask::empty(Size::new(4, 3));
        fill_rect(&mut mask, &Rect::new(0.5, 0.6, 2.5, 1.6), true);
        assert_eq!(picture(&mask), ["....", "##..", "...."]);
        fill_rect(&mut mask, &Rect::new(-1e9, -5.0, 1e9, 99.0), true);
        assert!(mask.is_full());
        fill_rect(&mut mask, &Rect::new(3.0, 3.0, 1.0, 1.0), false);
        assert!(mask.is_full(), "a box with swapped edges holds nothing");
    }

    #[test]
    fn dabs_of_small_diameters_are_the_known_discs() {
        // By hand: diameter 1 its pixel; 2 around a corner: 4; 3: centres within 1.5: 3×3 whole (corner at √2); 4: 12; 5: 21.
        for (diameter, pixels) in [(1, 1), (2, 4), (3, 9), (4, 12), (5, 21)] {
            for place in [Point::new(10.2, 10.7), Point::new(10.9, 10.1)] {
                let mut mask = Mask::empty(Size::new(21, 21));
                Brush { diameter }.stroke(&mut mask, place, place, true);
                assert_eq!(mask.count(), pixels, "diameter {diameter}");
            }
        }
    }

    #[test]
    fn two_triangles_that_share_an_edge_share_no_pixel_and_miss_none() {
        let size = Size::new(9, 9);
        let square = [(0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0)].map(|(x, y)| Point::new(x, y));
        let (mut upper, mut lower) = (Mask::empty(size), Mask::empty(size));
        fill_polygon(&mut upper, &[square[0], square[1], square[2]], true);
        fill_polygon(&mut lower, &[square[0], square[2], square[3]], true);
        assert_eq!(upper.count() + lower.count(), 81);
        assert!(upper.union_with(&lower) && upper.is_full());
    }

    #[test]
    fn a_lasso_that_runs_twice_around_has_no_hole() {
        let mut mask = Mask::empty(Size::new(10, 10));
        let ring = |r: f32| [(5.0 - r, 5.0 - r), (5.0 + r, 5.0 - r), (5.0 + r, 5.0 + r), (5.0 - r, 5.0 + r)];
        let corners: Vec<_> = ring(4.0).into_iter().chain(ring(2.0)).map(|(x, y)| Point::new(x, y)).collect();
        fill_polygon(&mut mask, &corners, true);
        assert!(mask.get(5, 5) && mask.get(2, 5));
    }

    /// The winding number of a polygon around a point, by summing the angles under which its edges are seen.
    fn winding_by_angles(corners: &[Point<ImageSpace>], x: f64, y: f64) -> f64 {
        let angle = |p: &Point<ImageSpace>| (f64::from(p.y) - y).atan2(f64::from(p.x) - x);
        let turns = corners.iter().zip(corners.iter().cycle().skip(1)).map(|(a, b)| {
            let turn = angle(b) - angle(a);
            turn - (turn / std::f64::consts::TAU).round() * std::f64::consts::TAU
        });
        turns.sum::<f64>() / std::f64::consts::TAU
    }

    proptest! {
        #[test]
        fn polygons_cover_the_centres_they_wind_around(corners in proptest::collection::vec((-3i32..27, -3i32..27), 3..9)) {
            // Corners at thirds of pixels, so that no centre lies on an edge through them by accident of rounding at x + ½.
            let corners: Vec<_> = corners.iter().map(|&(x, y)| Point::new(x as f32 + 0.31, y as f32 + 0.17)).collect();
            let mut mask = Mask::empty(Size::new(24, 24));
            fill_polygon(&mut mask, &corners, true);
            for (x, y) in (0..24).flat_map(|y| (0..24).map(move |x| (x, y))) {
                let winding = winding_by_angles(&corners, f64::from(x) + 0.5, f64::from(y) + 0.5);
                // A centre within rounding of an edge sees it under half a turn; either answer is right there.
                if (winding - winding.round()).abs() < 1e-6 {
                    prop_assert_eq!(mask.get(x, y), winding.round() != 0.0, "pixel {} {} winding {}", x, y, winding);
                }
            }
        }

        #[test]
        fn strokes_cover_the_centres_near_their_line(
            (ax, ay, bx, by) in (-4.0f32..28.0, -4.0f32..28.0, -4.0f32..28.0, -4.0f32..28.0), diameter in 1u32..12
        ) {
            let brush = Brush { diameter };
            let (a, b) = (Point::new(ax, ay), Point::new(bx, by));
            let mut mask = Mask::empty(Size::new(24, 24));
            brush.stroke(&mut mask, a, b, true);
            let ([ax, ay], [bx, by]) = (brush.snapped(a), brush.snapped(b));
            for (x, y) in (0..24u32).flat_map(|y| (0..24u32).map(move |x| (x, y))) {
                let (px, py) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
                let (dx, dy) = (bx - ax, by - ay);
                let along = if dx == 0.0 && dy == 0.0 { 0.0 } else { (((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0) };
                let distance = (px - ax - along * dx).hypot(py - ay - along * dy);
                let radius = f64::from(diameter) / 2.0;
                if (distance - radius).abs() > 1e-9 {
                    prop_assert_eq!(mask.get(x, y), distance < radius, "pixel {} {} at {}", x, y, distance);
                }
            }
        }
    }
}
