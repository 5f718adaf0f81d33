//! Pictures of an edit region: masks for inpainting tools, and the region pasted back on its source. One PNG each, named by its edit.

use std::collections::HashSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::{DynamicImage, GrayImage, ImageFormat, Luma, RgbImage};

use super::{ExportError, write_file};
use crate::domain::Mask;

/// The longest file name before its ending; most file systems allow 255 bytes.
const LONGEST: usize = 180;

/// What a picture is called whose name has nothing that a file name may have.
const NAMELESS: &str = "mask";

/// What colour the edit has in a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MaskInk {
    /// White where the edit is: what diffusers and ComfyUI repaint.
    #[default]
    White,
    /// Black where the edit is, for tools that keep what is white.
    Black,
}

/// A file of this name in the folder says that the pictures in it are not all; it goes when the last one is written.
pub const INCOMPLETE: &str = "INCOMPLETE.txt";

/// A file of this name in the folder names edits whose pictures belong to a score that is outdated.
pub const OUTDATED: &str = "OUTDATED.txt";

const WHY_INCOMPLETE: &str =
    "EditScope is writing pictures into this folder, or was interrupted while it did. Not all of them are here: export again.\n";

/// What became of pictures that were to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Name of what it shows, and the file.
    pub files: Vec<(String, PathBuf)>,
    /// Name of what could not be made, and why.
    pub failed: Vec<(String, String)>,
}

/// Writes one grey PNG of 0 and 255 for each named mask into `folder`, which is made if need be, in the order of the masks. Characters
/// that some file system forbids become `_`; equal names get a number. `told` hears after each one how many are done. As long as
/// [`INCOMPLETE`] lies in the folder, some are missing. A mask is asked for when its turn comes; one that cannot be had is told.
///
/// # Errors
/// When the folder or a file cannot be written; files written before stay, and so does [`INCOMPLETE`].
pub fn write_masks<'a>(
    masks: impl IntoIterator<Item = (&'a str, Result<Mask, String>)>,
    ink: MaskInk,
    folder: &Path,
    told: &mut dyn FnMut(usize),
) -> Result<Written, ExportError> {
    let (edit, rest) = if ink == MaskInk::White { (255, 0) } else { (0, 255) };
    let picture = |mask: Mask| -> DynamicImage {
        let size = mask.size();
        GrayImage::from_fn(size.width, size.height, |x, y| Luma([if mask.get(x, y) { edit } else { rest }])).into()
    };
    write_all(masks.into_iter().map(|(name, mask)| (name, mask.map(picture))), folder, told)
}

/// Writes one PNG for each named picture, as [`write_masks`] does. A picture is asked for when its turn comes, so that one is in memory
/// at a time; one that cannot be had is passed over and told.
///
/// # Errors
/// As [`write_masks`].
pub fn write_pictures<'a>(
    pictures: impl IntoIterator<Item = (&'a str, Result<RgbImage, String>)>,
    folder: &Path,
    told: &mut dyn FnMut(usize),
) -> Result<Written, ExportError> {
    write_all(pictures.into_iter().map(|(name, picture)| (name, picture.map(Into::into))), folder, told)
}

/// Writes [`OUTDATED`] into a folder of pictures, or takes that of an earlier export away when nothing is outdated.
///
/// # Errors
/// When it cannot be written or removed.
pub fn note_outdated(folder: &Path, keys: &[&str]) -> Result<(), ExportError> {
    let path = folder.join(OUTDATED);
    if keys.is_empty() {
        return match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(ExportError::Write { path, source }),
            _ => Ok(()),
        };
    }
    let text = format!(
        "The regions of these edits belong to scores that are older than their regions, parse or pictures. Score them again, then export \
         again:\n{}\n",
        keys.join("\n")
    );
    write_file(&path, |file| file.write_all(text.as_bytes()).map_err(|error| error.to_string()))
}

fn write_all<'a>(
    pictures: impl Iterator<Item = (&'a str, Result<DynamicImage, String>)>,
    folder: &Path,
    told: &mut dyn FnMut(usize),
) -> Result<Written, ExportError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ExportError::Write { path, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let mark = folder.join(INCOMPLETE);
    std::fs::write(&mark, WHY_INCOMPLETE).map_err(failed(&mark))?;
    let (mut taken, mut written) = (HashSet::new(), Written::default());
    for (name, picture) in pictures {
        // One that fails has its name too, so that the others' do not depend on it.
        let file = picture_file(name, &mut taken);
        match picture {
            Err(why) => written.failed.push((name.to_owned(), why)),
            Ok(picture) => {
                let path = folder.join(file);
                write_png(&picture, &path)?;
                written.files.push((name.to_owned(), path));
            }
        }
        told(written.files.len() + written.failed.len());
    }
    std::fs::remove_file(&mark).map_err(failed(&mark))?;
    Ok(written)
}

/// Every file that [`write_masks`] or [`write_pictures`], and [`note_outdated`], may write into a folder for pictures of these names.
pub fn picture_files<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let pictures: Vec<String> = names.into_iter().map(|name| picture_file(name, &mut taken)).collect();
    pictures.into_iter().chain([INCOMPLETE, OUTDATED].map(str::to_owned)).collect()
}

fn picture_file(name: &str, taken: &mut HashSet<String>) -> String {
    format!("{}.png", free_name(&file_name(name), taken))
}

/// The name, with a number where it is taken.
fn free_name(base: &str, taken: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|n| format!("{base}_{n}"));
    // Case is ignored, because some file systems do.
    let free = std::iter::once(base.to_owned()).chain(numbered).find(|name| taken.insert(name.to_lowercase()));
    free.unwrap_or_else(|| base.to_owned())
}

/// Writes one picture as PNG, the whole file or nothing.
fn write_png(picture: &DynamicImage, path: &Path) -> Result<(), ExportError> {
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
    if safe.is_empty() { NAMELESS.to_owned() } else { safe.to_owned() }
}
