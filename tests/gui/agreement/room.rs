//! Where there is little room: every tab keeps its own place, and wide tables scroll by themselves beside their first column.

use egui::{Event, Modifiers, MouseWheelUnit, Pos2, Rect, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

fn small_page() -> Window {
    let mut window = Window::open(Setup { size: [1100.0, 560.0], ..Setup::default() });
    window.key(egui::Key::G);
    window
}

fn tab(window: &mut Window, name: &str) {
    window.harness.get_by_label(name).click();
    window.settle();
}

/// Turns the wheel over a place.
fn scroll(window: &mut Window, at: Pos2, delta: egui::Vec2) {
    window.harness.event(Event::PointerMoved(at));
    window.settle();
    for _ in 0..6 {
        window.harness.event(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta,
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
            modifiers: Modifiers::NONE,
        });
        window.settle();
    }
    // Scrolling is smooth: it goes on for some frames.
    for _ in 0..60 {
        window.harness.step();
    }
}

fn place(window: &Window, label: &str) -> Rect {
    window.harness.get_by_label(label).rect()
}

#[test]
fn every_tab_keeps_its_own_place() {
    let mut window = small_page();
    tab(&mut window, "Raters");
    let heading = "AGREEMENT BETWEEN RATERS";
    let top = place(&window, heading).top();
    let over = place(&window, heading).center();
    scroll(&mut window, over, vec2(0.0, -120.0));
    let moved = place(&window, heading).top();
    assert!(moved < top - 20.0, "it scrolls: {top} to {moved}");
    tab(&mut window, "Weights");
    let tabs = place(&window, "Weights").bottom();
    let weights = place(&window, "THE WEIGHT BETWEEN THE PARTS").top();
    assert!(weights > tabs, "another tab begins at its top: {weights}, the tabs end at {tabs}");
    tab(&mut window, "Raters");
    assert!((place(&window, heading).top() - moved).abs() < 1.0, "and the first one is where it was left");
}

#[test]
fn a_wide_table_scrolls_beside_its_first_column() {
    let mut window = small_page();
    tab(&mut window, "Raters");
    // Eleven columns are wider than the side of the page.
    let (heading, first, last) = ("AGREEMENT BETWEEN RATERS", "criterion", "ICC(2,k)");
    let criterion = |window: &Window| window.harness.query_all_by_label(first).next().expect("the first head").rect();
    let (before, stays, at) = (place(&window, last), criterion(&window), place(&window, "α nom."));
    let model = |window: &Window| window.harness.query_all_by_label("model").next().expect("the second head").rect();
    let model_stays = model(&window);
    let page = place(&window, heading);
    scroll(&mut window, at.center(), vec2(-60.0, 0.0));
    let after = place(&window, last);
    // Several rows are of one criterion: the model says which is which.
    assert_eq!(model(&window), model_stays, "the model stays");
    assert!(after.left() < before.left() - 30.0, "the columns move: {before:?} to {after:?}");
    assert_eq!(criterion(&window), stays, "the first column stays");
    assert_eq!(place(&window, heading), page, "and so does the rest of the page");
}

#[test]
fn the_statistics_leave_the_plot_its_room() {
    let mut window = Window::open(Setup { size: [1280.0, 800.0], ..Setup::default() });
    window.key(egui::Key::G);
    window.harness.get_by_label("Statistics").click();
    window.settle();
    // The side of the plot ends where the tables begin.
    let tables = place(&window, "Metrics").left();
    for field in ["Seed", "Level of intervals", "Width for items needed", "an edit is good from"] {
        let fields = window.harness.query_all_by_label(field);
        let right = fields.map(|field| field.rect().right()).fold(0.0, f32::max);
        assert!(right > 0.0 && right < tables, "{field} ends at {right}, the tables begin at {tables}");
    }
    let held = window.harness.get_by_role_and_label(egui::accesskit::Role::ComboBox, "Held against the others").rect();
    assert!(held.right() < tables, "{held:?}, the tables begin at {tables}");
}
