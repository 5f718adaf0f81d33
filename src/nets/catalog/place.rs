//! Where the files of a network lie on this machine.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hub::HubEnv;
use super::verify::FileSum;
use super::{CatalogNetwork, Role, named};

/// Name of the file in which a fetch writes down what it fetched.
const RECORD: &str = "fetched.json";

/// A file as it was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFile {
    pub path: String,
    pub bytes: u64,
    /// What the hub or the catalog said about its content; `None` when nobody said anything that proves it.
    pub sum: Option<FileSum>,
    /// Where it came from.
    pub from: String,
}

/// What was fetched into a folder: a revision that nobody pinned can be named later, and a file checked without the hub.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub revision: Option<String>,
    pub files: Vec<RecordedFile>,
}

impl Record {
    /// What is written in `folder`; `None` when nothing readable is.
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(RECORD)).ok()?).ok()
    }

    /// Writes it into `folder`, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let part = folder.join(format!("{RECORD}.part"));
        std::fs::write(&part, serde_json::to_vec_pretty(self).map_err(io::Error::other)?)?;
        std::fs::rename(part, folder.join(RECORD))
    }

    /// Replaces what is known of one file.
    pub fn set(&mut self, file: RecordedFile) {
        self.files.retain(|known| known.path != file.path);
        self.files.push(file);
    }
}

/// The folder of all fetched networks: `EDITSCOPE_MODELS`, else `editscope/models` in the user's data folder; `None` when the machine
/// names none.
pub fn models_root() -> Option<PathBuf> {
    match std::env::var_os("EDITSCOPE_MODELS").filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => Some(dirs::data_dir()?.join("editscope").join("models")),
    }
}

/// Where a network is, and what is wrong with it there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    pub folder: PathBuf,
    /// The folder belongs to the cache of `huggingface_hub` and is only read.
    pub in_hub_cache: bool,
    /// Missing files and wrong sizes, in words; none: complete (contents are not read here, see `verify`).
    pub problems: Vec<String>,
    /// Bytes of an interrupted fetch that wait to be continued.
    pub partial_bytes: u64,
}

impl CatalogNetwork {
    /// Files that are missing below `folder`, or that have another size than the published or the fetched ones.
    pub fn problems_in(&self, folder: &Path) -> Vec<String> {
        let record = Record::read(folder).unwrap_or_default();
        let fetched = |name: &str| record.files.iter().find(|recorded| recorded.path == name).map(|recorded| recorded.bytes);
        self.files
            .iter()
            .filter_map(|file| {
                let found = file.names().find_map(|name| std::fs::metadata(folder.join(name)).ok().map(|there| (name, there.len())));
                let Some((name, there)) = found else { return Some(format!("{} is missing", folder.join(&file.path).display())) };
                let shown = folder.join(name);
                let published = file.sure_bytes().filter(|_| name == file.path);
                match published.or_else(|| fetched(name)) {
                    Some(bytes) if there != bytes => Some(format!("{} has {there} bytes, the published file {bytes}", shown.display())),
                    Some(_) => None,
                    None => {
                        let about = file.expected_instead_of(there).filter(|_| name == file.path)?;
                        Some(format!("{} has {there} bytes, the published file about {about}", shown.display()))
                    }
                }
            })
            .collect()
    }
}

/// Where `network` is: its folder below `root`, else a complete copy in the hub's cache, else its (incomplete) folder below `root`.
pub fn place_of(network: &CatalogNetwork, root: &Path, hub: &HubEnv) -> Place {
    let folder = root.join(&network.name);
    let problems = if folder.is_dir() { network.problems_in(&folder) } else { vec!["not fetched".to_owned()] };
    let cached = || hub.cached_snapshot(network.hub.as_deref()?, network.revision.as_deref());
    if !problems.is_empty()
        && let Some(snapshot) = cached().filter(|snapshot| network.problems_in(snapshot).is_empty())
    {
        return Place { folder: snapshot, in_hub_cache: true, problems: Vec::new(), partial_bytes: 0 };
    }
    let parts = network.files.iter().flat_map(super::CatalogFile::names).map(|name| folder.join(format!("{name}.part")));
    let partial_bytes = parts.filter_map(|part| std::fs::metadata(part).ok()).map(|part| part.len()).sum();
    Place { folder, in_hub_cache: false, problems, partial_bytes }
}

