//! The tools that draw regions: which one is in the hand, how it is set, and what it has drawn so far.
//!
//! Positions are canvas positions: image pixels of the source, to which an edit of another size is stretched.

mod handles;
mod prompt;
mod sketch;

use std::collections::HashSet;

use crate::domain::regions::{KeptRegion, RegionId};
use crate::domain::{ImageSpace, Point, Rect, RegionRole, Side, Size};

use super::regions::{MaskOp, NotChanged, RegionDocument};
use super::row::RowId;

pub use handles::Handle;
pub use prompt::{PointMark, Prompt, PromptStage, Proposal, TakenBack};
pub use sketch::{Sketch, Stroke};

/// What the pointer does on the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Tool {
    /// Moves the pictures; a click selects a region.
    #[default]
    Pan,
    Box,
    Brush,
    Eraser,
    Polygon,
    Lasso,
    /// Points and a box for the segmenter.
    Points,
}

impl Tool {
    /// All tools, in the order of the strip.
    pub const ALL: [Self; 7] = [Self::Pan, Self::Box, Self::Brush, Self::Eraser, Self::Polygon, Self::Lasso, Self::Points];

    /// Its name.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pan => "Pan and select",
            Self::Box => "Box",
            Self::Brush => "Brush",
            Self::Eraser => "Eraser",
            Self::Polygon => "Polygon",
            Self::Lasso => "Lasso",
            Self::Points => "Segment by points",
        }
    }

    /// What it does with the pointer, in a sentence.
    pub const fn does(self) -> &'static str {
        match self {
            Self::Pan => "Drag moves the pictures, a click selects a region.",
            Self::Box => "Drag draws a box, or moves the selected one by its middle and resizes it by its handles.",
            Self::Brush => "Drag adds pixels to the mask; Shift and a click draws a straight line from the last place.",
            Self::Eraser => "Drag removes pixels from the mask; Shift and a click erases along a straight line.",
            Self::Polygon => "Clicks set corners; a double click or Enter closes the polygon, Backspace takes a corner back.",
            Self::Lasso => "Drag around an area to add it to the mask, or to take it away.",
            Self::Points => "A click says “this belongs to it”, a right click “this is background”, a drag gives a box; Enter accepts.",
        }
    }

    /// The same in a few words.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Pan => "Drag moves, a click selects",
            Self::Box => "Drag draws or moves a box",
            Self::Brush | Self::Eraser => "Shift and a click: straight line",
            Self::Polygon => "Clicks set corners, Enter closes",
            Self::Lasso => "Drag around an area",
            Self::Points => "Click: belongs to it · right click: background · drag: a box",
        }
    }

    /// Whether it changes a mask.
    pub const fn draws_mask(self) -> bool {
        matches!(self, Self::Brush | Self::Eraser | Self::Polygon | Self::Lasso | Self::Points)
    }

    /// Whether it can take away as well as add.
    pub const fn has_mode(self) -> bool {
        matches!(self, Self::Polygon | Self::Lasso | Self::Points)
    }
}

/// How the tools are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolOptions {
    /// Diameter of brush and eraser, in image pixels of the source.
    pub brush_px: u32,
    /// Polygon, lasso and points take away instead of adding.
    pub subtract: bool,
    /// Which mask is drawn: that of the edit or the ignored pixels.
    pub mask_role: RegionRole,
    /// By how many pixels dilating and eroding go.
    pub grow_px: u32,
    /// Parts of fewer pixels are specks.
    pub speck_px: u32,
}

impl Default for ToolOptions {
    fn default() -> Self {
        Self { brush_px: 25, subtract: false, mask_role: RegionRole::EditMask, grow_px: 2, speck_px: 64 }
    }
}

impl ToolOptions {
    /// Least and greatest diameter of the brush.
    pub const BRUSH: (u32, u32) = (1, 512);

    /// The brush larger (or smaller) by about a fifth, at least by one pixel.
    pub fn resize_brush(&mut self, larger: bool) {
        let step = (self.brush_px / 5).max(1);
        let size = if larger { self.brush_px + step } else { self.brush_px.saturating_sub(step) };
        self.brush_px = size.clamp(Self::BRUSH.0, Self::BRUSH.1);
    }
}

