//! SAM's prompts: boxes and points as tokens, and where they are.

use std::f32::consts::TAU;

use burn::tensor::{Device, Tensor, TensorData};

use super::config::SamConfig;
use crate::nets::checkpoint::{CheckpointError, Scope};

/// A point prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointPrompt {
    /// In pixels of the picture that was embedded.
    pub x: f32,
    pub y: f32,
    /// Whether the object is there (or, if not, ends before there).
    pub inside: bool,
}

/// One token of a prompt, in pixels of the network's square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PromptToken {
    Outside([f32; 2]),
    Inside([f32; 2]),
    FirstCorner([f32; 2]),
    SecondCorner([f32; 2]),
    /// Stands beside points when there is no box, as in training.
    NoPoint,
}

/// Turns prompts into tokens.
///
/// Arithmetic: transformers, `modeling_sam.py`, `SamPromptEncoder` and `SamPositionalEmbedding`. A handful of numbers, so it is done on the
/// host.
#[derive(Clone, Debug)]
pub struct PromptEncoder {
    /// `[2, width/2]`
    gaussian: Vec<f32>,
    /// Added to a position: outside, inside, first corner, second corner.
    kinds: [Vec<f32>; 4],
    no_point: Vec<f32>,
    no_mask: Tensor<1>,
    width: usize,
    side: f32,
    device: Device,
}

/// Both places of the random directions of the position code; files have either or both.
const GAUSSIAN: [&str; 2] = ["shared_image_embedding.positional_embedding", "prompt_encoder.shared_embedding.positional_embedding"];

impl PromptEncoder {
    /// Reads `prompt_encoder` and the shared position code below `root`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable, or the position code is there twice and not the same.
    pub fn load(root: &Scope<'_>, config: &SamConfig) -> Result<Self, CheckpointError> {
        let width = config.decoder.width;
        let scope = root.at("prompt_encoder");
        let kind = |n: usize| scope.values(&format!("point_embed.{n}.weight"), &[1, width]);
        Ok(Self {
            gaussian: gaussian(root, width)?,
            kinds: [kind(0)?, kind(1)?, kind(2)?, kind(3)?],
            no_point: scope.values("not_a_point_embed.weight", &[1, width])?,
            no_mask: scope.tensor("no_mask_embed.weight", [1, width])?.squeeze_dim(0),
            width,
            side: config.encoder.side as f32,
            device: root.device().clone(),
        })
    }

    /// Code of a position, given as fractions of the network's square.
    fn code(&self, [x, y]: [f32; 2], out: &mut Vec<f32>) {
        let (along_x, along_y) = self.gaussian.split_at(self.width / 2);
        let (x, y) = (2.0 * x - 1.0, 2.0 * y - 1.0);
        let angles = || along_x.iter().zip(along_y).map(move |(gx, gy)| TAU * (x * gx + y * gy));
        out.extend(angles().map(f32::sin));
        out.extend(angles().map(f32::cos));
    }

    /// Tokens of several prompts of equal length.
    ///
    /// # Shapes
    /// `prompts`: the tokens of each prompt → `[prompts, tokens, width]`
    pub fn tokens(&self, prompts: &[Vec<PromptToken>]) -> Tensor<3> {
        let length = prompts.first().map_or(0, Vec::len);
        let mut values = Vec::with_capacity(prompts.len() * length * self.width);
        for token in prompts.iter().flatten() {
            let (place, kind) = match *token {
                PromptToken::NoPoint => {
                    values.extend_from_slice(&self.no_point);
                    continue;
                }
                PromptToken::Outside(place) => (place, 0),
                PromptToken::Inside(place) => (place, 1),
                PromptToken::FirstCorner(place) => (place, 2),
                PromptToken::SecondCorner(place) => (place, 3),
            };
            let start = values.len();
            // Half a pixel: the middle of the pixel that is meant.
            self.code(place.map(|c| (c + 0.5) / self.side), &mut values);
            for (value, added) in values[start..].iter_mut().zip(&self.kinds[kind]) {
                *value += added;
            }
        }
        Tensor::from_data(TensorData::new(values, [prompts.len(), length, self.width]), &self.device)
    }

    /// Codes of the centres of a grid, row by row.
    ///
    /// # Shapes
    /// → `[1, grid·grid, width]`
    pub fn grid(&self, grid: usize) -> Tensor<3> {
        let mut values = Vec::with_capacity(grid * grid * self.width);
        let middle = |i: usize| (i as f32 + 0.5) / grid as f32;
        for y in 0..grid {
            for x in 0..grid {
                self.code([middle(x), middle(y)], &mut values);
            }
        }
        Tensor::from_data(TensorData::new(values, [1, grid * grid, self.width]), &self.device)
    }

    /// What is added to every cell of the embedding when no mask is given as a prompt.
    ///
    /// # Shapes
    /// → `[1, 1, width]`
    pub fn no_mask(&self) -> Tensor<3> {
        self.no_mask.clone().reshape([1, 1, self.width])
    }
}

fn gaussian(root: &Scope<'_>, width: usize) -> Result<Vec<f32>, CheckpointError> {
    let read = |name: &str| root.values(name, &[2, width / 2]);
    match GAUSSIAN.map(|name| root.has(name)) {
        [true, true] => {
            let (first, second) = (read(GAUSSIAN[0])?, read(GAUSSIAN[1])?);
            if first != second {
                return Err(root.weights().not_tied(GAUSSIAN[0], GAUSSIAN[1]));
            }
            Ok(first)
        }
        [false, true] => read(GAUSSIAN[1]),
        _ => read(GAUSSIAN[0]),
    }
}
