//! A gesture under way: nothing is changed and nothing journaled until it ends.

use std::sync::Arc;

use super::handles::Handle;
use super::{Done, Tool, ToolOptions, Tools};
use crate::domain::mask_ops::{Brush, fill_polygon};
use crate::domain::regions::{Area, RegionId};
use crate::domain::{ImageSpace, Mask, Point, Rect, RegionRole, Side};
use crate::editor::regions::{Author, NotChanged, RegionDocument, moved_within};

/// What is being drawn. Boxes are in canvas pixels.
#[derive(Clone, Debug, PartialEq)]
pub enum Sketch {
    NewBox {
        side: Side,
        anchor: Point<ImageSpace>,
        to: Point<ImageSpace>,
    },
    /// A box that is moved (`handle` is `None`) or resized.
    Reshape {
        side: Side,
        id: RegionId,
        handle: Option<Handle>,
        grabbed: Point<ImageSpace>,
        /// Before the gesture, in pixels of its side.
        from: Rect<ImageSpace>,
        /// Now, in pixels of its side.
        to: Rect<ImageSpace>,
    },
    Stroke(Stroke),
    Polygon {
        corners: Vec<Point<ImageSpace>>,
    },
    Lasso {
        corners: Vec<Point<ImageSpace>>,
    },
    /// A box for the segmenter.
    PromptBox {
        side: Side,
        anchor: Point<ImageSpace>,
        to: Point<ImageSpace>,
    },
}

/// A brush stroke: the mask as it looks so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    pub role: RegionRole,
    /// The region it changes; `None` begins a new one.
    pub target: Option<RegionId>,
    pub mask: Arc<Mask>,
    pub erase: bool,
    /// Where it began; a straight line begins where the stroke before it ended.
    from: Point<ImageSpace>,
    /// Every place since.
    path: Vec<Point<ImageSpace>>,
    /// The area of the target when it began.
    before: Option<Area>,
}

/// A drag shorter than this many canvas pixels along both axes draws no box.
const LEAST_BOX: f32 = 1.0;

/// Boxes are drawn along the edges of pixels.
fn whole(p: Point<ImageSpace>) -> Point<ImageSpace> {
    Point::new(p.x.round(), p.y.round())
}

fn between(a: Point<ImageSpace>, b: Point<ImageSpace>) -> Rect<ImageSpace> {
    let (a, b) = (whole(a), whole(b));
    Rect::new(a.x.min(b.x), a.y.min(b.y), a.x.max(b.x), a.y.max(b.y))
}

impl Sketch {
    /// The box as it would be drawn now, in canvas pixels, and on which side.
    pub fn box_in_canvas(&self, document: &RegionDocument) -> Option<(Side, Rect<ImageSpace>)> {
        match self {
            Self::NewBox { side, anchor, to } | Self::PromptBox { side, anchor, to } => Some((*side, between(*anchor, *to))),
            Self::Reshape { side, to, .. } => Some((*side, document.side_from_canvas(*side).inverse() * *to)),
            Self::Stroke(_) | Self::Polygon { .. } | Self::Lasso { .. } => None,
        }
    }

    /// The corners of an outline under way.
    pub fn outline(&self) -> Option<&[Point<ImageSpace>]> {
        match self {
            Self::Polygon { corners } | Self::Lasso { corners } => Some(corners),
            _ => None,
        }
    }
}

