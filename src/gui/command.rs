//! Everything a person can do by menu, button or key: one enum is the registry of label, tooltip and shortcut.

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::editor::Overlay;

/// A thing to do that needs no further data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    OpenProject,
    ImportData,
    MakeDemo,
    ExportScores,
    ScoreAll,
    ScoreSelected,
    CancelRuns,
    NextEdit,
    PreviousEdit,
    NextEditLetter,
    PreviousEditLetter,
    NextUnrated,
    NextProblem,
    FindText,
    FitView,
    OneToOne,
    ZoomIn,
    ZoomOut,
    ToggleSourceBoxes,
    ToggleEditBoxes,
    ToggleCandidates,
    ToggleMask,
    ToggleCrop,
    ToggleChangeMap,
    BarePictures,
    TabScore,
    TabParse,
    TabRate,
    TabHistory,
    Rate1,
    Rate2,
    Rate3,
    Rate4,
    Rate5,
    NextQuestion,
    PreviousQuestion,
    PageAudit,
    PageAgreement,
    OpenSettings,
    SwitchTheme,
    KeySheet,
}

/// Where the key sheet lists a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Project,
    Queue,
    View,
    Overlays,
    Inspector,
    Rate,
    Window,
}

impl Group {
    /// All groups, in the order of the key sheet.
    pub const ALL: [Self; 7] = [Self::Queue, Self::Rate, Self::View, Self::Overlays, Self::Inspector, Self::Project, Self::Window];

    /// The heading.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Project => "Project and runs",
            Self::Queue => "Queue",
            Self::View => "View",
            Self::Overlays => "Overlays",
            Self::Inspector => "Inspector",
            Self::Rate => "Rate",
            Self::Window => "Window",
        }
    }
}

impl Command {
    /// All commands, in the order of the key sheet.
    pub const ALL: [Self; 41] = [
        Self::OpenProject,
        Self::ImportData,
        Self::MakeDemo,
        Self::ExportScores,
        Self::ScoreAll,
        Self::ScoreSelected,
        Self::CancelRuns,
        Self::NextEdit,
        Self::PreviousEdit,
        Self::NextEditLetter,
        Self::PreviousEditLetter,
        Self::NextUnrated,
        Self::NextProblem,
        Self::FindText,
        Self::FitView,
        Self::OneToOne,
        Self::ZoomIn,
        Self::ZoomOut,
        Self::ToggleSourceBoxes,
        Self::ToggleEditBoxes,
        Self::ToggleCandidates,
        Self::ToggleMask,
        Self::ToggleCrop,
        Self::ToggleChangeMap,
        Self::BarePictures,
        Self::TabScore,
        Self::TabParse,
        Self::TabRate,
        Self::TabHistory,
        Self::Rate1,
        Self::Rate2,
        Self::Rate3,
        Self::Rate4,
        Self::Rate5,
        Self::NextQuestion,
        Self::PreviousQuestion,
        Self::PageAudit,
        Self::PageAgreement,
        Self::OpenSettings,
        Self::SwitchTheme,
        Self::KeySheet,
    ];

