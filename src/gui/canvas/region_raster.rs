//! Masks as they look on the screen, one texel a screen pixel of the pane: the cost goes with the window, not with the picture.
//!
//! Texels are made by rayon's threads. The window's thread waits a moment for them, which is enough for a pane of ordinary size; what takes
//! longer (a window on a 4k screen) comes a few frames later, and until then the texels of the frame before stand in, moved and stretched
//! with the picture.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded};
use egui::{Color32, ColorImage, Painter, Rect, TextureHandle, TextureOptions, Ui, pos2};
use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;

use super::{Frame, Pane};
use crate::domain::Mask;
use crate::editor::RowId;
use crate::gui::context::Context;

/// How long a frame waits for texels.
const WAIT: Duration = Duration::from_millis(4);

/// How the inside of a mask is filled, so that masks are told apart without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hatch {
    /// Lines that rise to the right: the edit mask, as in the legend.
    Right,
    /// Lines that rise to the left: ignored pixels, as in the legend.
    Left,
    /// Dots: a proposal.
    Dots,
    None,
}

/// A mask to draw, of the size of the canvas.
pub struct Layer {
    pub mask: Arc<Mask>,
    pub color: Color32,
    /// Of the inside, in `0..=1`.
    pub opacity: f32,
    /// Of the outline, in `0..=1`.
    pub outline: f32,
    pub hatch: Hatch,
}

/// What the texels were made from; they are made anew when it differs.
#[derive(Clone, PartialEq)]
struct Made {
    revision: u64,
    seen: [f32; 4],
    texels: [usize; 2],
    looks: Vec<(Color32, [u32; 2], Hatch)>,
}

/// What a pane shows, and what is being made for it.
#[derive(Default)]
struct Kept {
    shown: Option<(Made, TextureHandle)>,
    coming: Option<(Made, Receiver<ColorImage>)>,
    used_in_frame: u64,
}

