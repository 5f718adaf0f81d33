//! Why a checkpoint cannot be loaded.

use std::path::PathBuf;

/// A checkpoint folder is not what the network needs. Messages name file, tensor or field, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("{path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}: neither model.safetensors nor model.safetensors.index.json is there; put the published weights into this folder")]
    NoWeights { path: PathBuf },
    #[error("{path}: not the JSON expected ({source}); fetch the published file again")]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("{path}: not a readable safetensors file ({reason}); fetch it again")]
    Header { path: PathBuf, reason: String },
    #[error("{path}: {field} is {found}, but this program needs {needed}")]
    Config { path: PathBuf, field: String, found: String, needed: String },
    #[error("{path}: not a usable tokenizer ({reason}); fetch the published file again")]
    Tokenizer { path: PathBuf, reason: String },
    #[error("{path}: tensor '{tensor}' of shape {shape:?} is missing{}", hint(.nearest.as_ref()))]
    Missing { path: PathBuf, tensor: String, shape: Vec<usize>, nearest: Option<String> },
    #[error("{path}: tensor '{tensor}' has the shape {found:?}, expected {expected:?}; the weights and config.json do not belong together")]
    Misshapen { path: PathBuf, tensor: String, expected: Vec<usize>, found: Vec<usize> },
    #[error("{path}: tensor '{tensor}' holds {found} numbers; floating point (F32, F16, BF16, F64) expected")]
    NumberType { path: PathBuf, tensor: String, found: String },
    #[error("{path}: {count} tensors are not part of this network, the first is '{first}' of shape {shape:?}{}", hint(.nearest.as_ref()))]
    Unused { path: PathBuf, count: usize, first: String, shape: Vec<usize>, nearest: Option<String> },
    #[error("{path}: '{tensor}' stands in more than one file of the checkpoint; remove one of them")]
    Twice { path: PathBuf, tensor: String },
    #[error("{path}: '{first}' and '{second}' should be the same weights, but differ")]
    NotTied { path: PathBuf, first: String, second: String },
}

fn hint(nearest: Option<&String>) -> String {
    nearest.map(|name| format!("; the nearest name is '{name}'")).unwrap_or_default()
}
