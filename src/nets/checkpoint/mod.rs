//! Strict reading of a checkpoint folder as the Hugging Face hub has them.
//!
//! A wrong name would load random weights silently, so every tensor that a network asks for must be there in the expected shape, and
//! every tensor that is there must have been asked for, or stand on the network's list of names that may be unused.
//! Tensors are read from the file one at a time, straight into the numbers handed to the device: no second copy of the file is held, and a
//! file that is cut short gives an error where a memory map would end the program.

mod error;
mod json;
mod safetensors_file;
mod scope;
mod weights;

pub use error::CheckpointError;
pub use json::{expect_model_type, expect_value, read_json};
pub use safetensors_file::SafetensorsFile;
pub use scope::Scope;
pub use weights::{TensorFile, TensorInfo, Weights};

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
