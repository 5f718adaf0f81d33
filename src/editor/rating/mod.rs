//! The answers a rater is giving to the selected edit.

use std::collections::BTreeMap;

use crate::domain::{CRITERIA, Rating};

/// What is on the form. Each answer is saved at once; `dirty` only means a comment that is still being typed.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RatingDraft {
    values: BTreeMap<String, f64>,
    pub comment: String,
    /// Index into [`CRITERIA`] of the question that number keys answer.
    pub active: usize,
    /// The comment differs from what is saved.
    pub dirty: bool,
}

impl RatingDraft {
    /// The form as `rater` left it: the newest rating of that name, or an empty form.
    pub fn of(ratings: &[Rating], rater: &str) -> Self {
        let mine = ratings.iter().rev().find(|rating| rating.rater == rater && !rating.simulated);
        let values = mine.map(|rating| rating.values.clone()).unwrap_or_default();
        let comment = mine.map(|rating| rating.comment.clone()).unwrap_or_default();
        let active = CRITERIA.iter().position(|criterion| !values.contains_key(criterion.name())).unwrap_or(0);
        Self { values, comment, active, dirty: false }
    }

    /// The answer to question `index`, 1 to 5.
    pub fn answer(&self, index: usize) -> Option<u8> {
        let value = *self.values.get(CRITERIA.get(index)?.name())?;
        (value.fract() == 0.0 && (1.0..=5.0).contains(&value)).then_some(value as u8)
    }

    /// Answers the question `index` with 1 to 5 and goes on to the next one; `false` (and nothing done) for other numbers.
    pub fn set(&mut self, index: usize, answer: u8) -> bool {
        let Some(criterion) = CRITERIA.get(index).filter(|_| (1..=5).contains(&answer)) else { return false };
        self.values.insert(criterion.name().to_owned(), f64::from(answer));
        self.active = (index + 1).min(CRITERIA.len() - 1);
        true
    }

    /// Goes to another question, without leaving the form.
    pub fn step(&mut self, by: isize) {
        self.active = self.active.saturating_add_signed(by).min(CRITERIA.len() - 1);
    }

    /// Whether all five questions are answered.
    pub fn is_complete(&self) -> bool {
        (0..CRITERIA.len()).all(|index| self.answer(index).is_some())
    }

    /// Whether there is anything to save.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.comment.trim().is_empty()
    }

    /// What is stored.
    pub fn rating(&self, rater: &str, at_millis: i64) -> Rating {
        let comment = self.comment.trim().to_owned();
        Rating { comment, at_millis: Some(at_millis), ..Rating::new(rater, self.values.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_number_keys_fill_the_form() {
        let mut draft = RatingDraft::default();
        for answer in [5, 4, 3, 2, 1] {
            assert!(draft.set(draft.active, answer));
        }
        assert!(draft.is_complete());
        assert_eq!(draft.active, 4);
        let rating = draft.rating("ann", 7);
        assert_eq!((rating.values["modification"], rating.values["overall"], rating.at_millis), (5.0, 1.0, Some(7)));
        assert!(!draft.set(0, 6) && !draft.set(9, 3));
    }

    #[test]
    fn the_form_opens_as_its_rater_left_it_and_ignores_simulated_ones() {
        let mut draft = RatingDraft::default();
        draft.set(0, 4);
        let mine = draft.rating("ann", 1);
        let simulated = Rating { simulated: true, ..draft.rating("ann", 2) };
        let opened = RatingDraft::of(&[mine, Rating { rater: "bob".into(), ..draft.rating("bob", 3) }], "ann");
        assert_eq!((opened.answer(0), opened.answer(1), opened.active), (Some(4), None, 1));
        assert!(RatingDraft::of(&[simulated], "ann").is_empty());
    }
}
