//! Connected parts of a mask: holes to fill, specks to remove.

use crate::domain::Mask;

/// Which neighbours connect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Connect {
    /// Those that share a side.
    Four,
    /// Those that share a side or a corner.
    Eight,
}

/// A run of pixels of one part.
struct Run {
    y: u32,
    x0: u32,
    x1: u32,
}

/// Runs and a union-find forest over them.
struct Parts {
    runs: Vec<Run>,
    parent: Vec<u32>,
}

impl Parts {
    /// The parts of `mask`, in one pass over its rows; time and memory go with the number of runs.
    fn of(mask: &Mask, connect: Connect) -> Self {
        let mut parts = Self { runs: Vec::new(), parent: Vec::new() };
        // The runs of the row above, as a range of `runs`.
        let mut above = 0..0;
        let reach = u32::from(connect == Connect::Eight);
        for y in 0..mask.size().height {
            let first = parts.runs.len();
            let mut candidate = above.start;
            for run in mask.runs(y) {
                let index = parts.runs.len();
                parts.parent.push(index as u32);
                // Runs above that end before this one begins cannot touch a later one either.
                while candidate < above.end && parts.runs[candidate].x1 + reach <= run.start {
                    candidate += 1;
                }
                let mut touching = candidate;
                while touching < above.end && parts.runs[touching].x0 < run.end + reach {
                    parts.join(touching as u32, index as u32);
                    touching += 1;
                }
                parts.runs.push(Run { y, x0: run.start, x1: run.end });
            }
            above = first..parts.runs.len();
        }
        parts
    }

    fn root(&mut self, mut run: u32) -> u32 {
        while self.parent[run as usize] != run {
            let up = self.parent[self.parent[run as usize] as usize];
            self.parent[run as usize] = up;
            run = up;
        }
        run
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// The root of each run.
    fn roots(&mut self) -> Vec<u32> {
        (0..self.runs.len() as u32).map(|run| self.root(run)).collect()
    }
}

/// The mask with its holes set: parts of the rest, connected by sides, that do not reach the border of the picture.
pub fn fill_holes(mask: &Mask) -> Mask {
    let size = mask.size();
    let mut rest = mask.clone();
    rest.invert();
    let mut parts = Parts::of(&rest, Connect::Four);
    let roots = parts.roots();
    let mut open = vec![false; roots.len()];
    for (run, &root) in parts.runs.iter().zip(&roots) {
        open[root as usize] |= run.y == 0 || run.y + 1 == size.height || run.x0 == 0 || run.x1 == size.width;
    }
    let mut filled = mask.clone();
    for (run, &root) in parts.runs.iter().zip(&roots) {
        if !open[root as usize] {
            filled.set_span(run.y, run.x0, run.x1, true);
        }
    }
    filled
}

/// The mask without its parts, connected by sides or corners, of fewer than `least` pixels.
pub fn remove_specks(mask: &Mask, least: u64) -> Mask {
    let mut parts = Parts::of(mask, Connect::Eight);
    let roots = parts.roots();
    let mut pixels = vec![0u64; roots.len()];
    for (run, &root) in parts.runs.iter().zip(&roots) {
        pixels[root as usize] += u64::from(run.x1 - run.x0);
    }
    let mut kept = mask.clone();
    for (run, &root) in parts.runs.iter().zip(&roots) {
        if pixels[root as usize] < least {
            kept.set_span(run.y, run.x0, run.x1, false);
        }
    }
    kept
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

    #[test]
    fn a_ring_is_filled_and_a_bay_is_not() {
        // scipy.ndimage.binary_fill_holes (default structure) on the same picture: 14 pixels set before, 16 after.
        let before = mask(&["####...", "#..#.##", "####.#.", "......#"]);
        let after = mask(&["####...", "####.##", "####.#.", "......#"]);
        assert_eq!((before.count(), after.count()), (14, 16));
        assert_eq!(fill_holes(&before), after);
    }

    #[test]
    fn a_diagonal_gap_closes_a_hole_and_a_diagonal_joins_a_speck() {
        // The rest is connected by sides, so a diagonal step does not leave the hole; the mask is connected by corners too.
        let before = mask(&[".#.", "#.#", ".#."]);
        assert_eq!(fill_holes(&before), mask(&[".#.", "###", ".#."]));
        assert_eq!(remove_specks(&before, 4), before);
        assert!(remove_specks(&before, 5).is_empty());
    }

    #[test]
    fn specks_go_and_what_is_large_enough_stays() {
        let before = mask(&["#....##", "....#..", ".##....", ".##...."]);
        // Parts of 1, 3 (joined by a corner) and 4 pixels.
        assert_eq!(remove_specks(&before, 2).count(), 7);
        assert_eq!(remove_specks(&before, 4).count(), 4);
        assert_eq!(remove_specks(&before, 0), before);
    }

    /// Flood fill, pixel by pixel.
    fn part_of(mask: &Mask, value: bool, eight: bool, start: (u32, u32), seen: &mut Mask) -> Vec<(u32, u32)> {
        let (mut todo, mut part) = (vec![start], Vec::new());
        seen.set(start.0, start.1, true);
        while let Some((x, y)) = todo.pop() {
            part.push((x, y));
            for (dx, dy) in (-1i64..=1).flat_map(|dy| (-1i64..=1).map(move |dx| (dx, dy))) {
                let (nx, ny) = (i64::from(x) + dx, i64::from(y) + dy);
                let inside = nx >= 0 && ny >= 0 && nx < i64::from(mask.size().width) && ny < i64::from(mask.size().height);
                if !inside || (!eight && dx != 0 && dy != 0) {
                    continue;
                }
                let (nx, ny) = (nx as u32, ny as u32);
                if mask.get(nx, ny) == value && !seen.get(nx, ny) {
                    seen.set(nx, ny, true);
                    todo.push((nx, ny));
                }
            }
        }
        part
    }

    proptest! {
        #[test]
        fn both_agree_with_a_flood_fill(w in 1u32..80, h in 1u32..12, bits in proptest::collection::vec(0u8..5, 80 * 12), least in 0u64..9) {
            let before = Mask::from_fn(Size::new(w, h), |x, y| bits[(y * 80 + x) as usize] < 3);
            let (mut filled, mut kept) = (before.clone(), before.clone());
            let (mut seen, mut seen_rest) = (Mask::empty(before.size()), Mask::empty(before.size()));
            for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                if before.get(x, y) && !seen.get(x, y) {
                    let part = part_of(&before, true, true, (x, y), &mut seen);
                    if (part.len() as u64) < least {
                        part.iter().for_each(|&(x, y)| kept.set(x, y, false));
                    }
                } else if !before.get(x, y) && !seen_rest.get(x, y) {
                    let part = part_of(&before, false, false, (x, y), &mut seen_rest);
                    if part.iter().all(|&(x, y)| x > 0 && y > 0 && x + 1 < w && y + 1 < h) {
                        part.iter().for_each(|&(x, y)| filled.set(x, y, true));
                    }
                }
            }
            prop_assert_eq!(fill_holes(&before), filled);
            prop_assert_eq!(remove_specks(&before, least), kept);
        }
    }
}
