//! Where the region tools meet the canvas. The canvas calls [`interact_ui`] before it pans, [`paint_ui`] over its own overlays, and leaves
//! room for a strip of tools at the left ([`strip_ui`]) and for the options of the tool in use above the pictures ([`options_ui`]).

use egui::{Align, CursorIcon, Id, Layout, PointerButton, Pos2, Rect, Response, Ui, UiBuilder, vec2};

use super::labels::Label;
use super::region_paint;
use super::{Frame, Pane};
use crate::domain::{ImageSpace, Point};
use crate::editor::tools::{Handle, Sketch, Tool, Tools};
use crate::gui::context::{Action, Context};
use crate::gui::panels::tool_strip;
use crate::gui::tool_actions::ToolAction;

/// How near a handle counts as hit, in points of the window.
const REACH: f32 = 7.0;

/// Width of the strip of tools, in points.
pub fn strip_width(_cx: &Context<'_>) -> f32 {
    tool_strip::WIDTH
}

/// The strip of tools.
pub fn strip_ui(ui: &mut Ui, cx: &Context<'_>, rect: Rect, _frame: &Frame<'_>) {
    ui.painter().rect_filled(rect, 0.0, cx.palette(ui).panel.0);
    ui.scope_builder(UiBuilder::new().max_rect(rect.shrink2(vec2(4.0, 6.0))), |ui| tool_strip::strip_ui(ui, cx));
}

/// Height of the row of options, in points: always the same, so that nothing jumps when a tool is taken.
pub fn options_height(_cx: &Context<'_>) -> f32 {
    tool_strip::OPTIONS_HEIGHT
}

/// The options of the tool in use.
pub fn options_ui(ui: &mut Ui, cx: &Context<'_>, rect: Rect, _frame: &Frame<'_>) {
    ui.painter().rect_filled(rect, 0.0, cx.palette(ui).panel.0);
    let row = UiBuilder::new().max_rect(rect.shrink2(vec2(8.0, 4.0))).layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(row, |ui| tool_strip::options_ui(ui, cx));
}

/// The primary button is held, since it went down on a pane.
#[derive(Clone, Debug, PartialEq)]
struct Held {
    /// Place among the panes. The gesture goes on there when the pointer leaves it.
    pane: usize,
    origin: Pos2,
    /// Shift was held.
    straight: bool,
    /// It is a drag, no click, and the tool was told so.
    going: bool,
    /// Where the pointer went since, as far as the tool was not told.
    trail: Vec<Pos2>,
}

impl Held {
    fn id() -> Id {
        Id::unique("tool gesture")
    }

    fn of(ui: &Ui) -> Option<Self> {
        ui.data(|data| data.get_temp::<Option<Self>>(Self::id())).flatten()
    }

    fn keep(ui: &Ui, held: Option<Self>) {
        ui.data_mut(|data| data.insert_temp(Self::id(), held));
    }
}

/// The pointer over one pane. Returns whether a tool took it; the canvas then neither pans nor fits on a double click (the wheel still
/// zooms unless it is consumed from the input).
///
/// `response` is that of the whole canvas (click and drag). `frame.image_from_ui(pane, …)` and `frame.ui_from_image(pane, …)` translate
/// positions; pixels of `pane.side` are those of the canvas, which has the size of the source (`frame.size`). Called for each pane that
/// shows the selected edit.
pub fn interact_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, response: &Response) -> bool {
    tell_sizes(cx, frame);
    let tools = &cx.state.tools;
    let send = |action| cx.send(Action::Tool(action));
    let held = Held::of(ui);
    let inside = |at: Pos2| pane.clip.contains(at);
    let hovered = response.hover_pos().filter(|at| inside(*at));
    if tools.document_of(frame.row.id).is_none() {
        return false;
    }
    hover(cx, pane, frame, hovered, response);
    if tools.tool == Tool::Pan {
        Held::keep(ui, None);
        if response.clicked()
            && let Some(at) = response.interact_pointer_pos().filter(|at| inside(*at))
        {
            send(ToolAction::SelectAt { side: pane.side, at: frame.image_from_ui(pane, at), reach: 2.0 / frame.zoom() });
        }
        return false;
    }
    let mine = held.as_ref().is_some_and(|held| held.pane == pane.index);
    let other_button = response.dragged_by(PointerButton::Middle) || response.dragged_by(PointerButton::Secondary);
    if other_button && !mine {
        return false;
    }
    if let Some(at) = hovered {
        ui.set_cursor_icon(cursor(tools, pane, frame, at));
        resize_brush(ui, cx);
    }
    clicks(ui, cx, pane, frame, response);
    match tools.tool {
        Tool::Polygon => Held::keep(ui, None),
        _ if mine || held.is_none() => drags(ui, cx, pane, frame, response, held),
        _ => {}
    }
    hovered.is_some() || mine
}

