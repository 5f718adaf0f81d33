//! Only the region of an edit, pasted back on its source (`bpm.md` section 9).

use image::{Rgb, RgbImage};

use crate::domain::{Mask, Size, squared_distances};

use super::resize::cv2_resize_linear;

/// The source with the pixels of `region` taken from `edit`.
///
/// The edge is soft inwards: a pixel of the region whose centre is `d` pixels from the nearest pixel outside takes
/// `min(1, (d − 0.5) / feather)` from the edit and the rest from the source, so that every pixel outside the region is the source's,
/// exactly. `feather` is in pixels of the source; 0 cuts hard. Values are mixed as they are stored (sRGB, gamma-encoded), as browsers and
/// most editors do. An edit of another size is stretched to the source, as the metric does; so is the region.
pub fn paste_back(source: &RgbImage, edit: &RgbImage, region: &Mask, feather: f32) -> RgbImage {
    let size = Size::new(source.width(), source.height());
    let stretched;
    let edit = if edit.dimensions() == source.dimensions() {
        edit
    } else {
        stretched = cv2_resize_linear(edit, size);
        &stretched
    };
    let region = region.resized_nearest(size);
    // `None`: nothing is outside, so there is no edge.
    let to_outside = if feather > 0.0 { squared_distances(&region, false) } else { None };
    let mut pasted = source.clone();
    for (x, y, pixel) in pasted.enumerate_pixels_mut() {
        if !region.get(x, y) {
            continue;
        }
        let depth = to_outside.as_ref().map(|to| (to[y as usize * size.width as usize + x as usize] as f32).sqrt());
        let share = depth.map_or(1.0, |depth| ((depth - 0.5) / feather).min(1.0));
        let (Rgb(from), Rgb(to)) = (*pixel, *edit.get_pixel(x, y));
        let mixed = |channel: usize| {
            let (from, to) = (f32::from(from[channel]), f32::from(to[channel]));
            (from + share * (to - from)).round() as u8
        };
        *pixel = Rgb([mixed(0), mixed(1), mixed(2)]);
    }
    pasted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(size: Size, value: u8) -> RgbImage {
        RgbImage::from_pixel(size.width, size.height, Rgb([value; 3]))
    }

    #[test]
    fn the_soft_edge_by_hand() {
        // Columns 2..8 of 8; the nearest outside pixel of column x is column 1, d = x − 1. Feather 2: (d − 0.5) / 2 is
        // 0.25, 0.75, then 1. From 100 to 200: 125, 175, 200.
        let size = Size::new(8, 3);
        let region = Mask::from_fn(size, |x, _| x >= 2);
        let pasted = paste_back(&flat(size, 100), &flat(size, 200), &region, 2.0);
        let row: Vec<u8> = (0..8).map(|x| pasted.get_pixel(x, 1).0[0]).collect();
        assert_eq!(row, [100, 100, 125, 175, 200, 200, 200, 200]);
        let hard = paste_back(&flat(size, 100), &flat(size, 200), &region, 0.0);
        assert_eq!((hard.get_pixel(1, 0).0, hard.get_pixel(2, 0).0), ([100; 3], [200; 3]));
    }

    #[test]
    fn nothing_outside_changes_and_a_region_of_everything_is_the_edit() {
        let size = Size::new(40, 30);
        let source = RgbImage::from_fn(40, 30, |x, y| Rgb([x as u8, y as u8, (x * y) as u8]));
        let region = Mask::from_fn(size, |x, y| (x as i64 - 20).pow(2) + (y as i64 - 15).pow(2) < 90);
        let pasted = paste_back(&source, &flat(size, 250), &region, 6.0);
        let outside = source.enumerate_pixels().filter(|&(x, y, _)| !region.get(x, y));
        assert!(outside.into_iter().all(|(x, y, pixel)| pasted.get_pixel(x, y) == pixel));
        assert_eq!(pasted.get_pixel(20, 15).0, [250; 3]);
        assert_eq!(paste_back(&source, &flat(size, 250), &Mask::full(size), 6.0), flat(size, 250));
    }

    #[test]
    fn a_smaller_edit_and_region_are_stretched_to_the_source() {
        let pasted =
            paste_back(&flat(Size::new(10, 4), 0), &flat(Size::new(5, 2), 90), &Mask::from_fn(Size::new(5, 2), |x, _| x == 0), 0.0);
        assert_eq!(pasted.dimensions(), (10, 4));
        assert_eq!((pasted.get_pixel(1, 3).0, pasted.get_pixel(2, 3).0), ([90; 3], [0; 3]));
    }
}
