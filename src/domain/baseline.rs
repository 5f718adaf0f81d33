//! Baselines: the metrics that papers report beside BPM, each for the whole picture, inside and outside the edit region.
//!
//! Every value compares an edit with its *source* (papers that have a reference edit compare with that; a project has none). What is
//! computed stands here in words; how, in `metrics::baselines`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;

/// A metric other than BPM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Baseline {
    L1,
    L2,
    PixelL2,
    Psnr,
    Ssim,
    LpipsAlex,
    LpipsVgg,
    LpipsSqueeze,
    ClipI,
    ClipT,
    ClipDirection,
    DinoVits16,
    DinoVitb8,
}

/// Which end of a metric is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Better {
    Higher,
    Lower,
}

/// What has to be loaded before a baseline can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaselineNeeds {
    /// Only the pixels.
    Pixels,
    /// The CLIP that BPM uses.
    Clip,
    /// A network of its own, by its name in the catalog.
    Network(&'static str),
}

/// The part of the picture that a value speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Zone {
    Whole,
    /// Within the edit region of the score.
    Inside,
    /// The rest: what the instruction did not ask to change.
    Outside,
}

impl Zone {
    /// All zones, in the order they are shown.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Inside, Self::Outside];

    /// The name in files and on screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Inside => "inside",
            Self::Outside => "outside",
        }
    }
}

/// One baseline of one edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Zoned {
    pub whole: Outcome<f64>,
    pub inside: Outcome<f64>,
    pub outside: Outcome<f64>,
    /// What a reader must know beside the numbers, such as the text that a picture was compared with; empty when there is nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl Zoned {
    /// The same outcome for every zone.
    pub fn uniform(outcome: &Outcome<f64>) -> Self {
        Self { whole: outcome.clone(), inside: outcome.clone(), outside: outcome.clone(), note: String::new() }
    }

    /// The value of a zone.
    pub const fn get(&self, zone: Zone) -> &Outcome<f64> {
        match zone {
            Zone::Whole => &self.whole,
            Zone::Inside => &self.inside,
            Zone::Outside => &self.outside,
        }
    }
}

/// The baselines of one edit by name ([`Baseline::name`]).
///
/// Names are text, so that a file of a newer program, with baselines that this one does not know, can still be read and shown.
pub type Baselines = BTreeMap<String, Zoned>;

/// The name of one column of numbers: `ssim` for the whole picture, `ssim.outside` for a zone of it.
pub fn column_name(baseline: &str, zone: Zone) -> String {
    match zone {
        Zone::Whole => baseline.to_owned(),
        zone => format!("{baseline}.{}", zone.name()),
    }
}

/// The outcome in the column of that name.
pub fn baseline_column<'a>(baselines: &'a Baselines, column: &str) -> Option<&'a Outcome<f64>> {
    let (name, zone) = column.split_once('.').unwrap_or((column, Zone::Whole.name()));
    Some(baselines.get(name)?.get(Zone::ALL.into_iter().find(|known| known.name() == zone)?))
}

/// Which end of a column is the good one, by its [`column_name`]; whatever is no baseline is better when it is higher.
pub fn column_better(column: &str) -> Better {
    let name = column.split('.').next().unwrap_or(column);
    Baseline::from_name(name).map_or(Better::Higher, Baseline::better)
}

/// The columns that have a number, in the order of the names.
pub fn columns(baselines: &Baselines) -> BTreeMap<String, f64> {
    let numbers = |(name, zoned): (&String, &Zoned)| Zone::ALL.map(|zone| Some((column_name(name, zone), *zoned.get(zone).value()?)));
    baselines.iter().flat_map(numbers).flatten().collect()
}

impl Better {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Higher => "higher is better",
            Self::Lower => "lower is better",
        }
    }

    /// `value` turned so that higher is better, for statistics that ask which of two edits is preferred.
    pub fn oriented(self, value: f64) -> f64 {
        match self {
            Self::Higher => value,
            Self::Lower => -value,
        }
    }
}

