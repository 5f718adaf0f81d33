//! The encoder: picture and phrase look at each other, then each at itself.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, the class named at each layer.

use burn::tensor::activation::softmax;
use burn::tensor::{Bool, Tensor};

use super::Stages;
use super::attention::{Attended, MultiHead};
use super::config::Config;
use super::deformable::{Deformable, DeformableSizes, Pyramid, Reference};
use crate::nets::NetError;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Activation, LayerNorm, Linear, Mlp, merge_heads, split_heads};

/// What flows from layer to layer.
#[derive(Clone)]
pub struct Flow {
    /// `[1, cells, width]`
    pub vision: Tensor<3>,
    /// `[1, tokens, width]`
    pub text: Tensor<3>,
}

/// What every layer is told besides.
pub struct Around<'a> {
    /// `[1, cells, width]`, level embedding included.
    pub vision_position: Tensor<3>,
    /// `[1, tokens, width]`
    pub text_position: Tensor<3>,
    /// True where a token does not see another: `[1, 1, tokens, tokens]`.
    pub hidden: Tensor<4, Bool>,
    /// Centres of the cells.
    pub reference: Reference,
    pub pyramid: &'a Pyramid,
}

/// `GroundingDinoFusionLayer` with `GroundingDinoBiMultiHeadAttention`: one matrix of scores between cells and tokens, read both ways.
#[derive(Clone, Debug)]
struct Fusion {
    vision_norm: LayerNorm,
    text_norm: LayerNorm,
    /// Query and value of the picture, side by side.
    vision_in: Linear,
    /// Key and value of the text, side by side.
    text_in: Linear,
    vision_out: Linear,
    text_out: Linear,
    /// `[width]`: how much of the update is added, by channel.
    vision_scale: Tensor<1>,
    text_scale: Tensor<1>,
    heads: usize,
    inner: usize,
}

impl Fusion {
    fn load(scope: &Scope<'_>, config: &Config) -> Result<Self, CheckpointError> {
        let (width, inner) = (config.d_model, config.encoder_ffn_dim / 2);
        let attention = scope.at("attn");
        let pair = |a: &str, b: &str| {
            Ok(Linear::joined(vec![Linear::load(&attention.at(a), width, inner)?, Linear::load(&attention.at(b), width, inner)?]))
        };
        Ok(Self {
            vision_norm: LayerNorm::load(&scope.at("layer_norm_vision"), width, config.layer_norm_eps)?,
            text_norm: LayerNorm::load(&scope.at("layer_norm_text"), width, config.layer_norm_eps)?,
            vision_in: pair("vision_proj", "values_vision_proj")?,
            text_in: pair("text_proj", "values_text_proj")?,
            vision_out: Linear::load(&attention.at("out_vision_proj"), inner, width)?,
            text_out: Linear::load(&attention.at("out_text_proj"), inner, width)?,
            vision_scale: scope.tensor("vision_param", [width])?,
            text_scale: scope.tensor("text_param", [width])?,
            heads: config.encoder_attention_heads / 2,
            inner,
        })
    }

    fn forward(&self, flow: Flow) -> Flow {
        let (vision, text) = (self.vision_norm.forward(flow.vision), self.text_norm.forward(flow.text));
        let halves = |joined: Tensor<3>| [0, 1].map(|i| split_heads(joined.clone().narrow(2, i * self.inner, self.inner), self.heads));
        let [query, vision_value] = halves(self.vision_in.forward(vision.clone()));
        let [key, text_value] = halves(self.text_in.forward(text.clone()));
        let scale = 1.0 / ((self.inner / self.heads) as f64).sqrt();
        let scores: Tensor<4> = (query * scale).matmul(key.swap_dims(2, 3));
        // The reference keeps scores within half precision; the lower bound can change a softmax whose scores all lie beyond it.
        let largest = scores.clone().max().reshape([1, 1, 1, 1]);
        let scores = (scores - largest).clamp_min(-50_000.0);
        let to_text = softmax(scores.clone(), 2).swap_dims(2, 3).matmul(vision_value);
        let to_vision = softmax(scores, 3).matmul(text_value);
        // Added to the normed inputs, not to the inputs themselves.
        Flow {
            vision: vision + self.vision_out.forward(merge_heads(to_vision)) * self.vision_scale.clone().reshape([1, 1, -1]),
            text: text + self.text_out.forward(merge_heads(to_text)) * self.text_scale.clone().reshape([1, 1, -1]),
        }
    }
}

/// `GroundingDinoTextEnhancerLayer`.
#[derive(Clone, Debug)]
struct TextEnhancer {
    attention: MultiHead,
    attention_norm: LayerNorm,
    mlp: Mlp,
    mlp_norm: LayerNorm,
}

