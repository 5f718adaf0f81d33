//! Everything that can be done is found by typing.

use editscope::gui::command::Command;
use editscope::gui::state::Dialog;
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

fn find(window: &mut Window, words: &str) {
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.settle();
    assert_eq!(window.state().dialog, Some(Dialog::Commands));
    window.harness.event(Event::Text(words.into()));
    window.settle();
}

#[test]
fn a_command_is_found_by_its_words_and_done_with_enter() {
    let mut window = Window::open(Setup::default());
    find(&mut window, "sensitivity");
    window.harness.get_by_label(Command::ShowSensitivity.label());
    window.key(Key::Enter);
    assert_eq!(window.state().dialog, None);
    assert!(window.state().audit.sensitivity_open);
}

#[test]
fn arrow_keys_mark_and_a_click_does() {
    let mut window = Window::open(Setup::default());
    let tab = window.state().tab;
    find(&mut window, "next edit");
    // Keys of one frame all count.
    let event = |key| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
    window.harness.input_mut().events.extend([Key::ArrowDown, Key::ArrowDown, Key::ArrowDown].map(event));
    window.settle();
    assert_eq!(window.state().sought_command.1, 3);
    (0..3).for_each(|_| window.key(Key::ArrowUp));
    // The second of those whose label has the words is the letter's command, which does the same.
    window.key(Key::ArrowDown);
    assert_eq!(window.state().sought_command.1, 1);
    let before = window.state().queue.selected();
    window.key(Key::Enter);
    assert_ne!(window.state().queue.selected(), before);
    assert_eq!(window.state().tab, tab);
    find(&mut window, "zzz");
    window.harness.get_by_label("No command has all of these words.");
    window.key(Key::Escape);
    find(&mut window, "history");
    // The tab of the inspector has the same name.
    window.harness.get_all_by_label(Command::TabHistory.label()).last().unwrap().click();
    window.settle();
    assert_eq!(window.state().tab, editscope::gui::state::Tab::History);
}
