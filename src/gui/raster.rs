//! Turns pictures, masks and change maps into texels on a thread of its own.
//!
//! Masks and change maps become white with varying alpha, so that the theme's colour and the overlay's opacity are applied when they are
//! drawn and a change of either costs nothing.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};
use egui::{Color32, ColorImage};

use crate::domain::{Mask, Score, Size};
use crate::engine::{ChangeMap, Pixels, Wake};

use super::pictures::{FULL_SIDE, Wanted};

/// Something to turn into texels.
pub enum Job {
    Picture(Arc<Pixels>),
    Mask(Arc<Score>),
    Change(Arc<ChangeMap>),
}

/// What can be uploaded.
pub struct Texels {
    pub image: ColorImage,
    pub outline: Option<ColorImage>,
    pub full_size: Size,
    pub pixels: Option<Arc<Pixels>>,
}

impl Texels {
    /// Texture memory they take.
    pub fn bytes(&self) -> usize {
        4 * (self.image.pixels.len() + self.outline.as_ref().map_or(0, |outline| outline.pixels.len()))
    }
}

type Answer = (Wanted, Result<Texels, String>);

/// The thread and the channels to it.
pub struct Raster {
    jobs: Sender<(Wanted, Job)>,
    answers: Receiver<Answer>,
}

impl Raster {
    /// Starts the thread; `wake` is called after each answer.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let (jobs, incoming) = unbounded::<(Wanted, Job)>();
        let (outgoing, answers) = unbounded();
        std::thread::Builder::new().name("raster".into()).spawn(move || {
            for (wanted, job) in incoming {
                if outgoing.send((wanted, texels(&job))).is_err() {
                    return;
                }
                wake();
            }
        })?;
        Ok(Self { jobs, answers })
    }

    /// Asks for texels; never blocks.
    pub fn send(&self, wanted: Wanted, job: Job) {
        // The thread ends only with the channel, so a failed send can only happen while the program ends.
        let _ = self.jobs.send((wanted, job));
    }

    /// The next answer, if there is one.
    pub fn try_next(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}

fn texels(job: &Job) -> Result<Texels, String> {
    match job {
        Job::Picture(pixels) => picture(pixels),
        Job::Mask(score) => {
            let rle = score.mask.as_ref().ok_or("this score has no mask")?;
            mask_texels(&rle.to_mask().map_err(|error| error.to_string())?)
        }
        Job::Change(map) => change_texels(map),
    }
}

fn picture(pixels: &Arc<Pixels>) -> Result<Texels, String> {
    let size = dimensions(pixels.size);
    if pixels.rgb.len() != size[0] * size[1] * 3 {
        return Err(format!("{} bytes are no picture of {}", pixels.rgb.len(), pixels.size));
    }
    let image = ColorImage::from_rgb(size, &pixels.rgb);
    Ok(Texels { image, outline: None, full_size: pixels.full_size, pixels: Some(Arc::clone(pixels)) })
}

/// A mask as a hatched fill and an outline that stays visible when the picture is shown small.
fn mask_texels(mask: &Mask) -> Result<Texels, String> {
    let full_size = mask.size();
    let mask = shrunk_mask(mask);
    let size = mask.size();
    let side = size.width.max(size.height);
    let (period, width) = ((side / 32).max(8), (side / 320).max(1));
    let alpha = |alpha| Color32::from_white_alpha(alpha);
    let fill = image_from(size, |x, y| match mask.get(x, y) {
        true if (x + y) % period < period / 4 => alpha(255),
        true => alpha(140),
        false => Color32::TRANSPARENT,
    });
    let outside = |x: u32, y: u32, dx: i64, dy: i64| {
        let (x, y) = (i64::from(x) + dx, i64::from(y) + dy);
        x < 0 || y < 0 || !mask.get(x as u32, y as u32)
    };
    let reach = i64::from(width);
    let outline = image_from(size, |x, y| {
        let edge = mask.get(x, y) && [(reach, 0), (-reach, 0), (0, reach), (0, -reach)].into_iter().any(|(dx, dy)| outside(x, y, dx, dy));
        if edge { alpha(255) } else { Color32::TRANSPARENT }
    });
    Ok(Texels { image: fill, outline: Some(outline), full_size, pixels: None })
}

fn shrunk_mask(mask: &Mask) -> Mask {
    let size = mask.size();
    let side = size.width.max(size.height);
    if side <= FULL_SIDE {
        return mask.clone();
    }
    let shrink = |n: u32| ((u64::from(n) * u64::from(FULL_SIDE) / u64::from(side)) as u32).max(1);
    mask.resized_nearest(Size::new(shrink(size.width), shrink(size.height)))
}

fn change_texels(map: &ChangeMap) -> Result<Texels, String> {
    let size = map.size;
    if map.distance.len() as u64 != size.pixels() {
        return Err(format!("{} distances are no change map of {size}", map.distance.len()));
    }
    // Every n-th pixel of a map that is larger than a texture may be.
    let step = size.width.max(size.height).div_ceil(FULL_SIDE).max(1);
    let shown = Size::new(size.width.div_ceil(step), size.height.div_ceil(step));
    let image = image_from(shown, |x, y| {
        let distance = map.distance[(y * step) as usize * size.width as usize + (x * step) as usize];
        // The square root lifts small changes, which matter most, out of the dark.
        Color32::from_white_alpha((distance.clamp(0.0, 1.0).sqrt() * 255.0).round() as u8)
    });
    Ok(Texels { image, outline: None, full_size: size, pixels: None })
}

fn image_from(size: Size, mut color: impl FnMut(u32, u32) -> Color32) -> ColorImage {
    let mut pixels = Vec::with_capacity(size.pixels() as usize);
    for y in 0..size.height {
        for x in 0..size.width {
            pixels.push(color(x, y));
        }
    }
    ColorImage::new(dimensions(size), pixels)
}

const fn dimensions(size: Size) -> [usize; 2] {
    [size.width as usize, size.height as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_lie_inside_the_mask_and_surround_it() {
        // A square of 4×4 in 8×8: its 12 border pixels are the outline, the 4 inner ones are not.
        let mask = Mask::from_fn(Size::new(8, 8), |x, y| (2..6).contains(&x) && (2..6).contains(&y));
        let texels = mask_texels(&mask).unwrap();
        let set = |image: &ColorImage| image.pixels.iter().filter(|pixel| pixel.a() > 0).count();
        assert_eq!((set(&texels.image), set(texels.outline.as_ref().unwrap())), (16, 12));
    }

    #[test]
    fn broken_sizes_are_told_not_drawn() {
        let map = ChangeMap { size: Size::new(3, 3), distance: vec![0.0; 8] };
        assert!(change_texels(&map).is_err());
        let map = ChangeMap { size: Size::new(2, 1), distance: vec![0.25, 7.0] };
        // sqrt(0.25) · 255 = 127.5 → 128; more than 1 is drawn as 1.
        let alphas: Vec<u8> = change_texels(&map).unwrap().image.pixels.iter().map(egui::Color32::a).collect();
        assert_eq!(alphas, [128, 255]);
    }
}
