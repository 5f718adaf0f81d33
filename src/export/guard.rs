//! What an export must not replace: the pictures of the project at hand, and files in a folder that no export wrote.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{ExportError, write_file};

/// A file of this name in a folder lists what exports wrote there: these files may be replaced by another export, and no others.
pub const EXPORTED: &str = ".editscope-export";

const WORDS: &str = "# EditScope exported the files named here. Exporting into this folder again replaces them, and no other file.";

/// The manifest beside pasted pictures: `score` and `import` read it.
pub const PASTED_MANIFEST: &str = "manifest.jsonl";

/// Files that no export replaces, by where they are: absolute, without links.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    places: HashSet<PathBuf>,
    /// Where they lie; no export of pictures goes in between.
    folders: HashSet<PathBuf>,
}

impl Kept {
    /// Keeps these files, whether they are there now or not.
    pub fn of(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut places = Places::default();
        let places: HashSet<PathBuf> = files.into_iter().flat_map(|file| places.of(&file)).collect();
        Self { folders: places.iter().filter_map(|place| Some(place.parent()?.to_owned())).collect(), places }
    }

    /// Says no to an output that is one of these files, or a list of edits that this program did not write.
    ///
    /// # Errors
    /// [`ExportError::Picture`] and [`ExportError::Edits`].
    pub fn check(&self, out: &Path) -> Result<(), ExportError> {
        if Places::default().of(out).iter().any(|place| self.places.contains(place)) {
            return Err(ExportError::Picture { path: out.to_owned() });
        }
        if lists_edits(out) { Err(ExportError::Edits { path: out.to_owned() }) } else { Ok(()) }
    }

    /// Says no to a folder that holds pictures of the project, to one with an export of another kind, and to one in which one of the files `names` is there and was not written by an export, or is one of these files. Otherwise notes
    /// in the folder (which is made if need be) that they are an export's.
    ///
    /// # Errors
    /// [`ExportError::Folder`], [`ExportError::Mixed`], [`ExportError::Picture`] and [`ExportError::Foreign`], before anything is written; [`ExportError::Write`] from the disk.
    pub fn claim(&self, folder: &Path, names: &[String]) -> Result<(), ExportError> {
        let mark = folder.join(EXPORTED);
        let mut ours: BTreeSet<String> = match std::fs::read_to_string(&mark) {
            Ok(text) => text.lines().skip(1).map(str::to_owned).collect(),
            Err(_) => BTreeSet::new(),
        };
        if folder.canonicalize().is_ok_and(|folder| self.folders.contains(&folder)) {
            return Err(ExportError::Folder { path: folder.to_owned() });
        }
        // Masks and pasted-back pictures have the same names: the list would name masks as edits.
        let is_list = |name: &str| name == PASTED_MANIFEST;
        if !ours.is_empty() && ours.iter().any(|name| is_list(name)) != names.iter().any(|name| is_list(name)) {
            return Err(ExportError::Mixed { path: folder.to_owned() });
        }
        let mut places = Places::default();
        for name in names {
            let path = folder.join(name);
            if path.symlink_metadata().is_err() {
                continue;
            }
            if places.of(&path).iter().any(|place| self.places.contains(place)) {
                return Err(ExportError::Picture { path });
            }
            if !ours.contains(name) {
                return Err(ExportError::Foreign { path });
            }
        }
        ours.extend(names.iter().cloned());
        std::fs::create_dir_all(folder).map_err(|source| ExportError::Write { path: folder.to_owned(), source })?;
        write_file(&mark, |file| {
            let lines = std::iter::once(WORDS).chain(ours.iter().map(String::as_str));
            lines.into_iter().try_for_each(|line| writeln!(file, "{line}")).map_err(|error| error.to_string())
        })
    }
}

/// Whether a file begins as a list of edits does and not as one of ours: it names sources and edits and none of our columns.
fn lists_edits(path: &Path) -> bool {
    // Reading a pipe or a device would wait for it.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    if std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).is_err() {
        return false;
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let has = |words: [&str; 2]| words.iter().all(|word| head.contains(word));
    // Columns of our exports; keys of the lines of scores.
    let is_ours = head.contains("editscope") || has(["\"profile\"", "\"overall\""]);
    has(["source", "edited"]) && !is_ours
}

