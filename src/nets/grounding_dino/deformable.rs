//! Deformable attention: each query looks at a few learnt places of every level instead of at all cells.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, `GroundingDinoMultiscaleDeformableAttention`.

use burn::tensor::activation::softmax;
use burn::tensor::ops::{GridSampleOptions, GridSamplePaddingMode, InterpolateMode};
use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;

use crate::nets::NetError;
use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::Linear;

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
    /// * `query`: `[1, queries, width]`, positions added
    /// * `source`: `[1, cells, width]`
    /// * output: `[1, queries, width]`
    ///
    /// # Errors
    /// When the device fails.
    pub fn forward(&self, query: Tensor<3>, source: Tensor<3>, reference: &Reference, pyramid: &Pyramid) -> Result<Tensor<3>, NetError> {
        let [_, queries, width] = query.dims();
        let device = query.device();
        let (heads, levels, points) = (self.heads, self.levels, self.points);
        let places = heads * levels * points;
        let linear = self.points_linear.forward(query);
        let offsets = linear.clone().narrow(2, 0, 2 * places).reshape([queries, heads, levels, points, 2]);
        let weights = softmax(linear.narrow(2, 2 * places, places).reshape([queries, heads, levels * points]), 2);
        let sampled = Sampled {
            value: self.value.forward(source).squeeze_dim::<2>(0),
            cells: cells_of(offsets, reference, pyramid, points),
            weights,
        };
        let seen = if on_host(&device) { sampled.on_host(pyramid)? } else { sampled.on_device(pyramid) };
        Ok(self.output.forward(seen.reshape([1, queries, width])))
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

/// Whether tensors of `device` lie in the program's own memory, where a plain loop is faster than tensor operations.
fn on_host(device: &Device) -> bool {
    #[cfg(feature = "flex")]
    {
        *device == Device::flex()
    }
    #[cfg(not(feature = "flex"))]
    {
        let _ = device;
        false
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

    /// As [`Sampled::on_device`], by loops over the values in memory.
    ///
    /// # Errors
    /// When the values cannot be read.
    fn on_host(self, pyramid: &Pyramid) -> Result<Tensor<2>, NetError> {
        let Self { value, cells, weights } = self;
        let [queries, heads, _, points, _] = cells.dims();
        let [_, width] = value.dims();
        let device = value.device();
        let dim = width / heads;
        let value = value.try_into_vec_as::<f32>()?;
        let cells = cells.try_into_vec_as::<f32>()?;
        let weights = weights.try_into_vec_as::<f32>()?;
        let places = heads * pyramid.levels.len() * points;
        let mut out = vec![0f32; queries * width];
        let rows = out.par_chunks_mut(width).zip(cells.par_chunks(2 * places)).zip(weights.par_chunks(places));
        rows.with_min_len(16).for_each(|((out, cells), weights)| {
            let per_head = places / heads;
            for head in 0..heads {
                let target = &mut out[head * dim..][..dim];
                let values = &value[head * dim..];
                for (place, weight) in weights[head * per_head..][..per_head].iter().enumerate() {
                    let at = &cells[2 * (head * per_head + place)..][..2];
                    add_sample(target, values, width, pyramid.levels[place / points], [at[0], at[1]], *weight);
                }
            }
        });
        Ok(Tensor::from_data(TensorData::new(out, [queries, width]), &device))
    }
}

/// Adds `weight` times the bilinear sample at `x, y` (in cells) to `target`; cells outside of the level count as zeros.
fn add_sample(target: &mut [f32], values: &[f32], width: usize, level: LevelSize, [x, y]: [f32; 2], weight: f32) {
    let (left, top) = (x.floor(), y.floor());
    let (right_part, lower_part) = (x - left, y - top);
    for (row, row_part) in [(top, 1.0 - lower_part), (top + 1.0, lower_part)] {
        for (column, column_part) in [(left, 1.0 - right_part), (left + 1.0, right_part)] {
            if row < 0.0 || column < 0.0 || row >= level.rows as f32 || column >= level.columns as f32 {
                continue;
            }
            let cell = level.start + row as usize * level.columns + column as usize;
            let factor = weight * row_part * column_part;
            for (sum, value) in target.iter_mut().zip(&values[cell * width..]) {
                *sum += factor * value;
            }
        }
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;

    /// Two levels, 2×3 and 1×2 cells; one head of two channels; two queries with two points a level.
    fn sampled(cells: Vec<f32>) -> (Sampled, Pyramid) {
        let device = Device::flex();
        let pyramid = Pyramid::new(&[[2, 3], [1, 2]]);
        let value: Vec<f32> = (0..16).map(|i| if i % 2 == 0 { i as f32 } else { (i * i) as f32 }).collect();
        let sampled = Sampled {
            value: Tensor::from_data(TensorData::new(value, [8, 2]), &device),
            cells: Tensor::from_data(TensorData::new(cells, [2, 1, 2, 2, 2]), &device),
            weights: Tensor::from_floats([[[0.5, 0.25, 0.125, 0.125]], [[1.0, 0.0, 2.0, -1.0]]], &device),
        };
        (sampled, pyramid)
    }

    #[test]
    fn samples_by_hand() {
        // Channel 0 of a cell is twice its number. Query 0: between cells 0, 1, 3, 4 (mean 4); half outside left of cell 3 (3);
        // on cell 7 (14); outside (0). Query 1: on cell 5 (10); unweighted; half outside right of cell 7 (7); on cell 6 (12).
        let cells = vec![0.5, 0.5, -0.5, 1.0, 1.0, 0.0, 5.0, 5.0, 2.0, 1.0, 9.0, 9.0, 1.5, 0.0, 0.0, 0.0];
        let expected = [0.5 * 4.0 + 0.25 * 3.0 + 0.125 * 14.0, 10.0 + 2.0 * 7.0 - 12.0];
        let (on_host, pyramid) = sampled(cells.clone());
        let found = on_host.on_host(&pyramid).expect("values").into_data().try_to_vec::<f32>().expect("floats");
        assert_eq!([found[0], found[2]], expected);
        // Both ways of sampling agree, in the other channel too.
        let on_device = sampled(cells).0.on_device(&pyramid).into_data().try_to_vec::<f32>().expect("floats");
        for (a, b) in found.iter().zip(&on_device) {
            assert!((a - b).abs() < 1e-4, "{found:?} {on_device:?}");
        }
    }
}
