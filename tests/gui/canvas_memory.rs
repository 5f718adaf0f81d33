//! What the canvas keeps on the GPU and in memory while a person goes about, and in which order it asks for pictures.

use editscope::domain::{RegionRole, Side};
use editscope::editor::RowId;
use egui::{Key, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::pointer::{button, drag, mask, move_to, shift};
use crate::support::{Setup, Window};

/// Bytes of each texture of a person's masks.
fn mask_textures(window: &Window) -> Vec<usize> {
    let textures = window.harness.ctx.tex_manager();
    let textures = textures.read();
    let masks = textures.allocated().filter(|(_, meta)| meta.name.starts_with("regions"));
    masks.map(|(_, meta)| meta.size[0] * meta.size[1] * meta.bytes_per_pixel).collect()
}

/// A window in which a person has drawn on the edit mask.
fn brushed() -> Window {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::P);
    drag(&mut window, Side::Edit, &[(300.0, 400.0), (330.0, 400.0), (360.0, 400.0)]);
    assert!(mask(&window, RegionRole::EditMask).get(330, 400));
    window
}

#[test]
fn dragging_the_divider_keeps_one_texture_a_pane() {
    let mut window = brushed();
    window.key(Key::W);
    let canvas = window.harness.get_by_label("Canvas").rect();
    let from = window.harness.get_by_label("Wipe divider").rect().center();
    let before = mask_textures(&window);
    assert_eq!(before.len(), 2, "one on each side of the divider: {before:?}");
    move_to(&mut window, from);
    button(&mut window, from, egui::PointerButton::Primary, true, egui::Modifiers::NONE);
    let mut most = 0;
    for step in 0..60 {
        // Fractions of a point too: each is another place.
        move_to(&mut window, from + vec2(step as f32 * 2.3 - 60.0, 0.0));
        let (textures, _) = window.harness.state().pictures().memory();
        let now = mask_textures(&window);
        assert!(now.len() <= 2, "{} textures after {step} steps", now.len());
        assert!(textures >= now.iter().sum(), "they are counted");
        most = most.max(now.iter().sum());
    }
    button(&mut window, from, egui::PointerButton::Primary, false, egui::Modifiers::NONE);
    window.settle();
    // Together they cover the canvas at most once, with four bytes a texel.
    assert!(most as f32 <= 4.0 * canvas.area() * 1.02, "{most} bytes for {canvas:?}");
}

#[test]
fn masks_of_panes_that_are_gone_leave_the_memory() {
    let mut window = brushed();
    // Other sizes of the window, as of a panel.
    for step in 0..20 {
        window.harness.set_size(vec2(1280.0 + step as f32 * 3.0, 800.0));
        window.harness.run_steps(3);
        assert!(mask_textures(&window).len() <= 2, "{step}: {:?}", mask_textures(&window));
    }
    window.settle();
    let (with, _) = window.harness.state().pictures().memory();
    let of_masks: usize = mask_textures(&window).iter().sum();
    assert!(of_masks > 0 && with >= of_masks);
    // One pane in place of two, then an edit without a person's mask.
    window.key(Key::Y);
    window.harness.run_steps(4);
    assert_eq!(mask_textures(&window).len(), 1);
    window.key(Key::Escape);
    window.key(Key::J);
    window.harness.run_steps(4);
    assert_eq!((window.state().queue.selected(), mask_textures(&window)), (Some(RowId(2)), Vec::new()));
}

#[test]
fn neighbours_are_asked_for_once_the_selected_pair_is_shown() {
    let mut window = Window::open(Setup::default());
    window.pictures.borrow_mut().hold = true;
    // To an edit whose pictures are not there yet; the one beside it was never asked for.
    for _ in 0..6 {
        window.harness.key_press(Key::J);
        window.harness.step();
    }
    window.harness.run_steps(5);
    assert_eq!(window.state().queue.selected(), Some(RowId(7)));
    let edited = |window: &Window, id: i64| window.state().queue.row(RowId(id)).unwrap().edited.clone();
    let asked = |window: &Window, id: i64| {
        let path = edited(window, id);
        window.pictures.borrow().paths.iter().find(|(asked, _)| *asked == path).map(|(_, ahead)| *ahead)
    };
    assert_eq!(asked(&window, 7), Some(false), "the selected one is asked for, and not for later");
    assert_eq!(asked(&window, 8), None, "its neighbour waits until it is shown");
    window.let_pictures_go();
    assert_eq!(asked(&window, 8), Some(true));
    let place = |window: &Window, id: i64| {
        let path = edited(window, id);
        window.pictures.borrow().paths.iter().position(|(asked, _)| *asked == path).unwrap()
    };
    assert!(place(&window, 7) < place(&window, 8));
    // It is there when the person comes to it: nothing is asked for again.
    let before = window.pictures.borrow().paths.iter().filter(|(path, _)| *path == edited(&window, 8)).count();
    window.key(Key::J);
    assert_eq!(window.state().queue.selected(), Some(RowId(8)));
    assert_eq!(window.pictures.borrow().paths.iter().filter(|(path, _)| *path == edited(&window, 8)).count(), before);
}
