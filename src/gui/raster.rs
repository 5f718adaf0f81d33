//! Turns pictures, masks and differences into texels on a thread of its own, a tile at a time.
//!
//! Masks and change maps become white with varying alpha, so that the theme's colour and the overlay's opacity are applied when they are
//! drawn and a change of either costs nothing.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};
use egui::{Color32, ColorImage};

use crate::domain::{Mask, Size, rle::Rle};
use crate::engine::{Picture, Pixels, Pyramid, Wake, level_sizes};

use super::colormap;
use super::pictures::Wanted;

/// Side of a tile in texels of its level. Its texture has one more on each side, so that neighbours mix at the seam; every GPU takes that.
pub const TILE: u32 = 1024;

/// Something that is drawn in tiles.
#[derive(Clone, Debug)]
pub enum Layer {
    Picture(Arc<Picture>),
    Difference(Arc<Pyramid>),
    /// A mask at halved sizes, finest first.
    Mask(Arc<Vec<Mask>>),
}

impl Layer {
    /// Size of the finest level.
    pub fn size(&self) -> Size {
        match self {
            Self::Picture(picture) => picture.pyramid.size(),
            Self::Difference(pyramid) => pyramid.size(),
            Self::Mask(levels) => levels.first().map_or(Size::new(0, 0), Mask::size),
        }
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Picture(picture) => picture.pyramid.bytes(),
            Self::Difference(pyramid) => pyramid.bytes(),
            Self::Mask(levels) => levels.iter().map(|mask| mask.size().pixels() as usize / 8).sum(),
        }
    }

    /// The decoded picture, for the probe.
    pub fn picture(&self) -> Option<&Arc<Picture>> {
        match self {
            Self::Picture(picture) => Some(picture),
            Self::Difference(_) | Self::Mask(_) => None,
        }
    }
}

/// How a layer's values become colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    Plain,
    /// The L2 distance as a heat map.
    Heat,
    Signed,
    /// The L2 distance as alpha.
    Change,
    /// Hatched to the right.
    Fill,
    Outline,
}

/// One tile of a layer.
#[derive(Clone, Debug)]
pub struct TileJob {
    pub layer: Layer,
    pub style: Style,
    /// Differences are multiplied by this.
    pub gain: f32,
    pub place: TilePlace,
}

/// Where a tile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TilePlace {
    pub level: u8,
    pub column: u32,
    pub row: u32,
}

impl TilePlace {
    /// The texels of the level that the tile shows, without its rim: left, top, width, height.
    pub fn texels(&self, level: Size) -> (u32, u32, u32, u32) {
        let (x, y) = (self.column * TILE, self.row * TILE);
        (x, y, TILE.min(level.width.saturating_sub(x)), TILE.min(level.height.saturating_sub(y)))
    }
}

/// Something to turn into texels.
pub enum Job {
    Thumb(Wanted, Arc<Pixels>),
    /// The coarsest level of a picture, whole.
    Base(Wanted, Arc<Picture>),
    /// The levels of a score's mask.
    Mask(Wanted, Rle),
    Tile(super::pictures::TileKey, TileJob),
}

/// What can be uploaded or kept.
pub enum Answer {
    Thumb { of: Wanted, result: Result<ColorImage, String>, full_size: Size },
    Base { of: Wanted, picture: Arc<Picture>, image: ColorImage },
    Mask { of: Wanted, result: Result<Arc<Vec<Mask>>, String> },
    Tile { key: super::pictures::TileKey, gain: f32, image: ColorImage },
}

impl Answer {
    /// Texture memory that it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Thumb { result: Ok(image), .. } | Self::Base { image, .. } | Self::Tile { image, .. } => 4 * image.pixels.len(),
            Self::Thumb { .. } | Self::Mask { .. } => 0,
        }
    }
}

/// The thread and the channels to it.
pub struct Raster {
    jobs: Sender<Job>,
    answers: Receiver<Answer>,
}

impl Raster {
    /// Starts the thread; `wake` is called after each answer.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let (jobs, incoming) = unbounded::<Job>();
        let (outgoing, answers) = unbounded();
        std::thread::Builder::new().name("raster".into()).spawn(move || {
            for job in incoming {
                if outgoing.send(done(job)).is_err() {
                    return;
                }
                wake();
            }
        })?;
        Ok(Self { jobs, answers })
    }

    /// Asks for texels; never blocks.
    pub fn send(&self, job: Job) {
        // The thread ends only with the channel, so a failed send can only happen while the program ends.
        let _ = self.jobs.send(job);
    }

    /// The next answer, if there is one.
    pub fn try_next(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}

