//! Floating-point numbers as files store them.

use burn::tensor::{bf16, f16};

/// A type of stored numbers that weights may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    F16,
    Bf16,
    F32,
    F64,
}

impl Number {
    /// Bytes of one number.
    pub const fn size(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Appends little-endian numbers as `f32`; a rest that is no whole number is left out.
    pub fn append(self, values: &mut Vec<f32>, bytes: &[u8]) {
        match self {
            Self::F16 => values.extend(bytes.as_chunks::<2>().0.iter().map(|&b| f16::from_le_bytes(b).to_f32())),
            Self::Bf16 => values.extend(bytes.as_chunks::<2>().0.iter().map(|&b| bf16::from_le_bytes(b).to_f32())),
            Self::F32 => values.extend(bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b))),
            Self::F64 => values.extend(bytes.as_chunks::<8>().0.iter().map(|&b| f64::from_le_bytes(b) as f32)),
        }
    }
}
