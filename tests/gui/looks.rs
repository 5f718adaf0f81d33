//! Pictures of the whole window for a person to look at. Not compared: run by hand with `--ignored`.

use std::path::PathBuf;

use editscope::gui::command::Command;
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

/// Writes the window as it is into the folder of `EDITSCOPE_LOOKS`.
pub fn save(window: &mut Window, name: &str) {
    let folder = PathBuf::from(std::env::var_os("EDITSCOPE_LOOKS").expect("name a folder in EDITSCOPE_LOOKS")); // said in the test's reason
    window.settle();
    window.harness.render().unwrap().save(folder.join(name)).unwrap();
}

/// Presses a command's key.
pub fn press(window: &mut Window, command: Command) {
    let shortcut = command.shortcut().unwrap();
    window.harness.key_press_modifiers(shortcut.modifiers, shortcut.logical_key);
    window.settle();
}

#[test]
#[ignore = "writes pictures to look at into the folder EDITSCOPE_LOOKS"]
fn looks() {
    for (prefix, setup) in [
        ("dark", Setup::default()),
        ("light", Setup { light: true, ..Setup::default() }),
        ("hidpi", Setup { size: [1280.0, 720.0], pixels_per_point: 2.0, ..Setup::default() }),
        ("large", Setup { size: [2560.0, 1440.0], pixels_per_point: 1.0, ..Setup::default() }),
    ] {
        let mut window = Window::open(setup);
        save(&mut window, &format!("{prefix}-score.png"));
        for _ in 0..5 {
            press(&mut window, Command::NextEdit);
        }
        press(&mut window, Command::ToggleCrop);
        press(&mut window, Command::ToggleCandidates);
        press(&mut window, Command::TabRate);
        for command in [Command::Rate4, Command::Rate5, Command::Rate3] {
            press(&mut window, command);
        }
        save(&mut window, &format!("{prefix}-rate.png"));
        press(&mut window, Command::ToggleChangeMap);
        press(&mut window, Command::TabParse);
        save(&mut window, &format!("{prefix}-parse.png"));
        press(&mut window, Command::PageAgreement);
        save(&mut window, &format!("{prefix}-agreement.png"));
        press(&mut window, Command::KeySheet);
        save(&mut window, &format!("{prefix}-keys.png"));
        window.harness.get_by_label("Close").click();
        window.settle();
        press(&mut window, Command::OpenSettings);
        save(&mut window, &format!("{prefix}-settings.png"));
    }
    let mut window = Window::open(Setup { open: None, ..Setup::default() });
    save(&mut window, "dark-empty.png");
}
