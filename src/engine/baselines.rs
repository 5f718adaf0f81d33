//! Baseline metrics within a run: which ones are wanted, and what each needs.

use std::str::FromStr;

use image::RgbImage;

use crate::domain::{Baseline, BaselineNeeds, Baselines, Outcome, Profile, Score, Zoned};
use crate::metrics::baselines::{self, Aligned, Texts};
use crate::metrics::ports::{ImageTextEncoder, PortError};
use crate::storage::{EditId, Project, StorageError, StoredEdit, StoredItem};

use super::baseline_networks::{BaselineNetworks, is_fetched};
use super::cache::{ProjectCache, ResultCache};
use super::evaluate::{Run, picture};
use super::measured;
use super::messages::{Event, Level};
use super::networks::NetworkSlot;

/// Which baselines a run computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum BaselineChoice {
    /// BPM alone.
    None,
    /// Those that need only the pixels.
    Pixels,
    /// Also those of CLIP, and of every network of the catalog that was fetched.
    #[default]
    All,
}

impl BaselineChoice {
    /// All choices, in the order they are offered.
    pub const ALL: [Self; 3] = [Self::None, Self::Pixels, Self::All];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pixels => "pixels",
            Self::All => "all",
        }
    }

    /// Whether a baseline is among those asked for, computable or not.
    fn asks_for(self, baseline: Baseline) -> bool {
        match self {
            Self::None => false,
            Self::Pixels => baseline.needs() == BaselineNeeds::Pixels,
            Self::All => true,
        }
    }

    /// Those of them that this machine can compute now.
    fn computable(self) -> Vec<Baseline> {
        let there = |baseline: &Baseline| match baseline.needs() {
            BaselineNeeds::Network(name) => is_fetched(name),
            BaselineNeeds::Pixels | BaselineNeeds::Clip => true,
        };
        Baseline::ALL.into_iter().filter(|&baseline| self.asks_for(baseline)).filter(there).collect()
    }
}

impl FromStr for BaselineChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|choice| choice.name() == text)
            .ok_or_else(|| format!("there is no choice '{text}' of baselines; take one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// What a choice of baselines shows on this machine as it is now. Looks for networks once, however many edits are completed.
pub struct BaselineView {
    choice: BaselineChoice,
    /// Networks of the catalog that are not there.
    missing: Vec<&'static str>,
}

impl BaselineView {
    /// Looks which networks are there.
    pub fn of(choice: BaselineChoice) -> Self {
        let network = |baseline: Baseline| match baseline.needs() {
            BaselineNeeds::Network(name) if choice.asks_for(baseline) => Some(name),
            _ => None,
        };
        Self { choice, missing: Baseline::ALL.into_iter().filter_map(network).filter(|name| !is_fetched(name)).collect() }
    }

    /// Leaves only what the choice asks for, and fills in, for every baseline of it that a scored edit does not have, why it has no value:
    /// a network that was not fetched, or a score that was made without it (by an older program, or with `--baselines none`).
    ///
    /// These reasons are never stored, because they change with the machine.
    pub fn complete(&self, found: &mut Baselines) {
        let choice = self.choice;
        found.retain(|name, _| Baseline::from_name(name).map_or(choice == BaselineChoice::All, |baseline| choice.asks_for(baseline)));
        for baseline in Baseline::ALL.into_iter().filter(|&baseline| choice.asks_for(baseline)) {
            found.entry(baseline.name().to_owned()).or_insert_with(|| {
                let why = match baseline.needs() {
                    BaselineNeeds::Network(name) if self.missing.contains(&name) => {
                        format!("the network is not fetched: `editscope models fetch {name}`, then score again")
                    }
                    _ => "not computed: score again".to_owned(),
                };
                Zoned::uniform(&Outcome::NotApplicable(why))
            });
        }
    }
}

/// The baselines that one run computes, decided when it begins.
pub struct Wanted(Vec<Baseline>);

impl Wanted {
    /// What `choice` means on this machine now.
    pub fn of(choice: BaselineChoice) -> Self {
        Self(choice.computable())
    }

    /// Those that an edit does not have yet, that failed when they were last computed, or that were computed before a correction.
    fn lacking(&self, known: &Baselines) -> Self {
        let again = |zoned: &Zoned| matches!(zoned.whole, Outcome::Failed(_)) || measured::is_outdated(zoned);
        let lacks = |baseline: &Baseline| known.get(baseline.name()).is_none_or(again);
        Self(self.0.iter().copied().filter(lacks).collect())
    }

    /// Whether there is nothing to compute.
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, needs: BaselineNeeds) -> bool {
        self.0.iter().any(|baseline| baseline.needs() == needs)
    }
}

/// A scored pair.
struct ScoredPair<'a> {
    source: &'a RgbImage,
    edit: &'a RgbImage,
    score: &'a Score,
}

