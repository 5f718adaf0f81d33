//! What all panes share in one frame, and the panes themselves.

use egui::{Pos2, Rect, Ui, pos2};

use crate::domain::{ImageSpace, Point, Side, Size, UiSpace};
use crate::editor::{Compare, CompareMode, Content, Row, View};

use crate::gui::context::{Action, Context};
use crate::gui::pictures::{Ready, Wanted};

/// Points between two panes.
const GAP: f32 = 2.0;
/// Height of a pane's title.
pub const TITLE: f32 = 24.0;

/// A rectangle of the window.
pub fn ui_rect(rect: Rect) -> crate::domain::Rect<UiSpace> {
    crate::domain::Rect::new(rect.left(), rect.top(), rect.right(), rect.bottom())
}

/// As egui has it.
pub fn egui_rect(rect: &crate::domain::Rect<UiSpace>) -> Rect {
    Rect::from_min_max(pos2(rect.x0, rect.y0), pos2(rect.x1, rect.y1))
}

/// What all panes share this frame.
pub struct Frame<'a> {
    /// The selected edit.
    pub row: &'a Row,
    /// Size of the canvas: that of the source, or of the edit when the source cannot be shown.
    pub size: Size,
    /// Size of the source on disk, if it could be read.
    pub source_size: Option<Size>,
    /// Size of the selected edit on disk, if it could be read.
    pub edit_size: Option<Size>,
    /// The view with fit spelled out; what the pointer does is computed from it.
    pub view: View,
    /// The view that is drawn: from 100 % up, picture pixels begin where screen pixels do.
    drawn: View,
    /// Screen pixels a point.
    pub ppp: f32,
}

/// A part of the canvas that shows one picture, or two over each other.
pub struct Pane<'a> {
    /// Its place among the panes: 0 is the first.
    pub index: usize,
    pub content: Content,
    /// The side whose regions are edited here.
    pub side: Side,
    /// The edit that is shown, or whose source is.
    pub row: &'a Row,
    /// The area that zoom and pan refer to.
    pub rect: Rect,
    /// The part of it that is drawn on; smaller than `rect` beside a divider.
    pub clip: Rect,
}

impl Pane<'_> {
    /// Whether the pane shows the selected edit (or its source), whose overlays are known.
    pub fn is_selected(&self, frame: &Frame<'_>) -> bool {
        self.row.id == frame.row.id
    }

    /// The title's place, above the pane.
    pub fn title(&self) -> Rect {
        Rect::from_min_max(pos2(self.clip.left(), self.rect.top() - TITLE), pos2(self.clip.right(), self.rect.top()))
    }
}

impl<'a> Frame<'a> {
    /// The panes of this frame within `area`, and what they share. Pictures that are missing are asked for.
    pub fn new(ui: &Ui, cx: &Context<'a>, row: &'a Row, area: Rect) -> (Self, Vec<Pane<'a>>) {
        let panes = panes(ui, cx, row, area);
        let size_of = |path: &std::path::PathBuf| wanted(cx, Wanted::Full(path.clone())).map(|ready| ready.full_size);
        let (source_size, edit_size) = (size_of(&row.source), size_of(&row.edited));
        let size = source_size.or(edit_size).unwrap_or(Size::new(0, 0));
        let pane = panes.first().map_or(area, |pane| pane.rect);
        let ppp = ui.ctx().pixels_per_point();
        let view = cx.state.view.resolved(&ui_rect(pane), size, ppp);
        // Below 100 % pixels are mixed anyway, and snapping would make slow panning stutter.
        let drawn = if view.zoom * ppp >= 0.999 { view.snapped(&ui_rect(pane), ppp) } else { view };
        (Self { row, size, source_size, edit_size, view, drawn, ppp }, panes)
    }

    /// `ui_from_image`: where a pixel of the canvas is drawn.
    pub fn ui_from_image(&self, pane: &Pane<'_>, p_in_image: Point<ImageSpace>) -> Pos2 {
        let p = self.drawn.ui_from_image(&ui_rect(pane.rect), p_in_image);
        pos2(p.x, p.y)
    }

