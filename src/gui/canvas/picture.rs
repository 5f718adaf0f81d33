//! Draws pictures and other layers in tiles: only those that are visible, at the level of the pyramid that fits the screen.

use egui::{Color32, Painter, Pos2, Rect, RichText, Ui, Vec2, pos2, vec2};

use crate::domain::{Point, Side, Size};
use crate::editor::{Content, DifferenceView, View};
use crate::engine::{DifferenceKind, level_sizes};

use super::frame::{Frame, Pane, ui_rect, wanted};
use crate::gui::context::Context;
use crate::gui::pictures::{Ready, Slot, Wanted};
use crate::gui::raster::{Style, TILE, TilePlace};

/// Gain in steps of a quarter, so that a slider does not make a new tile for each thousandth.
pub fn gain_step(gain: f32) -> f32 {
    (gain * 4.0).round() / 4.0
}

/// What a difference view is made of, and its colours.
pub const fn difference_of(view: DifferenceView) -> (DifferenceKind, Style) {
    match view {
        DifferenceView::L2 => (DifferenceKind::L2, Style::Heat),
        DifferenceView::Absolute => (DifferenceKind::Absolute, Style::Plain),
        DifferenceView::Signed => (DifferenceKind::Signed, Style::Signed),
    }
}

/// Draws what a pane shows.
pub fn pane_ui(ui: &mut Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>) {
    let path = |side| match side {
        Side::Source => &pane.row.source,
        Side::Edit => cx.edited_of(pane.row),
    };
    let picture = |side| picture_of(cx, pane, frame, path(side));
    match pane.content {
        Content::Picture(side) => slot_ui(ui, cx, pane, frame, &picture(side), Style::Plain, 1.0, Color32::WHITE),
        Content::Onion => {
            slot_ui(ui, cx, pane, frame, &picture(Side::Source), Style::Plain, 1.0, Color32::WHITE);
            let tint = Color32::WHITE.gamma_multiply(cx.state.compare.onion);
            slot_ui(ui, cx, pane, frame, &picture(Side::Edit), Style::Plain, 1.0, tint);
        }
        Content::Difference => {
            let missing = [Side::Source, Side::Edit].map(picture).into_iter().find(|wanted| cx.pictures.ready(wanted).is_none());
            if let Some(missing) = missing {
                slot_ui(ui, cx, pane, frame, &missing, Style::Plain, 1.0, Color32::WHITE);
                return;
            }
            let (kind, style) = difference_of(cx.state.compare.difference);
            let difference = Wanted::Difference { source: pane.row.source.clone(), edit: cx.edited_of(pane.row).clone(), kind };
            wanted(cx, difference.clone());
            slot_ui(ui, cx, pane, frame, &difference, style, gain_step(cx.state.compare.gain), Color32::WHITE);
        }
    }
}

/// The picture at `path`: whole for the selected edit, reduced for the others of the grid.
fn picture_of(cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, path: &std::path::Path) -> Wanted {
    let full = Wanted::Full(path.to_path_buf());
    if pane.is_selected(frame) || cx.pictures.ready(&full).is_some() {
        // The frame asks for the pair itself, but not for what stands in for the edit.
        wanted(cx, full.clone());
        return full;
    }
    let reduced = Wanted::Reduced(path.to_path_buf());
    wanted(cx, reduced.clone());
    reduced
}

/// Draws a layer, or says why it is not there.
#[expect(clippy::too_many_arguments, reason = "what, where and how; a struct would be filled in and taken apart once")]
fn slot_ui(ui: &mut Ui, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, what: &Wanted, style: Style, gain: f32, tint: Color32) {
    match cx.pictures.get(what) {
        Some(Slot::Ready(ready)) => layer_ui(&ui.painter().with_clip_rect(pane.clip), cx, pane, frame, ready, Look { style, gain, tint }),
        Some(Slot::Failed(why)) => {
            failed_ui(ui, cx, pane, why);
        }
        Some(Slot::Loading) | None => {
            ui.put(Rect::from_center_size(pane.clip.center(), vec2(24.0, 24.0)), egui::Spinner::new());
        }
    }
}

