//! The answers a rater is giving to the selected edit on the Rate tab: the paper's five questions, outside of a session.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{CRITERIA, Rating, Rubric, RubricId, assumed_scale};

/// What is on the form. Each answer is saved at once; `dirty` only means a comment that is still being typed.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RatingDraft {
    values: BTreeMap<String, f64>,
    cannot_judge: BTreeSet<String>,
    pub comment: String,
    /// Index into [`CRITERIA`] of the question that number keys answer.
    pub active: usize,
    /// The comment differs from what is saved.
    pub dirty: bool,
    /// What the rater said elsewhere (in a session, under another rubric) to questions of this form; each answer counts until the same is
    /// answered here. It is on no question of this form: answers under other words, or given blind, are never saved again as if they were given here.
    pub elsewhere: Option<Rating>,
    /// The rater was told that an answer here takes the place of that in [`Self::elsewhere`].
    pub warned: bool,
}

/// The digit of "can't judge", here as in sessions.
pub const CANNOT_JUDGE: u8 = 0;

impl RatingDraft {
    /// The form as `rater` left it, or an empty form: the answers that were given here and still count. `ratings` holds nothing but what
    /// counts, of one rater the newest rating last. What was asked elsewhere is not taken for an answer to this form's questions.
    pub fn of(ratings: &[Rating], rater: &str) -> Self {
        let mine = || ratings.iter().filter(|rating| rating.rater == rater && !rating.simulated);
        let mut draft = Self::default();
        for rating in mine().filter(|rating| is_from_here(rating)) {
            draft.values.extend(rating.values.iter().map(|(name, value)| (plain_name(name).to_owned(), *value)));
            draft.cannot_judge.extend(rating.context.iter().flat_map(|context| context.cannot_judge.iter().cloned()));
            draft.comment.clone_from(&rating.comment);
        }
        draft.cannot_judge.retain(|name| !draft.values.contains_key(name));
        // Taken back is nothing that could be replaced, and answers to other questions stay.
        let is_ours = |rating: &&Rating| rating.values.keys().any(|name| is_criterion(plain_name(name)));
        draft.elsewhere = mine().rev().filter(|rating| !is_from_here(rating)).find(is_ours).cloned();
        if draft.values.is_empty() && draft.cannot_judge.is_empty() {
            let newest = mine().next_back().map(|rating| rating.comment.clone()).unwrap_or_default();
            draft.comment = draft.elsewhere.as_ref().map_or(newest, |elsewhere| elsewhere.comment.clone());
        }
        draft.active = (0..CRITERIA.len()).find(|&index| draft.answer(index).is_none()).unwrap_or(0);
        draft
    }

    /// The answer to question `index`: 1 to 5, or [`CANNOT_JUDGE`]; `None` where nothing is said yet.
    pub fn answer(&self, index: usize) -> Option<u8> {
        let name = CRITERIA.get(index)?.name();
        if self.cannot_judge.contains(name) {
            return Some(CANNOT_JUDGE);
        }
        self.values.get(name).copied().and_then(point)
    }

    /// Answers the question `index` with 1 to 5 or [`CANNOT_JUDGE`] and goes on to the next one; `false` (and nothing done) for other
    /// numbers.
    pub fn set(&mut self, index: usize, answer: u8) -> bool {
        let Some(criterion) = CRITERIA.get(index).filter(|_| answer <= 5) else { return false };
        let name = criterion.name().to_owned();
        if answer == CANNOT_JUDGE {
            self.values.remove(&name);
            self.cannot_judge.insert(name);
        } else {
            self.cannot_judge.remove(&name);
            self.values.insert(name, f64::from(answer));
        }
        self.active = (index + 1).min(CRITERIA.len() - 1);
        self.elsewhere = None;
        true
    }

    /// Goes to another question, without leaving the form.
    pub fn step(&mut self, by: isize) {
        self.active = self.active.saturating_add_signed(by).min(CRITERIA.len() - 1);
    }

    /// The questions that cannot be judged, by name.
    pub fn cannot_judge(&self) -> Vec<String> {
        self.cannot_judge.iter().cloned().collect()
    }

    /// Whether all five questions are answered.
    pub fn is_complete(&self) -> bool {
        (0..CRITERIA.len()).all(|index| self.answer(index).is_some())
    }

    /// Whether there is anything to save.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.cannot_judge.is_empty() && self.comment.trim().is_empty()
    }

    /// Whether nothing is answered here, so that what was said elsewhere still counts: a comment is then kept with those answers.
    pub fn keeps_elsewhere(&self) -> bool {
        self.elsewhere.is_some() && self.values.is_empty() && self.cannot_judge.is_empty()
    }

    /// What is stored, without how it came about; where [`Self::keeps_elsewhere`], the answers from there with how they came about.
    pub fn rating(&self, rater: &str, at_millis: i64) -> Rating {
        let comment = self.comment.trim().to_owned();
        if let Some(elsewhere) = self.elsewhere.as_ref().filter(|_| self.keeps_elsewhere()) {
            let values = elsewhere.values.iter().map(|(name, value)| (plain_name(name).to_owned(), *value)).collect();
            return Rating { comment, at_millis: Some(at_millis), values, ..elsewhere.clone() };
        }
        Rating { comment, at_millis: Some(at_millis), ..Rating::new(rater, self.values.clone()) }
    }
}