impl Tools {
    /// The pointer went down on a side. `reach` is how near a handle counts as hit, in canvas pixels; `straight` draws a line from the
    /// last place (brush and eraser).
    pub fn press(&mut self, side: Side, p: Point<ImageSpace>, reach: f32, straight: bool) {
        let Some(document) = &mut self.document else { return };
        self.sketch = match self.tool {
            Tool::Pan | Tool::Polygon => return,
            Tool::Box => Some(grab(document, side, p, reach).unwrap_or(Sketch::NewBox { side, anchor: p, to: p })),
            Tool::Brush | Tool::Eraser => {
                let role = self.options.mask_role;
                let from = self.last_dab.filter(|_| straight).unwrap_or(p);
                let mut stroke = Stroke::new(document, role, self.tool == Tool::Eraser, from);
                stroke.go_on(p, self.options);
                Some(Sketch::Stroke(stroke))
            }
            Tool::Lasso => Some(Sketch::Lasso { corners: vec![p] }),
            Tool::Points => Some(Sketch::PromptBox { side, anchor: p, to: p }),
        };
        self.revision += 1;
    }

    /// The pointer was dragged through these positions.
    pub fn drag(&mut self, path: &[Point<ImageSpace>]) {
        let (Some(&to), Some(document), Some(sketch)) = (path.last(), &self.document, &mut self.sketch) else { return };
        match sketch {
            Sketch::NewBox { to: corner, .. } | Sketch::PromptBox { to: corner, .. } => *corner = to,
            Sketch::Reshape { side, handle, grabbed, from, to: rect, .. } => {
                let scale = document.side_from_canvas(*side);
                let (p, start) = (scale * to, scale * *grabbed);
                *rect = match handle {
                    Some(handle) => handle.dragged(from, whole(p)),
                    None => moved_within(from, (p.x - start.x).round(), (p.y - start.y).round(), document.size_of(*side)),
                };
            }
            Sketch::Stroke(stroke) => path.iter().for_each(|p| stroke.go_on(*p, self.options)),
            Sketch::Lasso { corners } => corners.extend_from_slice(path),
            Sketch::Polygon { .. } => {}
        }
        self.revision += 1;
    }

    /// The pointer went up: the gesture becomes one change. A box for the segmenter is returned instead.
    ///
    /// # Errors
    /// When the gesture changes nothing, or a conflict is not settled.
    pub fn release(&mut self, author: &Author) -> Result<Option<(Side, Rect<ImageSpace>)>, NotChanged> {
        if matches!(self.sketch, Some(Sketch::Polygon { .. })) {
            return Ok(None);
        }
        let Some(sketch) = self.sketch.take() else { return Ok(None) };
        self.revision += 1;
        let options = self.options;
        let Some(document) = &mut self.document else { return Ok(None) };
        match sketch {
            Sketch::NewBox { side, anchor, to } => {
                let rect = between(anchor, to);
                if rect.width() < LEAST_BOX || rect.height() < LEAST_BOX {
                    // A click: it selects what lies there, or nothing.
                    let hit = self.region_at(side, anchor, 0.0);
                    if let Some(document) = &mut self.document {
                        document.selected = hit.map(|id| (side, id));
                    }
                    return Ok(None);
                }
                let role = if side == Side::Source { RegionRole::Original } else { RegionRole::Edited };
                let rect = document.side_from_canvas(side) * rect;
                document.add_box(role, rect, if side == Side::Source { "original" } else { "edited" }, author)?;
            }
            Sketch::Reshape { side, id, from, to, .. } => {
                if from != to {
                    document.set_box(side, id, to.to_array(), author)?;
                }
            }
            Sketch::Stroke(stroke) => {
                self.last_dab = Some(stroke.last());
                let what = if stroke.erase { "erased" } else { "brushed" };
                let stroke = stroke.on_what_is_there(document, options);
                document.paint(stroke.role, stroke.target, Arc::unwrap_or_clone(stroke.mask), what, author)?;
            }
            Sketch::Lasso { corners } => fill(document, &corners, options, "drew with the lasso", author)?,
            Sketch::PromptBox { side, anchor, to } => return Ok(Some((side, between(anchor, to)))),
            Sketch::Polygon { .. } => {}
        }
        Ok(None)
    }

    /// A click with the polygon: one more corner.
    pub fn add_corner(&mut self, p: Point<ImageSpace>) {
        match &mut self.sketch {
            Some(Sketch::Polygon { corners }) => corners.push(p),
            _ => self.sketch = Some(Sketch::Polygon { corners: vec![p] }),
        }
        self.revision += 1;
    }

