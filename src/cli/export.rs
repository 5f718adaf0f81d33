//! `export`: scores, ratings and regions of a project, as files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::bail;
use clap::ValueEnum as _;

use crate::domain::{Detection, Mask, Region, RegionOrigin, RegionRole, RegionShape, Side};
use crate::engine;
use crate::engine::results::{self, ScoredEdit};
use crate::export::{CocoPicture, ExportRow, MaskForm, MaskInk, write_coco, write_csv, write_jsonl, write_masks, write_pictures};
use crate::storage::{ItemId, Project, StoredEdit, StoredItem};

use super::Finish;
use super::args::{Export, ExportFormat};

/// Writes what the format asks for and says how much it was.
pub fn run(export: &Export) -> anyhow::Result<Finish> {
    refuse_misplaced(export)?;
    if export.format == ExportFormat::Ratings {
        return super::ratings::export(&export.project, export.rater.as_deref(), &export.output);
    }
    if export.format == ExportFormat::Report {
        return super::agree::report(&export.project, export.profile, &export.output);
    }
    let project = Project::open_read_only(&export.project)?;
    let range = results::fit(&project, export.profile, None)?;
    let scored = results::all(&project, export.profile, Some(&range), None)?;
    if scored.is_empty() {
        bail!("{}: the project has no edits", export.project.display());
    }
    let out = &export.output;
    let what = match export.format {
        ExportFormat::Csv => {
            write_csv(&rows(&project, export, &scored)?, out)?;
            format!("{} rows", scored.len())
        }
        ExportFormat::Jsonl => {
            write_jsonl(&rows(&project, export, &scored)?, out)?;
            format!("{} lines", scored.len())
        }
        ExportFormat::Masks => {
            let masks = masks(&scored)?;
            if masks.is_empty() {
                bail!(
                    "{}: no edit has an edit region of profile {}: it was not scored, or nothing was located",
                    export.project.display(),
                    export.profile
                );
            }
            let ink = if export.invert { MaskInk::Black } else { MaskInk::White };
            write_masks(masks.iter().map(|(name, mask)| (name.as_str(), mask)), ink, out)?;
            let without = scored.iter().filter(|edit| edit.score.is_some()).count() - masks.len();
            let color = if export.invert { "black" } else { "white" };
            format!("{} masks ({color}: the edit region, at the size of the source); {without} scored edits have no region", masks.len())
        }
        ExportFormat::PasteBack => paste_back(&project, export, &scored)?,
        // Made above, of other things than the rows.
        ExportFormat::Report | ExportFormat::Ratings => String::new(),
        ExportFormat::Coco => {
            let pictures = pictures(&project, &scored)?;
            write_coco(&pictures, if export.polygons { MaskForm::Polygons } else { MaskForm::Rle }, out)?;
            format!("{} pictures with {} regions", pictures.len(), pictures.iter().map(|p| p.regions.len()).sum::<usize>())
        }
    };
    out!("{}: {what}", out.display());
    Ok(Finish::Done)
}

/// Options that would do nothing with this format, and a file where a folder is to be written, are mistakes to tell.
fn refuse_misplaced(export: &Export) -> anyhow::Result<()> {
    let given = [
        ("--rater", export.rater.is_some(), ExportFormat::Ratings),
        ("--invert", export.invert, ExportFormat::Masks),
        ("--polygons", export.polygons, ExportFormat::Coco),
    ];
    for (option, is_given, format) in given {
        if is_given && export.format != format {
            let name = format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            bail!("{option} is for --format {name}; with this format it would do nothing");
        }
    }
    if matches!(export.format, ExportFormat::Masks | ExportFormat::PasteBack) && export.output.is_file() {
        bail!("{} is a file; this format writes many pictures: name a folder", export.output.display());
    }
    Ok(())
}

/// Items and edits of a project by id.
fn parts(project: &Project) -> anyhow::Result<(BTreeMap<ItemId, StoredItem>, Vec<StoredEdit>)> {
    Ok((project.items()?.into_iter().map(|item| (item.id, item)).collect(), project.edits()?))
}

