//! Sine position embeddings of pixels, tokens and boxes.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, `GroundingDinoSinePositionEmbedding` and `get_sine_pos_embed`.

use std::f32::consts::TAU;

use burn::tensor::{Int, Tensor, TensorData};

/// Temperature of the positions of tokens and boxes; that of cells is in the configuration.
const TEMPERATURE: f32 = 10_000.0;

/// `temperature^(2·pair/width)` for each pair of channels.
fn frequencies(width: usize, temperature: f32) -> Vec<f32> {
    (0..width / 2).map(|pair| temperature.powf(2.0 * pair as f32 / width as f32)).collect()
}

/// Sine and cosine in turn of each position, `frequencies.len()·2` channels each. Positions are already times 2π.
fn sines(positions: impl Iterator<Item = f32>, frequencies: &[f32]) -> Vec<f32> {
    let pair = |angle: f32| [angle.sin(), angle.cos()];
    positions.flat_map(|position| frequencies.iter().flat_map(move |frequency| pair(position / frequency))).collect()
}

/// Positions of a level's cells, row-major: `width/2` channels of y, then of x.
///
/// # Shapes
/// output: `rows·columns × width`, flattened
pub fn of_cells(rows: usize, columns: usize, width: usize, temperature: f32) -> Vec<f32> {
    // Counts from 1, divided by the last count: without padding every cell of the level counts.
    let places = |n: usize| (0..n).map(move |i| (i + 1) as f32 / (n as f32 + 1e-6) * TAU);
    let frequencies = frequencies(width / 2, temperature);
    let (of_rows, of_columns) = (sines(places(rows), &frequencies), sines(places(columns), &frequencies));
    let mut out = Vec::with_capacity(rows * columns * width);
    for row in of_rows.chunks_exact(width / 2) {
        for column in of_columns.chunks_exact(width / 2) {
            out.extend_from_slice(row);
            out.extend_from_slice(column);
        }
    }
    out
}

/// Positions of tokens within their phrases.
///
/// # Shapes
/// output: `tokens × width`, flattened
pub fn of_tokens(positions: &[usize], width: usize) -> Vec<f32> {
    sines(positions.iter().map(|&at| at as f32 * TAU), &frequencies(width, TEMPERATURE))
}

/// Positions of boxes (cx, cy, w, h as fractions): `width/2` channels each of y, x, w, h.
///
/// # Shapes
/// * `boxes`: `[1, queries, 4]`
/// * output: `[1, queries, 2·width]`
pub fn of_boxes(boxes: Tensor<3>, width: usize) -> Tensor<3> {
    let [batch, queries, _] = boxes.dims();
    let device = boxes.device();
    let frequencies = frequencies(width / 2, TEMPERATURE);
    let pairs = frequencies.len();
    let frequencies = Tensor::<4>::from_data(TensorData::new(frequencies, [1, 1, 1, pairs]), &device);
    let order = Tensor::<1, Int>::from_ints([1, 0, 2, 3], &device);
    let angles: Tensor<4> = (boxes.select(2, order) * TAU).unsqueeze_dim::<4>(3) / frequencies;
    Tensor::stack::<5>(vec![angles.clone().sin(), angles.cos()], 4).reshape([batch, queries, 8 * pairs])
}
