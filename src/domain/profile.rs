//! Which reading of the metric made a number, and the ranges that make modify and preserve comparable.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A named reading of the metric (`bpm.md` section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The paper's intent, with its holes closed.
    #[default]
    Corrected,
    /// As the paper's text says.
    Paper,
    /// As the released scripts compute, their traps included.
    ReleasedCode,
}

impl Profile {
    /// All profiles, in the order they are offered.
    pub const ALL: [Self; 3] = [Self::Corrected, Self::Paper, Self::ReleasedCode];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Corrected => "corrected",
            Self::Paper => "paper",
            Self::ReleasedCode => "released-code",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == text)
            .ok_or_else(|| format!("there is no profile '{text}'; take one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// Least and greatest value of one part over a set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    pub min: f64,
    pub max: f64,
}

impl Bounds {
    /// `(value − min) / (max − min)`, not clamped; `None` when the range has no width, or one that is too large for a number.
    pub fn normalise(self, value: f64) -> Option<f64> {
        let width = self.max - self.min;
        (width > 0.0 && width.is_finite()).then(|| (value - self.min) / width)
    }

    /// Why nothing can be normalised with these bounds, whatever was meant by them; `None` where a width of 0 is all that is wrong.
    fn objection(self) -> Option<&'static str> {
        if !self.min.is_finite() || !self.max.is_finite() {
            return Some("are no numbers");
        }
        if self.min > self.max {
            return Some("are the wrong way round");
        }
        (!(self.max - self.min).is_finite()).then_some("lie too far apart: no number holds their distance")
    }

    /// The bounds of `values`; `None` when there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        values.into_iter().fold(None, |bounds: Option<Self>, value| {
            Some(bounds.map_or(Self { min: value, max: value }, |b| Self { min: b.min.min(value), max: b.max.max(value) }))
        })
    }
}

/// A saved normalisation: the bounds of modify and preserve and where they come from (`bpm.md` section 5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// What people call it.
    pub name: String,
    /// The profile whose parts it was fitted on; bounds of one profile mean nothing for another.
    pub profile: Profile,
    /// `None` when no edit of the set had the part.
    pub modify: Option<Bounds>,
    pub preserve: Option<Bounds>,
    /// Where it was fitted, in words ("96 edits of demo.editscope, 2026-11-29").
    pub fitted_on: String,
}

impl Range {
    /// Its bounds and where they come from, in words; without the name.
    pub fn bounds_words(&self) -> String {
        let ends = |bounds: Option<Bounds>| bounds.map_or_else(|| "none".to_owned(), |b| format!("{:.4} to {:.4}", b.min, b.max));
        format!("modify {}, preserve {}; fitted on {}", ends(self.modify), ends(self.preserve), self.fitted_on)
    }

    /// Why the range cannot be kept; `None` when it can.
    pub fn objection(&self) -> Option<String> {
        let parts = [("modify", self.modify), ("preserve", self.preserve)];
        parts.into_iter().find_map(|(part, bounds)| Some(format!("the bounds of {part} {}", bounds?.objection()?)))
    }

    /// The parts that have no value under this range, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let parts = [("modify", self.modify), ("preserve", self.preserve)];
        let why = |(part, bounds): (&str, Option<Bounds>)| {
            let why = match bounds {
                None => format!("no edit that it was fitted on has {part}"),
                Some(bounds) if bounds.max > bounds.min => return None,
                Some(bounds) => format!("every edit that it was fitted on has {part} {}", bounds.min),
            };
            Some(format!("range '{}' has no width for {part} ({why}), so {part} and the overall stay without a value under it", self.name))
        };
        parts.into_iter().filter_map(why).collect()
    }

    /// Reads the JSON of a range, as `range export` writes it.
    ///
    /// # Errors
    /// When it is no range, has no name, or has bounds that are none; the sentence names the field.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let range: Self = super::json::from_text(text).map_err(|error| error.to_string())?;
        if range.name.trim().is_empty() {
            return Err("field 'name' is empty".to_owned());
        }
        range.objection().map_or(Ok(range), Err)
    }
}

/// The weight α of the paper's combination (section 5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperWeights {
    /// Share of the semantic parts; `1 − alpha` is that of size and position.
    pub alpha: f64,
}

impl Default for PaperWeights {
    fn default() -> Self {
        Self { alpha: 0.7 }
    }
}
