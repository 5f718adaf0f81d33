//! Answers and votes on their way into the evidence: on which scale each answer was given, and which edit is meant where a model made
//! several of an item.

use std::collections::{BTreeMap, HashMap};

use super::Gathered;
use crate::datasets::Problem;
use crate::datasets::opinions::{OpinionFormat, Opinions, RatedEdit, about};
use crate::domain::{Asked, ModelVote, Rating, Rubric, criterion_names, scale_remarks};
use crate::stats::people::{Answer, EditName};

/// Item, model, rater and what was asked.
type AnswerTo = (String, String, String, Asked);

impl Gathered {
    /// Adds the answers of a rating about an edit, each with what it is an answer to; `seconds` is how long it took, where the rating itself
    /// does not say.
    pub(super) fn add_answers(
        &mut self,
        (item, model): (&str, &str),
        rating: &Rating,
        seconds: Option<f64>,
        answers: impl IntoIterator<Item = (Asked, f64)>,
    ) {
        let seconds = seconds.or_else(|| rating.context.as_ref()?.seconds);
        for (asked, value) in answers {
            self.evidence.answers.push(Answer {
                item: item.to_owned(),
                model: model.to_owned(),
                rater: rating.rater.clone(),
                criterion: String::new(),
                value,
                seconds,
            });
            self.asked.push(asked);
        }
    }

    /// Adds a rating of which nothing else is known than what it says itself.
    pub fn add_rating(&mut self, item: &str, model: &str, rating: &Rating) {
        let known = rating.context.as_ref().and_then(|context| Rubric::preset(&context.rubric.as_ref()?.version));
        let answers: Vec<(Asked, f64)> = rating.values.iter().map(|(criterion, value)| (rating.asked(criterion, known), *value)).collect();
        self.add_answers((item, model), rating, None, answers);
    }

    /// Adds what the table `file` says. Where a model made several edits of an item, its name alone says nothing: that is left out and listed.
    /// What the same rater answered in the project already counts once; what the table says otherwise corrects it. Votes of one rater about
    /// the same edits count once, whichever file they are from, and the last counts.
    pub fn add_opinions(&mut self, opinions: Opinions, file: &str) {
        let mut in_project = self.answers_of_project();
        let (mut same, mut other) = (0, 0);
        for rated in &opinions.ratings {
            self.about.simulated_ratings |= rated.rating.simulated;
            let Some(model) = self.meant(&rated.item, &rated.model) else { continue };
            let mut answers = Vec::new();
            for (criterion, value) in &rated.rating.values {
                let asked = asked(&opinions, rated, criterion);
                let about = (rated.item.clone(), model.clone(), rated.rating.rater.clone(), asked);
                match in_project.get_mut(&about) {
                    Some(known) => known.1 = Some(*value),
                    None => answers.push((about.3, *value)),
                }
            }
            self.add_answers((&rated.item, &model), &rated.rating, rated.seconds, answers);
        }
        for (place, said) in in_project.into_values() {
            let (Some(said), Some(known)) = (said, self.evidence.answers.get_mut(place)) else { continue };
            *(if known.value == said { &mut same } else { &mut other }) += 1;
            known.value = said;
        }
        self.say_known(file, "answers", same, other);
        self.add_votes(opinions.votes, opinions.format == OpinionFormat::GenAiBench, file);
        self.problems.extend(opinions.problems);
    }

    /// Where the answers of the project stand that count (the last of each), by what they are about; and nothing that a table says of it yet.
    fn answers_of_project(&self) -> BTreeMap<AnswerTo, (usize, Option<f64>)> {
        let own = self.evidence.answers.iter().zip(&self.asked).take(self.of_project.0).enumerate();
        own.map(|(place, (answer, asked))| {
            ((answer.item.clone(), answer.model.clone(), answer.rater.clone(), asked.clone()), (place, None))
        })
        .collect()
    }

