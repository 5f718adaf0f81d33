//! A way to look at the tensors between the layers.

use std::fmt::Display;

use burn::tensor::{Tensor, TensorData};

/// Is called with the name and the values of each stage.
type Listener<'a> = &'a mut dyn FnMut(&str, TensorData);

/// Hands the tensors of a pass to a listener, stage by stage; the golden ladder listens. Without one it costs nothing.
#[derive(Default)]
pub struct Stages<'a> {
    listener: Option<Listener<'a>>,
}

impl<'a> Stages<'a> {
    /// Nobody listens.
    pub fn none() -> Self {
        Self::default()
    }

    /// `listener` is called with the name and the values of each stage.
    pub fn to(listener: &'a mut dyn FnMut(&str, TensorData)) -> Self {
        Self { listener: Some(listener) }
    }

    /// Hands over a stage, if anybody listens.
    pub(super) fn keep<const D: usize>(&mut self, name: impl Display, tensor: impl FnOnce() -> Tensor<D>) {
        if let Some(listener) = &mut self.listener {
            listener(&name.to_string(), tensor().into_data());
        }
    }
}
