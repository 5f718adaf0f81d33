//! Masks to polygons: the outlines of a mask along the sides of its pixels.

use std::collections::BTreeMap;

use crate::domain::Mask;

/// A closed outline, its corners on the corners of pixels; consecutive corners differ in one coordinate only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// `[x, y]` in image pixels, the first not repeated at the end. Seen on the screen (y down), outer rings run clockwise, holes
    /// counter-clockwise.
    pub corners: Vec<[u32; 2]>,
    /// Whether it bounds a hole.
    pub hole: bool,
}

impl Ring {
    /// Twice the enclosed area with a sign: positive for outer rings (shoelace formula with y down).
    fn twice_area(corners: &[[u32; 2]]) -> i64 {
        let edges = corners.iter().zip(corners.iter().cycle().skip(1));
        edges.map(|(a, b)| i64::from(a[0]) * i64::from(b[1]) - i64::from(b[0]) * i64::from(a[1])).sum()
    }
}

/// One step along a pixel's side.
type Step = ([u32; 2], [u32; 2]);

/// The outlines of `mask`, from top to bottom by their topmost corner.
///
/// Filling all rings (a centre inside an odd number of them is set) gives the mask back exactly. Parts that touch at a corner only are
/// kept apart, as COCO's polygons want them.
pub fn contours(mask: &Mask) -> Vec<Ring> {
    let mut steps = steps(mask);
    let mut rings = Vec::new();
    while let Some((&start, _)) = steps.first_key_value() {
        let mut corners = Vec::new();
        let mut at = start;
        let mut from: Option<[u32; 2]> = None;
        while let Some(next) = take(&mut steps, at, from) {
            let straight = from.is_some_and(|from| (from[0] == at[0]) == (at[0] == next[0]));
            if !straight {
                corners.push([at[1], at[0]]);
            }
            (from, at) = (Some(at), next);
            if at == start {
                break;
            }
        }
        // The walk begins at the topmost, leftmost corner of what is left, which is always a turn.
        let hole = Ring::twice_area(&corners) < 0;
        rings.push(Ring { corners, hole });
    }
    rings
}

/// The sides between set and unset pixels, by where they begin (row, then column), directed so that the mask is on their right.
fn steps(mask: &Mask) -> BTreeMap<[u32; 2], Vec<[u32; 2]>> {
    let size = mask.size();
    let mut steps: BTreeMap<[u32; 2], Vec<[u32; 2]>> = BTreeMap::new();
    // Keys are [y, x], so that the first key is the topmost, then leftmost.
    let mut add = |(a, b): Step| steps.entry([a[1], a[0]]).or_default().push([b[1], b[0]]);
    for y in 0..=size.height {
        for run in mask.runs(y) {
            add(([run.start, y + 1], [run.start, y]));
            add(([run.end, y], [run.end, y + 1]));
        }
        // Tops of this row's pixels run right, bottoms of the row above run left, where only one of the two is set.
        for x in changed(mask, y) {
            let set_below = y < size.height && mask.get(x, y);
            add(if set_below { ([x, y], [x + 1, y]) } else { ([x + 1, y], [x, y]) });
        }
    }
    steps
}

/// The columns in which row `y` and the one above it differ.
fn changed(mask: &Mask, y: u32) -> Vec<u32> {
    let empty: &[u64] = &[];
    let row = |y: Option<u32>| y.filter(|&y| y < mask.size().height).map_or(empty, |y| mask.row(y));
    let (below, above) = (row(Some(y)), row(y.checked_sub(1)));
    let words = below.len().max(above.len());
    let word = |row: &[u64], i: usize| row.get(i).copied().unwrap_or(0);
    let mut columns = Vec::new();
    for i in 0..words {
        let mut bits = word(below, i) ^ word(above, i);
        while bits != 0 {
            columns.push(i as u32 * 64 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
    columns
}

/// Takes the step on from `at`; where two parts touch at a corner, the one that turns right, which stays on the same part.
fn take(steps: &mut BTreeMap<[u32; 2], Vec<[u32; 2]>>, at: [u32; 2], from: Option<[u32; 2]>) -> Option<[u32; 2]> {
    let nexts = steps.get_mut(&at)?;
    let turn = |next: &[u32; 2]| {
        let Some(from) = from else { return 0 };
        let d = |a: [u32; 2], b: [u32; 2]| [i64::from(b[0]) - i64::from(a[0]), i64::from(b[1]) - i64::from(a[1])];
        let (before, after) = (d(from, at), d(at, *next));
        // Keys are [y, x]: the cross product of (dx, dy) before and after is positive for a right turn with y down.
        before[1] * after[0] - before[0] * after[1]
    };
    let best = (0..nexts.len()).max_by_key(|&i| turn(&nexts[i]))?;
    let next = nexts.swap_remove(best);
    if nexts.is_empty() {
        steps.remove(&at);
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Size;

    fn mask(rows: &[&str]) -> Mask {
        let size = Size::new(rows[0].len() as u32, rows.len() as u32);
        Mask::from_fn(size, |x, y| rows[y as usize].as_bytes()[x as usize] == b'#')
    }

    fn rings(rows: &[&str]) -> Vec<Ring> {
        contours(&mask(rows))
    }

    #[test]
    fn one_pixel_is_a_square_and_a_ring_has_a_hole() {
        assert_eq!(rings(&["...", ".#."]), [Ring { corners: vec![[1, 1], [2, 1], [2, 2], [1, 2]], hole: false }]);
        let found = rings(&["###", "#.#", "###"]);
        assert_eq!(found[0], Ring { corners: vec![[0, 0], [3, 0], [3, 3], [0, 3]], hole: false });
        assert_eq!((found[1].hole, found[1].corners.len(), found.len()), (true, 4, 2));
    }

    #[test]
    fn parts_that_touch_at_a_corner_are_kept_apart() {
        let found = rings(&["#.", ".#"]);
        assert_eq!(found.iter().map(|ring| (ring.corners.len(), ring.hole)).collect::<Vec<_>>(), [(4, false), (4, false)]);
    }

    /// How many rings lie to the left of a centre, at its height.
    fn inside(rings: &[Ring], x: u32, y: u32) -> bool {
        let crossings = rings.iter().flat_map(|ring| ring.corners.iter().zip(ring.corners.iter().cycle().skip(1)));
        crossings.filter(|(a, b)| a[0] == b[0] && a[0] <= x && a[1].min(b[1]) <= y && y < a[1].max(b[1])).count() % 2 == 1
    }

    proptest! {
        #[test]
        fn filling_the_rings_gives_the_mask_back(w in 1u32..70, h in 1u32..10, bits in proptest::collection::vec(any::<bool>(), 70 * 10)) {
            let before = Mask::from_fn(Size::new(w, h), |x, y| bits[(y * 70 + x) as usize]);
            let found = contours(&before);
            prop_assert_eq!(&Mask::from_fn(before.size(), |x, y| inside(&found, x, y)), &before);
            // Shoelace areas with holes negative add up to the number of pixels.
            let area: i64 = found.iter().map(|ring| Ring::twice_area(&ring.corners)).sum();
            prop_assert_eq!(area, 2 * before.count() as i64);
        }
    }
}
