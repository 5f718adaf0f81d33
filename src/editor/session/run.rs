//! One rater's way through a session. Where it stands follows from what was kept, so a break or a kill resumes at the same place.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::form::{Form, Given};
use super::order::{Task, order};
use crate::domain::{
    Answer, EditKey, Judgement, Preference, ProtocolKind, Question, RubricId, SessionSetup, TaskRole, Visible, counting_judgements,
};
use crate::editor::clock::LookClock;

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Progress {
    pub done: usize,
    /// Left for later and not answered yet.
    pub skipped: usize,
    pub total: usize,
}

/// What a digit key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// It means nothing here.
    Nothing,
    Changed,
    /// The form is complete by that key alone.
    Complete,
}

/// A session that a rater is in.
#[derive(Clone, Debug)]
pub struct SessionRun {
    uid: String,
    setup: Arc<SessionSetup>,
    rater: String,
    tasks: Vec<Task>,
    /// Tasks whose edits this project does not have; they are left out.
    missing: usize,
    /// What was last said about each task: an answer, a skip, or nothing yet.
    said: Vec<Option<Judgement>>,
    /// Index of the present task; the number of tasks when all are settled.
    at: usize,
    pub form: Form,
    pub comment: String,
    unblinded: bool,
    /// Edits whose models or scores were shown to the rater outside of this session.
    seen: HashSet<EditKey>,
    clock: LookClock,
    /// The pictures of the present task were on the screen since it came.
    painted: bool,
}

impl SessionRun {
    /// Takes a session up where `log` (everything that was said in it, oldest first) left it. `has` tells whether the project
    /// has an edit.
    pub fn resume(setup: Arc<SessionSetup>, rater: &str, log: &[Judgement], has: impl Fn(&EditKey) -> bool) -> Self {
        let all = order(&setup, rater);
        let before = all.len();
        let tasks: Vec<Task> = all.into_iter().filter(|task| task.shown.iter().all(&has)).collect();
        let index_of: HashMap<&str, usize> = tasks.iter().enumerate().map(|(index, task)| (task.key.as_str(), index)).collect();
        let mut said: Vec<Option<Judgement>> = vec![None; tasks.len()];
        let unblinded = log.iter().any(|judgement| judgement.rater == rater && judgement.answer == Answer::Unblinded);
        for judgement in counting_judgements(log).into_iter().filter(|judgement| judgement.rater == rater) {
            if let Some(&index) = index_of.get(judgement.task.as_str()) {
                said[index] = Some(judgement.clone());
            }
        }
        let form = Form::new(&setup.protocol, 0);
        let (missing, uid) = (before - tasks.len(), setup.uid());
        let mut run = Self {
            uid,
            setup,
            rater: rater.to_owned(),
            tasks,
            missing,
            said,
            at: 0,
            form,
            comment: String::new(),
            unblinded,
            seen: HashSet::new(),
            clock: LookClock::default(),
            painted: false,
        };
        run.at = run.next_after(None);
        run.load();
        run
    }

    /// The same with the edits whose models or scores the rater has seen elsewhere: blind answers about them say so.
    pub fn with_seen(mut self, seen: HashSet<EditKey>) -> Self {
        self.seen = seen;
        self
    }

    /// What the session is.
    pub fn setup(&self) -> &Arc<SessionSetup> {
        &self.setup
    }

    /// Its [`SessionSetup::uid`].
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// Who rates.
    pub fn rater(&self) -> &str {
        &self.rater
    }

    /// Tasks that are left out because this project lacks their edits.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// The present task; `None` when all are settled.
    pub fn task(&self) -> Option<&Task> {
        self.tasks.get(self.at)
    }

    /// The task after the present one, if it is answered or skipped now.
    pub fn next_task(&self) -> Option<&Task> {
        self.task()?;
        self.tasks.get(self.next_after(Some(self.at)))
    }

