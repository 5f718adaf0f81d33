//! Everything a person can do by menu, button or key: one enum is the registry of label, tooltip and shortcut.

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::editor::tools::Tool;
use crate::editor::{CANNOT_JUDGE, CompareMode, Overlay};
use crate::export::{MaskForm, MaskInk};

use super::exports::Out;
use super::key_press::KeyPress;

/// A thing to do that needs no further data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    OpenProject,
    ImportData,
    ImportRatings,
    MakeDemo,
    LocatePictures,
    ExportScores,
    ExportMasks,
    ExportMasksBlack,
    ExportCoco,
    ExportCocoPolygons,
    ExportPasteBack,
    ScoreAll,
    ScoreSelected,
    CancelRuns,
    NextEdit,
    PreviousEdit,
    NextEditLetter,
    PreviousEditLetter,
    NextUnrated,
    NextProblem,
    NextDisagreement,
    PreviousDisagreement,
    ClearPicked,
    FindText,
    FitView,
    OneToOne,
    ZoomIn,
    ZoomOut,
    CompareSideBySide,
    CompareWipe,
    CompareBlink,
    CompareOnion,
    CompareDifference,
    CompareSingle,
    CompareGrid,
    FlipPictures,
    ToggleSourceBoxes,
    ToggleEditBoxes,
    ToggleCandidates,
    ToggleMask,
    ToggleMaskOutline,
    ToggleIgnored,
    ToggleCrop,
    ToggleChangeMap,
    BarePictures,
    TabScore,
    TabParse,
    TabRegions,
    TabRate,
    TabHistory,
    ToolPan,
    ToolBox,
    ToolBrush,
    ToolEraser,
    ToolPolygon,
    ToolLasso,
    ToolPoints,
    BrushSmaller,
    BrushLarger,
    AddOrSubtract,
    FillHoles,
    RemoveSpecks,
    Dilate,
    Erode,
    InvertMask,
    CopyToEdit,
    NextProposal,
    NextRegion,
    PreviousRegion,
    RenameRegion,
    HideRegion,
    ChangeRole,
    BackToAutomatic,
    Undo,
    Redo,
    RedoAgain,
    Rate1,
    Rate2,
    Rate3,
    Rate4,
    Rate5,
    RateCannotJudge,
    NextQuestion,
    PreviousQuestion,
    ShowSensitivity,
    ShowPasteBack,
    SavePasteBack,
    SwitchPlot,
    WriteReport,
    ChooseGroundTruth,
    PageAudit,
    PageAgreement,
    PageRate,
    OpenSettings,
    OpenNetworks,
    SwitchTheme,
    FindCommand,
    KeySheet,
}

/// Where the key sheet lists a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Project,
    Queue,
    View,
    Compare,
    Overlays,
    Inspector,
    Tools,
    Rate,
    Window,
}

impl Group {
    /// All groups, in the order of the key sheet.
    pub const ALL: [Self; 9] =
        [Self::Queue, Self::Rate, Self::View, Self::Compare, Self::Overlays, Self::Tools, Self::Inspector, Self::Project, Self::Window];

    /// The heading.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Project => "Project and runs",
            Self::Queue => "Queue",
            Self::View => "View",
            Self::Compare => "Compare",
            Self::Overlays => "Overlays",
            Self::Inspector => "Inspector",
            Self::Tools => "Regions and tools",
            Self::Rate => "Rate",
            Self::Window => "Window",
        }
    }
}

/// What the registry knows of a command.
struct Entry {
    command: Command,
    group: Group,
    /// The words on buttons and in menus.
    label: &'static str,
    /// What it does, in a sentence.
    does: &'static str,
    key: Option<KeyboardShortcut>,
}

impl Entry {
    const fn new(command: Command, group: Group, label: &'static str, does: &'static str, key: Option<KeyboardShortcut>) -> Self {
        Self { command, group, label, does, key }
    }
}

