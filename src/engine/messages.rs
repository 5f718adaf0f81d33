//! What front ends ask of the engine, and what it answers. Requests carry a token, so that a stale answer can be dropped.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::{Profile, Range, Score, Size};
use crate::nets::catalog::Role;
use crate::nets::preference::DevicePreference;
use crate::storage::{EditId, PictureReport};

use super::audit::{AuditEvent, AuditRequest};
use super::baselines::BaselineChoice;
use super::prompts::{PromptEvent, PromptRequest};

/// Names one run within this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunToken(pub u64);

/// Names one picture request within this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PictureToken(pub u64);

/// Which checkpoints to load.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum ModelSource {
    /// The small ones inside the program; they know only the demo's emoji scenes.
    #[default]
    Demo,
    /// A folder with the three folders `clip`, `sam` and `grounding-dino`.
    Folder(PathBuf),
    /// A set of `models/catalog.toml` (`light`, `paper`), once fetched.
    Catalog(String),
    /// Another source with one network from elsewhere, a folder or a file of weights.
    With { base: Box<ModelSource>, role: Role, path: PathBuf },
}

impl ModelSource {
    /// Reads the value of `--models`: `demo`, a set of the catalog, else a folder; after each of them may stand `,sam=PATH` and the like, which
    /// takes that network from there.
    pub fn from_argument(text: &str) -> Self {
        let with = text.rsplit_once(',').and_then(|(base, part)| {
            let (role, path) = part.split_once('=')?;
            let role = Role::METRIC.into_iter().find(|known| known.folder() == role)?;
            Some(Self::With { base: Box::new(Self::from_argument(base)), role, path: PathBuf::from(path) })
        });
        if let Some(with) = with {
            return with;
        }
        match text {
            "demo" => Self::Demo,
            set if super::models::sets().iter().any(|known| known == set) => Self::Catalog(set.to_owned()),
            folder => Self::Folder(PathBuf::from(folder)),
        }
    }

    /// What [`Self::from_argument`] reads back to the same networks, from whatever folder the program is started in.
    pub fn to_argument(&self) -> String {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string();
        match self {
            Self::Demo => "demo".to_owned(),
            Self::Folder(folder) => absolute(folder),
            Self::Catalog(name) => name.clone(),
            Self::With { base, role, path } => {
                // What is no file is the name of a published network.
                let path = if path.exists() { absolute(path) } else { path.display().to_string() };
                format!("{},{}={path}", base.to_argument(), role.folder())
            }
        }
    }

    /// Reads what a run calls its networks: as they display themselves, with the beginning of their fingerprint in brackets behind.
    pub fn from_words(words: &str) -> Self {
        let named = words.strip_suffix(')').and_then(|words| words.rsplit_once(" (")).map_or(words, |(named, _)| named);
        Self::from_display(named)
    }

    fn from_display(named: &str) -> Self {
        let with = named.rsplit_once(" with ").and_then(|(base, part)| {
            let (role, path) = part.split_once(" from ")?;
            let role = Role::METRIC.into_iter().find(|known| known.folder() == role)?;
            Some(Self::With { base: Box::new(Self::from_display(base)), role, path: PathBuf::from(path) })
        });
        with.unwrap_or_else(|| Self::from_argument(named))
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Demo => f.write_str("demo"),
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Catalog(name) => f.write_str(name),
            Self::With { base, role, path } => write!(f, "{base} with {} from {}", role.folder(), path.display()),
        }
    }
}

/// A run: which edits of a project are scored, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreRequest {
    pub project: PathBuf,
    /// `None`: every edit of the project.
    pub edits: Option<Vec<EditId>>,
    pub models: ModelSource,
    pub profile: Profile,
    pub device: DevicePreference,
    /// `None`: fitted on the edits of the run itself.
    pub range: Option<Range>,
    /// Score again what the last unfinished run already scored.
    pub rescore: bool,
    /// Which other metrics are computed beside the score.
    pub baselines: BaselineChoice,
}

/// Data to read into a project, which is made if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRequest {
    pub data: PathBuf,
    pub project: PathBuf,
}

