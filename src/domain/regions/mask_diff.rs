//! What differs between two masks, small when little changed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::domain::{Mask, Size};

/// The pixels in which two masks of one size differ. Applying it to either gives the other, so it is its own inverse.
///
/// Two encodings, whichever is shorter: runs of differing pixels in row-major order (gap and length as little-endian base-128 numbers; a
/// brush stroke takes a few bytes a row, an inversion a handful in all), or the bits of the rows that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskDiff {
    size: Size,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Runs(Vec<u8>),
    /// Rows from `first` on, each in whole little-endian words.
    Bits {
        first: u32,
        bits: Vec<u8>,
    },
}

/// Why a difference cannot be applied.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MaskDiffError {
    #[error("the change is for a mask of {diff}, the mask is {mask}")]
    OtherSize { diff: Size, mask: Size },
    #[error("the change of a mask is cut or leaves the picture")]
    Broken,
}

impl MaskDiff {
    /// What differs; `None` when the masks are equal or of different size.
    pub fn between(before: &Mask, after: &Mask) -> Option<Self> {
        let size = before.size();
        if size != after.size() {
            return None;
        }
        let mut runs = RunWriter::default();
        let mut rows: Option<(u32, u32)> = None;
        let mut differing = Mask::empty(Size::new(size.width, 1));
        for y in 0..size.height {
            if before.row(y) == after.row(y) {
                continue;
            }
            rows = Some((rows.map_or(y, |(first, _)| first), y));
            let pairs = before.row(y).iter().zip(after.row(y));
            differing.row_mut(0).iter_mut().zip(pairs).for_each(|(to, (a, b))| *to = a ^ b);
            let start = u64::from(y) * u64::from(size.width);
            differing.runs(0).for_each(|run| runs.push(start + u64::from(run.start), start + u64::from(run.end)));
        }
        let (first, last) = rows?;
        let runs = runs.finish();
        let words_per_row = before.row(0).len();
        let content = if runs.len() <= (last - first + 1) as usize * words_per_row * 8 {
            Content::Runs(runs)
        } else {
            let rows = (first..=last).flat_map(|y| before.row(y).iter().zip(after.row(y)));
            Content::Bits { first, bits: rows.flat_map(|(a, b)| (a ^ b).to_le_bytes()).collect() }
        };
        Some(Self { size, content })
    }

    /// Turns one of the two masks into the other.
    ///
    /// # Errors
    /// When the mask has another size, or the difference is damaged; the mask may be half changed in the latter case.
    pub fn apply(&self, mask: &mut Mask) -> Result<(), MaskDiffError> {
        if mask.size() != self.size {
            return Err(MaskDiffError::OtherSize { diff: self.size, mask: mask.size() });
        }
        match &self.content {
            Content::Runs(bytes) => self.apply_runs(bytes, mask),
            Content::Bits { first, bits } => self.apply_bits(*first, bits, mask),
        }
    }

    fn apply_runs(&self, bytes: &[u8], mask: &mut Mask) -> Result<(), MaskDiffError> {
        let width = u64::from(self.size.width);
        let (mut rest, mut at) = (bytes, 0u64);
        while !rest.is_empty() {
            let start = at.checked_add(read_number(&mut rest)?).ok_or(MaskDiffError::Broken)?;
            let end = start.checked_add(read_number(&mut rest)?).filter(|end| *end <= self.size.pixels()).ok_or(MaskDiffError::Broken)?;
            at = start;
            while at < end {
                let (y, x) = (at / width, at % width);
                let stop = (end - at + x).min(width);
                mask.flip_span(y as u32, x as u32, stop as u32);
                at += stop - x;
            }
        }
        Ok(())
    }

    fn apply_bits(&self, first: u32, bits: &[u8], mask: &mut Mask) -> Result<(), MaskDiffError> {
        let row_bytes = (self.size.width as usize).div_ceil(64) * 8;
        if row_bytes == 0 || !bits.len().is_multiple_of(row_bytes) {
            return Err(MaskDiffError::Broken);
        }
        let unused = u64::from(self.size.width).next_multiple_of(64) - u64::from(self.size.width);
        for (y, row) in (u64::from(first)..).zip(bits.chunks_exact(row_bytes)) {
            let Ok(y) = u32::try_from(y) else { return Err(MaskDiffError::Broken) };
            if y >= self.size.height {
                return Err(MaskDiffError::Broken);
            }
            let (words, _) = row.as_chunks::<8>();
            let words = words.iter().map(|chunk| u64::from_le_bytes(*chunk));
            mask.row_mut(y).iter_mut().zip(words).for_each(|(to, word)| *to ^= word);
            if let Some(last) = mask.row_mut(y).last_mut() {
                *last &= u64::MAX >> unused;
            }
        }
        Ok(())
    }

    /// Bytes that it takes in memory, which is also about what it takes on disk.
    pub fn bytes(&self) -> usize {
        match &self.content {
            Content::Runs(bytes) | Content::Bits { bits: bytes, .. } => bytes.len(),
        }
    }
}

/// Runs as numbers of seven bits a byte, the eighth saying that more follow.
#[derive(Default)]
struct RunWriter {
    bytes: Vec<u8>,
    written: u64,
    /// Begun and not yet written: rows that differ to their ends give one run.
    open: Option<(u64, u64)>,
}

impl RunWriter {
    fn push(&mut self, start: u64, end: u64) {
        match &mut self.open {
            Some((_, open_end)) if *open_end == start => *open_end = end,
            _ => {
                self.flush();
                self.open = Some((start, end));
            }
        }
    }

