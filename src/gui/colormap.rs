//! The colours of differences. Both maps get steadily lighter (or leave grey in one direction), so that they can be read without colour.

use egui::Color32;

/// A heat map from black (0) to white (1): the cubehelix of D. A. Green (2011, Bull. Astr. Soc. India 39, 289), start 0.5, −1.5 turns,
/// hue 1.2, gamma 1, whose perceived lightness is the value itself.
pub fn heat(value: f32) -> Color32 {
    let x = value.clamp(0.0, 1.0);
    let angle = std::f32::consts::TAU * (0.5 / 3.0 + 1.0 - 1.5 * x);
    let amplitude = 1.2 * x * (1.0 - x) / 2.0;
    let (cos, sin) = (angle.cos(), angle.sin());
    let channel = |by_cos: f32, by_sin: f32| ((x + amplitude * (by_cos * cos + by_sin * sin)).clamp(0.0, 1.0) * 255.0).round() as u8;
    Color32::from_rgb(channel(-0.14861, 1.78277), channel(-0.29227, -0.90649), channel(1.97294, 0.0))
}

/// Darker (−1: dark blue) over equal (0: middle grey) to brighter (1: light orange); luma rises all the way.
pub fn signed(value: f32) -> Color32 {
    const DARKER: [f32; 3] = [12.0, 34.0, 110.0];
    const EQUAL: [f32; 3] = [128.0, 128.0, 128.0];
    const BRIGHTER: [f32; 3] = [255.0, 206.0, 130.0];
    let share = value.clamp(-1.0, 1.0);
    let end = if share < 0.0 { DARKER } else { BRIGHTER };
    let [r, g, b] = std::array::from_fn(|c| (EQUAL[c] + (end[c] - EQUAL[c]) * share.abs()).round() as u8);
    Color32::from_rgb(r, g, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luma(color: Color32) -> f32 {
        0.299 * f32::from(color.r()) + 0.587 * f32::from(color.g()) + 0.114 * f32::from(color.b())
    }

    #[test]
    fn both_maps_get_lighter_all_the_way() {
        for step in 0..100 {
            let (a, b) = (step as f32 / 100.0, (step + 1) as f32 / 100.0);
            assert!(luma(heat(b)) > luma(heat(a)) - 1.0, "heat at {b}");
            assert!(luma(signed(2.0 * b - 1.0)) > luma(signed(2.0 * a - 1.0)) - 1.0, "signed at {b}");
        }
        assert_eq!((heat(0.0), heat(1.0), signed(0.0)), (Color32::BLACK, Color32::WHITE, Color32::from_gray(128)));
    }
}
