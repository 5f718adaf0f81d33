//! From the path that a manifest writes to a path that can be opened.
//!
//! Manifests come from other machines: Windows separators, `%20`, accents in another Unicode normal form. Each reading is
//! tried only when the ones before it name no file, so a file that is really called `a%20b.png` is still found.

use std::fmt;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use super::LOCATE_LATER;
use crate::domain::PictureRef;

/// Where paths of one manifest start from.
pub(super) struct Resolver {
    /// Folders that relative paths may start from, best first.
    bases: Vec<PathBuf>,
}

impl Resolver {
    /// Paths relative to the folder of `manifest`.
    pub fn beside(manifest: &Path) -> Self {
        Self { bases: vec![folder_of(manifest)] }
    }

    /// Paths relative to the folder of `manifest` or to one of `others`, given relative to that folder.
    pub fn beside_or(manifest: &Path, others: &[&str]) -> Self {
        let folder = folder_of(manifest);
        let mut bases = vec![folder.clone()];
        bases.extend(others.iter().map(|other| folder.join(other)));
        Self { bases }
    }

    /// The picture that `given` names; if there is no such file, where it was looked for, and what is there instead.
    pub fn picture(&self, given: &str) -> (PictureRef, Option<NoFile>) {
        let mut instead = None;
        for reading in readings(given) {
            for base in &self.bases {
                let path = base.join(&reading);
                match what_is_at(&path) {
                    None => return (PictureRef { path, given: given.to_owned() }, None),
                    Some(NoFile::Nothing) => {}
                    Some(other) => {
                        instead.get_or_insert((path, other));
                    }
                }
            }
        }
        // Both constructors put one base in.
        let (path, what) = instead.unwrap_or_else(|| (self.bases[0].join(plain(given)), NoFile::Nothing));
        (PictureRef { path, given: given.to_owned() }, Some(what))
    }
}

/// What is found where a manifest says that a picture is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoFile {
    Nothing,
    Folder,
    /// A pipe, a device or the like.
    Other,
    /// The disk does not say.
    Unreachable(String),
}

impl fmt::Display for NoFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("is not there"),
            Self::Folder => f.write_str("is a folder, not a picture"),
            Self::Other => f.write_str("is no file"),
            Self::Unreachable(why) => write!(f, "cannot be reached ({why})"),
        }?;
        write!(f, "; {LOCATE_LATER}")
    }
}

/// `None` when a file is at `path`.
fn what_is_at(path: &Path) -> Option<NoFile> {
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_file() => None,
        Ok(facts) if facts.is_dir() => Some(NoFile::Folder),
        Ok(_) => Some(NoFile::Other),
        // A name that no file can have, or a part of the path that is a file itself, names nothing as well.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Some(NoFile::Unreachable(error.to_string())),
        Err(_) => Some(NoFile::Nothing),
    }
}

fn folder_of(manifest: &Path) -> PathBuf {
    match manifest.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// `given` with forward separators and without a `file://` in front.
fn plain(given: &str) -> String {
    given.strip_prefix("file://").unwrap_or(given).replace('\\', "/")
}

/// The ways to read a path, most literal first, without repeats; computed as needed.
fn readings(given: &str) -> impl Iterator<Item = String> {
    let mut seen: Vec<String> = Vec::new();
    (0..5).filter_map(move |step| {
        let path = match step {
            0 => given.to_owned(),
            1 => plain(given),
            2 => percent_decoded(&plain(given))?,
            3 => percent_decoded(&plain(given)).unwrap_or_else(|| plain(given)).nfc().collect(),
            _ => percent_decoded(&plain(given)).unwrap_or_else(|| plain(given)).nfd().collect(),
        };
        (!seen.contains(&path)).then(|| {
            seen.push(path.clone());
            path
        })
    })
}

/// `%XX` decoded; `None` when there is none or the result is not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_codes_are_decoded_and_broken_ones_stay() {
        assert_eq!(percent_decoded("a%20b%C3%A9%zz%4").as_deref(), Some("a bé%zz%4"));
        assert_eq!(percent_decoded("%FF"), None);
        assert_eq!(percent_decoded("plain"), None);
    }

    #[test]
    fn each_way_of_writing_finds_the_file_that_is_there() {
        let folder = tempfile::tempdir().unwrap(); // the test machine has a temporary folder
        for name in ["in/a b.png", "in/e\u{301}.png", "in/中文#1.png", "in/100%25.png", "dot."] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap(); // under the temporary folder
            std::fs::write(path, b"x").unwrap();
        }
        let manifest = folder.path().join("sub/../m.jsonl");
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let resolver = Resolver::beside(&manifest);
        let absolute = folder.path().join("in/a b.png").display().to_string();
        for given in [
            "in/a b.png",
            "in\\a b.png",
            "in/a%20b.png",
            ".\\in\\a%20b.png",
            "./in/../in/a b.png",
            "in/\u{e9}.png",
            "in/%C3%A9.png",
            "in/中文#1.png",
            "in/100%25.png",
            "dot.",
            absolute.as_str(),
        ] {
            assert_eq!(resolver.picture(given).1, None, "{given:?}");
        }
        let (picture, instead) = resolver.picture("in\\gone.png");
        assert!(picture.path.ends_with("in/gone.png") && picture.given == "in\\gone.png");
        assert_eq!(instead, Some(NoFile::Nothing));
        assert_eq!(resolver.picture("in").1, Some(NoFile::Folder));
        // A file has nothing in it.
        assert_eq!(resolver.picture("dot./a.png").1, Some(NoFile::Nothing));
    }
}
