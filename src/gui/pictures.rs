//! Textures: pictures, thumbnails, masks and differences, made on other threads and kept within two budgets.
//!
//! This is the only door between data and the GPU. Panels ask with [`Wanted`]; what is missing is decoded by the engine and kept in memory
//! as a pyramid of halved sizes. The canvas then asks for the tiles that it shows, which the `raster` thread makes and this uploads. So no
//! texture is larger than a tile, however large the picture, and only what is visible is on the GPU.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{ColorImage, TextureFilter, TextureHandle, TextureOptions};

use crate::domain::{Size, rle::Rle};
use crate::editor::RowId;
use crate::engine::{CanvasEvent, CanvasRequest, DifferenceKind, Picture, PictureRequest, PictureToken, Pixels, Request};

use super::canvas::RegionTextures;
use super::engine_link::EngineLink;
use super::raster::{self, Answer, Job, Layer, Raster, Style, TileJob, TilePlace};

/// Longest side of a thumbnail, in pixels: the queue shows 44 points, twice that on a HiDPI screen.
const THUMB_SIDE: u32 = 96;
/// Longest side of a picture of the grid; larger ones are shown smaller there, or 25 large pictures would not fit into memory.
const REDUCED_SIDE: u32 = 2048;
/// Texture memory to stay below, in bytes: two windows full of tiles on a 4k screen take about 100 MiB for each picture.
pub const TEXTURE_BUDGET: usize = 512 << 20;
/// Memory for decoded pictures to stay below, in bytes: four pictures of 8192×8192 with their mip levels take 256 MiB each.
pub const MEMORY_BUDGET: usize = 1 << 30;
/// Thumbnails on their way at one time; more would make the person wait for those that scrolled away.
const THUMBS_UNDERWAY: usize = 12;
/// Tiles on their way at one time, for the same reason.
const TILES_UNDERWAY: usize = 8;
/// Bytes uploaded in one frame; the rest waits for the next, so that no frame takes long.
const UPLOAD_A_FRAME: usize = 24 << 20;

/// Names something that can be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    Thumb(PathBuf),
    Full(PathBuf),
    /// A picture of the grid, at most 2048 pixels on its longest side.
    Reduced(PathBuf),
    /// The edit mask of the selected edit's score.
    Mask(RowId),
    /// What differs, at the size of the source. Both pictures must be there ([`Wanted::Full`]).
    Difference {
        source: PathBuf,
        edit: PathBuf,
        kind: DifferenceKind,
    },
}

/// Something that can be drawn now; `canvas::Place::picture_ui` draws a picture in tiles.
pub struct Ready {
    /// Size of the upright picture on disk (of a mask or difference: that of the source).
    pub full_size: Size,
    /// All of it, as a small texture: a thumbnail, or the coarsest level of a picture. Masks and differences have only tiles.
    pub whole: Option<TextureHandle>,
    /// What tiles are made of; thumbnails have none.
    pub layer: Option<Layer>,
    /// Tells this layer's tiles from those of what was there before.
    id: u64,
}

impl Ready {
    /// The decoded picture, for the probe.
    pub fn picture(&self) -> Option<&Arc<Picture>> {
        self.layer.as_ref().and_then(Layer::picture)
    }
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
    /// Texture memory of `whole`.
    texture_bytes: usize,
    used_in_frame: Cell<u64>,
}

/// Names a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileKey {
    layer: u64,
    style: Style,
    place: TilePlace,
}

struct Tile {
    texture: Option<TextureHandle>,
    /// The gain of its colours; a tile of another gain is drawn until the new one is there.
    gain: f32,
    underway: bool,
    bytes: usize,
    used_in_frame: Cell<u64>,
}

/// All textures of the window.
#[derive(Default)]
pub struct Pictures {
    entries: HashMap<Wanted, Entry>,
    tokens: HashMap<PictureToken, Wanted>,
    tiles: HashMap<TileKey, Tile>,
    wishes: RefCell<Vec<(TileKey, TileJob)>>,
    /// Masks of a person as the panes show them.
    pub(super) region_layers: RegionTextures,
    next_layer: u64,
    frame: u64,
    /// Answers wait for the next frame because this one has uploaded enough.
    more_to_upload: bool,
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

    /// How many things are on their way, tiles included.
    pub fn underway(&self) -> usize {
        let entries = self.entries.values().filter(|entry| matches!(entry.slot, Slot::Loading)).count();
        entries + self.tiles.values().filter(|tile| tile.underway).count() + self.wishes.borrow().len()
    }

