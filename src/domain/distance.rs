//! How far each pixel lies from a set of pixels: the exact Euclidean distance transform.
//!
//! Source of the arithmetic: Felzenszwalb and Huttenlocher, "Distance Transforms of Sampled Functions" (2012): one pass along the
//! columns, then the lower envelope of parabolas along each row.

use super::mask::Mask;

/// Squared Euclidean distance of each pixel (centre to centre, row-major, in pixels²) to the nearest pixel that is `set` in `mask`;
/// `None` when there is no such pixel. What lies beyond the picture counts as neither.
pub fn squared_distances(mask: &Mask, set: bool) -> Option<Vec<u64>> {
    let size = mask.size();
    let (width, height) = (size.width as usize, size.height as usize);
    let far = u64::from(size.width) + u64::from(size.height);
    let mut along_columns = vec![far; width * height];
    let mut any = false;
    for x in 0..width {
        let mut last: Option<usize> = None;
        for y in 0..height {
            if mask.get(x as u32, y as u32) == set {
                last = Some(y);
                any = true;
            }
            if let Some(last) = last {
                along_columns[y * width + x] = (y - last) as u64;
            }
        }
        for y in (0..height.saturating_sub(1)).rev() {
            let below = along_columns[(y + 1) * width + x] + 1;
            let here = &mut along_columns[y * width + x];
            *here = (*here).min(below);
        }
    }
    any.then(|| along_columns.chunks(width.max(1)).flat_map(|row| row_envelope(row, far)).collect())
}

/// `min over q of (x − q)² + column[q]²` for each x of one row; `far` marks columns without any pixel.
fn row_envelope(column: &[u64], far: u64) -> Vec<u64> {
    // Parabolas of the envelope: where each has its lowest point, and from where on it is the lowest.
    let (mut lowest, mut begins): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
    let height = |q: usize| (column[q] * column[q]) as f64 + (q * q) as f64;
    for q in (0..column.len()).filter(|&q| column[q] < far) {
        loop {
            let Some(&last) = lowest.last() else {
                lowest.push(q);
                begins.push(f64::NEG_INFINITY);
                break;
            };
            let crossing = (height(q) - height(last)) / (2.0 * (q - last) as f64);
            if crossing > begins[begins.len() - 1] {
                lowest.push(q);
                begins.push(crossing);
                break;
            }
            lowest.pop();
            begins.pop();
        }
    }
    let mut at = 0;
    (0..column.len())
        .map(|x| {
            while at + 1 < lowest.len() && begins[at + 1] < x as f64 {
                at += 1;
            }
            lowest.get(at).map_or(far * far, |&q| (x.abs_diff(q) as u64).pow(2) + column[q].pow(2))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Size;

    #[test]
    fn distances_to_one_pixel_by_pythagoras() {
        let mask = Mask::from_fn(Size::new(5, 4), |x, y| (x, y) == (1, 1));
        let found = squared_distances(&mask, true).expect("one pixel is set");
        assert_eq!((found[5 + 1], found[0], found[3 * 5 + 4]), (0, 2, 9 + 4));
        assert_eq!(squared_distances(&mask, false).expect("the rest is not")[5 + 1], 1);
        assert_eq!(squared_distances(&Mask::empty(Size::new(3, 3)), true), None);
    }

    proptest! {
        #[test]
        fn equals_the_search_over_all_pixels(w in 1u32..12, h in 1u32..12, bits in proptest::collection::vec(proptest::bool::weighted(0.2), 144)) {
            let mask = Mask::from_fn(Size::new(w, h), |x, y| bits[(y * 12 + x) as usize]);
            let set: Vec<(u32, u32)> = (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).filter(|&(x, y)| mask.get(x, y)).collect();
            let searched: Vec<u64> = (0..h)
                .flat_map(|y| (0..w).map(move |x| (x, y)))
                .filter_map(|(x, y)| set.iter().map(|&(a, b)| u64::from(x.abs_diff(a)).pow(2) + u64::from(y.abs_diff(b)).pow(2)).min())
                .collect();
            prop_assert_eq!(squared_distances(&mask, true).unwrap_or_default(), searched);
        }
    }
}
