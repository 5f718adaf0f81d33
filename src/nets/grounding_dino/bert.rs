//! The text model: BERT whose tokens see only their own phrase.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_bert.py`, `BertModel` without pooling.

use std::path::Path;

use burn::tensor::{Bool, Int, Tensor, TensorData};

use super::Stages;
use super::attention::{Attended, MultiHead};
use super::config::{BertConfig, activation};
use super::text::Tokens;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Embedding, LayerNorm, Mlp};

#[derive(Clone, Debug)]
struct Layer {
    attention: MultiHead,
    attention_norm: LayerNorm,
    mlp: Mlp,
    mlp_norm: LayerNorm,
}

impl Layer {
    /// # Shapes
    /// * `x`: `[1, tokens, width]`
    /// * `hidden`: `[1, 1, tokens, tokens]`
    /// * output: as `x`
    fn forward(&self, x: Tensor<3>, hidden: Tensor<4, Bool>) -> Tensor<3> {
        let attended = Attended { query: x.clone(), key: x.clone(), value: x.clone(), hidden: Some(hidden) };
        let x = self.attention_norm.forward(x + self.attention.forward(attended));
        self.mlp_norm.forward(self.mlp.forward_onto(x.clone(), x))
    }
}

/// The text model.
#[derive(Clone, Debug)]
pub struct Bert {
    words: Embedding,
    positions: Embedding,
    types: Embedding,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl Bert {
    /// Reads the model from `scope` (`model.text_backbone`).
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &BertConfig, folder: &Path) -> Result<Self, CheckpointError> {
        let activation = activation(folder, "text_config.hidden_act", &config.hidden_act)?;
        let (width, epsilon) = (config.hidden_size, config.layer_norm_eps);
        let layers = (0..config.num_hidden_layers).map(|number| {
            let at = scope.at(format!("encoder.layer.{number}"));
            Ok(Layer {
                attention: MultiHead::load(&at.at("attention.self"), &at.at("attention.output.dense"), width, config.num_attention_heads)?,
                attention_norm: LayerNorm::load(&at.at("attention.output.LayerNorm"), width, epsilon)?,
                mlp: Mlp::load(&at, ["intermediate.dense", "output.dense"], width, config.intermediate_size, activation)?,
                mlp_norm: LayerNorm::load(&at.at("output.LayerNorm"), width, epsilon)?,
            })
        });
        let embeddings = scope.at("embeddings");
        Ok(Self {
            words: Embedding::load(&embeddings.at("word_embeddings"), config.vocab_size, width)?,
            positions: Embedding::load(&embeddings.at("position_embeddings"), config.max_position_embeddings, width)?,
            types: Embedding::load(&embeddings.at("token_type_embeddings"), config.type_vocab_size, width)?,
            norm: LayerNorm::load(&embeddings.at("LayerNorm"), width, epsilon)?,
            layers: layers.collect::<Result<_, _>>()?,
        })
    }

    /// Features of the tokens.
    ///
    /// # Shapes
    /// * `hidden`: `[1, 1, tokens, tokens]`, true where a token does not see another
    /// * output: `[1, tokens, width]`
    pub fn forward(&self, tokens: &Tokens, hidden: &Tensor<4, Bool>, stages: &mut Stages<'_>) -> Tensor<3> {
        let device = hidden.device();
        let numbers = |values: Vec<i32>| Tensor::<2, Int>::from_data(TensorData::new(values, [1, tokens.count()]), &device);
        let words = self.words.forward(numbers(tokens.ids.iter().map(|&id| id as i32).collect()));
        let positions = self.positions.forward(numbers(tokens.positions.iter().map(|&at| at as i32).collect()));
        // One text, so every token is of the first type.
        let first_type = self.types.table().narrow(0, 0, 1).unsqueeze_dim::<3>(0);
        let mut x = self.norm.forward(words + first_type + positions);
        stages.keep("bert_embeddings", || x.clone());
        for (number, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, hidden.clone());
            stages.keep(format_args!("bert_layer{number}"), || x.clone());
        }
        stages.keep("bert_last", || x.clone());
        x
    }
}
