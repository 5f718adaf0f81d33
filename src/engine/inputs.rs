//! From what the project says about an edit to what the metric starts from: as the program found it, and as a person corrected it.

use image::RgbImage;

use crate::domain::rle::RleError;
use crate::domain::{Bpm500, Detection, ImageSpace, Mask, Parse, Rect, Region, RegionRole, RegionShape, Scale, Side, Size};
use crate::instruct::parse_instruction;
use crate::metrics::bpm::Overrides;
use crate::storage::{EditId, Inputs, Project, StorageError, StoredItem};

/// A parse with what takes the place of the networks' regions.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub parse: Parse,
    pub overrides: Overrides,
}

/// How an edit is read without people, and with them where they said something else.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    pub automatic: Reading,
    /// `None` when nobody corrected anything.
    pub corrected: Option<Reading>,
}

/// Both readings of an edit whose pictures have these sizes. An instruction that nobody has read yet is read by the rules, and kept.
///
/// # Errors
/// When the project cannot be read or written, or a stored mask is broken.
pub fn readings(project: &Project, item: &StoredItem, edit: EditId, sizes: Sizes) -> anyhow::Result<Readings> {
    let inputs = project.inputs_of(edit)?;
    let automatic = match &inputs.automatic_parse {
        Some(parse) => parse.clone(),
        None => read_instruction(project, item)?,
    };
    let corrected = inputs.are_corrected().then(|| -> Result<Reading, RleError> {
        let Inputs { corrected_parse, regions, roles, .. } = &inputs;
        let parse = corrected_parse.clone().unwrap_or_else(|| automatic.clone());
        let mut overrides = overrides_of(regions, sizes)?;
        speak_for(&mut overrides, roles, sizes);
        Ok(Reading { parse, overrides })
    });
    let automatic = Reading { parse: automatic, overrides: Overrides::default() };
    Ok(Readings { automatic, corrected: corrected.transpose()? })
}

/// Reads an instruction by the rules; kept, unless a person's parse is all there is (what a program thinks is then known without asking).
fn read_instruction(project: &Project, item: &StoredItem) -> Result<Parse, StorageError> {
    let parse = parse_instruction(&item.instruction);
    if item.parse.is_none() && !project.is_read_only() {
        project.suggest_parse(item.id, &parse, "rules")?;
    }
    Ok(parse)
}

/// Sizes of the upright pictures of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub source: Size,
    pub edit: Size,
}

impl Sizes {
    /// Of decoded pictures.
    pub fn of(source: &RgbImage, edit: &RgbImage) -> Self {
        let size = |picture: &RgbImage| Size::new(picture.width(), picture.height());
        Self { source: size(source), edit: size(edit) }
    }
}

/// What people's regions mean to the metric. Boxes of `Original` and `Edited` take the place of the detector's; a mask of that role
/// stands for the box around it. `EditMask` regions together take the place of the segmenter's union, `Ignore` regions together are
/// left out of preserve; a mask lies in pixels of its own size (stretched to the canvas later), a box in pixels of its side.
///
/// # Errors
/// When a mask's run lengths are broken.
pub fn overrides_of(regions: &[Region], sizes: Sizes) -> Result<Overrides, RleError> {
    let mut overrides = Overrides::default();
    for region in regions {
        match region.role {
            RegionRole::Original | RegionRole::Edited => {
                let Some(rect_in_image) = box_of(&region.shape)? else { continue };
                let boxes = match region.side {
                    Side::Source => &mut overrides.source_boxes,
                    Side::Edit => &mut overrides.edit_boxes,
                };
                let confidence = region.confidence.unwrap_or(1.0);
                let drawn = Detection { rect_in_image, phrase: region.label.clone(), confidence, tokens: Vec::new() };
                boxes.get_or_insert_default().push(drawn);
            }
            RegionRole::EditMask => add(&mut overrides.mask, mask_of(region, sizes)?),
            RegionRole::Ignore => add(&mut overrides.ignore, mask_of(region, sizes)?),
        }
    }
    Ok(overrides)
}

