//! The published checkpoints this program knows (`models/catalog.toml`), and where their files lie on this machine.

mod hub;
mod place;
mod verify;

use serde::{Deserialize, Serialize};

pub use hub::HubEnv;
pub use place::{Place, Record, RecordedFile, models_root, network_folder, place_of, set_parts};
pub use verify::{FileSum, Finding, git_blob_of, sha256_of, verify};

/// What a network is for. The three of the metric are also the names of the folders in a folder of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Clip,
    Sam,
    GroundingDino,
    /// Self-supervised features, for a baseline.
    Dino,
    /// Perceptual distance, a baseline.
    Lpips,
}

impl Role {
    /// The roles that together make the metric.
    pub const METRIC: [Self; 3] = [Self::Clip, Self::Sam, Self::GroundingDino];

    /// The folder name.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Clip => "clip",
            Self::Sam => "sam",
            Self::GroundingDino => "grounding-dino",
            Self::Dino => "dino",
            Self::Lpips => "lpips",
        }
    }
}

/// One file of a published network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogFile {
    pub path: String,
    /// Another name of the same weights, tried when the hub has none under `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<String>,
    /// Size in bytes, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Lower-case hex, where known; never invented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The size has not been checked against the hub.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsure: bool,
    /// Where the file lies, if not on the hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl CatalogFile {
    /// The size that a file must have; `None` when none is known for sure.
    pub fn sure_bytes(&self) -> Option<u64> {
        self.bytes.filter(|_| !self.unsure)
    }

    /// The size that a file should have about, where it is not known for sure and `there` is far from it.
    pub fn expected_instead_of(&self, there: u64) -> Option<u64> {
        self.bytes.filter(|&bytes| self.unsure && there.abs_diff(bytes) > bytes / 100)
    }

    /// The names that the file may have, the wanted one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.path.as_str()).chain(self.alternative.as_deref())
    }
}

/// One published network at one revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogNetwork {
    pub name: String,
    pub role: Role,
    /// Sets it belongs to (`paper`, `light`, `baselines`).
    pub sets: Vec<String>,
    /// Name on the Hugging Face hub; `None` when every file has its own address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hub: Option<String>,
    /// The commit on the hub; `None` when none is known, then the newest counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    pub licence: String,
    pub files: Vec<CatalogFile>,
}

#[derive(Deserialize)]
struct Catalog {
    network: Vec<CatalogNetwork>,
}

const TEXT: &str = include_str!("../../../models/catalog.toml");

/// Every network of the catalog.
pub fn networks() -> Vec<CatalogNetwork> {
    // The text is part of the program, and the test below reads it.
    toml::from_str::<Catalog>(TEXT).expect("models/catalog.toml is checked by a test").network
}

/// The network called `name`.
pub fn network(name: &str) -> Option<CatalogNetwork> {
    networks().into_iter().find(|network| network.name == name)
}

/// The networks of the set `name`, or the one network of that name; empty when the catalog has neither.
pub fn named(name: &str) -> Vec<CatalogNetwork> {
    networks().into_iter().filter(|network| network.name == name || network.sets.iter().any(|set| set == name)).collect()
}

/// The names of the sets, each once, in the order of the catalog.
pub fn sets() -> Vec<String> {
    let mut sets: Vec<String> = Vec::new();
    for set in networks().into_iter().flat_map(|network| network.sets) {
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}

impl CatalogNetwork {
    /// Total of the known sizes, in bytes; 0 when that of the weights is not known.
    pub fn bytes(&self) -> u64 {
        match self.files.first().and_then(|weights| weights.bytes) {
            Some(_) => self.files.iter().filter_map(|file| file.bytes).sum(),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_reads_and_its_sums_are_sums() {
        let networks = networks();
        for network in &networks {
            if let Some(revision) = &network.revision {
                assert!(revision.len() == 40, "{}: a pinned revision has 40 digits", network.name);
            }
            for file in &network.files {
                if let Some(sum) = &file.sha256 {
                    assert!(sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit()), "{}/{}", network.name, file.path);
                }
                assert!(network.hub.is_some() || (file.url.is_some() && file.sha256.is_some()), "{}/{}", network.name, file.path);
            }
            let same_name = networks.iter().filter(|other| other.name == network.name).count();
            assert!(same_name == 1 && !network.sets.contains(&network.name), "{}", network.name);
        }
        for set in ["paper", "light"] {
            for role in Role::METRIC {
                let count = networks.iter().filter(|n| n.role == role && n.sets.iter().any(|s| s == set)).count();
                assert_eq!(count, 1, "{role:?} in the set {set}");
            }
        }
        assert_eq!(named("lpips-vgg").len(), 1);
        assert!(named("no such thing").is_empty());
    }

    #[test]
    fn torchvision_names_carry_the_beginning_of_their_sum() {
        // torchvision's rule: NAME-XXXXXXXX.pth, where X are the first digits of the sha256.
        for file in networks().into_iter().flat_map(|network| network.files) {
            if let Some((_, digits)) = file.path.strip_suffix(".pth").and_then(|stem| stem.rsplit_once('-')) {
                let sum = file.sha256.expect("a file of torchvision has a sum");
                assert!(sum.starts_with(digits), "{}", file.path);
            }
        }
    }
}
