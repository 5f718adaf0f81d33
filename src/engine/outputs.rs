//! What a scored project gives out besides rows: regions as masks, and pictures with their annotations. Plain data; front ends write it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use crate::domain::rle::Rle;
use crate::domain::{Detection, EditKey, PictureRef, Region, RegionOrigin, RegionRole, RegionShape, Side, Size};
use crate::storage::{ItemId, Project};

use super::results::{self, ScoredEdit};

/// The edit region of each edit that has one, at the size of its source. Where nothing was located there is none.
pub fn regions(scored: &[ScoredEdit]) -> Vec<(&EditKey, &Rle)> {
    let of = |edit| {
        let ScoredEdit { key, score, .. }: &ScoredEdit = edit;
        Some((key, score.as_ref()?.mask.as_ref()?))
    };
    scored.iter().filter_map(of).filter(|(_, rle)| !rle.is_empty()).collect()
}

/// Pictures with the regions that lie on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotated {
    /// A picture, the size of it upright, and regions in its pixels.
    pub pictures: Vec<(PictureRef, Size, Vec<Region>)>,
    /// Pictures whose size cannot be read, and why.
    pub failed: Vec<String>,
}

impl Annotated {
    fn size(&mut self, path: &Path) -> Option<Size> {
        match results::picture_size(path) {
            Ok(size) => Some(size),
            Err(why) => {
                self.failed.push(format!("{why:#}"));
                None
            }
        }
    }
}

/// Boxes of the source and of each edit; the edit mask belongs to the source's pixels, one for each edit. Sources come first.
///
/// # Errors
/// When the project cannot be read.
pub fn annotated(project: &Project, scored: &[ScoredEdit]) -> anyhow::Result<Annotated> {
    let items: BTreeMap<_, _> = project.items()?.into_iter().map(|item| (item.id, item)).collect();
    let by_id: BTreeMap<_, _> = scored.iter().map(|edit| (edit.id, edit)).collect();
    // `None`: its size cannot be read.
    let mut sources: BTreeMap<ItemId, Option<(PictureRef, Size, Vec<Region>)>> = BTreeMap::new();
    let mut found = Annotated::default();
    let mut of_edits = Vec::new();
    for edit in project.edits()? {
        let (Some(item), Some(scored)) = (items.get(&edit.item), by_id.get(&edit.id)) else { continue };
        let Some(score) = &scored.score else { continue };
        let source = match sources.entry(edit.item) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let boxes = || score.boxes.source.iter().map(|d| region(Side::Source, d, &score.candidates.source)).collect();
                new.insert(found.size(&item.source.path).map(|size| (item.source.clone(), size, boxes())))
            }
        };
        if let (Some((_, _, regions)), Some(rle)) = (source, &score.mask) {
            let drawn = scored.automatic.as_ref().is_some_and(|automatic| automatic.score.mask.as_ref() != Some(rle));
            regions.push(Region {
                side: Side::Source,
                role: RegionRole::EditMask,
                origin: if drawn { RegionOrigin::Person } else { RegionOrigin::Segmenter },
                shape: RegionShape::Mask(rle.clone()),
                label: edit.key.0.clone(),
                confidence: None,
            });
        }
        if let Some(size) = found.size(&edit.picture.path) {
            let boxes = score.boxes.edit.iter().map(|d| region(Side::Edit, d, &score.candidates.edit)).collect();
            of_edits.push((edit.picture, size, boxes));
        }
    }
    found.pictures = sources.into_values().flatten().chain(of_edits).collect();
    Ok(found)
}

/// A box that the metric used: the detector's, or a person's where the detector proposed no such box.
fn region(side: Side, detection: &Detection, candidates: &[Detection]) -> Region {
    let by_person = !candidates.contains(detection);
    Region {
        side,
        role: match side {
            Side::Source => RegionRole::Original,
            Side::Edit => RegionRole::Edited,
        },
        origin: if by_person { RegionOrigin::Person } else { RegionOrigin::Detector },
        shape: RegionShape::Box(detection.rect_in_image),
        label: detection.phrase.clone(),
        confidence: (!by_person).then_some(detection.confidence),
    }
}
