//! What an answer is an answer to: a criterion, and the scale that it was asked on. A 4 of 1 to 5 and a 4 of 1 to 7 are not the same word,
//! so answers on different scales are never put into one mean.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::protocol::RubricId;
use super::rating::Rating;
use super::rubric::{Question, Rubric};

/// A criterion on a scale.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Asked {
    pub criterion: String,
    /// In words ([`scale_words`]); empty when nothing says it.
    pub scale: String,
}

/// Values of a scale in words: `1 to 5` for whole numbers in a row, `0, 0.5, 1` for others.
pub fn scale_words(values: &[f64]) -> String {
    let in_a_row = values.len() > 2 && values.windows(2).all(|pair| pair[1] - pair[0] == 1.0) && values[0].fract() == 0.0;
    match (in_a_row, values) {
        (true, [first, .., last]) => format!("{first} to {last}"),
        _ => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

impl Question {
    /// Its scale in words.
    pub fn scale_words(&self) -> String {
        scale_words(&self.scale.iter().map(|point| point.value).collect::<Vec<_>>())
    }
}

/// The scales of the presets' criteria, for answers of which nothing says how they were asked.
static ASSUMED: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let questions = Rubric::presets().into_iter().flat_map(|rubric| rubric.questions);
    questions.map(|question| (question.name.clone(), question.scale_words())).collect()
});
/// The presets by version.
static PRESETS: LazyLock<HashMap<String, Rubric>> =
    LazyLock::new(|| Rubric::presets().into_iter().map(|rubric| (rubric.version(), rubric)).collect());

impl Rubric {
    /// The preset of that version.
    pub fn preset(version: &str) -> Option<&'static Self> {
        PRESETS.get(version)
    }

    /// Its question of that name.
    pub fn question(&self, name: &str) -> Option<&Question> {
        self.questions.iter().find(|question| question.name == name)
    }
}

/// The scale of a criterion where nothing says it: that of the preset with such a question, or nothing.
pub fn assumed_scale(criterion: &str) -> String {
    ASSUMED.get(criterion).cloned().unwrap_or_default()
}

/// What stands for the scales of a rubric whose questions are not known here.
pub fn unknown_scale(rubric: &RubricId) -> String {
    format!("{}, {}", rubric.name, rubric.version)
}

impl Rating {
    /// The scale on which a criterion was answered: as the rating itself says, else that of its rubric (`known`, where its questions are
    /// known), else [`assumed_scale`].
    pub fn scale_of(&self, criterion: &str, known: Option<&Rubric>) -> String {
        let Some(context) = &self.context else { return assumed_scale(criterion) };
        if let Some(said) = context.scales.get(criterion) {
            return said.clone();
        }
        match (&context.rubric, known) {
            (None, _) => assumed_scale(criterion),
            (Some(_), Some(rubric)) => rubric.question(criterion).map_or_else(|| assumed_scale(criterion), Question::scale_words),
            (Some(id), None) => unknown_scale(id),
        }
    }

    /// What each of its answers is an answer to.
    pub fn asked(&self, criterion: &str, known: Option<&Rubric>) -> Asked {
        Asked { criterion: criterion.to_owned(), scale: self.scale_of(criterion, known) }
    }
}

/// The name of each criterion and scale, by the number of answers to it: the scale with most answers keeps the plain name of its criterion
/// (of several the one that is assumed where nothing says it, then the first by its words), the others are called `criterion (scale)`.
/// What has no answer is not named.
pub fn criterion_names(counts: &BTreeMap<Asked, usize>) -> BTreeMap<Asked, String> {
    let mut plain: BTreeMap<&str, (&Asked, usize)> = BTreeMap::new();
    for (asked, &count) in counts.iter().filter(|(_, count)| **count > 0) {
        let weight = |asked: &Asked, count: usize| (count, asked.scale == assumed_scale(&asked.criterion));
        let known = plain.entry(&asked.criterion).or_insert((asked, count));
        if weight(asked, count) > weight(known.0, known.1) {
            *known = (asked, count);
        }
    }
    let name = |asked: &Asked| match plain.get(asked.criterion.as_str()) {
        Some((known, _)) if *known == asked => asked.criterion.clone(),
        _ if asked.scale.is_empty() => format!("{} (scale not said)", asked.criterion),
        _ => format!("{} ({})", asked.criterion, asked.scale),
    };
    counts.iter().filter(|(_, count)| **count > 0).map(|(asked, _)| (asked.clone(), name(asked))).collect()
}

