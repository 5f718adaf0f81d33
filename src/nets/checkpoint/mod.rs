//! Strict reading of checkpoints: folders as the Hugging Face hub has them, and the files that the networks' authors published.
//!
//! A wrong name would load random weights silently, so every tensor that a network asks for must be there in the expected shape, and
//! every tensor that is there must have been asked for, or stand on the layout's list of names that are not needed.
//!
//! * `files` says which files a path stands for; `safetensors_file`, `pytorch_file` and `torchscript` read them (the two last
//!   through `archive` and `pickle`). None runs anything.
//! * `layout` turns the names of a kind of file into the names that networks ask for; the lists stand with the networks.
//! * `weights` hands tensors out by name and shape and keeps account of them; `shapes` reads sizes off them where no `config.json` is.
//!
//! Tensors are read from the file one at a time, straight into the numbers handed to the device: no second copy of the file is held, and a
//! file that is cut short gives an error where a memory map would end the program.

mod archive;
mod error;
mod files;
mod json;
mod layout;
mod numbers;
mod pickle;
mod pytorch_file;
mod safetensors_file;
mod scope;
mod shapes;
mod torchscript;
mod weights;

pub use error::CheckpointError;
pub use files::{is_weights, open_file, open_regular, weight_files};
pub use json::{expect_model_type, expect_value, read_json};
pub use layout::{Family, Ignored, Layout, Meaning, Parts, Rule, Settings, ignored, rename, split, transposed};
pub use scope::Scope;
pub use weights::{Recognised, TensorFile, TensorInfo, Weights};

/// Configuration file of every published folder.
pub const CONFIG: &str = "config.json";
/// Picture preprocessing of every published folder.
pub const PREPROCESSOR: &str = "preprocessor_config.json";
/// Tokenizer of the folders that read text.
pub const TOKENIZER: &str = "tokenizer.json";
/// Weights in one file.
pub const WEIGHTS: &str = "model.safetensors";
/// List of files when the weights are split (`transformers` writes it above 5 GB).
pub const WEIGHTS_INDEX: &str = "model.safetensors.index.json";
