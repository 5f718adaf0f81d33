//! From the words of a parse to what has to be looked for (`bpm.md` sections 1, 2, 6 and 7).

use crate::domain::{FieldWords, Parse, PositionWord, Profile, Score, SizeWord, TraceKind, TraceStep};

use super::Trace;

/// What the parse asks for under a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The whole picture is to change.
    pub global: bool,
    /// Something new comes in (`original_part` is none).
    pub addition: bool,
    /// Something goes away (`edited_part` is none).
    pub removal: bool,
    /// What to look for on the source; `None`: nothing (an addition without a named reference).
    pub source_phrase: Option<String>,
    /// What to look for on the edit; `None`: nothing (a removal).
    pub edit_phrase: Option<String>,
    /// The relation that size is judged by; [`SizeWord::None`]: not judged.
    pub size: SizeWord,
    /// The relation that position is judged by; [`PositionWord::None`]: not judged.
    pub position: PositionWord,
}

/// Whether a field says `word` under a profile: as a whole word, or anywhere (the released scripts, section 6 point 2).
fn says(field: &str, word: &str, profile: Profile) -> bool {
    match profile {
        Profile::ReleasedCode => field.to_lowercase().contains(word),
        Profile::Corrected | Profile::Paper => FieldWords(field).has(word),
    }
}

/// Whether a field names nothing under a profile. An empty field is `none` (section 11 point 1); to the released scripts an empty
/// string is false wherever they test it.
fn is_none(field: &str, profile: Profile) -> bool {
    field.trim().is_empty() || says(field, "none", profile)
}

/// Whether a field says `word` and nothing else.
fn is_just(field: &str, word: &str) -> bool {
    field.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case(word)
}

impl Plan {
    /// Reads a parse under a profile; branches that a reader would not expect are traced.
    pub fn read(parse: &Parse, profile: Profile, trace: &mut Trace) -> Self {
        let kind = if parse.edit_type.is_empty() { "an edit of unknown type" } else { &parse.edit_type };
        trace.note(TraceKind::Parse, format!("The instruction was read as: {kind} — {}.", change_in_words(parse, profile)));
        if let Some(why) = &parse.doubtful {
            trace.fallback(TraceKind::Parse, format!("This reading is doubtful: {why}."));
        }
        if parse.more_edits {
            trace.fallback(TraceKind::Parse, "The instruction asks for more than one edit; only the first one is judged.");
        }
        let global = says(&parse.original_part, "all", profile);
        if global && !parse.is_global() {
            trace.fallback(
                TraceKind::Branch,
                format!("\"{}\" contains the letters \"all\", which the released scripts take for a global edit.", parse.original_part),
            );
        }
        if global && profile != Profile::ReleasedCode && !is_just(&parse.original_part, "all") {
            trace.fallback(
                TraceKind::Branch,
                format!("\"{}\" holds the word \"all\", so the edit counts as one of the whole picture.", parse.original_part),
            );
        }
        let addition = is_none(&parse.original_part, profile);
        if addition && !FieldWords(&parse.original_part).is_none() {
            trace.fallback(
                TraceKind::Branch,
                format!("\"{}\" contains the letters \"none\", which the released scripts take for an addition.", parse.original_part),
            );
        }
        let phrase = |field: &str| (!is_none(field, profile)).then(|| field.trim().to_owned());
        let edit_phrase = match (addition, phrase(&parse.added_object)) {
            (true, None) if profile == Profile::Corrected => phrase(&parse.edited_part),
            (true, added) => added,
            (false, _) => phrase(&parse.edited_part),
        };
        if addition && !global && edit_phrase.is_some() && is_none(&parse.added_object, profile) {
            trace.fallback(
                TraceKind::Branch,
                format!("The parse names no added object; \"{}\" is looked for instead.", or_none(&parse.edited_part)),
            );
        }
        Self {
            global,
            addition,
            removal: !addition && is_none(&parse.edited_part, profile),
            source_phrase: if addition { phrase(&parse.being_added) } else { phrase(&parse.original_part) },
            edit_phrase,
            size: size_relation(parse, profile),
            position: position_relation(parse, profile),
        }
    }
}

