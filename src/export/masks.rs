//! Masks as PNG, white where the edit is: what inpainting tools (diffusers, ComfyUI) take.

use std::collections::HashSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::{GrayImage, ImageFormat, Luma};

use super::{ExportError, write_file};
use crate::domain::Mask;

/// The longest file name before its ending; most file systems allow 255 bytes.
const LONGEST: usize = 180;

/// Writes one grey PNG of 0 and 255 for each named mask into `folder`, which is made if need be. Returns the files in the order
/// of the masks. Characters that some file system forbids become `_`; equal names get a number.
///
/// # Errors
/// When the folder or a file cannot be written; files written before stay.
pub fn write_masks<'a>(masks: impl IntoIterator<Item = (&'a str, &'a Mask)>, folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    std::fs::create_dir_all(folder).map_err(|source| ExportError::Write { path: folder.to_owned(), source })?;
    let (mut taken, mut files) = (HashSet::new(), Vec::new());
    for (name, mask) in masks {
        let base = file_name(name);
        let name = std::iter::once(base.clone())
            .chain((2..).map(|n| format!("{base}_{n}")))
            // Case is ignored, because some file systems do.
            .find(|name| taken.insert(name.to_lowercase()))
            .unwrap_or(base);
        let path = folder.join(format!("{name}.png"));
        write_mask(mask, &path)?;
        files.push(path);
    }
    Ok(files)
}

fn write_mask(mask: &Mask, path: &Path) -> Result<(), ExportError> {
    let size = mask.size();
    let picture = GrayImage::from_fn(size.width, size.height, |x, y| Luma([if mask.get(x, y) { 255 } else { 0 }]));
    write_file(path, |file| {
        let mut png = Cursor::new(Vec::new());
        picture.write_to(&mut png, ImageFormat::Png).map_err(|error| error.to_string())?;
        file.write_all(png.get_ref()).map_err(|error| error.to_string())
    })
}

fn file_name(name: &str) -> String {
    let mut safe: String = name.chars().map(|c| if c.is_control() || "/\\:*?\"<>|".contains(c) { '_' } else { c }).collect();
    while safe.len() > LONGEST {
        safe.pop();
    }
    // A name of dots, or with one at either end, hides or vanishes somewhere.
    let safe = safe.trim_matches(['.', ' ']);
    if safe.is_empty() { "mask".to_owned() } else { safe.to_owned() }
}
