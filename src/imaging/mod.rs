//! Pictures in memory: decoding files into upright RGB, the exact resizes of PIL and OpenCV, crops and change maps.

pub mod change;
pub mod decode;
mod jpeg;
pub mod resize;
