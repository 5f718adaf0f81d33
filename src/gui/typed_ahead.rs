//! Keys that are typed into a field before it has the cursor: where frames take long, the key that goes to a field and the letters after it come
//! within one. The letters wait for the next frame, when they are text and no keys of commands.
//!
//! And the other way round: a press of the pointer takes the cursor from a field before the field has read what was typed in the same frame.
//! The press waits for the next frame.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use egui::{Event, KeyboardShortcut};

use super::app::App;
use super::command::Command;

/// Commands that put the cursor into a field of text.
const TO_A_FIELD: [Command; 3] = [Command::FindText, Command::FindCommand, Command::RenameRegion];

/// What waits for the next frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    /// Letters wait for their field; a press must not come before them.
    letters: Arc<AtomicBool>,
    press: Arc<AtomicBool>,
}

impl Waits {
    /// Whether a press of the pointer is still to come.
    pub(super) fn for_press(&self) -> bool {
        self.press.load(Ordering::Relaxed)
    }

    /// The part of egui's input that holds presses back.
    pub(super) fn plugin(&self) -> impl egui::Plugin + use<> {
        PressAfterTyping { waits: self.clone(), held: Vec::new() }
    }
}

/// Gives a press of the pointer that follows typing a frame of its own. egui must not know of the press before, so this comes before its input.
struct PressAfterTyping {
    waits: Waits,
    held: Vec<Event>,
}

impl egui::Plugin for PressAfterTyping {
    fn debug_name(&self) -> &'static str {
        "press after typing"
    }

    fn input_hook(&mut self, ctx: &egui::Context, input: &mut egui::RawInput) {
        input.events.splice(0..0, self.held.drain(..));
        self.held = from_press_on(&mut input.events, self.waits.letters.load(Ordering::Relaxed));
        self.waits.press.store(!self.held.is_empty(), Ordering::Relaxed);
        if !self.held.is_empty() {
            ctx.request_repaint();
        }
    }
}

/// Takes out the first press of the pointer after something typed, and all that follows it. `typed` says that letters are still to be read.
fn from_press_on(events: &mut Vec<Event>, mut typed: bool) -> Vec<Event> {
    let press = events.iter().position(|event| match event {
        Event::Key { pressed: true, .. } | Event::Text(_) | Event::Paste(_) | Event::Cut | Event::Ime(_) => {
            typed = true;
            false
        }
        Event::PointerButton { pressed: true, .. } => typed,
        _ => false,
    });
    press.map(|at| events.split_off(at)).unwrap_or_default()
}

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
        self.waits.letters.store(!self.typed_ahead.is_empty(), Ordering::Relaxed);
        if !self.typed_ahead.is_empty() {
            self.ctx.request_repaint();
        }
    }
}

/// Takes out what is typed from the first key on that was pressed after a button of the pointer went down or up. Presses after typing wait
/// already ([`PressAfterTyping`]); what else the pointer did is left, since egui knows of it.
fn taken_from_key_after_button(events: &mut Vec<Event>) -> Vec<Event> {
    let button = events.iter().position(|event| matches!(event, Event::PointerButton { .. }));
    let is_key = |event: &Event| matches!(event, Event::Key { pressed: true, .. });
    let Some(key) = button.and_then(|button| Some(button + events[button..].iter().position(is_key)?)) else { return Vec::new() };
    let (typed, others) = events.split_off(key).into_iter().partition(is_typed);
    events.extend::<Vec<Event>>(others);
    typed
}

const fn is_typed(event: &Event) -> bool {
    matches!(event, Event::Key { .. } | Event::Text(_) | Event::Paste(_) | Event::Ime(_))
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
        let (brush, again) = (key(Key::P, Modifiers::SHIFT), key(Key::B, Modifiers::SHIFT));
        let mut events = vec![again.clone(), button(true), brush.clone(), Event::PointerMoved(egui::Pos2::ZERO), button(false)];
        assert_eq!(taken_from_key_after_button(&mut events), std::slice::from_ref(&brush));
        assert_eq!(events, [again, button(true), Event::PointerMoved(egui::Pos2::ZERO), button(false)]);
        let mut events = vec![brush.clone(), Event::PointerMoved(egui::Pos2::ZERO)];
        assert!(taken_from_key_after_button(&mut events).is_empty() && events.len() == 2);
    }

    fn button(pressed: bool) -> Event {
        Event::PointerButton { pos: egui::Pos2::ZERO, button: egui::PointerButton::Primary, pressed, modifiers: Modifiers::NONE }
    }

    #[test]
    fn a_press_after_typing_waits_with_all_that_follows() {
        let text = || Event::Text("a".to_owned());
        let mut events = vec![button(true), button(false), text(), button(true), button(false), text()];
        assert_eq!(from_press_on(&mut events, false), [button(true), button(false), text()]);
        assert_eq!(events, [button(true), button(false), text()]);
        // Nothing was typed before: nothing waits.
        assert!(from_press_on(&mut vec![button(true), button(false), text()], false).is_empty());
        assert_eq!(from_press_on(&mut vec![button(true), button(false)], true), [button(true), button(false)]);
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