/// The step of the trace between the parse and the boxes, in words: what the detector is asked to look for. It follows from the parse that a
/// score was made with, so that it is told of every kept score.
pub fn phrases(score: &Score) -> TraceStep {
    let plan = Plan::read(&score.parse, score.profile, &mut Trace::default());
    let sought = |phrase: &Option<String>| phrase.as_ref().map_or_else(|| "nothing".to_owned(), |phrase| format!("\"{phrase}\""));
    let text = if score.global {
        "No phrase is looked for: the whole picture was to change.".to_owned()
    } else {
        format!(
            "The detector looks for {} on the source image and for {} on the edited image.",
            sought(&plan.source_phrase),
            sought(&plan.edit_phrase)
        )
    };
    TraceStep { kind: TraceKind::Phrase, text, fallback: false, numbers: Default::default() }
}

/// What changes into what.
fn change_in_words(parse: &Parse, profile: Profile) -> String {
    let Parse { original_part, edited_part, being_added, added_object, .. } = parse;
    if parse.is_global() {
        return "the whole picture changes".to_owned();
    }
    match (is_none(original_part, profile), is_none(edited_part, profile)) {
        (true, _) => {
            let new = if is_none(added_object, profile) { edited_part } else { added_object };
            let to = if is_none(being_added, profile) {
                "nothing is named that it is added to".to_owned()
            } else {
                format!("it is added to \"{being_added}\"")
            };
            let text = if new == edited_part { String::new() } else { format!(", and the result is \"{}\"", or_none(edited_part)) };
            format!("\"{}\" comes in, {to}{text}", or_none(new))
        }
        (false, true) => format!("\"{original_part}\" goes away"),
        (false, false) => format!("\"{original_part}\" becomes \"{edited_part}\""),
    }
}

fn or_none(field: &str) -> &str {
    if field.trim().is_empty() { "none" } else { field }
}

/// Replacing, recolouring and retexturing imply that size and place stay (section 11 point 4).
pub(super) fn implies_unchanged(parse: &Parse) -> bool {
    let words = FieldWords(&parse.edit_type);
    ["replace", "color", "colour", "texture"].into_iter().any(|word| words.has(word))
}

fn size_relation(parse: &Parse, profile: Profile) -> SizeWord {
    if profile == Profile::ReleasedCode {
        // Section 6 point 3: exact words, and only where the type says "change size".
        return match parse.size.as_str() {
            _ if !parse.edit_type.contains("change size") => SizeWord::None,
            "bigger" => SizeWord::Bigger,
            "smaller" => SizeWord::Smaller,
            "unchanged" => SizeWord::Unchanged,
            _ => SizeWord::None,
        };
    }
    match parse.size_word() {
        SizeWord::None if implies_unchanged(parse) => SizeWord::Unchanged,
        word => word,
    }
}

