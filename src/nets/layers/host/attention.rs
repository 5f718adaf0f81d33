//! Attention over rows in memory: scores of a block of queries, their softmax, and the weighted sum, before the next block.
//!
//! Queries, keys and values are read where the layer before has written them, in any regular steps, and the result is written with the heads
//! side by side, so that nothing is permuted before or after. Biases are added while the softmax is taken.

use rayon::prelude::*;

use super::product::{Matrix, product};
use super::vector::{softmax_unscaled, vectorised};

/// Rows of one kind (queries, keys or values) of all batches and heads.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    pub values: &'a [f32],
    /// From one batch to the next; 0 where all share one.
    pub batch_step: usize,
    /// From one token to the next. Heads stand side by side.
    pub token_step: usize,
    pub tokens: usize,
}

impl<'a> Rows<'a> {
    /// The tokens `from..from + count` of one batch and head.
    fn matrix(&self, batch: usize, head: usize, dim: usize, from: usize, count: usize) -> Matrix<'a> {
        let start = batch * self.batch_step + head * dim + from * self.token_step;
        Matrix { values: &self.values[start..], rows: count, columns: dim, steps: [self.token_step, 1] }
    }
}

/// Numbers that are added to the scores: `[batches or 1, heads or 1, queries, keys]`.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    pub values: &'a [f32],
    /// From one batch to the next, and from one head to the next; 0 where all share one.
    pub steps: [usize; 2],
}

/// Relative positions of queries and keys on a square (`SamVisionAttention.add_decomposed_rel_pos`): a query adds its product with a
/// vector for the rows between itself and a key, and with one for the columns.
#[derive(Clone, Copy)]
pub struct Grid<'a> {
    /// `[2·side − 1, dim]`, from the key that is farthest below to the one farthest above (the published order, turned round, so that the
    /// keys of a query stand in their own order).
    pub rows: &'a [f32],
    /// The same from right to left.
    pub columns: &'a [f32],
    pub side: usize,
}

/// All that attention needs to know.
#[derive(Clone, Copy)]
pub struct HostAttention<'a> {
    pub query: Rows<'a>,
    pub key: Rows<'a>,
    pub value: Rows<'a>,
    pub batches: usize,
    pub heads: usize,
    pub dim: usize,
    /// Factor of q·kᵀ.
    pub scale: f32,
    /// Each query sees only keys up to its own number.
    pub causal: bool,
    pub terms: &'a [Terms<'a>],
    pub grid: Option<Grid<'a>>,
}

/// Scores that are held at a time, per thread. Each block brings the keys into the order of the product anew, so it should not be small.
const SCORES: usize = 1024 * 1024;

/// Buffers that one thread goes on using.
#[derive(Default)]
pub struct Scratch {
    scores: Vec<f32>,
    /// Products with the vectors of rows and columns.
    positions: [Vec<f32>; 2],
    sums: Vec<f32>,
}

