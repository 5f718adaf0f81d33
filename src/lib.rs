//! EditScope: audit instruction-guided image edits with the BPM metric.
//!
//! The folders are the architecture; `ARCHITECTURE.md` has the map and `tests/arrows.rs` checks who may use whom.

pub mod cli;
pub mod datasets;
pub mod domain;
pub mod editor;
pub mod engine;
pub mod export;
#[cfg(feature = "gui")]
pub mod gui;
pub mod imaging;
pub mod instruct;
pub mod metrics;
pub mod nets;
pub mod stats;
pub mod storage;
