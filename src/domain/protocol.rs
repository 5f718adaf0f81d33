//! Rating sessions: how raters are asked (protocol), about what, in which order, and what they answered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::item::{EditKey, ItemKey};
use super::rubric::Rubric;
use super::vote::Preference;

/// How raters are asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "protocol", rename_all = "snake_case")]
pub enum Protocol {
    /// Questions about one edit.
    Rubric { rubric: Rubric },
    /// Which of two edits of an item is better.
    Pairwise,
    /// All edits of an item in order, ties allowed.
    Ranking,
}

/// The kind of a protocol, as ratings name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolKind {
    Rubric,
    Pairwise,
    Ranking,
}

impl ProtocolKind {
    /// All kinds, in the order they are offered.
    pub const ALL: [Self; 3] = [Self::Rubric, Self::Pairwise, Self::Ranking];

    /// The word in files and in the window.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rubric => "rubric",
            Self::Pairwise => "pairwise",
            Self::Ranking => "ranking",
        }
    }
}

impl Protocol {
    /// Its kind.
    pub const fn kind(&self) -> ProtocolKind {
        match self {
            Self::Rubric { .. } => ProtocolKind::Rubric,
            Self::Pairwise => ProtocolKind::Pairwise,
            Self::Ranking => ProtocolKind::Ranking,
        }
    }

    /// The rubric, where there is one.
    pub const fn rubric(&self) -> Option<&Rubric> {
        match self {
            Self::Rubric { rubric } => Some(rubric),
            Self::Pairwise | Self::Ranking => None,
        }
    }
}

/// An edit that a session asks about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionEdit {
    pub item: ItemKey,
    pub edit: EditKey,
}

/// Everything that decides what raters of a session see and in which order. Never changed once it is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionSetup {
    pub name: String,
    pub protocol: Protocol,
    /// Names of models and all scores are hidden.
    pub blind: bool,
    /// After each answer, raters see how they agree with the others so far.
    pub live_agreement: bool,
    /// Per cent of the tasks that are asked a second time.
    pub repeat_percent: u8,
    /// Number of attention checks.
    pub checks: u16,
    /// From it and the rater's name follows the rater's own order.
    pub seed: u32,
    /// Which edits these are, in words ("96 edits: all").
    pub which: String,
    pub edits: Vec<SessionEdit>,
    pub created_by: String,
    /// Milliseconds since 1970, UTC.
    pub created_millis: i64,
}

impl SessionSetup {
    /// Names the session wherever its answers go: a hash of the whole setup, so that copies on two machines are one session.
    pub fn uid(&self) -> String {
        super::content_hash(self)
    }

    /// The seed of a rater's own order: the first eight bytes of the BLAKE3 hash of seed and name, so that it can be computed again.
    pub fn rater_seed(&self, rater: &str) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_le_bytes()).update(rater.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        u64::from_le_bytes(first)
    }

    /// Why no session can be made of this, one sentence each; empty when one can.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.name.trim().is_empty() {
            problems.push("the session needs a name".to_owned());
        }
        if self.edits.is_empty() {
            problems.push("the filter leaves no edit to rate".to_owned());
        }
        if self.repeat_percent > 100 {
            problems.push(format!("{} per cent of the tasks cannot be repeated; at most 100", self.repeat_percent));
        }
        let mut per_item: BTreeMap<&ItemKey, usize> = BTreeMap::new();
        self.edits.iter().for_each(|edit| *per_item.entry(&edit.item).or_default() += 1);
        if self.protocol.kind() != ProtocolKind::Rubric && !self.edits.is_empty() && per_item.values().all(|&edits| edits < 2) {
            problems.push("no item has two edits to compare".to_owned());
        }
        problems.extend(self.protocol.rubric().map(Rubric::problems).unwrap_or_default());
        problems
    }
}

/// Why a task is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskRole {
    /// For its answer.
    Plain,
    /// A second time, to see whether the rater answers the same.
    Repeat,
    /// Attention check: the source is shown as if it were the edit.
    SourceAsEdit,
    /// Attention check: the same edit is shown twice.
    SameTwice,
}

impl TaskRole {
    /// Whether it is an attention check.
    pub const fn is_check(self) -> bool {
        matches!(self, Self::SourceAsEdit | Self::SameTwice)
    }

    /// The word in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Repeat => "repeat",
            Self::SourceAsEdit => "source_as_edit",
            Self::SameTwice => "same_twice",
        }
    }
}

/// What a rater says about one task. Edits are named by the place they were shown at, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// One value for each question that was answered; the others could not be judged, or were not required and left out.
    Rubric { values: BTreeMap<String, f64>, cannot_judge: Vec<String> },
    /// `First` is the edit shown on the left.
    Pair(Preference),
    /// A rank for each shown edit, 1 for the best; equal ranks are ties.
    Ranking(Vec<u32>),
    /// The whole task cannot be judged.
    CannotJudge,
    /// Left for later; no answer.
    Skipped,
    /// The rater looked behind the blind; no answer, but those that follow are not blind.
    Unblinded,
}

