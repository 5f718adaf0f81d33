//! What a project gives out besides rows: regions as masks, and pictures with their annotations. Plain data; front ends write it.
//!
//! What a person drew goes out as it is now, whether the edit is scored or not, and whether its score has followed or not. What networks found
//! is part of a score; where that is outdated, so is the region, and it is marked.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::domain::rle::Rle;
use crate::domain::{
    Detection, EditKey, ExportRegion, ExportRow, ImageSpace, Mask, PictureRef, Point, Region, RegionOrigin, RegionRole, RegionShape, Scale,
    Side, Size,
};
use crate::storage::{ItemId, Project, RegionSet, StorageError, StoredEdit, StoredItem};

use super::in_words;
use super::results::{self, ScoredEdit};

/// Pixels of one edit, at the size of its source.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskOf {
    pub key: EditKey,
    /// Or why it cannot be had.
    pub rle: Result<Rle, String>,
    /// It belongs to a score that is older than regions, parse or pictures of now.
    pub outdated: bool,
}

/// The masks of a project, in the order of its edits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Masks {
    /// The edit region of each edit that has one: all masks of a person together, else what the score found.
    pub edit: Vec<MaskOf>,
    /// Pixels that a person ignores, of each edit that has some.
    pub ignored: Vec<MaskOf>,
}

impl Masks {
    /// Keys of edits whose region is outdated.
    pub fn outdated(&self) -> impl Iterator<Item = &str> {
        self.edit.iter().filter(|mask| mask.outdated).map(|mask| mask.key.0.as_str())
    }

    /// Keys of edits that are scored and have no region: the whole picture was to change, or nothing was located.
    pub fn without<'s>(&self, scored: &'s [ScoredEdit]) -> Vec<&'s str> {
        let with: HashSet<&str> = self.edit.iter().map(|mask| mask.key.0.as_str()).collect();
        let keys = scored.iter().filter(|edit| edit.score.is_some()).map(|edit| edit.key.0.as_str());
        keys.filter(|key| !with.contains(key)).collect()
    }
}

impl MaskOf {
    /// Its pixels.
    ///
    /// # Errors
    /// When it cannot be had, or its run lengths are broken.
    pub fn mask(&self) -> Result<Mask, String> {
        self.rle.as_ref().map_err(Clone::clone)?.to_mask().map_err(|error| error.to_string())
    }
}

/// Edit regions and ignored pixels of `scored`. Where nothing was drawn and nothing was located there is none.
///
/// # Errors
/// When the project cannot be read.
pub fn masks(project: &Project, scored: &[ScoredEdit]) -> Result<Masks, StorageError> {
    let mut masks = Masks::default();
    each_edit(project, scored, |edit| {
        let key = || edit.stored.key.clone();
        match (&edit.said, &edit.scored.score) {
            (Some(said), _) if said.roles.contains(&RegionRole::EditMask) => {
                masks.edit.extend(edit.union(RegionRole::EditMask).map(|rle| MaskOf { key: key(), rle, outdated: edit.scored.changed }));
            }
            (_, Some(score)) => {
                let found = score.mask.as_ref().filter(|rle| !rle.is_empty());
                let outdated = edit.scored.outdated;
                masks.edit.extend(found.map(|rle| MaskOf { key: key(), rle: edit.fitting(rle), outdated }));
            }
            (_, None) => {}
        }
        masks.ignored.extend(edit.union(RegionRole::Ignore).map(|rle| MaskOf { key: key(), rle, outdated: edit.scored.changed }));
        Ok(())
    })?;
    Ok(masks)
}

/// That some scored edits have no region, behind a `; `, with the first of their keys; empty where all have one.
pub fn without_words(keys: &[&str]) -> String {
    const NAMED: usize = 3;
    let more = if keys.len() > NAMED { format!(" and {} more", keys.len() - NAMED) } else { String::new() };
    let named = keys.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match keys.len() {
        0 => String::new(),
        1 => format!("; 1 scored edit has no region: {named}"),
        count => format!("; {count} scored edits have no region: {named}{more}"),
    }
}

/// One edit with what a person says about its regions.
struct Edit<'a> {
    stored: StoredEdit,
    item: &'a StoredItem,
    scored: &'a ScoredEdit,
    /// What people said about regions of the edit.
    said: Option<RegionSet>,
}

