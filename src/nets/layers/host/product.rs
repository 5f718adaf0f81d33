//! Products of matrices in slices, without a copy of what is already in memory.

use gemm::Parallelism;

/// A matrix that lies in a slice in regular steps.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    pub values: &'a [f32],
    pub rows: usize,
    pub columns: usize,
    /// From a number to the one below it, and to the one right of it.
    pub steps: [usize; 2],
}

impl Matrix<'_> {
    /// The same numbers with rows and columns exchanged.
    pub fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, steps: [self.steps[1], self.steps[0]], ..self }
    }

    /// Numbers that the slice must have at least.
    fn reach(&self) -> usize {
        if self.rows == 0 || self.columns == 0 { 0 } else { (self.rows - 1) * self.steps[0] + (self.columns - 1) * self.steps[1] + 1 }
    }
}

/// Writes `left · right` to `out`, whose rows lie `step` numbers apart, on the calling thread.
///
/// # Panics
/// When the sizes do not fit one another or a slice is too short for its matrix.
#[allow(unsafe_code, reason = "the products of the crate that burn's CPU code uses are only offered on pointers")]
pub fn product(out: &mut [f32], step: usize, left: Matrix<'_>, right: Matrix<'_>) {
    let (rows, columns, inner) = (left.rows, right.columns, left.columns);
    let written = Matrix { values: out, rows, columns, steps: [step, 1] };
    assert!(inner == right.rows && step >= columns, "the sizes of a product do not fit");
    assert!([written, left, right].iter().all(|m| m.reach() <= m.values.len()), "a matrix reaches beyond its slice");
    // Steps of slices fit in isize, because slices do.
    let [left_row, left_column, right_row, right_column] =
        [left.steps[0], left.steps[1], right.steps[0], right.steps[1]].map(|s| s as isize);
    // SAFETY: every number that is read or written lies `row·step + column·step` behind the beginning of its slice, which the second
    // assertion keeps within the slice; `out` is borrowed mutably, so it overlaps with neither; `step ≥ columns` keeps its rows apart.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            inner,
            out.as_mut_ptr(),
            1,
            step as isize,
            false,
            left.values.as_ptr(),
            left_column,
            left_row,
            right.values.as_ptr(),
            right_column,
            right_row,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_by_hand() {
        // Left 2×2 in a wider slice, right 2×3 given transposed.
        let left = [1.0, 2.0, 99.0, 3.0, 4.0];
        let right = [1.0, 0.0, 10.0, 1.0, 0.0, 2.0];
        let mut out = [7.0; 8];
        let right = Matrix { values: &right, rows: 3, columns: 2, steps: [2, 1] }.transposed();
        product(&mut out, 4, Matrix { values: &left, rows: 2, columns: 2, steps: [3, 1] }, right);
        assert_eq!(out, [1.0, 12.0, 4.0, 7.0, 3.0, 34.0, 8.0, 7.0]);
    }

    #[test]
    #[should_panic(expected = "beyond its slice")]
    fn a_slice_that_is_too_short_is_refused() {
        let values = [0.0; 5];
        let matrix = Matrix { values: &values, rows: 2, columns: 2, steps: [4, 1] };
        product(&mut [0.0; 4], 2, matrix, Matrix { values: &[0.0; 4], rows: 2, columns: 2, steps: [2, 1] });
    }
}
