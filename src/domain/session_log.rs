//! What a session's log comes to: which word of a rater counts for a task, what was answered twice, and the votes in it.

use std::collections::{BTreeMap, HashMap};

use super::item::EditKey;
use super::protocol::{Answer, Judgement, TaskRole};
use super::vote::{ModelVote, Preference};

/// What votes between two edits are about: the whole impression.
pub const OVERALL_VOTES: &str = "overall";
/// What votes read off a ranking are called, so that they are never counted among votes between two edits: the pairs of one ranking
/// hang together.
pub const RANKING_VOTES: &str = "ranking";

/// What counts of a log: for each session, rater and task the newest answer, or the newest skip if there is no answer. The newest is that of
/// the latest time, of the same time the later in the log: an old answer that is imported late corrects nothing. Ordered by session, rater
/// and task.
pub fn counting_judgements(log: &[Judgement]) -> Vec<&Judgement> {
    let mut newest: BTreeMap<[&str; 3], &Judgement> = BTreeMap::new();
    for judgement in log.iter().filter(|judgement| judgement.answer != Answer::Unblinded) {
        let key = [judgement.session.as_str(), &judgement.rater, &judgement.task];
        // A skip after an answer is a rater who looked again and let it stand.
        let weight = |said: &Judgement| (said.answer.is_answer(), said.at_millis);
        if newest.get(&key).is_none_or(|known| weight(judgement) >= weight(known)) {
            newest.insert(key, judgement);
        }
    }
    newest.into_values().collect()
}

/// Tasks that were answered twice, of what counts: the first answer and the one to the repeat.
pub fn repeated<'a>(counting: &[&'a Judgement]) -> Vec<(&'a Judgement, &'a Judgement)> {
    let by_task: HashMap<[&str; 3], &Judgement> =
        counting.iter().map(|said| ([said.session.as_str(), said.rater.as_str(), said.task.as_str()], *said)).collect();
    let first_of = |again: &'a Judgement| {
        let task = again.task.strip_prefix(REPEAT)?;
        Some((*by_task.get(&[again.session.as_str(), again.rater.as_str(), task])?, again))
    };
    let repeats = counting.iter().filter(|said| said.role == TaskRole::Repeat).filter_map(|again| first_of(again));
    repeats.filter(|(first, again)| first.answer.is_answer() && again.answer.is_answer()).collect()
}

/// Begins the name of a task that repeats another one.
pub const REPEAT: &str = "repeat:";

/// The votes in a judgement: one of a pair, one for each pair of a ranking, none of anything else or of repeats and checks. `model_of`
/// names the model of an edit.
///
/// # Errors
/// When an edit has no model of its own by which to tell it from the other.
pub fn votes_of<'a>(said: &Judgement, model_of: impl Fn(&EditKey) -> Option<&'a str>) -> Result<Vec<ModelVote>, String> {
    if said.role != TaskRole::Plain {
        return Ok(Vec::new());
    }
    let choices: Vec<(usize, usize, Preference)> = match &said.answer {
        Answer::Pair(preference) => vec![(0, 1, *preference)],
        Answer::Ranking(ranks) => (0..ranks.len())
            .flat_map(|first| (first + 1..ranks.len()).map(move |second| (first, second)))
            .map(|(first, second)| (first, second, better_rank(ranks[first], ranks[second])))
            .collect(),
        Answer::Rubric { .. } | Answer::CannotJudge | Answer::Skipped | Answer::Unblinded => Vec::new(),
    };
    let criterion = if matches!(said.answer, Answer::Ranking(_)) { RANKING_VOTES } else { OVERALL_VOTES };
    let model = |place: usize| {
        let edit =
            said.shown.get(place).ok_or_else(|| format!("task '{}' of '{}' shows fewer edits than it ranks", said.task, said.rater))?;
        model_of(edit).ok_or_else(|| format!("edit '{edit}' names no model, so a vote of '{}' about it cannot be told apart", said.rater))
    };
    let mut votes = Vec::with_capacity(choices.len());
    for (first, second, preference) in choices {
        let (first, second) = (model(first)?.to_owned(), model(second)?.to_owned());
        if first == second {
            return Err(format!("both edits of item '{}' are by '{first}', so a vote of '{}' cannot be told apart", said.item, said.rater));
        }
        let (item, rater) = (said.item.0.clone(), said.rater.clone());
        votes.push(ModelVote { item, criterion: criterion.to_owned(), rater, first, second, preference });
    }
    Ok(votes)
}

