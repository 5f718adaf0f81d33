//! Each tool by pointer and keys, as a person uses it.

use editscope::domain::regions::Area;
use editscope::domain::{RegionOrigin, RegionRole, Side};
use editscope::editor::RowId;
use editscope::editor::tools::Tool;
use editscope::gui::command::Command;
use egui::{Key, Modifiers, PointerButton};
use egui_kittest::kittest::Queryable as _;

use crate::pointer::{
    PICTURE, button, click, click_with, command, document, drag, mask, move_to, persons_boxes, place, press, shift, type_over,
};
use crate::support::{Setup, Window};

/// Edges to within a pixel: the pointer moves by whole points of the window.
fn near(edges: [f32; 4], expected: [f32; 4]) -> bool {
    edges.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 2.0)
}

fn selected_box(window: &Window) -> Vec<[f32; 4]> {
    let area = document(window).selected().map(|(_, region)| &region.area);
    area.and_then(|area| if let Area::Box(rect) = area { Some(rect.to_array()) } else { None }).into_iter().collect()
}

#[test]
fn a_box_is_drawn_moved_resized_nudged_and_typed() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::B);
    assert_eq!(window.state().tools.tool, Tool::Box);
    drag(&mut window, Side::Edit, &[(100.0, 120.0), (150.0, 150.0), (200.0, 220.0)]);
    let drawn = persons_boxes(&window, Side::Edit)[0];
    assert!(near(drawn, [100.0, 120.0, 200.0, 220.0]), "{drawn:?}");
    assert!(drawn.iter().all(|edge| edge.fract() == 0.0), "edges of pixels: {drawn:?}");
    // By its middle.
    drag(&mut window, Side::Edit, &[(150.0, 170.0), (160.0, 180.0), (180.0, 190.0)]);
    let moved = persons_boxes(&window, Side::Edit)[0];
    assert!(near(moved, [130.0, 140.0, 230.0, 240.0]), "{moved:?}");
    assert_eq!((moved[2] - moved[0], moved[3] - moved[1]), (drawn[2] - drawn[0], drawn[3] - drawn[1]));
    // By each of the eight handles: the edges that it holds follow, the others stay.
    for (handle, holds) in [
        ((0.0, 0.0), [true, true, false, false]),
        ((0.5, 0.0), [false, true, false, false]),
        ((1.0, 0.0), [false, true, true, false]),
        ((1.0, 0.5), [false, false, true, false]),
        ((1.0, 1.0), [false, false, true, true]),
        ((0.5, 1.0), [false, false, false, true]),
        ((0.0, 1.0), [true, false, false, true]),
        ((0.0, 0.5), [true, false, false, false]),
    ] {
        let [x0, y0, x1, y1] = persons_boxes(&window, Side::Edit)[0];
        let at = (x0 + handle.0 * (x1 - x0), y0 + handle.1 * (y1 - y0));
        drag(&mut window, Side::Edit, &[at, (at.0 + 9.0, at.1 + 9.0), (at.0 + 14.0, at.1 + 14.0)]);
        let now = persons_boxes(&window, Side::Edit)[0];
        for (edge, (before, holds)) in [x0, y0, x1, y1].into_iter().zip(holds).enumerate() {
            let by = now[edge] - before;
            assert!(if holds { (by - 14.0).abs() <= 2.0 } else { by == 0.0 }, "{handle:?}: edge {edge} moved by {by}");
        }
    }
    // One pixel, and ten with Shift; the queue stays where it is.
    let before = persons_boxes(&window, Side::Edit)[0];
    window.key(Key::ArrowRight);
    shift(&mut window, Key::ArrowDown);
    let after = persons_boxes(&window, Side::Edit)[0];
    assert_eq!((after[0] - before[0], after[1] - before[1]), (1.0, 10.0));
    assert_eq!(window.state().queue.selected(), Some(RowId(1)));
    // As a number.
    window.key(Key::F6);
    press(&mut window, "Left edge");
    type_over(&mut window, "42");
    assert_eq!(persons_boxes(&window, Side::Edit)[0][0], 42.0);
    // Each gesture was one step, each on disk.
    let made = window.regions.lock().unwrap().of(RowId(1), Side::Edit).len();
    assert_eq!((document(&window).history().depth().0, made), (13, 13));
}