/// The document needs the sizes of both pictures; the canvas is the first to know them.
fn tell_sizes(cx: &Context<'_>, frame: &Frame<'_>) {
    let id = frame.row.id;
    // As long as only the edit can be shown, the canvas has its size; that is not the size of the source.
    if let (Some(source), Some(edit)) = (frame.source_size, frame.edit_size)
        && source.pixels() > 0
        && edit.pixels() > 0
        && cx.state.tools.sizes != Some((id, source, edit))
    {
        cx.send(Action::Tool(ToolAction::Sizes { id, source, edit }));
    }
}

fn hover(cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, hovered: Option<Pos2>, response: &Response) {
    let here = hovered.map(|at| (pane.side, frame.image_from_ui(pane, at)));
    let known = cx.state.tools.hover;
    let left = hovered.is_none() && (response.hover_pos().is_none() && known.is_some_and(|(side, _)| side == pane.side));
    if (here.is_some() && here != known) || left {
        cx.send(Action::Tool(ToolAction::Hover(here)));
    }
}

fn cursor(tools: &Tools, pane: &Pane<'_>, frame: &Frame<'_>, at: Pos2) -> CursorIcon {
    match tools.tool {
        Tool::Pan => CursorIcon::Default,
        Tool::Brush | Tool::Eraser => CursorIcon::None,
        Tool::Polygon | Tool::Lasso | Tool::Points => CursorIcon::Crosshair,
        Tool::Box => match region_paint::selected_box(tools, pane.side) {
            Some(rect) => {
                let p = frame.image_from_ui(pane, at);
                match Handle::near(&rect, p, REACH / frame.zoom()) {
                    Some(Handle::TopLeft | Handle::BottomRight) => CursorIcon::ResizeNwSe,
                    Some(Handle::TopRight | Handle::BottomLeft) => CursorIcon::ResizeNeSw,
                    Some(Handle::Top | Handle::Bottom) => CursorIcon::ResizeVertical,
                    Some(Handle::Left | Handle::Right) => CursorIcon::ResizeHorizontal,
                    None if rect.contains(p) => CursorIcon::Move,
                    None => CursorIcon::Crosshair,
                }
            }
            None => CursorIcon::Crosshair,
        },
    }
}

/// Shift and the wheel, one step a notch.
fn resize_brush(ui: &Ui, cx: &Context<'_>) {
    if !matches!(cx.state.tools.tool, Tool::Brush | Tool::Eraser) {
        return;
    }
    let steps: Vec<bool> = ui.input(|input| {
        let wheel = input.events.iter().filter_map(|event| match event {
            egui::Event::MouseWheel { delta, modifiers, .. } if modifiers.shift => Some(delta.x + delta.y),
            _ => None,
        });
        wheel.filter(|delta| *delta != 0.0).map(|delta| delta > 0.0).collect()
    });
    if !steps.is_empty() {
        let mut options = cx.state.tools.options;
        steps.into_iter().for_each(|larger| options.resize_brush(larger));
        cx.send(Action::Tool(ToolAction::SetOptions(options)));
    }
}

fn clicks(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, response: &Response) {
    let Some(pointer) = response.interact_pointer_pos().filter(|at| pane.clip.contains(*at)) else { return };
    let at = frame.image_from_ui(pane, pointer);
    let send = |action| cx.send(Action::Tool(action));
    let tool = cx.state.tools.tool;
    if tool == Tool::Points && response.secondary_clicked() {
        send(ToolAction::Mark { side: pane.side, at, inside: false });
    }
    if tool == Tool::Polygon && response.double_clicked() {
        // The first click of the two has set the last corner, unless both came within one (slow) frame.
        let last = cx.state.tools.sketch.as_ref().and_then(Sketch::outline).and_then(<[_]>::last);
        let is_set = last.is_some_and(|last| frame.ui_from_image(pane, *last).distance(pointer) < REACH);
        if !is_set {
            send(ToolAction::Corner(at));
        }
        send(ToolAction::ClosePolygon);
    } else if response.clicked() {
        match tool {
            Tool::Polygon => send(ToolAction::Corner(at)),
            Tool::Points => send(ToolAction::Mark { side: pane.side, at, inside: true }),
            Tool::Box | Tool::Brush | Tool::Eraser => {
                let straight = ui.input(|input| input.modifiers.shift);
                send(press(pane, frame, at, straight));
                send(ToolAction::Release);
            }
            Tool::Pan | Tool::Lasso => {}
        }
    }
}

fn press(pane: &Pane<'_>, frame: &Frame<'_>, at: Point<ImageSpace>, straight: bool) -> ToolAction {
    ToolAction::Press { side: pane.side, at, reach: REACH / frame.zoom(), straight }
}

