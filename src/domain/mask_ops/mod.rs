//! What the mask tools do to a mask, exact to the pixel.
//!
//! One rule holds everywhere: a pixel (x, y) is the unit square `[x, x + 1) × [y, y + 1)` of image space, and a shape covers it when the
//! pixel's **centre** (x + ½, y + ½) lies in the shape. What "in" means on a border is said at each function.

mod components;
mod contours;
mod morphology;
mod raster;

pub use components::{fill_holes, remove_specks};
pub use contours::{Ring, contours};
pub use morphology::{dilate, erode};
pub use raster::{Brush, fill_polygon, fill_rect};
