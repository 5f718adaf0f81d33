//! Textures: pictures, thumbnails, masks and change maps, made on other threads and kept within a budget.
//!
//! This is the only door between data and the GPU. Panels ask with [`Wanted`]; what is missing is decoded by the engine, turned into
//! texels by the `raster` thread and uploaded here.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use egui::{TextureFilter, TextureHandle, TextureOptions};

use crate::domain::Size;
use crate::editor::RowId;
use crate::engine::{ChangeMap, PictureRequest, PictureToken, Pixels, Request};

use super::engine_link::EngineLink;
use super::raster::{Job, Raster, Texels};

/// Longest side of a thumbnail, in pixels: the queue shows 44 points, twice that on a HiDPI screen.
const THUMB_SIDE: u32 = 96;
/// Longest side of a picture on the canvas; larger ones are shown smaller. Within what every GPU takes.
pub const FULL_SIDE: u32 = 4096;
/// Texture memory to stay below, in bytes.
const BUDGET: usize = 768 << 20;
/// Thumbnails on their way at one time; more would make the person wait for those that scrolled away.
const THUMBS_UNDERWAY: usize = 12;

/// Names something that can be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    Thumb(PathBuf),
    Full(PathBuf),
    /// The edit mask of the selected edit's score.
    Mask(RowId),
    Change {
        source: PathBuf,
        edit: PathBuf,
    },
}

/// Something that can be drawn now.
pub struct Ready {
    pub texture: TextureHandle,
    /// A second layer: the outline of a mask.
    pub outline: Option<TextureHandle>,
    /// Size of the upright picture on disk.
    pub full_size: Size,
    /// The pixels, for the probe.
    pub pixels: Option<Arc<Pixels>>,
}

/// Where something that was asked for stands.
pub enum Slot {
    Loading,
    Ready(Ready),
    /// Why it cannot be shown.
    Failed(String),
}

struct Entry {
    slot: Slot,
    bytes: usize,
    used_in_frame: Cell<u64>,
}

/// All textures of the window.
#[derive(Default)]
pub struct Pictures {
    entries: HashMap<Wanted, Entry>,
    tokens: HashMap<PictureToken, Wanted>,
    frame: u64,
}

impl Pictures {
    /// What was asked for, and marks it as used; `None` when nobody asked yet.
    pub fn get(&self, wanted: &Wanted) -> Option<&Slot> {
        let entry = self.entries.get(wanted)?;
        entry.used_in_frame.set(self.frame);
        Some(&entry.slot)
    }

    /// It, if it can be drawn.
    pub fn ready(&self, wanted: &Wanted) -> Option<&Ready> {
        match self.get(wanted)? {
            Slot::Ready(ready) => Some(ready),
            Slot::Loading | Slot::Failed(_) => None,
        }
    }

    /// How many things are on their way.
    pub fn underway(&self) -> usize {
        self.entries.values().filter(|entry| matches!(entry.slot, Slot::Loading)).count()
    }

    /// Asks for a picture, thumbnail or change map that is missing. Masks come through [`Self::want_mask`].
    pub fn want(&mut self, wanted: Wanted, engine: &dyn EngineLink) {
        if self.entries.contains_key(&wanted) {
            return;
        }
        let is_thumb = |entry: (&Wanted, &Entry)| matches!(entry, (Wanted::Thumb(_), Entry { slot: Slot::Loading, .. }));
        let token = engine.new_picture();
        let request = match &wanted {
            Wanted::Thumb(_) if self.entries.iter().filter(|entry| is_thumb(*entry)).count() >= THUMBS_UNDERWAY => return,
            Wanted::Thumb(path) => Request::Picture(token, PictureRequest { path: path.clone(), max_side: Some(THUMB_SIDE) }),
            Wanted::Full(path) => Request::Picture(token, PictureRequest { path: path.clone(), max_side: Some(FULL_SIDE) }),
            Wanted::Change { source, edit } => Request::ChangeMap { token, source: source.clone(), edit: edit.clone() },
            Wanted::Mask(_) => return,
        };
        self.tokens.insert(token, wanted.clone());
        self.entries.insert(wanted, self.loading());
        engine.send(request);
    }

