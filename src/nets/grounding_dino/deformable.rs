//! Deformable attention: each query looks at a few learnt places of every level instead of at all cells.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, `GroundingDinoMultiscaleDeformableAttention`.

use burn::tensor::activation::softmax;
use burn::tensor::ops::{GridSampleOptions, GridSamplePaddingMode, InterpolateMode};
use burn::tensor::{Device, Tensor, TensorData};

#[cfg(feature = "flex")]
use super::sampling::HostSampling;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::Linear;
#[cfg(feature = "flex")]
use crate::nets::layers::host;

/// One level of a [`Pyramid`]: a map of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelSize {
    pub rows: usize,
    pub columns: usize,
    /// Number of cells before it.
    pub start: usize,
}

/// The levels whose cells stand one after another, finest first, rows before columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pyramid {
    pub levels: Vec<LevelSize>,
    /// Cells of all levels.
    pub cells: usize,
}

impl Pyramid {
    /// From `[rows, columns]` of each level.
    pub fn new(sizes: &[[usize; 2]]) -> Self {
        let mut cells = 0;
        let levels = sizes
            .iter()
            .map(|&[rows, columns]| {
                let start = cells;
                cells += rows * columns;
                LevelSize { rows, columns, start }
            })
            .collect();
        Self { levels, cells }
    }

    /// Centre of each cell as fractions of its level, and the level's number.
    pub fn centres(&self) -> impl Iterator<Item = ([f32; 2], usize)> {
        self.levels.iter().enumerate().flat_map(|(number, level)| {
            let fraction = |i: usize, n: usize| (i as f32 + 0.5) / n as f32;
            (0..level.rows * level.columns)
                .map(move |i| ([fraction(i % level.columns, level.columns), fraction(i / level.columns, level.rows)], number))
        })
    }

    /// Columns and rows of the levels, `[1, 1, levels, 1, 2]`.
    fn sizes(&self, device: &Device) -> Tensor<5> {
        let values: Vec<f32> = self.levels.iter().flat_map(|level| [level.columns as f32, level.rows as f32]).collect();
        Tensor::from_data(TensorData::new(values, [1, 1, self.levels.len(), 1, 2]), device)
    }
}

/// Where the queries are, as fractions of the picture.
#[derive(Clone)]
pub enum Reference {
    /// `[queries, 2]`: x, y. Offsets count in cells of each level.
    Points(Tensor<2>),
    /// `[queries, 4]`: x, y, width, height. Offsets count in halves of the box, shared among the points.
    Boxes(Tensor<2>),
}

/// The layer.
#[derive(Clone, Debug)]
pub struct Deformable {
    /// Offsets and scores of all points, side by side.
    points_linear: Linear,
    value: Linear,
    output: Linear,
    heads: usize,
    levels: usize,
    points: usize,
}

/// What the layer works on.
pub struct Asked<'a> {
    /// `[1, queries, width]`, positions added.
    pub query: Tensor<3>,
    /// `[1, cells, width]`
    pub source: Tensor<3>,
    pub reference: &'a Reference,
    pub pyramid: &'a Pyramid,
}

/// Sizes of [`Deformable`].
#[derive(Clone, Copy, Debug)]
pub struct DeformableSizes {
    pub width: usize,
    pub heads: usize,
    pub levels: usize,
    /// Places that each head looks at in each level.
    pub points: usize,
}