/// Calls `with` for each edit of `scored`, in the order of the project.
fn each_edit(
    project: &Project,
    scored: &[ScoredEdit],
    mut with: impl FnMut(Edit<'_>) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    let items: HashMap<_, _> = project.items()?.into_iter().map(|item| (item.id, item)).collect();
    let by_id: HashMap<_, _> = scored.iter().map(|edit| (edit.id, edit)).collect();
    for stored in project.edits()? {
        let (Some(item), Some(scored)) = (items.get(&stored.item), by_id.get(&stored.id)) else { continue };
        let said = project.regions(stored.id, Side::Edit)?;
        with(Edit { stored, item, scored, said })?;
    }
    Ok(())
}

impl Edit<'_> {
    fn speaks_for(&self, role: RegionRole) -> bool {
        self.said.as_ref().is_some_and(|said| said.roles.contains(&role))
    }

    /// What people drew of a role.
    fn of_role(&self, role: RegionRole) -> impl Iterator<Item = &Region> {
        self.said.iter().flat_map(|said| &said.regions).filter(move |region| region.role == role)
    }

    /// All masks of a role together, at the size of the source; `None` where they have no pixel.
    fn union(&self, role: RegionRole) -> Option<Result<Rle, String>> {
        let mut all: Option<Mask> = None;
        for region in self.of_role(role) {
            let mask = match self.on_source(region).and_then(|shape| mask_at(&shape, self.source_size()?)) {
                Ok(mask) => mask,
                Err(why) => return Some(Err(why)),
            };
            match &mut all {
                None => all = Some(mask),
                // Both have the size of the source.
                Some(all) => drop(all.union_with(&mask)),
            }
        }
        all.filter(|mask| !mask.is_empty()).map(|mask| Ok(Rle::from_mask(&mask)))
    }

    fn source_size(&self) -> Result<Size, String> {
        size_of(&self.item.source.path)
    }

    /// The mask that a score found, unless its source has another size by now. A source that is not there cannot tell.
    fn fitting(&self, found: &Rle) -> Result<Rle, String> {
        match self.source_size() {
            Ok(now) if now != size_in(found) => Err(self.of_another_size(size_in(found), now)),
            _ => Ok(found.clone()),
        }
    }

    fn of_another_size(&self, mask: Size, now: Size) -> String {
        format!(
            "its mask is {mask}, but {} is {now} now: it is another picture than the one that was scored or drawn on; score the edit again",
            self.item.source.path.display()
        )
    }

    /// A region of the edit in pixels of the source, to which the edit is stretched. Masks of a person have that size already; those that came
    /// with data may have another one.
    fn on_source(&self, region: &Region) -> Result<RegionShape, String> {
        match &region.shape {
            RegionShape::Box(rect) => {
                let source_from_edit = Scale::<ImageSpace, ImageSpace>::stretch(self.source_size()?, size_of(&self.stored.picture.path)?);
                Ok(RegionShape::Box(source_from_edit * *rect))
            }
            RegionShape::Mask(rle) => {
                let now = self.source_size()?;
                if self.scored.changed && size_in(rle) != now {
                    return Err(self.of_another_size(size_in(rle), now));
                }
                Ok(RegionShape::Mask(Rle::from_mask(&mask_at(&region.shape, now)?)))
            }
        }
    }
}

/// COCO tells the rows first.
fn size_in(rle: &Rle) -> Size {
    let [height, width] = rle.size;
    Size::new(width, height)
}

fn size_of(picture: &Path) -> Result<Size, String> {
    results::picture_size(picture).map_err(|error| in_words(&error))
}

/// The pixels of a shape on a picture of that size. A pixel belongs to a box when its centre does.
fn mask_at(shape: &RegionShape, size: Size) -> Result<Mask, String> {
    match shape {
        RegionShape::Box(rect) => Ok(Mask::from_fn(size, |x, y| rect.contains(Point::new(x as f32 + 0.5, y as f32 + 0.5)))),
        RegionShape::Mask(rle) => Ok(rle.to_mask().map_err(|error| error.to_string())?.resized_nearest(size)),
    }
}

/// The folder beside masks of edit regions that has the masks of ignored pixels.
pub const IGNORED: &str = "ignored";

