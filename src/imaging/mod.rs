//! Pictures in memory: decoding files into upright RGB, the exact resizes of PIL and OpenCV, crops and change maps.

pub mod change;
mod color;
pub mod decode;
mod frames;
pub mod header;
mod jpeg;
pub mod paste;
pub mod resize;
