//! COCO run-length encoding: column-major runs, beginning with a run of zeros, optionally packed into a string.
//!
//! The arithmetic of the string form is that of the COCO API (`maskApi.c`, `rleToString`): differences to the run two
//! before, five bits a character, the sixth bit saying that more follow, offset 48.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::geometry::Size;
use super::mask::Mask;

/// A mask as COCO writes it: `size` is `[height, width]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rle {
    pub size: [u32; 2],
    pub counts: Counts,
}

/// Runs as numbers (uncompressed) or packed in a string (compressed).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Counts {
    Packed(String),
    Runs(Vec<u32>),
}

/// Why a run-length encoding is not a mask.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RleError {
    #[error("RLE runs cover {covered} pixels, but size {height}×{width} has {pixels}")]
    WrongLength { covered: u64, height: u32, width: u32, pixels: u64 },
    #[error("RLE counts string is broken at character {at}")]
    BrokenString { at: usize },
    #[error("RLE size {height}×{width} is more than this program holds as one mask (2^31 pixels)")]
    TooLarge { height: u32, width: u32 },
}

impl Rle {
    /// Encodes with the compressed string form.
    pub fn from_mask(mask: &Mask) -> Self {
        let size = mask.size();
        Self { size: [size.height, size.width], counts: Counts::Packed(pack(&runs_of(mask))) }
    }

    /// Decodes.
    ///
    /// # Errors
    /// When the runs do not cover the picture exactly, the string is broken, or the size is absurd.
    pub fn to_mask(&self) -> Result<Mask, RleError> {
        let [height, width] = self.size;
        let size = Size::new(width, height);
        if size.pixels() > 1 << 31 {
            return Err(RleError::TooLarge { height, width });
        }
        let runs = self.runs()?;
        let covered = runs.iter().map(|&run| u64::from(run)).sum();
        if covered != size.pixels() {
            return Err(RleError::WrongLength { covered, height, width, pixels: size.pixels() });
        }
        // Columns are rows of the transposed mask, where a run is set word by word.
        let mut columns = Mask::empty(Size::new(height, width));
        let (mut at, mut value) = (0u64, false);
        for &run in runs.iter() {
            let end = at + u64::from(run);
            while value && at < end {
                // Both fit: at < size.pixels() was checked above.
                let (x, y) = ((at / u64::from(height)) as u32, at % u64::from(height));
                let stop = (y + end - at).min(u64::from(height));
                columns.set_span(x, y as u32, stop as u32, true);
                at += stop - y;
            }
            at = end;
            value = !value;
        }
        Ok(columns.transposed())
    }

    /// The runs, zeros first, whichever form holds them.
    fn runs(&self) -> Result<Cow<'_, [u32]>, RleError> {
        Ok(match &self.counts {
            Counts::Runs(runs) => Cow::Borrowed(runs),
            Counts::Packed(text) => Cow::Owned(unpack(text)?),
        })
    }

    /// Number of set pixels, without making the mask.
    ///
    /// # Errors
    /// When the string is broken.
    pub fn count(&self) -> Result<u64, RleError> {
        Ok(self.runs()?.iter().skip(1).step_by(2).map(|&run| u64::from(run)).sum())
    }

    /// Whether no pixel is set; `false` for a broken string, of which that is not known.
    pub fn is_empty(&self) -> bool {
        self.count().is_ok_and(|count| count == 0)
    }
}

/// Column-major runs, zeros first (a run of length 0 if the first pixel is set).
fn runs_of(mask: &Mask) -> Vec<u32> {
    let Size { width, height } = mask.size();
    let columns = mask.transposed();
    // Where the last run of set pixels ended, and which one is open: a run may go on in the next column.
    let (mut runs, mut written, mut open) = (Vec::new(), 0u64, None::<(u64, u64)>);
    let mut push = |(start, end): (u64, u64)| {
        // A mask has at most 2^31 pixels (see `Rle::to_mask`), so runs fit.
        runs.extend([(start - written) as u32, (end - start) as u32]);
        written = end;
    };
    for x in 0..width {
        let first = u64::from(x) * u64::from(height);
        for run in columns.runs(x) {
            let (start, end) = (first + u64::from(run.start), first + u64::from(run.end));
            match &mut open {
                Some((_, open_end)) if *open_end == start => *open_end = end,
                _ => {
                    open.replace((start, end)).into_iter().for_each(&mut push);
                }
            }
        }
    }
    open.into_iter().for_each(&mut push);
    let rest = u64::from(width) * u64::from(height) - written;
    if rest > 0 || runs.is_empty() {
        runs.push(rest as u32);
    }
    runs
}

