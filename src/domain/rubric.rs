//! What raters are asked about one edit: questions, each with a scale whose points are put into words.

use serde::{Deserialize, Serialize};

use super::rating::{CRITERIA, Criterion, is_answer, rater_name};

/// A set of questions, answered together. Its name and [`Rubric::version`] are stored with every rating. Answers on another scale are
/// another criterion wherever they are counted ([`super::Asked`]); other words for the same points change nothing there, but can be told
/// by the version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rubric {
    pub name: String,
    pub questions: Vec<Question>,
}

/// One question of a rubric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The name in files; unique within the rubric.
    pub name: String,
    /// What is asked, in a sentence.
    pub asks: String,
    /// The possible answers, worst first; digit keys choose them by place.
    pub scale: Vec<ScalePoint>,
    /// An answer set is complete when every required question has an answer or a "can't judge".
    pub required: bool,
    /// What an attentive rater answers when the source itself is shown as the edit.
    #[serde(default)]
    pub unedited: Unedited,
}

/// One possible answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalePoint {
    pub value: f64,
    /// What the value means, in words.
    pub anchor: String,
}

/// Where on the scale the answer lies when nothing was edited at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unedited {
    /// The question cannot tell.
    #[default]
    Unknown,
    /// Below the middle of the scale: nothing that was asked for is there.
    Low,
    /// Above the middle: nothing was spoiled.
    High,
}

/// Scales have at least this many points, and at most as many as there are digit keys from 1.
pub const SCALE_POINTS: std::ops::RangeInclusive<usize> = 2..=9;
/// More questions than this do not fit on a form.
pub const MAX_QUESTIONS: usize = 12;

impl Rubric {
    /// The paper's five criteria, 1 to 5 (`Criterion`).
    pub fn paper() -> Self {
        let anchors = ["bad", "poor", "fair", "good", "very good"];
        let questions = CRITERIA.map(|criterion| Question {
            name: criterion.name().to_owned(),
            asks: criterion.question().to_owned(),
            scale: scale([1.0, 2.0, 3.0, 4.0, 5.0].into_iter().zip(anchors)),
            required: true,
            unedited: match criterion {
                Criterion::Modification => Unedited::Low,
                Criterion::Preservation => Unedited::High,
                Criterion::Size | Criterion::Position | Criterion::Overall => Unedited::Unknown,
            },
        });
        Self { name: "BPM, five criteria 1–5".to_owned(), questions: questions.into() }
    }

    /// ImagenHub's semantic consistency and perceptual quality in {0, 0.5, 1} (Ku et al., ICLR 2024); anchors in our words.
    pub fn imagenhub() -> Self {
        let consistency = ["not what was asked for, or the rest is lost", "in part", "what was asked for, the rest kept"];
        let quality = ["clearly broken or unnatural", "small flaws", "looks like a real picture"];
        let question = |name: &str, asks: &str, anchors: [&str; 3], unedited| Question {
            name: name.to_owned(),
            asks: asks.to_owned(),
            scale: scale([0.0, 0.5, 1.0].into_iter().zip(anchors)),
            required: true,
            unedited,
        };
        Self {
            name: "ImagenHub, SC and PQ".to_owned(),
            questions: vec![
                question("SC", "Does the edit do what the instruction says, and nothing else?", consistency, Unedited::Low),
                question("PQ", "Is the picture free of artefacts?", quality, Unedited::Unknown),
            ],
        }
    }

    /// EditReward's two dimensions, 1 to 4 (Wu et al., 2025); anchors in our words.
    pub fn edit_reward() -> Self {
        let following = ["ignores the instruction", "follows a small part of it", "follows most of it", "follows all of it"];
        let quality = ["broken", "flaws that disturb", "small flaws", "flawless"];
        let question = |name: &str, asks: &str, anchors: [&str; 4], unedited| Question {
            name: name.to_owned(),
            asks: asks.to_owned(),
            scale: scale([1.0, 2.0, 3.0, 4.0].into_iter().zip(anchors)),
            required: true,
            unedited,
        };
        Self {
            name: "EditReward, two dimensions 1–4".to_owned(),
            questions: vec![
                question("instruction_following", "How much of the instruction was followed?", following, Unedited::Low),
                question("visual_quality", "How good does the picture look?", quality, Unedited::Unknown),
            ],
        }
    }

    /// The rubrics that a session can start from, the default first.
    pub fn presets() -> [Self; 3] {
        [Self::paper(), Self::imagenhub(), Self::edit_reward()]
    }

    /// A hash of all that raters are shown: two rubrics have the same version only when every word and value is the same.
    pub fn version(&self) -> String {
        super::content_hash(self)
    }

