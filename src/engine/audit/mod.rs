//! What the window asks about one edit: its score after a correction, how firm the score is, and the region pasted back.
//!
//! Everything here is answered twice at most. First at once, on a thread of its own, from what is in the project's cache: size,
//! position and preserve follow a drawn mask within milliseconds. What waits for a network comes from the inference thread in the
//! background; the newest request of an edit wins, older ones are dropped.

mod finish;
mod pair;
mod thread;

pub use finish::Newest;
pub(super) use finish::{Background, finish};
pub(super) use thread::serve;

use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::{Profile, Score};
use crate::metrics::bpm::{Partial, sensitivity::SensitivityPoint};
use crate::nets::preference::DevicePreference;
use crate::storage::EditId;

use super::messages::ModelSource;

/// Which edit is asked about. What is missing is computed with the networks that scored it; `models` are those that the person chose, which
/// count only where nothing is scored yet (or where they are the same).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Grows with each request of this process; of an edit only the newest is answered.
    pub ticket: u64,
    pub project: PathBuf,
    pub edit: EditId,
    pub profile: Profile,
    pub models: ModelSource,
    pub device: DevicePreference,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditRequest {
    /// Regions or parse were corrected (and kept in the project): what is the score now?
    Rescore(Ask),
    /// How does the score depend on the box threshold and on the mask? `all`: ask the networks for what is not known.
    Sensitivity { ask: Ask, all: bool },
    /// The region of the edit on the source; its edge soft over `feather` pixels of the source. Scored like any edit.
    PasteBack { ask: Ask, feather: f32 },
}

/// What is answered.
#[derive(Clone, Debug)]
pub enum AuditEvent {
    /// The score as far as it is known. When nothing is pending and `kept` is set it is in the project.
    Rescored {
        ticket: u64,
        edit: EditId,
        partial: Arc<Partial>,
        /// From request to answer.
        millis: f64,
        kept: bool,
    },
    Sensitivity {
        ticket: u64,
        edit: EditId,
        result: Result<Arc<Sensitivity>, String>,
    },
    /// Other metrics of the edit were measured anew after a correction; they are in the project.
    Measured {
        ticket: u64,
        edit: EditId,
    },
    PastedBack {
        ticket: u64,
        edit: EditId,
        result: Result<Arc<PastedBack>, String>,
    },
    /// The score could not be computed.
    Failed {
        ticket: u64,
        edit: EditId,
        why: String,
    },
}

/// How the parts of a score depend on what nobody argues for.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    pub profile: Profile,
    /// The box threshold of the score.
    pub box_threshold: f64,
    /// Empty for edits of the whole picture, which have no boxes.
    pub by_box_threshold: Vec<SensitivityPoint>,
    /// Empty without a mask.
    pub by_growth: Vec<SensitivityPoint>,
}

impl Sensitivity {
    /// How many thresholds wait for a network.
    pub fn pending(&self) -> usize {
        self.by_box_threshold.iter().filter(|point| !point.pending.is_none()).count()
    }
}

/// An edit's region on its source.
#[derive(Clone, Debug, PartialEq)]
pub struct PastedBack {
    /// A PNG outside the project, made anew each time.
    pub picture: PathBuf,
    /// Pixels of the source over which the edge is soft.
    pub feather: f32,
    /// `None` while it is being computed; or why there is none.
    pub score: Option<Result<Arc<Score>, String>>,
}
