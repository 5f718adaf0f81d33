//! What opens over the page: a path to type where the system has no file dialog, and the key sheet on small windows.

use editscope::gui::state::Dialog;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;

use crate::pointer::{press, type_over};
use crate::support::{Setup, Window};

#[test]
fn a_path_can_be_typed_where_the_system_has_no_file_dialog() {
    let mut window = Window::open(Setup::default());
    window.harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::Comma);
    window.settle();
    press(&mut window, "Type paths here");
    press(&mut window, "Close");
    let shortcut = egui::Modifiers::COMMAND;
    window.harness.key_press_modifiers(shortcut, Key::O);
    window.settle();
    assert_eq!(window.state().dialog, Some(Dialog::Path));
    window.harness.get_by_label("Open project");
    window.harness.get_by_label("Paths are typed, because the settings say so.");
    // What is not there is said, and the dialog stays.
    type_over(&mut window, "/nowhere/at-all.editscope");
    window.harness.get_by_label("⚠ There is no such file: /nowhere/at-all.editscope");
    assert_eq!(window.state().dialog, Some(Dialog::Path));
    // A file that is there is opened.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.editscope");
    std::fs::write(&path, "").unwrap();
    window.harness.get_by_role_and_label(Role::TextInput, "A file, as a path").focus();
    window.settle();
    type_over(&mut window, &path.display().to_string());
    assert_eq!(window.state().dialog, None);
    assert_eq!(window.state().info().map(|info| info.path.clone()), Some(path));
    // It can be left without a choice.
    window.harness.key_press_modifiers(shortcut, Key::O);
    window.settle();
    press(&mut window, "Close");
    assert_eq!(window.state().dialog, None);
}

#[test]
fn every_key_of_the_key_sheet_can_be_reached_on_small_windows() {
    for (size, scale) in [([1280.0, 800.0], 1.0), ([1280.0, 720.0], 2.0)] {
        let mut window = Window::open(Setup { size, pixels_per_point: scale, ..Setup::default() });
        window.harness.key_press_modifiers(egui::Modifiers::SHIFT, Key::Questionmark);
        window.settle();
        assert_eq!(window.state().dialog, Some(Dialog::Keys));
        let inside = |rect: egui::Rect| rect.top() >= 0.0 && rect.bottom() <= size[1];
        assert!(inside(window.harness.get_by_label("Close").rect()), "{size:?}");
        let last = "Keys without Ctrl do nothing while text is being typed";
        let place = |window: &Window| window.harness.get_by_label_contains(last).rect();
        for _ in 0..40 {
            let middle = egui::pos2(size[0] / 2.0, size[1] / 2.0);
            window.harness.event(egui::Event::PointerMoved(middle));
            window.harness.event(egui::Event::MouseWheel {
                unit: egui::MouseWheelUnit::Line,
                delta: egui::vec2(0.0, -3.0),
                phase: egui::TouchPhase::Move,
                source: egui::MouseWheelSource::Wheel,
                modifiers: egui::Modifiers::NONE,
            });
            window.harness.step();
        }
        window.settle();
        assert!(inside(place(&window)), "{size:?}: the end of the sheet is at {:?}", place(&window));
    }
}
