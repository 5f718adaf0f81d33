//! The panels around the canvas. Each draws from a read-only context and sends actions.

pub mod agreement;
mod columns;
mod commands;
pub mod dialogs;
pub mod empty;
mod firmness;
mod history;
pub mod inspector;
pub mod jobs;
pub mod leaving;
pub mod localization;
mod measures;
pub mod networks;
pub mod notice;
mod parse;
mod paste_back;
pub mod queue;
mod queue_row;
pub mod rate;
mod regions;
mod score;
mod settings;
mod thresholds;
pub mod toasts;
pub mod tool_strip;
pub mod top;
mod trace;