    /// The questions that can tell that nothing was edited; attention checks are judged by them.
    pub fn telling(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| question.unedited != Unedited::Unknown)
    }

    /// Why the rubric cannot be used, one sentence each; empty when it can.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.name.trim().is_empty() {
            problems.push("the rubric needs a name".to_owned());
        }
        if self.questions.is_empty() || self.questions.len() > MAX_QUESTIONS {
            problems.push(format!("a rubric has 1 to {MAX_QUESTIONS} questions, this one has {}", self.questions.len()));
        }
        for (index, question) in self.questions.iter().enumerate() {
            if let Some(other) = self.questions[..index].iter().find(|other| folded(&other.name) == folded(&question.name)) {
                let (name, other) = (question.name.trim(), other.name.trim());
                let case = if name == other { String::new() } else { format!(" and '{other}': names differ in more than case") };
                problems.push(format!("two questions are named '{name}'{case}"));
            }
            problems.extend(question.problem().map(|why| format!("question {} '{}': {why}", index + 1, question.name.trim())));
        }
        problems
    }
}

impl Question {
    fn problem(&self) -> Option<String> {
        if self.name.trim().is_empty() {
            return Some("it needs a name".to_owned());
        }
        if self.asks.trim().is_empty() {
            return Some("it asks nothing".to_owned());
        }
        if !SCALE_POINTS.contains(&self.scale.len()) {
            let (least, most) = (SCALE_POINTS.start(), SCALE_POINTS.end());
            return Some(format!("a scale has {least} to {most} points, this one has {}", self.scale.len()));
        }
        if self.scale.iter().any(|point| !is_answer(point.value)) {
            return Some("a value of its scale is no number, or beyond ±1e15".to_owned());
        }
        let rises = self.scale.windows(2).all(|pair| pair[0].value < pair[1].value);
        (!rises).then(|| "the values of its scale must rise from worst to best".to_owned())
    }

    /// The middle between the worst and the best value.
    fn middle(&self) -> f64 {
        match (self.scale.first(), self.scale.last()) {
            (Some(worst), Some(best)) => (worst.value + best.value) / 2.0,
            _ => f64::NAN,
        }
    }

    /// Whether `value` is what an attentive rater may answer about an unedited picture; `None` when the question cannot tell.
    pub fn fits_unedited(&self, value: f64) -> Option<bool> {
        match self.unedited {
            Unedited::Unknown => None,
            Unedited::Low => Some(value < self.middle()),
            Unedited::High => Some(value > self.middle()),
        }
    }
}

/// The name of a question as far as it tells questions apart.
fn folded(name: &str) -> String {
    rater_name(&name.to_lowercase())
}

fn scale<'a>(points: impl Iterator<Item = (f64, &'a str)>) -> Vec<ScalePoint> {
    points.map(|(value, anchor)| ScalePoint { value, anchor: anchor.to_owned() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_are_as_published() {
        // The paper's five criteria 1–5 (bpm.md section 8), ImagenHub's {0, 0.5, 1}, EditReward's 1–4 (formats.md sections 5 and 8).
        let values = |rubric: &Rubric| -> Vec<(String, Vec<f64>)> {
            rubric.questions.iter().map(|q| (q.name.clone(), q.scale.iter().map(|point| point.value).collect())).collect()
        };
        let five = vec![1.0, 2.0, 3.0, 4.0, 5.0];
        let names = ["modification", "preservation", "size", "position", "overall"];
        assert_eq!(values(&Rubric::paper()), names.map(|name| (name.to_owned(), five.clone())));
        let three = vec![0.0, 0.5, 1.0];
        assert_eq!(values(&Rubric::imagenhub()), [("SC".to_owned(), three.clone()), ("PQ".to_owned(), three)]);
        assert!(values(&Rubric::edit_reward()).iter().all(|(_, values)| *values == [1.0, 2.0, 3.0, 4.0]));
        for rubric in Rubric::presets() {
            assert_eq!(rubric.problems(), Vec::<String>::new(), "{}", rubric.name);
        }
    }

    #[test]
    fn a_changed_word_is_another_version_and_a_copy_is_not() {
        let rubric = Rubric::paper();
        let mut other = rubric.clone();
        assert_eq!(rubric.version(), other.version());
        other.questions[2].scale[0].anchor.push('!');
        assert_ne!(rubric.version(), other.version());
    }

    #[test]
    fn what_is_wrong_with_a_rubric_is_named() {
        let mut rubric = Rubric::imagenhub();
        rubric.questions[1].name = "SC ".to_owned();
        rubric.questions[1].scale[2].value = 0.5;
        let problems = rubric.problems();
        assert_eq!(problems, ["two questions are named 'SC'", "question 2 'SC': the values of its scale must rise from worst to best"]);
    }

    #[test]
    fn names_that_differ_only_in_case_and_spaces_are_one() {
        let mut rubric = Rubric::paper();
        rubric.questions[0].name = " Overall ".to_owned();
        assert_eq!(rubric.problems(), ["two questions are named 'overall' and 'Overall': names differ in more than case"]);
    }

    #[test]
    fn the_unedited_source_has_no_modification_and_full_preservation() {
        let [modification, preservation, size, ..] = &Rubric::paper().questions[..] else { panic!("five questions") };
        // The middle of 1 to 5 is 3, which is neither low nor high.
        assert_eq!([1.0, 3.0, 5.0].map(|value| modification.fits_unedited(value)), [Some(true), Some(false), Some(false)]);
        assert_eq!([1.0, 3.0, 5.0].map(|value| preservation.fits_unedited(value)), [Some(false), Some(false), Some(true)]);
        assert_eq!(size.fits_unedited(1.0), None);
    }
}
