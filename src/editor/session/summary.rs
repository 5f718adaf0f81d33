//! What a rater's session came to: speed, self-consistency and attention checks.

use crate::domain::{Answer, Judgement, Protocol, Rubric, SessionSetup, TaskRole, counting_judgements, repeated};

/// How a rater's second answers fit the first ones.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Consistency {
    /// Tasks that were answered twice.
    pub tasks: usize,
    /// Single answers to compare: questions of a rubric, votes, or pairs of ranked edits.
    pub answers: usize,
    /// Those that were the same both times.
    pub same: usize,
    /// Sum of the distances on the scale, in points; only for rubrics.
    pub points_apart: usize,
}

/// What the end of a session shows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Summary {
    /// Tasks with an answer, those that could not be judged among them.
    pub answered: usize,
    pub cannot_judge: usize,
    pub skipped: usize,
    /// All seconds spent on answers that count.
    pub seconds: f64,
    /// The middle of the seconds a task, over answers with a value that are no repeats and no checks; `None` without any.
    pub median_seconds: Option<f64>,
    pub consistency: Consistency,
    pub checks: usize,
    pub checks_passed: usize,
    /// Attention checks that were answered but that no question of the rubric can judge; they are none of `checks`.
    pub checks_unjudged: usize,
}

/// Sums up what `rater` did in a session.
pub fn summary(setup: &SessionSetup, log: &[Judgement], rater: &str) -> Summary {
    let rubric = setup.protocol.rubric();
    let counting: Vec<&Judgement> = counting_judgements(log).into_iter().filter(|said| said.rater == rater).collect();
    let mut summary = Summary::default();
    let mut seconds: Vec<f64> = Vec::new();
    for judgement in &counting {
        if !judgement.answer.is_answer() {
            summary.skipped += 1;
            continue;
        }
        summary.answered += 1;
        summary.cannot_judge += usize::from(judgement.answer == Answer::CannotJudge);
        summary.seconds += judgement.seconds;
        // As `agree` has it: answers with a value to tasks that are no repeats and no checks.
        let has_value = match &judgement.answer {
            Answer::Rubric { values, .. } => !values.is_empty(),
            answer => *answer != Answer::CannotJudge,
        };
        if judgement.role == TaskRole::Plain && has_value {
            seconds.push(judgement.seconds);
        }
        match judgement.check_passed(rubric) {
            Some(passed) => {
                summary.checks += 1;
                summary.checks_passed += usize::from(passed);
            }
            None => summary.checks_unjudged += usize::from(judgement.role.is_check()),
        }
    }
    for (first, again) in repeated(&counting) {
        compare(&mut summary.consistency, first, again, &setup.protocol);
    }
    seconds.sort_by(f64::total_cmp);
    summary.median_seconds = median(&seconds);
    summary
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[middle - 1] + upper) / 2.0 })
}

fn compare(found: &mut Consistency, first: &Judgement, second: &Judgement, protocol: &Protocol) {
    let before = found.answers;
    match (&first.answer, &second.answer) {
        (Answer::Rubric { values: once, .. }, Answer::Rubric { values: again, .. }) => {
            for question in protocol.rubric().map(|rubric: &Rubric| rubric.questions.as_slice()).unwrap_or_default() {
                let place = |value: f64| question.scale.iter().position(|point| point.value == value);
                let pair = once.get(&question.name).zip(again.get(&question.name));
                if let Some((once, again)) = pair.and_then(|(once, again)| Some((place(*once)?, place(*again)?))) {
                    found.answers += 1;
                    found.same += usize::from(once == again);
                    found.points_apart += once.abs_diff(again);
                }
            }
        }
        (Answer::Pair(once), Answer::Pair(again)) => {
            let again = if first.shown == second.shown { *again } else { again.swapped() };
            found.answers += 1;
            found.same += usize::from(*once == again);
        }
        (Answer::Ranking(once), Answer::Ranking(again)) => {
            let rank_again = |edit| second.shown.iter().position(|other| other == edit).and_then(|at| again.get(at));
            let ranks: Vec<(u32, u32)> =
                first.shown.iter().zip(once).filter_map(|(edit, rank)| Some((*rank, *rank_again(edit)?))).collect();
            for (index, a) in ranks.iter().enumerate() {
                for b in &ranks[index + 1..] {
                    found.answers += 1;
                    found.same += usize::from(a.0.cmp(&b.0) == a.1.cmp(&b.1));
                }
            }
        }
        _ => {}
    }
    found.tasks += usize::from(found.answers > before);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{EditKey, ItemKey, Visible};

    /// By hand: the first answers to tasks took 2, 4 and 9 seconds, so the middle is 4; the repeat (1 s), the check (1 s) and what cannot be judged
    /// (1 s) are no answers of `agree`, but all of them took time.
    #[test]
    fn the_time_of_a_task_is_that_of_first_answers_with_a_value() {
        let setup = SessionSetup {
            name: "s".into(),
            protocol: Protocol::Pairwise,
            blind: true,
            live_agreement: false,
            repeat_percent: 0,
            checks: 0,
            seed: 1,
            which: String::new(),
            edits: Vec::new(),
            created_by: "eve".into(),
            created_millis: 1,
        };
        let said = |task: &str, role, answer, seconds| Judgement {
            session: "s".into(),
            rater: "ann".into(),
            item: ItemKey("i".into()),
            shown: ["a", "b"].map(|key| EditKey(key.into())).into(),
            task: task.into(),
            role,
            answer,
            comment: String::new(),
            place: 1,
            seconds,
            at_millis: 1,
            visible: Visible::default(),
            rubric: None,
        };
        let vote = || Answer::Pair(crate::domain::Preference::First);
        let log = [
            said("1", TaskRole::Plain, vote(), 9.0),
            said("2", TaskRole::Plain, vote(), 2.0),
            said("3", TaskRole::Plain, vote(), 4.0),
            said("repeat:1", TaskRole::Repeat, vote(), 1.0),
            said("check:1", TaskRole::SameTwice, vote(), 1.0),
            said("4", TaskRole::Plain, Answer::CannotJudge, 1.0),
        ];
        let found = summary(&setup, &log, "ann");
        assert_eq!((found.answered, found.seconds, found.median_seconds), (6, 18.0, Some(4.0)));
    }
}
