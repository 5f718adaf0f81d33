//! The agreement page: what is shown, what was found, and what a person can ask for.
//!
//! Everything is computed by [`crate::stats::comparison::compare_all`] on what [`crate::engine::evidence`] gathers, as `agree PROJECT`
//! does, so that page, command line and report give the same numbers. [`worker`] does it on threads of its own; a frame only draws.

mod apply;
pub mod cloud;
mod kept;
mod worker;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::Zone;
use crate::editor::RowId;
use crate::engine::evidence::Gathered;
use crate::stats::Bootstrap;
use crate::stats::comparison::{BY_SCOPE, Comparison, OVERALL, Plan, Ties};

pub use cloud::{Cloud, CloudPoint};
pub use kept::{AgreementEvent, AgreementRequest, Kept, KeptList, SavedLine, answer, nothing_kept};
pub use worker::Worker;

/// The tables beside the plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AgreementTab {
    #[default]
    Metrics,
    Pairs,
    Splits,
    Models,
    People,
    Weights,
    Profiles,
    GroundTruth,
    Saved,
}

impl AgreementTab {
    /// All tabs, in the order they are offered.
    pub const ALL: [Self; 9] = [
        Self::Metrics,
        Self::Pairs,
        Self::Splits,
        Self::Models,
        Self::People,
        Self::Weights,
        Self::Profiles,
        Self::GroundTruth,
        Self::Saved,
    ];

    /// The word on it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Metrics => "Metrics",
            Self::Pairs => "Pairs",
            Self::Splits => "Splits",
            Self::Models => "Models",
            Self::People => "Raters",
            Self::Weights => "Weights",
            Self::Profiles => "Profiles",
            Self::GroundTruth => "Ground truth",
            Self::Saved => "Saved",
        }
    }

    /// What is on it.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Metrics => "Every metric against people, with intervals, beside published tables.",
            Self::Pairs => "The chosen metric, pair of models by pair of models.",
            Self::Splits => "The chosen metric by edit type, model, size of region, or flag.",
            Self::Models => "Models against each other, by people and by each metric: win rates, strengths, Elo.",
            Self::People => "How raters agree with each other, and the habits of each.",
            Self::Weights => "The weight α between the parts, over a sweep, with a held-out half.",
            Self::Profiles => "Which items change the order of their edits between the profiles of the metric.",
            Self::GroundTruth => "How often each metric prefers the edit that is known to be good.",
            Self::Saved => "Comparisons and ranges kept by name; reports.",
        }
    }
}

/// What the plot shows of the chosen metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PlotKind {
    /// The metric against people.
    #[default]
    Scatter,
    /// How far the metric lies from the straight line through the scatter.
    Residuals,
}

/// What the page shows of what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementView {
    /// A metric's name as tables have it: `overall`, a part, or a column (`ssim.outside`).
    pub metric: String,
    /// What people were asked.
    pub criterion: String,
    /// The part of the picture that other metrics are shown for.
    pub zone: Zone,
    pub plot: PlotKind,
    pub tab: AgreementTab,
    /// Only this model's edits are drawn.
    pub only_model: Option<String>,
}

impl Default for AgreementView {
    fn default() -> Self {
        Self {
            metric: OVERALL.to_owned(),
            criterion: OVERALL.to_owned(),
            zone: Zone::Whole,
            plot: PlotKind::default(),
            tab: AgreementTab::default(),
            only_model: None,
        }
    }
}

/// How numbers are made; a change computes them anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    pub ties: Ties,
    /// What the edits are split by ([`crate::stats::comparison::SPLITS`]).
    pub split: String,
    /// Resamples of the bootstrap; `None` lets the number of edits decide ([`Self::resamples_for`]).
    pub resamples: Option<usize>,
    /// The share of resamples inside an interval.
    pub level: f64,
    /// Of the bootstrap, and of the halves of the held-out test.
    pub seed: u64,
    /// The width of an interval that "items needed" aims at.
    pub width: f64,
    /// For the area under the curve an edit is good from this human mean on; `None`: above the median.
    pub good_from: Option<f64>,
    /// The metric that is held against each of the others; `None`: all pairs, or with many metrics the first.
    pub first: Option<String>,
    /// A table of edits that are known to be good.
    pub ground_truth: Option<PathBuf>,
}

