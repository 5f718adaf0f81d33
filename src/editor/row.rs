//! One line of the queue: light enough that a project of 100,000 edits is held in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::flags::Flags;
use crate::domain::{CRITERIA, Criterion, Outcome, Parts, Rating, Score};

/// Row id of an edit in the open project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub i64);

/// A number of the table, or the kind of its absence; the reason is in the score's trace.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Cell {
    /// Nobody computed it yet.
    #[default]
    Unscored,
    Value(f64),
    NotApplicable,
    Failed,
}

impl Cell {
    /// The number, if there is one.
    pub const fn value(self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(value),
            Self::Unscored | Self::NotApplicable | Self::Failed => None,
        }
    }
}

impl From<&Outcome<f64>> for Cell {
    fn from(outcome: &Outcome<f64>) -> Self {
        match outcome {
            Outcome::Value(value) => Self::Value(*value),
            Outcome::NotApplicable(_) => Self::NotApplicable,
            Outcome::Failed(_) => Self::Failed,
        }
    }
}

/// Named numbers of one edit, sorted by name; names are shared between rows.
pub type Columns = Arc<[(Arc<str>, f64)]>;

/// An edit as the queue shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: RowId,
    /// Key of the item the edit belongs to.
    pub item: Arc<str>,
    pub instruction: Arc<str>,
    pub model: Arc<str>,
    /// Files that can be opened as they are.
    pub source: PathBuf,
    pub edited: PathBuf,
    /// Size, position, modify, preserve (the order of [`Parts::NAMES`]).
    pub parts: [Cell; 4],
    pub overall: Cell,
    /// Other numbers about the edit by column name, sorted by name ([`crate::domain::column_name`] for baselines).
    pub columns: Columns,
    /// Mean of the answers that count, one a rater, in the order of [`CRITERIA`]; 1 to 5 unless most were given on another scale.
    pub people: [Option<f64>; 5],
    /// How many raters answered.
    pub raters: u32,
    /// At least one of the ratings was made by a program.
    pub simulated: bool,
    pub flags: Flags,
}

impl Row {
    /// Takes over the parts of a fresh score.
    pub fn take_score(&mut self, score: &Score) {
        self.parts = Parts::NAMES.map(|name| score.parts.get(name).map_or(Cell::Unscored, Cell::from));
    }

    /// Takes over other numbers about the edit, by column name.
    pub fn take_columns(&mut self, columns: BTreeMap<String, f64>) {
        let same = |((known, old), (name, new)): (&(Arc<str>, f64), (&String, &f64))| **known == **name && old.to_bits() == new.to_bits();
        if self.columns.len() != columns.len() || !self.columns.iter().zip(&columns).all(same) {
            self.columns = columns.into_iter().map(|(name, value)| (name.into(), value)).collect();
        }
    }

    /// Takes over the ratings that count, with nothing but the answers that do.
    pub fn take_ratings(&mut self, ratings: &[Rating]) {
        self.people = CRITERIA.map(|criterion| {
            let answers: Vec<f64> = ratings.iter().filter_map(|rating| rating.values.get(criterion.name()).copied()).collect();
            (!answers.is_empty()).then(|| answers.iter().sum::<f64>() / answers.len() as f64)
        });
        // A rating without any answer takes an earlier one back; a rater may have answered several rubrics.
        let raters: BTreeSet<&str> =
            ratings.iter().filter(|rating| !rating.values.is_empty()).map(|rating| rating.rater.as_str()).collect();
        self.raters = raters.len() as u32;
        self.simulated = ratings.iter().any(|rating| rating.simulated);
    }

    /// The number in the column of that name.
    pub fn column(&self, name: &str) -> Option<f64> {
        let at = self.columns.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some(self.columns[at].1)
    }

    /// What people say on the whole.
    pub fn human(&self) -> Option<f64> {
        self.people_on(Criterion::Overall)
    }

    /// What people say about one criterion.
    pub fn people_on(&self, criterion: Criterion) -> Option<f64> {
        CRITERIA.iter().position(|other| *other == criterion).and_then(|index| self.people[index])
    }
}
