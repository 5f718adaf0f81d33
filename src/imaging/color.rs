//! Any sample type and colour profile to 8-bit sRGB on an opaque background.

use image::{DynamicImage, Rgb, RgbImage, Rgba, RgbaImage};
use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};
use rayon::prelude::*;

/// A picture brought to opaque 8-bit sRGB.
pub(super) struct Flat {
    pub rgb: RgbImage,
    /// Some pixel was not opaque.
    pub alpha: bool,
}

/// Brings any sample type to 8-bit sRGB and puts it on `background`, telling in `notes` what it did.
pub(super) fn flatten(picture: DynamicImage, profile: Option<&[u8]>, background: [u8; 3], notes: &mut Vec<String>) -> Flat {
    let color = picture.color();
    if matches!(picture, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_)) {
        notes.push("high dynamic range: taken as linear light, above 1 clipped, then encoded as sRGB".to_owned());
        return composite(&linear_to_srgb(&picture.into_rgba32f()), background, notes);
    }
    if color.bits_per_pixel() / u16::from(color.channel_count()) > 8 {
        notes.push("16 bits a channel reduced to 8 over the full range".to_owned());
    }
    let grey = !color.has_color();
    let mut convert = |samples: &mut [u8], layout: Layout, channels: usize, row: usize| match profile {
        Some(profile) => match to_srgb(samples, (layout, channels), row, profile, grey) {
            Ok(true) => notes.push("colours converted from its ICC profile to sRGB".to_owned()),
            Ok(false) => {}
            Err(reason) => notes.push(format!("its ICC profile was left out ({reason})")),
        },
        None => {}
    };
    if color.has_alpha() {
        let mut rgba = picture.into_rgba8();
        let row = rgba.width() as usize * 4;
        convert(rgba.as_flat_samples_mut().samples, Layout::Rgba, 4, row);
        composite(&rgba, background, notes)
    } else {
        let mut rgb = picture.into_rgb8();
        let row = rgb.width() as usize * 3;
        convert(rgb.as_flat_samples_mut().samples, Layout::Rgb, 3, row);
        Flat { rgb, alpha: false }
    }
}

/// Values of linear light to 8-bit sRGB (IEC 61966-2-1), clipped to 0..=1; not-a-number counts as 0.
fn linear_to_srgb(linear: &image::Rgba32FImage) -> RgbaImage {
    let encode = |v: f32| {
        let v = if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) };
        let encoded = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        (encoded * 255.0).round() as u8
    };
    RgbaImage::from_fn(linear.width(), linear.height(), |x, y| {
        let Rgba([r, g, b, a]) = *linear.get_pixel(x, y);
        let a = if a.is_nan() { 1.0 } else { a.clamp(0.0, 1.0) };
        Rgba([encode(r), encode(g), encode(b), (a * 255.0).round() as u8])
    })
}

/// Converts rows of samples in place from an ICC profile to sRGB; `false` when nothing changed by more than one level (the profile is
/// sRGB already; one level is rounding).
fn to_srgb(samples: &mut [u8], (layout, channels): (Layout, usize), row: usize, profile: &[u8], grey: bool) -> Result<bool, String> {
    let source = ColorProfile::new_from_slice(profile).map_err(|e| format!("it cannot be read: {e:?}"))?;
    let srgb = ColorProfile::new_srgb();
    let transform_error = |e| format!("no conversion: {e:?}");
    match source.color_space {
        DataColorSpace::Rgb => {
            let transform = source.create_transform_8bit(layout, &srgb, layout, TransformOptions::default()).map_err(transform_error)?;
            samples
                .par_chunks_mut(row)
                .map(|line| {
                    let mut converted = vec![0; line.len()];
                    transform.transform(line, &mut converted).map_err(transform_error)?;
                    let changed = line.iter().zip(&converted).any(|(a, b)| a.abs_diff(*b) > 1);
                    line.copy_from_slice(&converted);
                    Ok(changed)
                })
                .try_reduce(|| false, |a, b| Ok(a || b))
        }
        DataColorSpace::Gray if grey => {
            let transform =
                source.create_transform_8bit(Layout::Gray, &srgb, Layout::Rgb, TransformOptions::default()).map_err(transform_error)?;
            // A grey has 256 values: a table is all that there is.
            let levels: Vec<u8> = (0..=255).collect();
            let mut table = vec![0; 256 * 3];
            transform.transform(&levels, &mut table).map_err(transform_error)?;
            samples.par_chunks_mut(channels).for_each(|pixel| {
                let level = usize::from(pixel[0]);
                pixel[..3].copy_from_slice(&table[level * 3..level * 3 + 3]);
            });
            Ok(table.chunks_exact(3).zip(levels).any(|(rgb, level)| rgb[0].abs_diff(level) > 1))
        }
        other => Err(format!("it is for {other:?} values, the decoded picture has {}", if grey { "grey ones" } else { "RGB" })),
    }
}

/// Puts the picture on an opaque background; colours under alpha 0 disappear, so that pictures that look the same are the same.
fn composite(rgba: &RgbaImage, background: [u8; 3], notes: &mut Vec<String>) -> Flat {
    let alpha = rgba.pixels().any(|p| p.0[3] != 255);
    if alpha {
        let [r, g, b] = background;
        notes.push(format!("transparent pixels shown on background #{r:02x}{g:02x}{b:02x}"));
    }
    let mut rgb = RgbImage::new(rgba.width(), rgba.height());
    for (Rgb(to), Rgba([r, g, b, a])) in rgb.pixels_mut().zip(rgba.pixels()) {
        let over = |value: u8, under: u8| {
            let (value, under, alpha) = (u32::from(value), u32::from(under), u32::from(*a));
            ((value * alpha + under * (255 - alpha) + 127) / 255) as u8
        };
        *to = [over(*r, background[0]), over(*g, background[1]), over(*b, background[2])];
    }
    Flat { rgb, alpha }
}