    /// The words on buttons and menus, and what they do.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenProject => ("Open project…", "Opens a project file (NAME.editscope)."),
            Self::ImportData => ("Import data…", "Reads a manifest (JSONL, CSV, BPM's JSON) into a project."),
            Self::MakeDemo => ("Make the demo", "Writes the demo project into a folder and opens it."),
            Self::ExportScores => ("Export scores…", "Writes scores and ratings of all edits to a CSV or JSONL file."),
            Self::ScoreAll => ("Score all", "Scores every edit of the project; what is scored already is kept."),
            Self::ScoreSelected => ("Score this edit", "Scores the selected edit again."),
            Self::CancelRuns => ("Cancel", "Stops the running jobs; what is scored stays."),
            Self::NextEdit => ("Next edit", "Selects the next edit of the queue."),
            Self::PreviousEdit => ("Previous edit", "Selects the previous edit of the queue."),
            Self::NextEditLetter => ("Next edit", "Selects the next edit of the queue."),
            Self::PreviousEditLetter => ("Previous edit", "Selects the previous edit of the queue."),
            Self::NextUnrated => ("Next unrated", "Selects the next edit that nobody has rated."),
            Self::NextProblem => ("Next problem", "Selects the next edit with a flag."),
            Self::FindText => ("Search", "Puts the cursor into the search field of the queue."),
            Self::FitView => ("Fit", "Shows the whole picture; so does a double click."),
            Self::OneToOne => ("1:1", "Shows one picture pixel as one screen pixel."),
            Self::ZoomIn => ("Zoom in", "Zooms into the middle; the wheel zooms to the cursor."),
            Self::ZoomOut => ("Zoom out", "Zooms out of the middle; the wheel zooms from the cursor."),
            Self::ToggleSourceBoxes => (Overlay::SourceBoxes.label(), Overlay::SourceBoxes.meaning()),
            Self::ToggleEditBoxes => (Overlay::EditBoxes.label(), Overlay::EditBoxes.meaning()),
            Self::ToggleCandidates => (Overlay::Candidates.label(), Overlay::Candidates.meaning()),
            Self::ToggleMask => (Overlay::Mask.label(), Overlay::Mask.meaning()),
            Self::ToggleCrop => (Overlay::Crop.label(), Overlay::Crop.meaning()),
            Self::ToggleChangeMap => (Overlay::ChangeMap.label(), Overlay::ChangeMap.meaning()),
            Self::BarePictures => ("Bare pictures", "Hides all overlays, and shows them again."),
            Self::TabScore => ("Score", "Parts, overall and the trace."),
            Self::TabParse => ("Parse", "The seven fields read out of the instruction."),
            Self::TabRate => ("Rate", "Five questions, answered 1 to 5."),
            Self::TabHistory => ("History", "Who changed what, and when."),
            Self::Rate1 => ("Answer 1", "Answers the marked question with 1 (bad)."),
            Self::Rate2 => ("Answer 2", "Answers the marked question with 2."),
            Self::Rate3 => ("Answer 3", "Answers the marked question with 3."),
            Self::Rate4 => ("Answer 4", "Answers the marked question with 4."),
            Self::Rate5 => ("Answer 5", "Answers the marked question with 5 (good)."),
            Self::NextQuestion => ("Next question", "Marks the next question; Tab goes there too."),
            Self::PreviousQuestion => ("Previous question", "Marks the previous question."),
            Self::PageAudit => ("Audit", "Pictures, scores and ratings."),
            Self::PageAgreement => ("Agreement", "How the numbers agree with people."),
            Self::OpenSettings => ("Settings", "Device, networks, profile, range and rater name."),
            Self::SwitchTheme => ("Light or dark", "Changes between the light and the dark theme."),
            Self::KeySheet => ("Keys", "Shows all keys."),
        }
    }

    /// The words on its button.
    pub const fn label(self) -> &'static str {
        self.words().0
    }

    /// Where the key sheet lists it.
    pub const fn group(self) -> Group {
        match self {
            Self::OpenProject
            | Self::ImportData
            | Self::MakeDemo
            | Self::ExportScores
            | Self::ScoreAll
            | Self::ScoreSelected
            | Self::CancelRuns => Group::Project,
            Self::NextEdit
            | Self::PreviousEdit
            | Self::NextEditLetter
            | Self::PreviousEditLetter
            | Self::NextUnrated
            | Self::NextProblem
            | Self::FindText => Group::Queue,
            Self::FitView | Self::OneToOne | Self::ZoomIn | Self::ZoomOut => Group::View,
            Self::ToggleSourceBoxes
            | Self::ToggleEditBoxes
            | Self::ToggleCandidates
            | Self::ToggleMask
            | Self::ToggleCrop
            | Self::ToggleChangeMap
            | Self::BarePictures => Group::Overlays,
            Self::TabScore | Self::TabParse | Self::TabRate | Self::TabHistory => Group::Inspector,
            Self::Rate1 | Self::Rate2 | Self::Rate3 | Self::Rate4 | Self::Rate5 | Self::NextQuestion | Self::PreviousQuestion => {
                Group::Rate
            }
            Self::PageAudit | Self::PageAgreement | Self::OpenSettings | Self::SwitchTheme | Self::KeySheet => Group::Window,
        }
    }

    /// Its key; `None` for the few that have none.
    pub const fn shortcut(self) -> Option<KeyboardShortcut> {
        const fn plain(key: Key) -> Option<KeyboardShortcut> {
            Some(KeyboardShortcut::new(Modifiers::NONE, key))
        }
        const fn command(key: Key) -> Option<KeyboardShortcut> {
            Some(KeyboardShortcut::new(Modifiers::COMMAND, key))
        }
        match self {
            Self::OpenProject => command(Key::O),
            Self::ImportData => command(Key::I),
            Self::MakeDemo => None,
            Self::ExportScores => command(Key::E),
            Self::ScoreAll => command(Key::R),
            Self::ScoreSelected => plain(Key::R),
            Self::CancelRuns => command(Key::Period),
            Self::NextEdit => plain(Key::ArrowDown),
            Self::PreviousEdit => plain(Key::ArrowUp),
            Self::NextEditLetter => plain(Key::J),
            Self::PreviousEditLetter => plain(Key::K),
            Self::NextUnrated => plain(Key::N),
            Self::NextProblem => plain(Key::P),
            Self::FindText => command(Key::F),
            Self::FitView => plain(Key::F),
            Self::OneToOne => plain(Key::Z),
            Self::ZoomIn => plain(Key::Plus),
            Self::ZoomOut => plain(Key::Minus),
            Self::ToggleSourceBoxes => plain(Key::B),
            Self::ToggleEditBoxes => plain(Key::E),
            Self::ToggleCandidates => plain(Key::C),
            Self::ToggleMask => plain(Key::M),
            Self::ToggleCrop => plain(Key::X),
            Self::ToggleChangeMap => plain(Key::D),
            Self::BarePictures => plain(Key::H),
            Self::TabScore => plain(Key::F2),
            Self::TabParse => plain(Key::F3),
            Self::TabRate => plain(Key::F4),
            Self::TabHistory => plain(Key::F5),
            Self::Rate1 => plain(Key::Num1),
            Self::Rate2 => plain(Key::Num2),
            Self::Rate3 => plain(Key::Num3),
            Self::Rate4 => plain(Key::Num4),
            Self::Rate5 => plain(Key::Num5),
            Self::NextQuestion => plain(Key::ArrowRight),
            Self::PreviousQuestion => plain(Key::ArrowLeft),
            Self::PageAudit => plain(Key::A),
            Self::PageAgreement => plain(Key::G),
            Self::OpenSettings => command(Key::Comma),
            Self::SwitchTheme => command(Key::T),
            Self::KeySheet => plain(Key::Questionmark),
        }
    }

    /// The key as text, for menus and the key sheet.
    pub fn shortcut_text(self, ctx: &egui::Context) -> Option<String> {
        self.shortcut().map(|shortcut| match shortcut.logical_key {
            // The symbols that people look for instead of the names of the keys.
            Key::Questionmark => "?".to_owned(),
            Key::Plus => "+".to_owned(),
            Key::Minus => "-".to_owned(),
            _ => ctx.format_shortcut(&shortcut),
        })
    }

    /// What it does, with its key.
    pub fn tooltip(self, ctx: &egui::Context) -> String {
        match self.shortcut_text(ctx) {
            Some(key) => format!("{}  [{key}]", self.words().1),
            None => self.words().1.to_owned(),
        }
    }

    /// The overlay that it switches.
    pub const fn overlay(self) -> Option<Overlay> {
        Some(match self {
            Self::ToggleSourceBoxes => Overlay::SourceBoxes,
            Self::ToggleEditBoxes => Overlay::EditBoxes,
            Self::ToggleCandidates => Overlay::Candidates,
            Self::ToggleMask => Overlay::Mask,
            Self::ToggleCrop => Overlay::Crop,
            Self::ToggleChangeMap => Overlay::ChangeMap,
            _ => return None,
        })
    }

    /// The answer that it gives.
    pub const fn answer(self) -> Option<u8> {
        Some(match self {
            Self::Rate1 => 1,
            Self::Rate2 => 2,
            Self::Rate3 => 3,
            Self::Rate4 => 4,
            Self::Rate5 => 5,
            _ => return None,
        })
    }

    /// The commands whose keys were pressed since the last frame; the keys are taken, so that nothing else reacts to them.
    ///
    /// Nothing while text is being typed (except keys with Ctrl, which no text field here uses) or while a dialog is open.
    pub fn pressed(ctx: &egui::Context, dialog_open: bool) -> Vec<Self> {
        let typing = ctx.text_edit_focused();
        let mut by_modifiers = Self::ALL;
        // Most modifiers first: otherwise R would swallow Ctrl+R.
        by_modifiers.sort_by_key(|command| std::cmp::Reverse(command.shortcut().map_or(0, |s| u8::from(s.modifiers.command))));
        ctx.input_mut(|input| {
            by_modifiers
                .into_iter()
                .filter(|command| {
                    let Some(shortcut) = command.shortcut() else { return false };
                    let blocked = (typing && !shortcut.modifiers.command) || (dialog_open && *command != Self::KeySheet);
                    !blocked && consume(input, shortcut)
                })
                .collect()
        })
    }
}

/// Takes a key press. Plus and `?` need Shift on many keyboards, so Shift does not matter for keys without modifiers.
fn consume(input: &mut egui::InputState, shortcut: KeyboardShortcut) -> bool {
    let KeyboardShortcut { modifiers, logical_key } = shortcut;
    input.consume_key(modifiers, logical_key)
        || (modifiers == Modifiers::NONE
            && matches!(logical_key, Key::Plus | Key::Questionmark)
            && input.consume_key(Modifiers::SHIFT, logical_key))
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn no_two_commands_share_a_key() {
        let mut taken: HashMap<KeyboardShortcut, Command> = HashMap::new();
        for command in Command::ALL {
            if let Some(shortcut) = command.shortcut()
                && let Some(other) = taken.insert(shortcut, command)
            {
                panic!("{command:?} and {other:?} both use {shortcut:?}");
            }
        }
    }

    #[test]
    fn the_list_holds_every_command_once() {
        let all: HashSet<Command> = Command::ALL.into_iter().collect();
        assert_eq!(all.len(), Command::ALL.len());
        assert_eq!(Command::KeySheet as usize + 1, Command::ALL.len());
    }
}
