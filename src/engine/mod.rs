//! The engine: joins networks, metric and project file on worker threads, and tells both front ends what happens.
//!
//! A run is a stream of [`Event`]s. The window reads it from [`Engine::events`]; the command line gets the same events
//! from the same code on its own thread, so that both give the same numbers.

mod handle;
mod messages;

pub use handle::{Engine, Wake};
pub use messages::{
    ChangeMap, DevicePreference, Event, ImportRequest, Level, ModelSource, PictureRequest, PictureToken, Pixels, Request, RunToken,
    ScoreRequest,
};

/// Puts parts on one scale and into one number; the window shows them, it does not compute them.
pub use crate::metrics::bpm::{combine, fit_range};