impl Deformable {
    /// Reads the layer from `scope`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub fn load(scope: &Scope<'_>, sizes: DeformableSizes) -> Result<Self, CheckpointError> {
        let DeformableSizes { width, heads, levels, points } = sizes;
        let places = heads * levels * points;
        Ok(Self {
            points_linear: Linear::joined(vec![
                Linear::load(&scope.at("sampling_offsets"), width, 2 * places)?,
                Linear::load(&scope.at("attention_weights"), width, places)?,
            ]),
            value: Linear::load(&scope.at("value_proj"), width, width)?,
            output: Linear::load(&scope.at("output_proj"), width, width)?,
            heads,
            levels,
            points,
        })
    }

    /// # Shapes
    /// * output: `[1, queries, width]`, added to `residual` of the same shape
    pub fn forward_onto(&self, asked: Asked<'_>, residual: Tensor<3>) -> Tensor<3> {
        let Asked { query, source, reference, pyramid } = asked;
        let [_, queries, width] = query.dims();
        let (heads, levels, points) = (self.heads, self.levels, self.points);
        let places = heads * levels * points;
        let linear = self.points_linear.forward(query);
        let value = self.value.forward(source);
        #[cfg(feature = "flex")]
        if host::on_host(&value.device()) {
            return self.output.forward_onto(self.on_host(linear, value, reference, pyramid), residual);
        }
        let offsets = linear.clone().narrow(2, 0, 2 * places).reshape([queries, heads, levels, points, 2]);
        let weights = softmax(linear.narrow(2, 2 * places, places).reshape([queries, heads, levels * points]), 2);
        let sampled = Sampled { value: value.squeeze_dim::<2>(0), cells: cells_of(offsets, reference, pyramid, points), weights };
        self.output.forward_onto(sampled.on_device(pyramid).reshape([1, queries, width]), residual)
    }

    /// # Shapes
    /// * `asked`: `[1, queries, 3·heads·levels·points]`, offsets before weights
    /// * `value`: `[1, cells, width]`
    /// * output: `[1, queries, width]`
    #[cfg(feature = "flex")]
    fn on_host(&self, asked: Tensor<3>, value: Tensor<3>, reference: &Reference, pyramid: &Pyramid) -> Tensor<3> {
        let ([_, queries, _], [_, _, width], device) = (asked.dims(), value.dims(), value.device());
        let (Reference::Points(reference) | Reference::Boxes(reference)) = reference;
        let (asked, value, reference) = (host::Values::of(asked), host::Values::of(value), host::Values::of(reference.clone()));
        let sampling = HostSampling {
            values: value.as_slice(),
            width,
            asked: asked.as_slice(),
            reference: reference.as_slice(),
            heads: self.heads,
            points: self.points,
            pyramid,
        };
        Tensor::from_data(TensorData::new(sampling.run(), [1, queries, width]), &device)
    }
}

/// Places to look at, in cells of each level; 0 is the centre of the first cell.
///
/// # Shapes
/// * `offsets`: `[queries, heads, levels, points, 2]`
/// * output: the same
fn cells_of(offsets: Tensor<5>, reference: &Reference, pyramid: &Pyramid, points: usize) -> Tensor<5> {
    let sizes = pyramid.sizes(&offsets.device());
    match reference {
        Reference::Points(xy) => {
            let [queries, _] = xy.dims();
            // (xy + offset/size)·size − ½
            xy.clone().reshape([queries, 1, 1, 1, 2]) * sizes - 0.5 + offsets
        }
        Reference::Boxes(boxes) => {
            let [queries, _] = boxes.dims();
            let xy = boxes.clone().narrow(1, 0, 2).reshape([queries, 1, 1, 1, 2]);
            let wh = boxes.clone().narrow(1, 2, 2).reshape([queries, 1, 1, 1, 2]);
            (xy + offsets * wh * (0.5 / points as f64)) * sizes - 0.5
        }
    }
}

/// Values to be sampled, and how.
struct Sampled {
    /// `[cells, width]`
    value: Tensor<2>,
    /// `[queries, heads, levels, points, 2]`: x, y in cells.
    cells: Tensor<5>,
    /// `[queries, heads, levels·points]`
    weights: Tensor<3>,
}

