//! What an overlay does to the picture, pixel by pixel, on the software driver. No stored pictures: the window before is compared with
//! the window after, so that another driver's text smoothing cannot fail the test.

use std::panic::{AssertUnwindSafe, catch_unwind};

use editscope::domain::Side;
use editscope::imaging::decode::{DecodeOptions, decode};
use egui::accesskit::Role;
use egui::{Key, Modifiers, pos2, vec2};
use egui_kittest::kittest::Queryable as _;
use image::RgbaImage;

use editscope::engine::audit::PastedBack;

use crate::pointer::place;
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

#[test]
fn the_pasted_picture_is_drawn_in_place_of_the_edit() {
    let mut window = Window::open(Setup::default());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pasted.png");
    // A colour that nothing else in the window has.
    image::RgbImage::from_pixel(448, 448, image::Rgb([1, 250, 3])).save(&path).unwrap();
    window.audit.borrow_mut().pasted = Some(PastedBack { picture: path, feather: 4.0, score: Some(Err("none here".into())) });
    let own = |picture: &RgbaImage| picture.pixels().filter(|pixel| pixel.0[0] < 20 && pixel.0[1] > 235 && pixel.0[2] < 20).count();
    let Some(before) = draw(&mut window) else { return };
    assert_eq!(own(&before), 0);
    window.key(Key::F8);
    let Some(pasted) = draw(&mut window) else { return };
    assert!(own(&pasted) > 5_000, "{} pixels show the pasted picture", own(&pasted));
    window.key(Key::F8);
    let Some(again) = draw(&mut window) else { return };
    assert_eq!(own(&again), 0);
}

/// Pixels of the canvas that change when `step` is done; `None` where nothing can draw.
fn changed_by(window: &mut Window, step: impl FnOnce(&mut Window)) -> Option<usize> {
    let before = draw(window)?;
    step(window);
    Some(changed(&before, &draw(window)?)[1])
}

/// The fourth item of the demo, which changes a colour: there are boxes on both pictures.
fn recoloured() -> Window {
    let mut window = Window::open(Setup::default());
    for _ in 0..12 {
        window.key(Key::ArrowDown);
    }
    window
}

#[test]
fn every_overlay_is_seen_in_every_mode_that_shows_its_picture() {
    let mut window = recoloured();
    // In the wipe a box may lie on the other picture's half.
    let of_pictures = [Key::B, Key::E, Key::M, Key::U];
    let modes: [(Key, &[Key]); 5] =
        [(Key::S, &of_pictures), (Key::W, &[Key::M]), (Key::O, &of_pictures), (Key::I, &of_pictures), (Key::T, &of_pictures)];
    for (mode, overlays) in modes {
        window.key(mode);
        for overlay in overlays {
            let Some(pixels) = changed_by(&mut window, |window| window.key(*overlay)) else { return };
            assert!(pixels > 20, "{overlay:?} in {mode:?}: {pixels} pixels changed");
            window.key(*overlay);
        }
    }
}

#[test]
fn a_higher_threshold_takes_candidates_off_the_pictures() {
    let mut window = Window::open(Setup::default());
    let Some(shown) = changed_by(&mut window, |window| window.key(Key::C)) else { return };
    assert!(shown > 20, "candidates are seen: {shown}");
    // The made-up candidates have a confidence of 0.12.
    let raise = |window: &mut Window, to: f64| {
        window.harness.get_by_role_and_label(Role::Slider, "from").set_value_accesskit(to);
        window.settle();
    };
    let Some(still) = changed_by(&mut window, |window| raise(window, 0.11)) else { return };
    assert_eq!(still, 0, "below their confidence nothing changes");
    let Some(gone) = changed_by(&mut window, |window| raise(window, 0.13)) else { return };
    assert!(gone > 20, "they are gone: {gone}");
}

#[test]
fn ignored_pixels_that_a_person_drew_are_an_overlay_with_its_own_switch() {
    let mut window = Window::open(Setup::default());
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::P);
    window.settle();
    window.harness.get_by_label("Draws on").click();
    window.settle();
    window.harness.get_by_label("Ignored pixels").click();
    window.settle();
    let area = window.harness.get_by_label("Canvas").rect();
    let at = area.lerp_inside(vec2(0.75, 0.5));
    let Some(drawn) = changed_by(&mut window, |window| {
        window.harness.hover_at(at);
        window.harness.step();
        window.harness.drag_at(at);
        window.harness.drop_at(at);
        // Off the canvas, so that the brush itself is not seen.
        window.harness.hover_at(pos2(100.0, 300.0));
        window.settle();
    }) else {
        return;
    };
    assert!(drawn > 50, "a dab of the brush is seen: {drawn}");
    let Some(switched) = changed_by(&mut window, |window| window.key(Key::Q)) else { return };
    assert!(switched > 50, "Q takes it off: {switched}");
}

/// Places that differ by more than rounding, above the legend.
fn places(a: &RgbaImage, b: &RgbaImage) -> Vec<egui::Pos2> {
    let differ = |a: &image::Rgba<u8>, b: &image::Rgba<u8>| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 2);
    let pixels = a.enumerate_pixels().zip(b.pixels()).filter(|((_, y, a), b)| *y < 600 && differ(a, b));
    pixels.map(|((x, y, _), _)| pos2(x as f32 + 0.5, y as f32 + 0.5)).collect()
}