    /// Has the texels of a mask made.
    pub fn want_mask(&mut self, row: RowId, score: &Arc<crate::domain::Score>, raster: &Raster) {
        let wanted = Wanted::Mask(row);
        if !self.entries.contains_key(&wanted) {
            self.entries.insert(wanted.clone(), self.loading());
            raster.send(wanted, Job::Mask(Arc::clone(score)));
        }
    }

    /// Drops something, so that it is made anew.
    pub fn forget(&mut self, wanted: &Wanted) {
        self.entries.remove(wanted);
    }

    /// Drops everything (another project is opened).
    pub fn clear(&mut self) {
        self.entries.clear();
        self.tokens.clear();
    }

    /// The engine decoded a picture; answers nobody waits for any more are dropped.
    pub fn decoded(&mut self, token: PictureToken, result: Result<Arc<Pixels>, String>, raster: &Raster) {
        self.arrived(token, result.map(Job::Picture), raster);
    }

    /// The engine made a change map.
    pub fn compared(&mut self, token: PictureToken, result: Result<Arc<ChangeMap>, String>, raster: &Raster) {
        self.arrived(token, result.map(Job::Change), raster);
    }

    fn arrived(&mut self, token: PictureToken, result: Result<Job, String>, raster: &Raster) {
        let Some(wanted) = self.tokens.remove(&token) else { return };
        match result {
            Ok(job) => raster.send(wanted, job),
            Err(why) => self.set(wanted, Slot::Failed(why), 0),
        }
    }

    /// Uploads what the raster thread made, and drops what has not been used for longest when the budget is exceeded.
    pub fn begin_frame(&mut self, ctx: &egui::Context, raster: &Raster) {
        self.frame += 1;
        while let Some((wanted, result)) = raster.try_next() {
            // Something that was forgotten meanwhile is not wanted any more.
            if !self.entries.contains_key(&wanted) {
                continue;
            }
            match result {
                Ok(texels) => {
                    let bytes = texels.bytes();
                    let ready = upload(ctx, &wanted, texels);
                    self.set(wanted, Slot::Ready(ready), bytes);
                }
                Err(why) => self.set(wanted, Slot::Failed(why), 0),
            }
        }
        self.evict();
    }

    fn loading(&self) -> Entry {
        Entry { slot: Slot::Loading, bytes: 0, used_in_frame: Cell::new(self.frame) }
    }

    fn set(&mut self, wanted: Wanted, slot: Slot, bytes: usize) {
        self.entries.insert(wanted, Entry { slot, bytes, used_in_frame: Cell::new(self.frame) });
    }

    fn evict(&mut self) {
        let mut total: usize = self.entries.values().map(|entry| entry.bytes).sum();
        if total <= BUDGET {
            return;
        }
        let mut by_age: Vec<(u64, Wanted, usize)> =
            self.entries.iter().map(|(wanted, entry)| (entry.used_in_frame.get(), wanted.clone(), entry.bytes)).collect();
        by_age.sort_by_key(|(used, _, _)| *used);
        for (used, wanted, bytes) in by_age {
            if total <= BUDGET || used + 1 >= self.frame {
                break;
            }
            self.entries.remove(&wanted);
            total -= bytes;
        }
    }
}

fn upload(ctx: &egui::Context, wanted: &Wanted, texels: Texels) -> Ready {
    // Above 100 % a pixel is a square; below, neighbours are mixed.
    let options = TextureOptions { magnification: TextureFilter::Nearest, minification: TextureFilter::Linear, ..TextureOptions::LINEAR };
    let name = format!("{wanted:?}");
    Ready {
        texture: ctx.load_texture(&name, texels.image, options),
        outline: texels.outline.map(|image| ctx.load_texture(format!("{name} outline"), image, options)),
        full_size: texels.full_size,
        pixels: texels.pixels,
    }
}
