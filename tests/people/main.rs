//! Rating sessions and merged projects, from outside: every word of a rater is kept once, whole or not at all.

mod corrections;
mod files;
mod merge;
mod merge_regions;
mod opinions;
mod scales;
mod sessions;
mod support;
mod tables;
