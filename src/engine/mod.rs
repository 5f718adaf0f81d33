//! The engine: joins networks, metric and project file on worker threads, and tells both front ends what happens.
//!
//! A run is a stream of [`Event`]s. The window reads it from [`Engine::events`]; the command line gets the same events
//! from the same code on its own thread, so that both give the same numbers.

#[cfg(feature = "nets")]
mod adapters;
pub mod audit;
mod baseline_networks;
mod baselines;
mod cache;
mod corrections;
mod demo;
mod evaluate;
pub mod evidence;
pub mod files;
mod handle;
mod inputs;
mod known;
#[cfg(feature = "nets")]
mod loaded;
mod measured;
mod messages;
#[cfg(feature = "nets")]
mod model_parts;
pub mod models;
mod networks;
pub mod opinions;
pub mod outputs;
pub mod paste_back;
mod picture_desk;
pub mod pictures;
mod prompts;
#[cfg(feature = "nets")]
mod recent;
pub mod results;
mod runs;
pub mod scored_by;
#[cfg(feature = "nets")]
mod session;
pub mod triage;

pub use baselines::{BaselineChoice, BaselineView};
pub use cache::{MemoryCache, ResultCache};
pub use demo::DEMO_NOTICE;
pub use evaluate::{Run, Tally, evaluate};
pub use handle::{Engine, Outbox, Wake};
pub use messages::{Event, ImportRequest, Level, ModelSource, PictureRequest, PictureToken, Pixels, Request, RunToken, ScoreRequest};
pub use networks::NetworkSlot;
pub use pictures::{CanvasEvent, CanvasRequest, Picture};
pub use prompts::{PromptEvent, PromptRequest};
#[cfg(feature = "nets")]
pub use session::{Session, SessionError};

/// Where networks run and how finely.
pub use crate::nets::preference::{DeviceChoice, DevicePreference, PrecisionChoice};

/// What the canvas draws; the window may not reach into `imaging` itself.
pub use crate::imaging::{
    difference::{DifferenceKind, pixel_difference},
    pyramid::{BASE_SIDE, Pyramid, level_sizes},
    register::{Motion, Registration},
};

/// Reads the seven fields out of an instruction with the built-in rules.
pub use crate::instruct::parse_instruction;

/// Puts parts on one scale and into one number; the window shows them, it does not compute them.
pub use crate::metrics::bpm::{Combined, Partial, Pending, combine, explain, fit_range, phrases, sensitivity::SensitivityPoint};

/// An error with its reasons; one that the message before it already tells is not told twice.
pub fn in_words(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, reason| match told.as_str() {
        "" => reason,
        before if before.contains(&reason) => told,
        before => format!("{before}: {reason}"),
    })
}
