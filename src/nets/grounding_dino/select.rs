//! The choice of the cells from which the decoder starts: those most like a token of the text.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, `generate_encoder_output_proposals` and the two-stage part of
//! `GroundingDinoModel.forward`.

use burn::tensor::activation::sigmoid;
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};

use super::Stages;
use super::config::Config;
use super::decoder::BoxHead;
use super::deformable::Pyramid;
use crate::nets::NetError;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{LayerNorm, Linear};

/// Width and height of a proposal of the finest level, as a fraction; each coarser level doubles it.
const SMALLEST: f32 = 0.05;

/// A proposal is valid where all four numbers lie between these.
const VALID: std::ops::Range<f32> = 0.01..0.99;

/// cx, cy, w, h of the proposal of every cell, as fractions; `None` where it is not valid.
fn proposals(pyramid: &Pyramid) -> Vec<Option<[f32; 4]>> {
    let valid = |v: f32| v > VALID.start && v < VALID.end;
    pyramid
        .centres()
        .map(|([x, y], level)| {
            let side = SMALLEST * 2f32.powi(level as i32);
            [x, y, side, side].iter().copied().all(valid).then_some([x, y, side, side])
        })
        .collect()
}

/// Numbers of the `count` largest scores, largest first; equal ones in their order.
fn best(scores: &[f32], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order.truncate(count);
    order
}

/// The layers of the choice.
#[derive(Clone, Debug)]
pub struct Selection {
    linear: Linear,
    norm: LayerNorm,
    head: BoxHead,
    queries: usize,
}

impl Selection {
    /// Reads the layers from `scope` (`model`).
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &Config) -> Result<Self, CheckpointError> {
        let width = config.d_model;
        Ok(Self {
            linear: Linear::load(&scope.at("enc_output"), width, width)?,
            norm: LayerNorm::load(&scope.at("enc_output_norm"), width, config.layer_norm_eps)?,
            head: BoxHead::load(&scope.at("encoder_output_bbox_embed"), width)?,
            queries: config.num_queries,
        })
    }

    /// The boxes of the best cells, best first. A picture with fewer cells than queries gives one a cell.
    ///
    /// # Shapes
    /// * `vision`: `[1, cells, width]`
    /// * `text`: `[1, tokens, width]`
    /// * output: `[1, queries, 4]`, cx, cy, w, h as fractions
    ///
    /// # Errors
    /// When the device fails.
    pub fn forward(&self, vision: Tensor<3>, text: Tensor<3>, pyramid: &Pyramid, stages: &mut Stages<'_>) -> Result<Tensor<3>, NetError> {
        let device = vision.device();
        let proposals = proposals(pyramid);
        let invalid = mask(proposals.iter().map(Option::is_none).collect(), &device);
        let features = self.norm.forward(self.linear.forward(vision.mask_fill(invalid, 0.0)));
        let scores = features.clone().matmul(text.swap_dims(1, 2)).max_dim(2).squeeze_dim::<2>(2);
        stages.keep("proposal_scores", || scores.clone());
        stages.keep("proposal_boxes_logit", || {
            let (proposals, invalid) = logits(&proposals, &device);
            (self.head.forward(features.clone()) + proposals).mask_fill(invalid, f32::INFINITY)
        });
        let chosen = best(&scores.try_into_vec_as::<f32>()?, self.queries);
        let numbers: Vec<i32> = chosen.iter().map(|&i| i as i32).collect();
        let numbers = Tensor::<1, Int>::from_data(TensorData::new(numbers, [chosen.len()]), &device);
        stages.keep("top", || numbers.clone().float());
        let of_chosen: Vec<Option<[f32; 4]>> = chosen.iter().map(|&i| proposals[i]).collect();
        let (proposals, invalid) = logits(&of_chosen, &device);
        let moved = self.head.forward(features.select(1, numbers)) + proposals;
        // The reference gives invalid proposals infinite logits: the whole picture about its lower right corner.
        let boxes = sigmoid(moved).mask_fill(invalid, 1.0);
        stages.keep("decoder_reference", || boxes.clone());
        Ok(boxes)
    }
}

/// `[1, rows, 1]`
fn mask(values: Vec<bool>, device: &Device) -> Tensor<3, Bool> {
    let rows = values.len();
    Tensor::from_data(TensorData::new(values, [1, rows, 1]), device)
}

/// Logits of proposals, 0 where not valid, `[1, rows, 4]`; and where they are not, `[1, rows, 1]`.
fn logits(proposals: &[Option<[f32; 4]>], device: &Device) -> (Tensor<3>, Tensor<3, Bool>) {
    let values: Vec<f32> = proposals.iter().flat_map(|p| p.map_or([0.0; 4], |p| p.map(|v| (v / (1.0 - v)).ln()))).collect();
    let values = Tensor::from_data(TensorData::new(values, [1, proposals.len(), 4]), device);
    (values, mask(proposals.iter().map(Option::is_none).collect(), device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposals_by_hand() {
        // 1×1 at level 0, 1×200 at level 1: centres of the first two and last two columns, 0.0025 and 0.9975, lie outside of 0.01 to 0.99.
        let pyramid = Pyramid::new(&[[1, 1], [1, 200]]);
        let found = proposals(&pyramid);
        assert_eq!(found[0], Some([0.5, 0.5, 0.05, 0.05]));
        let valid: Vec<usize> = (0..200).filter(|i| found[1 + i].is_some()).collect();
        assert_eq!((valid.first(), valid.last()), (Some(&2), Some(&197)));
        assert_eq!(found[101], Some([0.5025, 0.5, 0.1, 0.1]));
        // Level 5: 0.05·2⁵ = 1.6 is no fraction.
        let deep = Pyramid::new(&[[1, 1]; 6]);
        assert_eq!(proposals(&deep)[5], None);
    }

    #[test]
    fn the_best_come_first() {
        assert_eq!(best(&[0.5, -1.0, 2.0, 0.5], 3), [2, 0, 3]);
        assert_eq!(best(&[1.0], 5), [0]);
    }
}
