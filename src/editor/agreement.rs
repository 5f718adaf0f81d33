//! Numbers about edits that can be compared with people, as the screen names them.

use std::sync::Arc;

use crate::domain::{Baseline, Better, Parts, Zone, column_better};

/// A number about each edit that can be compared with people.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    Overall,
    /// Index into [`Parts::NAMES`].
    Part(usize),
    /// A named column of the rows: a baseline of one zone (`ssim`, `ssim.outside`), or any other number.
    Column(Arc<str>),
}

impl Measure {
    /// The measure of that name in tables: `overall`, a part, or a column.
    pub fn named(name: &str) -> Self {
        match (name, Parts::NAMES.iter().position(|part| *part == name)) {
            ("overall", _) => Self::Overall,
            (_, Some(part)) => Self::Part(part),
            (column, None) => Self::Column(column.into()),
        }
    }

    /// Whether it speaks of this part of the picture: BPM and its parts always do, a column that is no baseline of the whole.
    pub fn is_of(&self, zone: Zone) -> bool {
        match self {
            Self::Overall | Self::Part(_) => true,
            Self::Column(name) => Self::read(name).map_or(Zone::Whole, |(_, zone)| zone) == zone,
        }
    }

    /// The baseline and zone that a column is of.
    fn read(column: &str) -> Option<(Baseline, Zone)> {
        let (name, zone) = column.split_once('.').unwrap_or((column, Zone::Whole.name()));
        Some((Baseline::from_name(name)?, Zone::ALL.into_iter().find(|known| known.name() == zone)?))
    }

    /// Its name on screen.
    pub fn label(&self) -> String {
        match self {
            Self::Overall => "BPM".to_owned(),
            Self::Part(index) => Parts::NAMES.get(*index).copied().unwrap_or("?").to_owned(),
            Self::Column(name) => match Self::read(name) {
                Some((baseline, Zone::Whole)) => baseline.label().to_owned(),
                Some((baseline, zone)) => format!("{} {}", baseline.label(), zone.name()),
                None => name.to_string(),
            },
        }
    }

    /// What it is, where the name does not say.
    pub fn definition(&self) -> Option<&'static str> {
        match self {
            Self::Column(name) => Self::read(name).map(|(baseline, _)| baseline.definition()),
            Self::Overall | Self::Part(_) => None,
        }
    }

    /// Which end is the good one.
    pub fn better(&self) -> Better {
        match self {
            Self::Overall | Self::Part(_) => Better::Higher,
            Self::Column(name) => column_better(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_become_words_of_the_screen() {
        let labels = ["overall", "size", "preserve", "l1", "l1.outside", "clip-i", "custom"].map(|name| Measure::named(name).label());
        assert_eq!(labels, ["BPM", "size", "preserve", "L1", "L1 outside", "CLIP-I", "custom"]);
        assert_eq!(Measure::named("l1.inside").better(), Better::Lower);
        assert_eq!(Measure::named("overall").better(), Better::Higher);
    }

    #[test]
    fn a_column_speaks_of_its_zone_and_the_metric_of_all() {
        let zones = |name: &str| Zone::ALL.map(|zone| Measure::named(name).is_of(zone));
        assert_eq!(zones("modify"), [true; 3]);
        assert_eq!(zones("ssim"), [true, false, false]);
        assert_eq!(zones("ssim.outside"), [false, false, true]);
        assert_eq!(zones("custom"), [true, false, false]);
    }
}