/// Names what is kept: by the pane and not by where it lies, so that dragging a divider or a panel goes on with the same texture.
type Key = (&'static str, RowId, usize);

/// The textures of all panes. What a pane no longer shows is dropped two frames later.
#[derive(Default)]
pub struct RegionTextures {
    kept: RefCell<HashMap<Key, Kept>>,
    frame: Cell<u64>,
    /// How many panes' texels are being made.
    underway: Arc<AtomicUsize>,
}

impl RegionTextures {
    /// Drops what neither of the last two frames drew.
    pub fn begin_frame(&mut self) {
        let frame = self.frame.get() + 1;
        self.frame.set(frame);
        self.kept.get_mut().retain(|_, kept| kept.used_in_frame + 2 >= frame);
    }

    /// Bytes of texture memory.
    pub fn bytes(&self) -> usize {
        self.kept.borrow().values().filter_map(|kept| kept.shown.as_ref()).map(|(_, texture)| texture.byte_size()).sum()
    }

    /// Whether no texels are on their way.
    pub fn is_settled(&self) -> bool {
        self.underway.load(Ordering::Acquire) == 0
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.kept.get_mut().clear();
    }
}

/// Draws the layers over the part of the canvas that the pane shows. `name` and `revision` say when the texels of the last frame still hold.
pub fn layers_ui(
    cx: &Context<'_>,
    ui: &Ui,
    painter: &Painter,
    (pane, frame): (&Pane<'_>, &Frame<'_>),
    (name, revision): (&'static str, u64),
    layers: Vec<Layer>,
) {
    let textures = &cx.pictures.region_layers;
    let key = (name, frame.row.id, pane.index);
    if layers.is_empty() {
        textures.kept.borrow_mut().remove(&key);
        return;
    }
    let picture = frame.ui_rect_from_image(pane, &crate::domain::Rect::whole(frame.size));
    let on_screen = picture.intersect(pane.clip);
    if on_screen.width() < 1.0 || on_screen.height() < 1.0 {
        return;
    }
    let (from, to) = (frame.image_from_ui(pane, on_screen.min), frame.image_from_ui(pane, on_screen.max));
    let ppp = ui.ctx().pixels_per_point();
    let texels = [(on_screen.width() * ppp).round().max(1.0) as usize, (on_screen.height() * ppp).round().max(1.0) as usize];
    let looks = layers.iter().map(|layer| (layer.color, [layer.opacity, layer.outline].map(f32::to_bits), layer.hatch)).collect();
    let made = Made { revision, seen: [from.x, from.y, to.x, to.y], texels, looks };
    let mut all = textures.kept.borrow_mut();
    let kept = all.entry(key).or_default();
    kept.used_in_frame = textures.frame.get();
    kept.go_on(ui.ctx(), &textures.underway, name, made, layers);
    if let Some((made, texture)) = &kept.shown {
        let [x0, y0, x1, y1] = made.seen;
        let place = frame.ui_rect_from_image(pane, &crate::domain::Rect::new(x0, y0, x1, y1));
        painter.image(texture.id(), place, Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), Color32::WHITE);
    }
}

impl Kept {
    /// Takes in what has been made, and has `wanted` made of `layers` where it is something else and no thread is at work for this pane.
    fn go_on(&mut self, ctx: &egui::Context, underway: &Arc<AtomicUsize>, name: &str, wanted: Made, layers: Vec<Layer>) {
        self.take(ctx, name, Duration::ZERO);
        if self.coming.is_some() || self.shown.as_ref().is_some_and(|(made, _)| *made == wanted) {
            return;
        }
        let (outgoing, incoming) = bounded(1);
        let underway = Arc::clone(underway);
        underway.fetch_add(1, Ordering::AcqRel);
        let (seen, texels, repaint) = (wanted.seen, wanted.texels, ctx.clone());
        rayon::spawn(move || {
            // Nobody takes it when the pane is gone.
            let _ = outgoing.send(raster(&layers, seen, texels));
            drop(layers);
            underway.fetch_sub(1, Ordering::AcqRel);
            repaint.request_repaint();
        });
        self.coming = Some((wanted, incoming));
        self.take(ctx, name, WAIT);
    }

    fn take(&mut self, ctx: &egui::Context, name: &str, wait: Duration) {
        let Some((made, coming)) = self.coming.take() else { return };
        match coming.recv_timeout(wait) {
            Ok(image) => {
                let texture = match self.shown.take() {
                    Some((_, mut texture)) => {
                        texture.set(image, TextureOptions::NEAREST);
                        texture
                    }
                    None => ctx.load_texture(name, image, TextureOptions::NEAREST),
                };
                self.shown = Some((made, texture));
            }
            Err(crossbeam_channel::RecvTimeoutError::Timeout) => self.coming = Some((made, coming)),
            // The thread failed; the next frame asks again.
            Err(crossbeam_channel::RecvTimeoutError::Disconnected) => {}
        }
    }
}

/// Rows of texels that a thread does in one go: each looks at the mask once and serves as its neighbours' neighbour.
const BAND: usize = 32;

/// The texels of the part `[x0, y0, x1, y1]` of the canvas: each shows the mask's pixel under its middle.
fn raster(layers: &[Layer], [x0, y0, x1, y1]: [f32; 4], [width, height]: [usize; 2]) -> ColorImage {
    let step = ((x1 - x0) / width as f32, (y1 - y0) / height as f32);
    // One texel more on each side, to see outlines at the border.
    let place = |i: usize, from: f32, step: f32| (from + (i as f32 - 0.5) * step).floor();
    let columns: Vec<Option<u32>> = (0..width + 2).map(|i| as_index(place(i, x0, step.0))).collect();
    let mut image = ColorImage::filled([width, height], Color32::TRANSPARENT);
    let row_of = |row: usize| as_index(place(row, y0, step.1));
    let inside = |layer: &Layer, row: usize| -> Vec<bool> {
        let y = row_of(row);
        columns.iter().map(|x| x.zip(y).is_some_and(|(x, y)| layer.mask.get(x, y))).collect()
    };
    // All threads but one: the window's needs a core to go on drawing.
    let least_bands = height.div_ceil(BAND).div_ceil(rayon::current_num_threads().saturating_sub(1).max(1));
    image.pixels.par_chunks_mut(width * BAND).with_min_len(least_bands).enumerate().for_each(|(band, rows)| {
        let first = band * BAND;
        for layer in layers {
            let (mut above, mut here) = (inside(layer, first), inside(layer, first + 1));
            for (offset, row) in rows.chunks_mut(width).enumerate() {
                let j = first + offset;
                // Above 100 % several rows of texels show one row of the mask.
                let below = if row_of(j + 2) == row_of(j + 1) { here.clone() } else { inside(layer, j + 2) };
                for (i, texel) in row.iter_mut().enumerate().filter(|(i, _)| here[i + 1]) {
                    let border = !(here[i] && here[i + 2] && above[i + 1] && below[i + 1]);
                    let strength = if border { layer.outline.max(layer.opacity) } else { layer.opacity * pattern(layer.hatch, i, j) };
                    *texel = over(*texel, layer.color.gamma_multiply(strength));
                }
                (above, here) = (here, below);
            }
        }
    });
    image
}

fn as_index(place: f32) -> Option<u32> {
    (place >= 0.0).then_some(place as u32)
}

/// How strongly a texel of the inside is drawn.
fn pattern(hatch: Hatch, i: usize, j: usize) -> f32 {
    let on = match hatch {
        Hatch::Right => (i + j) % 8 < 2,
        Hatch::Left => (i + 8 - j % 8) % 8 < 2,
        Hatch::Dots => i % 5 < 2 && j % 5 < 2,
        Hatch::None => return 0.0,
    };
    if on { 1.0 } else { 0.45 }
}

/// `top` over `bottom`, both premultiplied.
fn over(bottom: Color32, top: Color32) -> Color32 {
    let rest = 255 - u16::from(top.a());
    let mix = |bottom: u8, top: u8| (u16::from(top) + (u16::from(bottom) * rest + 127) / 255).min(255) as u8;
    Color32::from_rgba_premultiplied(mix(bottom.r(), top.r()), mix(bottom.g(), top.g()), mix(bottom.b(), top.b()), mix(bottom.a(), top.a()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Size;

    #[test]
    fn texels_show_the_pixel_under_their_middle() {
        // A 4×2 mask, its right half set, drawn twice as large: the right four columns of eight are drawn.
        let mask = Mask::from_fn(Size::new(4, 2), |x, _| x >= 2);
        let layers = [Layer { mask: Arc::new(mask), color: Color32::WHITE, opacity: 0.0, outline: 1.0, hatch: Hatch::Right }];
        let image = raster(&layers, [0.0, 0.0, 4.0, 2.0], [8, 4]);
        let drawn: Vec<bool> = image.pixels[8..16].iter().map(|texel| texel.a() > 0).collect();
        // Opacity 0 leaves the outline: the mask's left edge, and its right edge at the border of the picture.
        assert_eq!(drawn, [false, false, false, false, true, false, false, true]);
    }

    #[test]
    fn rows_at_the_seam_of_two_bands_know_their_neighbours() {
        // A full mask of 3×70, more than two bands high: in its middle column only the first and the last texel are outline.
        let mask = Mask::from_fn(Size::new(3, 70), |_, _| true);
        let layers = [Layer { mask: Arc::new(mask), color: Color32::WHITE, opacity: 0.0, outline: 1.0, hatch: Hatch::None }];
        let image = raster(&layers, [0.0, 0.0, 3.0, 70.0], [3, 70]);
        let drawn: Vec<usize> = (0..70).filter(|row| image.pixels[row * 3 + 1].a() > 0).collect();
        assert_eq!(drawn, [0, 69]);
    }
}
