//! Where the region tools meet the canvas. The canvas calls [`interact_ui`] before it pans, [`paint_ui`] over its own overlays, and leaves
//! room for a strip of tools at the left ([`strip_ui`]) and for the options of the tool in use above the pictures ([`options_ui`]).

use egui::{Rect, Response, Ui};

use super::{Frame, Pane};
use crate::gui::context::Context;

/// Width of the strip of tools, in points.
pub fn strip_width(_cx: &Context<'_>) -> f32 {
    0.0
}

/// The strip of tools.
pub fn strip_ui(_ui: &mut Ui, _cx: &Context<'_>, _rect: Rect, _frame: &Frame<'_>) {}

/// Height of the row of options, in points.
pub fn options_height(_cx: &Context<'_>) -> f32 {
    0.0
}

/// The options of the tool in use.
pub fn options_ui(_ui: &mut Ui, _cx: &Context<'_>, _rect: Rect, _frame: &Frame<'_>) {}

/// The pointer over one pane. Returns whether a tool took it; the canvas then neither pans nor fits on a double click (the wheel still
/// zooms unless it is consumed from the input).
///
/// `response` is that of the whole canvas (click and drag). `frame.image_from_ui(pane, …)` and `frame.ui_from_image(pane, …)` translate
/// positions; they are pixels of the canvas, which has the size of the source (`frame.size`; an edit of another size is stretched). Called
/// for each pane that shows the selected edit or its source; `pane.side` says which, `pane.clip` where it is seen.
pub fn interact_ui(_ui: &Ui, _cx: &Context<'_>, _pane: &Pane<'_>, _frame: &Frame<'_>, _response: &Response) -> bool {
    false
}

/// Regions, handles and the stroke in progress over one pane. Paint with `ui.painter().with_clip_rect(pane.clip)`.
pub fn paint_ui(_ui: &Ui, _cx: &Context<'_>, _pane: &Pane<'_>, _frame: &Frame<'_>) {}