fn point(value: f64) -> Option<u8> {
    (value.fract() == 0.0 && (1.0..=5.0).contains(&value)).then_some(value as u8)
}

/// Whether a rating answers the questions of this form and was given outside of a session (or nobody knows how).
fn is_from_here(rating: &Rating) -> bool {
    let asked_here = rating.context.as_ref().is_none_or(|context| {
        let same_words = context.rubric.as_ref().is_none_or(|rubric| *rubric == RubricId::from(&Rubric::paper()));
        let same_scale = context.scales.iter().all(|(name, scale)| *scale == assumed_scale(name));
        context.session.is_none() && same_words && same_scale
    });
    let is_ours = |(name, value): (&String, &f64)| is_criterion(plain_name(name)) && point(*value).is_some();
    asked_here && rating.values.iter().all(is_ours)
}

/// The name of a criterion without the scale that stands behind it where most answers were given on another one.
fn plain_name(name: &str) -> &str {
    let scale = name.rsplit_once(" (").and_then(|(plain, scale)| Some((plain, scale.strip_suffix(')')?)));
    match scale {
        Some((plain, scale)) if is_criterion(plain) && scale == assumed_scale(plain) => plain,
        _ => name,
    }
}

fn is_criterion(name: &str) -> bool {
    CRITERIA.iter().any(|ours| ours.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RatingContext;

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
    fn what_cannot_be_judged_is_an_answer_without_a_value() {
        let mut draft = RatingDraft::default();
        draft.set(0, 4);
        assert!(draft.set(1, CANNOT_JUDGE) && draft.set(0, CANNOT_JUDGE) && draft.set(1, 3));
        assert_eq!((draft.answer(0), draft.answer(1), draft.answer(2)), (Some(0), Some(3), None));
        assert_eq!((draft.cannot_judge(), draft.rating("ann", 1).values.len()), (vec!["modification".to_owned()], 1));
        assert!(!draft.is_empty());
        let kept = Rating { context: Some(context(None, draft.cannot_judge())), ..draft.rating("ann", 1) };
        let opened = RatingDraft::of(&[kept], "ann");
        assert_eq!((opened.answer(0), opened.answer(1), opened.active), (Some(0), Some(3), 2));
    }

    fn context(session: Option<&str>, cannot_judge: Vec<String>) -> RatingContext {
        let session = session.map(str::to_owned);
        RatingContext { session, cannot_judge, ..RatingContext::of_rubric(RubricId::from(&Rubric::paper())) }
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

    /// A blind session's answers, and answers under another rubric, would else be saved again as given here with everything in sight.
    #[test]
    fn what_was_asked_elsewhere_is_no_answer_of_this_form() {
        let values = |pairs: &[(&str, f64)]| pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let blind = Rating { context: Some(context(Some("s"), Vec::new())), ..Rating::new("ann", values(&[("overall", 4.0)])) };
        let other_scale = Rating::new("ann", values(&[("overall", 3.5)]));
        for rating in [blind.clone(), other_scale] {
            let mut draft = RatingDraft::of(std::slice::from_ref(&rating), "ann");
            assert!(draft.is_empty() && draft.keeps_elsewhere());
            assert_eq!(draft.elsewhere.as_ref(), Some(&rating));
            // A comment alone goes to those answers, under their own words.
            draft.comment = "odd".into();
            assert_eq!(draft.rating("ann", 9), Rating { comment: "odd".into(), at_millis: Some(9), ..rating });
            draft.set(4, 2);
            assert_eq!(draft.rating("ann", 1).values, values(&[("overall", 2.0)]));
        }
        // Answers to other questions stay whatever is said here, so they are no matter of this form.
        let other_rubric = Rating { comment: "of SC".into(), ..Rating::new("ann", values(&[("SC", 0.5), ("PQ", 1.0)])) };
        let mut mine = RatingDraft::default();
        mine.set(0, 4);
        let draft = RatingDraft::of(&[mine.rating("ann", 1), other_rubric], "ann");
        assert_eq!((draft.elsewhere.as_ref(), draft.comment.as_str()), (None, ""));
        assert_eq!(draft.rating("ann", 3).values, values(&[("modification", 4.0)]));
        // Both count: what was said here, and the session's answer to another question, under the name that it has beside another scale.
        let draft = RatingDraft::of(&[Rating { values: values(&[("overall (1 to 5)", 4.0)]), ..blind }, mine.rating("ann", 1)], "ann");
        assert!(draft.elsewhere.is_some() && !draft.keeps_elsewhere());
        assert_eq!((draft.answer(0), draft.answer(4)), (Some(4), None));
    }
}
