//! Rating sessions in the window: what is known of them, what a rater can do, and the thread's side of it.
//!
//! [`PeopleState`] is one field of the window's state, [`PeopleAction`] one action, [`PeopleRequest`] and [`PeopleEvent`] one message each to and
//! from the project's thread. The keys of a running session ([`keys`]) are a table of their own, because they mean something else than on the
//! other pages.

mod history;
pub mod keys;
mod live;
mod notes;
mod results;
mod store;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::domain::{EditKey, Judgement, Preference, Protocol, Rubric, SessionSetup};
use crate::editor::{Given, LookClock, Progress, RowId, SessionRun, View};

pub use history::{judgement_lines, rating_words};
pub use live::{LiveAgreement, LiveLine, live_agreement};
pub use results::{DifferingTask, RaterLine, SessionResults, results};
pub use store::answer;

/// What the Rating page knows.
#[derive(Debug, Default)]
pub struct PeopleState {
    /// The sessions of the project; `None` until they are read.
    pub sessions: Option<Vec<SessionLine>>,
    /// The session that the rater is in.
    pub open: Option<OpenSession>,
    /// Names that the settings had while this project was open.
    pub names: BTreeSet<String>,
    /// The session that is being set up.
    pub draft: Option<SetupDraft>,
    /// Zoom and pan of the pictures on the page.
    pub view: View,
    /// The comment field takes the cursor in the next frame.
    pub focus_comment: bool,
    /// How long the selected edit was looked at on the Audit page: the Rate tab's answers have a time too.
    pub looked: LookClock,
    /// A session is on its way from the project; keys of the list would open another one.
    pub opening: bool,
    /// What the last answer lacked; its message goes when that is there.
    pub warned: Option<String>,
    /// Answers of the project's thread that are awaited.
    pub waiting: usize,
}

/// A session as the list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionLine {
    pub uid: String,
    pub setup: Arc<SessionSetup>,
    /// How far the rater of the settings is.
    pub progress: Progress,
    /// Whether that rater has said anything in it, or was shown the first task of a blind one.
    pub begun: bool,
    /// Whether names and scores are hidden from that rater.
    pub blind: bool,
    /// Everyone who has answered, by name.
    pub raters: Vec<String>,
    /// Other names that were used in this window and have begun it blind and not ended it.
    pub hidden_for: Vec<String>,
    /// Put away: listed below the others, and hides nothing.
    pub archived: bool,
}

impl SessionLine {
    /// Begun and not done.
    pub const fn is_underway(&self) -> bool {
        self.begun && self.progress.done < self.progress.total
    }

    /// Whether names of models and scores are hidden because of it.
    pub fn hides(&self) -> bool {
        !self.archived && (self.blind && self.is_underway() || !self.hidden_for.is_empty())
    }
}

/// A session that a rater is in.
#[derive(Debug)]
pub struct OpenSession {
    pub run: SessionRun,
    /// Everything that was said in it, by all raters.
    pub log: Vec<Judgement>,
    /// Rows of the edits that it asks about.
    pub rows: HashMap<EditKey, RowId>,
    /// How raters agree so far; only after an answer, and only where the setup allows it.
    pub live: Option<LiveAgreement>,
    /// What the session came to, of all raters; only at the end.
    pub results: Option<Result<SessionResults, String>>,
    /// Displayed position of the task whose pictures were last asked for ahead.
    pub preloaded: Option<u32>,
    /// Edits of which the project knows that their models and scores were shown.
    pub noted: HashSet<EditKey>,
}

impl OpenSession {
    /// Whether everything is answered.
    pub fn is_done(&self) -> bool {
        self.run.task().is_none()
    }

    /// The edits of the tasks that the end lists, in its order.
    pub fn differing_rows(&self) -> Vec<Option<RowId>> {
        let found = self.results.as_ref().and_then(|results| results.as_ref().ok());
        found.map(|found| found.differing.iter().map(|task| task.row).collect()).unwrap_or_default()
    }
}

impl PeopleState {
    /// Why the session of `uid` may not show models and scores now: another one is underway that hides them. A session that is `blind` itself
    /// does not stand in its own way.
    pub fn must_wait(&self, uid: &str, blind: bool) -> Option<String> {
        let hides = |line: &&SessionLine| line.hides() && !(blind && line.uid == uid && line.hidden_for.is_empty());
        let other = self.sessions.iter().flatten().find(hides)?;
        let whose = if other.hidden_for.is_empty() { String::new() } else { format!(" (begun by {})", other.hidden_for.join(", ")) };
        Some(format!(
            "Models and scores cannot be shown yet: that waits until the blind session “{}”{whose} is done or archived.",
            other.setup.name
        ))
    }

    /// The session that Enter goes on with: the newest that is underway, else the newest that is not begun. Sessions that have to wait for a
    /// blind one are passed over.
    pub fn first_open(&self) -> Option<&SessionLine> {
        let lines = || self.sessions.iter().flatten().rev().filter(|line| !line.archived && (line.blind || !self.hides_scores()));
        lines().find(|line| line.is_underway()).or_else(|| lines().find(|line| !line.begun))
    }

    /// Adds typed text to the comment of the open session.
    pub fn type_comment(&mut self, text: &str) {
        self.open.iter_mut().for_each(|open| open.run.comment.push_str(text));
    }

    /// Whether names of models and scores must not be shown anywhere: a blind session is underway, be it open or left for now.
    pub fn hides_scores(&self) -> bool {
        let open = self.open.as_ref();
        let is_open = |line: &&SessionLine| open.is_some_and(|open| open.run.uid() == line.uid);
        // What the list says of the open session is older than the session itself.
        open.is_some_and(|open| open.run.is_blind() && !open.is_done())
            || self.sessions.iter().flatten().any(|line| if is_open(&line) { !line.hidden_for.is_empty() } else { line.hides() })
    }
}

