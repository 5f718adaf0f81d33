//! Growing and shrinking by a number of pixels.

use crate::domain::Mask;

/// The mask with every pixel whose centre is at most `radius` pixels (Euclidean) from the centre of a set one.
///
/// The same as a binary dilation with the disc `dx² + dy² ≤ radius²`. Rows are worked on 64 pixels at a time: a row of the result is the
/// union of the rows around it, each widened by the half-width that the disc has at that distance.
pub fn dilate(mask: &Mask, radius: u32) -> Mask {
    if radius == 0 || mask.is_empty() {
        return mask.clone();
    }
    let size = mask.size();
    let mut grown = Mask::empty(size);
    let mut widened = Vec::new();
    for dy in 0..=radius {
        let half_width = half_width(radius, dy);
        for y in 0..size.height {
            if mask.row(y).iter().all(|&word| word == 0) {
                continue;
            }
            widen(mask.row(y), half_width, &mut widened);
            for target in [y.checked_sub(dy), y.checked_add(dy).filter(|&t| t < size.height)].into_iter().flatten() {
                grown.row_mut(target).iter_mut().zip(&widened).for_each(|(to, from)| *to |= from);
            }
        }
    }
    trim(&mut grown);
    grown
}

/// The mask without every pixel whose centre is at most `radius` pixels from the centre of one that is not set.
///
/// Nothing is known outside the picture, so its border does not shrink the mask.
pub fn erode(mask: &Mask, radius: u32) -> Mask {
    let mut outside = mask.clone();
    outside.invert();
    let mut kept = dilate(&outside, radius);
    kept.invert();
    kept
}

/// Half the width of the disc of `radius` in the row `dy` from its middle: the largest integer w with `w² + dy² ≤ radius²`.
fn half_width(radius: u32, dy: u32) -> u32 {
    (u64::from(radius).pow(2) - u64::from(dy).pow(2)).isqrt() as u32
}

/// Every bit of `row` also set up to `by` places to either side; bits may run over the end of the picture.
fn widen(row: &[u64], by: u32, out: &mut Vec<u64>) {
    out.clear();
    out.extend_from_slice(row);
    let mut done = 0;
    while done < by {
        // A copy shifted by at most one more than what was done leaves no gap, even where the other half was cut off by the border.
        let step = (by - done).min(done + 1);
        let before = out.clone();
        or_shifted(&before, step, out);
        done += step;
    }
}

/// Ors `row` shifted by `by` places to the left and to the right into `out`.
fn or_shifted(row: &[u64], by: u32, out: &mut [u64]) {
    let (words, bits) = (by as usize / 64, by % 64);
    let at = |index: Option<usize>| index.and_then(|index| row.get(index)).copied().unwrap_or(0);
    for (i, word) in out.iter_mut().enumerate() {
        // To higher x.
        *word |= at(i.checked_sub(words)) << bits;
        // To lower x.
        *word |= at(Some(i + words)) >> bits;
        if bits > 0 {
            *word |= at(i.checked_sub(words + 1)) >> (64 - bits);
            *word |= at(Some(i + words + 1)) << (64 - bits);
        }
    }
}

/// Clears the bits beyond the width.
fn trim(mask: &mut Mask) {
    let size = mask.size();
    if size.width.is_multiple_of(64) {
        return;
    }
    for y in 0..size.height {
        if let Some(last) = mask.row_mut(y).last_mut() {
            *last &= (1 << (size.width % 64)) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Size;

    /// Straight from the definition, pixel by pixel.
    fn dilate_slowly(mask: &Mask, radius: u32) -> Mask {
        let r = i64::from(radius);
        Mask::from_fn(mask.size(), |x, y| {
            (-r..=r).any(|dy| {
                (-r..=r).any(|dx| {
                    let (sx, sy) = (i64::from(x) + dx, i64::from(y) + dy);
                    dx * dx + dy * dy <= r * r && sx >= 0 && sy >= 0 && mask.get(sx as u32, sy as u32)
                })
            })
        })
    }

    #[test]
    fn one_pixel_grows_to_the_disc() {
        // OpenCV 5.0: cv2.dilate of one pixel with the kernel dx² + dy² ≤ r² sets 5, 13, 29, 1257 pixels for r = 1, 2, 3, 20.
        for (radius, pixels) in [(1, 5), (2, 13), (3, 29), (20, 1257)] {
            let mask = Mask::from_fn(Size::new(130, 90), |x, y| (x, y) == (64, 45));
            let grown = dilate(&mask, radius);
            assert_eq!(grown.count(), pixels, "radius {radius}");
            assert_eq!(erode(&grown, radius), mask, "radius {radius}");
        }
    }

    #[test]
    fn the_border_of_the_picture_does_not_shrink_a_mask() {
        let full = Mask::full(Size::new(70, 5));
        assert_eq!(erode(&full, 3), full);
        let mut notched = full;
        notched.set(0, 0, false);
        // The disc of radius 1 around the corner reaches (1, 0) and (0, 1).
        assert_eq!(erode(&notched, 1).count(), 70 * 5 - 3);
    }

    proptest! {
        #[test]
        fn growing_is_what_the_definition_says(
            w in 1u32..150, h in 1u32..12, radius in 0u32..9, seed in proptest::collection::vec((0u32..150, 0u32..12), 0..12)
        ) {
            let mut mask = Mask::empty(Size::new(w, h));
            seed.iter().for_each(|&(x, y)| mask.set(x, y, true));
            let grown = dilate(&mask, radius);
            prop_assert_eq!(&grown, &dilate_slowly(&mask, radius));
            // Bits beyond the width stay 0: counting by words and by pixels agree.
            let by_pixel = (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).filter(|&(x, y)| grown.get(x, y)).count() as u64;
            prop_assert_eq!(grown.count(), by_pixel);
        }
    }
}
