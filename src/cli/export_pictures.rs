//! `export --format masks` and `paste-back`: a folder of pictures, one for each edit that has a region.

use std::collections::HashMap;
use std::path::Path;

use anyhow::bail;

use crate::domain::rle::Rle;
use crate::domain::{EditKey, Mask, PictureRef};
use crate::engine::outputs;
use crate::engine::paste_back::{FEATHER, paste_back as pasted};
use crate::engine::results::ScoredEdit;
use crate::export::{ExportRow, MaskInk, Written, write_jsonl, write_masks, write_pictures};

use super::Finish;
use super::args::Export;
use super::progress::Progress;

/// The manifest beside pasted pictures: `score` and `import` read it. It is written last.
const MANIFEST: &str = "manifest.jsonl";

/// Writes the edit regions as black and white pictures.
pub fn masks(export: &Export, scored: &[ScoredEdit]) -> anyhow::Result<Finish> {
    let masks = regions(export, scored)?;
    let (ink, color) = if export.invert { (MaskInk::Black, "black") } else { (MaskInk::White, "white") };
    let named = masks.iter().map(|(key, rle)| (key.0.as_str(), decoded(rle)));
    let written = with_progress(masks.len(), |told| write_masks(named, ink, &export.output, told))?;
    let what = format!("masks ({color}: the edit region, at the size of the source)");
    Ok(say(&written, &what, export, scored))
}

/// Writes the region of each edit on its source, and a manifest of what was written.
pub fn paste_back(export: &Export, scored: &[ScoredEdit], rows: Vec<ExportRow>) -> anyhow::Result<Finish> {
    let masks = regions(export, scored)?;
    let feather = export.feather.unwrap_or(FEATHER);
    let manifest = export.output.join(MANIFEST);
    // One of an earlier export would name what is being replaced.
    remove(&manifest)?;
    let by_key: HashMap<&str, &ExportRow> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let pictures = masks.iter().filter_map(|(key, rle)| {
        let row = by_key.get(key.0.as_str())?;
        Some((key.0.as_str(), decoded(rle).and_then(|mask| pasted(&row.source.path, &row.edited.path, &mask, feather))))
    });
    let written = with_progress(masks.len(), |told| write_pictures(pictures, &export.output, told))?;
    write_jsonl(&manifest_rows(rows, &written), &manifest)?;
    let what = format!("pictures (only the region of the edit on its source, edge soft over {feather} px, sRGB)");
    let finish = say(&written, &what, export, scored);
    out!("score them like any edit: editscope score {}", manifest.display());
    Ok(finish)
}

/// The edits that were pasted, with the pasted picture in place of the edit's. What was said about the edit itself stays behind.
fn manifest_rows(rows: Vec<ExportRow>, written: &Written) -> Vec<ExportRow> {
    let files: HashMap<&str, &Path> = written.files.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
    let pasted = |row: ExportRow| {
        let path = (*files.get(row.id.as_str())?).to_owned();
        let given = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let model = if row.model.is_empty() { "pasted back".to_owned() } else { format!("{} (pasted back)", row.model) };
        // Another id, so that it stands beside the edit where both come into one project.
        let id = format!("{}-pasted-back", row.id);
        Some(ExportRow { id, edited: PictureRef { path, given }, model, ratings: Vec::new(), result: None, ..row })
    };
    rows.into_iter().filter_map(pasted).collect()
}

fn remove(file: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => bail!("cannot replace {}: {error}", file.display()),
        _ => Ok(()),
    }
}

fn decoded(rle: &Rle) -> Result<Mask, String> {
    rle.to_mask().map_err(|error| error.to_string())
}

/// The edit region of each edit that has one, at the size of its source.
fn regions<'a>(export: &Export, scored: &'a [ScoredEdit]) -> anyhow::Result<Vec<(&'a EditKey, &'a Rle)>> {
    let masks = outputs::regions(scored);
    if masks.is_empty() {
        bail!(
            "{}: no edit has an edit region of profile {}: it was not scored, or nothing was located",
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

/// Says what was written, what had no region, and what failed.
fn say(written: &Written, what: &str, export: &Export, scored: &[ScoredEdit]) -> Finish {
    for (name, why) in &written.failed {
        eprintln!("failed: {name}: {why}");
    }
    let done = written.files.len() + written.failed.len();
    let without = scored.iter().filter(|edit| edit.score.is_some()).count().saturating_sub(done);
    let failed = if written.failed.is_empty() { String::new() } else { format!("; {} failed", written.failed.len()) };
    out!("{}: {} {what}; {without} scored edits have no region{failed}", export.output.display(), written.files.len());
    if written.failed.is_empty() { Finish::Done } else { Finish::SomeFailed }
}
