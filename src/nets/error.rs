//! What can go wrong when a loaded network is used.

use burn::tensor::TensorReadError;

/// A loaded network could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    #[error("the picture is empty ({width}×{height}); give one with at least one pixel")]
    EmptyPicture { width: u32, height: u32 },
    #[error("the picture is too long and thin ({width}×{height}): its shorter side vanishes in the network's pixels")]
    TooThin { width: u32, height: u32 },
    #[error("a coordinate of the prompt is not a finite number: {0}")]
    NotFinitePrompt(f32),
    #[error("the text {text:?} cannot be turned into tokens: {reason}")]
    Tokens { text: String, reason: String },
    #[error("{what} holds a value that is not finite; the checkpoint or the device is at fault")]
    NotFinite { what: &'static str },
    #[error("the device failed: {0}")]
    Device(String),
}

impl From<TensorReadError> for NetError {
    fn from(error: TensorReadError) -> Self {
        Self::Device(error.to_string())
    }
}