#[test]
fn boxes_of_the_source_are_copied_to_the_edit() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::B);
    drag(&mut window, Side::Source, &[(50.0, 60.0), (80.0, 90.0), (90.0, 100.0)]);
    assert_eq!(persons_boxes(&window, Side::Source).len(), 1);
    shift(&mut window, Key::T);
    assert_eq!(persons_boxes(&window, Side::Edit), persons_boxes(&window, Side::Source));
    assert_eq!(document(&window).selected.map(|(side, _)| side), Some(Side::Edit));
    // By its button, too, which is there while the box of the source is selected.
    command(&mut window, Modifiers::NONE, Key::Z);
    window.key(Key::F6);
    window.key(Key::Period);
    assert_eq!(document(&window).selected.map(|(side, _)| side), Some(Side::Source));
    while persons_boxes(&window, Side::Source) != selected_box(&window) {
        window.key(Key::Period);
    }
    press(&mut window, "Copy to edit");
    assert_eq!(persons_boxes(&window, Side::Edit), persons_boxes(&window, Side::Source));
    // A click of the pan tool selects, Delete deletes.
    shift(&mut window, Key::V);
    click(&mut window, Side::Source, (70.0, 80.0));
    assert_eq!(document(&window).selected.map(|(side, _)| side), Some(Side::Source));
    window.key(Key::Delete);
    assert!(persons_boxes(&window, Side::Source).is_empty());
}

#[test]
fn brush_and_eraser_draw_on_the_mask_with_a_size() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::P);
    let size = window.state().tools.options.brush_px;
    window.key(Key::CloseBracket);
    assert!(window.state().tools.options.brush_px > size);
    window.key(Key::OpenBracket);
    window.key(Key::OpenBracket);
    assert!(window.state().tools.options.brush_px < size);
    let at = place(&window, Side::Edit, 300.0, 300.0);
    move_to(&mut window, at);
    let before = window.state().tools.options.brush_px;
    let zoom = window.state().view.fit;
    let notch = egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, 1.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::SHIFT,
    };
    window.harness.event_modifiers(notch, Modifiers::SHIFT);
    window.settle();
    assert!(window.state().tools.options.brush_px > before);
    assert_eq!(window.state().view.fit, zoom, "Shift and the wheel do not zoom");

    window.harness.get_by_label("Brush size").hover();
    window.settle();
    let before = mask(&window, RegionRole::EditMask);
    drag(&mut window, Side::Edit, &[(300.0, 400.0), (330.0, 400.0), (360.0, 400.0)]);
    let brushed = mask(&window, RegionRole::EditMask);
    assert!(brushed.get(330, 400) && !before.get(330, 400));
    // A dab, and a straight line to it from where the stroke ended.
    click_with(&mut window, Side::Source, (360.0, 330.0), PointerButton::Primary, Modifiers::SHIFT);
    assert!(mask(&window, RegionRole::EditMask).get(360, 365), "the line goes from the stroke's end to the click");
    shift(&mut window, Key::E);
    drag(&mut window, Side::Edit, &[(300.0, 400.0), (330.0, 400.0), (360.0, 400.0)]);
    assert!(!mask(&window, RegionRole::EditMask).get(330, 400));
    assert_eq!(document(&window).history().depth().0, 3);
    let origin = document(&window).masks(RegionRole::EditMask).next().unwrap().facts.origin;
    assert_eq!(origin, RegionOrigin::Person, "a found mask becomes the person's");
}

#[test]
fn polygon_and_lasso_add_and_take_away() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::G);
    for corner in [(300.0, 300.0), (400.0, 300.0), (400.0, 400.0), (300.0, 400.0), (10.0, 10.0)] {
        click(&mut window, Side::Edit, corner);
    }
    window.key(Key::Backspace);
    window.key(Key::Enter);
    assert!(mask(&window, RegionRole::EditMask).get(350, 350));
    assert_eq!(document(&window).history().depth().0, 1);
    shift(&mut window, Key::L);
    shift(&mut window, Key::X);
    window.harness.get_by_label("Take away");
    drag(&mut window, Side::Edit, &[(330.0, 330.0), (370.0, 330.0), (370.0, 370.0), (330.0, 370.0)]);
    let now = mask(&window, RegionRole::EditMask);
    assert!(!now.get(350, 350) && now.get(310, 350));
    // A hole: filled again.
    shift(&mut window, Key::F);
    assert!(mask(&window, RegionRole::EditMask).get(350, 350));
    // Esc drops a polygon under way.
    shift(&mut window, Key::G);
    click(&mut window, Side::Edit, (20.0, 20.0));
    assert!(window.state().tools.sketch.is_some());
    window.key(Key::Escape);
    assert!(window.state().tools.sketch.is_none());
}

#[test]
fn a_double_click_closes_a_polygon_and_does_not_move_the_picture() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::G);
    click(&mut window, Side::Edit, (300.0, 300.0));
    click(&mut window, Side::Edit, (400.0, 300.0));
    let at = place(&window, Side::Edit, 350.0, 400.0);
    move_to(&mut window, at);
    for _ in 0..2 {
        button(&mut window, at, PointerButton::Primary, true, Modifiers::NONE);
        button(&mut window, at, PointerButton::Primary, false, Modifiers::NONE);
    }
    window.settle();
    assert!(window.state().tools.sketch.is_none());
    assert!(mask(&window, RegionRole::EditMask).get(350, 330));
}