    /// What was said about the present task before.
    pub fn said(&self) -> Option<&Judgement> {
        self.said.get(self.at)?.as_ref()
    }

    /// Whether names of models and scores are hidden from this rater.
    pub fn is_blind(&self) -> bool {
        self.setup.blind && !self.unblinded
    }

    /// Whether anything was answered or skipped yet.
    pub fn has_begun(&self) -> bool {
        self.said.iter().any(Option::is_some)
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let done = self.said.iter().flatten().filter(|judgement| judgement.answer.is_answer()).count();
        let skipped = self.said.iter().flatten().count() - done;
        Progress { done, skipped, total: self.tasks.len() }
    }

    /// The rater looks at the pictures now; time counts. `now` is any clock in seconds.
    pub fn look(&mut self, now: f64) {
        self.clock.look(now);
    }

    /// The rater does something else; time stands still.
    pub fn pause(&mut self, now: f64) {
        self.clock.pause(now);
    }

    /// The rater moved the mouse or pressed a key: without that for [`crate::editor::IDLE_SECONDS`], time stands still too.
    pub fn touch(&mut self, now: f64) {
        self.clock.touch(now);
    }

    /// A frame with the pictures of the present task was drawn.
    pub fn paint(&mut self) {
        self.painted = true;
    }

    /// Whether the present task was on the screen since it came: until then nobody can have judged it.
    pub fn is_painted(&self) -> bool {
        self.painted
    }

    /// What the form lacks to be an answer, as [`Self::submit`] says it.
    pub fn missing_answer(&self) -> Option<String> {
        self.task()?;
        self.form.answer(self.setup.protocol.rubric()).err()
    }

    /// A digit key: an answer for the marked question or edit, or the vote.
    pub fn press(&mut self, digit: u32) -> Pressed {
        let rubric = self.setup.protocol.rubric();
        match &mut self.form {
            Form::Rubric { active, .. } => {
                let index = *active;
                let keys = rubric.and_then(|rubric| rubric.questions.get(index)).map(Question::digit_keys).unwrap_or_default();
                match keys.iter().position(|key| *key == Some(digit)) {
                    Some(point) => self.form.give(index, Given::Point(point)),
                    None if digit == 0 => self.form.give(index, Given::CannotJudge),
                    None => return Pressed::Nothing,
                }
                Pressed::Changed
            }
            Form::Pair(vote) => match Preference::ALL.get((digit as usize).wrapping_sub(1)) {
                Some(given) => {
                    *vote = Some(*given);
                    Pressed::Complete
                }
                None => Pressed::Nothing,
            },
            Form::Ranking { active, ranks } => {
                if !(1..=ranks.len() as u32).contains(&digit) {
                    return Pressed::Nothing;
                }
                let index = *active;
                self.form.rank(index, digit);
                Pressed::Changed
            }
        }
    }

    /// The form as an answer of the present task, which is settled by it; the next one is shown. The judgement is to be kept; if that
    /// fails, [`Self::take_back`] it.
    ///
    /// # Errors
    /// What is missing on the form.
    pub fn submit(&mut self, now: f64, at_millis: i64) -> Result<Judgement, String> {
        let answer = self.form.answer(self.setup.protocol.rubric())?;
        self.settle(answer, now, at_millis).ok_or_else(|| "There is nothing left to answer.".to_owned())
    }

    /// The present task cannot be judged at all; as [`Self::submit`].
    pub fn cannot_judge(&mut self, now: f64, at_millis: i64) -> Option<Judgement> {
        self.settle(Answer::CannotJudge, now, at_millis)
    }

    /// Leaves the present task for later. What was answered before stays.
    pub fn skip(&mut self, now: f64, at_millis: i64) -> Option<Judgement> {
        if self.said().is_some_and(|known| known.answer.is_answer()) {
            self.go_to(self.next_after(Some(self.at)));
            return None;
        }
        self.settle(Answer::Skipped, now, at_millis)
    }