/// Follows the primary button through all events of the frame, in their order: a gesture may begin and end between two frames where these take
/// long, and quick strokes stay round.
fn drags(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, response: &Response, mut held: Option<Held>) {
    let farthest_click = ui.ctx().options(|options| options.input_options.max_click_dist);
    let went_down_before = held.is_some();
    let events = ui.input(|input| input.events.clone());
    for event in events {
        match event {
            egui::Event::PointerButton { pos, button: PointerButton::Primary, pressed: true, modifiers } if held.is_none() => {
                let here = pane.clip.contains(pos) && is_uncovered(ui, response, pos);
                held = here.then(|| Held { pane: pane.index, origin: pos, straight: modifiers.shift, going: false, trail: Vec::new() });
            }
            egui::Event::PointerMoved(at) => {
                if let Some(held) = &mut held {
                    held.trail.push(at);
                    if held.origin.distance(at) > farthest_click {
                        begin(cx, pane, frame, held);
                    }
                }
            }
            egui::Event::PointerButton { button: PointerButton::Primary, pressed: false, .. } => {
                if let Some(ended) = held.take() {
                    go_on(cx, pane, frame, ended, true);
                }
            }
            _ => {}
        }
    }
    let Some(mut held) = held else { return Held::keep(ui, None) };
    if !went_down_before && !response.is_pointer_button_down_on() && !held.going {
        // Something that lies on the canvas took it.
        return Held::keep(ui, None);
    }
    if response.dragged_by(PointerButton::Primary) {
        // Held for long without moving it is no click either.
        begin(cx, pane, frame, &mut held);
    }
    let is_over = !ui.input(|input| input.pointer.any_down());
    let held = go_on(cx, pane, frame, held, is_over);
    Held::keep(ui, held);
}

/// Whether nothing lies over the canvas at a place: a window, the divider or the map.
fn is_uncovered(ui: &Ui, response: &Response, at: Pos2) -> bool {
    let lies_over = |name: &str| ui.ctx().read_response(Id::unique(name)).is_some_and(|over| over.interact_rect.contains(at));
    let top = ui.ctx().layer_id_at(at).is_none_or(|layer| layer == response.layer_id);
    top && !["wipe divider", "mini-map"].into_iter().any(lies_over)
}

/// Tells the tool that the button went down for a drag, once.
fn begin(cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, held: &mut Held) {
    if !std::mem::replace(&mut held.going, true) {
        cx.send(Action::Tool(press(pane, frame, frame.image_from_ui(pane, held.origin), held.straight)));
    }
}

/// Tells the tool where a drag went, and that it is over; what goes on comes back.
fn go_on(cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, mut held: Held, is_over: bool) -> Option<Held> {
    if held.going && !held.trail.is_empty() {
        let path = std::mem::take(&mut held.trail).into_iter().map(|at| frame.image_from_ui(pane, at)).collect();
        cx.send(Action::Tool(ToolAction::Drag(path)));
    }
    if held.going && is_over {
        cx.send(Action::Tool(ToolAction::Release));
    }
    (!is_over).then_some(held)
}

/// Ends a gesture whose pane is gone, because another compare mode or edit was chosen meanwhile.
pub fn end_lost_ui(ui: &Ui, cx: &Context<'_>, panes: &[Pane<'_>], frame: &Frame<'_>) {
    let is_there = |index: usize| panes.iter().any(|pane| pane.index == index && pane.is_selected(frame));
    if let Some(lost) = Held::of(ui).filter(|held| !is_there(held.pane))
        && !ui.input(|input| input.pointer.any_down())
    {
        if lost.going {
            cx.send(Action::Tool(ToolAction::Release));
        }
        Held::keep(ui, None);
    }
}

/// Regions, handles and the stroke in progress over one pane; the labels of boxes are added to `labels`.
pub fn paint_ui(ui: &Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, labels: &mut Vec<Label>) {
    let tools = &cx.state.tools;
    let Some(document) = tools.document_of(frame.row.id) else { return };
    if frame.size.pixels() == 0 {
        return;
    }
    let painter = ui.painter().with_clip_rect(pane.clip);
    region_paint::masks_ui(ui, cx, &painter, pane, frame, document);
    region_paint::boxes_ui(ui, cx, pane, frame, document, labels);
    if let Some(sketch) = &tools.sketch {
        region_paint::sketch_ui(ui, cx, &painter, pane, frame, sketch);
    }
    region_paint::prompt_ui(ui, cx, &painter, pane, frame);
    let stroke_elsewhere = matches!(tools.sketch, Some(Sketch::Polygon { .. } | Sketch::Lasso { .. }));
    if !stroke_elsewhere {
        region_paint::brush_ui(ui, cx, &painter, pane, frame);
    }
}
