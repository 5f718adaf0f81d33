//! The layers that the networks share. Each is `load(scope, sizes)` and `forward`, with PyTorch's tensor names and shapes on disk.

mod attention;
mod basic;
mod conv;
#[cfg(feature = "flex")]
pub mod host;

pub use attention::{Scores, attend, attend_heads, attend_packed, merge_heads, split_heads, unpack};
pub use basic::{Activation, Embedding, LayerNorm, Linear, Mlp};
pub use conv::{Conv2d, ConvSizes, LayerNorm2d, PatchEmbed, UpConv};