/// What is wrong with a picture, in the middle of its pane, and a way to try again.
fn failed_ui(ui: &mut Ui, cx: &Context<'_>, pane: &Pane<'_>, why: &str) {
    let room = pane.clip.shrink2((pane.clip.size() * 0.2).min(vec2(24.0, 24.0)));
    let palette = cx.palette(ui);
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(room).layout(egui::Layout::top_down(egui::Align::Center)));
    inner.set_clip_rect(pane.clip);
    inner.spacing_mut().item_spacing.y = 8.0;
    inner.add_space((room.height() * 0.4 - 40.0).max(0.0));
    inner.add(egui::Label::new(RichText::new("⚠ This picture cannot be shown.").strong().color(palette.bad.0)).wrap());
    inner.add(egui::Label::new(RichText::new(why).color(palette.text.0)).wrap());
    crate::gui::panels::tool_strip::read_again_ui(&mut inner, cx);
}

/// How a layer is coloured.
#[derive(Clone, Copy)]
pub struct Look {
    pub style: Style,
    /// Differences are multiplied by this.
    pub gain: f32,
    pub tint: Color32,
}

/// Draws the visible part of a layer over a pane of the canvas, stretched to it.
pub fn layer_ui(painter: &Painter, cx: &Context<'_>, pane: &Pane<'_>, frame: &Frame<'_>, ready: &Ready, look: Look) {
    let place = Place { rect: pane.rect, clip: pane.clip, view: frame.drawn(), canvas: frame.size, ppp: frame.ppp };
    place.layer_ui(painter, cx, ready, look);
}

/// Where pictures are drawn: an area of the window with a zoom and pan. Other panels than the canvas draw theirs with it too.
#[derive(Clone, Copy)]
pub struct Place {
    /// The area that zoom and pan refer to.
    pub rect: Rect,
    /// The part of it that is seen.
    pub clip: Rect,
    /// The view with fit spelled out.
    pub view: View,
    /// The size that pictures are stretched to, in whose pixels the view is told.
    pub canvas: Size,
    /// Screen pixels a point.
    pub ppp: f32,
}

impl Place {
    /// Draws the visible part of a picture.
    pub fn picture_ui(&self, painter: &Painter, cx: &Context<'_>, ready: &Ready) {
        self.layer_ui(painter, cx, ready, Look { style: Style::Plain, gain: 1.0, tint: Color32::WHITE });
    }

    /// Draws the visible part of a layer. A tile that is not there yet is stood in for by the coarsest level.
    fn layer_ui(&self, painter: &Painter, cx: &Context<'_>, ready: &Ready, look: Look) {
        let Some(layer) = &ready.layer else { return };
        let placed = Placed { place: self, size: layer.size() };
        if placed.size.pixels() == 0 || self.canvas.pixels() == 0 {
            return;
        }
        let levels = level_sizes(placed.size);
        let coarsest = levels.len() - 1;
        let level = placed.level().min(coarsest);
        let whole = ready.whole.as_ref().filter(|_| look.style == Style::Plain);
        let whole_part = |texture: &egui::TextureHandle| Part { level: coarsest, origin: Vec2::ZERO, texture: texture.size_vec2() };
        if let Some(whole) = whole.filter(|_| level == coarsest) {
            placed.part_ui(painter, whole.id(), look.tint, &whole_part(whole), full(levels[level]));
            return;
        }
        for place in placed.visible_tiles(level, levels[level]) {
            let (left, top, width, height) = place.texels(levels[level]);
            let texels = Rect::from_min_size(pos2(left as f32, top as f32), vec2(width as f32, height as f32));
            if let Some(texture) = cx.pictures.tile(ready, look.style, look.gain, place) {
                // The rim of one texel lies left of and above the tile's first.
                let part = Part { level, origin: vec2(left as f32 - 1.0, top as f32 - 1.0), texture: texture.size_vec2() };
                placed.part_ui(painter, texture.id(), look.tint, &part, texels);
            } else if let Some(whole) = whole {
                let shrink = (1 << (coarsest - level)) as f32;
                let coarse = Rect::from_min_max((texels.min.to_vec2() / shrink).to_pos2(), (texels.max.to_vec2() / shrink).to_pos2());
                placed.part_ui(painter, whole.id(), look.tint, &whole_part(whole), coarse);
            }
        }
    }
}

