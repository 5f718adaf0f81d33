//! An operation on a whole mask, apart from the document, so that a large mask is computed on another thread.

use std::sync::Arc;

use super::ops::MaskOp;
use crate::domain::regions::{Area, RegionId};
use crate::domain::{Mask, RegionRole, Size};
use crate::editor::row::RowId;

/// What to compute, and of which mask.
#[derive(Clone, Debug)]
pub struct MaskJob {
    pub document: RowId,
    pub role: RegionRole,
    pub op: MaskOp,
    /// The region whose mask it is, and its area as it is now; `None` begins a new one.
    pub target: Option<(RegionId, Area)>,
    /// Its pixels.
    pub mask: Arc<Mask>,
    /// Of the source, which the result has.
    pub size: Size,
}

/// A job with its result.
#[derive(Clone, Debug)]
pub struct MaskDone {
    pub job: MaskJob,
    pub mask: Mask,
    /// How many pixels more it has than before; `None` when nothing changed.
    pub growth: Option<i64>,
}

impl MaskJob {
    /// Computes the result; takes up to a second for a picture of 8192×8192.
    pub fn run(self) -> MaskDone {
        let mask =
            if self.mask.size() == self.size { self.op.apply(&self.mask) } else { self.op.apply(&self.mask.resized_nearest(self.size)) };
        let growth = mask.growth_since(&self.mask);
        MaskDone { job: self, mask, growth }
    }
}
