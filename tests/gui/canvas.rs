//! The canvas: each compare mode, zoom, mini-map, probe and overlays, through labels, keys and the pointer.

use editscope::domain::Side;
use editscope::editor::tools::Tool;
use editscope::editor::{CompareMode, DifferenceView, Divider, Overlay, RowId};
use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, MouseWheelUnit, Pos2, Rect, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::support::{Setup, Window};

fn canvas(window: &Window) -> Rect {
    window.harness.get_by_label("Canvas").rect()
}

/// Presses at one place, moves to another and lets go.
fn drag(window: &mut Window, from: Pos2, to: Pos2) {
    window.harness.hover_at(from);
    window.harness.step();
    window.harness.drag_at(from);
    window.harness.step();
    for share in [0.3, 0.7, 1.0] {
        window.harness.hover_at(from + (to - from) * share);
        window.harness.step();
    }
    window.harness.drop_at(to);
    window.settle();
}

fn click(window: &mut Window, at: Pos2) {
    window.harness.hover_at(at);
    window.harness.step();
    window.harness.drag_at(at);
    window.harness.drop_at(at);
    window.settle();
}

/// Turns the wheel over a place by some points.
fn wheel(window: &mut Window, at: Pos2, points: f32) {
    window.harness.hover_at(at);
    window.harness.step();
    window.harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, points),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    });
    // Scrolling is smoothed over some frames.
    window.harness.run_steps(30);
    window.settle();
}

/// What a label says; labels keep their text as their value.
fn said(window: &Window, part: &str) -> String {
    let node = window.harness.get_by_label_contains(part);
    node.accesskit_node().label().filter(|text| text.contains(part)).or_else(|| node.value()).unwrap_or_default()
}

fn shows(window: &Window, label: &str) -> bool {
    window.harness.query_all_by_label(label).next().is_some()
}

#[test]
fn each_mode_has_a_key_and_a_button_and_titles_say_what_is_shown() {
    let mut window = Window::open(Setup::default());
    let modes = [
        (Key::W, CompareMode::Wipe, "Source"),
        (Key::L, CompareMode::Blink, "Source"),
        (Key::O, CompareMode::Onion, "Edit · Margit, 50 % over the source"),
        (Key::I, CompareMode::Difference, "L2 heat map of source and edit · Margit, ×4"),
        (Key::Y, CompareMode::Single, "Edit · Margit"),
        (Key::T, CompareMode::Grid, "Edit · Wanda"),
        (Key::S, CompareMode::SideBySide, "Edit · Margit"),
    ];
    for (key, mode, title) in modes {
        window.key(key);
        assert_eq!(window.state().compare.mode, mode);
        // A blink may just show the other picture.
        assert!(mode == CompareMode::Blink || shows(&window, title), "{mode:?}: there is no title '{title}'");
    }
    for (_, mode, _) in modes {
        window.harness.get_by_role_and_label(Role::RadioButton, mode.label()).click();
        window.settle();
        assert_eq!(window.state().compare.mode, mode);
    }
}

#[test]
fn all_modes_share_one_view() {
    let mut window = Window::open(Setup::default());
    let at = canvas(&window).left_top() + vec2(100.0, 150.0);
    wheel(&mut window, at, 200.0);
    let view = window.state().view;
    assert!(!view.fit && view.zoom > 1.0, "{view:?}");
    for key in [Key::W, Key::L, Key::O, Key::I, Key::Y, Key::T, Key::S] {
        window.key(key);
        assert_eq!(window.state().view, view);
    }
}

#[test]
fn the_wipe_divider_is_dragged_and_turned() {
    let mut window = Window::open(Setup::default());
    window.key(Key::W);
    let area = canvas(&window);
    let divider = window.harness.get_by_label("Wipe divider").rect().center();
    assert!((divider.x - area.center().x).abs() < 1.0);
    drag(&mut window, divider, divider - vec2(area.width() / 4.0, 0.0));
    let at = window.state().compare.divider_at;
    assert!((at - 0.25).abs() < 0.02, "{at}");
    assert!(window.state().view.fit, "dragging the divider does not move the picture");
    window.key(Key::W);
    assert_eq!(window.state().compare.divider, Divider::Horizontal);
    let line = window.harness.get_by_label("Wipe divider").rect();
    assert!(line.width() > line.height());
    window.harness.get_by_label("Left | right").click();
    window.settle();
    assert_eq!(window.state().compare.divider, Divider::Vertical);
}