const fn plain(key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(Modifiers::NONE, key))
}

const fn ctrl(key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(Modifiers::COMMAND, key))
}

const fn shift(key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(Modifiers::SHIFT, key))
}

/// One row for each command, in the order of the enum.
#[rustfmt::skip] // one command, one line
const TABLE: &[Entry] = &[
    Entry::new(Command::OpenProject, Group::Project, "Open project…", "Opens a project file (NAME.editscope).", ctrl(Key::O)),
    Entry::new(Command::ImportData, Group::Project, "Import data…", "Reads a manifest (JSONL, CSV, BPM's JSON) into a project.", ctrl(Key::I)),
    Entry::new(Command::ImportRatings, Group::Project, "Import ratings…", "Reads a table of ratings (CSV, TSV, JSON) into the open project; you choose its columns.", ctrl(Key::L)),
    Entry::new(Command::MakeDemo, Group::Project, "Make the demo", "Writes the demo project into a folder and opens it.", None),
    Entry::new(Command::LocatePictures, Group::Project, "Find missing pictures…", "Looks for the pictures that are not where they were in another folder and below it, by the end of their paths.", None),
    Entry::new(Command::ExportScores, Group::Project, "Export scores…", "Writes scores and ratings of all edits to a CSV or JSONL file.", ctrl(Key::E)),
    Entry::new(Command::ExportMasks, Group::Project, "Masks, white is the edit…", "Writes the edit region of each edit as a PNG into a folder: white is what diffusers and ComfyUI repaint.", None),
    Entry::new(Command::ExportMasksBlack, Group::Project, "Masks, black is the edit…", "Writes the edit region of each edit as a PNG into a folder, for tools that keep what is white.", None),
    Entry::new(Command::ExportCoco, Group::Project, "COCO, masks as run lengths…", "Writes boxes and masks of all pictures as COCO annotations; run lengths are exact for every mask.", None),
    Entry::new(Command::ExportCocoPolygons, Group::Project, "COCO, masks as polygons…", "Writes boxes and masks of all pictures as COCO annotations; masks with holes keep run lengths.", None),
    Entry::new(Command::ExportPasteBack, Group::Project, "Pictures pasted back…", "Writes the region of each edit on its source as a PNG into a folder, with the feather of the Paste back section, and a manifest that can be scored.", None),
    Entry::new(Command::ScoreAll, Group::Project, "Score all", "Scores every edit of the project; what is scored already is kept.", ctrl(Key::R)),
    Entry::new(Command::ScoreSelected, Group::Project, "Score this edit", "Scores the selected edit again.", plain(Key::R)),
    Entry::new(Command::CancelRuns, Group::Project, "Cancel", "Stops the running jobs; what is scored stays.", ctrl(Key::Period)),
    Entry::new(Command::NextEdit, Group::Queue, "Next edit", "Selects the next edit of the queue.", plain(Key::ArrowDown)),
    Entry::new(Command::PreviousEdit, Group::Queue, "Previous edit", "Selects the previous edit of the queue.", plain(Key::ArrowUp)),
    Entry::new(Command::NextEditLetter, Group::Queue, "Next edit", "Selects the next edit of the queue.", plain(Key::J)),
    Entry::new(Command::PreviousEditLetter, Group::Queue, "Previous edit", "Selects the previous edit of the queue.", plain(Key::K)),
    Entry::new(Command::NextUnrated, Group::Queue, "Next unrated", "Selects the next edit that nobody has rated.", plain(Key::N)),
    Entry::new(Command::NextProblem, Group::Queue, "Next problem", "Selects the next edit with a flag.", plain(Key::P)),
    Entry::new(Command::NextDisagreement, Group::Queue, "Next disagreement", "Selects the edit on which the metric of the Agreement page and people differ most, then the next one; here the plot marks it.", ctrl(Key::G)),
    Entry::new(Command::PreviousDisagreement, Group::Queue, "Previous disagreement", "Goes back to the edit on which metric and people differ more.", Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::G))),
    Entry::new(Command::ClearPicked, Group::Queue, "Show picked no longer", "Brings back the edits that a rectangle in the plot left out of the queue.", ctrl(Key::B)),
    Entry::new(Command::FindText, Group::Queue, "Search", "Puts the cursor into the search field of the queue.", ctrl(Key::F)),
    Entry::new(Command::FitView, Group::View, "Fit", "Shows the whole picture; so does a double click.", plain(Key::F)),
    Entry::new(Command::OneToOne, Group::View, "1:1", "Shows one picture pixel as one screen pixel.", plain(Key::Z)),
    Entry::new(Command::ZoomIn, Group::View, "Zoom in", "Zooms into the middle; the wheel zooms to the cursor.", plain(Key::Plus)),
    Entry::new(Command::ZoomOut, Group::View, "Zoom out", "Zooms out of the middle; the wheel zooms from the cursor.", plain(Key::Minus)),
    Entry::new(Command::CompareSideBySide, Group::Compare, CompareMode::SideBySide.label(), CompareMode::SideBySide.meaning(), plain(Key::S)),
    Entry::new(Command::CompareWipe, Group::Compare, CompareMode::Wipe.label(), CompareMode::Wipe.meaning(), plain(Key::W)),
    Entry::new(Command::CompareBlink, Group::Compare, CompareMode::Blink.label(), CompareMode::Blink.meaning(), plain(Key::L)),
    Entry::new(Command::CompareOnion, Group::Compare, CompareMode::Onion.label(), CompareMode::Onion.meaning(), plain(Key::O)),
    Entry::new(Command::CompareDifference, Group::Compare, CompareMode::Difference.label(), CompareMode::Difference.meaning(), plain(Key::I)),
    Entry::new(Command::CompareSingle, Group::Compare, CompareMode::Single.label(), CompareMode::Single.meaning(), plain(Key::Y)),
    Entry::new(Command::CompareGrid, Group::Compare, CompareMode::Grid.label(), CompareMode::Grid.meaning(), plain(Key::T)),
    Entry::new(Command::FlipPictures, Group::Compare, "Flip (hold)", "While it is held: the source in place of the edit, in every mode.", plain(Key::Space)),
    Entry::new(Command::ToggleSourceBoxes, Group::Overlays, Overlay::SourceBoxes.label(), Overlay::SourceBoxes.meaning(), plain(Key::B)),
    Entry::new(Command::ToggleEditBoxes, Group::Overlays, Overlay::EditBoxes.label(), Overlay::EditBoxes.meaning(), plain(Key::E)),
    Entry::new(Command::ToggleCandidates, Group::Overlays, Overlay::Candidates.label(), Overlay::Candidates.meaning(), plain(Key::C)),
    Entry::new(Command::ToggleMask, Group::Overlays, Overlay::Mask.label(), Overlay::Mask.meaning(), plain(Key::M)),
    Entry::new(Command::ToggleMaskOutline, Group::Overlays, Overlay::MaskOutline.label(), Overlay::MaskOutline.meaning(), plain(Key::U)),
    Entry::new(Command::ToggleIgnored, Group::Overlays, Overlay::Ignored.label(), Overlay::Ignored.meaning(), plain(Key::Q)),
    Entry::new(Command::ToggleCrop, Group::Overlays, Overlay::Crop.label(), Overlay::Crop.meaning(), plain(Key::X)),
    Entry::new(Command::ToggleChangeMap, Group::Overlays, Overlay::ChangeMap.label(), Overlay::ChangeMap.meaning(), plain(Key::D)),
    Entry::new(Command::BarePictures, Group::Overlays, "Bare pictures", "Hides all overlays, and shows them again.", plain(Key::H)),
    Entry::new(Command::TabScore, Group::Inspector, "Score", "Parts, overall and the trace.", plain(Key::F2)),
    Entry::new(Command::TabParse, Group::Inspector, "Parse", "The seven fields read out of the instruction.", plain(Key::F3)),
    Entry::new(Command::TabRegions, Group::Inspector, "Regions", "Boxes and masks: what counts, who made it, and how to put it right.", plain(Key::F6)),
    Entry::new(Command::TabRate, Group::Inspector, "Rate", "Five questions, answered 1 to 5.", plain(Key::F4)),
    Entry::new(Command::TabHistory, Group::Inspector, "History", "Who changed what, and when.", plain(Key::F5)),
    Entry::new(Command::ToolPan, Group::Tools, Tool::Pan.label(), Tool::Pan.does(), shift(Key::V)),
    Entry::new(Command::ToolBox, Group::Tools, Tool::Box.label(), Tool::Box.does(), shift(Key::B)),
    Entry::new(Command::ToolBrush, Group::Tools, Tool::Brush.label(), Tool::Brush.does(), shift(Key::P)),
    Entry::new(Command::ToolEraser, Group::Tools, Tool::Eraser.label(), Tool::Eraser.does(), shift(Key::E)),
    Entry::new(Command::ToolPolygon, Group::Tools, Tool::Polygon.label(), Tool::Polygon.does(), shift(Key::G)),
    Entry::new(Command::ToolLasso, Group::Tools, Tool::Lasso.label(), Tool::Lasso.does(), shift(Key::L)),
    Entry::new(Command::ToolPoints, Group::Tools, Tool::Points.label(), Tool::Points.does(), shift(Key::S)),
    Entry::new(Command::BrushSmaller, Group::Tools, "Smaller brush", "Makes brush and eraser smaller; so does Shift and the wheel.", plain(Key::OpenBracket)),
    Entry::new(Command::BrushLarger, Group::Tools, "Larger brush", "Makes brush and eraser larger; so does Shift and the wheel.", plain(Key::CloseBracket)),
    Entry::new(Command::AddOrSubtract, Group::Tools, "Take away", "Polygon, lasso and segmenter take away from the mask instead of adding to it.", shift(Key::X)),
    Entry::new(Command::FillHoles, Group::Tools, "Fill holes", "Adds the holes of the mask that it encloses on all sides.", shift(Key::F)),
    Entry::new(Command::RemoveSpecks, Group::Tools, "Remove specks", "Removes parts of the mask with fewer pixels than the number beside it.", shift(Key::K)),
    Entry::new(Command::Dilate, Group::Tools, "Dilate", "Grows the mask by the number of pixels beside it (a disc).", shift(Key::D)),
    Entry::new(Command::Erode, Group::Tools, "Erode", "Shrinks the mask by the number of pixels beside it (a disc); the picture's border does not shrink it.", shift(Key::C)),
    Entry::new(Command::InvertMask, Group::Tools, "Invert", "Swaps what belongs to the mask and what does not.", shift(Key::I)),
    Entry::new(Command::CopyToEdit, Group::Tools, "Copy to edit", "Copies the selected box of the source to the edit, stretched as the pictures are.", shift(Key::T)),
    Entry::new(Command::NextProposal, Group::Tools, "Next proposal", "Shows the segmenter's next alternative; a single point has several.", shift(Key::N)),
    Entry::new(Command::NextRegion, Group::Tools, "Next region", "Selects the next region of the list.", plain(Key::Period)),
    Entry::new(Command::PreviousRegion, Group::Tools, "Previous region", "Selects the region before it.", plain(Key::Comma)),
    Entry::new(Command::RenameRegion, Group::Tools, "Rename", "Puts the cursor into the name of the selected region; Enter keeps it.", shift(Key::R)),
    Entry::new(Command::HideRegion, Group::Tools, "Hide or show", "Hides the selected region on the canvas, or shows it; it counts all the same.", shift(Key::H)),
    Entry::new(Command::ChangeRole, Group::Tools, "Change role", "Gives the selected region the next role of its side: edited, edit mask, ignored.", shift(Key::O)),
    Entry::new(Command::BackToAutomatic, Group::Tools, "Back to automatic", "Drops the person's regions of the selected one's role: what the networks found counts again.", shift(Key::A)),
    Entry::new(Command::Undo, Group::Tools, "Undo", "Takes back the last change of this edit's regions, also after a restart.", ctrl(Key::Z)),
    Entry::new(Command::Redo, Group::Tools, "Redo", "Makes the undone change again.", Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z))),
    Entry::new(Command::RedoAgain, Group::Tools, "Redo", "Makes the undone change again.", ctrl(Key::Y)),
    Entry::new(Command::Rate1, Group::Rate, "Answer 1", "Answers the marked question with 1 (bad).", plain(Key::Num1)),
    Entry::new(Command::Rate2, Group::Rate, "Answer 2", "Answers the marked question with 2.", plain(Key::Num2)),
    Entry::new(Command::Rate3, Group::Rate, "Answer 3", "Answers the marked question with 3.", plain(Key::Num3)),
    Entry::new(Command::Rate4, Group::Rate, "Answer 4", "Answers the marked question with 4.", plain(Key::Num4)),
    Entry::new(Command::Rate5, Group::Rate, "Answer 5", "Answers the marked question with 5 (good).", plain(Key::Num5)),
    Entry::new(Command::RateCannotJudge, Group::Rate, "Can’t judge", "Says that the marked question cannot be judged.", plain(Key::Num0)),
    Entry::new(Command::NextQuestion, Group::Rate, "Next question", "Marks the next question; Tab goes there too.", plain(Key::ArrowRight)),
    Entry::new(Command::PreviousQuestion, Group::Rate, "Previous question", "Marks the previous question.", plain(Key::ArrowLeft)),
    Entry::new(Command::ShowSensitivity, Group::Inspector, "Sensitivity", "Shows how the score moves with the box threshold and with the mask.", plain(Key::F7)),
    Entry::new(Command::ShowPasteBack, Group::Inspector, "Paste back", "Shows only the region of the edit, pasted back on the source, in place of the edit; and the edit again.", plain(Key::F8)),
    Entry::new(Command::SavePasteBack, Group::Inspector, "Save pasted back…", "Saves the pasted-back picture that is shown as a PNG.", ctrl(Key::S)),
    Entry::new(Command::SwitchPlot, Group::Window, "Scatter or residuals", "On the Agreement page: changes between the metric against people and its distance from the line.", ctrl(Key::D)),
    Entry::new(Command::WriteReport, Group::Project, "Write report…", "Writes what the Agreement page shows as a web page with pictures, a CSV or a LaTeX table.", ctrl(Key::P)),
    Entry::new(Command::ChooseGroundTruth, Group::Project, "Ground truth…", "Reads a table of edits that are known to be good (item, model, role) for the Agreement page.", None),
    Entry::new(Command::PageAudit, Group::Window, "Audit", "Pictures, scores and ratings.", plain(Key::A)),
    Entry::new(Command::PageAgreement, Group::Window, "Agreement", "How the numbers agree with people.", plain(Key::G)),
    Entry::new(Command::PageRate, Group::Window, "Rating", "Rating sessions: rubric, pairwise or ranking, blind if you wish.", plain(Key::V)),
    Entry::new(Command::OpenSettings, Group::Window, "Settings", "Device, networks, profile, range and rater name.", ctrl(Key::Comma)),
    Entry::new(Command::OpenNetworks, Group::Window, "Published networks…", "Lists published checkpoints with their licences, fetches and checks them.", ctrl(Key::M)),
    Entry::new(Command::SwitchTheme, Group::Window, "Light or dark", "Changes between the light and the dark theme.", ctrl(Key::T)),
    Entry::new(Command::FindCommand, Group::Window, "Find a command…", "Lists everything that can be done; type a few letters and press Enter.", ctrl(Key::K)),
    Entry::new(Command::KeySheet, Group::Window, "Keys", "Shows all keys.", plain(Key::Questionmark)),
];

