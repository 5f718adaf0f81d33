//! The keys of a running session. They are a table of their own: on the Rating page a letter means something else than on the others.

use egui::{Key, Modifiers};

use super::PeopleAction;
use crate::domain::ProtocolKind;
use crate::editor::RowId;
use crate::gui::key_press::KeyPress;

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
    RatingKey { key: "0–9", does: "answer, as the buttons say", only: &[ProtocolKind::Rubric] },
    RatingKey { key: "U", does: "can’t judge this question (0 too, where 0 is no value)", only: &[ProtocolKind::Rubric] },
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

/// Says that the marked question of a rubric cannot be judged: a letter, so that it is never a value.
const CANNOT_JUDGE_ONE: Key = Key::U;
/// Says that the task cannot be judged, in every protocol.
const CANNOT_JUDGE_ALL: Key = Key::X;

/// The key that shows the source in the place of the edits while it is held.
pub const SHOW_SOURCE: Key = Key::Space;

/// What a key of a running session asks for. Nothing while text is being typed, except Ctrl+Enter.
pub fn running(press: &KeyPress) -> Option<PeopleAction> {
    if press.is(Modifiers::COMMAND, Key::Enter) {
        return Some(PeopleAction::Submit);
    }
    if press.typing || press.modifiers.command {
        return None;
    }
    if let Some(digit) = press.digit() {
        return Some(PeopleAction::Press(digit));
    }
    Some(match press.key {
        Key::ArrowDown => PeopleAction::Step(1),
        Key::ArrowUp => PeopleAction::Step(-1),
        Key::ArrowRight => PeopleAction::Sideways(1),
        Key::ArrowLeft => PeopleAction::Sideways(-1),
        CANNOT_JUDGE_ALL => PeopleAction::CannotJudge,
        CANNOT_JUDGE_ONE => PeopleAction::CannotJudgeOne,
        Key::S => PeopleAction::Skip,
        Key::Backspace => PeopleAction::Back,
        Key::C => PeopleAction::FocusComment,
        // Enter belongs to a button that was reached by Tab.
        Key::Enter if !press.focused => PeopleAction::Submit,
        _ => return None,
    })
}

/// The keys of the list: N makes a session, Enter goes on with `first`, a digit opens one of `shown` (in the order of the screen).
pub fn in_list(press: &KeyPress, first: Option<&str>, shown: &[&str]) -> Option<PeopleAction> {
    if press.focused || press.modifiers.command {
        return None;
    }
    let open = |uid: &str| PeopleAction::Open(uid.to_owned());
    match press.key {
        Key::N => Some(PeopleAction::NewSetup),
        Key::Enter => first.map(open),
        _ => shown.get(place_of(press)?).copied().map(open),
    }
}

/// The keys of the setup: Ctrl+Enter makes the session, Esc leaves it (while nothing has the cursor).
pub fn in_setup(press: &KeyPress) -> Option<PeopleAction> {
    if press.is(Modifiers::COMMAND, Key::Enter) {
        return Some(PeopleAction::CreateSession);
    }
    (!press.focused && press.is_plain(Key::Escape)).then_some(PeopleAction::CancelSetup)
}

/// The keys at the end of a session: Enter and Esc go back to the list, a digit opens one of `rows`.
pub fn at_end(press: &KeyPress, rows: &[Option<RowId>]) -> Option<PeopleAction> {
    if !press.focused && (press.is_plain(Key::Enter) || press.is_plain(Key::Escape)) {
        return Some(PeopleAction::Close);
    }
    rows.get(place_of(press)?).copied().flatten().filter(|_| !press.typing).map(PeopleAction::OpenEdit)
}

/// 1 is the first.
fn place_of(press: &KeyPress) -> Option<usize> {
    (press.digit()? as usize).checked_sub(1)
}