    /// `image_from_ui`: which pixel of the canvas lies under a position.
    pub fn image_from_ui(&self, pane: &Pane<'_>, p: Pos2) -> Point<ImageSpace> {
        self.drawn.image_from_ui(&ui_rect(pane.rect), Point::new(p.x, p.y))
    }

    /// As `ui_from_image` for a rectangle.
    pub fn ui_rect_from_image(&self, pane: &Pane<'_>, rect: &crate::domain::Rect<ImageSpace>) -> Rect {
        Rect::from_min_max(self.ui_from_image(pane, Point::new(rect.x0, rect.y0)), self.ui_from_image(pane, Point::new(rect.x1, rect.y1)))
    }

    /// Where a rectangle of a side's own picture lies on the canvas: the edit is drawn stretched to the source.
    pub fn on_canvas(&self, side: Side, rect: &crate::domain::Rect<ImageSpace>) -> crate::domain::Rect<ImageSpace> {
        let (x, y) = match (side, self.edit_size) {
            (Side::Edit, Some(size)) if size.pixels() > 0 => {
                (self.size.width as f32 / size.width as f32, self.size.height as f32 / size.height as f32)
            }
            _ => (1.0, 1.0),
        };
        crate::domain::Rect::new(rect.x0 * x, rect.y0 * y, rect.x1 * x, rect.y1 * y)
    }

    /// The view that is drawn.
    pub const fn drawn(&self) -> View {
        self.drawn
    }

    /// Points a pixel of the canvas.
    pub fn zoom(&self) -> f32 {
        self.drawn.zoom
    }

    /// The part of the canvas that is seen in a pane.
    pub fn seen(&self, pane: &Pane<'_>) -> crate::domain::Rect<ImageSpace> {
        let (a, b) = (self.image_from_ui(pane, pane.clip.min), self.image_from_ui(pane, pane.clip.max));
        crate::domain::Rect::new(a.x, a.y, b.x, b.y)
    }
}

/// Something drawable; asked for when it is missing.
pub fn wanted<'a>(cx: &Context<'a>, wanted: Wanted) -> Option<&'a Ready> {
    if cx.pictures.get(&wanted).is_none() {
        cx.send(Action::Want(wanted.clone()));
    }
    cx.pictures.ready(&wanted)
}

fn panes<'a>(ui: &Ui, cx: &Context<'a>, row: &'a Row, area: Rect) -> Vec<Pane<'a>> {
    let compare = &cx.state.compare;
    let rows: Vec<&'a Row> = if compare.mode == CompareMode::Grid { grid_rows(cx, row) } else { vec![row] };
    let seconds = cx.state.still_since.unwrap_or_else(|| ui.input(|input| input.time));
    if compare.mode == CompareMode::Blink && cx.state.still_since.is_none() {
        let (_, left) = compare.blink(seconds);
        if left.is_finite() {
            ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(left.max(0.005)));
        }
    }
    let layout = compare.panes(&ui_rect(area), rows.len(), seconds, TITLE, GAP);
    layout
        .into_iter()
        .enumerate()
        .filter_map(|(index, pane)| {
            // The source of the grid goes with the selected edit, whose overlays lie on it.
            let first_is_source = compare.mode == CompareMode::Grid && pane.content == Content::Picture(Side::Source) && !compare.flipped;
            let row = if first_is_source { row } else { *rows.get(pane.edit)? };
            let (rect, clip) = (egui_rect(&pane.rect), egui_rect(&pane.clip));
            Some(Pane { index, content: pane.content, side: pane.content.side(), row, rect, clip })
        })
        .collect()
}

/// The edits of the item in the order of the data set; of very many, those around the selected one.
fn grid_rows<'a>(cx: &Context<'a>, row: &'a Row) -> Vec<&'a Row> {
    let all: Vec<&Row> = cx.state.queue.siblings(row).collect();
    let place = all.iter().position(|other| other.id == row.id).unwrap_or(0);
    let first = place / Compare::MOST_IN_GRID * Compare::MOST_IN_GRID;
    all.into_iter().skip(first).take(Compare::MOST_IN_GRID).collect()
}