impl Baseline {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 13] = [
        Self::L1,
        Self::L2,
        Self::PixelL2,
        Self::Psnr,
        Self::Ssim,
        Self::LpipsAlex,
        Self::LpipsVgg,
        Self::LpipsSqueeze,
        Self::ClipI,
        Self::ClipT,
        Self::ClipDirection,
        Self::DinoVits16,
        Self::DinoVitb8,
    ];

    /// The name in files and on the command line; of a network of its own, its name in the catalog.
    pub const fn name(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::PixelL2 => "pixel-l2",
            Self::Psnr => "psnr",
            Self::Ssim => "ssim",
            Self::LpipsAlex => "lpips-alex",
            Self::LpipsVgg => "lpips-vgg",
            Self::LpipsSqueeze => "lpips-squeeze",
            Self::ClipI => "clip-i",
            Self::ClipT => "clip-t",
            Self::ClipDirection => "clip-direction",
            Self::DinoVits16 => "dino-vits16",
            Self::DinoVitb8 => "dino-vitb8",
        }
    }

    /// The name on screen, as papers write it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::PixelL2 => "pixel L2",
            Self::Psnr => "PSNR",
            Self::Ssim => "SSIM",
            Self::LpipsAlex => "LPIPS Alex",
            Self::LpipsVgg => "LPIPS VGG",
            Self::LpipsSqueeze => "LPIPS Squeeze",
            Self::ClipI => "CLIP-I",
            Self::ClipT => "CLIP-T",
            Self::ClipDirection => "CLIP direction",
            Self::DinoVits16 => "DINO S/16",
            Self::DinoVitb8 => "DINO B/8",
        }
    }

    /// The baseline of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|baseline| baseline.name() == name)
    }

    /// Which end is the good one.
    ///
    /// Similarity to the source counts as good, which is what papers mean when they report these numbers as preservation; an edit that
    /// changes nothing is then the best one. Only the outside of the region is free of that.
    pub const fn better(self) -> Better {
        match self {
            Self::L1 | Self::L2 | Self::PixelL2 | Self::LpipsAlex | Self::LpipsVgg | Self::LpipsSqueeze => Better::Lower,
            _ => Better::Higher,
        }
    }

    /// What it is computed with.
    pub const fn needs(self) -> BaselineNeeds {
        match self {
            Self::L1 | Self::L2 | Self::PixelL2 | Self::Psnr | Self::Ssim => BaselineNeeds::Pixels,
            Self::ClipI | Self::ClipT | Self::ClipDirection => BaselineNeeds::Clip,
            Self::LpipsAlex | Self::LpipsVgg | Self::LpipsSqueeze | Self::DinoVits16 | Self::DinoVitb8 => {
                BaselineNeeds::Network(self.name())
            }
        }
    }

    /// Whether it has values inside and outside the region; the others look at the whole picture at once.
    pub const fn has_zones(self) -> bool {
        !matches!(self, Self::ClipI | Self::ClipT | Self::ClipDirection | Self::DinoVits16 | Self::DinoVitb8)
    }

    /// What is computed, and what a zone of it is, in full sentences.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::L1 => {
                "Mean over pixels and channels of |source − edit| / 255, as MagicBrush reports it. A zone: the mean over its pixels."
            }
            Self::L2 => {
                "Mean over pixels and channels of ((source − edit) / 255)², as MagicBrush reports it (a mean squared error, without the \
                 root). A zone: the mean over its pixels."
            }
            Self::PixelL2 => {
                "Mean over pixels of the root of the mean squared channel difference, / 255: the distance that BPM's preserve part is made \
                 of, here at the size of the source instead of 500×500. A zone: the mean over its pixels."
            }
            Self::Psnr => {
                "Peak signal-to-noise ratio in dB, 10·log10(255² / mean squared error), as scikit-image computes it. A zone: from the mean \
                 squared error over its pixels. Without any difference it is infinite, so not applicable."
            }
            Self::Ssim => {
                "Structural similarity as scikit-image computes it for 8-bit RGB: uniform 7×7 windows, sample covariance, K1 0.01, K2 0.03, \
                 mean over the channels, windows that cross the border left out. A zone: the mean of the map over the zone's pixels."
            }
            Self::LpipsAlex => {
                "LPIPS 0.1 with AlexNet: weighted distance of normalised features at the size of the source. A zone: the mean of the \
                 package's spatial map over its pixels."
            }
            Self::LpipsVgg => {
                "LPIPS 0.1 with VGG-16: weighted distance of normalised features at the size of the source. A zone: the mean of the \
                 package's spatial map over its pixels."
            }
            Self::LpipsSqueeze => {
                "LPIPS 0.1 with SqueezeNet 1.1: weighted distance of normalised features at the size of the source. A zone: the mean of the \
                 package's spatial map over its pixels."
            }
            Self::ClipI => "Cosine of the CLIP features of the whole edit and the whole source, with the CLIP that BPM uses.",
            Self::ClipT => {
                "Cosine of the CLIP features of the whole edit and a text: the target caption where the data has one, else the edited part \
                 of the parse (for an edit of the whole picture, the instruction). CLIPScore is 2.5 times this, cut off at 0."
            }
            Self::ClipDirection => {
                "InstructPix2Pix's direction: cosine of the difference of the two pictures' CLIP features and the difference of the two \
                 captions' features, all normalised first. Needs a caption of source and target."
            }
            Self::DinoVits16 => {
                "Cosine of the class tokens of DINO ViT-S/16 for edit and source: shorter side to 256 (bicubic), middle 224×224, as \
                 MagicBrush evaluates."
            }
            Self::DinoVitb8 => {
                "Cosine of the class tokens of DINO ViT-B/8 for edit and source: shorter side to 256 (bicubic), middle 224×224, as \
                 MagicBrush evaluates."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for (index, baseline) in Baseline::ALL.into_iter().enumerate() {
            assert_eq!(baseline as usize, index, "{baseline:?}: the order of the list is that of the enum");
            assert_eq!(Baseline::from_name(baseline.name()), Some(baseline));
        }
    }

    #[test]
    fn columns_hold_numbers_only_and_know_their_good_end() {
        let zoned = Zoned {
            whole: Outcome::Value(0.25),
            inside: Outcome::NotApplicable("no region".into()),
            outside: Outcome::Value(0.5),
            note: String::new(),
        };
        let baselines = Baselines::from([("l1".to_owned(), zoned)]);
        assert_eq!(columns(&baselines), BTreeMap::from([("l1".to_owned(), 0.25), ("l1.outside".to_owned(), 0.5)]));
        assert_eq!(baseline_column(&baselines, "l1.outside"), Some(&Outcome::Value(0.5)));
        assert_eq!(baseline_column(&baselines, "l1.left"), None);
        assert_eq!(column_better("l1.outside"), Better::Lower);
        assert_eq!(column_better("ssim"), Better::Higher);
        assert_eq!(column_better("overall"), Better::Higher);
        assert_eq!(Better::Lower.oriented(2.0), -2.0);
    }

    #[test]
    fn a_note_is_only_written_when_there_is_one() {
        let zoned = Zoned::uniform(&Outcome::Value(1.0));
        assert_eq!(serde_json::to_string(&zoned).unwrap(), r#"{"whole":1.0,"inside":1.0,"outside":1.0}"#); // plain data serialises
    }
}
