//! `export`: scores, ratings and regions of a project, as files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::bail;
use clap::ValueEnum as _;

use crate::domain::{Detection, Region, RegionOrigin, RegionRole, RegionShape, Side};
use crate::engine::results::{self, ScoredEdit};
use crate::export::{AutomaticResult, CocoPicture, ExportResult, ExportRow, MaskForm, write_coco, write_csv, write_jsonl};
use crate::storage::{ItemId, Project, StoredEdit, StoredItem, flags_of};

use super::args::{Export, ExportFormat};
use super::{Finish, export_pictures as pictures};

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
        ExportFormat::Masks => return pictures::masks(export, &scored),
        ExportFormat::PasteBack => return pictures::paste_back(export, &scored, rows(&project, export, &scored)?),
        // Made above, of other things than the rows.
        ExportFormat::Report | ExportFormat::Ratings => String::new(),
        ExportFormat::Coco => {
            let pictures = coco_pictures(&project, &scored)?;
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
        ("--feather", export.feather.is_some(), ExportFormat::PasteBack),
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
    let (items, edits) = parts(project)?;
    let mut by_id: BTreeMap<_, _> = scored.iter().map(|edit| (edit.id, edit)).collect();
    Ok(edits
        .into_iter()
        .filter_map(|edit| {
            let (item, scored) = (items.get(&edit.item)?, by_id.remove(&edit.id)?);
            let parts = match (&scored.score, &scored.why) {
                (Some(score), _) => Some(Ok(score.parts.clone())),
                (None, Some(why)) => Some(Err(why.clone())),
                (None, None) => None,
            };
            Some(ExportRow {
                id: edit.key.0,
                item: item.key.0.clone(),
                source: item.source.clone(),
                instruction: item.instruction.clone(),
                edited: edit.picture,
                model: edit.model,
                parse: item.parse.clone(),
                ratings: scored.ratings.clone(),
                item_extra: item.extra.clone(),
                extra: edit.extra,
                result: parts.map(|parts| ExportResult {
                    profile: export.profile,
                    parts,
                    overall: Some(scored.combined.overall.clone()),
                    range: Some("fitted on this project".to_owned()),
                    automatic: scored.automatic.as_ref().map(|automatic| AutomaticResult {
                        parts: automatic.score.parts.clone(),
                        overall: automatic.combined.overall.clone(),
                    }),
                    baselines: scored.baselines.clone(),
                    triage: scored.score.as_ref().map(|score| score.triage).unwrap_or_default(),
                    flags: scored.score.iter().flat_map(flags_of).map(|flag| flag.name().to_owned()).collect(),
                }),
            })
        })
        .collect())
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
fn coco_pictures(project: &Project, scored: &[ScoredEdit]) -> anyhow::Result<Vec<CocoPicture>> {
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
