//! What a session came to, of all its raters, for a rater who is done: how they agree, what each of them is like, and where they differ.

use std::collections::{BTreeMap, HashMap};

use super::live::{LiveAgreement, live_agreement};
use crate::domain::{
    Answer, EditKey, Judgement, Outcome, Preference, Protocol, ProtocolKind, Question, SessionSetup, TaskRole, counting_judgements,
};
use crate::editor::{RowId, Summary, summary};
use crate::stats::raters::{RaterHabit, Unit, habits};

/// Tasks with different answers that are listed.
const LISTED: usize = 9;

/// What a session came to.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionResults {
    pub agreement: LiveAgreement,
    /// By name.
    pub raters: Vec<RaterLine>,
    /// Tasks on which raters differ, the furthest apart first; at most [`LISTED`].
    pub differing: Vec<DifferingTask>,
    /// Tasks on which raters differ, listed or not.
    pub differing_count: usize,
}

/// One rater of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct RaterLine {
    pub name: String,
    pub summary: Summary,
    /// For votes the share of the decided ones that went to A.
    pub for_a: Outcome<f64>,
    /// For rubrics one entry a question, in points of its scale: bias (mean of own answers minus the mean of the others') and spread (standard
    /// deviation of own answers, n − 1), as `agree` computes them.
    pub habits: Vec<(String, RaterHabit)>,
}

/// A task that raters answered differently.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferingTask {
    /// The edit to open; `None` when this project does not have it.
    pub row: Option<RowId>,
    pub item: String,
    /// What it is about and who said what.
    pub words: String,
    /// How far apart: points of the scale, steps of a vote, or pairs of edits in different order.
    pub apart: u32,
}

/// Sums up a session. `rows` and `models` tell the row and the model of an edit.
pub fn results(
    setup: &SessionSetup,
    log: &[Judgement],
    rows: &HashMap<EditKey, RowId>,
    models: &HashMap<EditKey, String>,
) -> SessionResults {
    let plain: Vec<&Judgement> =
        counting_judgements(log).into_iter().filter(|said| said.role == TaskRole::Plain && said.answer.is_answer()).collect();
    let mut tasks: BTreeMap<&str, Vec<&Judgement>> = BTreeMap::new();
    plain.iter().for_each(|said| tasks.entry(&said.task).or_default().push(said));
    let mut differing: Vec<DifferingTask> =
        tasks.values().filter_map(|said| differing_task(&setup.protocol, said, rows, models)).filter(|task| task.apart > 0).collect();
    let differing_count = differing.len();
    differing.sort_by(|a, b| b.apart.cmp(&a.apart).then_with(|| a.words.cmp(&b.words)));
    differing.truncate(LISTED);
    SessionResults { agreement: live_agreement(&setup.protocol, log), raters: rater_lines(setup, log, &tasks), differing, differing_count }
}