fn rows(project: &Project, export: &Export, scored: &[ScoredEdit]) -> anyhow::Result<Vec<ExportRow>> {
    Ok(results::rows(project, scored, export.profile, "fitted on this project")?)
}

fn masks(scored: &[ScoredEdit]) -> anyhow::Result<Vec<(String, Mask)>> {
    let mut masks = Vec::new();
    for edit in scored {
        if let Some(rle) = edit.score.as_ref().and_then(|score| score.mask.as_ref()) {
            let mask = rle.to_mask()?;
            // Nothing was located: a black picture would look like an answer.
            if !mask.is_empty() {
                masks.push((edit.key.0.clone(), mask));
            }
        }
    }
    Ok(masks)
}

/// Writes the region of each edit on its source; says what was written and what could not be.
fn paste_back(project: &Project, export: &Export, scored: &[ScoredEdit]) -> anyhow::Result<String> {
    if !export.feather.is_finite() || export.feather < 0.0 {
        bail!("--feather {}: give a number of pixels, 0 or more", export.feather);
    }
    let (items, edits) = parts(project)?;
    let edits: BTreeMap<_, _> = edits.into_iter().map(|edit| (edit.id, edit)).collect();
    let masks = masks(scored)?;
    let files = masks.iter().filter_map(|(name, mask)| {
        let id = scored.iter().find(|edit| edit.key.0 == *name)?.id;
        let edit = edits.get(&id)?;
        let item = items.get(&edit.item)?;
        Some((name.as_str(), engine::paste_back::paste_back(&item.source.path, &edit.picture.path, mask, export.feather)))
    });
    let written = write_pictures(files, &export.output)?;
    let without = scored.iter().filter(|edit| edit.score.is_some()).count() - masks.len();
    Ok(format!(
        "{} pictures (only the region of the edit on its source, edge soft over {} px, sRGB); {without} scored edits have no region",
        written.len(),
        export.feather
    ))
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

/// Boxes of the source and of each edit; the edit mask belongs to the source's pixels, one for each edit.
fn pictures(project: &Project, scored: &[ScoredEdit]) -> anyhow::Result<Vec<CocoPicture>> {
    let (items, edits) = parts(project)?;
    let by_id: BTreeMap<_, _> = scored.iter().map(|edit| (edit.id, edit)).collect();
    let mut sources: BTreeMap<ItemId, CocoPicture> = BTreeMap::new();
    let mut found = Vec::new();
    for edit in edits {
        let (Some(item), Some(score)) = (items.get(&edit.item), by_id.get(&edit.id).and_then(|scored| scored.score.as_ref())) else {
            continue;
        };
        let source = match sources.entry(edit.item) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let size = results::picture_size(&item.source.path)?;
                let regions = score.boxes.source.iter().map(|d| region(Side::Source, d, &score.candidates.source)).collect();
                new.insert(CocoPicture { picture: item.source.clone(), size, regions })
            }
        };
        if let Some(rle) = &score.mask {
            let automatic = by_id.get(&edit.id).and_then(|scored| scored.automatic.as_ref());
            let drawn = automatic.is_some_and(|automatic| automatic.score.mask.as_ref() != Some(rle));
            source.regions.push(Region {
                side: Side::Source,
                role: RegionRole::EditMask,
                origin: if drawn { RegionOrigin::Person } else { RegionOrigin::Segmenter },
                shape: RegionShape::Mask(rle.clone()),
                label: edit.key.0.clone(),
                confidence: None,
            });
        }
        let regions = score.boxes.edit.iter().map(|d| region(Side::Edit, d, &score.candidates.edit)).collect();
        found.push(CocoPicture { size: results::picture_size(&edit.picture.path)?, picture: edit.picture, regions });
    }
    Ok(sources.into_values().chain(found).collect())
}
