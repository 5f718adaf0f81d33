//! After a correction the mask that is seen is the one that is listed, drawn on and taken away from.

use std::time::{Duration, Instant};

use editscope::domain::rle::Rle;
use editscope::domain::{Mask, RegionRole, Score, Side};
use editscope::editor::RowId;
use editscope::editor::tools::Tool;
use egui::{Key, Modifiers, PointerButton};
use egui_kittest::kittest::Queryable as _;

use crate::pointer::{PICTURE, button, document, drag, mask, move_to, place, press, shift, type_over};
use crate::support::{Setup, Window};

const EDIT: RowId = RowId(1);

/// The segmenter's mask of the box that a person drew: 40 by 40 pixels, far from what was found before.
fn of_the_box() -> Mask {
    Mask::from_fn(PICTURE, |x, y| (380..420).contains(&x) && (20..60).contains(&y))
}

/// Drags, and lets the score follow: its first answer, then the one that is kept.
fn drag_and_follow(window: &mut Window, path: &[(f32, f32)]) {
    let path: Vec<egui::Pos2> = path.iter().map(|&(x, y)| place(window, Side::Edit, x, y)).collect();
    move_to(window, path[0]);
    button(window, path[0], PointerButton::Primary, true, Modifiers::NONE);
    for at in &path[1..] {
        move_to(window, *at);
    }
    button(window, path[path.len() - 1], PointerButton::Primary, false, Modifiers::NONE);
    follow(window);
}

/// Lets the journal be written and the score follow.
fn follow(window: &mut Window) {
    let began = Instant::now();
    while window.audit.borrow().held.is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60), "the score does not follow");
        window.harness.step();
        std::thread::sleep(Duration::from_millis(2));
    }
    window.let_go();
}

fn score(window: &Window) -> Score {
    Score::clone(window.state().details.as_ref().unwrap().score.as_ref().unwrap())
}

/// What the canvas draws where no tool does.
fn on_canvas(window: &Window) -> Option<Mask> {
    window.state().shown_mask(EDIT).map(|rle| rle.to_mask().unwrap())
}

fn says(window: &Window, part: &str) -> bool {
    window.harness.query_all_by_label_contains(part).next().is_some()
}

/// A window in which a person drew a box on the edit, whose mask the segmenter made.
fn with_corrected_box() -> (Window, Mask) {
    let mut window = Window::open(Setup::default());
    window.key(Key::F6);
    let before = mask(&window, RegionRole::EditMask);
    assert!(!before.is_empty() && on_canvas(&window).as_ref() == Some(&before));
    let corrected = Score { mask: Some(Rle::from_mask(&of_the_box())), said: vec![RegionRole::Edited], ..score(&window) };
    window.audit.borrow_mut().corrected = Some(corrected);
    shift(&mut window, Key::B);
    drag_and_follow(&mut window, &[(380.0, 20.0), (400.0, 40.0), (420.0, 60.0)]);
    (window, before)
}

#[test]
fn after_a_box_correction_list_canvas_brush_and_eraser_have_the_new_mask() {
    let (mut window, before) = with_corrected_box();
    assert!(!document(&window).speaks_for(Side::Edit, RegionRole::EditMask));
    assert_eq!(on_canvas(&window), Some(of_the_box()));
    assert_eq!(mask(&window, RegionRole::EditMask), of_the_box());
    // 40 by 40.
    assert!(says(&window, "1600 px"), "the list has the mask of before");

    // A stroke elsewhere adds to what is seen.
    let mut brushed = of_the_box();
    assert!(brushed.union_with(&Mask::from_fn(PICTURE, |x, y| (x, y) == (100, 420))));
    let said = vec![RegionRole::Edited, RegionRole::EditMask];
    window.audit.borrow_mut().corrected = Some(Score { mask: Some(Rle::from_mask(&brushed)), said, ..score(&window) });
    shift(&mut window, Key::P);
    assert_eq!(window.state().tools.tool, Tool::Brush);
    drag_and_follow(&mut window, &[(80.0, 420.0), (90.0, 420.0), (100.0, 420.0)]);
    let now = mask(&window, RegionRole::EditMask);
    assert!(now.get(100, 420) && now.get(400, 40), "the stroke is there, and so is the mask that was seen");
    let old_alone = (0..448).flat_map(|y| (0..448).map(move |x| (x, y))).find(|&(x, y)| before.get(x, y) && y < 380 && x < 370);
    let (x, y) = old_alone.expect("the pizza lies elsewhere");
    assert!(!now.get(x, y), "the mask of before does not come back");
    let line = document(&window).log().last().unwrap().what.clone();
    assert!(line.contains("on the automatic mask of 1600 px"), "the journal says what the stroke began with: {line}");

    // Taken back, the segmenter's mask counts again: on the canvas, too.
    window.audit.borrow_mut().corrected =
        Some(Score { mask: Some(Rle::from_mask(&of_the_box())), said: vec![RegionRole::Edited], ..score(&window) });
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.harness.step();
    window.harness.step();
    assert_eq!(mask(&window, RegionRole::EditMask), of_the_box(), "also before the score has followed");
    assert_eq!(on_canvas(&window), Some(of_the_box()));
    follow(&mut window);
    assert_eq!((mask(&window, RegionRole::EditMask), on_canvas(&window)), (of_the_box(), Some(of_the_box())));

    // The eraser takes away from what is seen.
    shift(&mut window, Key::E);
    drag_and_follow(&mut window, &[(400.0, 20.0), (400.0, 40.0), (400.0, 60.0)]);
    let now = mask(&window, RegionRole::EditMask);
    assert!(!now.get(400, 40) && now.get(382, 22) && now.count() < 1600);
}

