//! Frames that take long: the whole of a gesture, or keys and what they lead to, falls between two of them.

use editscope::domain::{RegionRole, Side};
use egui::{Event, Key, Modifiers, PointerButton, Pos2};

use crate::pointer::{mask, move_to, persons_boxes, place, shift};
use crate::support::{Setup, Window};

/// Has all of these happen before the next frame.
fn at_once(window: &mut Window, events: impl IntoIterator<Item = Event>) {
    window.harness.input_mut().events.extend(events);
    window.harness.step();
    window.settle();
}

fn button(pos: Pos2, pressed: bool) -> Event {
    Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE }
}

/// The button goes down at the first place and up at the last.
fn gesture(window: &Window, side: Side, path: &[(f32, f32)]) -> Vec<Event> {
    let path: Vec<Pos2> = path.iter().map(|&(x, y)| place(window, side, x, y)).collect();
    let moves = path[1..].iter().map(|at| Event::PointerMoved(*at));
    std::iter::once(button(path[0], true)).chain(moves).chain([button(path[path.len() - 1], false)]).collect()
}

#[test]
fn gestures_within_one_frame_are_drawn() {
    let mut window = Window::open(Setup::default());
    let at = place(&window, Side::Edit, 100.0, 120.0);
    move_to(&mut window, at);
    shift(&mut window, Key::B);
    // Two boxes in one frame.
    let mut both = gesture(&window, Side::Edit, &[(100.0, 120.0), (150.0, 150.0), (200.0, 220.0)]);
    both.extend(gesture(&window, Side::Edit, &[(300.0, 300.0), (320.0, 330.0), (350.0, 360.0)]));
    at_once(&mut window, both);
    let drawn = persons_boxes(&window, Side::Edit);
    let near = |edges: [f32; 4], expected: [f32; 4]| edges.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 2.0);
    assert_eq!(drawn.len(), 2, "{drawn:?}");
    assert!(near(drawn[0], [100.0, 120.0, 200.0, 220.0]) && near(drawn[1], [300.0, 300.0, 350.0, 360.0]), "{drawn:?}");

    let before = mask(&window, RegionRole::EditMask);
    shift(&mut window, Key::P);
    let stroke = gesture(&window, Side::Edit, &[(300.0, 330.0), (300.0, 400.0), (370.0, 400.0)]);
    at_once(&mut window, stroke);
    let painted = mask(&window, RegionRole::EditMask);
    assert!([(300, 330), (300, 365), (300, 400), (335, 400), (370, 400)].into_iter().all(|(x, y)| painted.get(x, y)), "around the corner");
    assert!(!before.get(335, 400));
    // The brush reaches 12 pixels; this is 35 from either line, and on the straight one from the beginning to the end.
    assert_eq!(painted.get(335, 365), before.get(335, 365), "not straight");

    shift(&mut window, Key::L);
    let outline = gesture(&window, Side::Edit, &[(20.0, 20.0), (80.0, 20.0), (80.0, 80.0), (20.0, 80.0)]);
    at_once(&mut window, outline);
    assert!(mask(&window, RegionRole::EditMask).get(50, 50) && !painted.get(50, 50), "what the outline encloses");
}

#[test]
fn a_stroke_that_ends_in_the_frame_after_its_press_is_drawn() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::P);
    let events = gesture(&window, Side::Edit, &[(300.0, 330.0), (300.0, 400.0), (370.0, 400.0)]);
    let at = place(&window, Side::Edit, 300.0, 330.0);
    move_to(&mut window, at);
    window.harness.input_mut().events.push(events[0].clone());
    window.harness.step();
    at_once(&mut window, events[1..].to_vec());
    assert!(mask(&window, RegionRole::EditMask).get(335, 400));
}

#[test]
fn what_is_typed_right_after_the_key_of_a_field_goes_into_the_field() {
    let mut window = Window::open(Setup::default());
    let key = |key, modifiers| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
    let (tab, tool) = (window.state().tab, window.state().tools.tool);
    // Shift+P would take the brush.
    let typed = [(Key::R, "r", Modifiers::NONE), (Key::P, "P", Modifiers::SHIFT), (Key::F, "f", Modifiers::NONE)];
    let letters = typed.into_iter().flat_map(|(letter, text, modifiers)| [key(letter, modifiers), Event::Text(text.into())]);
    let events: Vec<Event> = std::iter::once(key(Key::F, Modifiers::COMMAND)).chain(letters).collect();
    at_once(&mut window, events);
    assert_eq!(window.state().queue.filter().text, "rPf");
    assert_eq!((window.state().tab, window.state().tools.tool), (tab, tool), "they were no keys of commands");
}
