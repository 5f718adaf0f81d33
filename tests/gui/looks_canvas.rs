//! Pictures of the canvas in every compare mode for a person to look at. Not compared: run by hand with `--ignored` and a folder in
//! `EDITSCOPE_LOOKS`. `EDITSCOPE_LOOKS_DATA=FOLDER` (pairs with a manifest) draws those pictures in place of the demo.

use std::path::PathBuf;

use editscope::domain::Side;
use editscope::gui::command::Command;
use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::looks::{press, save};
use crate::support::{Setup, Window};

const MODES: [(Key, &str); 7] = [
    (Key::S, "side"),
    (Key::W, "wipe"),
    (Key::L, "blink"),
    (Key::O, "onion"),
    (Key::I, "difference"),
    (Key::Y, "single"),
    (Key::T, "grid"),
];

/// Name, size in points, screen pixels a point, light theme.
const SCREENS: [(&str, [f32; 2], f32, bool); 5] = [
    ("dark", [1280.0, 800.0], 1.0, false),
    ("light", [1280.0, 800.0], 1.0, true),
    ("dark2", [1280.0, 720.0], 2.0, false),
    ("light2", [1280.0, 720.0], 2.0, true),
    ("small", [960.0, 600.0], 1.0, false),
];

fn all_overlays(window: &mut Window) {
    for command in [Command::ToggleCandidates, Command::ToggleCrop, Command::ToggleChangeMap] {
        press(window, command);
    }
}

#[test]
#[ignore = "writes pictures to look at into the folder EDITSCOPE_LOOKS"]
fn canvas_looks() {
    for (name, size, pixels_per_point, light) in SCREENS {
        let mut window = Window::open(Setup { size, pixels_per_point, light, ..Setup::default() });
        for _ in 0..9 {
            press(&mut window, Command::NextEdit);
        }
        all_overlays(&mut window);
        for (key, mode) in MODES {
            window.key(key);
            let middle = window.harness.get_by_label("Canvas").rect().center();
            window.harness.hover_at(middle + vec2(-90.0, 40.0));
            save(&mut window, &format!("{name}-{mode}.png"));
        }
        // A person's box and ignored pixels, zoomed in.
        window.key(Key::S);
        press(&mut window, Command::ToggleChangeMap);
        let area = window.harness.get_by_label("Canvas").rect();
        for (tool, from, to) in [(Key::B, 0.6, 0.7), (Key::P, 0.65, 0.85)] {
            window.harness.key_press_modifiers(Modifiers::SHIFT, tool);
            window.settle();
            if tool == Key::P {
                window.harness.get_by_label("Draws on").click();
                window.settle();
                window.harness.get_by_label("Ignored pixels").click();
                window.settle();
            }
            let (from, to) = (area.lerp_inside(vec2(from, 0.4)), area.lerp_inside(vec2(to, 0.6)));
            window.harness.drag_at(from);
            window.harness.step();
            window.harness.hover_at(from + (to - from) * 0.5);
            window.harness.step();
            window.harness.hover_at(to);
            window.harness.step();
            window.harness.drop_at(to);
            window.settle();
        }
        for _ in 0..4 {
            window.key(Key::Plus);
        }
        save(&mut window, &format!("{name}-regions.png"));
        assert!(window.state().tools.document.as_ref().is_some_and(|document| document.shown(Side::Edit).next().is_some()));
    }
}

#[test]
#[ignore = "writes pictures of the data in EDITSCOPE_LOOKS_DATA into the folder EDITSCOPE_LOOKS"]
fn canvas_looks_of_data() {
    let folder = PathBuf::from(std::env::var_os("EDITSCOPE_LOOKS_DATA").expect("name a folder in EDITSCOPE_LOOKS_DATA")); // said in the reason
    let setup = Setup { data: Some(folder), edits: 1, scored: false, real_engine: true, ..Setup::default() };
    let mut window = Window::open(setup);
    all_overlays(&mut window);
    for row in 0..window.state().queue.rows().len() {
        for (key, mode) in [(Key::S, "side"), (Key::I, "difference"), (Key::W, "wipe")] {
            window.key(key);
            save(&mut window, &format!("data{row:02}-{mode}.png"));
        }
        window.key(Key::Z);
        save(&mut window, &format!("data{row:02}-wipe-1to1.png"));
        window.key(Key::F);
        press(&mut window, Command::NextEdit);
    }
}
