//! The form of one task: what was answered so far. It becomes an answer as a whole or not at all.

use std::collections::BTreeMap;

use crate::domain::{Answer, Preference, Protocol, Rubric};

/// What was said to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Given {
    #[default]
    Open,
    /// Index into the question's scale.
    Point(usize),
    CannotJudge,
}

/// The answers so far.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// One entry a question; `active` is the one that digit keys answer.
    Rubric {
        given: Vec<Given>,
        active: usize,
    },
    Pair(Option<Preference>),
    /// A rank for each shown edit, 1 for the best; `active` is the edit that digit keys rank.
    Ranking {
        ranks: Vec<Option<u32>>,
        active: usize,
    },
}

impl Form {
    /// An empty form for a task that shows `edits` edits.
    pub fn new(protocol: &Protocol, edits: usize) -> Self {
        match protocol {
            Protocol::Rubric { rubric } => Self::Rubric { given: vec![Given::Open; rubric.questions.len()], active: 0 },
            Protocol::Pairwise => Self::Pair(None),
            Protocol::Ranking => Self::Ranking { ranks: vec![None; edits], active: 0 },
        }
    }

    /// The form as `answer` left it.
    pub fn of(answer: &Answer, protocol: &Protocol, edits: usize) -> Self {
        match (answer, Self::new(protocol, edits), protocol) {
            (Answer::Rubric { values, cannot_judge }, Self::Rubric { .. }, Protocol::Rubric { rubric }) => {
                Self::Rubric { given: rubric.questions.iter().map(|question| given(question, values, cannot_judge)).collect(), active: 0 }
            }
            (Answer::Pair(vote), Self::Pair(_), _) => Self::Pair(Some(*vote)),
            (Answer::Ranking(given), Self::Ranking { .. }, _) if given.len() == edits => {
                Self::Ranking { ranks: given.iter().copied().map(Some).collect(), active: 0 }
            }
            (_, empty, _) => empty,
        }
    }

    /// Marks another question or edit, without leaving the form.
    pub fn step(&mut self, by: isize) {
        let (active, count) = match self {
            Self::Rubric { given, active } => (active, given.len()),
            Self::Ranking { ranks, active } => (active, ranks.len()),
            Self::Pair(_) => return,
        };
        *active = active.saturating_add_signed(by).min(count.saturating_sub(1));
    }

    /// Marks the question or edit at `index`.
    pub fn mark(&mut self, index: usize) {
        self.step(isize::MIN);
        self.step(isize::try_from(index).unwrap_or(isize::MAX));
    }

    /// Answers question `index` and marks the next one that is open, or stays on the last.
    pub fn give(&mut self, index: usize, answer: Given) {
        if let Self::Rubric { given, active } = self
            && let Some(slot) = given.get_mut(index)
        {
            *slot = answer;
            *active = next_open(given.len(), index, |other| given[other] == Given::Open);
        }
    }

    /// Says that the marked question cannot be judged.
    pub fn cannot_judge_one(&mut self) {
        if let Self::Rubric { active, .. } = self {
            let index = *active;
            self.give(index, Given::CannotJudge);
        }
    }

    /// Ranks the edit at `index` and marks the next one without a rank.
    pub fn rank(&mut self, index: usize, rank: u32) {
        if let Self::Ranking { ranks, active } = self
            && (1..=ranks.len() as u32).contains(&rank)
            && let Some(slot) = ranks.get_mut(index)
        {
            *slot = Some(rank);
            *active = next_open(ranks.len(), index, |other| ranks[other].is_none());
        }
    }

    /// Puts the marked edit `by` ranks down (up when negative) and leaves it marked; one without a rank comes in at the nearer end.
    pub fn shift(&mut self, by: isize) {
        if let Self::Ranking { ranks, active } = self {
            let last = ranks.len() as isize;
            let Some(slot) = ranks.get_mut(*active) else { return };
            let rank = match *slot {
                Some(rank) => (rank as isize + by).clamp(1, last),
                None if by < 0 => last,
                None => 1,
            };
            *slot = Some(rank as u32); // 1 to the number of edits
        }
    }

    /// The answer, or what is missing.
    pub fn answer(&self, rubric: Option<&Rubric>) -> Result<Answer, String> {
        match self {
            Self::Pair(vote) => vote.map(Answer::Pair).ok_or_else(|| "Say which of the two is better first.".to_owned()),
            Self::Ranking { ranks, .. } => {
                let open = ranks.iter().enumerate().filter(|(_, rank)| rank.is_none());
                let missing: Vec<String> = open.map(|(place, _)| letter(place)).collect();
                if !missing.is_empty() {
                    return Err(format!("No rank yet: {}.", missing.join(", ")));
                }
                Ok(Answer::Ranking(competition_ranks(&ranks.iter().flatten().copied().collect::<Vec<_>>())))
            }
            Self::Rubric { given, .. } => rubric_answer(given, rubric.map(|rubric| rubric.questions.as_slice()).unwrap_or_default()),
        }
    }
}

/// What the edit shown at `place` (from 0) is called on screen: A to Z, then AA, AB and so on, as columns of a sheet.
pub fn letter(place: usize) -> String {
    let mut rest = place + 1;
    let mut letters = Vec::new();
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + (rest % 26) as u8)); // below 26
        rest /= 26;
    }
    letters.iter().rev().collect()
}

fn given(question: &crate::domain::Question, values: &BTreeMap<String, f64>, cannot_judge: &[String]) -> Given {
    if cannot_judge.contains(&question.name) {
        return Given::CannotJudge;
    }
    let value = values.get(&question.name);
    question.scale.iter().position(|point| Some(&point.value) == value).map_or(Given::Open, Given::Point)
}

