//! The groups that an edit belongs to, for splits.

use std::collections::BTreeMap;

use crate::domain::rle::{Counts, Rle};
use crate::domain::{FieldWords, Score};

/// Local or global edits.
pub const BY_SCOPE: &str = "scope";
/// The type of the parse.
pub const BY_TYPE: &str = "edit-type";
/// The share of the source that the edit region covers.
pub const BY_REGION: &str = "region-size";
/// Why a score wants a look.
pub const BY_FLAG: &str = "flag";

/// The splits that scores allow; the one by model needs none (see [`super::BY_MODEL`]).
pub const SPLITS: [&str; 5] = [BY_SCOPE, BY_TYPE, super::BY_MODEL, BY_REGION, BY_FLAG];

/// Upper ends of the groups of region sizes, as shares of the picture; the last group has none.
const SIZES: [(f64, &str); 3] = [(0.05, "1: below 5 %"), (0.20, "2: 5 to 20 %"), (0.50, "3: 20 to 50 %")];

/// The groups of a scored edit. `flags` are the words of its flags.
pub fn labels_of(score: &Score, flags: &[&str]) -> BTreeMap<String, Vec<String>> {
    let one = |text: &str| vec![text.to_owned()];
    let flags = if flags.is_empty() { one("no flag") } else { flags.iter().map(|flag| (*flag).to_owned()).collect() };
    [
        (BY_SCOPE, one(if score.global { "global" } else { "local" })),
        (BY_TYPE, one(&type_of(&score.parse.edit_type))),
        (BY_REGION, one(size_of(score.mask.as_ref()))),
        (BY_FLAG, flags),
    ]
    .map(|(split, groups)| (split.to_owned(), groups))
    .into()
}

/// The type as the parse words it, without the full stop that language models add.
fn type_of(text: &str) -> String {
    let plain = text.trim().trim_end_matches('.').to_lowercase();
    if FieldWords(&plain).is_none() { "not given".to_owned() } else { plain }
}

fn size_of(mask: Option<&Rle>) -> &'static str {
    let Some((set, pixels)) = mask.and_then(|mask| Some((set_pixels(mask)?, u64::from(mask.size[0]) * u64::from(mask.size[1])))) else {
        return "0: no region";
    };
    if set == 0 || pixels == 0 {
        return "0: no region";
    }
    let share = set as f64 / pixels as f64;
    SIZES.iter().find(|(end, _)| share < *end).map_or("4: 50 % and more", |(_, name)| name)
}

/// Number of set pixels; `None` for an encoding that is broken.
fn set_pixels(mask: &Rle) -> Option<u64> {
    match &mask.counts {
        Counts::Runs(runs) => Some(runs.iter().skip(1).step_by(2).map(|&run| u64::from(run)).sum()),
        Counts::Packed(_) => mask.to_mask().ok().map(|mask| mask.count()),
    }
}
