//! The decoder: boxes are moved layer by layer to what they have seen of phrase and picture.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, `GroundingDinoDecoder`, `GroundingDinoDecoderLayer` and the
//! heads of `GroundingDinoForObjectDetection`.

use burn::tensor::Tensor;
use burn::tensor::activation::{relu, sigmoid};

use super::Stages;
use super::attention::{Attended, MultiHead};
use super::config::Config;
use super::deformable::{Asked, Deformable, DeformableSizes, Pyramid, Reference};
use super::position;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Activation, LayerNorm, Linear, Mlp};

/// How far from 0 and 1 a fraction stays before its logit is taken (the original: 1e-3).
const LOGIT_EPSILON: f64 = 1e-5;

/// log(x / (1 − x)), kept finite.
pub fn logit(x: Tensor<3>) -> Tensor<3> {
    let x = x.clamp(LOGIT_EPSILON, 1.0 - LOGIT_EPSILON);
    (x.clone() / (-x + 1.0)).log()
}

/// Three linear layers that tell how to move a box (`GroundingDinoMLPPredictionHead`).
#[derive(Clone, Debug)]
pub struct BoxHead([Linear; 3]);

impl BoxHead {
    /// Tensors of a head and their shapes.
    pub fn tensors(width: usize) -> [(&'static str, Vec<usize>); 6] {
        [
            ("layers.0.weight", vec![width, width]),
            ("layers.0.bias", vec![width]),
            ("layers.1.weight", vec![width, width]),
            ("layers.1.bias", vec![width]),
            ("layers.2.weight", vec![4, width]),
            ("layers.2.bias", vec![4]),
        ]
    }

    /// Reads the head from `scope`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, width: usize) -> Result<Self, CheckpointError> {
        let layer = |number: usize, out| Linear::load(&scope.at(format!("layers.{number}")), width, out);
        Ok(Self([layer(0, width)?, layer(1, width)?, layer(2, 4)?]))
    }

    /// # Shapes
    /// `[1, queries, width]` → `[1, queries, 4]`: what to add to the logits of cx, cy, w, h
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let [first, second, third] = &self.0;
        third.forward(relu(second.forward(relu(first.forward(x)))))
    }
}

#[derive(Clone, Debug)]
struct Layer {
    own: MultiHead,
    own_norm: LayerNorm,
    text: MultiHead,
    text_norm: LayerNorm,
    picture: Deformable,
    picture_norm: LayerNorm,
    mlp: Mlp,
    mlp_norm: LayerNorm,
}

impl Layer {
    fn load(scope: &Scope<'_>, config: &Config, activation: Activation) -> Result<Self, CheckpointError> {
        let (width, heads) = (config.d_model, config.decoder_attention_heads);
        let norm = |name: &str| LayerNorm::load(&scope.at(name), width, config.layer_norm_eps);
        let attention = |name: &str| {
            let at = scope.at(name);
            MultiHead::load(&at, &at.at("out_proj"), width, heads)
        };
        let sizes = DeformableSizes { width, heads, levels: config.num_feature_levels, points: config.decoder_n_points };
        Ok(Self {
            own: attention("self_attn")?,
            own_norm: norm("self_attn_layer_norm")?,
            text: attention("encoder_attn_text")?,
            text_norm: norm("encoder_attn_text_layer_norm")?,
            picture: Deformable::load(&scope.at("encoder_attn"), sizes)?,
            picture_norm: norm("encoder_attn_layer_norm")?,
            mlp: Mlp::load(scope, ["fc1", "fc2"], width, config.decoder_ffn_dim, activation)?,
            mlp_norm: norm("final_layer_norm")?,
        })
    }