#[test]
fn a_blink_goes_by_the_clock_and_pauses() {
    let mut window = Window::open(Setup::default());
    window.key(Key::L);
    let mut seen = [0, 0];
    for _ in 0..40 {
        window.harness.step();
        seen[usize::from(shows(&window, "Edit · Margit"))] += 1;
    }
    assert!(seen[0] > 5 && seen[1] > 5, "both pictures are shown by turns: {seen:?}");
    window.key(Key::L);
    assert!(window.state().compare.blink_paused);
    for _ in 0..20 {
        window.harness.step();
        assert!(shows(&window, "Edit · Margit"));
    }
    window.harness.get_by_label("Go on").click();
    window.settle();
    assert!(!window.state().compare.blink_paused);
}

#[test]
fn the_onion_skin_has_an_opacity() {
    let mut window = Window::open(Setup::default());
    window.key(Key::O);
    window.harness.get_by_role_and_label(Role::Slider, "Edit").set_value_accesskit(20.0);
    window.settle();
    assert!((window.state().compare.onion - 0.2).abs() < 1e-3);
    assert!(shows(&window, "Edit · Margit, 20 % over the source"));
}

#[test]
fn the_difference_has_three_kinds_a_gain_and_a_legend() {
    let mut window = Window::open(Setup::default());
    window.key(Key::I);
    assert!(shows(&window, "Legend: L2 distance, levels of 255"));
    window.key(Key::I);
    assert!(shows(&window, "Legend: |edit − source| of R, G and B, levels"));
    window.key(Key::I);
    assert!(shows(&window, "Legend: luma of edit − source, levels"));
    assert_eq!(window.state().compare.difference, DifferenceView::Signed);
    window.harness.get_by_role_and_label(Role::Slider, "×").set_value_accesskit(16.0);
    window.settle();
    assert_eq!(window.state().compare.gain, 16.0);
    assert!(shows(&window, "Signed of source and edit · Margit, ×16"));
}

#[test]
fn single_shows_one_picture_and_the_flip_key_the_other_while_it_is_held() {
    let mut window = Window::open(Setup::default());
    window.key(Key::Y);
    assert!(shows(&window, "Edit · Margit") && !shows(&window, "Source"));
    window.harness.key_down(Key::Space);
    window.settle();
    assert!(shows(&window, "Source") && !shows(&window, "Edit · Margit"));
    window.harness.key_up(Key::Space);
    window.settle();
    assert!(shows(&window, "Edit · Margit"));
    window.key(Key::Y);
    assert_eq!(window.state().compare.single, Side::Source);
    assert!(shows(&window, "Source"));
}

#[test]
fn the_flip_key_does_nothing_while_text_is_typed() {
    let mut window = Window::open(Setup::default());
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    window.settle();
    window.harness.key_down(Key::Space);
    window.settle();
    assert!(!window.state().compare.flipped);
}

#[test]
fn a_click_in_the_grid_selects_an_edit_and_the_grid_stays_in_order() {
    let mut window = Window::open(Setup::default());
    window.key(Key::T);
    let names = ["Source", "Edit · Margit", "Edit · Osric", "Edit · Blitz", "Edit · Wanda"];
    let before: Vec<Rect> = names.iter().map(|name| window.harness.get_by_label(name).rect()).collect();
    click(&mut window, before[4].center_bottom() + vec2(0.0, 30.0));
    assert_eq!(window.state().queue.selected(), Some(RowId(4)));
    assert_eq!(window.state().compare.mode, CompareMode::Grid);
    let after: Vec<Rect> = names.iter().map(|name| window.harness.get_by_label(name).rect()).collect();
    assert_eq!(before, after, "nothing jumps");
}

#[test]
fn the_wheel_zooms_to_the_cursor_between_1_and_6400_percent() {
    let mut window = Window::open(Setup::default());
    let area = canvas(&window);
    let at = area.left_center() + vec2(80.0, 20.0);
    window.harness.hover_at(at);
    window.settle();
    let pixel = |window: &Window| {
        let words: Vec<String> = said(window, "Pixel x").split_whitespace().map(str::to_owned).collect();
        (words[2].parse::<i32>().unwrap(), words[4].parse::<i32>().unwrap())
    };
    let before = pixel(&window);
    wheel(&mut window, at, 150.0);
    let after = pixel(&window);
    assert!((before.0 - after.0).abs() <= 1 && (before.1 - after.1).abs() <= 1, "{before:?} {after:?}");
    for _ in 0..12 {
        wheel(&mut window, at, 600.0);
    }
    assert_eq!(window.state().view.zoom, 64.0);
    for _ in 0..20 {
        wheel(&mut window, at, -900.0);
    }
    assert_eq!(window.state().view.zoom, 0.01);
    window.key(Key::F);
    assert!(window.state().view.fit);
    window.key(Key::Z);
    assert_eq!((window.state().view.fit, window.state().view.zoom), (false, 1.0));
}