/// Bytes of a file that tell what it is.
const HEAD: u64 = 1 << 16;

/// Finds out where files are, asking the disk once for each folder.
#[derive(Default)]
struct Places {
    folders: HashMap<PathBuf, PathBuf>,
}

impl Places {
    /// Where the name lies, and where it leads if it is a link.
    fn of(&mut self, file: &Path) -> Vec<PathBuf> {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = self.folders.entry(parent.to_owned()).or_insert_with(|| parent.canonicalize().unwrap_or_else(|_| parent.to_owned()));
        let named = match file.file_name() {
            Some(name) => folder.join(name),
            None => folder.clone(),
        };
        let is_link = named.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        let led = is_link.then(|| named.canonicalize().ok()).flatten();
        std::iter::once(named).chain(led).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("the test machine has a temporary folder")
    }

    #[test]
    fn a_kept_file_is_found_by_whatever_name() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("in")).expect("the folder is ours");
        std::fs::write(at("in/a.png"), "a").expect("the folder is ours");
        let kept = Kept::of([at("in/a.png"), at("in/gone.png")]);
        for lost in ["in/a.png", "in/../in/a.png", "in/gone.png"] {
            assert!(matches!(kept.check(&at(lost)), Err(ExportError::Picture { .. })), "{lost}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("in/a.png"), at("link.png")).expect("the folder is ours");
            assert!(kept.check(&at("link.png")).is_err());
        }
        kept.check(&at("in/b.png")).expect("nothing is lost");
        kept.check(&at("new/a.png")).expect("another folder");
    }

    #[test]
    fn in_a_folder_only_what_an_export_wrote_is_replaced() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("mine.png"), "mine").expect("the folder is ours");
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let elsewhere = tempfile::tempdir().expect("the test machine has a temporary folder");
        let kept = Kept::of([elsewhere.path().join("a.png")]);
        std::fs::write(elsewhere.path().join("a.png"), "a").expect("the folder is ours");
        assert!(matches!(kept.claim(elsewhere.path(), &names(&["new.png"])), Err(ExportError::Folder { .. })), "pictures are there");
        assert!(
            matches!(kept.claim(folder.path(), &names(&["b.png", "mine.png"])), Err(ExportError::Foreign { path }) if path == at("mine.png"))
        );
        assert!(!at(EXPORTED).exists(), "a refusal writes nothing");
        kept.claim(folder.path(), &names(&["b.png", "c.png"])).expect("neither is there");
        std::fs::write(at("b.png"), "b").expect("the folder is ours");
        // Again, and with other names: what was written before still is an export's.
        kept.claim(folder.path(), &names(&["d.png"])).expect("it is not there");
        kept.claim(folder.path(), &names(&["b.png"])).expect("an export wrote it");
        assert!(
            matches!(kept.claim(folder.path(), &names(&["b.png", PASTED_MANIFEST])), Err(ExportError::Mixed { .. })),
            "masks are there"
        );
    }

    #[test]
    fn a_list_of_edits_is_not_replaced() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let kept = Kept::default();
        std::fs::write(at("m.jsonl"), r#"{"id": 1, "source": "a.png", "edited": "b.png"}"#).expect("the folder is ours");
        std::fs::write(at("m.csv"), "id,source,edited\n").expect("the folder is ours");
        std::fs::write(at("ours.csv"), "id,source,edited,editscope.overall\n").expect("the folder is ours");
        for lost in ["m.jsonl", "m.csv"] {
            assert!(matches!(kept.check(&at(lost)), Err(ExportError::Edits { .. })), "{lost}");
        }
        kept.check(&at("ours.csv")).expect("an export wrote it");
        kept.check(&at("new.csv")).expect("it is not there");
        #[cfg(unix)]
        {
            assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo is there").success());
            kept.check(&at("pipe")).expect("nobody waits for a pipe that nobody writes to");
        }
    }
}
