//! What the window knows, without a window: rows, filters, selection, overlays, view, drafts and jobs.
//!
//! Plain data and pure functions, so that everything a person can do is tested without egui. The window (`gui`) draws this state and
//! changes it through actions only.

mod agreement;
mod band;
mod clock;
mod compare;
mod details;
mod flags;
mod jobs;
mod labels;
mod overlays;
mod queue;
mod rating;
pub mod regions;
mod row;
mod session;
pub mod tools;
mod view;

pub use agreement::Measure;
pub use band::Band;
pub use clock::{IDLE_SECONDS, LookClock};
pub use compare::{Compare, CompareMode, Content, DifferenceView, Divider, PaneLayout};
pub use details::{Audit, Automatic, Combined, EditDetails, HistoryLine, PictureState};
pub use flags::{Flag, Flags};
pub use jobs::{Failure, Job, JobState, Jobs};
pub use labels::{LabelBox, place_labels};
pub use overlays::{Overlay, Overlays, Thresholds};
pub use queue::{Filter, Picked, Queue, ShowOnly, SortKey};
pub use rating::{CANNOT_JUDGE, RatingDraft};
pub use row::{Cell, Columns, Row, RowId};
pub use session::{Consistency, Form, Given, Pressed, Progress, SessionRun, Summary, Task, letter, order, repeat_count, summary};
pub use view::View;
