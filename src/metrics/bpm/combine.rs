//! Parts to one number: the range and the weight α (`bpm.md` section 5; section 6 point 8; section 11 points 9 and 13).

use crate::domain::{Bounds, Outcome, PaperWeights, Profile, Range, Score, TraceKind, TraceStep};

use super::Trace;

/// A normalised part.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked {
    /// `(value − min) / (max − min)`; not clamped.
    pub value: Outcome<f64>,
    /// The value lies outside the range it was normalised with, which is possible with a saved range.
    pub outside: bool,
}

/// Modify and preserve after the range, and the overall score.
#[derive(Clone, Debug, PartialEq)]
pub struct Combined {
    pub modify: Marked,
    pub preserve: Marked,
    /// `α·(modify + preserve) + (1 − α)·(size + position)`; of a global edit the normalised modify alone.
    pub overall: Outcome<f64>,
}

/// Whether a value takes part in fitting the range of preserve: the released scripts leave out exactly 0 and −1.
fn counts_for_preserve(profile: Profile, value: f64) -> bool {
    profile != Profile::ReleasedCode || (value != 0.0 && value != -1.0)
}

/// The range of a set of scores: least and greatest value of each part, over the edits that have it. Scores of another profile are left
/// out.
pub fn fit_range<'a>(profile: Profile, scores: impl IntoIterator<Item = &'a Score>, name: &str, fitted_on: &str) -> Range {
    let (mut modify, mut preserve) = (Vec::new(), Vec::new());
    for score in scores.into_iter().filter(|score| score.profile == profile) {
        modify.extend(score.parts.modify.value().copied());
        preserve.extend(score.parts.preserve.value().copied().filter(|&v| counts_for_preserve(profile, v)));
    }
    Range { name: name.to_owned(), profile, modify: Bounds::of(modify), preserve: Bounds::of(preserve), fitted_on: fitted_on.to_owned() }
}

fn normalise(part: &str, value: &Outcome<f64>, bounds: Option<Bounds>) -> Marked {
    let Some(bounds) = bounds else {
        let value = value.clone().and_then(|_| Outcome::NotApplicable(format!("the range has no value of {part} to normalise with")));
        return Marked { value, outside: false };
    };
    let outside = value.value().is_some_and(|&v| v < bounds.min || v > bounds.max);
    let value = value.clone().and_then(|v| match bounds.normalise(v) {
        Some(normalised) => Outcome::Value(normalised),
        None if bounds.max > bounds.min => {
            Outcome::NotApplicable(format!("the range of {part}, {:e} to {:e}, is too wide to compute with", bounds.min, bounds.max))
        }
        None => {
            Outcome::NotApplicable(format!("the range of {part} has no width: every value of the set it was fitted on is {}", bounds.min))
        }
    });
    Marked { value, outside }
}

/// Applies a range and α to a score.
///
/// Without a range there is no normalised value: a single pair has none. A part without a value leaves the overall without one, for the
/// same reason.
pub fn combine(score: &Score, range: Option<&Range>, weights: PaperWeights) -> Combined {
    let no_range = |part: &Outcome<f64>| Marked {
        value: part
            .clone()
            .and_then(|_| Outcome::NotApplicable("a single pair has no normalised score: score a set, or choose a saved range".to_owned())),
        outside: false,
    };
    let (modify, preserve) = match range {
        Some(range) if range.profile == score.profile => {
            (normalise("modify", &score.parts.modify, range.modify), normalise("preserve", &score.parts.preserve, range.preserve))
        }
        Some(range) => {
            let other = |part: &Outcome<f64>| Marked {
                value: part.clone().and_then(|_| {
                    Outcome::NotApplicable(format!(
                        "the range '{}' was fitted on profile {}, this score is of {}",
                        range.name, range.profile, score.profile
                    ))
                }),
                outside: false,
            };
            (other(&score.parts.modify), other(&score.parts.preserve))
        }
        None => (no_range(&score.parts.modify), no_range(&score.parts.preserve)),
    };
    let released = score.profile == Profile::ReleasedCode;
    let overall = if score.global && !released {
        modify.value.clone()
    } else {
        let alpha = alpha_of(score, weights);
        let add = |a: Outcome<f64>, b: &Outcome<f64>| a.and_then(|a| b.clone().map(|b| a + b));
        let semantic = add(modify.value.clone(), &preserve.value);
        let region = add(score.parts.size.clone(), &score.parts.position);
        semantic.and_then(|semantic| region.map(|region| alpha * semantic + (1.0 - alpha) * region))
    };
    Combined { modify, preserve, overall }
}