impl Default for Choices {
    fn default() -> Self {
        let plan = Plan::default();
        Self {
            ties: plan.ties,
            split: BY_SCOPE.to_owned(),
            resamples: None,
            level: plan.bootstrap.level,
            seed: plan.bootstrap.seed,
            width: plan.width,
            good_from: plan.good_from,
            first: plan.first,
            ground_truth: None,
        }
    }
}

/// From this many edits on, fewer resamples are drawn unless somebody asks for more: they would take minutes.
const MANY: usize = 10_000;
const FEWER: usize = 200;

impl Choices {
    /// Resamples for so many edits.
    pub fn resamples_for(&self, edits: usize) -> usize {
        let usual = if edits < MANY { Bootstrap::default().resamples } else { FEWER };
        self.resamples.unwrap_or(usual)
    }

    /// The plan for so many edits; `agree` with the same options has the same.
    pub fn plan(&self, edits: usize) -> Plan {
        Plan {
            ties: self.ties,
            bootstrap: Bootstrap { resamples: self.resamples_for(edits), level: self.level, seed: self.seed },
            splits: vec![self.split.clone()],
            width: self.width,
            good_from: self.good_from,
            split_seed: self.seed,
            first: self.first.clone(),
            ..Plan::default()
        }
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Work {
    #[default]
    Nothing,
    /// Reading scores and ratings.
    Gathering,
    /// Everything but intervals.
    Comparing,
    /// Intervals, which take longest.
    Intervals,
}

impl Work {
    /// In words; empty when nothing is done.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Gathering => "Reading scores and ratings…",
            Self::Comparing => "Comparing…",
            Self::Intervals => "Drawing intervals…",
        }
    }
}

/// What the agreement page knows.
#[derive(Debug, Default)]
pub struct AgreementState {
    pub view: AgreementView,
    pub choices: Choices,
    /// Everything that is compared.
    pub gathered: Option<Arc<Gathered>>,
    /// The newest result; while [`Self::work`] goes on it may be one of before.
    pub comparison: Option<Arc<Comparison>>,
    /// The points of the plot.
    pub cloud: Option<Arc<Cloud>>,
    /// Other points are on their way.
    pub placing: bool,
    pub work: Work,
    /// Why there is nothing to show.
    pub failed: Option<String>,
    /// The edit that was last reached by stepping through disagreements.
    pub stepped: Option<RowId>,
    /// Comparisons and ranges kept by name.
    pub kept: Kept,
}

impl AgreementState {
    /// The comparison that is shown: the one that was opened, or the newest.
    pub fn shown(&self) -> Option<&Arc<Comparison>> {
        self.kept.opened.as_ref().or(self.comparison.as_ref())
    }

    /// Whether something is on its way.
    pub const fn is_working(&self) -> bool {
        !matches!(self.work, Work::Nothing) || self.placing || self.kept.waiting > 0
    }
}

/// What can be asked for on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum AgreementAction {
    View(AgreementView),
    Choose(Choices),
    /// Only the edits of a rectangle of the plot stay in the queue: ends of both axes.
    Brush {
        x: [f64; 2],
        y: [f64; 2],
    },
    /// All edits come back.
    ClearBrush,
    DraftName(String),
    Save,
    Open(String),
    Close,
    /// What moved since a saved comparison.
    Against(String),
    DraftRange(String),
    /// Whether a range is fitted only on the edits that the queue shows.
    RangeOnShown(bool),
    FitRange,
    /// Asks where to, then writes the range of that name.
    ExportRange(String),
    WriteRange {
        name: String,
        to: PathBuf,
    },
    /// Asks for a file, then takes its range.
    ImportRange,
    ReadRange(PathBuf),
    UseRange(Option<String>),
    /// A report in the form that the file's ending asks for.
    Report(PathBuf),
    GroundTruth(PathBuf),
}

/// Gathers what is compared, on any thread; the path is a table of edits that are known to be good.
#[derive(Clone)]
pub struct EvidenceJob(pub Arc<Gather>);

/// What an [`EvidenceJob`] runs.
pub type Gather = dyn Fn(Option<&Path>) -> Result<Gathered, String> + Send + Sync;

impl fmt::Debug for EvidenceJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EvidenceJob")
    }
}