/// Region and row of each edit that has a region, in the order of the masks.
pub fn pairs<'a>(masks: &'a [MaskOf], rows: &'a [ExportRow]) -> impl Iterator<Item = (&'a MaskOf, &'a ExportRow)> {
    let by_key: BTreeMap<&str, &ExportRow> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
    masks.iter().filter_map(move |mask| Some((mask, *by_key.get(mask.key.0.as_str())?)))
}

/// The rows of edits that were pasted back, with the pasted picture in place of the edit's; `files` are key and file of each. What was said
/// about the edit itself stays behind, and the id is another one, so that both can stand in one project.
pub fn pasted_rows(rows: &[ExportRow], files: &[(String, PathBuf)]) -> Vec<ExportRow> {
    let files: BTreeMap<&str, &Path> = files.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
    let pasted = |row: &ExportRow| {
        let path = (*files.get(row.id.as_str())?).to_owned();
        let given = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let model = if row.model.is_empty() { "pasted back".to_owned() } else { format!("{} (pasted back)", row.model) };
        let id = format!("{}-pasted-back", row.id);
        Some(ExportRow { id, edited: PictureRef { path, given }, model, ratings: Vec::new(), result: None, ..row.clone() })
    };
    rows.iter().filter_map(pasted).collect()
}

/// Pictures with the regions that lie on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotated {
    /// A picture, the size of it upright, and regions in its pixels.
    pub pictures: Vec<(PictureRef, Size, Vec<ExportRegion>)>,
    /// Pictures whose size cannot be read and regions that cannot be had, and why.
    pub failed: Vec<String>,
}

/// A source with what lies on it.
struct Source {
    picture: PictureRef,
    /// `None`: it cannot be read.
    size: Option<Size>,
    regions: Vec<ExportRegion>,
    /// Its boxes are among them: those of a person, or of the first score.
    has_boxes: bool,
}

/// Boxes of the source and of each edit; edit mask and ignored pixels belong to the source's pixels, those of each edit by themselves. Sources
/// come first. Pictures of edits that are neither scored nor drawn on are left out.
///
/// # Errors
/// When the project cannot be read.
pub fn annotated(project: &Project, scored: &[ScoredEdit]) -> anyhow::Result<Annotated> {
    let mut sources: BTreeMap<ItemId, Source> = BTreeMap::new();
    let mut found = Annotated::default();
    let mut of_edits = Vec::new();
    each_edit(project, scored, |edit| {
        let of_source = project.regions(edit.stored.id, Side::Source)?;
        if edit.scored.score.is_none() && edit.said.is_none() && of_source.is_none() {
            return Ok(());
        }
        let source = sources.entry(edit.stored.item).or_insert_with(|| source_of(&edit, of_source.as_ref(), &mut found.failed));
        if let Some(size) = source.size {
            if let Some(score) = edit.scored.score.as_ref().filter(|_| !source.has_boxes) {
                source.has_boxes = true;
                let boxes = score.boxes.source.iter().map(|d| found_box(Side::Source, d, &score.candidates.source));
                source.regions.extend(boxes.map(|region| ExportRegion { outdated: edit.scored.outdated, ..region.into() }));
            }
            let (regions, failed) = on_source(&edit, size);
            source.regions.extend(regions);
            found.failed.extend(failed);
        }
        if edit.scored.score.is_some() || edit.speaks_for(RegionRole::Edited) {
            match size_of(&edit.stored.picture.path) {
                Ok(size) => of_edits.push((edit.stored.picture.clone(), size, on_edit(&edit, size, &mut found.failed))),
                Err(why) => found.failed.push(why),
            }
        }
        Ok(())
    })?;
    let sources = sources.into_values().filter_map(|source| Some((source.picture, source.size?, source.regions)));
    found.pictures = sources.chain(of_edits).collect();
    Ok(found)
}

/// The source of an edit, with the boxes that a person gave it.
fn source_of(edit: &Edit<'_>, said: Option<&RegionSet>, failed: &mut Vec<String>) -> Source {
    let picture = edit.item.source.clone();
    let size = size_of(&picture.path).map_err(|why| failed.push(why)).ok();
    let has_boxes = said.is_some_and(|said| said.roles.contains(&RegionRole::Original));
    let mut regions = Vec::new();
    if let (Some(size), Some(said)) = (size, said) {
        for region in &said.regions {
            add(region, size, (None, edit.scored.changed), (&mut regions, failed));
        }
    }
    Source { picture, size, regions, has_boxes }
}

