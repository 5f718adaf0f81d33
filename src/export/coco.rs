//! Regions as COCO annotations: one file that annotation tools and `pycocotools` read.
//!
//! A category is what a region stands for (`original`, `edited`, `edit_mask`, `ignore`). Masks are compressed RLE or polygons, boxes
//! have the polygon of their corners too and end where their picture ends; a mask without a pixel and a box beside the picture are no
//! annotations. Extra keys of an annotation: `phrase` (what the region is called), `origin`, `score` (confidence), `edit` (key of the edit that it belongs to) and `outdated` (`true` where the score that it
//! belongs to is older than regions, parse or pictures of now). `ignore` are the pixels that count neither way; leave them out of masks.

use std::path::Path;

use serde_json::{Value, json};

use super::rows::Folder;
use super::{ExportError, first_few, write_file};
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
    /// with a hole keeps its run lengths, and the export says how many do.
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

/// What became of the regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CocoWritten {
    pub annotations: usize,
    /// Masks without a pixel and boxes beside their picture, which are left out, by the key of their edit (of a box of a source, the picture).
    pub empty: Vec<String>,
    /// Masks that stay run lengths because they have holes, where polygons were asked for.
    pub with_holes: usize,
}

impl CocoWritten {
    /// What a person should know besides the number of pictures; begins with `; ` unless there is nothing.
    pub fn words(&self) -> String {
        let mut words = String::new();
        if self.with_holes > 0 {
            words += &format!("; {} masks have holes and are run lengths, because COCO's polygons have none", self.with_holes);
        }
        if !self.empty.is_empty() {
            words += &format!("; {} regions without a pixel are left out: {}", self.empty.len(), first_few(&self.empty));
        }
        words
    }
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
pub fn write_coco(pictures: &[CocoPicture], form: MaskForm, out: &Path) -> Result<CocoWritten, ExportError> {
    let folder = Folder::of(out)?;
    let content = |reason| ExportError::Content { path: out.to_owned(), reason };
    let (mut images, mut annotations, mut written) = (Vec::new(), Vec::new(), CocoWritten::default());
    for (image, picture) in (1..).zip(pictures) {
        let name = folder.path_to(&picture.picture);
        images.push(json!({"id": image, "file_name": name, "width": picture.size.width, "height": picture.size.height}));
        for region in &picture.regions {
            let outline = outline(&region.region.shape, picture.size, form).map_err(|why| content(format!("region of {name}: {why}")))?;
            match outline {
                Some(outline) => {
                    written.with_holes += usize::from(outline.has_holes);
                    annotations.push(annotation(annotations.len() + 1, image, region, outline));
                }
                None => written.empty.push(region.edit.clone().unwrap_or_else(|| name.clone())),
            }
        }
    }
    let categories: Vec<Value> =
        (1..).zip(CATEGORIES).map(|(id, (_, name))| json!({"id": id, "name": name, "supercategory": "region"})).collect();
    let info = json!({"description": "Regions of edits, exported by EditScope", "version": env!("CARGO_PKG_VERSION")});
    written.annotations = annotations.len();
    let whole = json!({"info": info, "images": images, "annotations": annotations, "categories": categories});
    write_file(out, |file| serde_json::to_writer(file, &whole).map_err(|error| error.to_string()))?;
    Ok(written)
}

/// Where a region lies, as COCO has it.
struct Outline {
    segmentation: Value,
    /// Left, top, width and height.
    bbox: [f32; 4],
    area: f64,
    /// It was to be polygons and is run lengths, because it has holes.
    has_holes: bool,
}

/// The outline of a shape on a picture of that size; `None` where nothing of it lies there.
fn outline(shape: &RegionShape, size: Size, form: MaskForm) -> Result<Option<Outline>, String> {
    match shape {
        RegionShape::Box(rect) => {
            let rect = rect.clipped(size);
            let bbox = [rect.x0, rect.y0, rect.width(), rect.height()];
            let outline = || Outline { segmentation: json!([corners(&rect)]), bbox, area: f64::from(rect.area()), has_holes: false };
            Ok((rect.area() > 0.0).then(outline))
        }
        RegionShape::Mask(rle) => {
            let mask = rle.to_mask().map_err(|error: RleError| error.to_string())?;
            if mask.size() != size {
                return Err(format!("its mask is {}, the picture {size}", mask.size()));
            }
            let Some(rect) = mask.bounds::<ImageSpace>() else { return Ok(None) };
            let (segmentation, has_holes) = segmentation(&mask, form);
            let bbox = [rect.x0, rect.y0, rect.width(), rect.height()];
            Ok(Some(Outline { segmentation, bbox, area: mask.count() as f64, has_holes }))
        }
    }
}

fn annotation(id: usize, image: usize, exported: &ExportRegion, Outline { segmentation, bbox, area, .. }: Outline) -> Value {
    let region = &exported.region;
    let category = 1 + CATEGORIES.iter().position(|(role, _)| *role == region.role).unwrap_or_default();
    let mut annotation = json!({
        "id": id, "image_id": image, "category_id": category, "segmentation": segmentation, "bbox": bbox, "area": area, "iscrowd": 0,
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
    annotation
}

/// The run lengths or polygons of a mask, and whether polygons were asked for in vain.
fn segmentation(mask: &Mask, form: MaskForm) -> (Value, bool) {
    let rings = if form == MaskForm::Polygons { contours(mask) } else { Vec::new() };
    let has_holes = rings.iter().any(|ring| ring.hole);
    if rings.is_empty() || has_holes {
        return (json!(Rle::from_mask(mask)), has_holes);
    }
    (rings.into_iter().map(|ring| ring.corners.into_iter().flatten().collect::<Vec<u32>>()).collect(), false)
}

fn corners(rect: &Rect<ImageSpace>) -> [f32; 8] {
    [rect.x0, rect.y0, rect.x1, rect.y0, rect.x1, rect.y1, rect.x0, rect.y1]
}
