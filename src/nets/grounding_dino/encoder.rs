//! The encoder: picture and phrase look at each other, then each at itself.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, the class named at each layer.

use burn::tensor::{Bool, Tensor};

use super::Stages;
use super::attention::{Attended, MultiHead};
use super::config::Config;
use super::deformable::{Asked, Deformable, DeformableSizes, Pyramid, Reference};
use super::fusion::Fusion;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Activation, LayerNorm, Mlp};

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
        self.mlp_norm.forward(self.mlp.forward_onto(text.clone(), text))
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

    fn forward(&self, vision: Tensor<3>, around: &Around<'_>) -> Tensor<3> {
        let query = vision.clone() + around.vision_position.clone();
        let asked = Asked { query, source: vision.clone(), reference: &around.reference, pyramid: around.pyramid };
        let vision = self.attention_norm.forward(self.attention.forward_onto(asked, vision));
        self.mlp_norm.forward(self.mlp.forward_onto(vision.clone(), vision))
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
    pub fn forward(&self, mut flow: Flow, around: &Around<'_>, stages: &mut Stages<'_>) -> Flow {
        for (number, layer) in self.layers.iter().enumerate() {
            let fused = layer.fusion.forward(flow);
            stages.keep(format_args!("encoder{number}_fusion_vision"), || fused.vision.clone());
            stages.keep(format_args!("encoder{number}_fusion_text"), || fused.text.clone());
            flow = Flow { text: layer.enhancer.forward(fused.text, around), vision: layer.deformable.forward(fused.vision, around) };
            stages.keep(format_args!("encoder{number}_text_enhanced"), || flow.text.clone());
            stages.keep(format_args!("encoder{number}_vision"), || flow.vision.clone());
            stages.keep(format_args!("encoder{number}_text"), || flow.text.clone());
        }
        flow
    }
}