fn done(job: Job) -> Answer {
    match job {
        Job::Thumb(of, pixels) => Answer::Thumb { of, result: thumb(&pixels), full_size: pixels.full_size },
        Job::Base(of, picture) => base(of, picture),
        Job::Mask(of, mask) => Answer::Mask { of, result: mask_levels(&mask) },
        Job::Tile(key, job) => Answer::Tile { key, gain: job.gain, image: tile(&job) },
    }
}

/// The coarsest level of a picture as texels: at most 1024×1024.
pub fn base(of: Wanted, picture: Arc<Picture>) -> Answer {
    let coarsest = picture.pyramid.level(picture.pyramid.levels() - 1);
    let image = ColorImage::from_rgb([coarsest.width() as usize, coarsest.height() as usize], coarsest.as_raw());
    Answer::Base { of, picture, image }
}

fn thumb(pixels: &Pixels) -> Result<ColorImage, String> {
    let size = [pixels.size.width as usize, pixels.size.height as usize];
    if pixels.rgb.len() != size[0] * size[1] * 3 {
        return Err(format!("{} bytes are no picture of {}", pixels.rgb.len(), pixels.size));
    }
    Ok(ColorImage::from_rgb(size, &pixels.rgb))
}

/// The mask and its halved sizes; a coarse pixel is set when any of its four is, so that thin parts stay visible.
fn mask_levels(rle: &Rle) -> Result<Arc<Vec<Mask>>, String> {
    Ok(Arc::new(halved_masks(rle.to_mask().map_err(|error| error.to_string())?)))
}

