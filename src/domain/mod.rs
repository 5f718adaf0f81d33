//! Plain data that every other module shares: no files, no networks, no windows.
//!
//! The words are those of the project's glossary (`ARCHITECTURE.md`): item, edit, region, parse, part score, trace,
//! profile, range, rating, run, proposal.

mod asked;
mod baseline;
mod cell;
mod distance;
mod exported;
pub mod geometry;
mod item;
pub mod json;
mod mask;
pub mod mask_ops;
mod outcome;
mod parse;
mod paths;
mod profile;
mod protocol;
mod random;
mod rater_row;
mod rating;
mod region;
pub mod regions;
pub mod rle;
mod rubric;
mod score;
mod session_log;
mod triage;
mod vote;

pub use asked::{Asked, assumed_scale, criterion_names, scale_remarks, scale_words, unknown_scale};
pub use baseline::{Baseline, BaselineNeeds, Baselines, Better, Zone, Zoned, baseline_column, column_better, column_name, columns};
pub use cell::{escaped_cell, unescaped_cell};
pub use distance::squared_distances;
pub use exported::{AutomaticResult, ExportRegion, ExportResult, ExportRow};
pub use geometry::{Bpm500, ImageSpace, NetSpace, Point, Rect, Scale, Size, UiSpace};
pub use item::{Edit, EditKey, Item, ItemKey, PictureRef};
pub use mask::Mask;
pub use outcome::Outcome;
pub use parse::{EditType, FieldWords, Parse, ParseOrigin, PositionWord, SizeWord};
pub use paths::relative_path;
pub use profile::{Bounds, PaperWeights, Profile, Range};
pub use protocol::{Answer, Judgement, Protocol, ProtocolKind, RatingContext, RubricId, SessionEdit, SessionSetup, TaskRole, Visible};
pub use random::Random;
pub use rater_row::RaterRow;
pub use rating::{CRITERIA, Criterion, LARGEST_ANSWER, Rating, is_answer, names_alike, rater_name};
pub use region::{Detection, Region, RegionOrigin, RegionRole, RegionShape, Side, TokenMatch};
pub use rubric::{MAX_QUESTIONS, Question, Rubric, SCALE_POINTS, ScalePoint, Unedited};
pub use score::{BoxesBySide, Parts, Score, TraceKind, TraceStep};
pub use session_log::{OVERALL_VOTES, RANKING_VOTES, REPEAT, counting_judgements, repeated, votes_of};
pub use triage::{CHANGED_ABOVE, ChangeShares, Shift, Triage};
pub use vote::{ModelVote, Preference};

/// A short name for a value by its content: the first 16 hex digits of the BLAKE3 hash of its JSON.
fn content_hash<T: serde::Serialize>(value: &T) -> String {
    // Plain data with text keys always becomes JSON; a value that cannot would hash as nothing, and the tests would see it.
    let text = serde_json::to_vec(value).unwrap_or_default();
    blake3::hash(&text).to_hex()[..16].to_owned()
}
