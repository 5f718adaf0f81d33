//! Sizes of a network, read off the shapes of its tensors.

use super::{CheckpointError, Weights};

impl Weights {
    /// The length of a tensor along an axis.
    ///
    /// # Errors
    /// [`CheckpointError::Inferred`] when there is no such tensor or axis.
    pub fn side(&self, name: &str, axis: usize) -> Result<usize, CheckpointError> {
        let side = self.shape(name).and_then(|shape| shape.get(axis)).copied();
        side.ok_or_else(|| self.not_inferred(name, "it is missing or has too few axes"))
    }

    /// How many of `before.0.after`, `before.1.after`, … there are.
    pub fn numbered(&self, before: &str, after: &str) -> usize {
        (0..).take_while(|number| self.has(&format!("{before}.{number}.{after}"))).count()
    }

    /// `whole / part`.
    ///
    /// # Errors
    /// [`CheckpointError::Inferred`], naming the tensor that `whole` comes from, when it is no whole number of parts.
    pub fn parts(&self, name: &str, whole: usize, part: usize) -> Result<usize, CheckpointError> {
        if part > 0 && whole > 0 && whole.is_multiple_of(part) {
            return Ok(whole / part);
        }
        Err(self.not_inferred(name, &format!("{whole} is no multiple of {part}")))
    }

    /// The root of a whole number.
    ///
    /// # Errors
    /// [`CheckpointError::Inferred`], naming the tensor that it comes from, when it is no square.
    pub fn root_of(&self, name: &str, square: usize) -> Result<usize, CheckpointError> {
        let root = square.isqrt();
        if root * root == square { Ok(root) } else { Err(self.not_inferred(name, &format!("{square} is no square"))) }
    }

    fn not_inferred(&self, name: &str, why: &str) -> CheckpointError {
        CheckpointError::Inferred { path: self.path().to_owned(), tensor: name.to_owned(), why: why.to_owned() }
    }
}