fn rubric_answer(given: &[Given], questions: &[crate::domain::Question]) -> Result<Answer, String> {
    let open = questions.iter().zip(given).filter(|(question, given)| question.required && **given == Given::Open);
    let missing: Vec<&str> = open.map(|(question, _)| question.name.as_str()).collect();
    if !missing.is_empty() {
        return Err(format!("Still open: {}. U says “can’t judge”.", missing.join(", ")));
    }
    let mut values = BTreeMap::new();
    let mut cannot_judge = Vec::new();
    for (question, given) in questions.iter().zip(given) {
        match given {
            Given::Open => {}
            Given::CannotJudge => cannot_judge.push(question.name.clone()),
            Given::Point(point) => drop(question.scale.get(*point).map(|point| values.insert(question.name.clone(), point.value))),
        }
    }
    if values.is_empty() && cannot_judge.is_empty() {
        Err("Nothing is answered yet.".to_owned())
    } else {
        Ok(Answer::Rubric { values, cannot_judge })
    }
}

/// The first open place after `from`, going round; the next place when none is open.
fn next_open(count: usize, from: usize, is_open: impl Fn(usize) -> bool) -> usize {
    (1..count).map(|step| (from + step) % count).find(|&index| is_open(index)).unwrap_or_else(|| (from + 1).min(count.saturating_sub(1)))
}

/// Ranks as competitions count them: one more than the number of better ones ("1 2 2 4"), whatever digits were used.
pub(super) fn competition_ranks(given: &[u32]) -> Vec<u32> {
    given.iter().map(|rank| 1 + given.iter().filter(|other| *other < rank).count() as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted_as_in_competitions() {
        // By hand: the 2 has none better, each 3 has one better, the 9 has three better.
        assert_eq!(competition_ranks(&[3, 2, 9, 3]), [2, 1, 4, 2]);
    }

    #[test]
    fn the_form_goes_to_the_next_open_question_and_says_what_is_missing() {
        let protocol = Protocol::Rubric { rubric: Rubric::paper() };
        let rubric = protocol.rubric();
        let mut form = Form::new(&protocol, 1);
        form.give(0, Given::Point(4));
        form.mark(2);
        form.give(2, Given::CannotJudge);
        assert!(matches!(form, Form::Rubric { active: 3, .. }));
        form.give(3, Given::Point(0));
        form.give(4, Given::Point(1));
        // Size was the last but preservation (1) was left open.
        assert!(matches!(form, Form::Rubric { active: 1, .. }));
        assert_eq!(form.answer(rubric).unwrap_err(), "Still open: preservation. U says “can’t judge”.");
        form.give(1, Given::Point(2));
        let answer = form.answer(rubric).unwrap();
        let values = [("modification", 5.0), ("overall", 2.0), ("position", 1.0), ("preservation", 3.0)];
        let values: BTreeMap<String, f64> = values.map(|(name, value)| (name.to_owned(), value)).into();
        assert_eq!(answer, Answer::Rubric { values, cannot_judge: vec!["size".to_owned()] });
        let Form::Rubric { given, .. } = Form::of(&answer, &protocol, 1) else { panic!("a rubric") };
        assert_eq!(given, [Given::Point(4), Given::Point(2), Given::CannotJudge, Given::Point(0), Given::Point(1)]);
    }

    #[test]
    fn a_ranking_is_complete_when_every_edit_has_a_rank() {
        let mut form = Form::new(&Protocol::Ranking, 3);
        form.rank(0, 1);
        form.rank(1, 7);
        form.rank(2, 1);
        assert_eq!(form.answer(None).unwrap_err(), "No rank yet: B.", "7 is no rank among three");
        form.rank(1, 2);
        assert_eq!(form.answer(None), Ok(Answer::Ranking(vec![1, 3, 1])));
    }

    #[test]
    fn letters_go_on_after_z_and_no_edit_beyond_it_is_forgotten() {
        assert_eq!([0, 25, 26, 27, 51, 52, 701, 702].map(letter), ["A", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA"]);
        let mut form = Form::new(&Protocol::Ranking, 30);
        (0..26).for_each(|place| form.rank(place, 1));
        assert_eq!(form.answer(None).unwrap_err(), "No rank yet: AA, AB, AC, AD.");
        (26..30).for_each(|place| form.rank(place, 2));
        let Ok(Answer::Ranking(ranks)) = form.answer(None) else { panic!("{form:?}") };
        // 26 are better than the last four.
        assert_eq!((ranks.len(), ranks[25], ranks[26]), (30, 1, 27));
    }

    #[test]
    fn any_rank_is_reached_by_moving_an_edit_up_and_down() {
        let mut form = Form::new(&Protocol::Ranking, 12);
        let rank = |form: &Form| match form {
            Form::Ranking { ranks, active } => (ranks[0], *active),
            _ => panic!("a ranking"),
        };
        form.shift(1);
        assert_eq!(rank(&form), (Some(1), 0));
        form.shift(-1);
        assert_eq!(rank(&form), (Some(1), 0), "there is nothing above the best");
        (0..20).for_each(|_| form.shift(1));
        assert_eq!(rank(&form), (Some(12), 0), "the mark stays on the edit");
        form.step(1);
        form.shift(-1);
        form.shift(-1);
        let Form::Ranking { ranks, .. } = &form else { panic!("a ranking") };
        assert_eq!(ranks[1], Some(11), "from below it comes in as the worst");
    }
}