    /// # Shapes
    /// `x`, `place`: `[1, queries, width]`; output: as `x`
    fn forward(&self, x: Tensor<3>, place: &Tensor<3>, boxes: &Tensor<3>, seen: &Seen<'_>) -> Tensor<3> {
        let placed = x.clone() + place.clone();
        let own = self.own.forward(Attended { query: placed.clone(), key: placed, value: x.clone(), hidden: None });
        let x = self.own_norm.forward(x + own);
        let attended = Attended { query: x.clone() + place.clone(), key: seen.text.clone(), value: seen.text.clone(), hidden: None };
        let x = self.text_norm.forward(x + self.text.forward(attended));
        let reference = Reference::Boxes(boxes.clone().squeeze_dim::<2>(0));
        let query = x.clone() + place.clone();
        let asked = Asked { query, source: seen.vision.clone(), reference: &reference, pyramid: seen.pyramid };
        let x = self.picture_norm.forward(self.picture.forward_onto(asked, x));
        self.mlp_norm.forward(self.mlp.forward_onto(x.clone(), x))
    }
}

/// What the queries look at.
pub struct Seen<'a> {
    /// `[1, cells, width]`
    pub vision: Tensor<3>,
    /// `[1, tokens, width]`
    pub text: Tensor<3>,
    pub pyramid: &'a Pyramid,
}

/// What comes out for each query.
pub struct Found {
    /// Unscaled scores of each token, `[1, queries, tokens]`.
    pub logits: Tensor<3>,
    /// cx, cy, w, h as fractions of the picture, `[1, queries, 4]`.
    pub boxes: Tensor<3>,
}

/// The decoder and its heads.
#[derive(Clone, Debug)]
pub struct Decoder {
    layers: Vec<Layer>,
    heads: Vec<BoxHead>,
    norm: LayerNorm,
    place: [Linear; 2],
}

impl Decoder {
    /// Reads the layers from `scope` (`model.decoder`); `heads` has one box head a layer.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, heads: Vec<BoxHead>, config: &Config, activation: Activation) -> Result<Self, CheckpointError> {
        let width = config.d_model;
        let place = scope.at("reference_points_head");
        Ok(Self {
            layers: (0..config.decoder_layers)
                .map(|number| Layer::load(&scope.at(format!("layers.{number}")), config, activation))
                .collect::<Result<_, _>>()?,
            heads,
            norm: LayerNorm::load(&scope.at("layer_norm"), width, config.layer_norm_eps)?,
            place: [Linear::load(&place.at("layers.0"), 2 * width, width)?, Linear::load(&place.at("layers.1"), width, width)?],
        })
    }

    /// # Shapes
    /// * `content`: `[1, queries, width]`
    /// * `boxes`: `[1, queries, 4]`, cx, cy, w, h as fractions
    pub fn forward(&self, content: Tensor<3>, boxes: Tensor<3>, seen: &Seen<'_>, stages: &mut Stages<'_>) -> Found {
        let [_, _, width] = content.dims();
        let (mut x, mut boxes) = (content, boxes);
        let mut entered = boxes.clone();
        for (number, (layer, head)) in self.layers.iter().zip(&self.heads).enumerate() {
            let [first, second] = &self.place;
            let place = second.forward(relu(first.forward(position::of_boxes(boxes.clone(), width))));
            x = layer.forward(x, &place, &boxes, seen);
            // The next layer's boxes come from the features as they are, the answer below from the normed ones.
            let moved = sigmoid(head.forward(x.clone()) + logit(boxes.clone()));
            entered = std::mem::replace(&mut boxes, moved);
            stages.keep(format_args!("decoder{number}"), || x.clone());
            stages.keep(format_args!("decoder_normed{number}"), || self.norm.forward(x.clone()));
            stages.keep(format_args!("references{number}"), || boxes.clone());
        }
        let normed = self.norm.forward(x);
        let boxes = match self.heads.last() {
            Some(head) => sigmoid(head.forward(normed.clone()) + logit(entered)),
            None => entered,
        };
        let found = Found { logits: normed.matmul(seen.text.clone().swap_dims(1, 2)), boxes };
        stages.keep("logits", || found.logits.clone());
        stages.keep("boxes_cxcywh", || found.boxes.clone());
        found
    }
}
