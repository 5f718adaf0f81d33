//! Statistics of scores and ratings: plain tables in, numbers or reasons out, no files.
//!
//! [`comparison`] everything below at once, as it is printed, saved and reported; [`people`] answers as one table;
//! [`agreement`] a metric against people, pair by pair (the paper's); [`correlation`] rank and linear correlation, area under
//! the curve; [`raters`] people against each other; [`intervals`] how sure all that is; [`bradley_terry`] models against
//! each other; [`ground_truth`] and [`weights`] the paper's other two tests. What is not defined is [`crate::domain::Outcome::NotApplicable`] with the reason, never a number.

pub mod agreement;
pub mod alpha;
mod answers;
pub mod bradley_terry;
pub mod comparison;
pub mod correlation;
pub mod ground_truth;
pub mod intervals;
pub mod orders;
pub mod people;
pub mod published;
mod random;
pub mod raters;
pub mod resampled;
mod sheet;
pub mod undefined;
pub mod weights;

pub use agreement::{Agreement, Counts, ModelPair, Row, TiePolicy, agreement, best_tie_threshold};
pub use intervals::{Bootstrap, Interval};
pub use random::Random;
pub use raters::{Level, krippendorff_alpha};
