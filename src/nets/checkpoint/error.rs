//! Why a checkpoint cannot be loaded.

use std::path::PathBuf;

/// A checkpoint folder is not what the network needs. Messages name file, tensor or field, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("{path}: {}", why_unread(.source))]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}: this is {found}, not a file of weights; fetch the published file again")]
    NotWeights { path: PathBuf, found: &'static str },
    #[error(
        "{path}: no weights are there (model.safetensors, its parts with an index, or one .pth, .pt or .bin file); put the published file into this folder"
    )]
    NoWeights { path: PathBuf },
    #[error("{path}: several files of weights are there ({}); leave one of them, or name the one to take", names(.files))]
    SeveralWeights { path: PathBuf, files: Vec<PathBuf> },
    #[error("{path}: not the JSON expected ({source}); fetch the published file again")]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("{path}: not a readable safetensors file ({reason}); fetch it again")]
    Header { path: PathBuf, reason: String },
    #[error("{path}: not a readable PyTorch file ({reason}); fetch the published file again")]
    Pytorch { path: PathBuf, reason: String },
    #[error(
        "{path}: its pickle imports '{import}', which is code and not data; nothing of it was run. Take the file from its publisher, or one with the tensors only (state_dict)"
    )]
    Code { path: PathBuf, import: String },
    #[error("{path}: its tensors are not {network}'s in any layout known ({known}); one of them is '{example}'")]
    UnknownLayout { path: PathBuf, network: &'static str, known: String, example: String },
    #[error("{path}: the sizes of the network cannot be told from tensor '{tensor}': {why}")]
    Inferred { path: PathBuf, tensor: String, why: String },
    #[error("{path}: {field} is {found}, but this program needs {needed}")]
    Config { path: PathBuf, field: String, found: String, needed: String },
    #[error("{path}: not a usable tokenizer ({reason}); fetch the published file again")]
    Tokenizer { path: PathBuf, reason: String },
    #[error("{path}: tensor '{tensor}'{} of shape {shape:?} is missing{}", stored_as(.stored.as_ref()), hint(.nearest.as_ref()))]
    Missing {
        path: PathBuf,
        tensor: String,
        /// What files of this kind call it, where that is another name.
        stored: Option<String>,
        shape: Vec<usize>,
        nearest: Option<String>,
    },
    #[error("{path}: tensor '{tensor}' of shape {shape:?} cannot be taken apart: {needed}")]
    NotParts { path: PathBuf, tensor: String, shape: Vec<usize>, needed: String },
    #[error("{path}: there is no tensor '{tensor}'")]
    NoSuchTensor { path: PathBuf, tensor: String },
    #[error("{path}: tensor '{tensor}' has the shape {found:?}, expected {expected:?}; weights and configuration do not belong together")]
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

/// A file that is not there belongs to a folder whose other files may be; what such a folder needs is said.
fn why_unread(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it is not there; a network of the hub's layout is a folder with its weights, config.json, \
            preprocessor_config.json and, where it reads text, tokenizer.json: put the published file there"
            .to_owned(),
        _ => error.to_string(),
    }
}

fn stored_as(stored: Option<&String>) -> String {
    stored.map(|name| format!(" (here '{name}')")).unwrap_or_default()
}

fn hint(nearest: Option<&String>) -> String {
    nearest.map(|name| format!("; the nearest name is '{name}'")).unwrap_or_default()
}

fn names(files: &[PathBuf]) -> String {
    files.iter().filter_map(|file| file.file_name()).map(|name| name.to_string_lossy()).collect::<Vec<_>>().join(", ")
}