impl Answer {
    /// Whether it settles the task.
    pub const fn is_answer(&self) -> bool {
        !matches!(self, Self::Skipped | Self::Unblinded)
    }
}

/// What the rater could see besides the pictures and the instruction.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Visible {
    pub models: bool,
    pub scores: bool,
    /// Names of the overlays that were switched on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<String>,
    /// Models or scores of these edits were shown to the rater before, elsewhere in the program: the answer is not as blind as it looks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub seen_before: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// How a rating came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatingContext {
    pub protocol: ProtocolKind,
    /// Name and version of the rubric ([`Rubric::version`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<RubricId>,
    /// [`SessionSetup::uid`]; `None` when it was given outside of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Displayed position in the rater's own order, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// How long it took: in a session as [`Judgement::seconds`], on the Rate tab from the edit being selected to the answer, in an imported
    /// table as the table says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// `None` when nothing says what the rater saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible: Option<Visible>,
    /// Questions that the rater could not judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cannot_judge: Vec<String>,
    /// Scales of answers in words ([`super::scale_words`]), by criterion, where the data say them and no rubric does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scales: BTreeMap<String, String>,
}

impl RatingContext {
    /// An answer to a rubric of which nothing else is known.
    pub fn of_rubric(rubric: RubricId) -> Self {
        Self { rubric: Some(rubric), ..Self::of_table(None, BTreeMap::new()) }
    }

    /// An answer out of a table, which says at most how long it took and on which scales it was given.
    pub fn of_table(seconds: Option<f64>, scales: BTreeMap<String, String>) -> Self {
        Self {
            protocol: ProtocolKind::Rubric,
            rubric: None,
            session: None,
            place: None,
            seconds,
            visible: None,
            cannot_judge: Vec::new(),
            scales,
        }
    }

    /// How the answer of a judgement to a rubric came about.
    pub fn of_judgement(said: &Judgement, cannot_judge: Vec<String>) -> Self {
        Self {
            protocol: ProtocolKind::Rubric,
            rubric: said.rubric.clone(),
            session: Some(said.session.clone()),
            place: Some(said.place),
            seconds: Some(said.seconds),
            visible: Some(said.visible.clone()),
            cannot_judge,
            scales: BTreeMap::new(),
        }
    }
}

/// Names a rubric with its exact words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RubricId {
    pub name: String,
    pub version: String,
}

impl From<&Rubric> for RubricId {
    fn from(rubric: &Rubric) -> Self {
        Self { name: rubric.name.clone(), version: rubric.version() }
    }
}

/// One answer of one rater to one task of a session. Append-only: a correction is a new judgement of the same task, the newest counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// [`SessionSetup::uid`].
    pub session: String,
    pub rater: String,
    pub item: ItemKey,
    /// The edits in the order they were shown, left to right. For [`TaskRole::SourceAsEdit`] the edit that the source stood in for.
    pub shown: Vec<EditKey>,
    /// Names the task within the session; the same for all raters.
    pub task: String,
    pub role: TaskRole,
    pub answer: Answer,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// Displayed position in the rater's own order, from 1.
    pub place: u32,
    /// Seconds from the first look at the task to the answer, as far as the rating page was in front and both pictures could be seen: breaks
    /// do not count. A task that was left and opened again begins anew; 0 for looking behind the blind.
    pub seconds: f64,
    /// Milliseconds since 1970, UTC.
    pub at_millis: i64,
    pub visible: Visible,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<RubricId>,
}

