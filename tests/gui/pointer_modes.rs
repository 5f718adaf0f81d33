//! Tools by pointer in every compare mode, zoomed in, on a HiDPI screen, and on an edit of another size than its source.

use editscope::domain::{RegionRole, Side, Size};
use editscope::editor::CompareMode;
use editscope::editor::tools::Tool;
use egui::{Key, Modifiers, PointerButton, Pos2};
use egui_kittest::kittest::Queryable as _;
use image::{Rgb, RgbImage};

use crate::pointer::{PICTURE, button, command, drag_through, mask, move_to, persons_boxes, place, place_in, shift};
use crate::support::{Setup, Window};

/// Four edits are enough here.
fn open() -> Window {
    Window::open(Setup { edits: 4, ..Setup::default() })
}

/// Drags the box tool from one corner to the other in a pane, and gives the only box that a person has on that side.
fn boxed(window: &mut Window, index: usize, size: Size, side: Side, [x0, y0, x1, y1]: [f32; 4]) -> [f32; 4] {
    shift(window, Key::B);
    let path = [(x0, y0), ((x0 + x1) / 2.0, (y0 + y1) / 2.0), (x1, y1)].map(|at| place_in(window, index, size, at));
    drag_through(window, &path);
    let boxes = persons_boxes(window, side);
    assert_eq!(boxes.len(), 1, "{side:?}: {boxes:?}");
    boxes[0]
}

/// A dab of the brush at a place of the pane.
fn dab(window: &mut Window, index: usize, size: Size, at: (f32, f32)) {
    shift(window, Key::P);
    let at = place_in(window, index, size, at);
    drag_through(window, &[at, at + egui::vec2(7.0, 0.0)]);
}

fn near(edges: [f32; 4], expected: [f32; 4], by: f32) -> bool {
    edges.iter().zip(expected).all(|(a, b)| (a - b).abs() <= by)
}

#[test]
fn tools_draw_what_is_under_the_pointer_in_every_mode() {
    // Mode (a second press is its other variant), the pane, its side, and a box that lies in it.
    let left = [40.0, 60.0, 130.0, 150.0];
    let right = [300.0, 60.0, 400.0, 150.0];
    let cases: [(&[Key], usize, Side, [f32; 4]); 8] = [
        (&[Key::W], 0, Side::Source, left),
        (&[Key::W], 1, Side::Edit, right),
        (&[Key::L, Key::L], 0, Side::Edit, left),
        (&[Key::O], 0, Side::Edit, left),
        (&[Key::Y], 0, Side::Edit, right),
        (&[Key::Y, Key::Y], 0, Side::Source, right),
        (&[Key::T], 0, Side::Source, left),
        (&[Key::T], 1, Side::Edit, right),
    ];
    for (keys, index, side, expected) in cases {
        let mut window = open();
        for key in keys {
            window.key(*key);
        }
        let drawn = boxed(&mut window, index, PICTURE, side, expected);
        // Edges go to whole pixels.
        assert!(near(drawn, expected, 1.0), "{keys:?}, pane {index}: {drawn:?} for {expected:?}");
        let other = if side == Side::Edit { Side::Source } else { Side::Edit };
        assert!(persons_boxes(&window, other).is_empty(), "{keys:?}: nothing on the other picture");
        // The mask is that of the pair, wherever it is drawn.
        let at = ((expected[0] + expected[2]) / 2.0, 420.0);
        assert!(!mask(&window, RegionRole::EditMask).get(at.0 as u32, at.1 as u32));
        dab(&mut window, index, PICTURE, at);
        assert!(mask(&window, RegionRole::EditMask).get(at.0 as u32, at.1 as u32), "{keys:?}, pane {index}");
        // Back by the keys, in this mode too.
        command(&mut window, Modifiers::NONE, Key::Z);
        command(&mut window, Modifiers::NONE, Key::Z);
        assert!(persons_boxes(&window, side).is_empty());
    }
}

#[test]
fn polygon_lasso_eraser_and_points_work_over_the_divider_too() {
    let mut window = open();
    window.key(Key::W);
    // Around the divider: a gesture goes on where it began.
    let around = [(180.0, 300.0), (270.0, 300.0), (270.0, 390.0), (180.0, 390.0)];
    let at = |window: &Window, pane: usize, corner| place_in(window, pane, PICTURE, corner);
    shift(&mut window, Key::L);
    let path: Vec<Pos2> = around.iter().map(|corner| at(&window, 0, *corner)).collect();
    drag_through(&mut window, &path);
    assert!([(200, 330), (250, 330)].iter().all(|(x, y)| mask(&window, RegionRole::EditMask).get(*x, *y)));
    shift(&mut window, Key::E);
    let path = [at(&window, 0, (200.0, 330.0)), at(&window, 1, (260.0, 330.0))];
    drag_through(&mut window, &path);
    assert!([(200, 330), (250, 330)].iter().all(|(x, y)| !mask(&window, RegionRole::EditMask).get(*x, *y)));
    assert!(window.state().view.fit && (window.state().compare.divider_at - 0.5).abs() < 1e-6, "nothing else moved");
    shift(&mut window, Key::S);
    let path = [at(&window, 1, (330.0, 60.0)), at(&window, 1, (390.0, 120.0))];
    drag_through(&mut window, &path);
    assert_eq!(window.state().tools.prompt.as_ref().map(|prompt| prompt.side), Some(Side::Edit));
    window.key(Key::Enter);
    assert!(mask(&window, RegionRole::EditMask).get(360, 90));
}

