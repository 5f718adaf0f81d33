//! How the raters of a session agree so far, from its log.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Answer, Judgement, Outcome, Preference, Protocol, TaskRole, counting_judgements};
use crate::stats::Level;
use crate::stats::people::BetweenRaters;
use crate::stats::raters::Unit;

/// Agreement between raters, one line a question.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveAgreement {
    pub raters: usize,
    pub lines: Vec<LiveLine>,
}

/// Agreement about one question (votes and ranks are one question).
#[derive(Clone, Debug, PartialEq)]
pub struct LiveLine {
    pub name: String,
    /// Things that two raters or more answered.
    pub units: usize,
    /// Share of pairs of answers that are the same.
    pub equal: Outcome<f64>,
    /// Krippendorff's α: ordinal, for votes nominal.
    pub alpha: Outcome<f64>,
    /// Every statistic; for votes, which are no numbers, only the nominal ones.
    pub all: BetweenRaters,
}

/// Compares the newest answers of all raters, without repeats and checks.
pub fn live_agreement(protocol: &Protocol, log: &[Judgement]) -> LiveAgreement {
    let plain: Vec<&Judgement> =
        counting_judgements(log).into_iter().filter(|said| said.role == TaskRole::Plain && said.answer.is_answer()).collect();
    let raters: BTreeSet<&str> = plain.iter().map(|said| said.rater.as_str()).collect();
    let raters: Vec<&str> = raters.into_iter().collect();
    // Question → unit → rater → value.
    let mut table: BTreeMap<String, BTreeMap<String, BTreeMap<&str, f64>>> = BTreeMap::new();
    for said in plain {
        for (question, unit, value) in values(said) {
            table.entry(question).or_default().entry(unit).or_default().insert(&said.rater, value);
        }
    }
    let names: Vec<String> = match protocol {
        Protocol::Rubric { rubric } => rubric.questions.iter().map(|question| question.name.clone()).collect(),
        Protocol::Pairwise => vec![VOTES.to_owned()],
        Protocol::Ranking => vec![RANKS.to_owned()],
    };
    let level = if matches!(protocol, Protocol::Pairwise) { Level::Nominal } else { Level::Ordinal };
    let line = |name: String| {
        let units: Vec<Unit> = table
            .get(&name)
            .map(|units| units.values().map(|answers| raters.iter().map(|rater| answers.get(rater).copied()).collect()).collect())
            .unwrap_or_default();
        let shared = units.iter().filter(|unit| unit.iter().flatten().count() > 1).count();
        let mut all = BetweenRaters::of(&raters, &units);
        let alpha = match level {
            Level::Nominal => all.alpha_nominal.clone(),
            _ => all.alpha_ordinal.clone(),
        };
        if level == Level::Nominal {
            let none = || Outcome::NotApplicable("a vote is no number".to_owned());
            (all.alpha_ordinal, all.alpha_interval, all.icc_single, all.icc_mean) = (none(), none(), none(), none());
        }
        LiveLine { name, units: shared, equal: all.percent.clone(), alpha, all }
    };
    LiveAgreement { raters: raters.len(), lines: names.into_iter().map(line).collect() }
}

const VOTES: &str = "votes";
const RANKS: &str = "ranks";