impl TextEnhancer {
    fn load(scope: &Scope<'_>, config: &Config, activation: Activation) -> Result<Self, CheckpointError> {
        let attention = scope.at("self_attn");
        let (width, epsilon) = (config.d_model, config.layer_norm_eps);
        Ok(Self {
            attention: MultiHead::load(&attention, &attention.at("out_proj"), width, config.encoder_attention_heads / 2)?,
            attention_norm: LayerNorm::load(&scope.at("layer_norm_before"), width, epsilon)?,
            mlp: Mlp::load(scope, ["fc1", "fc2"], width, config.encoder_ffn_dim / 2, activation)?,
            mlp_norm: LayerNorm::load(&scope.at("layer_norm_after"), width, epsilon)?,
        })
    }

    fn forward(&self, text: Tensor<3>, around: &Around<'_>) -> Tensor<3> {
        let placed = text.clone() + around.text_position.clone();
        let attended = Attended { query: placed.clone(), key: placed, value: text.clone(), hidden: Some(around.hidden.clone()) };
        let text = self.attention_norm.forward(text + self.attention.forward(attended));
        self.mlp_norm.forward(text.clone() + self.mlp.forward(text))
    }
}

/// `GroundingDinoDeformableLayer`.
#[derive(Clone, Debug)]
struct DeformableLayer {
    attention: Deformable,
    attention_norm: LayerNorm,
    mlp: Mlp,
    mlp_norm: LayerNorm,
}

impl DeformableLayer {
    fn load(scope: &Scope<'_>, config: &Config, activation: Activation) -> Result<Self, CheckpointError> {
        let (width, epsilon) = (config.d_model, config.layer_norm_eps);
        let sizes = DeformableSizes {
            width,
            heads: config.encoder_attention_heads,
            levels: config.num_feature_levels,
            points: config.encoder_n_points,
        };
        Ok(Self {
            attention: Deformable::load(&scope.at("self_attn"), sizes)?,
            attention_norm: LayerNorm::load(&scope.at("self_attn_layer_norm"), width, epsilon)?,
            mlp: Mlp::load(scope, ["fc1", "fc2"], width, config.encoder_ffn_dim, activation)?,
            mlp_norm: LayerNorm::load(&scope.at("final_layer_norm"), width, epsilon)?,
        })
    }

    fn forward(&self, vision: Tensor<3>, around: &Around<'_>) -> Result<Tensor<3>, NetError> {
        let query = vision.clone() + around.vision_position.clone();
        let seen = self.attention.forward(query, vision.clone(), &around.reference, around.pyramid)?;
        let vision = self.attention_norm.forward(vision + seen);
        Ok(self.mlp_norm.forward(vision.clone() + self.mlp.forward(vision)))
    }
}

#[derive(Clone, Debug)]
struct Layer {
    fusion: Fusion,
    enhancer: TextEnhancer,
    deformable: DeformableLayer,
}

/// `GroundingDinoEncoder`.
#[derive(Clone, Debug)]
pub struct Encoder {
    layers: Vec<Layer>,
}

impl Encoder {
    /// Reads the layers from `scope` (`model.encoder`).
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &Config, activation: Activation) -> Result<Self, CheckpointError> {
        let layers = (0..config.encoder_layers).map(|number| {
            let at = scope.at(format!("layers.{number}"));
            Ok(Layer {
                fusion: Fusion::load(&at.at("fusion_layer"), config)?,
                enhancer: TextEnhancer::load(&at.at("text_enhancer_layer"), config, activation)?,
                deformable: DeformableLayer::load(&at.at("deformable_layer"), config, activation)?,
            })
        });
        Ok(Self { layers: layers.collect::<Result<_, _>>()? })
    }

    /// # Shapes
    /// As [`Flow`].
    ///
    /// # Errors
    /// When the device fails.
    pub fn forward(&self, mut flow: Flow, around: &Around<'_>, stages: &mut Stages<'_>) -> Result<Flow, NetError> {
        for (number, layer) in self.layers.iter().enumerate() {
            let fused = layer.fusion.forward(flow);
            stages.keep(format_args!("encoder{number}_fusion_vision"), || fused.vision.clone());
            stages.keep(format_args!("encoder{number}_fusion_text"), || fused.text.clone());
            flow = Flow { text: layer.enhancer.forward(fused.text, around), vision: layer.deformable.forward(fused.vision, around)? };
            stages.keep(format_args!("encoder{number}_text_enhanced"), || flow.text.clone());
            stages.keep(format_args!("encoder{number}_vision"), || flow.vision.clone());
            stages.keep(format_args!("encoder{number}_text"), || flow.text.clone());
        }
        Ok(flow)
    }
}