#[test]
fn the_crop_is_marked_at_its_corners_on_both_pictures() {
    // The first item's pictures have the size that places are told in.
    let mut window = Window::open(Setup::default());
    let Some(without) = draw(&mut window) else { return };
    window.key(Key::X);
    let Some(with) = draw(&mut window) else { return };
    let changed = places(&without, &with);
    let crop = window.state().details.as_ref().and_then(|details| details.score.as_ref()?.crop_in_bpm500).expect("the edit has a crop");
    // These pictures have 448 pixels a side, the metric's canvas 500.
    let [x0, y0, x1, y1] = crop.to_array().map(|edge| edge * 448.0 / 500.0);
    let mut near = 0;
    for side in [Side::Source, Side::Edit] {
        let outline = egui::Rect::from_min_max(place(&window, side, x0, y0), place(&window, side, x1, y1));
        for corner in [outline.left_top(), outline.right_top(), outline.left_bottom(), outline.right_bottom()] {
            assert!(changed.iter().any(|at| at.distance(corner) < 4.0), "no mark at {corner:?} of {side:?}");
        }
        let (outer, inner) = (outline.expand(4.0), outline.shrink(4.0));
        near += changed.iter().filter(|at| outer.contains(**at) && !inner.contains(**at)).count();
    }
    assert_eq!(near, changed.len(), "nothing changes away from the outlines");
}

#[test]
fn the_change_map_lies_on_the_edit_alone_and_is_strongest_where_most_changed() {
    let mut window = Window::open(Setup::default());
    let row = window.state().queue.selected_row().expect("an edit is selected").clone();
    let [source, edit] = [row.source, row.edited].map(|path| decode(&path, &DecodeOptions::default()).unwrap().rgb);
    let distance = |x: u32, y: u32| {
        let pair = source.get_pixel(x, y).0.into_iter().zip(edit.get_pixel(x, y).0);
        pair.map(|(a, b)| f64::from(a.abs_diff(b)).powi(2)).sum::<f64>()
    };
    // The mean over 9×9 pixels, because the panes show the pictures smaller than they are.
    let around =
        |x: u32, y: u32| (x - 4..x + 5).flat_map(|x| (y - 4..y + 5).map(move |y| (x, y))).map(|(x, y)| distance(x, y)).sum::<f64>();
    let spots = (1..27).flat_map(|x| (1..27).map(move |y| (x * 16, y * 16)));
    let by_change = |a: &(u32, u32), b: &(u32, u32)| around(a.0, a.1).total_cmp(&around(b.0, b.1));
    let (least, most) = (spots.clone().min_by(by_change).unwrap(), spots.max_by(by_change).unwrap());
    // Only the map: the other overlays would be drawn over it.
    for key in [Key::M, Key::U, Key::B, Key::E] {
        window.key(key);
    }
    let Some(without) = draw(&mut window) else { return };
    window.key(Key::D);
    let Some(with) = draw(&mut window) else { return };
    let pane = egui::Rect::from_min_max(place(&window, Side::Edit, 0.0, 0.0), place(&window, Side::Edit, 448.0, 448.0));
    let changed = places(&without, &with);
    assert!(changed.iter().all(|at| pane.expand(1.0).contains(*at)), "the source and the rest of the window stay as they are");
    assert!(changed.len() as f32 > 0.9 * pane.area(), "a veil lies over all of the edit: {} of {}", changed.len(), pane.area());
    let theme = editscope::gui::theme::Theme::load().unwrap();
    let color = theme.palette(egui::Theme::Dark).change.0;
    let to_color = |(x, y): (u32, u32)| {
        let at = place(&window, Side::Edit, x as f32, y as f32);
        let seen = with.get_pixel(at.x as u32, at.y as u32).0;
        seen.iter().zip([color.r(), color.g(), color.b()]).map(|(seen, color)| u32::from(seen.abs_diff(color))).sum::<u32>()
    };
    assert!(to_color(most) + 100 < to_color(least), "{most:?} {}, {least:?} {}", to_color(most), to_color(least));
}

#[test]
fn a_found_box_or_mask_that_is_hidden_is_off_the_pictures_until_it_is_shown() {
    let mut window = recoloured();
    window.key(Key::F6);
    let names: Vec<String> = {
        let document = window.state().tools.document.as_ref().expect("the pictures are read");
        document.listed().map(|(_, region)| region.facts.name.clone()).collect()
    };
    assert!(names.len() >= 3 && names.contains(&"edit mask".to_owned()), "boxes on both pictures and a mask: {names:?}");
    let press = |window: &mut Window, label: &str| {
        window.harness.get_all_by_label(label).next().expect("the list has the region").click();
        window.settle();
        // Off the list: the region under the pointer is drawn in any case.
        window.harness.hover_at(pos2(100.0, 300.0));
        window.settle();
    };
    for name in [&names[0], &"edit mask".to_owned()] {
        let Some(hidden) = changed_by(&mut window, |window| press(window, &format!("Hide {name}"))) else { return };
        assert!(hidden > 20, "{name} goes: {hidden} pixels changed");
        let Some(shown) = changed_by(&mut window, |window| press(window, &format!("Show {name}"))) else { return };
        assert_eq!(shown, hidden, "{name} comes back");
    }
}