    /// Takes the last corner of the polygon back.
    pub fn drop_corner(&mut self) {
        if let Some(Sketch::Polygon { corners }) = &mut self.sketch {
            corners.pop();
            if corners.is_empty() {
                self.sketch = None;
            }
            self.revision += 1;
        }
    }

    /// Closes the polygon: one change. One with fewer than three corners stays open.
    ///
    /// # Errors
    /// When it has fewer than three corners or changes nothing, or a conflict is not settled.
    pub fn close_polygon(&mut self, author: &Author) -> Done {
        let Some(Sketch::Polygon { corners }) = &mut self.sketch else { return Err(NotChanged::Nothing) };
        if corners.len() < 3 {
            return Err(NotChanged::Because("a polygon needs three corners: click to set more, Esc drops it".into()));
        }
        let corners = std::mem::take(corners);
        self.sketch = None;
        self.revision += 1;
        let options = self.options;
        let document = self.document.as_mut().ok_or(NotChanged::Nothing)?;
        fill(document, &corners, options, "drew a polygon", author)
    }
}

impl Stroke {
    fn new(document: &RegionDocument, role: RegionRole, erase: bool, from: Point<ImageSpace>) -> Self {
        let (target, mask) = document.mask_to_paint(role);
        let before = area_of(document, target);
        Self { role, target, mask: Arc::new(mask), erase, from, path: Vec::new(), before }
    }

    /// Where it is now.
    fn last(&self) -> Point<ImageSpace> {
        self.path.last().copied().unwrap_or(self.from)
    }

    fn go_on(&mut self, p: Point<ImageSpace>, options: ToolOptions) {
        let last = self.last();
        Brush { diameter: options.brush_px }.stroke(Arc::make_mut(&mut self.mask), last, p, !self.erase);
        self.path.push(p);
    }

    /// The stroke on the mask as it is now: where something changed the mask meanwhile, its pixels must not come back with the stroke.
    fn on_what_is_there(self, document: &RegionDocument, options: ToolOptions) -> Self {
        let now = area_of(document, self.target);
        let same = match (&self.before, &now) {
            (Some(before), Some(now)) => now.is_same(before),
            // A new mask, as long as no other one of the role has come.
            (None, None) => document.painted(self.role).next().is_none(),
            _ => false,
        };
        if same {
            return self;
        }
        let mut again = Self::new(document, self.role, self.erase, self.from);
        self.path.iter().for_each(|p| again.go_on(*p, options));
        again
    }
}

fn area_of(document: &RegionDocument, region: Option<RegionId>) -> Option<Area> {
    region.and_then(|id| document.get(Side::Edit, id)).map(|region| region.area.clone())
}

/// The selected box under the pointer, by a handle or by its middle.
fn grab(document: &RegionDocument, side: Side, p: Point<ImageSpace>, reach: f32) -> Option<Sketch> {
    let (selected_side, region) = document.selected()?;
    let Area::Box(rect) = &region.area else { return None };
    if selected_side != side {
        return None;
    }
    let in_canvas = document.side_from_canvas(side).inverse() * *rect;
    let handle = Handle::near(&in_canvas, p, reach);
    (handle.is_some() || in_canvas.contains(p)).then_some(Sketch::Reshape {
        side,
        id: region.id,
        handle,
        grabbed: p,
        from: *rect,
        to: *rect,
    })
}

fn fill(document: &mut RegionDocument, corners: &[Point<ImageSpace>], options: ToolOptions, what: &str, author: &Author) -> Done {
    let (target, mut mask) = document.mask_to_paint(options.mask_role);
    fill_polygon(&mut mask, corners, !options.subtract);
    let what = if options.subtract { format!("{what}, taking away") } else { what.to_owned() };
    document.paint(options.mask_role, target, mask, &what, author)
}
