//! Pictures in memory: decoding files into upright RGB, the exact resizes of PIL and OpenCV, mip levels, crops, differences and change maps,
//! and whether one picture is another one moved.

pub mod change;
mod color;
pub mod decode;
pub mod difference;
mod frames;
pub mod header;
mod jpeg;
pub mod paste;
pub mod pyramid;
pub mod register;
pub mod resize;