const fn full(size: Size) -> Rect {
    Rect::from_min_max(Pos2::ZERO, Pos2::new(size.width as f32, size.height as f32))
}

/// A texture that shows a part of a level.
struct Part {
    level: usize,
    /// The texel of the level that lies at the texture's top left corner.
    origin: Vec2,
    /// Size of the texture in texels.
    texture: Vec2,
}

/// A layer at its place.
struct Placed<'a> {
    place: &'a Place,
    /// Size of the layer's finest level; it is stretched to the canvas.
    size: Size,
}

impl Placed<'_> {
    /// Canvas pixels a layer pixel.
    fn stretch(&self) -> Vec2 {
        let canvas = self.place.canvas;
        vec2(canvas.width as f32 / self.size.width as f32, canvas.height as f32 / self.size.height as f32)
    }

    /// The coarsest level that still has a texel for each screen pixel.
    fn level(&self) -> usize {
        let screen_pixels = self.place.view.zoom * self.place.ppp * self.stretch().max_elem();
        // A hair below a power of two is that power, not the level below it.
        if screen_pixels >= 1.0 { 0 } else { ((1.0 / screen_pixels).log2() + 1e-4).floor() as usize }
    }

    /// The tiles of a level that the pane shows.
    fn visible_tiles(&self, level: usize, size: Size) -> Vec<TilePlace> {
        let pane = ui_rect(self.place.rect);
        let at = |p: Pos2| self.place.view.image_from_ui(&pane, Point::new(p.x, p.y));
        let (first, last) = (at(self.place.clip.min), at(self.place.clip.max));
        let stretch = self.stretch() * (1 << level) as f32;
        let tiles = |from: f32, to: f32, texel: f32, side: u32| {
            let last = side.div_ceil(TILE).max(1) - 1;
            let tile = |at: f32| ((at / texel / TILE as f32).floor().max(0.0) as u32).min(last);
            // Nothing is visible of a picture that lies beside the pane.
            if to <= 0.0 || from >= side as f32 * texel { 0..0 } else { tile(from)..tile(to) + 1 }
        };
        let columns = tiles(first.x, last.x, stretch.x, size.width);
        let rows = tiles(first.y, last.y, stretch.y, size.height);
        let level = level as u8;
        rows.flat_map(|row| columns.clone().map(move |column| TilePlace { level, column, row })).collect()
    }

    /// Draws the texels `texels` of a level. What a coarse texel shows beyond the picture's border is cut off.
    fn part_ui(&self, painter: &Painter, texture: egui::TextureId, tint: Color32, part: &Part, texels: Rect) {
        let factor = (1 << part.level) as f32;
        let (width, height) = (self.size.width as f32, self.size.height as f32);
        let pixels = |p: Pos2| pos2((p.x * factor).min(width), (p.y * factor).min(height));
        let (first, last) = (pixels(texels.min), pixels(texels.max));
        let stretch = self.stretch();
        let pane = ui_rect(self.place.rect);
        let at = |p: Pos2| {
            let p = self.place.view.ui_from_image(&pane, Point::new(p.x * stretch.x, p.y * stretch.y));
            pos2(p.x, p.y)
        };
        let uv = |p: Pos2| ((p.to_vec2() / factor - part.origin) / part.texture).to_pos2();
        painter.image(texture, Rect::from_min_max(at(first), at(last)), Rect::from_min_max(uv(first), uv(last)), tint);
    }
}