/// Everything of the window that is about correcting regions.
#[derive(Debug, Default)]
pub struct Tools {
    pub tool: Tool,
    pub options: ToolOptions,
    /// The selected edit's regions; `None` while they are read.
    pub document: Option<RegionDocument>,
    /// The selected edit whose regions the project file did not give, and why.
    pub unreadable: Option<(RowId, String)>,
    /// Edits that were left with changes that are not on disk yet.
    pub unsaved: Vec<RegionDocument>,
    /// Sizes of the selected edit's upright pictures: of its source, then its own.
    pub sizes: Option<(RowId, Size, Size)>,
    /// The gesture under way.
    pub sketch: Option<Sketch>,
    pub prompt: Option<Prompt>,
    /// The operation on a whole mask that is being computed.
    pub working: Option<MaskOp>,
    /// Where the last stroke ended, for straight lines.
    pub last_dab: Option<Point<ImageSpace>>,
    /// Where the pointer is, on which side.
    pub hover: Option<(Side, Point<ImageSpace>)>,
    /// Regions that are not drawn; they count all the same.
    pub hidden: HashSet<(RowId, Side, RegionId)>,
    /// The name of the selected region takes the cursor in the next frame.
    pub focus_name: bool,
    /// The region under the pointer in the list.
    pub pointed: Option<(Side, RegionId)>,
    /// Counts what changes the picture of regions, so that it is drawn anew only then.
    pub revision: u64,
}

impl Tools {
    /// The document of an edit, if its regions are read.
    pub fn document_of(&self, id: RowId) -> Option<&RegionDocument> {
        self.document.as_ref().filter(|document| document.id == id)
    }

    /// Whether a region is not to be drawn.
    pub fn is_hidden(&self, id: RowId, side: Side, region: RegionId) -> bool {
        self.hidden.contains(&(id, side, region))
    }

    /// The regions that networks found on a side of an edit and that are not to be drawn.
    pub fn hidden_found(&self, id: RowId, side: Side) -> impl Iterator<Item = &KeptRegion> {
        let regions = self.document_of(id).into_iter().flat_map(move |document| document.shown(side));
        regions.filter(move |region| region.id.is_automatic() && self.is_hidden(id, side, region.id))
    }

    /// Whether the tools draw the regions of a role, instead of the overlays of the score: a person speaks for them, or draws.
    pub fn draws(&self, id: RowId, side: Side, role: RegionRole) -> bool {
        let drawing = matches!(&self.sketch, Some(Sketch::Stroke(stroke)) if stroke.role == role && side == Side::Edit);
        self.document_of(id).is_some_and(|document| drawing || document.speaks_for(side, role))
    }

    /// Changes that are not on disk, of all edits.
    pub fn unsaved_count(&self) -> usize {
        self.document.iter().chain(&self.unsaved).map(|document| document.outbox().len()).sum()
    }

    /// Whether something would be lost by taking another tool or edit: a gesture or a proposal.
    pub const fn is_busy(&self) -> bool {
        self.sketch.is_some() || self.prompt.is_some()
    }

    /// Drops the gesture and the proposal.
    pub fn cancel(&mut self) {
        self.sketch = None;
        self.prompt = None;
        self.revision += 1;
    }

    /// The region under a canvas position, the smallest first. `reach` widens boxes, in canvas pixels.
    pub fn region_at(&self, side: Side, p_in_canvas: Point<ImageSpace>, reach: f32) -> Option<RegionId> {
        let document = self.document.as_ref()?;
        let side_from_canvas = document.side_from_canvas(side);
        let p = side_from_canvas * p_in_canvas;
        let grown = |r: &Rect<ImageSpace>| {
            let (x, y) = (reach * side_from_canvas.x, reach * side_from_canvas.y);
            Rect::new(r.x0 - x, r.y0 - y, r.x1 + x, r.y1 + y)
        };
        let visible = document.shown(side).filter(|region| !self.is_hidden(document.id, side, region.id));
        let hit = visible.filter(|region| match &region.area {
            crate::domain::regions::Area::Box(rect) => grown(rect).contains(p),
            crate::domain::regions::Area::Mask(mask) => {
                p_in_canvas.x >= 0.0 && p_in_canvas.y >= 0.0 && mask.get(p_in_canvas.x as u32, p_in_canvas.y as u32)
            }
        });
        hit.min_by(|a, b| a.area.pixels().total_cmp(&b.area.pixels())).map(|region| region.id)
    }
}

/// The answer of a tool to a gesture's end: what was changed, or why nothing was.
pub type Done = Result<(), NotChanged>;