fn pack(runs: &[u32]) -> String {
    let mut text = String::new();
    for (i, &run) in runs.iter().enumerate() {
        let mut rest = i64::from(run) - if i > 2 { i64::from(runs[i - 2]) } else { 0 };
        loop {
            let chunk = (rest & 0x1f) as u8;
            rest >>= 5;
            let more = if chunk & 0x10 != 0 { rest != -1 } else { rest != 0 };
            text.push(char::from(48 + chunk + if more { 0x20 } else { 0 }));
            if !more {
                break;
            }
        }
    }
    text
}

fn unpack(text: &str) -> Result<Vec<u32>, RleError> {
    let mut runs: Vec<u32> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let broken = RleError::BrokenString { at: start };
        let (mut value, mut shift) = (0i64, 0u32);
        loop {
            let Some(chunk) = bytes.get(at).and_then(|byte| byte.checked_sub(48)).filter(|&c| c < 64) else {
                return Err(RleError::BrokenString { at });
            };
            at += 1;
            if shift > 35 {
                return Err(broken);
            }
            value |= i64::from(chunk & 0x1f) << shift;
            shift += 5;
            if chunk & 0x20 == 0 {
                if chunk & 0x10 != 0 {
                    value |= -1 << shift;
                }
                break;
            }
        }
        if runs.len() > 2 {
            value += i64::from(runs[runs.len() - 2]);
        }
        runs.push(u32::try_from(value).map_err(|_| broken)?);
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_known_string_of_the_coco_api() {
        // pycocotools 2.0: encode(asfortranarray([[0,1,1],[0,1,0]])) has runs [2, 3, 1] and counts "231".
        let mask = Mask::from_fn(Size::new(3, 2), |x, y| x == 1 || (x == 2 && y == 0));
        let rle = Rle::from_mask(&mask);
        assert_eq!(rle, Rle { size: [2, 3], counts: Counts::Packed("231".into()) });
        assert_eq!(rle.to_mask(), Ok(mask));
    }

    #[test]
    fn a_first_pixel_that_is_set_begins_with_an_empty_run() {
        let mask = Mask::from_fn(Size::new(2, 1), |x, _| x == 0);
        assert_eq!(runs_of(&mask), [0, 1, 1]);
    }

    #[test]
    fn runs_that_do_not_cover_the_picture_are_refused() {
        let rle = Rle { size: [2, 2], counts: Counts::Runs(vec![1, 2]) };
        assert!(matches!(rle.to_mask(), Err(RleError::WrongLength { covered: 3, .. })));
        let rle = Rle { size: [2, 2], counts: Counts::Packed("q".into()) };
        assert!(matches!(rle.to_mask(), Err(RleError::BrokenString { .. })));
    }

    proptest! {
        #[test]
        fn masks_survive_the_round_trip(w in 1u32..70, h in 1u32..40, bits in proptest::collection::vec(any::<bool>(), 70 * 40)) {
            let mask = Mask::from_fn(Size::new(w, h), |x, y| bits[(y * 70 + x) as usize]);
            let rle = Rle::from_mask(&mask);
            prop_assert_eq!(rle.count(), Ok(mask.count()));
            prop_assert_eq!(rle.is_empty(), mask.is_empty());
            prop_assert_eq!(rle.to_mask(), Ok(mask));
        }

        #[test]
        fn any_string_gives_a_mask_or_an_error(text in ".{0,40}") {
            let _ = Rle { size: [9, 9], counts: Counts::Packed(text) }.to_mask();
        }
    }
}
