//! The panels around the canvas. Each draws from a read-only context and sends actions.

pub mod agreement;
mod columns;
pub mod dialogs;
pub mod empty;
mod history;
pub mod inspector;
pub mod jobs;
mod measures;
pub mod networks;
pub mod notice;
mod parse;
pub mod queue;
mod queue_row;
mod rate;
mod score;
mod settings;
pub mod toasts;
pub mod top;
