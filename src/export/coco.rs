//! Regions as COCO annotations: one file that annotation tools and `pycocotools` read.
//!
//! A category is what a region stands for (`original`, `edited`, `edit_mask`, `ignore`). Masks are compressed RLE or polygons, boxes
//! have the polygon of their corners too. Extra keys of an annotation: `phrase` (what the region is called; of a mask that a network found, the
//! key of its edit), `origin`, `score` (confidence), `edit` (key of the edit that it belongs to) and `outdated` (`true` where the score that it
//! belongs to is older than regions, parse or pictures of now). `ignore` are the pixels that count neither way; leave them out of masks.

use std::path::Path;

use serde_json::{Value, json};

use super::rows::Folder;
use super::{ExportError, write_file};
use crate::domain::mask_ops::contours;
use crate::domain::rle::{Rle, RleError};
use crate::domain::{ExportRegion, ImageSpace, Mask, PictureRef, Rect, RegionRole, RegionShape, Size};

/// How masks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MaskForm {
    /// Compressed run lengths, exact for every mask.
    #[default]
    Rle,
    /// Outlines along the sides of the pixels, which `pycocotools` fills back to exactly the mask. COCO's polygons have no holes: a mask
    /// with a hole keeps its run lengths, and so does an empty one.
    Polygons,
}

/// A picture with its regions, which are in its pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct CocoPicture {
    pub picture: PictureRef,
    /// Of the upright picture.
    pub size: Size,
    pub regions: Vec<ExportRegion>,
}

const CATEGORIES: [(RegionRole, &str); 4] = [
    (RegionRole::Original, "original"),
    (RegionRole::Edited, "edited"),
    (RegionRole::EditMask, "edit_mask"),
    (RegionRole::Ignore, "ignore"),
];

/// Writes the annotations. Picture names are relative to the folder of `out`.
///
/// # Errors
/// When a mask is broken or not of its picture's size, or the file cannot be written.
pub fn write_coco(pictures: &[CocoPicture], form: MaskForm, out: &Path) -> Result<(), ExportError> {
    let folder = Folder::of(out)?;
    let content = |reason| ExportError::Content { path: out.to_owned(), reason };
    let (mut images, mut annotations) = (Vec::new(), Vec::new());
    for (image, picture) in (1..).zip(pictures) {
        let name = folder.path_to(&picture.picture);
        images.push(json!({"id": image, "file_name": name, "width": picture.size.width, "height": picture.size.height}));
        for region in &picture.regions {
            let id = annotations.len() + 1;
            annotations.push(annotation(id, image, region, picture.size, form).map_err(|why| content(format!("region of {name}: {why}")))?);
        }
    }
    let categories: Vec<Value> =
        (1..).zip(CATEGORIES).map(|(id, (_, name))| json!({"id": id, "name": name, "supercategory": "region"})).collect();
    let info = json!({"description": "Regions of edits, exported by EditScope", "version": env!("CARGO_PKG_VERSION")});
    let whole = json!({"info": info, "images": images, "annotations": annotations, "categories": categories});
    write_file(out, |file| serde_json::to_writer(file, &whole).map_err(|error| error.to_string()))
}

fn annotation(id: usize, image: usize, exported: &ExportRegion, size: Size, form: MaskForm) -> Result<Value, String> {
    let region = &exported.region;
    let category = 1 + CATEGORIES.iter().position(|(role, _)| *role == region.role).unwrap_or_default();
    let (segmentation, rect, area) = match &region.shape {
        RegionShape::Box(rect) => {
            (json!([corners(rect)]), [rect.x0, rect.y0, rect.x1 - rect.x0, rect.y1 - rect.y0], f64::from(rect.area()))
        }
        RegionShape::Mask(rle) => {
            let mask = rle.to_mask().map_err(|error: RleError| error.to_string())?;
            if mask.size() != size {
                return Err(format!("its mask is {}, the picture {size}", mask.size()));
            }
            (segmentation(&mask, form), bounds(&mask), mask.count() as f64)
        }
    };
    let mut annotation = json!({
        "id": id, "image_id": image, "category_id": category, "segmentation": segmentation, "bbox": rect, "area": area, "iscrowd": 0,
        "phrase": region.label, "origin": region.origin,
    });
    if let Some(confidence) = region.confidence {
        annotation["score"] = json!(confidence);
    }
    if let Some(edit) = &exported.edit {
        annotation["edit"] = json!(edit);
    }
    if exported.outdated {
        annotation["outdated"] = json!(true);
    }
    Ok(annotation)
}

fn segmentation(mask: &Mask, form: MaskForm) -> Value {
    let rings = if form == MaskForm::Polygons { contours(mask) } else { Vec::new() };
    if rings.is_empty() || rings.iter().any(|ring| ring.hole) {
        return json!(Rle::from_mask(mask));
    }
    rings.into_iter().map(|ring| ring.corners.into_iter().flatten().collect::<Vec<u32>>()).collect()
}

fn corners(rect: &Rect<ImageSpace>) -> [f32; 8] {
    [rect.x0, rect.y0, rect.x1, rect.y0, rect.x1, rect.y1, rect.x0, rect.y1]
}

/// Left, top, width and height of the smallest box around the set pixels; zeros when there are none.
fn bounds(mask: &Mask) -> [f32; 4] {
    mask.bounds::<ImageSpace>().map_or([0.0; 4], |rect| [rect.x0, rect.y0, rect.width(), rect.height()])
}