/// A picture to decode for display.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PictureRequest {
    pub path: PathBuf,
    /// Longest side to shrink to (thumbnails); `None` for every pixel.
    pub max_side: Option<u32>,
}

/// An upright picture, ready to become a texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    pub size: Size,
    /// Size of the upright picture on disk; larger than `size` for thumbnails.
    pub full_size: Size,
    /// Row-major RGB, 3 bytes a pixel.
    pub rgb: Vec<u8>,
    /// What decoding had to do (alpha composited, 16 bits reduced, …), for the person.
    pub notes: Vec<String>,
}

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    Info,
    Warning,
    /// Something asked for was not done.
    Error,
}

/// What a front end may ask.
#[derive(Clone, Debug)]
pub enum Request {
    Score(RunToken, ScoreRequest),
    /// Points and a box for the segmenter; replaces a question that waits.
    Prompt(PromptRequest),
    /// About one edit: its score after a correction, how firm it is, its region pasted back.
    Audit(AuditRequest),
    /// Stop a run; what is scored stays.
    Cancel(RunToken),
    Picture(PictureToken, PictureRequest),
    /// What the canvas shows.
    Canvas(super::pictures::CanvasRequest),
    /// Drop picture requests that are still waiting (the person moved on); each is answered by `CanvasEvent::Dropped`.
    ForgetPictures,
    Import(ImportRequest),
    /// A table of ratings.
    Table(super::opinions::TableRequest),
    /// Are the pictures of a project where it says, and what they were when they were scored?
    LookForPictures {
        project: PathBuf,
    },
    /// The same of one edit's pictures, or of all; answered only where something is not as it was known.
    CheckPictures {
        project: PathBuf,
        edit: Option<crate::storage::EditId>,
    },
    /// Looks for missing pictures of a project in a folder and below it; answered by a message and [`Event::PicturesSeen`].
    LocatePictures {
        project: PathBuf,
        folder: PathBuf,
    },
    /// Write the demo project (pictures, manifest, ratings) into a folder and open it.
    MakeDemo {
        folder: PathBuf,
    },
    /// List, fetch or check published networks.
    Models(super::models::ModelsRequest),
    /// Read the seven fields out of an instruction with the built-in rules.
    Parse {
        edit: EditId,
        instruction: String,
    },
}

/// What the engine tells.
#[derive(Clone, Debug)]
pub enum Event {
    /// Networks are loaded and the device is chosen; scoring begins.
    RunStarted {
        run: RunToken,
        total: usize,
        already: usize,
        device: String,
        models: String,
    },
    Progress {
        run: RunToken,
        done: usize,
        failed: usize,
        total: usize,
        seconds: f64,
        current: String,
    },
    EditScored {
        run: RunToken,
        edit: EditId,
        score: Arc<Score>,
        seconds: f64,
    },
    EditFailed {
        run: RunToken,
        edit: EditId,
        label: String,
        why: String,
    },
    RunFinished {
        run: RunToken,
        done: usize,
        failed: usize,
        cancelled: bool,
        seconds: f64,
    },
    /// The run could not begin or go on.
    RunFailed {
        run: RunToken,
        why: String,
    },
    PictureReady {
        token: PictureToken,
        result: Result<Arc<Pixels>, String>,
    },
    Canvas(super::pictures::CanvasEvent),
    /// A project was made or extended and can be opened.
    ProjectReady {
        project: PathBuf,
        summary: String,
        problems: Vec<String>,
    },
    Parsed {
        edit: EditId,
        parse: crate::domain::Parse,
    },
    /// The pictures of a project were looked for.
    PicturesSeen {
        project: PathBuf,
        report: PictureReport,
    },
    /// These files hold other pictures than when the project last looked; their edits are scored anew.
    PicturesChanged(Vec<PathBuf>),
    /// About a question to the segmenter.
    Prompt(PromptEvent),
    /// About one edit.
    Audit(AuditEvent),
    Table(super::opinions::TableEvent),
    /// What became of published networks.
    Models(super::models::ModelsEvent),
    Message {
        level: Level,
        text: String,
    },
}