impl Judgement {
    /// Whether an attention check was passed; `None` for other tasks and where nothing was answered. `rubric` is the session's.
    ///
    /// The source shown as the edit passes when every answered question that can tell ([`super::Question::fits_unedited`]) tells;
    /// the same edit shown twice passes as a tie, as both bad, or with equal ranks. `None` too where no question of the rubric can tell,
    /// or none of those that can was answered: nobody fails a check that has no right answer.
    pub fn check_passed(&self, rubric: Option<&Rubric>) -> Option<bool> {
        if !self.role.is_check() || !self.answer.is_answer() {
            return None;
        }
        if self.role == TaskRole::SourceAsEdit && rubric?.telling().next().is_none() {
            return None;
        }
        Some(match (&self.answer, self.role) {
            (Answer::Rubric { values, cannot_judge }, TaskRole::SourceAsEdit) => {
                let told = rubric?.telling().filter_map(|question| question.fits_unedited(*values.get(&question.name)?));
                let told: Vec<bool> = told.collect();
                let gave_up = || rubric.is_some_and(|rubric| rubric.telling().any(|question| cannot_judge.contains(&question.name)));
                if told.is_empty() && !gave_up() {
                    return None;
                }
                !told.is_empty() && told.iter().all(|&fits| fits)
            }
            (Answer::Pair(vote), TaskRole::SameTwice) => matches!(vote, Preference::Tie | Preference::BothBad),
            (Answer::Ranking(ranks), TaskRole::SameTwice) => {
                let first_of = |edit: &EditKey| self.shown.iter().position(|other| other == edit);
                let twin =
                    self.shown.iter().enumerate().find_map(|(at, edit)| first_of(edit).filter(|&first| first != at).map(|f| (f, at)));
                twin.is_some_and(|(first, second)| ranks.get(first).is_some() && ranks.get(first) == ranks.get(second))
            }
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(role: TaskRole, shown: &[&str], answer: Answer) -> Judgement {
        Judgement {
            session: "s".into(),
            rater: "ann".into(),
            item: ItemKey("i".into()),
            shown: shown.iter().map(|key| EditKey((*key).into())).collect(),
            task: "t".into(),
            role,
            answer,
            comment: String::new(),
            place: 1,
            seconds: 2.5,
            at_millis: 3,
            visible: Visible::default(),
            rubric: None,
        }
    }

    fn rubric_answer(modification: f64, preservation: f64) -> Answer {
        let values = BTreeMap::from([("modification".to_owned(), modification), ("preservation".to_owned(), preservation)]);
        Answer::Rubric { values, cannot_judge: Vec::new() }
    }

    #[test]
    fn attention_checks_know_their_answer() {
        let rubric = Rubric::paper();
        let passed = |role, shown: &[&str], answer| judgement(role, shown, answer).check_passed(Some(&rubric));
        assert_eq!(passed(TaskRole::SourceAsEdit, &["a"], rubric_answer(1.0, 5.0)), Some(true));
        assert_eq!(passed(TaskRole::SourceAsEdit, &["a"], rubric_answer(4.0, 5.0)), Some(false));
        assert_eq!(passed(TaskRole::SourceAsEdit, &["a"], Answer::CannotJudge), Some(false));
        assert_eq!(passed(TaskRole::SameTwice, &["a", "a"], Answer::Pair(Preference::Tie)), Some(true));
        assert_eq!(passed(TaskRole::SameTwice, &["a", "a"], Answer::Pair(Preference::First)), Some(false));
        assert_eq!(passed(TaskRole::SameTwice, &["b", "a", "c", "a"], Answer::Ranking(vec![1, 2, 3, 2])), Some(true));
        assert_eq!(passed(TaskRole::SameTwice, &["b", "a", "c", "a"], Answer::Ranking(vec![1, 2, 2, 3])), Some(false));
        assert_eq!(passed(TaskRole::Plain, &["a"], rubric_answer(1.0, 5.0)), None);
        assert_eq!(passed(TaskRole::SourceAsEdit, &["a"], Answer::Skipped), None);
    }

    #[test]
    fn nobody_fails_a_check_that_no_question_can_judge() {
        let mut rubric = Rubric::paper();
        let check = |rubric: &Rubric, answer: Answer| judgement(TaskRole::SourceAsEdit, &["a"], answer).check_passed(Some(rubric));
        // A telling question that was left open says nothing; one that an attentive rater "cannot judge" is a failure.
        let of = |values: &[(&str, f64)], cannot_judge: &[&str]| Answer::Rubric {
            values: values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            cannot_judge: cannot_judge.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_eq!(check(&rubric, of(&[("overall", 4.0)], &[])), None);
        assert_eq!(check(&rubric, of(&[("overall", 4.0)], &["modification"])), Some(false));
        assert_eq!(check(&rubric, of(&[("modification", 1.0)], &["preservation"])), Some(true));
        rubric.questions.iter_mut().for_each(|question| question.unedited = super::super::Unedited::Unknown);
        assert_eq!(check(&rubric, rubric_answer(1.0, 5.0)), None);
        assert_eq!(check(&rubric, Answer::CannotJudge), None);
    }

    #[test]
    fn a_setup_and_its_copy_are_one_session() {
        let setup = SessionSetup {
            name: "s".into(),
            protocol: Protocol::Pairwise,
            blind: true,
            live_agreement: false,
            repeat_percent: 10,
            checks: 0,
            seed: 7,
            which: "all".into(),
            edits: vec![SessionEdit { item: ItemKey("i".into()), edit: EditKey("a".into()) }],
            created_by: "ann".into(),
            created_millis: 1,
        };
        let text = serde_json::to_string(&setup).unwrap();
        let copy: SessionSetup = serde_json::from_str(&text).unwrap();
        assert_eq!((copy.uid(), &copy), (setup.uid(), &setup));
        assert_ne!(SessionSetup { seed: 8, ..copy }.uid(), setup.uid());
        assert_eq!(setup.problems(), ["no item has two edits to compare"]);
    }

    #[test]
    fn answers_keep_their_words_in_files() {
        let written = |answer: &Answer| serde_json::to_string(answer).unwrap();
        assert_eq!(written(&Answer::Pair(Preference::BothBad)), r#"{"pair":"both_bad"}"#);
        assert_eq!(written(&Answer::Ranking(vec![1, 1, 3])), r#"{"ranking":[1,1,3]}"#);
        assert_eq!(written(&Answer::CannotJudge), r#""cannot_judge""#);
    }
}
