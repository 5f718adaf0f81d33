//! Baseline metrics within a run: which ones are wanted, and what each needs.

use std::str::FromStr;

use image::RgbImage;

use crate::domain::{Baseline, BaselineNeeds, Baselines, Outcome, Score, Zoned};
use crate::metrics::baselines::{self, Aligned, Texts};
use crate::metrics::ports::{ImageTextEncoder, PortError};
use crate::storage::{StoredEdit, StoredItem};

use super::baseline_networks::{BaselineNetworks, is_fetched};
use super::cache::ResultCache;

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

    /// The baselines that this choice computes on this machine as it is now.
    fn computable(self) -> Vec<Baseline> {
        let wanted = |baseline: &Baseline| match (self, baseline.needs()) {
            (Self::None, _) | (Self::Pixels, BaselineNeeds::Clip | BaselineNeeds::Network(_)) => false,
            (Self::Pixels | Self::All, BaselineNeeds::Pixels) | (Self::All, BaselineNeeds::Clip) => true,
            (Self::All, BaselineNeeds::Network(name)) => is_fetched(name),
        };
        Baseline::ALL.into_iter().filter(wanted).collect()
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

/// Leaves only what `choice` asks for, and fills in, for every baseline of it that a scored edit does not have, why it has no value: a
/// network that was not fetched, or a score that was made without it (by an older program, or with `--baselines none`).
///
/// These reasons are never stored, because they change with the machine.
pub fn complete_baselines(found: &mut Baselines, choice: BaselineChoice) {
    let asked = |baseline: Baseline| match choice {
        BaselineChoice::None => false,
        BaselineChoice::Pixels => baseline.needs() == BaselineNeeds::Pixels,
        BaselineChoice::All => true,
    };
    found.retain(|name, _| Baseline::from_name(name).map_or(choice == BaselineChoice::All, asked));
    for baseline in Baseline::ALL.into_iter().filter(|&baseline| asked(baseline)) {
        found.entry(baseline.name().to_owned()).or_insert_with(|| {
            let why = match baseline.needs() {
                BaselineNeeds::Network(name) if !is_fetched(name) => {
                    format!("the network is not fetched: `editscope models fetch {name}`, then score again")
                }
                _ => "not computed: score again".to_owned(),
            };
            Zoned::uniform(&Outcome::NotApplicable(why))
        });
    }
}

/// The baselines that one run computes, decided when it begins.
pub struct Wanted(Vec<Baseline>);

impl Wanted {
    /// What `choice` means on this machine now.
    pub fn of(choice: BaselineChoice) -> Self {
        Self(choice.computable())
    }

    /// Those that an edit does not have yet, or that failed when they were last computed.
    pub fn lacking(&self, known: Option<&Baselines>) -> Self {
        let lacks = |baseline: &Baseline| match known.and_then(|known| known.get(baseline.name())) {
            None => true,
            Some(zoned) => matches!(zoned.whole, Outcome::Failed(_)),
        };
        Self(self.0.iter().copied().filter(lacks).collect())
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, needs: BaselineNeeds) -> bool {
        self.0.iter().any(|baseline| baseline.needs() == needs)
    }
}

/// A scored pair.
#[derive(Clone, Copy)]
pub struct ScoredPair<'a> {
    pub source: &'a RgbImage,
    pub edit: &'a RgbImage,
    pub score: &'a Score,
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
    pub fn pixels_and_clip(
        &self,
        wanted: &Wanted,
        item: &StoredItem,
        edit: &StoredEdit,
        encoder: &mut dyn ImageTextEncoder,
    ) -> Result<Baselines, PortError> {
        let mut found = Baselines::new();
        if wanted.has(BaselineNeeds::Pixels) {
            found.extend(self.aligned(baselines::from_pixels));
        }
        if wanted.has(BaselineNeeds::Clip) {
            let texts = Texts::of(&item.instruction, &self.score.parse, &item.extra, &edit.extra);
            found.extend(baselines::clip(self.source, self.edit, &texts, encoder)?);
        }
        Ok(found)
    }

    /// The baselines that have a network of their own; `networks` loads each when it is first needed.
    ///
    /// # Errors
    /// Only when the run is cancelled.
    pub fn own_networks(
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
            let (name, zoned) = match baseline {
                Baseline::DinoVits16 | Baseline::DinoVitb8 => {
                    networks.with_dino(baseline, cache, |net| baselines::dino(self.source, self.edit, baseline, net))
                }
                _ => self.aligned(|pair| networks.with_lpips(baseline, |net| baselines::lpips(pair, baseline, net))),
            }
            .unwrap_or_else(|why| Ok((baseline.name().to_owned(), Zoned::uniform(&Outcome::Failed(why)))))?;
            found.insert(name, zoned);
        }
        Ok(found)
    }
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
        assert_eq!(wanted.lacking(Some(&known)).0, [Baseline::ClipI]);
        assert_eq!(wanted.lacking(None).0, wanted.0);
    }

    #[test]
    fn what_is_missing_says_what_to_do() {
        let mut found = Baselines::from([("l1".to_owned(), Zoned::uniform(&Outcome::Value(0.1)))]);
        complete_baselines(&mut found, BaselineChoice::All);
        assert_eq!(found.len(), Baseline::ALL.len());
        assert_eq!(found["l1"].whole, Outcome::Value(0.1));
        assert_eq!(found["ssim"].whole.why(), Some("not computed: score again"));
        complete_baselines(&mut found, BaselineChoice::Pixels);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["l1", "l2", "pixel-l2", "psnr", "ssim"]);
        complete_baselines(&mut found, BaselineChoice::None);
        assert!(found.is_empty());
    }
}
