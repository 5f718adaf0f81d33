//! The backbone's features brought to one width, and a coarser level made of them: the cells that the encoder works on.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, `GroundingDinoModel`.

use burn::tensor::{Tensor, TensorData};

use super::Stages;
use super::config::Config;
use super::deformable::Pyramid;
use super::position;
use super::swin::Level;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Conv2d, ConvSizes, Linear};

/// Groups of the norm; fixed in the reference.
const GROUPS: usize = 32;

/// Normalisation over cells and the channels of a group.
#[derive(Clone, Debug)]
struct GroupNorm {
    weight: Tensor<1>,
    bias: Tensor<1>,
}

impl GroupNorm {
    fn load(scope: &Scope<'_>, width: usize) -> Result<Self, CheckpointError> {
        Ok(Self { weight: scope.tensor("weight", [width])?, bias: scope.tensor("bias", [width])? })
    }

    /// # Shapes
    /// `[1, rows, columns, width]` → the same
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let dims @ [_, rows, columns, width] = x.dims();
        let (cells, share) = (rows * columns, width / GROUPS);
        let grouped = x.reshape([cells, GROUPS, share]).swap_dims(0, 1).reshape([GROUPS, cells * share]);
        let centred = grouped.clone() - grouped.mean_dim(1);
        let variance = centred.clone().square().mean_dim(1);
        // PyTorch's default epsilon; the configuration's is for the layer norms.
        let normed = centred / (variance + 1e-5).sqrt();
        let back = normed.reshape([GROUPS, cells, share]).swap_dims(0, 1).reshape(dims);
        back * self.weight.clone().reshape([1, 1, 1, -1]) + self.bias.clone().reshape([1, 1, 1, -1])
    }
}

/// The layers `input_proj_vision` and the level embedding.
#[derive(Clone, Debug)]
pub struct Projections {
    /// One for each feature of the backbone: a 1×1 convolution is a linear layer when channels come last.
    same: Vec<(Linear, GroupNorm)>,
    /// Makes the coarsest level out of the backbone's last feature.
    coarser: (Conv2d, GroupNorm),
    /// `[levels, width]`
    level: Tensor<2>,
    width: usize,
    temperature: f32,
}

/// What the encoder starts from.
pub struct Levels {
    /// `[1, cells, width]`
    pub cells: Tensor<3>,
    /// `[1, cells, width]`, level embedding included.
    pub position: Tensor<3>,
    pub pyramid: Pyramid,
}

impl Projections {
    /// Reads the layers from `scope` (`model`).
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, config: &Config) -> Result<Self, CheckpointError> {
        let width = config.d_model;
        let stages = &config.backbone_config.out_indices;
        let at = |level: usize| scope.at(format!("input_proj_vision.{level}"));
        let mut same = Vec::new();
        for (level, stage) in stages.iter().enumerate() {
            let channels = config.swin_width(stage - 1);
            let convolution = at(level).at("0");
            let weight = convolution.tensor("weight", [width, channels, 1, 1])?.reshape([width, channels]).transpose();
            let linear = Linear::from_tensors(weight, Some(convolution.tensor("bias", [width])?));
            same.push((linear, GroupNorm::load(&at(level).at("1"), width)?));
        }
        let last = stages.last().map_or(0, |stage| config.swin_width(stage - 1));
        let sizes = ConvSizes { channels_in: last, channels_out: width, kernel: 3, stride: 2, padding: 1, bias: true };
        let extra = at(stages.len());
        Ok(Self {
            same,
            coarser: (Conv2d::load(&extra.at("0"), sizes)?, GroupNorm::load(&extra.at("1"), width)?),
            level: scope.tensor("level_embed", [config.num_feature_levels, width])?,
            width,
            temperature: config.positional_embedding_temperature as f32,
        })
    }

    /// # Shapes
    /// `features`: `[1, rows, columns, channels]` each, as the backbone gives them
    pub fn forward(&self, features: Vec<Level>, stages: &mut Stages<'_>) -> Levels {
        let (convolution, norm) = &self.coarser;
        let coarsest = features.last().map(|last| {
            let map = convolution.forward(last.clone().permute([0, 3, 1, 2]));
            norm.forward(map.permute([0, 2, 3, 1]))
        });
        let levels = features.into_iter().zip(&self.same).map(|(feature, (linear, norm))| norm.forward(linear.forward(feature)));
        let levels: Vec<Tensor<4>> = levels.chain(coarsest).collect();
        let mut cells = Vec::new();
        let mut positions = Vec::new();
        let mut sizes = Vec::new();
        for (number, level) in levels.into_iter().enumerate() {
            stages.keep(format_args!("input_projection{number}"), || level.clone().permute([0, 3, 1, 2]));
            let [_, rows, columns, width] = level.dims();
            let place = position::of_cells(rows, columns, self.width, self.temperature);
            let place = Tensor::<2>::from_data(TensorData::new(place, [rows * columns, width]), &level.device());
            positions.push((place + self.level.clone().narrow(0, number, 1)).unsqueeze_dim::<3>(0));
            cells.push(level.reshape([1, rows * columns, width]));
            sizes.push([rows, columns]);
        }
        Levels { cells: Tensor::cat(cells, 1), position: Tensor::cat(positions, 1), pyramid: Pyramid::new(&sizes) }
    }
}