/// A sentence for each criterion that was answered on several scales: which one keeps the plain name, and what the others are called.
pub fn scale_remarks(counts: &BTreeMap<Asked, usize>) -> Vec<String> {
    let names = criterion_names(counts);
    let mut by_criterion: BTreeMap<&str, Vec<(&Asked, &String)>> = BTreeMap::new();
    for (asked, name) in &names {
        by_criterion.entry(&asked.criterion).or_default().push((asked, name));
    }
    let several = by_criterion.into_iter().filter(|(_, scales)| scales.len() > 1);
    several
        .map(|(criterion, scales)| {
            let called = scales.iter().map(|(asked, name)| {
                let scale = if asked.scale.is_empty() { "a scale that nothing says" } else { &asked.scale };
                format!("{scale} ({} answers) is '{name}'", counts[*asked])
            });
            let called: Vec<String> = called.collect();
            format!("'{criterion}' was answered on {} scales, which are not pooled: {}", called.len(), called.join(", "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(criterion: &str, scale: &str) -> Asked {
        Asked { criterion: criterion.into(), scale: scale.into() }
    }

    #[test]
    fn scales_are_put_into_words() {
        for (values, words) in [
            (&[1.0, 2.0, 3.0, 4.0, 5.0][..], "1 to 5"),
            (&[0.0, 0.5, 1.0], "0, 0.5, 1"),
            (&[0.0, 1.0], "0, 1"),
            (&[-1.0, 0.0, 1.0], "-1 to 1"),
            (&[1.0, 3.0, 4.0], "1, 3, 4"),
        ] {
            assert_eq!(scale_words(values), words);
        }
        assert_eq!(["overall", "SC", "visual_quality", "fidelity"].map(assumed_scale), ["1 to 5", "0, 0.5, 1", "1 to 4", ""]);
    }

    #[test]
    fn the_scale_with_most_answers_keeps_the_plain_name() {
        let counts = BTreeMap::from([
            (asked("overall", "1 to 5"), 2),
            (asked("overall", "1 to 7"), 3),
            (asked("overall", ""), 1),
            (asked("size", "1 to 5"), 1),
            (asked("size", "1 to 3"), 1),
            (asked("size", "1 to 9"), 0),
        ]);
        let names = criterion_names(&counts);
        let name = |criterion: &str, scale: &str| names.get(&asked(criterion, scale)).map(String::as_str);
        assert_eq!(
            [name("overall", "1 to 7"), name("overall", "1 to 5"), name("overall", "")],
            [Some("overall"), Some("overall (1 to 5)"), Some("overall (scale not said)")]
        );
        // As many answers: the scale that is assumed where nothing says it.
        assert_eq!([name("size", "1 to 5"), name("size", "1 to 3"), name("size", "1 to 9")], [Some("size"), Some("size (1 to 3)"), None]);
        let remarks = scale_remarks(&counts);
        assert_eq!(remarks.len(), 2, "{remarks:?}");
        assert!(remarks[0].contains("'overall' was answered on 3 scales") && remarks[0].contains("1 to 7 (3 answers) is 'overall'"));
    }

    #[test]
    fn the_scale_of_an_answer_is_what_its_rating_or_its_rubric_says() {
        let values = BTreeMap::from([("overall".to_owned(), 4.0)]);
        let mut rating = Rating::new("ann", values);
        assert_eq!(rating.scale_of("overall", None), "1 to 5");
        let mut rubric = Rubric::paper();
        rubric.questions[4].scale.truncate(3);
        let context = super::super::RatingContext::of_rubric(RubricId::from(&rubric));
        rating.context = Some(context);
        assert_eq!(rating.scale_of("overall", Some(&rubric)), "1 to 3");
        assert_eq!(rating.scale_of("overall", None), format!("{}, {}", rubric.name, rubric.version()));
        rating.context.as_mut().unwrap().scales.insert("overall".into(), "2 to 8".into()); // set above
        assert_eq!(rating.scale_of("overall", Some(&rubric)), "2 to 8");
        assert!(Rubric::preset(&Rubric::paper().version()).is_some() && Rubric::preset(&rubric.version()).is_none());
    }
}
