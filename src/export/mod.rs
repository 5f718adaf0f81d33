//! What leaves the program: score lines, tables, masks, COCO.

mod score_line;

pub use score_line::{FailedLine, Normalised, ScoreLine};