/// Question, unit and value of everything that a judgement answers. Places on the screen become edits again.
fn values(said: &Judgement) -> Vec<(String, String, f64)> {
    match &said.answer {
        Answer::Rubric { values, .. } => values.iter().map(|(name, value)| (name.clone(), said.task.clone(), *value)).collect(),
        Answer::Pair(vote) => {
            let turned = said.shown.first() > said.shown.last();
            let vote = if turned { vote.swapped() } else { *vote };
            let code = Preference::ALL.iter().position(|other| *other == vote).unwrap_or_default();
            vec![(VOTES.to_owned(), said.task.clone(), code as f64)]
        }
        Answer::Ranking(ranks) => said
            .shown
            .iter()
            .zip(ranks)
            .map(|(edit, rank)| (RANKS.to_owned(), format!("{}\n{edit}", said.task), f64::from(*rank)))
            .collect(),
        Answer::CannotJudge | Answer::Skipped | Answer::Unblinded => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{EditKey, ItemKey, Visible};

    fn vote(rater: &str, task: &str, shown: [&str; 2], vote: Preference) -> Judgement {
        Judgement {
            session: "s".into(),
            rater: rater.into(),
            item: ItemKey("i".into()),
            shown: shown.map(|key| EditKey(key.into())).into(),
            task: task.into(),
            role: TaskRole::Plain,
            answer: Answer::Pair(vote),
            comment: String::new(),
            place: 1,
            seconds: 1.0,
            at_millis: 1,
            visible: Visible::default(),
            rubric: None,
        }
    }

    #[test]
    fn votes_are_compared_by_edit_and_not_by_side_and_corrections_replace() {
        let log = [
            vote("ann", "1", ["a", "b"], Preference::Second),
            vote("ann", "1", ["a", "b"], Preference::First),
            vote("bob", "1", ["b", "a"], Preference::Second),
            vote("ann", "2", ["a", "b"], Preference::Tie),
            vote("bob", "2", ["b", "a"], Preference::First),
            vote("ann", "3", ["a", "b"], Preference::First),
        ];
        let found = live_agreement(&Protocol::Pairwise, &log);
        assert_eq!((found.raters, found.lines.len(), found.lines[0].units), (2, 1, 2));
        // Both prefer a in 1; tie against b in 2: one of two pairs of answers is the same.
        assert_eq!(found.lines[0].equal, Outcome::Value(0.5));
        // Nominal α by hand: values a a | tie b; D_o = 2·(0 + 1)/4 = 0.5; of the 12 ordered pairs 2 are equal, D_e = 10/12; α = 1 − 0.6.
        let alpha = found.lines[0].alpha.value().copied().unwrap_or(f64::NAN);
        assert!((alpha - 0.4).abs() < 1e-12, "{alpha}");
        // Cohen's κ by hand over tasks 1 and 2: equal 1/2; ann says a, tie and bob a, b, so chance is 1/2 · 1/2 = 1/4 and κ = 1/3. Ann's
        // third vote stands alone and counts for nothing.
        let all = &found.lines[0].all;
        let kappa = all.cohen_kappa[0].kappa.value().copied().unwrap_or(f64::NAN);
        assert!((kappa - 1.0 / 3.0).abs() < 1e-12, "{:?}", all.cohen_kappa);
        assert_eq!(all.icc_mean.why(), Some("a vote is no number"));
    }

    /// By hand for ann 1 2 3 4 and bob 2 2 4 4: the mean squares are 17/6 between rows, 1/2 between columns and 1/6 for the rest, so ICC(2,1) is
    /// (17/6 − 1/6) / (17/6 + 1/6 + 2 · (1/2 − 1/6) / 4) = 16/19.
    #[test]
    fn a_rubric_has_every_statistic_while_it_is_being_rated() {
        let answer = |rater: &str, task: usize, value: f64| Judgement {
            answer: Answer::Rubric { values: [("overall".to_owned(), value)].into(), cannot_judge: Vec::new() },
            ..vote(rater, &task.to_string(), ["a", "b"], Preference::Tie)
        };
        let ann = [1.0, 2.0, 3.0, 4.0].into_iter().enumerate().map(|(task, value)| answer("ann", task, value));
        let bob = [2.0, 2.0, 4.0, 4.0].into_iter().enumerate().map(|(task, value)| answer("bob", task, value));
        let log: Vec<Judgement> = ann.chain(bob).collect();
        let found = live_agreement(&Protocol::Rubric { rubric: crate::domain::Rubric::paper() }, &log);
        let overall = found.lines.iter().find(|line| line.name == "overall").map(|line| line.all.clone());
        let Some(all) = overall else { panic!("{found:?}") };
        let near = |outcome: &Outcome<f64>, expected: f64| outcome.value().is_some_and(|value| (value - expected).abs() < 1e-6);
        assert!(near(&all.icc_single, 16.0 / 19.0), "{:?}", all.icc_single);
        // The mean of two raters: (17/6 − 1/6) / (17/6 + (1/2 − 1/6) / 4) = 32/35.
        assert!(near(&all.icc_mean, 32.0 / 35.0), "{:?}", all.icc_mean);
        assert!(near(&all.percent, 0.5) && all.fleiss_kappa.value().is_some() && all.cohen_kappa.len() == 1, "{all:?}");
        assert!(found.lines[0].all.icc_single.why().is_some(), "nobody answered modification");
    }

    #[test]
    fn alone_there_is_no_agreement_and_the_reason_is_said() {
        let found = live_agreement(&Protocol::Pairwise, &[vote("ann", "1", ["a", "b"], Preference::First)]);
        assert!(found.lines[0].equal.why().is_some_and(|why| why.contains("two raters")));
    }
}