/// Rank 1 is the best.
fn better_rank(first: u32, second: u32) -> Preference {
    match first.cmp(&second) {
        std::cmp::Ordering::Less => Preference::First,
        std::cmp::Ordering::Greater => Preference::Second,
        std::cmp::Ordering::Equal => Preference::Tie,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ItemKey, Visible};

    fn said(rater: &str, task: &str, shown: &[&str], answer: Answer) -> Judgement {
        Judgement {
            session: "s".into(),
            rater: rater.into(),
            item: ItemKey("i".into()),
            shown: shown.iter().map(|key| EditKey((*key).into())).collect(),
            task: task.into(),
            role: if task.starts_with(REPEAT) { TaskRole::Repeat } else { TaskRole::Plain },
            answer,
            comment: String::new(),
            place: 1,
            seconds: 1.0,
            at_millis: 1,
            visible: Visible::default(),
            rubric: None,
        }
    }

    #[test]
    fn the_newest_answer_counts_and_a_later_skip_changes_nothing() {
        let pair = |vote| Answer::Pair(vote);
        let log = [
            said("ann", "t", &["a", "b"], Answer::Skipped),
            said("ann", "t", &["a", "b"], pair(Preference::First)),
            said("ann", "t", &["a", "b"], pair(Preference::Second)),
            said("ann", "t", &["a", "b"], Answer::Skipped),
            said("ann", "", &["a", "b"], Answer::Unblinded),
            said("bob", "t", &["b", "a"], pair(Preference::Tie)),
            said("bob", "repeat:t", &["a", "b"], pair(Preference::First)),
            said("ann", "repeat:u", &["a", "b"], pair(Preference::First)),
        ];
        let counting = counting_judgements(&log);
        let answers: Vec<(&str, &str, &Answer)> =
            counting.iter().map(|said| (said.rater.as_str(), said.task.as_str(), &said.answer)).collect();
        let [first, second, tie] = [Preference::First, Preference::Second, Preference::Tie].map(Answer::Pair);
        assert_eq!(answers, [("ann", "repeat:u", &first), ("ann", "t", &second), ("bob", "repeat:t", &first), ("bob", "t", &tie)]);
        // What ann's repeat repeats was never answered.
        let repeated = repeated(&counting);
        assert_eq!(repeated.iter().map(|(once, again)| (&once.answer, &again.answer)).collect::<Vec<_>>(), [(&tie, &first)]);
    }

    #[test]
    fn an_older_answer_that_comes_later_into_the_log_corrects_nothing() {
        let at = |vote, at_millis| Judgement { at_millis, ..said("ann", "t", &["a", "b"], Answer::Pair(vote)) };
        let log = [
            at(Preference::Second, 20),
            at(Preference::First, 10),
            Judgement { at_millis: 30, ..said("ann", "t", &["a"], Answer::Skipped) },
        ];
        let counting = counting_judgements(&log);
        assert_eq!(counting.iter().map(|said| &said.answer).collect::<Vec<_>>(), [&Answer::Pair(Preference::Second)]);
    }

    #[test]
    fn pairs_and_rankings_become_votes_between_models() {
        let model = |edit: &EditKey| match edit.0.as_str() {
            "a" | "a2" => Some("flux"),
            "b" => Some("sdxl"),
            "c" => Some("qwen"),
            _ => None,
        };
        let votes = |shown: &[&str], answer| {
            let found = votes_of(&said("ann", "t", shown, answer), model)?;
            Ok::<_, String>(found.into_iter().map(|vote| (vote.first, vote.second, vote.preference, vote.criterion)).collect::<Vec<_>>())
        };
        let vote = |first: &str, second: &str, preference, criterion: &str| {
            (first.to_owned(), second.to_owned(), preference, criterion.to_owned())
        };
        assert_eq!(votes(&["b", "a"], Answer::Pair(Preference::BothBad)), Ok(vec![vote("sdxl", "flux", Preference::BothBad, "overall")]));
        // By hand: ranks 2 1 2 of b, a, c.
        assert_eq!(
            votes(&["b", "a", "c"], Answer::Ranking(vec![2, 1, 2])),
            Ok(vec![
                vote("sdxl", "flux", Preference::Second, "ranking"),
                vote("sdxl", "qwen", Preference::Tie, "ranking"),
                vote("flux", "qwen", Preference::First, "ranking"),
            ])
        );
        assert!(votes(&["a", "a2"], Answer::Pair(Preference::First)).is_err_and(|why| why.contains("both edits")));
        assert!(votes(&["a", "z"], Answer::Pair(Preference::First)).is_err_and(|why| why.contains("'z' names no model")));
        assert_eq!(votes(&["a", "b"], Answer::CannotJudge), Ok(vec![]));
        assert_eq!(votes_of(&said("ann", "repeat:t", &["a", "b"], Answer::Pair(Preference::First)), model), Ok(vec![]));
    }
}