/// That a person says there is nothing of a role is an answer too: no box, an empty mask.
fn speak_for(overrides: &mut Overrides, roles: &[RegionRole], sizes: Sizes) {
    for role in roles {
        match role {
            RegionRole::Original => {
                overrides.source_boxes.get_or_insert_default();
            }
            RegionRole::Edited => {
                overrides.edit_boxes.get_or_insert_default();
            }
            RegionRole::EditMask => {
                overrides.mask.get_or_insert_with(|| Mask::empty(sizes.source));
            }
            RegionRole::Ignore => {}
        }
    }
}

fn box_of(shape: &RegionShape) -> Result<Option<Rect<ImageSpace>>, RleError> {
    match shape {
        RegionShape::Box(rect) => Ok(Some(*rect)),
        RegionShape::Mask(rle) => Ok(bounds(&rle.to_mask()?)),
    }
}

/// The smallest box around the set pixels; `None` when there are none.
fn bounds(mask: &Mask) -> Option<Rect<ImageSpace>> {
    let size = mask.size();
    let set = (0..size.height).flat_map(|y| (0..size.width).filter(move |&x| mask.get(x, y)).map(move |x| (x as f32, y as f32)));
    set.map(|(x, y)| Rect::new(x, y, x + 1.0, y + 1.0)).reduce(|a, b| a.enclosing(&b))
}

fn mask_of(region: &Region, sizes: Sizes) -> Result<Mask, RleError> {
    match &region.shape {
        RegionShape::Mask(rle) => rle.to_mask(),
        RegionShape::Box(rect) => {
            let size = if region.side == Side::Source { sizes.source } else { sizes.edit };
            let bpm500_from_image = Scale::<Bpm500, ImageSpace>::stretch(Size::BPM500, size);
            let rect = bpm500_from_image * *rect;
            // A pixel belongs to a box when its centre does.
            let inside = |x: u32, y: u32| rect.contains(crate::domain::Point::new(x as f32 + 0.5, y as f32 + 0.5));
            Ok(Mask::from_fn(Size::BPM500, inside))
        }
    }
}

/// Joins a mask to those before it, at the size of the first.
fn add(all: &mut Option<Mask>, mask: Mask) {
    match all {
        None => *all = Some(mask),
        Some(all) => {
            let joined = all.union_with(&mask.resized_nearest(all.size()));
            debug_assert!(joined, "just brought to that size");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RegionOrigin;
    use crate::domain::rle::Rle;

    fn region(side: Side, role: RegionRole, shape: RegionShape) -> Region {
        Region { side, role, origin: RegionOrigin::Person, shape, label: "cat".into(), confidence: None }
    }

    #[test]
    fn each_role_takes_its_place() {
        let size = Size::new(100, 50);
        let sizes = Sizes { source: size, edit: Size::new(200, 100) };
        let dot = |x0: u32, y0: u32| RegionShape::Mask(Rle::from_mask(&Mask::from_fn(size, |x, y| (x, y) == (x0, y0))));
        let regions = [
            region(Side::Source, RegionRole::Original, RegionShape::Box(Rect::new(1.0, 2.0, 3.0, 4.0))),
            region(Side::Edit, RegionRole::Edited, dot(7, 9)),
            region(Side::Edit, RegionRole::EditMask, dot(1, 1)),
            region(Side::Edit, RegionRole::EditMask, dot(2, 2)),
            region(Side::Edit, RegionRole::Ignore, RegionShape::Box(Rect::new(0.0, 0.0, 20.0, 100.0))),
        ];
        let overrides = overrides_of(&regions, sizes).expect("whole masks");
        let edges = |boxes: Option<Vec<Detection>>| boxes.map(|boxes| boxes[0].rect_in_image.to_array());
        assert_eq!(edges(overrides.source_boxes), Some([1.0, 2.0, 3.0, 4.0]));
        assert_eq!(edges(overrides.edit_boxes), Some([7.0, 9.0, 8.0, 10.0]));
        assert_eq!(overrides.mask.map(|mask| mask.count()), Some(2));
        // A tenth of the edit's width is 50 of the canvas's 500 columns.
        assert_eq!(overrides.ignore.map(|mask| mask.count()), Some(50 * 500));
    }
}
