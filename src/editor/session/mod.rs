//! A rating session as a rater goes through it: which tasks in which order, the form of the present one, and what became of them.
//!
//! Nothing here draws or stores: the window shows [`SessionRun`] and keeps the [`crate::domain::Judgement`]s that it makes.

mod form;
mod order;
mod run;
mod summary;

pub use form::{Form, Given, letter};
pub use order::{Task, order, repeat_count};
pub use run::{Pressed, Progress, SessionRun};
pub use summary::{Consistency, Summary, summary};
