//! The smallest window that the program allows: nothing of the inspector or the tools is cut off.

use editscope::gui::command::Command;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::looks::press;
use crate::support::{Setup, Window};

const SIZE: [f32; 2] = [960.0, 600.0];

/// What stands in the inspector and reaches beyond its right edge, with how far.
fn cut_off(window: &Window) -> Vec<(String, f64)> {
    let left = f64::from(window.harness.get_by_role_and_label(Role::Button, "Score").rect().left());
    let mut found = Vec::new();
    let mut waiting = vec![window.harness.root().accesskit_node()];
    while let Some(node) = waiting.pop() {
        waiting.extend(node.children());
        let Some(area) = node.bounding_box() else { continue };
        // Areas reach to the border; what can be read or pressed must not.
        let is_content =
            matches!(node.role(), Role::Label | Role::Button | Role::TextInput | Role::ComboBox | Role::RadioButton | Role::SpinButton);
        let text = node.label().or_else(|| node.value()).unwrap_or_default();
        if is_content && area.x0 >= left && area.y0 > 60.0 && area.x1 > f64::from(SIZE[0]) - 4.0 && !text.is_empty() {
            found.push((text, area.x1));
        }
    }
    found
}

#[test]
fn nothing_of_the_inspector_is_cut_off_and_its_tabs_are_equally_wide() {
    let mut window = Window::open(Setup { size: SIZE, rater: "", ..Setup::default() });
    // Out of the way of what is looked at.
    window.harness.get_by_label("Hide the notice").click();
    window.settle();
    let mut widths = Vec::new();
    // First as the networks left it, then with a box that a person moved.
    for corrected in [false, true] {
        if corrected {
            for command in [Command::TabRegions, Command::ToolBox, Command::NextRegion] {
                press(&mut window, command);
            }
            window.key(Key::ArrowRight);
            assert!(window.harness.query_all_by_label_contains("Back to automatic").next().is_some(), "a person's word is marked");
        }
        for tab in [Command::TabScore, Command::TabParse, Command::TabRegions, Command::TabRate, Command::TabHistory] {
            press(&mut window, tab);
            assert_eq!(cut_off(&window), [], "{tab:?}, corrected: {corrected}");
            widths.push(window.harness.get_by_label("Canvas").rect().width());
        }
    }
    assert!(widths.iter().all(|width| *width == widths[0]), "the canvas keeps its width: {widths:?}");
}

#[test]
fn all_tools_are_in_sight_and_apart() {
    let mut window = Window::open(Setup { size: SIZE, ..Setup::default() });
    press(&mut window, Command::TabRate);
    let bottom = window.harness.get_by_label("Canvas").rect().bottom();
    let tools = [Command::ToolPan, Command::ToolPoints, Command::Undo, Command::Redo];
    let places: Vec<egui::Rect> =
        tools.iter().map(|tool| window.harness.get_by_role_and_label(Role::Button, tool.label()).rect()).collect();
    for (tool, place) in tools.iter().zip(&places) {
        assert!(place.bottom() <= bottom, "{tool:?} at {place:?} above {bottom}");
        assert!(place.height() >= 20.0, "{tool:?} can be hit: {place:?}");
    }
    assert!(places.windows(2).all(|pair| pair[0].bottom() <= pair[1].top()), "{places:?}");
}