    /// Whether another frame is needed for tiles: some are wished for, or wait to be uploaded.
    pub fn needs_frame(&self) -> bool {
        self.more_to_upload || !self.wishes.borrow().is_empty()
    }

    /// Bytes of (texture, picture) memory in use.
    pub fn memory(&self) -> (usize, usize) {
        let whole: usize = self.entries.values().map(|entry| entry.texture_bytes).sum();
        let tiles: usize = self.tiles.values().map(|tile| tile.bytes).sum();
        (whole + tiles + self.region_layers.bytes(), self.entries.values().map(layer_bytes).sum())
    }

    /// The texture of a tile, whatever its gain; a tile that is missing or of another gain is wished for.
    pub fn tile(&self, ready: &Ready, style: Style, gain: f32, place: TilePlace) -> Option<&TextureHandle> {
        let key = TileKey { layer: ready.id, style, place };
        let tile = self.tiles.get(&key);
        if let Some(layer) = &ready.layer
            && tile.is_none_or(|tile| tile.gain != gain && !tile.underway)
        {
            self.wishes.borrow_mut().push((key, TileJob { layer: layer.clone(), style, gain, place }));
        }
        let tile = tile?;
        tile.used_in_frame.set(self.frame);
        tile.texture.as_ref()
    }

    /// Asks for a picture, thumbnail or difference that is missing. Masks come through [`Self::want_mask`]. A difference waits for its
    /// two pictures.
    pub fn want(&mut self, wanted: Wanted, engine: &dyn EngineLink) {
        self.ask(wanted, false, engine);
    }

    /// Asks for a picture that is likely to be looked at next; those that are looked at now go before it.
    pub fn want_ahead(&mut self, path: PathBuf, engine: &dyn EngineLink) {
        self.ask(Wanted::Full(path), true, engine);
    }

    fn ask(&mut self, wanted: Wanted, ahead: bool, engine: &dyn EngineLink) {
        if self.entries.contains_key(&wanted) {
            return;
        }
        let token = engine.new_picture();
        let picture = |path: &PathBuf, max_side| CanvasRequest::Picture { token, path: path.clone(), max_side, ahead };
        let request = match &wanted {
            Wanted::Thumb(_) if self.thumbs_underway() >= THUMBS_UNDERWAY => return,
            Wanted::Thumb(path) => Request::Picture(token, PictureRequest { path: path.clone(), max_side: Some(THUMB_SIDE) }),
            Wanted::Full(path) => Request::Canvas(picture(path, None)),
            Wanted::Reduced(path) => Request::Canvas(picture(path, Some(REDUCED_SIDE))),
            Wanted::Difference { source, edit, kind } => {
                let decoded = |path: &PathBuf| self.ready(&Wanted::Full(path.clone())).and_then(Ready::picture).cloned();
                let (Some(source), Some(edit)) = (decoded(source), decoded(edit)) else { return };
                Request::Canvas(CanvasRequest::Difference { token, source, edit, kind: *kind })
            }
            Wanted::Mask(_) => return,
        };
        self.tokens.insert(token, wanted.clone());
        self.set(wanted, Slot::Loading, 0);
        engine.send(request);
    }

    fn is_looked_at(&self, wanted: &Wanted) -> bool {
        self.entries.get(wanted).is_some_and(|entry| entry.used_in_frame.get() >= self.frame)
    }

    fn thumbs_underway(&self) -> usize {
        self.entries.iter().filter(|(wanted, entry)| matches!((wanted, &entry.slot), (Wanted::Thumb(_), Slot::Loading))).count()
    }

    /// Has the levels of a mask made.
    pub fn want_mask(&mut self, row: RowId, mask: Rle, raster: &Raster) {
        let wanted = Wanted::Mask(row);
        if !self.entries.contains_key(&wanted) {
            self.set(wanted.clone(), Slot::Loading, 0);
            raster.send(Job::Mask(wanted, mask));
        }
    }

    /// Drops something, so that it is made anew.
    pub fn forget(&mut self, wanted: &Wanted) {
        if let Some(Entry { slot: Slot::Ready(ready), .. }) = self.entries.remove(wanted) {
            self.tiles.retain(|key, _| key.layer != ready.id);
        }
    }

    /// Drops something that could not be shown, so that it is tried again.
    pub fn forget_failed(&mut self, wanted: &Wanted) {
        if self.entries.get(wanted).is_some_and(|entry| matches!(entry.slot, Slot::Failed(_))) {
            self.forget(wanted);
        }
    }