/// The edit mask (each mask of a person by its name) and the ignored pixels of an edit, on its source.
fn on_source(edit: &Edit<'_>, size: Size) -> (Vec<ExportRegion>, Vec<String>) {
    let (mut regions, mut failed) = (Vec::new(), Vec::new());
    let key = Some(edit.stored.key.0.clone());
    for region in edit.of_role(RegionRole::EditMask).chain(edit.of_role(RegionRole::Ignore)) {
        match edit.on_source(region) {
            Ok(shape) => {
                let region = Region { side: Side::Source, shape, ..region.clone() };
                add(&region, size, (key.as_ref(), edit.scored.changed), (&mut regions, &mut failed));
            }
            Err(why) => failed.push(format!("{}: {}: {why}", edit.stored.key, region.label)),
        }
    }
    let automatic = edit.scored.score.as_ref().filter(|_| !edit.speaks_for(RegionRole::EditMask)).and_then(|score| score.mask.as_ref());
    let automatic = automatic.and_then(|rle| edit.fitting(rle).map_err(|why| failed.push(format!("{}: {why}", edit.stored.key))).ok());
    if let Some(rle) = automatic {
        let region = Region {
            side: Side::Source,
            role: RegionRole::EditMask,
            origin: RegionOrigin::Segmenter,
            shape: RegionShape::Mask(rle),
            // As the window calls it, and a person's mask too until it is given another name.
            label: "edit mask".to_owned(),
            confidence: None,
        };
        regions.push(ExportRegion { region, edit: key, outdated: edit.scored.outdated });
    }
    (regions, failed)
}

/// The boxes of an edit, on its own picture.
fn on_edit(edit: &Edit<'_>, size: Size, failed: &mut Vec<String>) -> Vec<ExportRegion> {
    let key = edit.stored.key.0.clone();
    let mut regions = Vec::new();
    if edit.speaks_for(RegionRole::Edited) {
        edit.of_role(RegionRole::Edited).for_each(|region| add(region, size, (Some(&key), edit.scored.changed), (&mut regions, failed)));
    } else if let Some(score) = &edit.scored.score {
        let boxes = score.boxes.edit.iter().map(|d| found_box(Side::Edit, d, &score.candidates.edit));
        regions.extend(boxes.map(|region| ExportRegion { region, edit: Some(key.clone()), outdated: edit.scored.outdated }));
    }
    regions
}

/// Adds a person's region, a mask at the size of its picture.
fn add(
    region: &Region,
    size: Size,
    (edit, outdated): (Option<&String>, bool),
    (regions, failed): (&mut Vec<ExportRegion>, &mut Vec<String>),
) {
    let shape = match &region.shape {
        RegionShape::Box(rect) => Ok(RegionShape::Box(*rect)),
        mask @ RegionShape::Mask(_) => mask_at(mask, size).map(|mask| RegionShape::Mask(Rle::from_mask(&mask))),
    };
    match shape {
        Ok(shape) => regions.push(ExportRegion { region: Region { shape, ..region.clone() }, edit: edit.cloned(), outdated }),
        Err(why) => failed.push(format!("{}: {why}", region.label)),
    }
}

/// A box that the metric used: the detector's, or a person's where the detector proposed no such box.
fn found_box(side: Side, detection: &Detection, candidates: &[Detection]) -> Region {
    let by_person = !candidates.contains(detection);
    Region {
        side,
        role: match side {
            Side::Source => RegionRole::Original,
            Side::Edit => RegionRole::Edited,
        },
        origin: if by_person { RegionOrigin::Person } else { RegionOrigin::Detector },
        shape: RegionShape::Box(detection.rect_in_image),
        label: detection.name().to_owned(),
        confidence: (!by_person).then_some(detection.confidence),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_without_a_region_are_counted_and_the_first_are_named() {
        assert_eq!(without_words(&[]), "");
        assert_eq!(without_words(&["a"]), "; 1 scored edit has no region: a");
        assert_eq!(without_words(&["a", "b", "c", "d", "e"]), "; 5 scored edits have no region: a, b, c and 2 more");
    }
}
