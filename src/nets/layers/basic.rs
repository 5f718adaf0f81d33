//! Layers over the last dimension.

use std::path::Path;

use burn::tensor::activation::{gelu, relu, sigmoid};
use burn::tensor::module::{layer_norm, linear};
use burn::tensor::{DType, FloatDType, Int, Tensor};

#[cfg(feature = "flex")]
use super::host;
use crate::nets::checkpoint::{CONFIG, CheckpointError, Scope};

/// A linear layer, `y = x·W + b`.
#[derive(Clone, Debug)]
pub struct Linear {
    /// `[in, out]`: a transposed view of what is stored, which costs no copy. In half precision, products are taken in it; bias and all that
    /// follows are in single precision all the same.
    weight: Tensor<2>,
    bias: Option<Tensor<1>>,
}

impl Linear {
    /// Reads `weight [out, in]` and `bias [out]`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, size_in: usize, size_out: usize) -> Result<Self, CheckpointError> {
        let bias = Some(scope.tensor("bias", [size_out])?);
        Ok(Self { bias, ..Self::load_without_bias(scope, size_in, size_out)? })
    }

    /// Reads `weight [out, in]`.
    ///
    /// # Errors
    /// When it is missing, misshapen or unreadable.
    pub fn load_without_bias(scope: &Scope<'_>, size_in: usize, size_out: usize) -> Result<Self, CheckpointError> {
        Ok(Self { weight: scope.matrix("weight", [size_out, size_in])?.transpose(), bias: None })
    }

    /// From tensors `[in, out]` and `[out]` that were put together elsewhere (fused projections, other layouts).
    pub fn from_tensors(weight: Tensor<2>, bias: Option<Tensor<1>>) -> Self {
        Self { weight, bias }
    }

    /// Several layers of the same input as one whose outputs stand side by side: one larger product instead of many.
    ///
    /// The parts either all have a bias or none has.
    pub fn joined(parts: Vec<Self>) -> Self {
        let biases: Option<Vec<_>> = parts.iter().map(|part| part.bias.clone()).collect();
        Self { weight: Tensor::cat(parts.into_iter().map(|part| part.weight).collect(), 1), bias: biases.map(|b| Tensor::cat(b, 0)) }
    }

    /// # Shapes
    /// `[.., in]` → `[.., out]`
    pub fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        self.finish(x, None, None)
    }

    /// The layer with an activation behind it, in one pass where the device has none of its own for that.
    ///
    /// # Shapes
    /// `[.., in]` → `[.., out]`
    pub fn forward_activated<const D: usize>(&self, x: Tensor<D>, activation: Activation) -> Tensor<D> {
        self.finish(x, Some(activation), None)
    }

    /// The layer's output added to `residual`.
    ///
    /// # Shapes
    /// * `x`: `[.., in]`
    /// * `residual`: `[.., out]`
    /// * output: `[.., out]`
    pub fn forward_onto<const D: usize>(&self, x: Tensor<D>, residual: Tensor<D>) -> Tensor<D> {
        self.finish(x, None, Some(residual))
    }

    /// The layer's outputs `from..from + count` as a layer of their own; shares the weights.
    pub fn part(&self, from: usize, count: usize) -> Self {
        Self { weight: self.weight.clone().narrow(1, from, count), bias: self.bias.clone().map(|bias| bias.narrow(0, from, count)) }
    }

    /// What the layer makes of zeros, for tensors of a host device.
    ///
    /// # Shapes
    /// → `[out]`
    #[cfg(feature = "flex")]
    pub fn of_zeros(&self) -> Vec<f32> {
        match &self.bias {
            Some(bias) => host::Values::of(bias.clone()).as_slice().to_vec(),
            None => vec![0.0; self.weight.dims()[1]],
        }
    }

    /// `x·W` in the precision of the weights, as single precision.
    fn product<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        match self.weight.dtype() {
            DType::F16 => linear(x.cast(FloatDType::F16), self.weight.clone(), None).cast(FloatDType::F32),
            _ => linear(x, self.weight.clone(), None),
        }
    }

    fn finish<const D: usize>(&self, x: Tensor<D>, activation: Option<Activation>, residual: Option<Tensor<D>>) -> Tensor<D> {
        #[cfg(feature = "flex")]
        if host::on_host(&x.device()) {
            let product = self.product(x);
            let bias = self.bias.clone().map(host::Values::of);
            let residual = residual.map(host::Values::of);
            let after = host::After {
                bias: bias.as_ref().map(host::Values::as_slice),
                activation,
                residual: residual.as_ref().map(host::Values::as_slice),
            };
            return host::finish(product, after);
        }
        let y = match &self.bias {
            Some(bias) if self.weight.dtype() == DType::F16 => self.product(x) + bias.clone().unsqueeze(),
            Some(bias) => linear(x, self.weight.clone(), Some(bias.clone())),
            None => self.product(x),
        };
        let y = match activation {
            Some(activation) => activation.apply(y),
            None => y,
        };
        match residual {
            Some(residual) => residual + y,
            None => y,
        }
    }
}