fn rater_lines(setup: &SessionSetup, log: &[Judgement], tasks: &BTreeMap<&str, Vec<&Judgement>>) -> Vec<RaterLine> {
    let mut names: Vec<&str> = log.iter().filter(|said| said.answer.is_answer()).map(|said| said.rater.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let habits = rubric_habits(setup, tasks, &names);
    let line = |(index, name): (usize, &&str)| {
        let for_a = match setup.protocol.kind() {
            ProtocolKind::Pairwise => share_of_a(tasks, name),
            _ => Outcome::NotApplicable("nobody voted".to_owned()),
        };
        let habits = habits.iter().filter_map(|(question, raters)| Some((question.clone(), raters.get(index)?.clone()))).collect();
        RaterLine { name: (*name).to_owned(), summary: summary(setup, log, name), for_a, habits }
    };
    names.iter().enumerate().map(line).collect()
}

/// Habits of all raters, in the order of `names`, question by question, in the values of its scale.
fn rubric_habits(setup: &SessionSetup, tasks: &BTreeMap<&str, Vec<&Judgement>>, names: &[&str]) -> Vec<(String, Vec<RaterHabit>)> {
    let questions = setup.protocol.rubric().map(|rubric| rubric.questions.as_slice()).unwrap_or_default();
    let of_question = |question: &Question| {
        let value = |said: &&Judgement| match &said.answer {
            Answer::Rubric { values, .. } => values.get(&question.name).copied(),
            _ => None,
        };
        let unit = |said: &Vec<&Judgement>| -> Unit {
            names.iter().map(|name| said.iter().find(|said| said.rater == *name).and_then(value)).collect()
        };
        let units: Vec<Unit> = tasks.values().map(unit).collect();
        (question.name.clone(), habits(&units))
    };
    questions.iter().map(of_question).collect()
}

/// The place of an answer on the scale of its question, from 1.
fn point(said: &Judgement, question: &Question) -> Option<u32> {
    let Answer::Rubric { values, .. } = &said.answer else { return None };
    let value = values.get(&question.name)?;
    question.scale.iter().zip(1..).find(|(point, _)| point.value == *value).map(|(_, place)| place)
}

fn share_of_a(tasks: &BTreeMap<&str, Vec<&Judgement>>, rater: &str) -> Outcome<f64> {
    let votes = tasks.values().flatten().filter(|said| said.rater == rater).filter_map(|said| match said.answer {
        Answer::Pair(vote) if !vote.is_tie() => Some(vote == Preference::First),
        _ => None,
    });
    let votes: Vec<bool> = votes.collect();
    if votes.is_empty() {
        return Outcome::NotApplicable("no vote prefers one of the two".into());
    }
    Outcome::Value(votes.iter().filter(|for_a| **for_a).count() as f64 / votes.len() as f64)
}

fn differing_task(
    protocol: &Protocol,
    said: &[&Judgement],
    rows: &HashMap<EditKey, RowId>,
    models: &HashMap<EditKey, String>,
) -> Option<DifferingTask> {
    let first = said.first().filter(|_| said.len() > 1)?;
    let model = |edit: &EditKey| models.get(edit).filter(|model| !model.is_empty()).unwrap_or(&edit.0).clone();
    let (about, answers, apart) = match protocol {
        Protocol::Rubric { rubric } => {
            let widest = rubric.questions.iter().map(|question| (spread(said, question), question)).max_by_key(|(spread, _)| *spread)?;
            let words = |said: &&&Judgement| match (&said.answer, widest.1) {
                (Answer::Rubric { values, .. }, question) => values.get(&question.name).map(ToString::to_string),
                _ => None,
            };
            let answers = said.iter().map(|said| format!("{} {}", said.rater, words(&said).unwrap_or_else(|| "can’t judge".to_owned())));
            (format!("{}, {}", first.shown.first().map(model)?, widest.1.name), answers.collect::<Vec<_>>(), widest.0)
        }
        Protocol::Pairwise => {
            let winner = |said: &&Judgement| match &said.answer {
                Answer::Pair(Preference::First) => said.shown.first().map(model),
                Answer::Pair(Preference::Second) => said.shown.last().map(model),
                Answer::Pair(vote) => Some(vote.label().to_lowercase()),
                _ => Some("can’t judge".to_owned()),
            };
            let mut both: Vec<String> = first.shown.iter().map(model).collect();
            both.sort();
            let answers = said.iter().filter_map(|said| Some(format!("{} {}", said.rater, winner(said)?)));
            (both.join(" or "), answers.collect(), furthest(said, vote_distance))
        }
        Protocol::Ranking => {
            let order = |said: &&Judgement| match &said.answer {
                Answer::Ranking(ranks) => {
                    let mut places: Vec<(u32, String)> = ranks.iter().copied().zip(said.shown.iter().map(model)).collect();
                    places.sort();
                    places.iter().map(|(rank, model)| format!("{rank} {model}")).collect::<Vec<_>>().join(", ")
                }
                _ => "can’t judge".to_owned(),
            };
            let answers = said.iter().map(|said| format!("{}: {}", said.rater, order(said)));
            ("the order".to_owned(), answers.collect(), furthest(said, rank_distance))
        }
    };
    let row = first.shown.iter().min().and_then(|edit| rows.get(edit)).copied();
    Some(DifferingTask { row, item: first.item.0.clone(), words: format!("{about}: {}", answers.join(" · ")), apart })
}

/// Greatest minus least answer to a question, in points.
fn spread(said: &[&Judgement], question: &Question) -> u32 {
    let points: Vec<u32> = said.iter().filter_map(|said| point(said, question)).collect();
    points.iter().max().zip(points.iter().min()).map_or(0, |(max, min)| max - min)
}

fn furthest(said: &[&Judgement], distance: fn(&Judgement, &Judgement) -> u32) -> u32 {
    let pairs = said.iter().enumerate().flat_map(|(at, a)| said[at + 1..].iter().map(move |b| distance(a, b)));
    pairs.max().unwrap_or(0)
}

/// Two for opposite votes, one between a vote for one and a tie; both bad is as far from a tie.
fn vote_distance(a: &Judgement, b: &Judgement) -> u32 {
    let (Answer::Pair(first), Answer::Pair(second)) = (&a.answer, &b.answer) else { return 0 };
    let second = if a.shown == b.shown { *second } else { second.swapped() };
    match (first.is_tie(), second.is_tie()) {
        (false, false) if *first != second => 2,
        _ => u32::from(*first != second),
    }
}

/// Pairs of edits that the two put in opposite order.
fn rank_distance(a: &Judgement, b: &Judgement) -> u32 {
    let (Answer::Ranking(first), Answer::Ranking(second)) = (&a.answer, &b.answer) else { return 0 };
    let in_b = |edit: &EditKey| b.shown.iter().position(|other| other == edit).and_then(|at| second.get(at)).copied();
    let both: Vec<(u32, u32)> = a.shown.iter().zip(first).filter_map(|(edit, rank)| Some((*rank, in_b(edit)?))).collect();
    let opposite = |x: &(u32, u32), y: &(u32, u32)| (x.0 < y.0 && x.1 > y.1) || (x.0 > y.0 && x.1 < y.1);
    both.iter().enumerate().map(|(at, x)| both[at + 1..].iter().filter(|y| opposite(x, y)).count() as u32).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ItemKey, Rubric, Visible};

    fn setup(protocol: Protocol) -> SessionSetup {
        SessionSetup {
            name: "s".into(),
            protocol,
            blind: true,
            live_agreement: false,
            repeat_percent: 0,
            checks: 0,
            seed: 1,
            which: String::new(),
            edits: Vec::new(),
            created_by: "eve".into(),
            created_millis: 1,
        }
    }

    fn said(rater: &str, task: &str, shown: &[&str], answer: Answer) -> Judgement {
        Judgement {
            session: "s".into(),
            rater: rater.into(),
            item: ItemKey("i".into()),
            shown: shown.iter().map(|key| EditKey((*key).into())).collect(),
            task: task.into(),
            role: TaskRole::Plain,
            answer,
            comment: String::new(),
            place: 1,
            seconds: 4.0,
            at_millis: 1,
            visible: Visible::default(),
            rubric: None,
        }
    }

    fn known() -> (HashMap<EditKey, RowId>, HashMap<EditKey, String>) {
        let keys = ["a", "b", "c"];
        let rows = keys.iter().zip(1..).map(|(key, row)| (EditKey((*key).into()), RowId(row))).collect();
        let models = keys.iter().map(|key| (EditKey((*key).into()), format!("model-{key}"))).collect();
        (rows, models)
    }

    #[test]
    fn raters_of_a_rubric_differ_in_points_of_its_scale() {
        // Two questions in {0, 0.5, 1}: one step is one point, whatever the values.
        let values =
            |sc: f64, pq: f64| Answer::Rubric { values: [("SC".to_owned(), sc), ("PQ".to_owned(), pq)].into(), cannot_judge: Vec::new() };
        let log = [
            said("ann", "edit:a", &["a"], values(1.0, 1.0)),
            said("bob", "edit:a", &["a"], values(0.0, 0.5)),
            said("ann", "edit:b", &["b"], values(0.5, 0.5)),
            said("bob", "edit:b", &["b"], values(0.5, 0.5)),
        ];
        let (rows, models) = known();
        let found = results(&setup(Protocol::Rubric { rubric: Rubric::imagenhub() }), &log, &rows, &models);
        assert_eq!((found.differing_count, found.differing.len()), (1, 1));
        let task = &found.differing[0];
        assert_eq!((task.row, task.apart, task.words.as_str()), (Some(RowId(1)), 2, "model-a, SC: ann 1 · bob 0"));
        // By hand, in points of the scale: of SC ann minus bob is 1 and 0, of PQ 0.5 and 0. Ann's answers to either are 1 and 0.5, each a quarter
        // from their mean: √(2 · 0.0625 / 1).
        let habits = |rater: usize, of: fn(&RaterHabit) -> &Outcome<f64>| -> Vec<(&str, Option<f64>)> {
            found.raters[rater].habits.iter().map(|(question, habit)| (question.as_str(), of(habit).value().copied())).collect()
        };
        assert_eq!(habits(0, |habit| &habit.bias), [("SC", Some(0.5)), ("PQ", Some(0.25))]);
        assert_eq!(habits(1, |habit| &habit.bias), [("SC", Some(-0.5)), ("PQ", Some(-0.25))]);
        let spreads = habits(0, |habit| &habit.spread);
        assert!(spreads.iter().all(|(_, spread)| spread.is_some_and(|spread| (spread - 0.125_f64.sqrt()).abs() < 1e-12)), "{spreads:?}");
        assert_eq!(found.raters[0].summary.median_seconds, Some(4.0));
    }

    #[test]
    fn votes_and_orders_differ_by_edit_and_not_by_side() {
        let pair = |vote| Answer::Pair(vote);
        let log = [
            // The same edit wins, shown on different sides.
            said("ann", "1", &["a", "b"], pair(Preference::First)),
            said("bob", "1", &["b", "a"], pair(Preference::Second)),
            said("ann", "2", &["a", "c"], pair(Preference::First)),
            said("bob", "2", &["a", "c"], pair(Preference::Second)),
            said("ann", "3", &["b", "c"], pair(Preference::Tie)),
            said("bob", "3", &["b", "c"], pair(Preference::BothBad)),
        ];
        let (rows, models) = known();
        let found = results(&setup(Protocol::Pairwise), &log, &rows, &models);
        let tasks: Vec<(u32, &str)> = found.differing.iter().map(|task| (task.apart, task.words.as_str())).collect();
        assert_eq!(tasks, [(2, "model-a or model-c: ann model-a · bob model-c"), (1, "model-b or model-c: ann tie · bob both bad")]);
        // ann's two decided votes went to A, bob's to B.
        assert_eq!(found.raters.iter().map(|rater| rater.for_a.value().copied()).collect::<Vec<_>>(), [Some(1.0), Some(0.0)]);
        let log = [
            said("ann", "1", &["a", "b", "c"], Answer::Ranking(vec![1, 2, 3])),
            said("bob", "1", &["c", "b", "a"], Answer::Ranking(vec![1, 1, 3])),
        ];
        let found = results(&setup(Protocol::Ranking), &log, &rows, &models);
        // By hand: a before b and a before c are turned round, b and c tie with bob.
        assert_eq!(found.differing[0].apart, 2);
        assert_eq!(found.differing[0].words, "the order: ann: 1 model-a, 2 model-b, 3 model-c · bob: 1 model-b, 1 model-c, 3 model-a");
    }
}