#[test]
fn the_zoom_limits_are_those_of_screen_pixels_on_a_hidpi_screen() {
    let mut window = Window::open(Setup { size: [1280.0, 720.0], pixels_per_point: 2.0, ..Setup::default() });
    // In the left pane.
    let at = canvas(&window).center() - vec2(100.0, 0.0);
    for _ in 0..12 {
        wheel(&mut window, at, 600.0);
    }
    // 64 screen pixels a picture pixel are 32 points.
    assert_eq!(window.state().view.zoom, 32.0);
    assert!(window.harness.query_by_label_contains("6400 %").is_some());
    for _ in 0..20 {
        wheel(&mut window, at, -900.0);
    }
    assert_eq!(window.state().view.zoom, 0.005);
}

#[test]
fn dragging_moves_the_pictures_with_the_hand_and_a_double_click_shows_them_whole() {
    let mut window = Window::open(Setup::default());
    window.key(Key::Z);
    let (before, at) = (window.state().view, canvas(&window).center() + vec2(-150.0, 0.0));
    drag(&mut window, at, at + vec2(40.0, -25.0));
    let after = window.state().view;
    // At 1:1 a point is a pixel; the picture goes with the hand, so its middle goes the other way.
    let (dx, dy) = (after.center_in_image.x - before.center_in_image.x, after.center_in_image.y - before.center_in_image.y);
    assert!((dx + 40.0).abs() < 1.5 && (dy - 25.0).abs() < 1.5, "{dx} {dy}");
    for _ in 0..2 {
        window.harness.drag_at(at);
        window.harness.drop_at(at);
    }
    window.settle();
    assert!(window.state().view.fit);
}

#[test]
fn each_overlay_has_an_opacity() {
    let mut window = Window::open(Setup::default());
    window.harness.get_by_label("Opacity").click();
    window.settle();
    window.harness.get_by_role_and_label(Role::Slider, "Change map").set_value_accesskit(30.0);
    window.settle();
    assert!((window.state().overlays.opacity(Overlay::ChangeMap) - 0.3).abs() < 1e-3);
}

#[test]
fn the_mini_map_is_there_while_something_is_out_of_sight_and_goes_where_it_is_clicked() {
    let mut window = Window::open(Setup { size: [1900.0, 1000.0], ..Setup::default() });
    assert!(!shows(&window, "Mini-map"));
    let at = canvas(&window).left_top() + vec2(100.0, 150.0);
    wheel(&mut window, at, 400.0);
    let map = window.harness.get_by_label("Mini-map").rect();
    click(&mut window, map.lerp_inside(vec2(0.9, 0.9)));
    let center = window.state().view.center_in_image;
    // The map has a margin of 4 points around its 150: 90 % of 158 less 4, of 150, of 448 pixels.
    let expected = (158.0 * 0.9 - 4.0) / 150.0 * 448.0;
    assert!((center.x - expected).abs() < 3.0 && (center.y - expected).abs() < 3.0, "{center:?} {expected}");
}

#[test]
fn dragging_in_the_mini_map_takes_the_view_along_and_stops_at_the_picture() {
    let mut window = Window::open(Setup { size: [1900.0, 1000.0], ..Setup::default() });
    let at = canvas(&window).left_top() + vec2(100.0, 150.0);
    wheel(&mut window, at, 400.0);
    let (map, zoom) = (window.harness.get_by_label("Mini-map").rect(), window.state().view.zoom);
    // As for a click: a margin of 4 points around the map's 150, for 448 pixels.
    let pixel = |share: f32| ((158.0 * share - 4.0) / 150.0 * 448.0).clamp(0.0, 448.0);
    window.harness.hover_at(map.center());
    window.harness.step();
    window.harness.drag_at(map.center());
    window.harness.step();
    // The last place lies above the map, left of its right edge: the view goes to the border and no further.
    for (x, y) in [(0.55, 0.5), (0.7, 0.4), (0.8, 0.3), (0.9, -0.7)] {
        window.harness.hover_at(map.lerp_inside(vec2(x, 0.0)) + vec2(0.0, y * 158.0));
        // One frame asks for the view, the next has it.
        window.harness.run_steps(2);
        let center = window.state().view.center_in_image;
        assert!((center.x - pixel(x)).abs() < 3.0 && (center.y - pixel(y)).abs() < 3.0, "{center:?} at {x}, {y}");
    }
    window.harness.drop_at(map.right_top());
    window.settle();
    assert_eq!(window.state().view.zoom, zoom, "the zoom stays");
}

