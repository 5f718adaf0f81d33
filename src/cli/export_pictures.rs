//! `export --format masks` and `paste-back`: a folder of pictures, one for each edit that has a region.

use std::path::Path;

use anyhow::bail;

use crate::domain::Mask;
use crate::engine::outputs::{self, IGNORED, MaskOf, Masks};
use crate::engine::paste_back::{FEATHER, paste_back as pasted};
use crate::engine::results::ScoredEdit;
use crate::export::{
    ExportRow, Kept, MaskInk, OUTDATED, PASTED_MANIFEST, Written, note_outdated, picture_files, write_jsonl, write_masks, write_pictures,
};
use crate::storage::Project;

use super::Finish;
use super::args::Export;
use super::progress::Progress;

/// Writes the edit regions as black and white pictures, and ignored pixels as pictures of their own below.
pub fn masks(project: &Project, export: &Export, scored: &[ScoredEdit], kept: &Kept) -> anyhow::Result<Finish> {
    let masks = regions(project, export, scored)?;
    kept.claim(&export.output, &picture_files(names(&masks.edit)))?;
    if !masks.ignored.is_empty() {
        kept.claim(&export.output.join(IGNORED), &picture_files(names(&masks.ignored)))?;
    }
    let (ink, color) = if export.invert { (MaskInk::Black, "black") } else { (MaskInk::White, "white") };
    let total = masks.edit.len();
    let written = with_progress(total, |told| write_masks(lazily(&masks.edit), ink, &export.output, told))?;
    note_outdated(&export.output, &masks.outdated().collect::<Vec<_>>())?;
    let what = format!("masks ({color}: the edit region, at the size of the source)");
    let finish = say(&written, &what, &masks, export, scored);
    if masks.ignored.is_empty() {
        return Ok(finish);
    }
    let folder = export.output.join(IGNORED);
    let ignored = write_masks(lazily(&masks.ignored), ink, &folder, &mut |_| {})?;
    ignored.failed.iter().for_each(|(name, why)| tell!("failed: {name}: {why}"));
    out!("{}: {} masks ({color}: ignored pixels)", folder.display(), ignored.files.len());
    Ok(if ignored.failed.is_empty() { finish } else { Finish::SomeFailed })
}

/// Masks with their names, each unpacked when its turn comes.
fn lazily(masks: &[MaskOf]) -> impl Iterator<Item = (&str, Result<Mask, String>)> {
    masks.iter().map(|mask| (mask.key.0.as_str(), mask.mask()))
}

fn names(masks: &[MaskOf]) -> impl Iterator<Item = &str> {
    masks.iter().map(|mask| mask.key.0.as_str())
}

/// Writes the region of each edit on its source, and a manifest of what was written.
pub fn paste_back(project: &Project, export: &Export, scored: &[ScoredEdit], rows: &[ExportRow], kept: &Kept) -> anyhow::Result<Finish> {
    let masks = regions(project, export, scored)?;
    let mut files = picture_files(names(&masks.edit));
    files.push(PASTED_MANIFEST.to_owned());
    kept.claim(&export.output, &files)?;
    let feather = export.feather.unwrap_or(FEATHER);
    let manifest = export.output.join(PASTED_MANIFEST);
    // One of an earlier export would name what is being replaced.
    remove(&manifest)?;
    let pictures = outputs::pairs(&masks.edit, rows)
        .map(|(of, row)| (of.key.0.as_str(), of.mask().and_then(|mask| pasted(&row.source.path, &row.edited.path, &mask, feather))));
    let written = with_progress(masks.edit.len(), |told| write_pictures(pictures, &export.output, told))?;
    note_outdated(&export.output, &masks.outdated().collect::<Vec<_>>())?;
    write_jsonl(&outputs::pasted_rows(rows, &written.files), &manifest)?;
    let what = format!("pictures (only the region of the edit on its source, edge soft over {feather} px, sRGB)");
    let finish = say(&written, &what, &masks, export, scored);
    out!("score them like any edit: editscope score {}", manifest.display());
    Ok(finish)
}

fn remove(file: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => bail!("cannot replace {}: {error}", file.display()),
        _ => Ok(()),
    }
}

/// The edit region of each edit that has one, at the size of its source.
fn regions(project: &Project, export: &Export, scored: &[ScoredEdit]) -> anyhow::Result<Masks> {
    let masks = outputs::masks(project, scored)?;
    if masks.edit.is_empty() && masks.ignored.is_empty() {
        bail!(
            "{}: no edit has an edit region of profile {}: it was not scored, or nothing was located, and nobody drew one",
            export.project.display(),
            export.profile
        );
    }
    Ok(masks)
}

fn with_progress<T>(total: usize, write: impl FnOnce(&mut dyn FnMut(usize)) -> T) -> T {
    let progress = Progress::new();
    progress.set_total(total);
    let written = write(&mut |done| progress.at(done, total, ""));
    progress.finish();
    written
}

/// Says what was written, what had no region, what is outdated, and what failed.
fn say(written: &Written, what: &str, masks: &Masks, export: &Export, scored: &[ScoredEdit]) -> Finish {
    for (name, why) in &written.failed {
        tell!("failed: {name}: {why}");
    }
    let without = outputs::without_words(&masks.without(scored));
    let failed = if written.failed.is_empty() { String::new() } else { format!("; {} failed", written.failed.len()) };
    let outdated = match masks.outdated().count() {
        0 => String::new(),
        count => format!("; {count} belong to outdated scores ({OUTDATED} names them)"),
    };
    out!("{}: {} {what}{without}{outdated}{failed}", export.output.display(), written.files.len());
    if written.failed.is_empty() { Finish::Done } else { Finish::SomeFailed }
}
