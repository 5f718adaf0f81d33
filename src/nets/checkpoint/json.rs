//! The JSON files of a checkpoint folder.

use std::fmt::Display;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::CheckpointError;

/// Reads `folder/file` as `T`.
///
/// # Errors
/// [`CheckpointError::Read`] when it cannot be read, [`CheckpointError::Json`] when it is something else.
pub fn read_json<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<T, CheckpointError> {
    let path = folder.join(file);
    let text = std::fs::read(&path).map_err(|source| CheckpointError::Read { path: path.clone(), source })?;
    serde_json::from_slice(&text).map_err(|source| CheckpointError::Json { path, source })
}

/// Checks `model_type` of `folder/config.json`: another architecture would only fail later, with a list of odd tensor names.
///
/// # Errors
/// [`CheckpointError::Config`] when it is another one.
pub fn expect_model_type(folder: &Path, found: &str, needed: &str) -> Result<(), CheckpointError> {
    expect_value(folder, super::CONFIG, "model_type", &found, &needed)
}

/// Checks a field of `folder/file` that this program supports in one way only.
///
/// # Errors
/// [`CheckpointError::Config`] when `found` is not `needed`.
pub fn expect_value<T: PartialEq + Display>(folder: &Path, file: &str, field: &str, found: &T, needed: &T) -> Result<(), CheckpointError> {
    if found == needed {
        return Ok(());
    }
    Err(CheckpointError::Config {
        path: folder.join(file),
        field: field.to_owned(),
        found: format!("'{found}'"),
        needed: format!("'{needed}'"),
    })
}
