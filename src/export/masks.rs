//! Pictures of an edit region: masks for inpainting tools, and the region pasted back on its source. One PNG each, named by its edit.

use std::collections::HashSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::{DynamicImage, GrayImage, ImageFormat, Luma, RgbImage};

use super::{ExportError, write_file};
use crate::domain::Mask;

/// The longest file name before its ending; most file systems allow 255 bytes.
const LONGEST: usize = 180;

/// What colour the edit has in a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MaskInk {
    /// White where the edit is: what diffusers and ComfyUI repaint.
    #[default]
    White,
    /// Black where the edit is, for tools that keep what is white.
    Black,
}

/// Writes one grey PNG of 0 and 255 for each named mask into `folder`, which is made if need be. Returns the files in the order
/// of the masks. Characters that some file system forbids become `_`; equal names get a number.
///
/// # Errors
/// When the folder or a file cannot be written; files written before stay.
pub fn write_masks<'a>(
    masks: impl IntoIterator<Item = (&'a str, &'a Mask)>,
    ink: MaskInk,
    folder: &Path,
) -> Result<Vec<PathBuf>, ExportError> {
    let (edit, rest) = if ink == MaskInk::White { (255, 0) } else { (0, 255) };
    let picture = |mask: &Mask| {
        let size = mask.size();
        GrayImage::from_fn(size.width, size.height, |x, y| Luma([if mask.get(x, y) { edit } else { rest }]))
    };
    write_all(masks.into_iter().map(|(name, mask)| Ok((name, picture(mask).into()))), "mask", folder)
}

/// Writes one PNG for each named picture, as [`write_masks`] does. A picture is asked for when its turn comes, so that one is in memory
/// at a time.
///
/// # Errors
/// When a picture cannot be had, or the folder or a file cannot be written; files written before stay.
pub fn write_pictures<'a>(
    pictures: impl IntoIterator<Item = (&'a str, Result<RgbImage, String>)>,
    folder: &Path,
) -> Result<Vec<PathBuf>, ExportError> {
    write_all(pictures.into_iter().map(|(name, picture)| Ok((name, picture?.into()))), "picture", folder)
}

fn write_all<'a>(
    pictures: impl Iterator<Item = Result<(&'a str, DynamicImage), String>>,
    nameless: &str,
    folder: &Path,
) -> Result<Vec<PathBuf>, ExportError> {
    std::fs::create_dir_all(folder).map_err(|source| ExportError::Write { path: folder.to_owned(), source })?;
    let (mut taken, mut files) = (HashSet::new(), Vec::new());
    for picture in pictures {
        let (name, picture) = picture.map_err(|reason| ExportError::Content { path: folder.to_owned(), reason })?;
        let base = file_name(name, nameless);
        let name = std::iter::once(base.clone())
            .chain((2..).map(|n| format!("{base}_{n}")))
            // Case is ignored, because some file systems do.
            .find(|name| taken.insert(name.to_lowercase()))
            .unwrap_or(base);
        let path = folder.join(format!("{name}.png"));
        write_file(&path, |file| {
            let mut png = Cursor::new(Vec::new());
            picture.write_to(&mut png, ImageFormat::Png).map_err(|error| error.to_string())?;
            file.write_all(png.get_ref()).map_err(|error| error.to_string())
        })?;
        files.push(path);
    }
    Ok(files)
}

fn file_name(name: &str, nameless: &str) -> String {
    let mut safe: String = name.chars().map(|c| if c.is_control() || "/\\:*?\"<>|".contains(c) { '_' } else { c }).collect();
    while safe.len() > LONGEST {
        safe.pop();
    }
    // A name of dots, or with one at either end, hides or vanishes somewhere.
    let safe = safe.trim_matches(['.', ' ']);
    if safe.is_empty() { nameless.to_owned() } else { safe.to_owned() }
}