#[test]
fn zoomed_in_a_box_is_exact_to_the_pixel() {
    for (mode, index) in [(Key::S, 1), (Key::W, 1), (Key::O, 0)] {
        let mut window = open();
        window.key(mode);
        window.key(Key::Z);
        for _ in 0..6 {
            window.key(Key::Plus);
        }
        assert!(window.state().view.zoom > 3.0, "{:?}", window.state().view);
        // Right of the middle: in the wipe that is the edit.
        let expected = [230.0, 205.0, 250.0, 240.0];
        assert_eq!(boxed(&mut window, index, PICTURE, Side::Edit, expected), expected, "{mode:?}");
        // A brush of one pixel paints the pixel under the pointer.
        shift(&mut window, Key::P);
        for _ in 0..40 {
            window.key(Key::OpenBracket);
        }
        assert_eq!(window.state().tools.options.brush_px, 1);
        let before = mask(&window, RegionRole::EditMask);
        let (x, y) = (0..448u32).flat_map(|y| (231..249u32).map(move |x| (x, y))).find(|(x, y)| *y > 210 && !before.get(*x, *y)).unwrap();
        let at = place_in(&window, index, PICTURE, (x as f32 + 0.5, y as f32 + 0.5));
        move_to(&mut window, at);
        button(&mut window, at, PointerButton::Primary, true, Modifiers::NONE);
        button(&mut window, at, PointerButton::Primary, false, Modifiers::NONE);
        window.settle();
        let after = mask(&window, RegionRole::EditMask);
        assert!(after.get(x, y) && after.count() == before.count() + 1, "{mode:?}: {x}, {y}");
    }
}

#[test]
fn on_a_hidpi_screen_tools_hit_the_same_pixels() {
    let setup = || Setup { edits: 4, size: [1280.0, 720.0], pixels_per_point: 2.0, ..Setup::default() };
    let mut window = Window::open(setup());
    let expected = [100.0, 120.0, 200.0, 220.0];
    let drawn = boxed(&mut window, 1, PICTURE, Side::Edit, expected);
    assert!(near(drawn, expected, 1.0), "{drawn:?}");
    dab(&mut window, 0, PICTURE, (300.0, 420.0));
    assert!(mask(&window, RegionRole::EditMask).get(300, 420));
    // Zoomed in: 1:1 is one screen pixel a pixel of the picture, half a point.
    let mut window = Window::open(setup());
    window.key(Key::Z);
    assert_eq!(window.state().view.zoom, 0.5);
    for _ in 0..8 {
        window.key(Key::Plus);
    }
    let expected = [210.0, 205.0, 240.0, 240.0];
    assert_eq!(boxed(&mut window, 1, PICTURE, Side::Edit, expected), expected);
}

#[test]
fn a_box_on_an_edit_of_another_size_is_measured_in_its_own_pixels() {
    let source = Size::new(400, 300);
    let folder = tempfile::tempdir().unwrap();
    let picture = |width, height| RgbImage::from_fn(width, height, |x, y| Rgb([(x * 7) as u8, (y * 5) as u8, (x ^ y) as u8]));
    picture(400, 300).save(folder.path().join("source.png")).unwrap();
    picture(200, 100).save(folder.path().join("edit.png")).unwrap();
    let line = "{\"id\": \"1\", \"item\": \"1\", \"source\": \"source.png\", \"instruction\": \"Pair\", \"edited\": \"edit.png\", \"model\": \"m\"}\n";
    std::fs::write(folder.path().join("manifest.jsonl"), line).unwrap();
    for (mode, index) in [(Key::S, 1), (Key::O, 0)] {
        let setup = Setup { data: Some(folder.path().to_path_buf()), edits: 1, scored: false, ..Setup::default() };
        let mut window = Window::open(setup);
        window.key(mode);
        // By hand: the edit is drawn twice as wide and three times as high.
        let drawn = boxed(&mut window, index, source, Side::Edit, [100.0, 60.0, 200.0, 150.0]);
        assert!(near(drawn, [50.0, 20.0, 100.0, 50.0], 1.0), "{mode:?}: {drawn:?}");
        // By a handle: the right edge to 300 of the source is 150 of the edit.
        let path = [(200.0, 105.0), (250.0, 105.0), (300.0, 105.0)].map(|at| place_in(&window, index, source, at));
        drag_through(&mut window, &path);
        let drawn = persons_boxes(&window, Side::Edit)[0];
        assert!(near(drawn, [50.0, 20.0, 150.0, 50.0], 1.0), "{mode:?}: {drawn:?}");
        // A mask has the pixels of the source.
        dab(&mut window, index, source, (350.0, 250.0));
        let painted = mask(&window, RegionRole::EditMask);
        assert_eq!(painted.size(), source);
        assert!(painted.get(350, 250) && !painted.get(175, 83), "{mode:?}");
    }
}

