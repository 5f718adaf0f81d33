//! The networks of the metric, from published checkpoints, on burn.
//!
//! `catalog` names the published files and `preference` what a person asks for, and neither needs burn; everything else stands behind the feature `nets`. A network is three things:
//! a configuration read from the checkpoint's folder, `load` through the strict reader in `checkpoint`, and `forward` functions that name
//! their shapes.

pub mod catalog;

#[cfg(feature = "nets")]
pub mod checkpoint;
#[cfg(feature = "nets")]
pub mod clip;
#[cfg(feature = "nets")]
pub mod device;
#[cfg(feature = "nets")]
pub mod dino;
#[cfg(feature = "nets")]
mod error;
#[cfg(feature = "nets")]
pub mod fetch;
#[cfg(feature = "nets")]
pub mod grounding_dino;
#[cfg(feature = "nets")]
pub mod layers;
#[cfg(feature = "nets")]
pub mod lpips;
#[cfg(feature = "nets")]
pub mod pixels;
pub mod preference;
#[cfg(feature = "nets")]
mod role;
#[cfg(feature = "nets")]
pub mod sam;
#[cfg(feature = "nets")]
pub mod tokenize;
#[cfg(feature = "nets")]
mod vocabularies;

#[cfg(feature = "nets")]
pub use error::NetError;
#[cfg(feature = "nets")]
pub use role::role_of;
