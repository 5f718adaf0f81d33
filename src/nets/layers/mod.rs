//! The layers that the networks share. Each is `load(scope, sizes)` and `forward`, with PyTorch's tensor names and shapes on disk.

mod attention;
mod basic;
mod conv;

pub use attention::{Scores, attend, merge_heads, split_heads};
pub use basic::{Activation, Embedding, LayerNorm, Linear, Mlp};
pub use conv::{Conv2d, ConvSizes, LayerNorm2d, PatchEmbed, UpConv};
