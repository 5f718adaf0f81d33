//! What a report shows beside the numbers; only the project knows it.

use std::path::PathBuf;

use crate::domain::rle::Rle;
use crate::domain::{BoxesBySide, TraceStep};

/// An edit that a report shows, with what the metric saw.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportEdit {
    pub item: String,
    pub model: String,
    pub instruction: String,
    /// Can be opened as they are.
    pub source: PathBuf,
    pub edited: PathBuf,
    /// In image pixels of each picture.
    pub boxes: BoxesBySide,
    /// The edit region, in pixels of the source.
    pub mask: Option<Rle>,
    pub trace: Vec<TraceStep>,
}

/// One edit of the scatter.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportPoint {
    pub item: String,
    pub model: String,
    pub human: f64,
    pub metric: f64,
}

/// What a report shows beside the numbers; a comparison that is reopened without its project has none of it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ReportExtras {
    /// The worst disagreements, in the order of [`super::Comparison::mismatches`].
    pub edits: Vec<ReportEdit>,
    /// The first metric against people.
    pub points: Vec<ReportPoint>,
}