#[test]
fn polygons_take_away_and_the_lasso_adds() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::L);
    drag(&mut window, Side::Edit, &[(300.0, 300.0), (400.0, 300.0), (400.0, 400.0), (300.0, 400.0)]);
    assert!(mask(&window, RegionRole::EditMask).get(350, 350));
    shift(&mut window, Key::G);
    press(&mut window, "Take away");
    for corner in [(330.0, 330.0), (370.0, 330.0), (370.0, 370.0), (330.0, 370.0)] {
        click(&mut window, Side::Edit, corner);
    }
    window.key(Key::Enter);
    let now = mask(&window, RegionRole::EditMask);
    assert!(!now.get(350, 350) && now.get(310, 350));
    let what: Vec<String> = document(&window).log().iter().map(|line| line.what.split(" (").next().unwrap_or("").to_owned()).collect();
    assert_eq!(what, ["drew with the lasso", "drew a polygon, taking away"]);
}

#[test]
fn the_mask_menu_and_keys_change_the_whole_mask() {
    let mut window = Window::open(Setup::default());
    let before = mask(&window, RegionRole::EditMask).count();
    shift(&mut window, Key::D);
    let grown = mask(&window, RegionRole::EditMask).count();
    assert!(grown > before);
    shift(&mut window, Key::C);
    shift(&mut window, Key::I);
    assert_eq!(mask(&window, RegionRole::EditMask).count(), PICTURE.pixels() - before, "a disc grown and shrunk again is itself");
    press(&mut window, "Mask…");
    press(&mut window, "Clear");
    assert!(mask(&window, RegionRole::EditMask).is_empty());
    let what: Vec<String> = document(&window).log().iter().map(|line| line.what.split(" (").next().unwrap_or("").to_owned()).collect();
    assert_eq!(what, ["dilated by 2 px", "eroded by 2 px", "inverted the mask", "cleared the mask"]);
}

/// Clicks a line of a menu, which shows its key behind its name.
fn press_line(window: &mut Window, name: &str) {
    window.harness.get_by_label_contains(name).click();
    window.settle();
}

#[test]
fn each_line_of_the_mask_menu_does_what_it_says() {
    let mut window = Window::open(Setup::default());
    // A ring of its own, far from what was found, and a dot of the brush beside it.
    shift(&mut window, Key::L);
    press(&mut window, "Draws on");
    press(&mut window, "Ignored pixels");
    drag(&mut window, Side::Edit, &[(20.0, 20.0), (80.0, 20.0), (80.0, 80.0), (20.0, 80.0)]);
    shift(&mut window, Key::X);
    drag(&mut window, Side::Edit, &[(40.0, 40.0), (60.0, 40.0), (60.0, 60.0), (40.0, 60.0)]);
    shift(&mut window, Key::P);
    for _ in 0..40 {
        window.key(Key::OpenBracket);
    }
    assert_eq!(window.state().tools.options.brush_px, 1);
    click(&mut window, Side::Edit, (120.0, 50.0));
    let at = |window: &Window, x, y| mask(window, RegionRole::Ignore).get(x, y);
    let count = |window: &Window| mask(window, RegionRole::Ignore).count();
    assert!(!at(&window, 50, 50) && at(&window, 30, 50));
    let with_dot = count(&window);
    press(&mut window, "Mask…");
    press(&mut window, "Remove specks");
    assert_eq!(count(&window), with_dot - 1, "the dot");
    let before = count(&window);
    press(&mut window, "Dilate");
    let grown = count(&window);
    assert!(grown > before);
    press(&mut window, "Erode");
    // A disc does not reach into the corners of the hole, which stay filled.
    assert!((before..grown).contains(&count(&window)));
    press_line(&mut window, "Fill holes");
    assert!(at(&window, 50, 50));
    let filled = count(&window);
    press(&mut window, "Mask…");
    press_line(&mut window, "Invert");
    assert_eq!(count(&window), PICTURE.pixels() - filled);
}

#[test]
fn operations_that_are_asked_for_at_once_are_done_one_after_the_other() {
    let mut window = Window::open(Setup::default());
    let before = mask(&window, RegionRole::EditMask);
    for _ in 0..3 {
        window.harness.key_press_modifiers(Modifiers::SHIFT, Key::D);
    }
    window.settle();
    assert_eq!(document(&window).history().depth().0, 3);
    assert!(window.state().tools.working.is_none());
    for _ in 0..3 {
        command(&mut window, Modifiers::NONE, Key::Z);
    }
    assert_eq!(mask(&window, RegionRole::EditMask), before);
}

