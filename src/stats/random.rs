//! The seeded random source of the intervals: that of `domain`, which the order of rating sessions uses too.

pub use crate::domain::Random;
