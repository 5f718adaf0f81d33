//! Functions of many numbers, written so that the compiler makes vector instructions of them.
//!
//! `pulp` compiles a closure for each instruction set and takes the best at run time. No multiplication is fused with an addition, so every
//! processor gives the same numbers. The polynomials were fitted for this file by weighted least squares on Chebyshev nodes, raising the
//! weight where the relative error was largest (Lawson's method).

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LOG2_E};

use pulp::Arch;

use crate::nets::layers::Activation;

/// Numbers that are worked on side by side: two AVX2 registers, so that one addition need not wait for the last.
const LANES: usize = 16;

/// Runs `work` compiled for this processor's vector instructions.
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// eˣ, within 1.2e-7 of itself between −87 and 88; 0 below, and held at the upper end above.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// 1.5·2²³: adding it leaves the nearest whole number in the lowest bits.
    const SHIFT: f32 = 12_582_912.0;
    /// ln 2 in two parts, the first short enough that its multiples are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let below = x < -87.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * LOG2_E + SHIFT;
    let whole = shifted - SHIFT;
    let r = (x - whole * LN_2[0]) - whole * LN_2[1];
    // eʳ = 1 + r + r²·s(r) for |r| ≤ ln 2 / 2; relative error of the fit 3e-9.
    let s = (((1.381_461_4e-3 * r + 8.368_71e-3) * r + 4.166_839e-2) * r + 1.666_652_1e-1) * r + 4.999_999_4e-1;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()));
    if below { 0.0 } else { ((s * r) * r + r + 1.0) * power }
}

/// The error function, within 4e-7 of itself.
#[inline(always)]
fn erf(x: f32) -> f32 {
    // x·p(x²)/q(x²), relative error of the fit 2e-8 up to 3.92, where erf is 1 to f32.
    let x = x.clamp(-3.92, 3.92);
    let t = x * x;
    let p = ((((2.050_105_6e-6 * t + 2.848_79e-4) * t + 3.765_476_6e-3) * t + 5.274_829_6e-2) * t + 1.904_032_8e-1) * t + FRAC_2_SQRT_PI;
    let q = ((((3.809_170_8e-5 * t + 1.162_500_2e-3) * t + 1.496_893_8e-2) * t + 1.141_077_9e-1) * t + 5.020_732e-1) * t + 1.0;
    (x * p / q).clamp(-1.0, 1.0)
}

#[inline(always)]
fn quick_gelu(x: f32) -> f32 {
    x / (1.0 + exp(-1.702 * x))
}

#[inline(always)]
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * FRAC_1_SQRT_2))
}

/// What is added to each row of a product, and what is done then.
#[derive(Clone, Copy, Default)]
pub struct After<'a> {
    /// `[width]`, the same for every row.
    pub bias: Option<&'a [f32]>,
    pub activation: Option<Activation>,
    /// As many numbers as the rows have together; added last.
    pub residual: Option<&'a [f32]>,
}

impl After<'_> {
    /// Changes whole rows of `width` numbers. `begin` is the place of the first in the tensor, for the residual.
    pub fn apply(&self, rows: &mut [f32], width: usize, begin: usize) {
        vectorised(
            #[inline(always)]
            || {
                for (n, row) in rows.chunks_exact_mut(width).enumerate() {
                    if let Some(bias) = self.bias {
                        for (value, bias) in row.iter_mut().zip(bias) {
                            *value += bias;
                        }
                    }
                    match self.activation {
                        None => {}
                        Some(Activation::Gelu) => row.iter_mut().for_each(|value| *value = gelu(*value)),
                        Some(Activation::QuickGelu) => row.iter_mut().for_each(|value| *value = quick_gelu(*value)),
                        // Keeps what is not a number, so that it is found at the end.
                        Some(Activation::Relu) => row.iter_mut().for_each(|value| *value = if *value < 0.0 { 0.0 } else { *value }),
                    }
                    if let Some(residual) = self.residual {
                        for (value, residual) in row.iter_mut().zip(&residual[begin + n * width..]) {
                            *value += residual;
                        }
                    }
                }
            },
        );
    }
}

/// Folds a row in [`LANES`] lanes, which are joined at the end.
#[inline(always)]
fn fold(row: &[f32], start: f32, join: impl Fn(f32, f32) -> f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [start; LANES];
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = join(*lane, value);
        }
    }
    lanes.iter().chain(rest).fold(start, |a, &b| join(a, b))
}

/// Replaces a row of scores by e to the power of its distance from the largest, and gives the sum. A softmax is this divided by the sum.
///
/// An empty row has the sum 0.
#[inline(always)]
pub fn softmax_unscaled(row: &mut [f32]) -> f32 {
    let largest = fold(row, f32::NEG_INFINITY, |a, b| if b > a { b } else { a });
    for value in row.iter_mut() {
        *value = exp(*value - largest);
    }
    fold(row, 0.0, |a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// e^x by the definition in double precision, and erf by its Taylor series (DLMF 7.6.1) in double precision.
    fn erf_series(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    }

    #[test]
    fn exponentials_are_within_float_noise() {
        for i in -8700..=8800 {
            let x = i as f32 / 100.0;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) / expected - 1.0).abs() < 1.5e-7, "{x}: {} {expected}", exp(x));
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-88.0) == 0.0 && exp(f32::NEG_INFINITY) == 0.0 && exp(f32::NAN).is_nan());
    }

    #[test]
    fn the_error_function_is_within_float_noise() {
        for i in -392..=392 {
            let x = i as f32 / 100.0;
            let expected = erf_series(f64::from(x));
            assert!((f64::from(erf(x)) - expected).abs() < 4e-7 * expected.abs().max(1e-3), "{x}: {} {expected}", erf(x));
        }
        assert_eq!([erf(5.0), erf(-5.0), erf(0.0)], [1.0, -1.0, 0.0]);
        assert_eq!(gelu(-100.0), 0.0);
        assert!(erf(f32::NAN).is_nan());
    }

    #[test]
    fn rows_by_hand() {
        let (bias, residual) = ([1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 10.0, 20.0, 30.0]);
        let after = After { bias: Some(&bias), activation: Some(Activation::Relu), residual: Some(&residual) };
        let mut rows = [-3.0, 2.0, 5.0];
        // The second row of the tensor: max(0, −3 + 1) + 10, max(0, 2 − 1) + 20, max(0, 5) + 30.
        after.apply(&mut rows, 3, 3);
        assert_eq!(rows, [10.0, 21.0, 35.0]);
    }

    #[test]
    fn softmax_by_hand() {
        // e^0 = 1 and e^(−ln 2) = ½; a row longer than the lanes.
        let mut row = vec![-std::f32::consts::LN_2; 37];
        row[20] = 0.0;
        let sum = softmax_unscaled(&mut row);
        assert!((sum - 19.0).abs() < 1e-5 && row[20] == 1.0 && (row[36] - 0.5).abs() < 1e-7, "{sum} {row:?}");
    }
}