/// Normalisation over the last dimension.
#[derive(Clone, Debug)]
pub struct LayerNorm {
    weight: Tensor<1>,
    bias: Tensor<1>,
    epsilon: f64,
}

impl LayerNorm {
    /// Reads `weight [width]` and `bias [width]`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, width: usize, epsilon: f64) -> Result<Self, CheckpointError> {
        Ok(Self { weight: scope.tensor("weight", [width])?, bias: scope.tensor("bias", [width])?, epsilon })
    }

    /// # Shapes
    /// `[.., width]` → the same
    pub fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        layer_norm(x, self.weight.clone(), Some(self.bias.clone()), self.epsilon)
    }
}

/// Rows of a table by number.
#[derive(Clone, Debug)]
pub struct Embedding {
    table: Tensor<2>,
}

impl Embedding {
    /// Reads `weight [count, width]`.
    ///
    /// # Errors
    /// When it is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, count: usize, width: usize) -> Result<Self, CheckpointError> {
        Ok(Self { table: scope.tensor("weight", [count, width])? })
    }

    /// All rows, `[count, width]`.
    pub fn table(&self) -> Tensor<2> {
        self.table.clone()
    }

    /// # Shapes
    /// `[batch, tokens]` of numbers below `count` → `[batch, tokens, width]`
    pub fn forward(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        burn::tensor::module::embedding(self.table.clone(), ids)
    }
}

/// The activations of published configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// x·Φ(x), with the error function.
    Gelu,
    /// x·σ(1.702 x).
    QuickGelu,
    Relu,
}

impl Activation {
    /// From transformers' name (`hidden_act`) in the configuration of `folder`; `field` is for the message.
    ///
    /// # Errors
    /// [`CheckpointError::Config`] for one that none of the published networks has.
    pub fn from_config(folder: &Path, field: &str, name: &str) -> Result<Self, CheckpointError> {
        match name {
            "gelu" => Ok(Self::Gelu),
            "quick_gelu" => Ok(Self::QuickGelu),
            "relu" => Ok(Self::Relu),
            _ => Err(CheckpointError::Config {
                path: folder.join(CONFIG),
                field: field.to_owned(),
                found: format!("'{name}'"),
                needed: "'gelu', 'quick_gelu' or 'relu'".to_owned(),
            }),
        }
    }

    /// Element by element.
    pub fn apply<const D: usize>(self, x: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Gelu => gelu(x),
            Self::QuickGelu => x.clone() * sigmoid(x * 1.702),
            Self::Relu => relu(x),
        }
    }
}

/// Two linear layers with an activation between.
#[derive(Clone, Debug)]
pub struct Mlp {
    first: Linear,
    second: Linear,
    activation: Activation,
}

impl Mlp {
    /// Reads the layers called `names`, from `width` to `hidden` and back.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, names: [&str; 2], width: usize, hidden: usize, activation: Activation) -> Result<Self, CheckpointError> {
        Ok(Self {
            first: Linear::load(&scope.at(names[0]), width, hidden)?,
            second: Linear::load(&scope.at(names[1]), hidden, width)?,
            activation,
        })
    }

    /// # Shapes
    /// `[.., width]` → the same
    pub fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        self.second.forward(self.first.forward_activated(x, self.activation))
    }

    /// The output added to `residual`.
    ///
    /// # Shapes
    /// both `[.., width]` → the same
    pub fn forward_onto<const D: usize>(&self, x: Tensor<D>, residual: Tensor<D>) -> Tensor<D> {
        self.second.forward_onto(self.first.forward_activated(x, self.activation), residual)
    }
}
