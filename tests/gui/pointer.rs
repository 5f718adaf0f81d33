//! The pointer and the keys over the canvas, as a person uses them.

use editscope::domain::regions::Area;
use editscope::domain::{Mask, Point, RegionOrigin, RegionRole, Side, Size, UiSpace};
use editscope::editor::View;
use editscope::editor::regions::RegionDocument;
use egui::{Key, Modifiers, PointerButton, Pos2};
use egui_kittest::kittest::Queryable as _;

use crate::support::Window;

/// Size of the demo's pictures.
pub const PICTURE: Size = Size::new(448, 448);
/// Height of a pane's title.
const TITLE: f32 = 24.0;

/// Where a pixel of the canvas is drawn in the pane of a side: both panes have half of the canvas and show the whole picture.
pub fn place(window: &Window, side: Side, x: f32, y: f32) -> Pos2 {
    let canvas = window.harness.get_by_label("Canvas").rect();
    let width = (canvas.width() - 2.0) / 2.0;
    let left = if side == Side::Source { canvas.left() } else { canvas.left() + width + 2.0 };
    let pane = editscope::domain::Rect::<UiSpace>::new(left, canvas.top() + TITLE, left + width, canvas.bottom());
    let p = View::default().resolved(&pane, PICTURE, 1.0).ui_from_image(&pane, Point::new(x, y));
    Pos2::new(p.x, p.y)
}

/// Where a pixel of the canvas is drawn in a pane of the mode in use, zoomed and moved as it is. `size` is that of the source.
pub fn place_in(window: &Window, index: usize, size: Size, (x, y): (f32, f32)) -> Pos2 {
    let canvas = window.harness.get_by_label("Canvas").rect();
    let area = editscope::domain::Rect::<UiSpace>::new(canvas.left(), canvas.top(), canvas.right(), canvas.bottom());
    let state = window.state();
    let edits = state.queue.selected_row().map_or(1, |row| state.queue.siblings(row).count());
    let panes = state.compare.panes(&area, edits, 0.0, TITLE, 2.0);
    let ppp = window.harness.ctx.pixels_per_point();
    // All panes share the view of the first.
    let view = state.view.resolved(&panes[0].rect, size, ppp);
    let view = if view.zoom * ppp >= 0.999 { view.snapped(&panes[0].rect, ppp) } else { view };
    let p = view.ui_from_image(&panes[index].rect, Point::new(x, y));
    Pos2::new(p.x, p.y)
}

/// Drags through places of the window with the primary button.
pub fn drag_through(window: &mut Window, path: &[Pos2]) {
    move_to(window, path[0]);
    button(window, path[0], PointerButton::Primary, true, Modifiers::NONE);
    for at in &path[1..] {
        move_to(window, *at);
    }
    button(window, path[path.len() - 1], PointerButton::Primary, false, Modifiers::NONE);
    window.settle();
}

/// One frame in which a button goes down or up.
pub fn button(window: &mut Window, at: Pos2, button: PointerButton, pressed: bool, modifiers: Modifiers) {
    window.harness.event_modifiers(egui::Event::PointerButton { pos: at, button, pressed, modifiers }, modifiers);
    window.harness.step();
}

pub fn move_to(window: &mut Window, at: Pos2) {
    window.harness.event(egui::Event::PointerMoved(at));
    window.harness.step();
}

/// Drags through places of the canvas with the primary button.
pub fn drag(window: &mut Window, side: Side, path: &[(f32, f32)]) {
    let path: Vec<Pos2> = path.iter().map(|&(x, y)| place(window, side, x, y)).collect();
    drag_through(window, &path);
}

pub fn click_with(window: &mut Window, side: Side, (x, y): (f32, f32), which: PointerButton, modifiers: Modifiers) {
    let at = place(window, side, x, y);
    move_to(window, at);
    button(window, at, which, true, modifiers);
    button(window, at, which, false, modifiers);
    // Half a second: far enough apart that two clicks are no double click.
    window.harness.run_steps(30);
    window.settle();
}

pub fn click(window: &mut Window, side: Side, at: (f32, f32)) {
    click_with(window, side, at, PointerButton::Primary, Modifiers::NONE);
}

/// Clicks what has this label.
pub fn press(window: &mut Window, label: &str) {
    window.harness.get_by_label(label).click();
    window.settle();
}

pub fn shift(window: &mut Window, key: Key) {
    window.harness.key_press_modifiers(Modifiers::SHIFT, key);
    window.settle();
}

pub fn command(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.harness.key_press_modifiers(Modifiers::COMMAND | modifiers, key);
    window.settle();
}

/// Types over all of the field that has the cursor, and ends with Enter.
pub fn type_over(window: &mut Window, text: &str) {
    command(window, Modifiers::NONE, Key::A);
    window.harness.event(egui::Event::Text(text.into()));
    window.key(Key::Enter);
    window.settle();
}

pub fn document(window: &Window) -> &RegionDocument {
    window.state().tools.document.as_ref().expect("an edit is selected and its pictures are read")
}

pub fn persons_boxes(window: &Window, side: Side) -> Vec<[f32; 4]> {
    let rect = |area: &Area| match area {
        Area::Box(rect) => Some(rect.to_array()),
        Area::Mask(_) => None,
    };
    let persons = document(window).state(side).regions.iter().filter(|region| region.facts.origin == RegionOrigin::Person);
    persons.filter_map(|region| rect(&region.area)).collect()
}

/// The first mask of a role; an empty one where there is none.
pub fn mask(window: &Window, role: RegionRole) -> Mask {
    let found = document(window).masks(role).find_map(|region| match &region.area {
        Area::Mask(mask) => Some(Mask::clone(mask)),
        Area::Box(_) => None,
    });
    found.unwrap_or_else(|| Mask::empty(PICTURE))
}
