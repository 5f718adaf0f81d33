//! What can be asked of the tools, and which command asks for what.

use crate::domain::regions::{RegionId, Token};
use crate::domain::{ImageSpace, Point, RegionRole, Side, Size};
use crate::editor::RowId;
use crate::editor::regions::{BoxEdges, MaskOp, NotChanged};
use crate::editor::tools::{Tool, ToolOptions, Tools};

use super::command::Command;

/// A change that a tool or the list of regions asks for. Positions are canvas positions: image pixels of the source.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolAction {
    Take(Tool),
    SetOptions(ToolOptions),
    /// The canvas knows how large the pictures of an edit are.
    Sizes {
        id: RowId,
        source: Size,
        edit: Size,
    },
    Hover(Option<(Side, Point<ImageSpace>)>),
    Press {
        side: Side,
        at: Point<ImageSpace>,
        /// How near a handle counts as hit, in canvas pixels.
        reach: f32,
        /// Draw a straight line from the last place.
        straight: bool,
    },
    Drag(Vec<Point<ImageSpace>>),
    Release,
    /// One more corner of the polygon.
    Corner(Point<ImageSpace>),
    DropCorner,
    ClosePolygon,
    /// Tell the segmenter about a point.
    Mark {
        side: Side,
        at: Point<ImageSpace>,
        inside: bool,
    },
    Accept,
    NextProposal,
    /// Drop the gesture or the proposal; without either, the selection.
    Cancel,
    Select(Option<(Side, RegionId)>),
    /// Select what lies at a place.
    SelectAt {
        side: Side,
        at: Point<ImageSpace>,
        reach: f32,
    },
    /// The pointer is on a line of the list.
    PointAt(Option<(Side, RegionId)>),
    SetBox(Side, RegionId, BoxEdges),
    Nudge {
        dx: f32,
        dy: f32,
    },
    Rename(Side, RegionId, String),
    SetRole(Side, RegionId, RegionRole),
    ToggleHidden(Side, RegionId),
    /// The next region of the list, or the one before.
    SelectNext {
        forwards: bool,
    },
    OfSelected(OfSelected),
    Delete(Side, RegionId),
    CopyToEdit(RegionId),
    BoxToMask(Side, RegionId),
    Mask(MaskOp),
    RevertToAutomatic(RegionRole),
    Undo,
    Redo,
    /// Back to the state before an entry of the journal, or to one that was set aside.
    GoBack(Side, Token),
    KeepMine,
    KeepTheirs,
    RetrySaving,
}

/// What a key does to the selected region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfSelected {
    /// Puts the cursor into its name.
    Rename,
    Hide,
    /// The next role of its side.
    ChangeRole,
    BackToAutomatic,
}

impl Command {
    /// What the command means to the tools; `None` for commands that are not theirs.
    pub fn tool_action(self, tools: &Tools) -> Option<ToolAction> {
        let options = tools.options;
        let resized = |larger| {
            let mut options = options;
            options.resize_brush(larger);
            ToolAction::SetOptions(options)
        };
        Some(match self {
            Self::ToolPan => ToolAction::Take(Tool::Pan),
            Self::ToolBox => ToolAction::Take(Tool::Box),
            Self::ToolBrush => ToolAction::Take(Tool::Brush),
            Self::ToolEraser => ToolAction::Take(Tool::Eraser),
            Self::ToolPolygon => ToolAction::Take(Tool::Polygon),
            Self::ToolLasso => ToolAction::Take(Tool::Lasso),
            Self::ToolPoints => ToolAction::Take(Tool::Points),
            Self::BrushSmaller => resized(false),
            Self::BrushLarger => resized(true),
            Self::AddOrSubtract => ToolAction::SetOptions(ToolOptions { subtract: !options.subtract, ..options }),
            Self::FillHoles => ToolAction::Mask(MaskOp::FillHoles),
            Self::RemoveSpecks => ToolAction::Mask(MaskOp::RemoveSpecks(options.speck_px)),
            Self::Dilate => ToolAction::Mask(MaskOp::Dilate(options.grow_px)),
            Self::Erode => ToolAction::Mask(MaskOp::Erode(options.grow_px)),
            Self::InvertMask => ToolAction::Mask(MaskOp::Invert),
            Self::CopyToEdit => {
                let selected = tools.document.as_ref().and_then(|document| document.selected).filter(|(side, _)| *side == Side::Source);
                // Without a box of the source there is nothing to copy; the id of no region says so.
                ToolAction::CopyToEdit(selected.map_or(RegionId::default(), |(_, id)| id))
            }
            Self::NextProposal => ToolAction::NextProposal,
            Self::NextRegion => ToolAction::SelectNext { forwards: true },
            Self::PreviousRegion => ToolAction::SelectNext { forwards: false },
            Self::RenameRegion => ToolAction::OfSelected(OfSelected::Rename),
            Self::HideRegion => ToolAction::OfSelected(OfSelected::Hide),
            Self::ChangeRole => ToolAction::OfSelected(OfSelected::ChangeRole),
            Self::BackToAutomatic => ToolAction::OfSelected(OfSelected::BackToAutomatic),
            Self::Undo => ToolAction::Undo,
            Self::Redo | Self::RedoAgain => ToolAction::Redo,
            _ => return None,
        })
    }

    /// The tool that it takes into the hand.
    pub const fn of_tool(tool: Tool) -> Self {
        match tool {
            Tool::Pan => Self::ToolPan,
            Tool::Box => Self::ToolBox,
            Tool::Brush => Self::ToolBrush,
            Tool::Eraser => Self::ToolEraser,
            Tool::Polygon => Self::ToolPolygon,
            Tool::Lasso => Self::ToolLasso,
            Tool::Points => Self::ToolPoints,
        }
    }
}

impl ToolAction {
    /// Whether it begins or makes a change of regions.
    pub const fn draws(&self) -> bool {
        !matches!(
            self,
            Self::Take(_)
                | Self::SetOptions(_)
                | Self::Sizes { .. }
                | Self::Hover(_)
                | Self::PointAt(_)
                | Self::Select(_)
                | Self::SelectAt { .. }
                | Self::SelectNext { .. }
                | Self::ToggleHidden(..)
                | Self::Cancel
                | Self::RetrySaving
        )
    }
}

/// Edges that were typed are not put in order: whoever types a left edge beyond the right one means something else.
///
/// # Errors
/// Which edges are in the wrong order.
pub fn in_order([x0, y0, x1, y1]: BoxEdges) -> Result<(), NotChanged> {
    let wrong = |low: &str, a: f32, high: &str, b: f32| {
        let text = format!("the {low} edge ({a:.0}) must lie before the {high} edge ({b:.0}): nothing is changed");
        if a < b { Ok(()) } else { Err(NotChanged::Because(text)) }
    };
    wrong("left", x0, "right", x1)?;
    wrong("top", y0, "bottom", y1)
}
