//! The published checkpoints this program knows (`models/catalog.toml`).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a network is for; the name of its folder in a folder of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Clip,
    Sam,
    GroundingDino,
}

impl Role {
    /// All roles; together they make the metric.
    pub const ALL: [Self; 3] = [Self::Clip, Self::Sam, Self::GroundingDino];

    /// The folder name.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Clip => "clip",
            Self::Sam => "sam",
            Self::GroundingDino => "grounding-dino",
        }
    }
}

/// One file of a published network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogFile {
    pub path: String,
    /// Size in bytes, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Lower-case hex, where known; never invented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The size has not been checked against the hub.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsure: bool,
}

/// One published network at one revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogNetwork {
    pub name: String,
    pub role: Role,
    /// Sets it belongs to (`paper`, `light`).
    pub sets: Vec<String>,
    /// Name on the Hugging Face hub.
    pub hub: String,
    pub revision: String,
    pub licence: String,
    pub files: Vec<CatalogFile>,
}

#[derive(Deserialize)]
struct Catalog {
    network: Vec<CatalogNetwork>,
}

const TEXT: &str = include_str!("../../models/catalog.toml");

/// Every network of the catalog.
pub fn networks() -> Vec<CatalogNetwork> {
    // The text is part of the program, and the test below reads it.
    toml::from_str::<Catalog>(TEXT).expect("models/catalog.toml is checked by a test").network
}

impl CatalogNetwork {
    /// Total of the known sizes, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|file| file.bytes).sum()
    }

    /// Files that are missing below `folder`, or that have another size than the hub's.
    pub fn problems_in(&self, folder: &Path) -> Vec<String> {
        self.files
            .iter()
            .filter_map(|file| {
                let path = folder.join(&file.path);
                match (std::fs::metadata(&path), file.bytes) {
                    (Err(_), _) => Some(format!("{} is missing", path.display())),
                    (Ok(there), Some(bytes)) if there.len() != bytes && !file.unsure => {
                        Some(format!("{} has {} bytes, the published file {bytes}", path.display(), there.len()))
                    }
                    (Ok(_), _) => None,
                }
            })
            .collect()
    }
}

/// Where the files of a set are expected on this machine: `EDITSCOPE_MODELS`, else the user's data folder.
///
/// Each set is a folder with the three folders `clip`, `sam` and `grounding-dino`. `None` when the machine names no data folder.
pub fn set_folder(set: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("EDITSCOPE_MODELS") {
        Some(folder) => PathBuf::from(folder),
        None => dirs::data_dir()?.join("editscope").join("models"),
    };
    Some(root.join(set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_reads_and_its_sums_are_sums() {
        let networks = networks();
        for network in &networks {
            assert!(network.revision.len() == 40, "{}: a pinned revision has 40 digits", network.name);
            for file in &network.files {
                if let Some(sum) = &file.sha256 {
                    assert!(sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit()), "{}/{}", network.name, file.path);
                }
            }
        }
        for role in Role::ALL {
            assert!(
                networks.iter().any(|n| n.role == role && n.sets.iter().any(|s| s == "paper")),
                "{role:?} is missing from the paper's set"
            );
        }
    }

    #[test]
    fn missing_and_short_files_are_named() {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(dir.path().join("config.json"), "{}").expect("a file can be written");
        let clip = networks().into_iter().find(|n| n.role == Role::Clip).expect("the catalog has CLIP");
        let problems = clip.problems_in(dir.path());
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems.iter().any(|p| p.contains("config.json has 2 bytes, the published file 4519")), "{problems:?}");
    }
}