    /// Goes back to the task before, to look at its answer or correct it; `false` at the first one.
    pub fn back(&mut self) -> bool {
        let Some(before) = self.at.checked_sub(1) else { return false };
        self.go_to(before);
        true
    }

    /// Looks behind the blind: from now on nothing is hidden, and what follows is kept as not blind.
    pub fn unblind(&mut self, at_millis: i64) -> Option<Judgement> {
        let task = self.tasks.get(self.at.min(self.tasks.len().checked_sub(1)?))?;
        let judgement = Judgement { task: String::new(), ..self.judgement(task, Answer::Unblinded, 0.0, at_millis) };
        self.unblinded = true;
        Some(judgement)
    }

    /// A judgement could not be kept: its task is open again and shown, with the form as it was.
    pub fn take_back(&mut self, judgement: &Judgement) {
        if judgement.answer == Answer::Unblinded {
            self.unblinded = false;
        }
        if let Some(index) = self.tasks.iter().position(|task| task.key == judgement.task) {
            self.said[index] = None;
            self.go_to(index);
            self.form = Form::of(&judgement.answer, &self.setup.protocol, judgement.shown.len());
            self.comment.clone_from(&judgement.comment);
        }
    }

    fn settle(&mut self, answer: Answer, now: f64, at_millis: i64) -> Option<Judgement> {
        let judgement = self.judgement(self.task()?, answer, self.clock.seconds(now), at_millis);
        self.said[self.at] = Some(judgement.clone());
        self.go_to(self.next_after(Some(self.at)));
        Some(judgement)
    }

    fn judgement(&self, task: &Task, answer: Answer, seconds: f64, at_millis: i64) -> Judgement {
        let visible = !self.is_blind();
        Judgement {
            session: self.uid.clone(),
            rater: self.rater.clone(),
            item: task.item.clone(),
            shown: task.shown.clone(),
            task: task.key.clone(),
            role: task.role,
            answer,
            comment: self.comment.trim().to_owned(),
            place: task.place,
            seconds,
            at_millis,
            visible: Visible {
                models: visible,
                scores: visible,
                regions: Vec::new(),
                seen_before: !visible && task.shown.iter().any(|edit| self.seen.contains(edit)),
            },
            rubric: self.setup.protocol.rubric().map(RubricId::from),
        }
    }

    /// The next task to show: the first after `from` (going round) of which nothing was said yet; when there is none, the next
    /// skipped one; when all are answered, the end.
    fn next_after(&self, from: Option<usize>) -> usize {
        let count = self.tasks.len();
        let start = from.map_or(0, |from| from + 1);
        let find = |wanted: &dyn Fn(&Option<Judgement>) -> bool| {
            (0..count).map(|step| (start + step) % count.max(1)).find(|&index| wanted(&self.said[index]))
        };
        find(&Option::is_none)
            .or_else(|| find(&|said| said.as_ref().is_some_and(|judgement| !judgement.answer.is_answer())))
            .unwrap_or(count)
    }

    fn go_to(&mut self, index: usize) {
        self.at = index;
        self.clock = LookClock::default();
        self.painted = false;
        self.load();
    }

    /// The form of the present task: as it was answered, or empty.
    fn load(&mut self) {
        let edits = self.task().map_or(0, |task| task.shown.len());
        let said = self.said().cloned();
        self.form = match &said {
            Some(judgement) => Form::of(&judgement.answer, &self.setup.protocol, edits),
            None => Form::new(&self.setup.protocol, edits),
        };
        self.comment = said.map(|judgement| judgement.comment).unwrap_or_default();
    }

    /// Whether the source is to be shown in the place of the edit.
    pub fn shows_source_as_edit(&self) -> bool {
        self.task().is_some_and(|task| task.role == TaskRole::SourceAsEdit)
    }

    /// The kind of its protocol.
    pub fn kind(&self) -> ProtocolKind {
        self.setup.protocol.kind()
    }
}