/// The folder of the network called `name`, complete on this machine.
///
/// # Errors
/// What is missing and the command that fetches it.
pub fn network_folder(name: &str) -> Result<PathBuf, String> {
    let network = super::network(name).ok_or_else(|| format!("the catalog has no network called '{name}'"))?;
    here(&network)?.map_err(|problem| format!("{name}: {problem}; `editscope models fetch {name}` fetches it"))
}

/// The folder of a complete network, or its first problem.
///
/// # Errors
/// When the machine names no folder for networks.
fn here(network: &CatalogNetwork) -> Result<Result<PathBuf, String>, String> {
    let root = models_root().ok_or("this machine names no data folder; set EDITSCOPE_MODELS to one")?;
    let place = place_of(network, &root, &HubEnv::from_env());
    Ok(place.problems.into_iter().next().map_or(Ok(place.folder), Err))
}

/// The folders of the three networks of the set `name`.
///
/// # Errors
/// When there is no such set, or what is missing of it.
pub fn set_parts(name: &str) -> Result<Vec<(Role, PathBuf)>, String> {
    let networks = named(name);
    let parts: Vec<_> = Role::METRIC
        .into_iter()
        .filter_map(|role| networks.iter().find(|network| network.role == role && network.sets.iter().any(|set| set == name)))
        .collect();
    if parts.len() != Role::METRIC.len() {
        return Err(format!("the catalog has no set '{name}' with the three networks of the metric"));
    }
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for network in parts {
        match here(network)? {
            Ok(folder) => found.push((network.role, folder)),
            Err(problem) => problems.push(format!("{}: {problem}", network.name)),
        }
    }
    if problems.is_empty() {
        Ok(found)
    } else {
        Err(format!("{}; `editscope models fetch {name}` fetches what is missing", problems.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::catalog::network;

    fn no_cache() -> HubEnv {
        HubEnv::from_lookup(|_| None, None)
    }

    #[test]
    fn missing_and_short_files_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let clip = network("clip-vit-large-patch14").unwrap(); // of the paper's set
        std::fs::create_dir(dir.path().join(&clip.name)).unwrap();
        std::fs::write(dir.path().join(&clip.name).join("config.json"), "{}").unwrap();
        std::fs::write(dir.path().join(&clip.name).join("model.safetensors.part"), "12345").unwrap();
        let place = place_of(&clip, dir.path(), &no_cache());
        assert_eq!(place.problems.len(), 4, "{:?}", place.problems);
        assert!(place.problems.iter().any(|p| p.contains("config.json has 2 bytes, the published file 4519")), "{:?}", place.problems);
        assert_eq!(place.partial_bytes, 5);
    }

    #[test]
    fn a_complete_copy_in_the_hubs_cache_is_used_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let sam = network("sam-vit-base").unwrap(); // of the light set
        let revision = sam.revision.clone().unwrap(); // pinned in the catalog
        let snapshot = dir.path().join("hub/models--facebook--sam-vit-base/snapshots").join(revision);
        std::fs::create_dir_all(&snapshot).unwrap();
        for file in &sam.files {
            let made = std::fs::File::create(snapshot.join(&file.path)).unwrap();
            made.set_len(file.bytes.unwrap_or(1)).unwrap(); // a hole, which takes no room
        }
        let hub = HubEnv { cache: Some(dir.path().join("hub")), ..no_cache() };
        let place = place_of(&sam, &dir.path().join("ours"), &hub);
        assert_eq!((place.folder, place.in_hub_cache), (snapshot.clone(), true));
        // A file of another network in its place, and one that is not there.
        let weights = std::fs::File::options().write(true).open(snapshot.join("model.safetensors")).unwrap();
        weights.set_len(2_500_000).unwrap();
        assert!(sam.problems_in(&snapshot)[0].contains("the published file about 374979376"), "{:?}", sam.problems_in(&snapshot));
        weights.set_len(374_979_376).unwrap();
        assert_eq!(sam.problems_in(&snapshot), Vec::<String>::new());
        std::fs::remove_file(snapshot.join("config.json")).unwrap();
        assert!(!place_of(&sam, &dir.path().join("ours"), &hub).in_hub_cache);
    }
}
