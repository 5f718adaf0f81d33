//! What a scored project gives out besides rows: regions as masks, and pictures with their annotations. Plain data; front ends write it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use crate::domain::rle::Rle;
use crate::domain::{Detection, EditKey, ExportRow, PictureRef, Region, RegionOrigin, RegionRole, RegionShape, Side, Size};
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

/// The manifest beside pasted pictures: `score` and `import` read it.
pub const PASTED_MANIFEST: &str = "manifest.jsonl";

/// Key, region and row of each edit that has a region, in the order of `scored`.
pub fn pairs<'a>(scored: &'a [ScoredEdit], rows: &'a [ExportRow]) -> impl Iterator<Item = (&'a str, &'a Rle, &'a ExportRow)> {
    let by_key: BTreeMap<&str, &ExportRow> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
    regions(scored).into_iter().filter_map(move |(key, rle)| Some((key.0.as_str(), rle, *by_key.get(key.0.as_str())?)))
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
