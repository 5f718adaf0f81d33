//! Attention over tokens as BERT, the text enhancer and the decoder have it, and the order "add, then norm".

use burn::tensor::{Bool, Tensor};

use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Linear, Scores, attend};

/// Attention in several heads.
///
/// Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, `GroundingDinoMultiheadAttention`.
#[derive(Clone, Debug)]
pub struct MultiHead {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    heads: usize,
}

/// What attends to what.
pub struct Attended {
    /// `[1, queries, width]`
    pub query: Tensor<3>,
    /// `[1, keys, width]`
    pub key: Tensor<3>,
    /// `[1, keys, width]`
    pub value: Tensor<3>,
    /// True where a key is hidden from a query: `[1, 1, queries, keys]`.
    pub hidden: Option<Tensor<4, Bool>>,
}

impl MultiHead {
    /// Reads `query`, `key` and `value` below `projections`, and the layer `output`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(projections: &Scope<'_>, output: &Scope<'_>, width: usize, heads: usize) -> Result<Self, CheckpointError> {
        let linear = |name: &str| Linear::load(&projections.at(name), width, width);
        Ok(Self {
            query: linear("query")?,
            key: linear("key")?,
            value: linear("value")?,
            output: Linear::load(output, width, width)?,
            heads,
        })
    }

    /// # Shapes
    /// output: `[1, queries, width]`
    pub fn forward(&self, attended: Attended) -> Tensor<3> {
        let Attended { query, key, value, hidden } = attended;
        let (query, key, value) = (self.query.forward(query), self.key.forward(key), self.value.forward(value));
        self.output.forward(attend(query, key, value, self.heads, Scores { hidden, ..Scores::default() }))
    }
}