/// A setup that is being edited. Its edits are chosen when the session is made.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupDraft {
    pub setup: SessionSetup,
    /// Only the edits that the queue shows now.
    pub only_shown: bool,
    /// The question whose words and scale are open in the rubric's editor.
    pub open_question: Option<usize>,
    /// Tasks that it makes without repeats and checks.
    pub plain_tasks: usize,
    /// Edits that it asks about.
    pub edits: usize,
}

impl SetupDraft {
    /// A session as most people want it: the paper's rubric, blind, a tenth repeated.
    pub fn new(rater: &str, number: usize, seed: u32) -> Self {
        Self {
            setup: SessionSetup {
                name: format!("Session {number}"),
                protocol: Protocol::Rubric { rubric: Rubric::paper() },
                blind: true,
                live_agreement: false,
                repeat_percent: 10,
                checks: 0,
                seed,
                which: String::new(),
                edits: Vec::new(),
                created_by: rater.to_owned(),
                created_millis: 0,
            },
            only_shown: false,
            open_question: None,
            plain_tasks: 0,
            edits: 0,
        }
    }
}

/// What a rater asks for on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum PeopleAction {
    NewSetup,
    EditSetup(Box<SetupDraft>),
    CancelSetup,
    CreateSession,
    /// Goes on with the session of that uid.
    Open(String),
    /// Back to the list; the session stays where it is.
    Close,
    /// Puts the session of that uid away (`true`) or brings it back; nothing of it is deleted.
    Archive(String, bool),
    /// A digit key.
    Press(u32),
    /// Marks the next or previous question or edit.
    Step(isize),
    /// The arrows that point sideways: a ranked edit goes a rank down or up, elsewhere as [`Self::Step`].
    Sideways(isize),
    Mark(usize),
    Give(usize, Given),
    Rank(usize, u32),
    Vote(Preference),
    Submit,
    CannotJudge,
    /// The marked question of a rubric cannot be judged.
    CannotJudgeOne,
    Skip,
    Back,
    Comment(String),
    FocusComment,
    SetView(View),
    /// Shows an edit on the Audit page.
    OpenEdit(RowId),
    /// Ends the blind for this rater, and says so in the session's log.
    Unblind,
}

impl PeopleAction {
    /// Whether it says anything about the pictures, so that they have to be on the screen.
    pub const fn answers(&self) -> bool {
        matches!(
            self,
            Self::Press(_)
                | Self::Give(..)
                | Self::Rank(..)
                | Self::Vote(_)
                | Self::Submit
                | Self::CannotJudge
                | Self::CannotJudgeOne
                | Self::Sideways(_)
        )
    }
}

/// What the window asks the project's thread about sessions.
#[derive(Clone, Debug)]
pub enum PeopleRequest {
    List {
        rater: String,
        /// Other names that were used in the window.
        before: Vec<String>,
    },
    /// Makes a session about the edits of `rows`.
    Create { setup: SessionSetup, rows: Vec<RowId> },
    /// Opens a session for a rater; a blind one is begun by that.
    Open { uid: String, rater: String },
    /// Notes that models and scores of edits were shown to a rater.
    Saw { rater: String, edits: Vec<EditKey> },
    /// Puts a session away or brings it back. Those of `raters` who are in it blind end their blind, as its log says.
    Archive { uid: String, archived: bool, raters: Vec<String>, at_millis: i64 },
    /// Sums up what all raters of a session said.
    Results { uid: String },
    /// Keeps an answer; `live` asks for the agreement after it.
    Keep { judgement: Box<Judgement>, live: bool },
}

/// What the project's thread answers.
#[derive(Clone, Debug)]
pub enum PeopleEvent {
    Listed(Result<Vec<SessionLine>, String>),
    /// The uid of the new session.
    Created(Result<String, String>),
    Opened(Result<Box<OpenedSession>, String>),
    /// What a rater saw, or that a session is put away, is in the project.
    Noted(Result<(), String>),
    /// What the session of that uid came to.
    SummedUp {
        uid: String,
        result: Result<Box<SessionResults>, String>,
    },
    /// The judgement comes back, so that one that could not be kept is not lost.
    Kept {
        judgement: Box<Judgement>,
        result: Result<Option<LiveAgreement>, String>,
    },
}

/// A session as it was read.
#[derive(Clone, Debug)]
pub struct OpenedSession {
    pub setup: Arc<SessionSetup>,
    pub log: Vec<Judgement>,
    pub rows: HashMap<EditKey, RowId>,
    /// Edits of it whose models or scores the rater was shown outside of it.
    pub seen: HashSet<EditKey>,
}

/// The answer of a store that has no sessions.
pub fn no_sessions(request: PeopleRequest) -> PeopleEvent {
    let none = || "this store keeps no rating sessions".to_owned();
    match request {
        PeopleRequest::List { .. } => PeopleEvent::Listed(Ok(Vec::new())),
        PeopleRequest::Create { .. } => PeopleEvent::Created(Err(none())),
        PeopleRequest::Open { .. } => PeopleEvent::Opened(Err(none())),
        PeopleRequest::Saw { .. } | PeopleRequest::Archive { .. } => PeopleEvent::Noted(Err(none())),
        PeopleRequest::Results { uid } => PeopleEvent::SummedUp { uid, result: Err(none()) },
        PeopleRequest::Keep { judgement, .. } => PeopleEvent::Kept { judgement, result: Err(none()) },
    }
}