#[test]
fn the_buttons_of_the_row_reject_and_accept_a_proposal() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::S);
    assert!(!mask(&window, RegionRole::EditMask).get(25, 425), "nothing was found there");
    click(&mut window, Side::Edit, (25.0, 425.0));
    press(&mut window, "Reject");
    assert!(window.state().tools.prompt.is_none());
    assert_eq!(document(&window).history().depth().0, 0);
    click(&mut window, Side::Edit, (25.0, 425.0));
    press(&mut window, "Accept");
    assert!(window.state().tools.prompt.is_none());
    assert!(mask(&window, RegionRole::EditMask).get(25, 425));
}

#[test]
fn points_give_a_proposal_that_is_accepted_or_rejected() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::S);
    click(&mut window, Side::Source, (330.0, 350.0));
    let prompt = window.state().tools.prompt.as_ref().unwrap();
    assert_eq!((prompt.side, prompt.points.len(), prompt.proposals.len()), (Side::Source, 1, 3), "a single point is ambiguous");
    window.harness.get_by_label("1 of 3");
    shift(&mut window, Key::N);
    window.harness.get_by_label("2 of 3");
    // A point that does not belong to it, by the right button: the alternatives are gone.
    click_with(&mut window, Side::Source, (380.0, 350.0), PointerButton::Secondary, Modifiers::NONE);
    let prompt = window.state().tools.prompt.as_ref().unwrap();
    assert_eq!(prompt.points.iter().map(|mark| mark.inside).collect::<Vec<_>>(), [true, false]);
    assert_eq!(prompt.proposals.len(), 1);
    window.key(Key::Escape);
    assert!(window.state().tools.prompt.is_none());
    assert_eq!(document(&window).history().depth().0, 0, "a rejected proposal changes nothing");
    drag(&mut window, Side::Edit, &[(300.0, 300.0), (350.0, 350.0), (400.0, 400.0)]);
    assert!(window.state().tools.prompt.as_ref().unwrap().rect.is_some());
    window.key(Key::Enter);
    assert!(mask(&window, RegionRole::EditMask).get(350, 350));
    assert_eq!(document(&window).history().depth().0, 1);
    let asked = window.asked.borrow().iter().filter(|line| line.starts_with("prompt")).count();
    assert_eq!(asked, 3);
}

#[test]
fn undo_and_redo_have_keys_survive_switching_and_leave_text_alone() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::B);
    drag(&mut window, Side::Edit, &[(100.0, 100.0), (150.0, 150.0), (200.0, 200.0)]);
    drag(&mut window, Side::Edit, &[(250.0, 250.0), (300.0, 300.0), (350.0, 350.0)]);
    command(&mut window, Modifiers::NONE, Key::Z);
    assert_eq!(persons_boxes(&window, Side::Edit).len(), 1);
    command(&mut window, Modifiers::SHIFT, Key::Z);
    assert_eq!(persons_boxes(&window, Side::Edit).len(), 2);
    command(&mut window, Modifiers::NONE, Key::Z);
    command(&mut window, Modifiers::NONE, Key::Y);
    assert_eq!(persons_boxes(&window, Side::Edit).len(), 2);
    // To another edit and back.
    window.key(Key::Escape);
    window.key(Key::J);
    assert_eq!(document(&window).id, RowId(2));
    window.key(Key::K);
    assert_eq!(document(&window).id, RowId(1));
    command(&mut window, Modifiers::NONE, Key::Z);
    assert_eq!(persons_boxes(&window, Side::Edit).len(), 1);
    // In a text field the keys belong to the text.
    command(&mut window, Modifiers::NONE, Key::F);
    window.harness.event(egui::Event::Text("pizza".into()));
    window.settle();
    command(&mut window, Modifiers::NONE, Key::Z);
    for key in [Key::B, Key::P, Key::V] {
        shift(&mut window, key);
    }
    window.key(Key::OpenBracket);
    assert_eq!((persons_boxes(&window, Side::Edit).len(), window.state().tools.tool), (1, Tool::Box));
    assert_eq!(window.state().tools.options, Default::default());
}

#[test]
fn every_tool_has_a_button_with_its_name_and_a_line_on_the_key_sheet() {
    let mut window = Window::open(Setup::default());
    for tool in Tool::ALL {
        let name = Command::of_tool(tool).label();
        window.harness.get_by_role_and_label(egui::accesskit::Role::Button, name).click();
        window.settle();
        assert_eq!(window.state().tools.tool, tool, "{name}");
    }
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::Questionmark);
    window.settle();
    window.harness.get_by_label("Move the selected box by 1 px (Box tool)");
}
