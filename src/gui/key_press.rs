//! Keys in the order in which they were pressed.
//!
//! Several keys may fall into one frame, of a fast typist or of a window that was busy. Each is given, in the order of egui's events and
//! once, to the first that has a use for it as things stand after the keys before it: the tools, the Rating page, the commands.

use egui::{Event, Key, Modifiers};

use super::app::App;
use super::command::Command;
use super::context::Action;

/// One press of a key, with what decides whose it is.
#[derive(Clone, Copy, Debug)]
pub struct KeyPress {
    pub key: Key,
    pub modifiers: Modifiers,
    /// A text field has the cursor.
    pub typing: bool,
    /// Anything has the focus; Enter and Space are then its own.
    pub focused: bool,
}

const DIGITS: [Key; 10] = [Key::Num0, Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];

impl KeyPress {
    /// Whether it is this key; Shift and Alt matter only where they are asked for.
    pub fn is(&self, modifiers: Modifiers, key: Key) -> bool {
        self.key == key && self.modifiers.matches_logically(modifiers)
    }

    /// Whether it is this key without Ctrl.
    pub fn is_plain(&self, key: Key) -> bool {
        self.is(Modifiers::NONE, key)
    }

    /// The digit that it is.
    pub fn digit(&self) -> Option<u32> {
        (0..).zip(DIGITS).find(|(_, key)| self.is_plain(*key)).map(|(digit, _)| digit)
    }
}

impl App {
    /// Gives every key to whom it belongs; what nobody wants is left to text fields and buttons.
    pub(super) fn take_keys(&mut self) {
        let ctx = self.ctx.clone();
        let events = ctx.input_mut(|input| std::mem::take(&mut input.events));
        let mut left = Vec::with_capacity(events.len());
        let mut own_letter = false;
        for event in events {
            // The comment field takes the cursor when it is drawn; what is typed until then is text already.
            if self.state.people.focus_comment {
                match &event {
                    Event::Text(text) if own_letter && text.eq_ignore_ascii_case("c") => own_letter = false,
                    Event::Text(text) => self.state.people.type_comment(text),
                    Event::Key { key: Key::Enter | Key::Escape, pressed: true, modifiers, .. } if !modifiers.command => {
                        self.state.people.focus_comment = false;
                    }
                    _ => left.push(event),
                }
                continue;
            }
            let Event::Key { key, pressed: true, modifiers, .. } = event else {
                left.push(event);
                continue;
            };
            let cursor_wanted = self.state.focus_search || self.state.tools.focus_name;
            let typing = cursor_wanted || ctx.text_edit_focused();
            let focused = typing || ctx.memory(|memory| memory.focused().is_some());
            if !self.take_key(&KeyPress { key, modifiers, typing, focused }) {
                left.push(event);
            }
            own_letter = self.state.people.focus_comment;
        }
        ctx.input_mut(|input| input.events = left);
    }

    /// Whether anybody had a use for the key.
    fn take_key(&mut self, press: &KeyPress) -> bool {
        if self.tool_key(press) || self.rating_key(press) {
            return true;
        }
        let Some(command) = Command::of_key(press, self.state.dialog.is_some()) else { return false };
        if self.allows(command) {
            self.apply(Action::Do(command));
        }
        true
    }
}