fn halved_masks(mask: Mask) -> Vec<Mask> {
    let sizes = level_sizes(mask.size());
    let mut levels = vec![mask];
    for size in sizes.into_iter().skip(1) {
        let finer = &levels[levels.len() - 1];
        let any = |x: u32, y: u32| [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().any(|(dx, dy)| finer.get(2 * x + dx, 2 * y + dy));
        let next = Mask::from_fn(size, any);
        levels.push(next);
    }
    levels
}

/// The texels of a tile with a rim of one: those of its neighbours, or its own border repeated where the picture ends.
fn tile(job: &TileJob) -> ColorImage {
    let level = usize::from(job.place.level);
    match &job.layer {
        Layer::Picture(picture) => pyramid_tile(&picture.pyramid, level, job, |[r, g, b]| Color32::from_rgb(r, g, b)),
        Layer::Difference(pyramid) => pyramid_tile(pyramid, level, job, |value| difference_color(value, job.style, job.gain)),
        Layer::Mask(levels) => {
            let Some(mask) = levels.get(level).or(levels.last()) else { return ColorImage::filled([1, 1], Color32::TRANSPARENT) };
            tile_image(mask.size(), job.place, |x, y| mask_color(mask, x, y, job.style))
        }
    }
}

fn pyramid_tile(pyramid: &Pyramid, level: usize, job: &TileJob, color: impl Fn([u8; 3]) -> Color32) -> ColorImage {
    let texels = pyramid.level(level);
    tile_image(pyramid.level_size(level), job.place, |x, y| color(texels.get_pixel(x, y).0))
}

fn tile_image(level: Size, place: TilePlace, color: impl Fn(u32, u32) -> Color32) -> ColorImage {
    let (left, top, width, height) = place.texels(level);
    let clamped = |i: u32, first: u32, side: u32| (first + i).saturating_sub(1).min(side - 1);
    let mut pixels = Vec::with_capacity((width as usize + 2) * (height as usize + 2));
    for row in 0..height + 2 {
        let y = clamped(row, top, level.height);
        pixels.extend((0..width + 2).map(|column| color(clamped(column, left, level.width), y)));
    }
    ColorImage::new([width as usize + 2, height as usize + 2], pixels)
}

/// A difference in the colours of its style, multiplied by `gain`.
pub fn difference_color([first, second, third]: [u8; 3], style: Style, gain: f32) -> Color32 {
    let grown = |value: u8| (f32::from(value) * gain).min(255.0);
    match style {
        Style::Signed => colormap::signed((grown(first) - grown(second)) / 255.0),
        Style::Heat => colormap::heat(grown(first) / 255.0),
        // The square root lifts small changes, which matter most, out of the dark.
        Style::Change => Color32::from_white_alpha(((grown(first) / 255.0).sqrt() * 255.0).round() as u8),
        _ => Color32::from_rgb(grown(first) as u8, grown(second) as u8, grown(third) as u8),
    }
}

fn mask_color(mask: &Mask, x: u32, y: u32, style: Style) -> Color32 {
    if !mask.get(x, y) {
        return Color32::TRANSPARENT;
    }
    match style {
        Style::Outline => {
            let size = mask.size();
            let outside = |dx: i64, dy: i64| {
                let (x, y) = (i64::from(x) + dx, i64::from(y) + dy);
                x < 0 || y < 0 || x >= i64::from(size.width) || y >= i64::from(size.height) || !mask.get(x as u32, y as u32)
            };
            let edge = [(1, 0), (-1, 0), (0, 1), (0, -1), (2, 0), (-2, 0), (0, 2), (0, -2)].into_iter().any(|(dx, dy)| outside(dx, dy));
            if edge { Color32::WHITE } else { Color32::TRANSPARENT }
        }
        _ => Color32::from_white_alpha(if x.wrapping_add(y) % 8 < 2 { 255 } else { 130 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: TilePlace = TilePlace { level: 0, column: 0, row: 0 };

    fn job(layer: Layer, style: Style) -> TileJob {
        TileJob { layer, style, gain: 1.0, place: FIRST }
    }

    fn alphas(image: &ColorImage) -> usize {
        image.pixels.iter().filter(|pixel| pixel.a() > 0).count()
    }

    #[test]
    fn outlines_lie_inside_the_mask_and_are_two_texels_wide() {
        // A square of 8×8 in 16×16: of its 64 pixels the inner 4×4 are no outline.
        let mask = Mask::from_fn(Size::new(16, 16), |x, y| (4..12).contains(&x) && (4..12).contains(&y));
        let layer = Layer::Mask(Arc::new(halved_masks(mask)));
        assert_eq!(alphas(&tile(&job(layer.clone(), Style::Fill))), 64);
        assert_eq!(alphas(&tile(&job(layer, Style::Outline))), 48);
    }

    #[test]
    fn tiles_have_a_rim_of_their_neighbours_or_their_own_border() {
        let picture = image::RgbImage::from_fn(TILE + 2, 1, |x, _| image::Rgb([(x % 251) as u8; 3]));
        let layer = Layer::Difference(Arc::new(Pyramid::new(picture)));
        let first = tile(&job(layer.clone(), Style::Plain));
        assert_eq!(first.size, [TILE as usize + 2, 3]);
        // Texel 1024 (1024 mod 251 = 20) belongs to the second tile and is the right rim of the first; the left rim repeats texel 0.
        assert_eq!((first.pixels[0].r(), first.pixels[TILE as usize + 1].r()), (0, 20));
        let second = tile(&TileJob { place: TilePlace { column: 1, ..FIRST }, ..job(layer, Style::Plain) });
        // 1023 mod 251 = 19, 1025 mod 251 = 21; the picture ends there.
        assert_eq!(second.size, [4, 3]);
        assert_eq!(second.pixels[..4].iter().map(Color32::r).collect::<Vec<_>>(), [19, 20, 21, 21]);
    }

    #[test]
    fn thin_masks_stay_visible_when_halved() {
        let line = Mask::from_fn(Size::new(1, 5000), |_, y| y == 2501);
        let levels = halved_masks(line);
        assert_eq!(levels.iter().map(Mask::count).collect::<Vec<_>>(), [1, 1, 1, 1]);
        assert!(levels[3].get(0, 312), "2501 / 8 = 312");
    }

    #[test]
    fn differences_are_coloured_after_their_gain() {
        assert_eq!(difference_color([3, 4, 200], Style::Plain, 2.0), Color32::from_rgb(6, 8, 255));
        assert_eq!(difference_color([0, 10, 0], Style::Signed, 1.0), colormap::signed(-10.0 / 255.0));
        // sqrt(64 / 255) · 255 = 127.7 → 128.
        assert_eq!(difference_color([64; 3], Style::Change, 1.0).a(), 128);
    }

    #[test]
    fn broken_sizes_are_told_not_drawn() {
        let pixels = Pixels { size: Size::new(3, 3), full_size: Size::new(3, 3), rgb: vec![0; 26], notes: Vec::new() };
        assert!(thumb(&pixels).is_err());
    }
}
