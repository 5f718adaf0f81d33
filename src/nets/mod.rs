//! The networks of the metric in burn, and where their checkpoints come from.

pub mod catalog;