    fn flush(&mut self) {
        if let Some((start, end)) = self.open.take() {
            write_number(start - self.written, &mut self.bytes);
            write_number(end - start, &mut self.bytes);
            self.written = end;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.bytes
    }
}

fn write_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Result<u64, MaskDiffError> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let (&byte, rest) = bytes.split_first().ok_or(MaskDiffError::Broken)?;
        *bytes = rest;
        // Positions in a mask need 64 bits at most; masks are far smaller.
        if shift > 56 {
            return Err(MaskDiffError::Broken);
        }
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
        shift += 7;
    }
}

/// As JSON: size and base64.
#[derive(Serialize, Deserialize)]
struct Written {
    width: u32,
    height: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_row: Option<u32>,
    /// Runs, or bits when `first_row` is given.
    flipped: String,
}

impl Serialize for MaskDiff {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (first_row, bytes) = match &self.content {
            Content::Runs(bytes) => (None, bytes),
            Content::Bits { first, bits } => (Some(*first), bits),
        };
        Written { width: self.size.width, height: self.size.height, first_row, flipped: STANDARD_NO_PAD.encode(bytes) }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MaskDiff {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let bytes = STANDARD_NO_PAD.decode(written.flipped).map_err(serde::de::Error::custom)?;
        let content = match written.first_row {
            None => Content::Runs(bytes),
            Some(first) => Content::Bits { first, bits: bytes },
        };
        Ok(Self { size: Size::new(written.width, written.height), content })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Point;
    use crate::domain::mask_ops::Brush;

    #[test]
    fn a_stroke_on_a_large_mask_is_no_copy_of_it() {
        let size = Size::new(8193, 8193);
        let before = Mask::from_fn(size, |x, y| (x / 64 + y / 64) % 2 == 0);
        let mut after = before.clone();
        Brush { diameter: 101 }.stroke(&mut after, Point::new(1000.0, 1000.0), Point::new(5000.0, 3000.0), true);
        let diff = MaskDiff::between(&before, &after).unwrap(); // they differ
        // The mask takes 8.4 MB. The stroke touches about 2,100 rows, in each 64-pixel squares that alternate.
        assert!(diff.bytes() < 40_000, "{}", diff.bytes());
        let mut back = after.clone();
        diff.apply(&mut back).unwrap(); // same size
        assert_eq!(back, before);
        // An inversion is one run.
        let mut inverted = before.clone();
        inverted.invert();
        assert!(MaskDiff::between(&before, &inverted).unwrap().bytes() < 16); // they differ
    }

    #[test]
    fn a_difference_is_never_larger_than_the_rows_it_touches() {
        let size = Size::new(200, 50);
        let (before, after) = (Mask::empty(size), Mask::from_fn(size, |x, y| (x + y) % 2 == 0 && y > 10));
        let diff = MaskDiff::between(&before, &after).unwrap(); // they differ
        assert!(diff.bytes() <= 39 * 4 * 8, "{}", diff.bytes());
    }

    #[test]
    fn damage_is_an_error_and_not_a_panic() {
        let mut mask = Mask::empty(Size::new(4, 4));
        let diff = |flipped: &str, first_row: &str| {
            let json = format!(r#"{{"width":4,"height":4{first_row},"flipped":"{flipped}"}}"#);
            serde_json::from_str::<MaskDiff>(&json).unwrap() // valid JSON
        };
        // "gA" is one byte 0x80 that promises another; "/w" likewise; "ABE" a run of 17 pixels in a picture of 16.
        for (flipped, first_row) in
            [("gA", ""), ("/w", ""), ("ABE", ""), ("AAAA", r#","first_row":0"#), ("AAAAAAAAAAA", r#","first_row":9"#)]
        {
            assert_eq!(diff(flipped, first_row).apply(&mut mask), Err(MaskDiffError::Broken), "{flipped}");
        }
        assert!(matches!(diff("ABA", "").apply(&mut Mask::empty(Size::new(5, 4))), Err(MaskDiffError::OtherSize { .. })));
        diff("ABA", "").apply(&mut mask).unwrap(); // a run of 16
        assert!(mask.is_full());
    }

    proptest! {
        #[test]
        fn differences_lead_there_and_back(
            w in 1u32..140, h in 1u32..12, a in proptest::collection::vec(any::<u8>(), 140 * 12), many in any::<bool>()
        ) {
            let size = Size::new(w, h);
            let bit = |x: u32, y: u32, n: u32| a[(y * 140 + x) as usize] >> n & 1 == 1;
            let before = Mask::from_fn(size, |x, y| bit(x, y, 0));
            // Either nearly every pixel may differ, or one in 64.
            let after = Mask::from_fn(size, |x, y| bit(x, y, 0) ^ if many { bit(x, y, 1) } else { a[(y * 140 + x) as usize] > 251 });
            let Some(diff) = MaskDiff::between(&before, &after) else {
                prop_assert_eq!(before, after);
                return Ok(());
            };
            let json = serde_json::to_string(&diff).unwrap(); // plain data
            let diff: MaskDiff = serde_json::from_str(&json).unwrap(); // written above
            let mut mask = before.clone();
            prop_assert_eq!(diff.apply(&mut mask), Ok(()));
            prop_assert_eq!(&mask, &after);
            prop_assert_eq!(diff.apply(&mut mask), Ok(()));
            prop_assert_eq!(&mask, &before);
        }
    }
}
