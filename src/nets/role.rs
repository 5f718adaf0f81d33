//! Which network a file of weights belongs to.

use std::path::Path;

use super::catalog::Role;
use super::checkpoint::{CheckpointError, TensorInfo, open_file};
use super::clip::CLIP;
use super::grounding_dino::GROUNDING_DINO;
use super::sam::SAM;

/// The network whose tensors `file` holds, told by their names; `None` when it is none of the metric's.
///
/// # Errors
/// When the file cannot be read, is damaged, or would have code run.
pub fn role_of(file: &Path) -> Result<Option<Role>, CheckpointError> {
    let names: Vec<String> = open_file(file)?.tensors().into_iter().map(|TensorInfo { name, .. }| name).collect();
    let families = [(Role::Clip, &CLIP), (Role::Sam, &SAM), (Role::GroundingDino, &GROUNDING_DINO)];
    let names = || names.iter().map(String::as_str);
    let fits = families.into_iter().find(|(_, family)| family.layouts.iter().any(|layout| layout.recognise(names()).is_some()));
    Ok(fits.map(|(role, _)| role))
}
