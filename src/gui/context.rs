//! What panels get: everything to read, and one way to ask for a change.

use std::cell::RefCell;
use std::path::PathBuf;

use crate::domain::{Parse, TraceKind};
use crate::editor::{Compare, Filter, Overlay, Row, RowId, SortKey, Thresholds, View};

use super::command::Command;
use super::pictures::{Pictures, Wanted};
use super::rescore::AuditAction;
use super::settings::Settings;
use super::state::State;
use super::theme::{Palette, Theme};

/// A change that a panel asks for. It is applied at the beginning of the next frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Do(Command),
    Select(RowId),
    SetFilter(Filter),
    SortBy(SortKey),
    SetOpacity(Overlay, f32),
    SetView(View),
    SetCompare(Compare),
    /// Least confidence of the candidates that are drawn.
    SetThreshold(f32),
    /// Draw boxes as these thresholds would choose them; the metric's own end that.
    PreviewThresholds(Thresholds),
    /// The person points at a step of the trace. Holds for one frame.
    Highlight(TraceKind),
    /// The parse on the form, not saved yet.
    DraftParse(Parse),
    SaveParse,
    RevertParse,
    /// Ask the built-in rules again.
    ReadInstruction,
    MarkQuestion(usize),
    /// Question and answer, 1 to 5, or 0 for “can't judge”.
    Answer(usize, u8),
    DraftComment(String),
    SaveComment,
    /// A picture is on the screen and not loaded yet.
    Want(Wanted),
    /// Something of the selected edit could not be read and may be there now.
    ReadAgain,
    OpenPath(PathBuf),
    CancelRun(u64),
    SetSettings(Settings),
    /// Something on the agreement page.
    Agreement(super::agreement::AgreementAction),
    CloseDialog,
    /// What is not on disk: save it again, or lose it.
    Leave(super::leaving::LeaveAnswer),
    /// A path that is typed where the system has no file dialog.
    TypedPath(super::typed_path::PathAction),
    /// The words typed to find a command, and which of those found is marked.
    SeekCommand(String, usize),
    /// A command that was found.
    RunFound(Command),
    DismissToast(u64),
    DismissNotice,
    ToggleFailures,
    CopyText(String),
    /// Drawing and correcting regions.
    Tool(super::tool_actions::ToolAction),
    /// Something on the Rating page.
    People(super::people::PeopleAction),
    Audit(AuditAction),
    Columns(super::columns::ColumnsAction),
    /// List, fetch, check or stop fetching published networks.
    Networks(crate::engine::models::ModelsRequest),
}

/// Collects the actions of a frame. Sender and receiver share a thread, so a plain list does.
#[derive(Debug, Default)]
pub struct Sender(RefCell<Vec<Action>>);

impl Sender {
    /// Asks for a change.
    pub fn send(&self, action: Action) {
        self.0.borrow_mut().push(action);
    }

    /// The actions so far, in order.
    pub fn take(&self) -> Vec<Action> {
        self.0.take()
    }
}

/// The read-only view of everything that a panel may need.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub state: &'a State,
    pub settings: &'a Settings,
    pub pictures: &'a Pictures,
    pub theme: &'a Theme,
    pub sender: &'a Sender,
}

impl<'a> Context<'a> {
    /// Asks for a change.
    pub fn send(&self, action: Action) {
        self.sender.send(action);
    }

    /// The picture that is shown as a row's edit: its file, or its region pasted back on the source while that is looked at.
    pub fn edited_of<'r>(&self, row: &'r Row) -> &'r PathBuf
    where
        'a: 'r,
    {
        let state: &'r State = self.state;
        state.audit.stand_in(row.id).unwrap_or(&row.edited)
    }

    /// The colours in use.
    pub fn palette(&self, ui: &egui::Ui) -> &'a Palette {
        self.theme.palette(ui.ctx().theme())
    }
}