fn shows(window: &Window, label: &str) -> bool {
    window.harness.query_all_by_label(label).next().is_some()
}

/// A blink that just shows the source.
fn blinking_at_the_source(tool: Key) -> Window {
    let mut window = open();
    shift(&mut window, tool);
    window.key(Key::L);
    assert_eq!((window.state().compare.mode, window.state().compare.blink_paused), (CompareMode::Blink, false));
    while shows(&window, "Source") {
        window.harness.step();
    }
    while !shows(&window, "Source") {
        window.harness.step();
    }
    window
}

/// Both pictures are seen within the next second.
fn goes_on_blinking(window: &mut Window) -> bool {
    let mut seen = [false; 2];
    for _ in 0..70 {
        window.harness.step();
        seen[usize::from(shows(window, "Source"))] = true;
    }
    seen == [true; 2]
}

#[test]
fn a_blink_waits_for_the_gesture_that_is_under_way() {
    let mut window = blinking_at_the_source(Key::B);
    assert_eq!(window.state().tools.tool, Tool::Box);
    let at = |window: &Window, corner| place_in(window, 0, PICTURE, corner);
    let (from, to) = (at(&window, (40.0, 60.0)), at(&window, (240.0, 260.0)));
    move_to(&mut window, from);
    button(&mut window, from, PointerButton::Primary, true, Modifiers::NONE);
    // Two seconds: four turns of the blink.
    for step in 1..=120 {
        move_to(&mut window, from + (to - from) * (step as f32 / 120.0));
        assert!(shows(&window, "Source"), "after {step} frames");
    }
    button(&mut window, to, PointerButton::Primary, false, Modifiers::NONE);
    window.settle();
    let drawn = persons_boxes(&window, Side::Source);
    assert!(drawn.len() == 1 && near(drawn[0], [40.0, 60.0, 240.0, 260.0], 1.0), "{drawn:?}");
    assert!(persons_boxes(&window, Side::Edit).is_empty());
    assert!(goes_on_blinking(&mut window));
}

#[test]
fn a_blink_waits_for_a_polygon_and_for_points() {
    for tool in [Key::G, Key::S] {
        let mut window = blinking_at_the_source(tool);
        let at = place_in(&window, 0, PICTURE, (330.0, 350.0));
        move_to(&mut window, at);
        button(&mut window, at, PointerButton::Primary, true, Modifiers::NONE);
        button(&mut window, at, PointerButton::Primary, false, Modifiers::NONE);
        for frame in 0..120 {
            window.harness.step();
            assert!(shows(&window, "Source"), "{tool:?}, after {frame} frames");
        }
        assert!(window.state().tools.is_busy());
        window.key(Key::Escape);
        assert!(goes_on_blinking(&mut window), "{tool:?}");
    }
}

#[test]
fn the_flip_key_does_not_take_the_picture_away_under_a_gesture() {
    let mut window = open();
    shift(&mut window, Key::B);
    let path = [(100.0, 120.0), (150.0, 170.0), (200.0, 220.0)].map(|(x, y)| place(&window, Side::Edit, x, y));
    move_to(&mut window, path[0]);
    button(&mut window, path[0], PointerButton::Primary, true, Modifiers::NONE);
    move_to(&mut window, path[1]);
    window.harness.key_down(Key::Space);
    window.harness.run_steps(3);
    assert!(shows(&window, "Edit · Margit"));
    move_to(&mut window, path[2]);
    button(&mut window, path[2], PointerButton::Primary, false, Modifiers::NONE);
    window.settle();
    let drawn = persons_boxes(&window, Side::Edit);
    assert!(drawn.len() == 1 && near(drawn[0], [100.0, 120.0, 200.0, 220.0], 2.0), "{drawn:?}");
    assert!(persons_boxes(&window, Side::Source).is_empty());
    // The key is still held: now it flips.
    assert!(!shows(&window, "Edit · Margit"));
    window.harness.key_up(Key::Space);
    window.settle();
    assert!(shows(&window, "Edit · Margit"));
}