/// The symbols that people look for instead of the names of the keys.
const SYMBOLS: [(Key, &str); 7] = [
    (Key::Questionmark, "?"),
    (Key::Plus, "+"),
    (Key::Minus, "-"),
    (Key::Period, "."),
    (Key::Comma, ","),
    (Key::OpenBracket, "["),
    (Key::CloseBracket, "]"),
];

impl Command {
    /// All commands, in the order of the key sheet.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|entry| entry.command)
    }

    /// Its row of the table.
    const fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    /// The words on its button.
    pub const fn label(self) -> &'static str {
        self.entry().label
    }

    /// Where the key sheet lists it.
    pub const fn group(self) -> Group {
        self.entry().group
    }

    /// What it does, in a sentence.
    pub const fn does(self) -> &'static str {
        self.entry().does
    }

    /// Whether every one of `words` (lower case) occurs in its label, its group or what it does.
    pub fn fits(self, words: &[String]) -> bool {
        let text = format!("{}\n{}\n{}", self.label(), self.group().label(), self.does()).to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    }

    /// Its key; `None` for the few that have none.
    pub const fn shortcut(self) -> Option<KeyboardShortcut> {
        self.entry().key
    }

    /// The key as text, for menus and the key sheet.
    pub fn shortcut_text(self, ctx: &egui::Context) -> Option<String> {
        self.shortcut().map(|shortcut| {
            let text = ctx.format_shortcut(&shortcut);
            match SYMBOLS.into_iter().find(|(key, _)| *key == shortcut.logical_key) {
                // On some keyboards it takes Shift to type them; the symbol says enough.
                Some((Key::Questionmark | Key::Plus, symbol)) => symbol.to_owned(),
                Some((key, symbol)) => text.replace(key.name(), symbol),
                None => text,
            }
        })
    }

    /// What it does, with its key.
    pub fn tooltip(self, ctx: &egui::Context) -> String {
        match self.shortcut_text(ctx) {
            Some(key) => format!("{}  [{key}]", self.entry().does),
            None => self.entry().does.to_owned(),
        }
    }

    /// Whether a text field has its own use of the key: undo in the text is not undo of the mask.
    const fn is_for_text_too(self) -> bool {
        matches!(self, Self::Undo | Self::Redo | Self::RedoAgain)
    }

    /// The overlay that it switches.
    pub const fn overlay(self) -> Option<Overlay> {
        Some(match self {
            Self::ToggleSourceBoxes => Overlay::SourceBoxes,
            Self::ToggleEditBoxes => Overlay::EditBoxes,
            Self::ToggleCandidates => Overlay::Candidates,
            Self::ToggleMask => Overlay::Mask,
            Self::ToggleMaskOutline => Overlay::MaskOutline,
            Self::ToggleIgnored => Overlay::Ignored,
            Self::ToggleCrop => Overlay::Crop,
            Self::ToggleChangeMap => Overlay::ChangeMap,
            _ => return None,
        })
    }

    /// What it exports, with a pasted edge of `feather` pixels.
    pub(super) fn regions_out(self, feather: f32) -> Option<Out> {
        Some(match self {
            Self::ExportMasks => Out::Masks(MaskInk::White),
            Self::ExportMasksBlack => Out::Masks(MaskInk::Black),
            Self::ExportCoco => Out::Coco(MaskForm::Rle),
            Self::ExportCocoPolygons => Out::Coco(MaskForm::Polygons),
            // The slider gives whole pixels within 0 to 1000.
            Self::ExportPasteBack => Out::PasteBack { feather: feather.round() as u16 },
            _ => return None,
        })
    }

    /// The compare mode that it goes to.
    pub const fn compare_mode(self) -> Option<CompareMode> {
        Some(match self {
            Self::CompareSideBySide => CompareMode::SideBySide,
            Self::CompareWipe => CompareMode::Wipe,
            Self::CompareBlink => CompareMode::Blink,
            Self::CompareOnion => CompareMode::Onion,
            Self::CompareDifference => CompareMode::Difference,
            Self::CompareSingle => CompareMode::Single,
            Self::CompareGrid => CompareMode::Grid,
            _ => return None,
        })
    }

    /// Whether the flip key is held: not while text is typed or a button has the focus (which the same key presses), nor in a dialog.
    pub fn flip_held(ctx: &egui::Context, dialog_open: bool) -> bool {
        let focused = ctx.memory(|memory| memory.focused().is_some());
        !focused && !dialog_open && ctx.input(|input| input.key_down(Key::Space))
    }

    /// The answer that it gives: 1 to 5, or [`CANNOT_JUDGE`].
    pub const fn answer(self) -> Option<u8> {
        Some(match self {
            Self::Rate1 => 1,
            Self::Rate2 => 2,
            Self::Rate3 => 3,
            Self::Rate4 => 4,
            Self::Rate5 => 5,
            Self::RateCannotJudge => CANNOT_JUDGE,
            _ => return None,
        })
    }

    /// The command of a key. Of several that fit, the one with most modifiers: R must not swallow Ctrl+R, nor Ctrl+Z Ctrl+Shift+Z.
    ///
    /// None while text is being typed (except keys with Ctrl that a text field has no use for) or while a dialog is open.
    pub fn of_key(press: &KeyPress, dialog_open: bool) -> Option<Self> {
        let fits = |command: Self| {
            // What is held is not pressed: see `flip_held`.
            let KeyboardShortcut { modifiers, logical_key } = command.shortcut().filter(|_| command != Self::FlipPictures)?;
            let blocked = (press.typing && (!modifiers.command || command.is_for_text_too())) || (dialog_open && command != Self::KeySheet);
            let held = u8::from(modifiers.command) + u8::from(modifiers.shift);
            (!blocked && press.is(modifiers, logical_key)).then_some((held, command))
        };
        Self::all().filter_map(fits).max_by_key(|(held, _)| *held).map(|(_, command)| command)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn no_two_commands_share_a_key() {
        let mut taken: HashMap<KeyboardShortcut, Command> = HashMap::new();
        for command in Command::all() {
            if let Some(shortcut) = command.shortcut()
                && let Some(other) = taken.insert(shortcut, command)
            {
                panic!("{command:?} and {other:?} both use {shortcut:?}");
            }
        }
    }

    #[test]
    fn keys_are_called_by_their_symbols() {
        let ctx = egui::Context::default();
        let text = |command: Command| command.shortcut_text(&ctx).unwrap_or_default();
        assert_eq!([text(Command::BrushSmaller), text(Command::CancelRuns), text(Command::NextRegion)], ["[", "Ctrl+.", "."]);
        for command in Command::all() {
            let text = text(command);
            assert!(!["Bracket", "Period", "Comma", "Minus", "Question"].iter().any(|name| text.contains(name)), "{text}");
        }
    }

    #[test]
    fn commands_are_found_by_the_words_of_their_label_and_sentence() {
        let found = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
            Command::all().filter(|command| command.fits(&words)).collect::<Vec<_>>()
        };
        assert_eq!(found("paste SAVE"), [Command::SavePasteBack]);
        assert!(found("threshold").contains(&Command::ShowSensitivity), "by what it does");
        assert_eq!(found("no such thing"), []);
        assert_eq!(found("").len(), TABLE.len());
    }

    #[test]
    fn the_table_has_a_row_for_each_command_in_the_order_of_the_enum() {
        for (index, command) in Command::all().enumerate() {
            assert_eq!(command as usize, index, "{command:?}");
        }
        assert_eq!(Command::KeySheet as usize + 1, TABLE.len(), "KeySheet stays the last");
    }
}
