//! The keys of a running session. They are a table of their own: on the Rating page a letter means something else than on the others.

use egui::{Key, Modifiers};

use super::PeopleAction;
use crate::domain::ProtocolKind;
use crate::editor::RowId;

/// One key of a running session.
pub struct RatingKey {
    /// How the key is written.
    pub key: &'static str,
    /// What it does.
    pub does: &'static str,
    /// The protocols that it belongs to; empty for all.
    only: &'static [ProtocolKind],
}

const fn all(key: &'static str, does: &'static str) -> RatingKey {
    RatingKey { key, does, only: &[] }
}

/// The keys, as the key sheet and the foot of the page list them.
const TABLE: &[RatingKey] = &[
    RatingKey { key: "1–9", does: "answer", only: &[ProtocolKind::Rubric] },
    RatingKey { key: "0", does: "can’t judge this question", only: &[ProtocolKind::Rubric] },
    RatingKey { key: "1 2", does: "A, B is better", only: &[ProtocolKind::Pairwise] },
    RatingKey { key: "3 4", does: "tie, both bad", only: &[ProtocolKind::Pairwise] },
    RatingKey { key: "1–9", does: "rank of the marked edit", only: &[ProtocolKind::Ranking] },
    RatingKey { key: "← →", does: "move it a rank up, down", only: &[ProtocolKind::Ranking] },
    RatingKey { key: "↑ ↓", does: "mark another", only: &[ProtocolKind::Rubric, ProtocolKind::Ranking] },
    RatingKey { key: "Enter", does: "save, next", only: &[ProtocolKind::Rubric, ProtocolKind::Ranking] },
    all("X", "can’t judge at all"),
    all("S", "skip for now"),
    all("Backspace", "back, correct"),
    all("C", "comment"),
    all("Space", "hold: source"),
    all("F Z", "fit, 1:1"),
];

/// The keys of a protocol.
pub fn keys_of(kind: ProtocolKind) -> impl Iterator<Item = &'static RatingKey> {
    TABLE.iter().filter(move |key| key.only.is_empty() || key.only.contains(&kind))
}

/// The key that shows the source in the place of the edits while it is held.
pub const SHOW_SOURCE: Key = Key::Space;

const DIGITS: [Key; 10] = [Key::Num0, Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];

/// What the keys that were pressed since the last frame ask for; the keys are taken. Nothing while text is being typed, except Ctrl+Enter.
pub fn pressed(ctx: &egui::Context) -> Vec<PeopleAction> {
    let typing = ctx.text_edit_focused();
    // Enter and Space belong to a button that was reached by Tab.
    let focused = ctx.memory(egui::Memory::focused);
    let mut actions = Vec::new();
    ctx.input_mut(|input| {
        if input.consume_key(Modifiers::COMMAND, Key::Enter) {
            actions.push(PeopleAction::Submit);
        }
        if typing {
            return;
        }
        for (digit, key) in DIGITS.into_iter().enumerate() {
            if input.consume_key(Modifiers::NONE, key) {
                actions.push(PeopleAction::Press(digit as u32));
            }
        }
        let plain = [
            (Key::ArrowDown, PeopleAction::Step(1)),
            (Key::ArrowUp, PeopleAction::Step(-1)),
            (Key::ArrowRight, PeopleAction::Sideways(1)),
            (Key::ArrowLeft, PeopleAction::Sideways(-1)),
            (Key::X, PeopleAction::CannotJudge),
            (Key::S, PeopleAction::Skip),
            (Key::Backspace, PeopleAction::Back),
            (Key::C, PeopleAction::FocusComment),
        ];
        for (key, action) in plain {
            if input.consume_key(Modifiers::NONE, key) {
                actions.push(action);
            }
        }
        if focused.is_none() && input.consume_key(Modifiers::NONE, Key::Enter) {
            actions.push(PeopleAction::Submit);
        }
    });
    if actions.iter().any(|action| matches!(action, PeopleAction::Press(_)))
        && let Some(id) = focused
    {
        // Who answers by digits wants Enter to save.
        ctx.memory_mut(|memory| memory.surrender_focus(id));
    }
    actions
}

/// The keys of the list: N makes a session, Enter goes on with `first`, a digit opens one of `shown` (in the order of the screen).
pub fn pressed_in_list(ctx: &egui::Context, first: Option<String>, shown: &[String]) -> Vec<PeopleAction> {
    if ctx.memory(egui::Memory::focused).is_some() {
        return Vec::new();
    }
    ctx.input_mut(|input| {
        let new = input.consume_key(Modifiers::NONE, Key::N).then_some(PeopleAction::NewSetup);
        let open = first.filter(|_| input.consume_key(Modifiers::NONE, Key::Enter)).map(PeopleAction::Open);
        let digits = DIGITS[1..].iter().zip(shown);
        let by_digit = digits.filter(|(key, _)| input.consume_key(Modifiers::NONE, **key)).map(|(_, uid)| PeopleAction::Open(uid.clone()));
        new.into_iter().chain(open).chain(by_digit).collect()
    })
}

/// The keys of the setup: Ctrl+Enter makes the session, Esc leaves it (while nothing has the cursor).
pub fn pressed_in_setup(ctx: &egui::Context) -> Vec<PeopleAction> {
    let focused = ctx.memory(egui::Memory::focused).is_some();
    ctx.input_mut(|input| {
        let create = input.consume_key(Modifiers::COMMAND, Key::Enter).then_some(PeopleAction::CreateSession);
        let cancel = (!focused && input.consume_key(Modifiers::NONE, Key::Escape)).then_some(PeopleAction::CancelSetup);
        create.into_iter().chain(cancel).collect()
    })
}

/// The keys at the end of a session: Enter goes back to the list, a digit opens one of `rows`.
pub fn pressed_at_end(ctx: &egui::Context, rows: &[Option<RowId>]) -> Vec<PeopleAction> {
    let focused = ctx.memory(egui::Memory::focused).is_some();
    ctx.input_mut(|input| {
        let close = (!focused && input.consume_key(Modifiers::NONE, Key::Enter)).then_some(PeopleAction::Close);
        let digits = DIGITS[1..].iter().zip(rows);
        let open = digits.filter_map(|(key, row)| row.filter(|_| input.consume_key(Modifiers::NONE, *key)).map(PeopleAction::OpenEdit));
        close.into_iter().chain(open).collect()
    })
}
