//! `export`: scores, ratings and regions of a project, as files.

use std::path::Path;

use anyhow::bail;
use clap::ValueEnum as _;

use crate::engine::outputs;
use crate::engine::results::{self, ScoredEdit};
use crate::export::{CocoPicture, ExportRow, Kept, MaskForm, check_output, write_coco, write_csv, write_jsonl};
use crate::storage::Project;

use super::args::{Export, ExportFormat};
use super::{Finish, export_pictures as pictures};

/// Writes what the format asks for and says how much it was.
pub fn run(export: &Export) -> anyhow::Result<Finish> {
    refuse_misplaced(export)?;
    let kept = refuse_lost(&Project::open_read_only(&export.project)?, &export.output)?;
    if export.format == ExportFormat::Ratings {
        return super::ratings::export(&export.project, export.rater.as_deref(), &export.output);
    }
    if export.format == ExportFormat::Report {
        return super::agree::report(&export.project, export.profile, &export.output);
    }
    let project = Project::open_read_only(&export.project)?;
    let range = results::fit(&project, export.profile, None)?;
    let mut scored = results::all(&project, export.profile, Some(&range), None)?;
    for changed in results::mark_changed(&project, &mut scored)? {
        eprintln!("outdated: {changed}");
    }
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
        ExportFormat::Masks => return pictures::masks(&project, export, &scored, &kept),
        ExportFormat::PasteBack => {
            return pictures::paste_back(&project, export, &scored, &rows(&project, export, &scored)?, &kept);
        }
        // Made above, of other things than the rows.
        ExportFormat::Report | ExportFormat::Ratings => String::new(),
        ExportFormat::Coco => return coco(&project, export, &scored),
    };
    out!("{}: {what}", out.display());
    Ok(Finish::Done)
}

/// Says no to an output that would replace the project's own files, before anything is computed. Returns the files that nothing may replace.
pub(super) fn refuse_lost(project: &Project, out: &Path) -> anyhow::Result<Kept> {
    check_output(out, &[project.path()])?;
    let kept = Kept::of(project.picture_files()?);
    kept.check(out)?;
    Ok(kept)
}

/// Writes the annotations; a picture whose size cannot be read is listed and left out.
fn coco(project: &Project, export: &Export, scored: &[ScoredEdit]) -> anyhow::Result<Finish> {
    let found = outputs::annotated(project, scored)?;
    for why in &found.failed {
        tell!("failed: {why}");
    }
    let coco = |(picture, size, regions)| CocoPicture { picture, size, regions };
    let pictures: Vec<CocoPicture> = found.pictures.into_iter().map(coco).collect();
    let written = write_coco(&pictures, if export.polygons { MaskForm::Polygons } else { MaskForm::Rle }, &export.output)?;
    let (regions, said) = (written.annotations, written.words());
    let failed = if found.failed.is_empty() { String::new() } else { format!("; {} pictures failed", found.failed.len()) };
    out!("{}: {} pictures with {regions} regions{said}{failed}", export.output.display(), pictures.len());
    Ok(if found.failed.is_empty() { Finish::Done } else { Finish::SomeFailed })
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

fn rows(project: &Project, export: &Export, scored: &[ScoredEdit]) -> anyhow::Result<Vec<ExportRow>> {
    Ok(results::rows(project, scored, export.profile, "fitted on this project")?)
}
