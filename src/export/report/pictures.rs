//! Pictures inside the page: small JPEGs as data URIs, boxes and mask drawn over them as SVG.

use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;

use base64::Engine as _;
use image::codecs::jpeg::JpegEncoder;
use image::{ImageFormat, Rgba, RgbaImage};

use super::ReportEdit;
use super::html::escape;
use crate::domain::rle::Rle;
use crate::domain::{Detection, Size};
use crate::imaging::decode::{DecodeOptions, decode};
use crate::imaging::resize::{PilFilter, pil_resize};

/// Longer side of a picture in the page, in pixels.
const LONGEST: u32 = 360;
const QUALITY: u8 = 82;
/// The mask's colour and opacity.
const MASK: Rgba<u8> = Rgba([139, 47, 201, 110]);

/// Which of the two pictures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Source,
    Edit,
}

/// One picture with what the metric saw on it; a picture that cannot be read is said in its place.
pub(super) fn figure(edit: &ReportEdit, which: Which) -> String {
    let (path, boxes, name, class) = match which {
        Which::Source => (&edit.source, &edit.boxes.source, "source", "source-box"),
        Which::Edit => (&edit.edited, &edit.boxes.edit, "edit", "edit-box"),
    };
    let mask = edit.mask.as_ref().filter(|_| which == Which::Source);
    match drawing(path, boxes, mask, class) {
        Ok(svg) => format!("<figure>{svg}<figcaption>{name}</figcaption></figure>"),
        Err(why) => format!("<figure class=\"missing\"><p>{}</p><figcaption>{name}</figcaption></figure>", escape(&why)),
    }
}

fn drawing(path: &Path, boxes: &[Detection], mask: Option<&Rle>, class: &str) -> Result<String, String> {
    let picture = decode(path, &DecodeOptions::default()).map_err(|error| error.to_string())?.rgb;
    let full = Size::new(picture.width(), picture.height());
    let small = fitted(full);
    let resized = pil_resize(&picture, small, PilFilter::Bicubic);
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, QUALITY).encode_image(&resized).map_err(|error| error.to_string())?;
    let mut svg =
        format!("<svg viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\">", full.width, full.height, small.width, small.height);
    image_element(&mut svg, "jpeg", &jpeg, full);
    if let Some(png) = mask.map(|mask| mask_png(mask, small)).transpose()? {
        image_element(&mut svg, "png", &png, full);
    }
    let stroke = f64::from(full.width.max(full.height)) / f64::from(LONGEST) * 2.0;
    for found in boxes {
        let rect = &found.rect_in_image;
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" stroke-width=\"{stroke:.1}\"><title>{} {:.2}</title></rect>",
            rect.x0,
            rect.y0,
            rect.x1 - rect.x0,
            rect.y1 - rect.y0,
            escape(&found.phrase),
            found.confidence
        );
    }
    svg.push_str("</svg>");
    Ok(svg)
}

/// The size within [`LONGEST`], at least one pixel each way; small pictures stay as they are.
fn fitted(size: Size) -> Size {
    let longest = size.width.max(size.height).max(1);
    if longest <= LONGEST {
        return size;
    }
    let scale = |side: u32| ((u64::from(side) * u64::from(LONGEST) / u64::from(longest)) as u32).max(1);
    Size::new(scale(size.width), scale(size.height))
}

fn image_element(svg: &mut String, kind: &str, bytes: &[u8], size: Size) {
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    // Writing to a string cannot fail.
    let _ = write!(
        svg,
        "<image width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" href=\"data:image/{kind};base64,{data}\"/>",
        size.width, size.height
    );
}

fn mask_png(mask: &Rle, size: Size) -> Result<Vec<u8>, String> {
    let mask = mask.to_mask().map_err(|error| error.to_string())?.resized_nearest(size);
    let picture = RgbaImage::from_fn(size.width, size.height, |x, y| if mask.get(x, y) { MASK } else { Rgba([0; 4]) });
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png).map_err(|error| error.to_string())?;
    Ok(png.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_keep_their_shape_within_the_limit() {
        for ((width, height), (w, h)) in [((720, 360), (360, 180)), ((100, 50), (100, 50)), ((30_000, 1), (360, 1)), ((1, 1), (1, 1))] {
            assert_eq!(fitted(Size::new(width, height)), Size::new(w, h));
        }
    }
}
