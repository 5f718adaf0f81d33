//! What other metrics say of an edit after a correction.
//!
//! Correcting an edit makes a new score, and metrics hang on scores. What they say of the whole picture is as true as before, so it goes
//! over to the new score; what they say of the zones of a region that is another one now does not. Metrics of pixels are measured again
//! beside the window; zones that need a network wait until the edit is scored again, and say so.

use crate::domain::rle::Rle;
use crate::domain::{Baseline, BaselineNeeds, Baselines, Outcome, Parse, Profile, Score, Zoned};
use crate::metrics::baselines::Texts;
use crate::storage::{EditId, Project, StorageError};

/// Why a zone has no number any more.
pub const REGION_CHANGED: &str = "the region was corrected since this was measured: score this edit again";
/// Why a comparison with words has none.
const WORDS_CHANGED: &str = "the parse was corrected since this was measured: score this edit again";

/// What is known of an edit before its score is made anew.
pub struct Before {
    baselines: Baselines,
    mask: Option<Rle>,
    parse: Parse,
}

/// What other metrics say beside the newest score of an edit; `None` where there is nothing, or where a picture is another one now.
///
/// # Errors
/// When the project cannot be read.
pub fn before(project: &Project, edit: EditId, profile: Profile) -> Result<Option<Before>, StorageError> {
    let Some((run, baselines)) = project.newest_baselines(edit, profile)?.filter(|(_, baselines)| !baselines.is_empty()) else {
        return Ok(None);
    };
    if !project.changed_pictures_of(edit)?.is_empty() {
        return Ok(None);
    }
    let stored = project.score_in_run(run, edit)?;
    Ok(stored.map(|stored| Before { baselines, mask: stored.score.mask, parse: stored.score.parse }))
}

/// Puts what still holds beside the newest score of an edit, which is `score`.
///
/// # Errors
/// When the project cannot be read or written.
pub fn carry(project: &Project, edit: EditId, before: Before, score: &Score) -> Result<(), StorageError> {
    let Some((run, known)) = project.newest_baselines(edit, score.profile)? else { return Ok(()) };
    let stored = project.edit(edit)?;
    let item = project.item(stored.item)?;
    let texts = |parse: &Parse| Texts::of(&item.instruction, parse, &item.extra, &stored.extra);
    let same = Same { region: before.mask == score.mask, words: texts(&before.parse) == texts(&score.parse) };
    let missing = before.baselines.into_iter().filter(|(name, _)| !known.contains_key(name));
    project.put_baselines(run, edit, &missing.map(|(name, zoned)| (name.clone(), same.held(&name, zoned))).collect())
}

/// What two scores of an edit have in common.
#[derive(Clone, Copy)]
struct Same {
    region: bool,
    words: bool,
}

impl Same {
    /// What still holds of a metric.
    fn held(self, name: &str, mut zoned: Zoned) -> Zoned {
        let baseline = Baseline::from_name(name);
        let of_words = matches!(baseline, Some(Baseline::ClipT | Baseline::ClipDirection));
        if of_words && !self.words {
            return Zoned::uniform(&Outcome::NotApplicable(WORDS_CHANGED.to_owned()));
        }
        // Of a metric that this program does not know, zones are taken to be those of the region.
        if !self.region && baseline.is_none_or(Baseline::has_zones) {
            (zoned.inside, zoned.outside) = (waits(), waits());
        }
        zoned
    }
}

fn waits() -> Outcome<f64> {
    Outcome::NotApplicable(REGION_CHANGED.to_owned())
}

/// Whether a metric has to be measured again, whatever else stands there.
pub fn is_outdated(zoned: &Zoned) -> bool {
    [&zoned.whole, &zoned.inside, &zoned.outside].into_iter().any(|outcome| matches!(outcome.why(), Some(REGION_CHANGED | WORDS_CHANGED)))
}

/// Whether some metric beside a score needs only pixels and has to be measured again.
pub fn outdated_pixels(known: &Baselines) -> bool {
    let of_pixels = |name: &str| Baseline::from_name(name).is_some_and(|baseline| baseline.needs() == BaselineNeeds::Pixels);
    known.iter().any(|(name, zoned)| of_pixels(name) && is_outdated(zoned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_picture_keeps_its_number_and_zones_and_words_only_while_they_are_the_same() {
        let zoned = || Zoned {
            whole: Outcome::Value(0.5),
            inside: Outcome::Value(0.25),
            outside: Outcome::NotApplicable("no pixel".into()),
            note: "n".into(),
        };
        let other_region = Same { region: false, words: true };
        let l1 = other_region.held("l1", zoned());
        assert_eq!(
            (l1.whole.clone(), l1.inside.why(), l1.outside.why()),
            (Outcome::Value(0.5), Some(REGION_CHANGED), Some(REGION_CHANGED))
        );
        assert!(is_outdated(&l1) && outdated_pixels(&Baselines::from([("l1".to_owned(), l1)])));
        // CLIP looks at the whole picture at once.
        let clip = other_region.held("clip-i", zoned());
        assert!(clip == zoned() && !is_outdated(&clip));
        let lpips = other_region.held("lpips-alex", zoned());
        assert!(is_outdated(&lpips) && !outdated_pixels(&Baselines::from([("lpips-alex".to_owned(), lpips)])));
        let other_words = Same { region: true, words: false };
        assert_eq!(other_words.held("l1", zoned()), zoned());
        assert_eq!(other_words.held("clip-t", zoned()).whole.why(), Some(WORDS_CHANGED));
        assert_eq!(other_words.held("clip-i", zoned()), zoned());
    }
}