impl<'a> HostAttention<'a> {
    /// Plain attention between query, key and value, scaled by 1/√dim.
    pub fn new([query, key, value]: [Rows<'a>; 3], batches: usize, heads: usize, dim: usize) -> Self {
        let scale = (1.0 / (dim as f64).sqrt()) as f32;
        Self { query, key, value, batches, heads, dim, scale, causal: false, terms: &[], grid: None }
    }

    /// The same between tokens whose query, key and value stand side by side: `qkv` is `[batches, tokens, 3·width]`.
    pub fn packed(qkv: &'a [f32], [batches, tokens, packed]: [usize; 3], heads: usize) -> Self {
        let width = packed / 3;
        let rows = |part: usize| Rows { values: &qkv[part * width..], batch_step: tokens * packed, token_step: packed, tokens };
        Self::new([0, 1, 2].map(rows), batches, heads, width / heads)
    }

    /// softmax(scale·q·kᵀ + terms)·v.
    ///
    /// # Shapes
    /// output: `[batches, queries, heads·dim]`
    pub fn run(&self) -> Vec<f32> {
        let width = self.heads * self.dim;
        let queries = self.query.tokens;
        let mut out = vec![0.0; self.batches * queries * width];
        let block = (SCORES / self.key.tokens.max(1)).clamp(16, 256).min(queries.max(1));
        // Batches of one length lie one after another, so a block belongs to one batch when it is cut within the batch.
        let blocks: Vec<(usize, usize, &mut [f32])> = out
            .chunks_mut((queries * width).max(1))
            .enumerate()
            .flat_map(|(batch, of_batch)| of_batch.chunks_mut(block * width).enumerate().map(move |(n, part)| (batch, n * block, part)))
            .collect();
        blocks.into_par_iter().for_each_init(Scratch::default, |scratch, (batch, from, part)| {
            for head in 0..self.heads {
                self.block(batch, head, from, part, scratch);
            }
        });
        out
    }

    /// One block of queries of one head. `out` holds the rows of the block with all heads.
    pub(super) fn block(&self, batch: usize, head: usize, from: usize, out: &mut [f32], scratch: &mut Scratch) {
        let (width, dim, keys) = (self.heads * self.dim, self.dim, self.key.tokens);
        let count = out.len() / width;
        let query = self.query.matrix(batch, head, dim, from, count);
        scratch.scores.resize(count * keys, 0.0);
        product(&mut scratch.scores, keys, query, self.key.matrix(batch, head, dim, 0, keys).transposed());
        if let Some(grid) = &self.grid {
            let offsets = 2 * grid.side - 1;
            for (table, positions) in [grid.rows, grid.columns].into_iter().zip(&mut scratch.positions) {
                positions.resize(count * offsets, 0.0);
                product(positions, offsets, query, Matrix { values: table, rows: offsets, columns: dim, steps: [dim, 1] }.transposed());
            }
        }
        scratch.sums.resize(count, 0.0);
        let Scratch { scores, positions, sums } = scratch;
        vectorised(
            #[inline(always)]
            || {
                for (n, (row, sum)) in scores.chunks_exact_mut(keys).zip(sums.iter_mut()).enumerate() {
                    self.add_terms(batch, head, from + n, n, row, positions);
                    let seen = if self.causal { (from + n + 1).min(keys) } else { keys };
                    let (row, unseen) = row.split_at_mut(seen);
                    unseen.fill(0.0);
                    *sum = softmax_unscaled(row);
                }
            },
        );
        let scores = Matrix { values: scores, rows: count, columns: keys, steps: [keys, 1] };
        product(&mut out[head * dim..], width, scores, self.value.matrix(batch, head, dim, 0, keys));
        for (row, sum) in out.chunks_mut(width).zip(sums.iter()) {
            let share = 1.0 / sum;
            row[head * dim..][..dim].iter_mut().for_each(|value| *value *= share);
        }
    }

    /// Scales the scores of query `number`, the `n`th of its block, and adds what belongs to them.
    #[inline(always)]
    fn add_terms(&self, batch: usize, head: usize, number: usize, n: usize, row: &mut [f32], positions: &[Vec<f32>; 2]) {
        row.iter_mut().for_each(|score| *score *= self.scale);
        for terms in self.terms {
            let start = batch * terms.steps[0] + head * terms.steps[1] + number * row.len();
            for (score, term) in row.iter_mut().zip(&terms.values[start..]) {
                *score += term;
            }
        }
        if let Some(Grid { side, .. }) = self.grid {
            let offsets = 2 * side - 1;
            let of_query = |table: usize, at: usize| &positions[table][n * offsets + side - 1 - at..][..side];
            let (of_rows, of_columns) = (of_query(0, number / side), of_query(1, number % side));
            for (line, of_row) in row.chunks_exact_mut(side).zip(of_rows) {
                for (score, of_column) in line.iter_mut().zip(of_columns) {
                    *score += of_row + of_column;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that repeat late, between −1 and 1.
    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f32 / 1001.0 - 1.0).collect()
    }

    /// The definition, number by number in double precision.
    fn plain(a: &HostAttention<'_>) -> Vec<f64> {
        let (width, queries, keys) = (a.heads * a.dim, a.query.tokens, a.key.tokens);
        let mut out = vec![0.0; a.batches * queries * width];
        let at = |rows: &Rows<'_>, b: usize, h: usize, t: usize, d: usize| {
            f64::from(rows.values[b * rows.batch_step + t * rows.token_step + h * a.dim + d])
        };
        for (b, h, q) in (0..a.batches).flat_map(|b| (0..a.heads).flat_map(move |h| (0..queries).map(move |q| (b, h, q)))) {
            let scores: Vec<f64> = (0..keys)
                .map(|k| {
                    let dot: f64 = (0..a.dim).map(|d| at(&a.query, b, h, q, d) * at(&a.key, b, h, k, d)).sum();
                    let terms: f64 = a.terms.iter().map(|t| f64::from(t.values[b * t.steps[0] + h * t.steps[1] + q * keys + k])).sum();
                    let place = a.grid.map_or(0.0, |grid| {
                        let with = |table: &[f32], query: usize, key: usize| -> f64 {
                            // From the definition: the published table is indexed query − key + side − 1; here it is turned round.
                            let offset = key + grid.side - 1 - query;
                            (0..a.dim).map(|d| at(&a.query, b, h, q, d) * f64::from(table[offset * a.dim + d])).sum()
                        };
                        with(grid.rows, q / grid.side, k / grid.side) + with(grid.columns, q % grid.side, k % grid.side)
                    });
                    if a.causal && k > q { f64::NEG_INFINITY } else { f64::from(a.scale) * dot + terms + place }
                })
                .collect();
            let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores.iter().map(|s| (s - largest).exp()).sum();
            for d in 0..a.dim {
                let seen: f64 = scores.iter().enumerate().map(|(k, s)| (s - largest).exp() / sum * at(&a.value, b, h, k, d)).sum();
                out[(b * queries + q) * width + h * a.dim + d] = seen;
            }
        }
        out
    }

    fn check(attention: &HostAttention<'_>) {
        for (n, (found, expected)) in attention.run().iter().zip(plain(attention)).enumerate() {
            assert!((f64::from(*found) - expected).abs() < 2e-6, "{n}: {found} {expected}");
        }
    }

    #[test]
    fn packed_rows_with_every_kind_of_term_agree_with_the_definition() {
        let (batches, heads, dim, side) = (2, 3, 5, 4);
        let (tokens, width) = (side * side, heads * dim);
        let packed = numbers(batches * tokens * 3 * width, 1);
        let of_heads = numbers(heads * tokens * tokens, 2);
        let of_batches = numbers(batches * tokens * tokens, 3);
        let (of_rows, of_columns) = (numbers(7 * dim, 4), numbers(7 * dim, 5));
        let plain = HostAttention { scale: 0.4, ..HostAttention::packed(&packed, [batches, tokens, 3 * width], heads) };
        check(&plain);
        check(&HostAttention { causal: true, ..plain });
        let by_head = Terms { values: &of_heads, steps: [0, tokens * tokens] };
        let by_batch = Terms { values: &of_batches, steps: [tokens * tokens, 0] };
        check(&HostAttention { terms: &[by_head, by_batch], ..plain });
        check(&HostAttention { grid: Some(Grid { rows: &of_rows, columns: &of_columns, side }), ..plain });
    }

    #[test]
    fn many_queries_of_one_batch_with_shared_keys_agree_with_the_definition() {
        let (heads, dim, queries, keys) = (2, 4, 700, 3);
        let (q, kv) = (numbers(2 * queries * heads * dim, 6), numbers(2 * keys * heads * dim, 7));
        let width = heads * dim;
        let query = Rows { values: &q, batch_step: queries * width, token_step: width, tokens: queries };
        let key = Rows { values: &kv, batch_step: 0, token_step: width, tokens: keys };
        check(&HostAttention::new([query, key, Rows { values: &kv[keys * width..], ..key }], 2, heads, dim));
    }
}