impl Sampled {
    /// The weighted sum of bilinear samples; zeros outside of a level.
    ///
    /// # Shapes
    /// output: `[queries, width]`
    fn on_device(self, pyramid: &Pyramid) -> Tensor<2> {
        let Self { value, cells, weights } = self;
        let [queries, heads, _, points, _] = cells.dims();
        let [_, width] = value.dims();
        let dim = width / heads;
        let options =
            GridSampleOptions::new(InterpolateMode::Bilinear).with_padding_mode(GridSamplePaddingMode::Zeros).with_align_corners(false);
        let parts = pyramid.levels.iter().enumerate().map(|(number, level)| {
            let LevelSize { rows, columns, start } = *level;
            let map = value.clone().narrow(0, start, rows * columns).reshape([rows * columns, heads, dim]).permute([1, 2, 0]);
            let sizes = Tensor::<1>::from_floats([columns as f32, rows as f32], &value.device()).reshape([1, 1, 1, 2]);
            let at = cells.clone().narrow(2, number, 1).squeeze_dim::<4>(2).swap_dims(0, 1);
            // The sampler counts from −1 to 1 across the level.
            let grid = (at * 2.0 + 1.0) / sizes - 1.0;
            let seen: Tensor<4> = map.reshape([heads, dim, rows, columns]).grid_sample_2d(grid, options.clone());
            let weight = weights.clone().narrow(2, number * points, points).swap_dims(0, 1).unsqueeze_dim::<4>(1);
            (seen * weight).sum_dim(3).squeeze_dim::<3>(3)
        });
        let sum = parts.reduce(|a, b| a + b);
        let sum = sum.unwrap_or_else(|| Tensor::zeros([heads, dim, queries], &value.device()));
        sum.permute([2, 0, 1]).reshape([queries, width])
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;

    #[test]
    fn samples_by_hand_in_both_ways() {
        // Two levels, 2×3 and 1×2 cells; one head of two channels; two queries with two points a level. Channel 0 of a cell is twice its
        // number. Query 0: between cells 0, 1, 3, 4 (mean 4); half outside left of cell 3 (3); on cell 7 (14); outside (0).
        // Query 1: on cell 5 (10); outside (0); half outside right of cell 7 (7); on cell 6 (12).
        let cells = [0.5, 0.5, -0.5, 1.0, 1.0, 0.0, 5.0, 5.0, 2.0, 1.0, 9.0, 9.0, 1.5, 0.0, 0.0, 0.0];
        let weights = [0.5f32, 0.25, 0.125, 0.125];
        let expected = [0.5 * 4.0 + 0.25 * 3.0 + 0.125 * 14.0, 0.5 * 10.0 + 0.125 * 7.0 + 0.125 * 12.0];
        let device = Device::flex();
        let pyramid = Pyramid::new(&[[2, 3], [1, 2]]);
        let values: Vec<f32> = (0..16).map(|i| if i % 2 == 0 { i as f32 } else { (i * i) as f32 }).collect();
        let sampled = Sampled {
            value: Tensor::from_data(TensorData::new(values.clone(), [8, 2]), &device),
            cells: Tensor::from_data(TensorData::new(cells.to_vec(), [2, 1, 2, 2, 2]), &device),
            weights: Tensor::from_data(TensorData::new([weights, weights].concat(), [2, 1, 4]), &device),
        };
        let on_device = sampled.on_device(&pyramid).into_data().try_to_vec::<f32>().expect("floats");
        // The same places as offsets from the left upper corner (half a cell before the first centre), the weights as logarithms.
        let asked: Vec<f32> = cells.chunks(8).flat_map(|of_query| of_query.iter().map(|at| at + 0.5).chain(weights.map(f32::ln))).collect();
        let (width, heads, points) = (2, 1, 2);
        let on_host = HostSampling { values: &values, width, asked: &asked, reference: &[0.0; 4], heads, points, pyramid: &pyramid }.run();
        for (query, expected) in expected.into_iter().enumerate() {
            assert!((on_host[2 * query] - expected).abs() < 1e-5, "{on_host:?}");
        }
        // Both ways agree, in the other channel too.
        for (a, b) in on_host.iter().zip(&on_device) {
            assert!((a - b).abs() < 1e-4, "{on_host:?} {on_device:?}");
        }
    }
}
