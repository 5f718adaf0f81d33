//! What the raters of a project's sessions said beyond ratings: votes, and repeated answers.

use std::collections::{BTreeMap, HashMap};

use super::answers;
use crate::domain::{self, EditKey, Judgement, ModelVote, Preference, Rating, TaskRole};
use crate::stats::comparison::OVERALL;
use crate::stats::people::Answer;

/// The newest judgement of each task by each rater, without attention checks and what is no answer.
fn counted(log: &[Judgement], role: TaskRole) -> impl Iterator<Item = &Judgement> {
    let mut newest: BTreeMap<(&str, &str, &str), &Judgement> = BTreeMap::new();
    for said in log.iter().filter(|said| said.role == role && said.answer.is_answer()) {
        newest.insert((&said.session, &said.rater, &said.task), said);
    }
    newest.into_values()
}

/// Votes of pairwise sessions, and those that rankings imply (of every two edits the one with the smaller rank is preferred).
/// `models` gives the model of each edit; two edits of one model are no vote about models.
pub(super) fn votes(log: &[Judgement], models: &HashMap<EditKey, String>) -> Vec<ModelVote> {
    let mut found = Vec::new();
    for said in counted(log, TaskRole::Plain) {
        let mut vote = |first: &EditKey, second: &EditKey, preference: Preference| {
            if let (Some(first), Some(second)) = (models.get(first), models.get(second))
                && first != second
            {
                found.push(ModelVote {
                    item: said.item.0.clone(),
                    criterion: OVERALL.to_owned(),
                    rater: said.rater.clone(),
                    first: first.clone(),
                    second: second.clone(),
                    preference,
                });
            }
        };
        match (&said.answer, said.shown.as_slice()) {
            (domain::Answer::Pair(preference), [first, second]) => vote(first, second, *preference),
            (domain::Answer::Ranking(ranks), shown) => {
                let ranked: Vec<(&EditKey, u32)> = shown.iter().zip(ranks.iter().copied()).collect();
                for (i, (first, a)) in ranked.iter().enumerate() {
                    for (second, b) in &ranked[i + 1..] {
                        vote(
                            first,
                            second,
                            match a.cmp(b) {
                                std::cmp::Ordering::Less => Preference::First,
                                std::cmp::Ordering::Equal => Preference::Tie,
                                std::cmp::Ordering::Greater => Preference::Second,
                            },
                        );
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Answers that were asked for a second time. They stand before the ratings, so that they show consistency and change no mean:
/// of several answers by one rater the last one counts.
pub(super) fn repeats(log: &[Judgement], models: &HashMap<EditKey, String>, rated: impl Fn(&EditKey, &str) -> bool) -> Vec<Answer> {
    let mut found = Vec::new();
    for said in counted(log, TaskRole::Repeat) {
        let (domain::Answer::Rubric { values, .. }, [edit]) = (&said.answer, said.shown.as_slice()) else { continue };
        if let Some(model) = models.get(edit).filter(|_| rated(edit, &said.rater)) {
            let rating = Rating::new(&*said.rater, values.clone());
            found.extend(answers(&said.item.0, model, &rating, Some(said.seconds)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ItemKey, Visible};

    fn said(rater: &str, task: &str, role: TaskRole, shown: &[&str], answer: domain::Answer) -> Judgement {
        Judgement {
            session: "s".into(),
            rater: rater.into(),
            item: ItemKey("i".into()),
            shown: shown.iter().map(|key| EditKey((*key).into())).collect(),
            task: task.into(),
            role,
            answer,
            comment: String::new(),
            place: 1,
            seconds: 2.0,
            at_millis: 1,
            visible: Visible::default(),
            rubric: None,
        }
    }

    fn models() -> HashMap<EditKey, String> {
        [("a", "A"), ("b", "B"), ("c", "C")].map(|(key, model)| (EditKey(key.into()), model.to_owned())).into()
    }

    #[test]
    fn votes_are_the_newest_answers_and_rankings_are_votes_about_every_pair() {
        let pair = |preference| domain::Answer::Pair(preference);
        let log = [
            said("ann", "1", TaskRole::Plain, &["a", "b"], pair(Preference::First)),
            said("ann", "1", TaskRole::Plain, &["a", "b"], pair(Preference::Second)),
            said("ann", "1", TaskRole::Repeat, &["b", "a"], pair(Preference::Second)),
            said("ann", "2", TaskRole::SameTwice, &["a", "a"], pair(Preference::First)),
            said("bob", "3", TaskRole::Plain, &["c", "a", "b"], domain::Answer::Ranking(vec![2, 1, 2])),
        ];
        let found: Vec<_> = votes(&log, &models()).into_iter().map(|v| (v.rater, v.first, v.second, v.preference)).collect();
        let vote = |rater: &str, first: &str, second: &str, preference| (rater.to_owned(), first.to_owned(), second.to_owned(), preference);
        assert_eq!(
            found,
            [
                vote("ann", "A", "B", Preference::Second),
                vote("bob", "C", "A", Preference::Second),
                vote("bob", "C", "B", Preference::Tie),
                vote("bob", "A", "B", Preference::First),
            ]
        );
    }

    #[test]
    fn a_repeat_without_a_first_answer_is_no_repeat() {
        let values: BTreeMap<String, f64> = [("overall".to_owned(), 4.0)].into();
        let answer = domain::Answer::Rubric { values, cannot_judge: Vec::new() };
        let log = [said("ann", "1", TaskRole::Repeat, &["a"], answer.clone()), said("bob", "1", TaskRole::Repeat, &["a"], answer)];
        let found = repeats(&log, &models(), |_, rater| rater == "ann");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rater.as_str(), found[0].model.as_str(), found[0].value), ("ann", "A", 4.0));
    }
}
