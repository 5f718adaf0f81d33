//! The catalog of published checkpoints, as front ends show it.

use serde::Serialize;

use crate::nets::catalog;

/// One published network, with where its files are expected on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct ListedNetwork {
    pub name: String,
    pub role: &'static str,
    pub sets: Vec<String>,
    pub hub: String,
    pub revision: String,
    pub licence: String,
    /// Total of the known file sizes.
    pub bytes: u64,
    pub files: Vec<catalog::CatalogFile>,
    pub places: Vec<Place>,
}

/// A folder where a network is expected, and what is wrong with it; no problems: complete.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    pub set: String,
    pub folder: String,
    pub problems: Vec<String>,
}

/// Every network of the catalog.
pub fn list() -> Vec<ListedNetwork> {
    catalog::networks()
        .into_iter()
        .map(|network| ListedNetwork {
            bytes: network.bytes(),
            places: network
                .sets
                .iter()
                .filter_map(|set| {
                    let folder = catalog::set_folder(set)?.join(network.role.folder());
                    let problems = if folder.is_dir() { network.problems_in(&folder) } else { vec!["not there".to_owned()] };
                    Some(Place { set: set.clone(), folder: folder.display().to_string(), problems })
                })
                .collect(),
            name: network.name,
            role: network.role.folder(),
            sets: network.sets,
            hub: network.hub,
            revision: network.revision,
            licence: network.licence,
            files: network.files,
        })
        .collect()
}