fn position_relation(parse: &Parse, profile: Profile) -> PositionWord {
    if profile == Profile::ReleasedCode {
        // Section 6 point 4: only additions that name what they are added to; words are found anywhere, right before left.
        if !is_none(&parse.original_part, profile) || is_none(&parse.being_added, profile) {
            return PositionWord::None;
        }
        return [
            ("right", PositionWord::Right),
            ("left", PositionWord::Left),
            ("above", PositionWord::Above),
            ("below", PositionWord::Below),
            ("inside", PositionWord::Inside),
            ("unchanged", PositionWord::Unchanged),
        ]
        .into_iter()
        .find_map(|(word, relation)| parse.position.contains(word).then_some(relation))
        .unwrap_or(PositionWord::None);
    }
    match parse.position_word() {
        PositionWord::None if implies_unchanged(parse) => PositionWord::Unchanged,
        word => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Outcome;

    fn parse(original: &str, edited: &str, kind: &str) -> Parse {
        Parse { original_part: original.into(), edited_part: edited.into(), edit_type: kind.into(), ..Parse::default() }
    }

    fn plan(parse: &Parse, profile: Profile) -> Plan {
        Plan::read(parse, profile, &mut Trace::default())
    }

    #[test]
    fn wall_and_small_ball_are_global_only_to_the_released_scripts() {
        for word in ["wall", "small ball"] {
            let parse = parse(word, "x", "replace");
            assert!(!plan(&parse, Profile::Corrected).global && !plan(&parse, Profile::Paper).global);
            assert!(plan(&parse, Profile::ReleasedCode).global);
        }
        assert!(plan(&parse("All.", "all", "other"), Profile::Corrected).global);
    }

    #[test]
    fn bigger_with_a_full_stop_is_judged_except_by_the_released_scripts() {
        let parse = Parse { size: "bigger.".into(), ..parse("cat", "cat", "change size") };
        assert_eq!(plan(&parse, Profile::Corrected).size, SizeWord::Bigger);
        assert_eq!(plan(&parse, Profile::ReleasedCode).size, SizeWord::None);
    }

    #[test]
    fn replacing_implies_that_size_and_place_stay() {
        let parse = parse("cat", "dog", "replace");
        assert_eq!(
            (plan(&parse, Profile::Paper).size, plan(&parse, Profile::Paper).position),
            (SizeWord::Unchanged, PositionWord::Unchanged)
        );
        assert_eq!(plan(&parse, Profile::ReleasedCode).position, PositionWord::None);
    }

    #[test]
    fn the_reading_is_told_in_words() {
        let told = |parse: &Parse| change_in_words(parse, Profile::Corrected);
        assert_eq!(told(&parse("cat", "dog", "replace")), "\"cat\" becomes \"dog\"");
        assert_eq!(told(&parse("cat", "none", "remove")), "\"cat\" goes away");
        assert_eq!(told(&parse("all", "all", "other")), "the whole picture changes");
        let pizza = Parse { added_object: "pizza".into(), ..parse("none", "pizza", "add") };
        assert_eq!(told(&pizza), "\"pizza\" comes in, nothing is named that it is added to");
        let star = Parse { being_added: "house".into(), added_object: "star".into(), ..parse("none", "house and star", "add") };
        assert_eq!(told(&star), "\"star\" comes in, it is added to \"house\", and the result is \"house and star\"");
    }

    #[test]
    fn the_phrases_are_a_step_of_their_own() {
        let told = |parse: Parse, global| {
            let parts = crate::domain::Parts {
                size: Outcome::Value(1.0),
                position: Outcome::Value(1.0),
                modify: Outcome::Value(0.1),
                preserve: Outcome::Value(0.9),
            };
            let step = phrases(&Score { parse, ..Score::of_parts(Profile::Corrected, global, parts) });
            assert_eq!(step.kind, TraceKind::Phrase);
            step.text
        };
        let text = told(parse("cat", "dog", "replace"), false);
        assert_eq!(text, "The detector looks for \"cat\" on the source image and for \"dog\" on the edited image.");
        let text = told(parse("cat", "none", "remove"), false);
        assert_eq!(text, "The detector looks for \"cat\" on the source image and for nothing on the edited image.");
        assert_eq!(told(parse("all", "all", "other"), true), "No phrase is looked for: the whole picture was to change.");
    }

    #[test]
    fn an_addition_looks_for_its_reference_and_for_the_new_thing() {
        let parse = Parse { being_added: "house".into(), added_object: "star".into(), ..parse("None.", "house and star", "add") };
        let plan = plan(&parse, Profile::Corrected);
        assert!(plan.addition && !plan.removal);
        assert_eq!((plan.source_phrase.as_deref(), plan.edit_phrase.as_deref()), (Some("house"), Some("star")));
    }
}
