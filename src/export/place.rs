//! What stands at the path that something is to be written to.

use std::io;
use std::path::{Path, PathBuf};

/// Links that lead to links; more are a circle. Linux follows as many.
const MOST_LINKS: usize = 40;

/// Whether `path` is something that is written into and never replaced: a pipe, a device, a socket. Links are followed.
pub fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Where a file at `path` really lies: behind every link, also one whose target is not there yet.
///
/// # Errors
/// When the links lead in a circle or cannot be read.
pub(super) fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !place.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return Ok(place);
        }
        // A relative target is meant from the folder of its link.
        let target = std::fs::read_link(&place)?;
        place = place.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    Err(io::Error::other("its links lead in a circle"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::{FileTypeExt as _, symlink};
    use std::process::Command;

    use super::super::write_file;
    use super::*;

    fn write(path: &Path, text: &str) -> Result<(), crate::export::ExportError> {
        write_file(path, |out| out.write_all(text.as_bytes()).map_err(|error| error.to_string()))
    }

    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link, second) = (dir.path().join("target"), dir.path().join("link"), dir.path().join("second"));
        std::fs::write(&target, "old").unwrap();
        symlink("target", &link).unwrap();
        symlink(&link, &second).unwrap();
        write(&second, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
        assert!(link.is_symlink() && second.is_symlink());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3, "no part is left behind");
        std::fs::remove_file(&target).unwrap();
        write(&link, "made").unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "made");
        std::fs::remove_file(&target).unwrap();
        symlink("link", &target).unwrap();
        assert!(write(&link, "lost").is_err_and(|error| error.to_string().contains("circle")));
    }

    #[test]
    fn a_pipe_is_written_into() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::Builder::new().spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                std::fs::File::open(pipe).and_then(|mut file| file.read_to_string(&mut text)).map(|_| text)
            }
        });
        let reader = reader.unwrap();
        write(&pipe, "rows").unwrap();
        assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo(), "it is still a pipe");
        assert_eq!(reader.join().unwrap().unwrap(), "rows");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn devices_stay_and_a_full_one_is_told() {
        for (device, fits) in [("/dev/null", true), ("/dev/full", false)] {
            let device = Path::new(device);
            // Not every system has a full one.
            if device.exists() {
                assert_eq!(write(device, "rows").is_ok(), fits);
                assert!(device.metadata().unwrap().file_type().is_char_device());
            }
        }
    }
}