#[test]
fn a_persons_boxes_do_not_count_as_found_when_they_go_back_to_automatic() {
    let mut window = Window::open(Setup::default());
    window.key(Key::F6);
    let found: Vec<_> = document(&window).shown(Side::Edit).map(|region| region.id).collect();
    let automatic = score(&window);
    // The score of the correction holds the person's box in place of the detector's.
    let mut drawn = automatic.boxes.edit[0].clone();
    (drawn.phrase, drawn.tokens) = ("edited".into(), Vec::new());
    let mut corrected = Score { said: vec![RegionRole::Edited], ..automatic.clone() };
    corrected.boxes.edit = vec![drawn];
    window.audit.borrow_mut().corrected = Some(corrected);
    shift(&mut window, Key::B);
    drag_and_follow(&mut window, &[(380.0, 20.0), (400.0, 40.0), (420.0, 60.0)]);
    window.audit.borrow_mut().corrected = Some(automatic);
    window.harness.get_by_label("Back to automatic: Boxes on the edit").click();
    window.harness.step();
    window.harness.step();
    assert_eq!(document(&window).shown(Side::Edit).map(|region| region.id).collect::<Vec<_>>(), found);
    follow(&mut window);
    assert_eq!(document(&window).shown(Side::Edit).map(|region| region.id).collect::<Vec<_>>(), found);
}

#[test]
fn an_edit_whose_mask_was_empty_is_drawn_on_with_the_mask_of_the_drawn_box() {
    let mut window = Window::open(Setup::default());
    window.key(Key::F6);
    // Nothing was found, and then something.
    let nothing = Score { mask: Some(Rle::from_mask(&Mask::empty(PICTURE))), said: vec![RegionRole::Edited], ..score(&window) };
    window.audit.borrow_mut().corrected = Some(nothing.clone());
    shift(&mut window, Key::B);
    drag_and_follow(&mut window, &[(300.0, 300.0), (310.0, 310.0), (320.0, 320.0)]);
    assert!(mask(&window, RegionRole::EditMask).is_empty() && says(&window, "· 0 px"));
    window.audit.borrow_mut().corrected = Some(Score { mask: Some(Rle::from_mask(&of_the_box())), ..nothing });
    drag_and_follow(&mut window, &[(380.0, 20.0), (400.0, 40.0), (420.0, 60.0)]);
    assert!(says(&window, "1600 px") && !says(&window, "· 0 px"));
    shift(&mut window, Key::P);
    drag_and_follow(&mut window, &[(80.0, 420.0), (90.0, 420.0), (100.0, 420.0)]);
    let now = mask(&window, RegionRole::EditMask);
    assert!(now.get(400, 40) && now.get(90, 420) && now.count() > 1600, "the stroke is not all that is left");
}

#[test]
fn edges_that_are_typed_in_the_wrong_order_are_refused() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::B);
    drag(&mut window, Side::Edit, &[(100.0, 120.0), (150.0, 150.0), (200.0, 220.0)]);
    window.key(Key::F6);
    let before = document(&window).selected().map(|(_, region)| region.area.clone());
    press(&mut window, "Left edge");
    type_over(&mut window, "300");
    assert!(says(&window, "the left edge (300) must lie before the right edge"));
    assert_eq!(document(&window).selected().map(|(_, region)| region.area.clone()), before);
}

#[test]
fn taking_away_where_nothing_overlaps_says_so() {
    let mut window = Window::open(Setup::default());
    let found = mask(&window, RegionRole::EditMask);
    // A corner of the picture that the mask leaves free.
    let free = |&(x, y): &(u32, u32)| (x..x + 30).all(|x| (y..y + 30).all(|y| !found.get(x, y)));
    let (x, y) = [(10, 10), (400, 10), (10, 400), (400, 400)].into_iter().find(free).expect("the mask does not fill the picture");
    shift(&mut window, Key::S);
    press(&mut window, "Take away");
    let (x, y) = (x as f32, y as f32);
    drag(&mut window, Side::Edit, &[(x + 4.0, y + 4.0), (x + 10.0, y + 10.0), (x + 20.0, y + 20.0)]);
    window.key(Key::Enter);
    assert!(says(&window, "have no pixel in common: nothing was taken away"));
    assert_eq!(mask(&window, RegionRole::EditMask), found);
}
