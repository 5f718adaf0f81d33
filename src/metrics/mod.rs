//! The BPM metric and its baselines, over abstract networks (`ports`), so that every rule is tested with fakes.

pub mod baselines;
pub mod bpm;
pub mod ports;
