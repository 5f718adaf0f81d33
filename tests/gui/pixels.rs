//! What an overlay does to the picture, pixel by pixel, on the software driver. No stored pictures: the window before is compared with
//! the window after, so that another driver's text smoothing cannot fail the test.

use std::panic::{AssertUnwindSafe, catch_unwind};

use egui::Key;
use image::RgbaImage;

use crate::support::{Setup, Window};

/// The window as a picture; `None` (and a word) on a machine where nothing can draw.
fn draw(window: &mut Window) -> Option<RgbaImage> {
    window.settle();
    let drawn = catch_unwind(AssertUnwindSafe(|| window.harness.render()));
    match drawn {
        Ok(Ok(picture)) => Some(picture),
        Ok(Err(why)) => {
            println!("skipped: nothing can draw on this machine ({why})");
            None
        }
        Err(_) => {
            println!("skipped: this machine has no graphics adapter, not even a software one (Debian: mesa-vulkan-drivers)");
            None
        }
    }
}

/// Pixels that differ by more than rounding, left of, in and right of the canvas (its width at 1280 points without its edges).
fn changed(a: &RgbaImage, b: &RgbaImage) -> [usize; 3] {
    let mut counts = [0; 3];
    for ((x, y, a), b) in a.enumerate_pixels().zip(b.pixels()) {
        // The legend below the pictures (up to three lines at this width) shows the switch, as it should.
        if y < 600 && a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 2) {
            counts[if x < 340 { 0 } else { usize::from(x >= 970) + 1 }] += 1;
        }
    }
    counts
}

#[test]
fn an_overlay_changes_the_pictures_and_nothing_else() {
    let mut window = Window::open(Setup::default());
    let Some(with_all) = draw(&mut window) else { return };
    assert_eq!((with_all.width(), with_all.height()), (1280, 800));
    window.key(Key::M);
    let Some(without_mask) = draw(&mut window) else { return };
    let [queue, canvas, inspector] = changed(&with_all, &without_mask);
    assert!(canvas > 200, "the edit mask should be seen: {canvas} pixels changed");
    assert_eq!((queue, inspector), (0, 0), "nothing outside the canvas changes");
    window.key(Key::M);
    let Some(again) = draw(&mut window) else { return };
    assert_eq!(changed(&with_all, &again), [0, 0, 0], "switched off and on again it looks as before");
}

#[test]
fn bare_pictures_have_no_overlay_left() {
    let mut window = Window::open(Setup::default());
    window.key(Key::H);
    let Some(bare) = draw(&mut window) else { return };
    window.key(Key::H);
    for key in [Key::M, Key::B, Key::E, Key::U, Key::Q] {
        window.key(key);
    }
    let Some(switched_off) = draw(&mut window) else { return };
    assert_eq!(changed(&bare, &switched_off)[1], 0, "bare is the same as every overlay switched off");
}