#[test]
fn holding_the_flip_key_shows_the_other_picture_of_a_blink_that_pauses() {
    let mut window = Window::open(Setup::default());
    window.key(Key::L);
    window.key(Key::L);
    assert!(window.state().compare.blink_paused && shows(&window, "Edit · Margit"));
    window.harness.key_down(Key::Space);
    for _ in 0..60 {
        window.harness.step();
    }
    assert!(shows(&window, "Source") && !shows(&window, "Edit · Margit"), "for as long as it is held, a second and more");
    window.harness.key_up(Key::Space);
    window.settle();
    assert!(shows(&window, "Edit · Margit"));
}

#[test]
fn a_blink_takes_the_time_it_is_set_to() {
    let mut window = Window::open(Setup::default());
    window.key(Key::L);
    window.harness.get_by_role_and_label(Role::Slider, "each").set_value_accesskit(1.0);
    window.settle();
    // Frames of a sixtieth: five seconds hold five changes, of which the first and the last may be cut.
    let seen: Vec<bool> = (0..300)
        .map(|_| {
            window.harness.step();
            shows(&window, "Edit · Margit")
        })
        .collect();
    let changes: Vec<usize> = (1..300).filter(|&frame| seen[frame] != seen[frame - 1]).collect();
    assert!((4..=5).contains(&changes.len()), "{changes:?}");
    assert!(changes.windows(2).all(|pair| (58..=62).contains(&(pair[1] - pair[0]))), "each lasts 60 frames: {changes:?}");
}

#[test]
fn the_probe_reads_both_pictures_in_every_mode() {
    let mut window = Window::open(Setup::default());
    let middle = canvas(&window).center() - vec2(120.0, 0.0);
    for key in [Key::S, Key::W, Key::O, Key::I, Key::Y, Key::T] {
        window.key(key);
        let grid_cell = window.harness.query_by_label("Edit · Wanda").map(|title| title.rect().center_bottom() + vec2(0.0, 110.0));
        window.harness.hover_at(grid_cell.unwrap_or(middle));
        window.settle();
        let text = said(&window, "Pixel x");
        assert!(text.contains("source ") && text.contains("Δ 0."), "{key:?}: {text}");
    }
}

#[test]
fn the_threshold_appears_with_the_candidates_and_moves_without_the_network() {
    let mut window = Window::open(Setup::default());
    assert!(!shows(&window, "from"));
    window.key(Key::C);
    window.harness.get_by_role_and_label(Role::Slider, "from").set_value_accesskit(0.3);
    window.settle();
    assert!((window.state().overlays.threshold() - 0.3).abs() < 1e-3);
    assert!(window.asked.borrow().is_empty(), "nothing is asked of the engine: {:?}", window.asked.borrow());
}

#[test]
fn every_overlay_has_a_switch_in_a_legend_that_leaves_room_for_the_pictures() {
    // From the smallest window up.
    for size in [[960.0, 600.0], [1280.0, 800.0], [2560.0, 1440.0]] {
        let mut window = Window::open(Setup { size, ..Setup::default() });
        let area = canvas(&window);
        // The legend also has the width of the strip of tools at the left of the pictures.
        let left = window.harness.get_by_role_and_label(Role::Button, Tool::Pan.label()).rect().left();
        let chips: Vec<Rect> =
            Overlay::ALL.iter().map(|overlay| window.harness.get_by_role_and_label(Role::CheckBox, overlay.label()).rect()).collect();
        for (index, chip) in chips.iter().enumerate() {
            let overlay = Overlay::ALL[index];
            assert!(chip.left() >= left && chip.right() <= area.right(), "{overlay:?} at {size:?}: {chip:?} beside {area:?}");
            assert!(chip.top() >= area.bottom() && chip.bottom() <= size[1], "{overlay:?} at {size:?}: {chip:?} below {area:?}");
            assert!(chips[..index].iter().all(|other| !other.intersects(*chip)), "{overlay:?} at {size:?} covers another switch");
        }
        assert!(area.height() >= 0.4 * size[1], "{area:?} at {size:?}");
        let on = window.state().overlays.is_on(Overlay::MaskOutline);
        window.key(Key::U);
        window.key(Key::Q);
        assert_eq!(window.state().overlays.is_on(Overlay::MaskOutline), !on);
        assert!(!window.state().overlays.is_on(Overlay::Ignored));
    }
}