    /// Drops all that was made of these files, because they hold something else now. What is on its way is asked for again: it may be either.
    pub fn forget_files(&mut self, files: &HashSet<&Path>) {
        let is_of = |wanted: &Wanted| match wanted {
            Wanted::Thumb(path) | Wanted::Full(path) | Wanted::Reduced(path) => files.contains(path.as_path()),
            Wanted::Difference { source, edit, .. } => files.contains(source.as_path()) || files.contains(edit.as_path()),
            Wanted::Mask(_) => false,
        };
        let old: Vec<Wanted> = self.entries.keys().filter(|wanted| is_of(wanted)).cloned().collect();
        old.iter().for_each(|wanted| self.forget(wanted));
        self.tokens.retain(|_, wanted| !is_of(wanted));
    }

    /// Drops everything (another project is opened).
    pub fn clear(&mut self) {
        self.entries.clear();
        self.tokens.clear();
        self.tiles.clear();
        self.region_layers.clear();
        self.wishes.borrow_mut().clear();
    }

    /// The engine decoded a thumbnail; answers nobody waits for any more are dropped.
    pub fn decoded(&mut self, token: PictureToken, result: Result<Arc<Pixels>, String>, raster: &Raster) {
        let Some(wanted) = self.tokens.remove(&token) else { return };
        match result {
            Ok(pixels) => raster.send(Job::Thumb(wanted, pixels)),
            Err(why) => self.set(wanted, Slot::Failed(why), 0),
        }
    }

    /// The picture threads answered the canvas. Registrations are not kept here.
    ///
    /// What was looked at in the last frame gets its texture here and now: going over the raster thread would cost the person a frame.
    pub fn canvas_event(&mut self, ctx: &egui::Context, event: CanvasEvent, raster: &Raster) {
        match event {
            CanvasEvent::Picture { token, result } => {
                let Some(wanted) = self.tokens.remove(&token) else { return };
                match result {
                    Ok(picture) if self.is_looked_at(&wanted) => self.take(ctx, raster::base(wanted, picture)),
                    Ok(picture) => raster.send(Job::Base(wanted, picture)),
                    Err(why) => self.set(wanted, Slot::Failed(why), 0),
                }
            }
            CanvasEvent::Difference { token, pyramid } => {
                if let Some(wanted) = self.tokens.remove(&token) {
                    self.set_layer(wanted, None, Layer::Difference(pyramid));
                }
            }
            CanvasEvent::Dropped { token } => {
                if let Some(wanted) = self.tokens.remove(&token) {
                    self.entries.remove(&wanted);
                }
            }
            CanvasEvent::Registered { .. } => {}
        }
    }

    /// Uploads what the raster thread made, asks for the tiles that the last frame missed, and drops what has not been used for longest
    /// when a budget is exceeded.
    pub fn begin_frame(&mut self, ctx: &egui::Context, raster: &Raster) {
        self.frame += 1;
        self.region_layers.begin_frame();
        let mut uploaded = 0;
        self.more_to_upload = false;
        while let Some(answer) = raster.try_next() {
            uploaded += answer.bytes();
            self.take(ctx, answer);
            if uploaded >= UPLOAD_A_FRAME {
                self.more_to_upload = true;
                break;
            }
        }
        self.send_wishes(raster);
        self.evict();
    }

    fn take(&mut self, ctx: &egui::Context, answer: Answer) {
        let bytes = answer.bytes();
        match answer {
            // Something that was forgotten meanwhile is not wanted any more.
            Answer::Thumb { of, .. } | Answer::Base { of, .. } | Answer::Mask { of, .. } if !self.entries.contains_key(&of) => {}
            Answer::Thumb { of, result: Ok(image), full_size } => {
                let whole = Some(load(ctx, "thumbnail", image));
                let ready = Ready { full_size, whole, layer: None, id: self.new_layer() };
                self.set(of, Slot::Ready(ready), bytes);
            }
            Answer::Thumb { of, result: Err(why), .. } | Answer::Mask { of, result: Err(why) } => self.set(of, Slot::Failed(why), 0),
            Answer::Base { of, picture, image } => {
                let whole = load(ctx, "picture", image);
                self.set_layer(of, Some((whole, bytes)), Layer::Picture(picture));
            }
            Answer::Mask { of, result: Ok(levels) } => self.set_layer(of, None, Layer::Mask(levels)),
            Answer::Tile { key, gain, image } => {
                let Some(tile) = self.tiles.get_mut(&key) else { return };
                match &mut tile.texture {
                    Some(texture) => texture.set(image, options()),
                    none => *none = Some(load(ctx, "tile", image)),
                }
                (tile.gain, tile.underway, tile.bytes) = (gain, false, bytes);
            }
        }
    }

