//! Keys that are typed into a field before it has the cursor: where frames take long, the key that goes to a field and the letters after it come
//! within one. The letters wait for the next frame, when they are text and no keys of commands.

use egui::{Event, KeyboardShortcut};

use super::app::App;
use super::command::Command;

/// Commands that put the cursor into a field of text.
const TO_A_FIELD: [Command; 3] = [Command::FindText, Command::FindCommand, Command::RenameRegion];

impl App {
    /// What was typed too early in the last frame comes now; what is typed too early in this one waits.
    pub(super) fn hold_typed_ahead(&mut self) {
        let held = std::mem::take(&mut self.typed_ahead);
        let may_go = !self.ctx.text_edit_focused() && self.state.dialog.is_none();
        self.typed_ahead = self.ctx.input_mut(|input| {
            input.events.splice(0..0, held);
            // A key after a press or a drag means what comes next: within one frame the drag would be the next tool's.
            let late = taken_from_key_after_button(&mut input.events);
            let mut held = if may_go { taken_after(&mut input.events) } else { Vec::new() };
            held.extend(late);
            held
        });
        if !self.typed_ahead.is_empty() {
            self.ctx.request_repaint();
        }
    }
}

/// Takes out everything from the first key on that was pressed after a button of the pointer went down or up.
fn taken_from_key_after_button(events: &mut Vec<Event>) -> Vec<Event> {
    let button = events.iter().position(|event| matches!(event, Event::PointerButton { .. }));
    let is_key = |event: &Event| matches!(event, Event::Key { pressed: true, .. });
    let key = button.and_then(|button| Some(button + events[button..].iter().position(is_key)?));
    key.map(|key| events.split_off(key)).unwrap_or_default()
}

/// Takes out what is typed after the first key that goes to a field.
fn taken_after(events: &mut Vec<Event>) -> Vec<Event> {
    let goes = |event: &Event| match event {
        Event::Key { key, pressed: true, modifiers, .. } => TO_A_FIELD.into_iter().filter_map(Command::shortcut).find(|shortcut| {
            let KeyboardShortcut { modifiers: wanted, logical_key } = shortcut;
            logical_key == key && modifiers.matches_logically(*wanted)
        }),
        _ => None,
    };
    let Some((at, shortcut)) = events.iter().enumerate().find_map(|(at, event)| Some((at, goes(event)?))) else { return Vec::new() };
    let mut after = events.split_off(at + 1);
    // The letter of a key without Ctrl follows it; it belongs to the key.
    if !shortcut.modifiers.command && matches!(after.first(), Some(Event::Text(_))) {
        after.remove(0);
    }
    let is_typed = |event: &Event| matches!(event, Event::Key { .. } | Event::Text(_) | Event::Paste(_) | Event::Ime(_));
    let (typed, others) = after.into_iter().partition(is_typed);
    events.extend::<Vec<Event>>(others);
    typed
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers};

    use super::*;

    fn key(key: Key, modifiers: Modifiers) -> Event {
        Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
    }

    #[test]
    fn a_key_after_a_drag_waits_and_one_before_it_does_not() {
        let button = |pressed: bool| Event::PointerButton {
            pos: egui::Pos2::ZERO,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        let (brush, again) = (key(Key::P, Modifiers::SHIFT), key(Key::B, Modifiers::SHIFT));
        let mut events =
            vec![again.clone(), button(true), Event::PointerMoved(egui::Pos2::ZERO), button(false), brush.clone(), button(true)];
        assert_eq!(taken_from_key_after_button(&mut events), [brush.clone(), button(true)]);
        assert_eq!(events, [again, button(true), Event::PointerMoved(egui::Pos2::ZERO), button(false)]);
        let mut events = vec![brush.clone(), Event::PointerMoved(egui::Pos2::ZERO)];
        assert!(taken_from_key_after_button(&mut events).is_empty() && events.len() == 2);
    }

    #[test]
    fn what_follows_a_key_to_a_field_waits_and_the_rest_does_not() {
        let moved = Event::PointerMoved(egui::Pos2::ZERO);
        let text = |text: &str| Event::Text(text.to_owned());
        let (before, find) = (key(Key::B, Modifiers::NONE), key(Key::F, Modifiers::COMMAND));
        let mut events = vec![before.clone(), find.clone(), key(Key::R, Modifiers::NONE), text("r"), moved.clone()];
        assert_eq!(taken_after(&mut events), [key(Key::R, Modifiers::NONE), text("r")]);
        assert_eq!(events, [before.clone(), find, moved]);
        // Shift+R renames; its own letter is no part of the name.
        let rename = key(Key::R, Modifiers::SHIFT);
        let mut events = vec![rename.clone(), text("R"), key(Key::A, Modifiers::NONE), text("a")];
        assert_eq!(taken_after(&mut events), [key(Key::A, Modifiers::NONE), text("a")]);
        assert_eq!(events, [rename]);
        let mut events = vec![before.clone(), text("b")];
        assert!(taken_after(&mut events).is_empty() && events.len() == 2);
    }
}
