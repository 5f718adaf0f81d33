//! A place in the tree of tensor names, from which layers read.

use std::fmt::Display;

use burn::tensor::{Device, Tensor};

use super::{CheckpointError, Weights};

/// A prefix of tensor names within [`Weights`].
#[derive(Clone)]
pub struct Scope<'a> {
    weights: &'a Weights,
    prefix: String,
}

impl<'a> Scope<'a> {
    pub(super) fn new(weights: &'a Weights) -> Self {
        Self { weights, prefix: String::new() }
    }

    /// The scope `part` below this one; `part` may be a number or hold dots.
    pub fn at(&self, part: impl Display) -> Self {
        Self { weights: self.weights, prefix: format!("{}{part}.", self.prefix) }
    }

    /// Full name of a tensor here.
    pub fn name(&self, tensor: &str) -> String {
        format!("{}{tensor}", self.prefix)
    }

    /// Whether a tensor is here; for the few that may stand in one of several places.
    pub fn has(&self, tensor: &str) -> bool {
        self.weights.has(&self.name(tensor))
    }

    /// A tensor on the device, as stored.
    ///
    /// # Errors
    /// When it is missing, misshapen or unreadable.
    pub fn tensor<const D: usize>(&self, tensor: &str, shape: [usize; D]) -> Result<Tensor<D>, CheckpointError> {
        self.weights.tensor(&self.name(tensor), shape)
    }

    /// The matrix of a linear layer on the device, in the precision that it multiplies in.
    ///
    /// # Errors
    /// When it is missing, misshapen or unreadable.
    pub fn matrix(&self, tensor: &str, shape: [usize; 2]) -> Result<Tensor<2>, CheckpointError> {
        self.weights.matrix(&self.name(tensor), shape)
    }

    /// The values of a tensor, row-major, on the host.
    ///
    /// # Errors
    /// When it is missing, misshapen or unreadable.
    pub fn values(&self, tensor: &str, shape: &[usize]) -> Result<Vec<f32>, CheckpointError> {
        self.weights.values(&self.name(tensor), shape)
    }

    /// The device that tensors are put on.
    pub fn device(&self) -> &'a Device {
        self.weights.device()
    }

    /// The whole checkpoint.
    pub fn weights(&self) -> &'a Weights {
        self.weights
    }
}
