//! Where the networks of a [`ModelSource`] lie: folders by their names, or the authors' own files told by what is in them.

use std::path::{Path, PathBuf};

use crate::nets::catalog::{self, Role};
use crate::nets::checkpoint::is_weights;
use crate::nets::role_of;

use super::demo;
use super::messages::ModelSource;
use super::session::SessionError;

/// A file or folder for each of the metric's three networks.
pub type ModelParts = Vec<(Role, PathBuf)>;

/// Where the three networks of `models` are.
///
/// # Errors
/// When a set is not fetched, a folder lacks one of them, or a file cannot be told.
pub fn parts_of(models: &ModelSource) -> Result<ModelParts, SessionError> {
    match models {
        ModelSource::Demo => in_folder(&demo::checkpoint_folder().map_err(SessionError::Unpack)?),
        ModelSource::Folder(folder) => in_folder(folder),
        ModelSource::Catalog(name) => catalog::set_parts(name).map_err(|problem| SessionError::NotFetched { name: name.clone(), problem }),
        ModelSource::With { base, role, path } => {
            let part = (*role, part_at(*role, path)?);
            let mut parts = parts_of(base)?;
            parts.retain(|(known, _)| known != role);
            parts.push(part);
            Ok(parts)
        }
    }
}

/// A file or folder, or by the name of a published network where that lies.
fn part_at(role: Role, path: &Path) -> Result<PathBuf, SessionError> {
    if path.exists() {
        return Ok(path.to_owned());
    }
    match path.to_str().and_then(catalog::network) {
        Some(network) if network.role == role => {
            catalog::network_folder(&network.name).map_err(|problem| SessionError::NotFetched { name: network.name, problem })
        }
        Some(network) => Err(SessionError::OtherRole { name: network.name, role: role.folder(), is: network.role.folder() }),
        None => Err(SessionError::NoSuchPart { role: role.folder(), path: path.to_owned() }),
    }
}

/// The networks of a folder: the folders `clip`, `sam` and `grounding-dino`, and for those that are missing the files of weights beside them.
fn in_folder(folder: &Path) -> Result<ModelParts, SessionError> {
    if !folder.is_dir() {
        return Err(SessionError::NoSuchFolder(folder.to_owned()));
    }
    let named = |role: Role| Some(folder.join(role.folder())).filter(|path| path.is_dir());
    if let Some(parts) = Role::METRIC.into_iter().map(|role| Some((role, named(role)?))).collect() {
        return Ok(parts);
    }
    let files = loose_files(folder)?;
    Role::METRIC
        .into_iter()
        .map(|role| {
            let mut fitting = files.iter().filter(|(of, _)| *of == role).map(|(_, path)| path.clone());
            match (named(role).or_else(|| fitting.next()), fitting.next()) {
                (Some(path), None) => Ok((role, path)),
                (Some(path), Some(other)) => Err(SessionError::Ambiguous { role: role.folder(), first: path, second: other }),
                (None, _) => Err(SessionError::Incomplete { folder: folder.to_owned(), missing: role.folder().to_owned() }),
            }
        })
        .collect()
}

/// The files of weights directly in `folder` that are a network's of the metric.
fn loose_files(folder: &Path) -> Result<ModelParts, SessionError> {
    let read = |source| SessionError::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if !path.is_file() || !is_weights(&path) {
            continue;
        }
        let role = role_of(&path).map_err(|e| SessionError::Load { network: "a file of weights", reason: e.to_string() })?;
        found.extend(role.map(|role| (role, path)));
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_files_complete_a_folder_and_a_single_one_replaces_a_part() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        for (from, to) in [("layouts/sam.pth", "s.pth"), ("layouts/clip-script.pt", "c.pt"), ("layouts/strided.pth", "else.pth")] {
            std::fs::copy(golden.join(from), at(to)).expect("a golden file can be copied");
        }
        let models = ModelSource::Folder(folder.path().to_owned());
        let error = parts_of(&models).expect_err("the detector is missing");
        assert!(error.to_string().contains("grounding-dino"), "{error}");
        std::fs::create_dir(at("grounding-dino")).expect("a folder");
        let parts = parts_of(&models).expect("all three");
        let expected = [(Role::Clip, at("c.pt")), (Role::Sam, at("s.pth")), (Role::GroundingDino, at("grounding-dino"))];
        assert!(expected.iter().all(|part| parts.contains(part)) && parts.len() == 3, "{parts:?}");

        let text = format!("{},sam={}", folder.path().display(), golden.join("sam").display());
        let parts = parts_of(&ModelSource::from_argument(&text)).expect("all three");
        assert!(parts.contains(&(Role::Sam, golden.join("sam"))) && parts.len() == 3, "{parts:?}");

        let refused = |part: &str| {
            let text = format!("{},{part}", folder.path().display());
            parts_of(&ModelSource::from_argument(&text)).expect_err("no such part").to_string()
        };
        assert_eq!(refused("sam=clip-vit-base-patch32"), "sam=clip-vit-base-patch32: clip-vit-base-patch32 is a network for clip");
        assert!(refused("sam=nowhere").starts_with("sam=nowhere: there is no such file or folder"), "{}", refused("sam=nowhere"));

        std::fs::copy(golden.join("layouts/sam.pth"), at("t.pth")).expect("a golden file can be copied");
        assert!(matches!(parts_of(&models), Err(SessionError::Ambiguous { role: "sam", .. })));
    }
}