    /// Adds votes; `each_is_another`: rows of one file are of different people, whatever they are called, so that only the project's are known.
    fn add_votes(&mut self, votes: Vec<ModelVote>, each_is_another: bool, file: &str) {
        let before = if each_is_another { self.of_project.1 } else { self.evidence.votes.len() };
        let mut known: HashMap<[String; 5], usize> = HashMap::new();
        for (place, vote) in self.evidence.votes.iter().enumerate().take(before) {
            known.insert(about(vote).0, place);
        }
        let (mut same, mut other) = (0, 0);
        for mut vote in votes {
            let (Some(first), Some(second)) = (self.meant(&vote.item, &vote.first), self.meant(&vote.item, &vote.second)) else { continue };
            (vote.first, vote.second) = (first, second);
            let (subject, says) = about(&vote);
            match known.get(&subject).and_then(|place| self.evidence.votes.get_mut(*place)) {
                None => self.evidence.votes.push(vote),
                Some(known) if about(known).1 == says => same += 1,
                Some(known) => {
                    *known = vote;
                    other += 1;
                }
            }
        }
        self.say_known(file, "votes", same, other);
    }

    /// Says what a table repeats and what it corrects of what the same raters said elsewhere.
    fn say_known(&mut self, file: &str, what: &str, same: usize, other: usize) {
        if same > 0 {
            self.remarks.push(format!("{same} {what} of {file} are known already from the same raters; each counts once"));
        }
        if other > 0 {
            let reason = format!("{other} {what} differ from what the same raters said before about the same edits; the last counts");
            self.problems.push(Problem { place: file.to_owned(), reason });
        }
    }

    /// The model of the subject that a table means by item and model; `None` where that could be several. `model #1` is the first one.
    pub fn meant(&mut self, item: &str, model: &str) -> Option<String> {
        if let Some(count) = self.ambiguous.get_mut(&(item.to_owned(), model.to_owned())) {
            *count += 1;
            return None;
        }
        let first = model.strip_suffix(" #1").filter(|plain| self.ambiguous.contains_key(&(item.to_owned(), (*plain).to_owned())));
        Some(first.unwrap_or(model).to_owned())
    }

    /// Item and model stand for several edits: tables that say no more are left out.
    pub fn mark_ambiguous(&mut self, item: &str, model: &str) {
        self.ambiguous.entry((item.to_owned(), model.to_owned())).or_default();
    }

    /// Lists the names that stand for several edits, as far as somebody used them.
    pub(super) fn say_ambiguous(&mut self) {
        let told = self.ambiguous.iter().filter(|(_, count)| **count > 0).map(|((item, model), count)| Problem {
            place: "tables".into(),
            reason: format!(
                "'{model}' made several edits of '{item}', and {count} rows do not say which one they mean; left out (write '{}' for the first)",
                format!("{model} #1").trim()
            ),
        });
        self.problems.extend(told);
        let items: Vec<&EditName> = self.ambiguous.keys().collect();
        if let Some((item, model)) = items.first() {
            self.remarks.push(format!(
                "several edits of one item by one model are told apart by numbers (model #2, …), {} times, first '{model}' of '{item}'",
                items.len()
            ));
        }
    }

    /// Gives every answer the name of its criterion: answers on different scales have different ones.
    pub(super) fn name_criteria(&mut self) {
        let mut counts: BTreeMap<Asked, usize> = BTreeMap::new();
        for asked in &self.asked {
            *counts.entry(asked.clone()).or_default() += 1;
        }
        let names = criterion_names(&counts);
        for (answer, asked) in self.evidence.answers.iter_mut().zip(&self.asked) {
            if let Some(name) = names.get(asked) {
                answer.criterion.clone_from(name);
            }
        }
        self.remarks.extend(scale_remarks(&counts));
    }
}

/// What an answer of a table is an answer to: as the rating says, else as the table does.
fn asked(opinions: &Opinions, rated: &RatedEdit, criterion: &str) -> Asked {
    match rated.rating.context.as_ref() {
        Some(context) => {
            let known = context.rubric.as_ref().and_then(|rubric| Rubric::preset(&rubric.version));
            rated.rating.asked(criterion, known)
        }
        None => Asked { criterion: criterion.to_owned(), scale: opinions.scale_of(criterion) },
    }
}