    fn send_wishes(&mut self, raster: &Raster) {
        let mut underway = self.tiles.values().filter(|tile| tile.underway).count();
        for (key, job) in self.wishes.take() {
            let tile = self.tiles.get(&key);
            if underway >= TILES_UNDERWAY || tile.is_some_and(|tile| tile.underway || tile.gain == job.gain) {
                // What is still missing in the next frame is wished for again.
                continue;
            }
            underway += 1;
            let (frame, gain) = (self.frame, job.gain);
            let tile =
                self.tiles.entry(key).or_insert(Tile { texture: None, gain, underway: false, bytes: 0, used_in_frame: Cell::new(frame) });
            tile.underway = true;
            raster.send(Job::Tile(key, job));
        }
    }

    fn new_layer(&mut self) -> u64 {
        self.next_layer += 1;
        self.next_layer
    }

    fn set_layer(&mut self, wanted: Wanted, whole: Option<(TextureHandle, usize)>, layer: Layer) {
        let full_size = layer.picture().map_or_else(|| layer.size(), |picture| picture.full_size);
        let (whole, bytes) = whole.map_or((None, 0), |(texture, bytes)| (Some(texture), bytes));
        let ready = Ready { full_size, whole, layer: Some(layer), id: self.new_layer() };
        self.set(wanted, Slot::Ready(ready), bytes);
    }

    fn set(&mut self, wanted: Wanted, slot: Slot, texture_bytes: usize) {
        self.entries.insert(wanted, Entry { slot, texture_bytes, used_in_frame: Cell::new(self.frame) });
    }

    /// What was drawn in the last two frames is never dropped, even if it alone exceeds a budget.
    fn evict(&mut self) {
        let (mut textures, mut memory) = self.memory();
        if textures <= TEXTURE_BUDGET && memory <= MEMORY_BUDGET {
            return;
        }
        let old = |used: &Cell<u64>, frame: u64| used.get() + 1 < frame;
        let mut tiles: Vec<(u64, TileKey, usize)> = self
            .tiles
            .iter()
            .filter(|(_, tile)| old(&tile.used_in_frame, self.frame) && !tile.underway)
            .map(|(key, tile)| (tile.used_in_frame.get(), *key, tile.bytes))
            .collect();
        tiles.sort_by_key(|(used, _, _)| *used);
        for (_, key, bytes) in tiles {
            if textures <= TEXTURE_BUDGET {
                break;
            }
            self.tiles.remove(&key);
            textures -= bytes;
        }
        let mut entries: Vec<(u64, Wanted, usize, usize)> = self
            .entries
            .iter()
            .filter(|(_, entry)| old(&entry.used_in_frame, self.frame) && !matches!(entry.slot, Slot::Loading))
            .map(|(wanted, entry)| (entry.used_in_frame.get(), wanted.clone(), entry.texture_bytes, layer_bytes(entry)))
            .collect();
        entries.sort_by_key(|(used, ..)| *used);
        for (_, wanted, texture_bytes, bytes) in entries {
            if textures <= TEXTURE_BUDGET && memory <= MEMORY_BUDGET {
                break;
            }
            // Thumbnails are dropped for textures' sake only, large pictures for either.
            if texture_bytes > 0 && textures > TEXTURE_BUDGET || bytes > 0 && memory > MEMORY_BUDGET {
                self.forget(&wanted);
                (textures, memory) = (textures.saturating_sub(texture_bytes), memory.saturating_sub(bytes));
            }
        }
    }
}

fn layer_bytes(entry: &Entry) -> usize {
    match &entry.slot {
        Slot::Ready(Ready { layer: Some(layer), .. }) => layer.bytes(),
        Slot::Ready(_) | Slot::Loading | Slot::Failed(_) => 0,
    }
}

fn load(ctx: &egui::Context, name: &str, image: ColorImage) -> TextureHandle {
    ctx.load_texture(name, image, options())
}

/// Above 100 % a pixel is a square; below, neighbours are mixed.
fn options() -> TextureOptions {
    TextureOptions { magnification: TextureFilter::Nearest, minification: TextureFilter::Linear, ..TextureOptions::LINEAR }
}