/// The released scripts weigh a global edit with α = 1.
fn alpha_of(score: &Score, weights: PaperWeights) -> f64 {
    if score.global { 1.0 } else { weights.alpha }
}

/// The last steps of the trace: what the range made of modify and preserve, and how the overall came about, in words.
pub fn explain(score: &Score, range: Option<&Range>, weights: PaperWeights) -> Vec<TraceStep> {
    let combined = combine(score, range, weights);
    let mut trace = Trace::default();
    let rows = [
        ("modify", &score.parts.modify, &combined.modify, range.and_then(|r| r.modify)),
        ("preserve", &score.parts.preserve, &combined.preserve, range.and_then(|r| r.preserve)),
    ];
    for (part, raw, marked, bounds) in rows {
        let (Some(raw), Some(normalised), Some(bounds), Some(range)) = (raw.value(), marked.value.value(), bounds, range) else { continue };
        let text = format!(
            "The range \"{}\" has {part} from {:.4} to {:.4}, so {raw:.4} becomes {normalised:.4}{}.",
            range.name,
            bounds.min,
            bounds.max,
            if marked.outside { ", outside 0 to 1: the set that it was fitted on had no such value" } else { "" }
        );
        let numbers = [("min", bounds.min), ("max", bounds.max), ("raw", *raw), ("normalised", *normalised)];
        trace.step(TraceKind::Range, text, marked.outside, numbers);
    }
    match &combined.overall {
        Outcome::Value(overall) if score.global && score.profile != Profile::ReleasedCode => {
            trace.numbers(
                TraceKind::Overall,
                format!("BPM of an edit of the whole picture is its modify: {overall:.4}."),
                [("bpm", *overall)],
            );
        }
        Outcome::Value(overall) => {
            let alpha = alpha_of(score, weights);
            let parts = [&combined.modify.value, &combined.preserve.value, &score.parts.size, &score.parts.position];
            // The overall has a value only where all four have one.
            if let [Some(modify), Some(preserve), Some(size), Some(position)] = parts.map(Outcome::value) {
                let rest = 1.0 - alpha;
                trace.numbers(
                    TraceKind::Overall,
                    format!("BPM = {alpha:.2}·({modify:.4} + {preserve:.4}) + {rest:.2}·({size} + {position}) = {overall:.4}."),
                    [("alpha", alpha), ("bpm", *overall)],
                );
            }
        }
        Outcome::NotApplicable(why) => trace.note(TraceKind::Overall, format!("There is no BPM: {why}.")),
        Outcome::Failed(why) => trace.fallback(TraceKind::Overall, format!("BPM could not be computed: {why}.")),
    }
    trace.into_steps()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Parts;

    fn score(profile: Profile, global: bool, [size, position, modify, preserve]: [Outcome<f64>; 4]) -> Score {
        Score::of_parts(profile, global, Parts { size, position, modify, preserve })
    }

    fn values(v: [f64; 4]) -> [Outcome<f64>; 4] {
        v.map(Outcome::Value)
    }

    #[test]
    fn the_overall_is_that_of_a_hand_calculation() {
        let scores = [
            score(Profile::Corrected, false, values([1.0, 0.5, 0.1, 0.8])),
            score(Profile::Corrected, false, values([1.0, 1.0, -0.1, 0.9])),
            score(Profile::Corrected, false, values([1.0, 1.0, 0.3, 1.0])),
        ];
        let range = fit_range(Profile::Corrected, &scores, "set", "3 edits");
        assert_eq!(range.modify, Some(Bounds { min: -0.1, max: 0.3 }));
        // 0.7·(0.2/0.4 + 0) + 0.3·(1 + 0.5) = 0.35 + 0.45 = 0.8
        let combined = combine(&scores[0], Some(&range), PaperWeights::default());
        assert!((combined.overall.value().unwrap() - 0.8).abs() < 1e-12, "{combined:?}");
        let steps = explain(&scores[0], Some(&range), PaperWeights::default());
        let texts: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
        assert!(texts[0].contains("modify from -0.1000 to 0.3000, so 0.1000 becomes 0.5000"), "{texts:?}");
        assert_eq!(texts[2], "BPM = 0.70·(0.5000 + 0.0000) + 0.30·(1 + 0.5) = 0.8000.");
    }

    #[test]
    fn a_single_pair_has_no_normalised_score() {
        let one = score(Profile::Paper, false, values([1.0, 1.0, 0.2, 0.9]));
        assert!(combine(&one, None, PaperWeights::default()).overall.why().unwrap().contains("single pair"));
        let range = fit_range(Profile::Paper, [&one], "one", "1 edit");
        assert!(combine(&one, Some(&range), PaperWeights::default()).overall.why().unwrap().contains("no width"));
    }

    #[test]
    fn a_part_without_value_leaves_no_overall_and_says_why() {
        let na = Outcome::NotApplicable("no box".to_owned());
        let mut parts = values([1.0, 1.0, 0.2, 0.9]);
        parts[0] = na;
        let scores = [score(Profile::Corrected, false, parts), score(Profile::Corrected, false, values([1.0, 1.0, 0.4, 0.8]))];
        let range = fit_range(Profile::Corrected, &scores, "set", "2 edits");
        assert_eq!(combine(&scores[0], Some(&range), PaperWeights::default()).overall, Outcome::NotApplicable("no box".to_owned()));
    }

    #[test]
    fn the_released_range_leaves_out_sentinels_of_preserve_only() {
        let s = |modify, preserve| score(Profile::ReleasedCode, false, values([1.0, 1.0, modify, preserve]));
        let scores = [s(0.0, 0.0), s(0.4, -0.02), s(0.2, -0.05), s(0.3, -1.0)];
        let range = fit_range(Profile::ReleasedCode, &scores, "set", "4 edits");
        assert_eq!(range.modify, Some(Bounds { min: 0.0, max: 0.4 }));
        assert_eq!(range.preserve, Some(Bounds { min: -0.05, max: -0.02 }));
    }

    #[test]
    fn a_global_edit_is_its_modify_alone() {
        let na = || Outcome::NotApplicable("global".to_owned());
        let scores = [
            score(Profile::Paper, true, [na(), na(), Outcome::Value(0.25), na()]),
            score(Profile::Paper, true, [na(), na(), Outcome::Value(0.5), na()]),
            score(Profile::Paper, true, [na(), na(), Outcome::Value(0.0), na()]),
        ];
        let range = fit_range(Profile::Paper, &scores, "set", "3 edits");
        assert_eq!(combine(&scores[0], Some(&range), PaperWeights::default()).overall, Outcome::Value(0.5));
    }

    #[test]
    fn values_outside_a_saved_range_are_marked() {
        let inside = score(Profile::Corrected, false, values([1.0, 1.0, 0.2, 0.9]));
        let outside = score(Profile::Corrected, false, values([1.0, 1.0, 0.6, 0.9]));
        let range = Range {
            name: "r".into(),
            profile: Profile::Corrected,
            modify: Some(Bounds { min: 0.0, max: 0.5 }),
            preserve: Some(Bounds { min: 0.5, max: 1.0 }),
            fitted_on: String::new(),
        };
        assert!(!combine(&inside, Some(&range), PaperWeights::default()).modify.outside);
        assert!(combine(&outside, Some(&range), PaperWeights::default()).modify.outside);
        let step = |score| explain(score, Some(&range), PaperWeights::default()).swap_remove(0);
        assert!(step(&outside).fallback && step(&outside).text.contains("outside") && !step(&inside).fallback);
    }
}
