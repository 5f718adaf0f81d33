//! Ctrl+Z while something is being drawn, and regions that are hidden, deleted and drawn anew.

use editscope::domain::{RegionRole, Side};
use editscope::editor::RowId;
use egui::{Key, Modifiers, PointerButton};

use crate::pointer::{button, click, command, document, drag, mask, move_to, persons_boxes, place, shift};
use crate::support::{Setup, Window};

fn undo(window: &mut Window) {
    command(window, Modifiers::NONE, Key::Z);
}

/// A window in which a box was drawn before.
fn with_a_box() -> Window {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::B);
    drag(&mut window, Side::Edit, &[(100.0, 100.0), (150.0, 150.0), (200.0, 200.0)]);
    assert_eq!(persons_boxes(&window, Side::Edit).len(), 1);
    window
}

#[test]
fn undo_takes_the_last_corner_of_a_polygon_back_and_then_goes_to_earlier_changes() {
    let mut window = with_a_box();
    shift(&mut window, Key::G);
    for corner in [(300.0, 300.0), (400.0, 300.0), (400.0, 400.0)] {
        click(&mut window, Side::Edit, corner);
    }
    let corners = |window: &Window| window.state().tools.sketch.as_ref().and_then(|sketch| sketch.outline().map(<[_]>::len));
    for left in [Some(2), Some(1), None] {
        undo(&mut window);
        assert_eq!(corners(&window), left);
        assert_eq!(persons_boxes(&window, Side::Edit).len(), 1, "the box of before stays");
    }
    undo(&mut window);
    assert!(persons_boxes(&window, Side::Edit).is_empty());
}

#[test]
fn undo_takes_the_last_point_back_and_asks_about_those_that_are_left() {
    let mut window = with_a_box();
    shift(&mut window, Key::S);
    click(&mut window, Side::Edit, (330.0, 350.0));
    click(&mut window, Side::Edit, (360.0, 350.0));
    let asked = |window: &Window| window.asked.borrow().clone();
    assert_eq!(asked(&window), ["prompt 1 points", "prompt 2 points"]);
    undo(&mut window);
    assert_eq!(window.state().tools.prompt.as_ref().map(|prompt| prompt.points.len()), Some(1));
    assert_eq!(asked(&window)[2..], ["prompt 1 points"]);
    // Doing it again means changes, and there is none to do again: the points stay.
    command(&mut window, Modifiers::SHIFT, Key::Z);
    assert_eq!(window.state().tools.prompt.as_ref().map(|prompt| prompt.points.len()), Some(1));
    undo(&mut window);
    assert!(window.state().tools.prompt.is_none());
    assert_eq!((asked(&window).len(), persons_boxes(&window, Side::Edit).len()), (3, 1));
}

#[test]
fn undo_during_a_stroke_drops_the_stroke_and_nothing_comes_back() {
    let mut window = Window::open(Setup::default());
    let untouched = mask(&window, RegionRole::EditMask);
    shift(&mut window, Key::P);
    drag(&mut window, Side::Edit, &[(300.0, 400.0), (330.0, 400.0), (360.0, 400.0)]);
    let first = mask(&window, RegionRole::EditMask);
    // Half a second: far enough apart that two presses are no double click.
    window.harness.run_steps(30);
    let path = [(300.0, 200.0), (330.0, 200.0), (360.0, 200.0)].map(|(x, y)| place(&window, Side::Edit, x, y));
    move_to(&mut window, path[0]);
    button(&mut window, path[0], PointerButton::Primary, true, Modifiers::NONE);
    move_to(&mut window, path[1]);
    window.harness.step();
    assert!(window.state().tools.sketch.is_some(), "{:?} {:?}", window.state().tools.tool, path);
    undo(&mut window);
    assert!(window.state().tools.sketch.is_none());
    move_to(&mut window, path[2]);
    button(&mut window, path[2], PointerButton::Primary, false, Modifiers::NONE);
    window.settle();
    assert_eq!(mask(&window, RegionRole::EditMask), first);
    assert_eq!(document(&window).history().depth(), (1, 0));
    undo(&mut window);
    assert_eq!(mask(&window, RegionRole::EditMask), untouched);
}

#[test]
fn a_region_drawn_after_a_hidden_one_was_deleted_is_seen() {
    let mut window = with_a_box();
    let (side, first) = document(&window).selected.unwrap();
    shift(&mut window, Key::H);
    assert!(window.state().tools.is_hidden(RowId(1), side, first));
    window.key(Key::Delete);
    assert!(persons_boxes(&window, Side::Edit).is_empty());
    let kept = |window: &Window| window.regions.lock().unwrap().hidden.get(&RowId(1)).cloned().unwrap_or_default();
    assert_eq!(kept(&window), [], "the project forgets it too, for the next start");
    drag(&mut window, Side::Edit, &[(250.0, 250.0), (300.0, 300.0), (350.0, 350.0)]);
    let (_, second) = document(&window).selected.unwrap();
    assert_ne!(first, second, "a name is used once");
    assert!(!window.state().tools.is_hidden(RowId(1), side, second));
    // Taken back and brought back, both are seen.
    undo(&mut window);
    undo(&mut window);
    assert_eq!(persons_boxes(&window, Side::Edit).len(), 1);
    assert!(!window.state().tools.is_hidden(RowId(1), side, first));
    // Hidden, taken back, drawn anew.
    window.key(Key::Period);
    while document(&window).selected != Some((side, first)) {
        window.key(Key::Period);
    }
    shift(&mut window, Key::H);
    undo(&mut window);
    assert!(persons_boxes(&window, Side::Edit).is_empty() && kept(&window).is_empty());
    command(&mut window, Modifiers::SHIFT, Key::Z);
    assert!(!window.state().tools.is_hidden(RowId(1), side, first), "what comes back is seen");
}

#[test]
fn drawing_on_a_hidden_mask_shows_it() {
    let mut window = Window::open(Setup::default());
    let id = document(&window).masks(RegionRole::EditMask).next().unwrap().id;
    while document(&window).selected != Some((Side::Edit, id)) {
        window.key(Key::Period);
    }
    shift(&mut window, Key::H);
    assert!(window.state().tools.is_hidden(RowId(1), Side::Edit, id));
    shift(&mut window, Key::P);
    drag(&mut window, Side::Edit, &[(300.0, 400.0), (330.0, 400.0), (360.0, 400.0)]);
    assert!(mask(&window, RegionRole::EditMask).get(330, 400));
    assert!(!window.state().tools.is_hidden(RowId(1), Side::Edit, id));
}
