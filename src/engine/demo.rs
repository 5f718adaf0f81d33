//! The demo that is built into the program: pictures, instructions, truth and ratings, and the small checkpoints.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use include_dir::{Dir, DirEntry, include_dir};

/// The demo project's pictures, manifest, truth and (simulated) ratings.
static PICTURES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/assets/demo");
/// The three small checkpoints.
#[cfg(feature = "nets")]
static CHECKPOINTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/models/demo");

/// What is said wherever demo checkpoints are used.
pub const DEMO_NOTICE: &str = "Demo checkpoints know only the demo's emoji scenes: on other pictures their boxes, masks and scores mean nothing. \
     editscope models list says how to get the published networks.";

/// The file of the demo that lists its edits.
pub const MANIFEST: &str = "manifest.jsonl";

/// Writes the demo's pictures and manifest into `folder`, which is made if it does not exist; files that are already there with the
/// same content are left alone. Returns the path of the manifest.
///
/// # Errors
/// When a file cannot be written; the error names it.
pub fn write_pictures(folder: &Path) -> io::Result<PathBuf> {
    write_tree(&PICTURES, folder)?;
    Ok(folder.join(MANIFEST))
}

/// The folder of the demo checkpoints on this machine: unpacked into the user's cache folder when it is not there yet.
///
/// The folder's name holds a hash of the content, so that a newer program never reads the checkpoints of an older one.
///
/// # Errors
/// When there is no cache folder or a file cannot be written; the error names it.
#[cfg(feature = "nets")]
pub fn checkpoint_folder() -> io::Result<PathBuf> {
    let mut hasher = blake3::Hasher::new();
    hash_tree(&CHECKPOINTS, &mut hasher);
    let name = format!("demo-{}", &hasher.finalize().to_hex()[..16]);
    let cache = dirs::cache_dir()
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no cache folder for this user: set XDG_CACHE_HOME or HOME"))?;
    let folder = cache.join("editscope").join("models").join(name);
    write_tree(&CHECKPOINTS, &folder)?;
    Ok(folder)
}

#[cfg(feature = "nets")]
fn hash_tree(tree: &Dir<'_>, hasher: &mut blake3::Hasher) {
    for entry in tree.entries() {
        match entry {
            DirEntry::Dir(dir) => hash_tree(dir, hasher),
            DirEntry::File(file) => {
                hasher.update(file.path().to_string_lossy().as_bytes());
                hasher.update(file.contents());
            }
        }
    }
}

/// Tells the parts of threads of one process apart that unpack at the same time.
static PARTS: AtomicU64 = AtomicU64::new(0);

/// Writes the files of `tree` below `folder`. A file is written to a `.part` beside it and renamed, so that an interrupted write never
/// leaves half a file under the real name.
fn write_tree(tree: &Dir<'_>, folder: &Path) -> io::Result<()> {
    let named = |path: &Path, error: &io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    for entry in tree.entries() {
        let path = folder.join(entry.path());
        match entry {
            DirEntry::Dir(dir) => {
                fs::create_dir_all(&path).map_err(|e| named(&path, &e))?;
                write_tree(dir, folder)?;
            }
            DirEntry::File(file) => {
                if fs::read(&path).is_ok_and(|there| there == file.contents()) {
                    continue;
                }
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent).map_err(|e| named(parent, &e))?;
                }
                let part = path.with_file_name(format!(
                    "{}.{}-{}.part",
                    entry.path().file_name().unwrap_or_default().to_string_lossy(),
                    std::process::id(),
                    PARTS.fetch_add(1, Ordering::Relaxed)
                ));
                fs::write(&part, file.contents()).map_err(|e| named(&part, &e))?;
                fs::rename(&part, &path).map_err(|e| named(&path, &e))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_unpack_at_once_do_not_take_each_others_files() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| write_pictures(folder.path()))).collect();
                for thread in threads {
                    thread.join().unwrap().unwrap();
                }
            });
            assert!(folder.path().join(MANIFEST).is_file());
        }
    }
}