impl ScoredPair<'_> {
    /// Hands the pair at one size, with the region of its score, to `work`.
    fn aligned<T>(&self, work: impl FnOnce(&Aligned<'_>) -> T) -> T {
        let region = match &self.score.mask {
            Some(rle) => rle.to_mask().map_err(|error| format!("the edit region of the score is broken: {error}")),
            None if self.score.global => Err("the whole picture was to change, so there is no edit region".to_owned()),
            None => Err("the score has no edit region".to_owned()),
        };
        work(&Aligned::new(self.source, self.edit, region.as_ref().map_err(String::as_str)))
    }

    /// The baselines that need no network but the metric's own CLIP.
    ///
    /// # Errors
    /// Only when the run is cancelled: what fails is a failed value.
    fn pixels_and_clip(&self, wanted: &Wanted, texts: &Texts, encoder: &mut dyn ImageTextEncoder) -> Result<Baselines, PortError> {
        let mut found = Baselines::new();
        if wanted.has(BaselineNeeds::Pixels) {
            found.extend(self.aligned(baselines::from_pixels));
        }
        if wanted.has(BaselineNeeds::Clip) {
            found.extend(baselines::clip(self.source, self.edit, texts, encoder)?);
        }
        Ok(found)
    }

    /// The baselines that have a network of their own; `networks` loads each when it is first needed.
    ///
    /// # Errors
    /// Only when the run is cancelled.
    fn own_networks(
        &self,
        wanted: &Wanted,
        networks: &mut BaselineNetworks,
        cache: &dyn ResultCache,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Baselines, PortError> {
        let mut found = Baselines::new();
        for &baseline in &wanted.0 {
            if !matches!(baseline.needs(), BaselineNeeds::Network(_)) {
                continue;
            }
            if cancelled() {
                return Err(PortError::Cancelled);
            }
            let lent = match baseline {
                Baseline::DinoVits16 | Baseline::DinoVitb8 => {
                    networks.with_dino(baseline, cache, |net| baselines::dino(self.source, self.edit, baseline, net))
                }
                _ => self.aligned(|pair| networks.with_lpips(baseline, |net| baselines::lpips(pair, baseline, net))),
            };
            let failed = |why| Ok((baseline.name().to_owned(), Zoned::uniform(&Outcome::Failed(why))));
            let (name, zoned) = lent.unwrap_or_else(failed)?;
            found.insert(name, zoned);
        }
        Ok(found)
    }
}

/// Computes what the counting scores of an item's edits lack of `wanted`, and keeps it beside them: of fresh scores everything, of older
/// ones what was left out or failed, or whose network has been fetched since. Returns whether the run was cancelled.
///
/// A picture that cannot be read costs its edit the baselines; the run goes on and says so.
///
/// # Errors
/// When the project cannot be read or written.
pub fn of_item(
    project: &Project,
    networks: &mut NetworkSlot,
    run: &mut Run<'_>,
    wanted: &Wanted,
    item: &StoredItem,
    edits: &[StoredEdit],
) -> Result<bool, StorageError> {
    let mut source: Option<Result<RgbImage, String>> = None;
    for edit in edits {
        let Some((scored_in, known)) = project.newest_baselines(edit.id, run.request.profile)? else { continue };
        let lacking = wanted.lacking(&known);
        if lacking.is_empty() {
            continue;
        }
        if (run.cancelled)() {
            return Ok(true);
        }
        let Some(stored) = project.score_in_run(scored_in, edit.id)? else { continue };
        let source = source.get_or_insert_with(|| picture(&item.source.path)).as_ref();
        let pictures = source.map_err(|why| format!("the source image: {why}"));
        let pictures =
            pictures.and_then(|source| Ok((source, picture(&edit.picture.path).map_err(|why| format!("the edited image: {why}"))?)));
        let found = match &pictures {
            Ok((source, edited)) => {
                let texts = Texts::of(&item.instruction, &stored.score.parse, &item.extra, &edit.extra);
                let pair = ScoredPair { source, edit: edited, score: &stored.score };
                of_pair(&pair, &lacking, &texts, &ProjectCache(project), networks, run).map_err(|error| match error {
                    PortError::Cancelled => None,
                    error => Some(error.to_string()),
                })
            }
            Err(why) => Err(Some(why.clone())),
        };
        match found {
            Ok(found) => project.put_baselines(scored_in, edit.id, &found)?,
            Err(None) => return Ok(true),
            Err(Some(why)) => (run.emit)(Event::Message {
                level: Level::Warning,
                text: format!("{}: the score holds, but its other metrics cannot be computed: {why}", edit.key),
            }),
        }
    }
    Ok(false)
}

/// Measures the metrics of pixels anew beside the newest score of an edit; says whether there was one.
///
/// # Errors
/// When the project cannot be read or written.
pub(super) fn pixels_again(project: &Project, edit: EditId, profile: Profile, pictures: [&RgbImage; 2]) -> Result<bool, StorageError> {
    let Some((run, known)) = project.newest_baselines(edit, profile)? else { return Ok(false) };
    let Some(stored) = project.score_in_run(run, edit)?.filter(|_| measured::outdated_pixels(&known)) else { return Ok(false) };
    let [source, edited] = pictures;
    let mut found = ScoredPair { source, edit: edited, score: &stored.score }.aligned(baselines::from_pixels);
    // What was not asked for when the edit was scored is not asked for now.
    found.retain(|name, _| known.contains_key(name));
    project.put_baselines(run, edit, &found)?;
    Ok(true)
}

fn of_pair(
    pair: &ScoredPair<'_>,
    lacking: &Wanted,
    texts: &Texts,
    cache: &dyn ResultCache,
    networks: &mut NetworkSlot,
    run: &mut Run<'_>,
) -> Result<Baselines, PortError> {
    let mut found = networks.lend(cache, run.cancelled, run.emit, &mut |nets| pair.pixels_and_clip(lacking, texts, nets.encoder))?;
    found.extend(pair.own_networks(lacking, &mut networks.baselines, cache, run.cancelled)?);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_mean_what_they_say() {
        assert_eq!("pixels".parse(), Ok(BaselineChoice::Pixels));
        let error = "some".parse::<BaselineChoice>().unwrap_err(); // not a choice
        assert!(error.contains("none, pixels, all"), "{error}");
        assert!(Wanted::of(BaselineChoice::None).is_empty());
        assert!(!Wanted::of(BaselineChoice::Pixels).has(BaselineNeeds::Clip));
        assert!(Wanted::of(BaselineChoice::All).has(BaselineNeeds::Clip));
    }

    #[test]
    fn what_is_lacking_is_what_is_not_there_or_failed() {
        let wanted = Wanted(vec![Baseline::L1, Baseline::Psnr, Baseline::ClipI]);
        let known = Baselines::from([
            ("l1".to_owned(), Zoned::uniform(&Outcome::Value(0.1))),
            ("psnr".to_owned(), Zoned::uniform(&Outcome::NotApplicable("identical".into()))),
            ("clip-i".to_owned(), Zoned::uniform(&Outcome::Failed("out of memory".into()))),
        ]);
        assert_eq!(wanted.lacking(&known).0, [Baseline::ClipI]);
        assert_eq!(wanted.lacking(&Baselines::new()).0, wanted.0);
    }

    #[test]
    fn what_is_missing_says_what_to_do() {
        let mut found = Baselines::from([("l1".to_owned(), Zoned::uniform(&Outcome::Value(0.1)))]);
        BaselineView::of(BaselineChoice::All).complete(&mut found);
        assert_eq!(found.len(), Baseline::ALL.len());
        assert_eq!(found["l1"].whole, Outcome::Value(0.1));
        assert_eq!(found["ssim"].whole.why(), Some("not computed: score again"));
        BaselineView::of(BaselineChoice::Pixels).complete(&mut found);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["l1", "l2", "pixel-l2", "psnr", "ssim"]);
        BaselineView::of(BaselineChoice::None).complete(&mut found);
        assert!(found.is_empty());
    }
}
