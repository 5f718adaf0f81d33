//! What the fields of the parse and the kind of an edit lead to.

use editscope::domain::{Profile, TraceKind};

use crate::{CAT, Case, DOG, fallbacks, na, near, value};

#[test]
fn the_text_direction_of_additions_and_removals() {
    let mut addition =
        Case::addition("none").found("star", &[DOG]).text("house and star", [1.0, 0.0, 0.0, 0.0]).text("star", [0.0, 0.0, -1.0, 0.0]);
    // (10, 10, 10, 0) against (1, 0, 0, 0) and against (0, 0, −1, 0).
    near(value(&addition.score(Profile::Corrected).parts.modify), 1.0 / 3f64.sqrt());
    near(value(&addition.score(Profile::Paper).parts.modify), 1.0 / 3f64.sqrt());
    near(value(&addition.score(Profile::ReleasedCode).parts.modify), -1.0 / 3f64.sqrt());
    let mut removal = Case::removal().found("cat", &[CAT]).text("cat", [0.0, 2.0, 0.0, 0.0]);
    for profile in Profile::ALL {
        near(value(&removal.score(profile).parts.modify), -1.0 / 3f64.sqrt());
    }
}

#[test]
fn an_addition_without_an_edited_part_uses_the_added_object_in_corrected() {
    let mut case = Case::new(["none", "none", "add", "house", "star", "none", "none"]).found("star", &[DOG]);
    let score = case.score(Profile::Corrected);
    assert_eq!(case.encoder.text_calls, [["star"]]);
    assert_eq!(fallbacks(&score, TraceKind::Direction).len(), 1);
}

#[test]
fn the_released_scripts_judge_size_and_position_rarely() {
    // A dog twice as large and far away: wrong in size and place.
    let far = ([300.0, 300.0, 500.0, 500.0], 0.8);
    let mut case = Case::replace().found("cat", &[CAT]).found("dog", &[far]);
    for profile in [Profile::Corrected, Profile::Paper] {
        let score = case.score(profile);
        assert_eq!((value(&score.parts.size), value(&score.parts.position)), (0.0, 0.0), "{profile}");
    }
    let score = case.score(Profile::ReleasedCode);
    assert_eq!((value(&score.parts.size), value(&score.parts.position)), (1.0, 1.0));
    assert!(!fallbacks(&score, TraceKind::Size).is_empty() && !fallbacks(&score, TraceKind::Position).is_empty());
    // "bigger." is no word of theirs; here the box did not grow, so everyone else says 0.
    let mut dotted =
        Case::new(["cat", "big cat", "change size", "none", "none", "bigger.", "none"]).found("cat", &[CAT]).found("big cat", &[DOG]);
    assert_eq!(value(&dotted.score(Profile::Corrected).parts.size), 0.0);
    assert_eq!(value(&dotted.score(Profile::ReleasedCode).parts.size), 1.0);
}

#[test]
fn an_addition_is_judged_against_what_it_is_added_to() {
    let above = ([110.0, 0.0, 190.0, 80.0], 0.8);
    for profile in Profile::ALL {
        let mut right = Case::addition("above").found("house", &[CAT]).found("star", &[above]);
        assert_eq!(value(&right.score(profile).parts.position), 1.0, "{profile}");
        let mut wrong = Case::addition("below").found("house", &[CAT]).found("star", &[above]);
        assert_eq!(value(&wrong.score(profile).parts.position), 0.0, "{profile}");
    }
}

#[test]
fn nothing_stated_or_implied_is_not_judged_and_told() {
    let mut case = Case::new(["cat", "happy cat", "other", "none", "none", "none", "none"]).found("cat", &[CAT]);
    let score = case.score(Profile::Corrected);
    assert_eq!((value(&score.parts.size), value(&score.parts.position)), (1.0, 1.0));
    assert_eq!(score.trace.iter().filter(|s| s.text.contains("not judged")).count(), 2);
    // Colour and texture imply "unchanged": a box is missing, so it cannot be judged.
    for kind in ["change color", "change texture", "replace"] {
        let mut case = Case::new(["cat", "red cat", kind, "none", "none", "none", "none"]).found("cat", &[CAT]);
        na(&case.score(Profile::Corrected).parts.size);
    }
}

#[test]
fn a_global_edit_compares_the_picture_with_the_instruction() {
    let mut case = Case::global().text("do it", [1.0, 0.0, 0.0, 0.0]);
    for profile in Profile::ALL {
        let score = case.score(profile);
        near(value(&score.parts.modify), 110.0 / 36_301f64.sqrt());
        assert!(score.global && score.mask.is_none() && score.crop_in_bpm500.is_none());
    }
    let score = case.score(Profile::Corrected);
    for part in [&score.parts.size, &score.parts.position, &score.parts.preserve] {
        na(part);
    }
    // Shown as information: 10 levels of 255 over the whole picture.
    let told = score.trace.iter().find_map(|s| s.numbers.get("whole_picture_distance")).expect("the distance is told");
    near(*told, 10.0 / 255.0);
    let score = case.score(Profile::ReleasedCode);
    assert_eq!([&score.parts.size, &score.parts.position, &score.parts.preserve].map(value), [1.0, 1.0, 0.0]);
    assert!(!fallbacks(&score, TraceKind::Branch).is_empty());
}

#[test]
fn a_global_edit_without_instruction_has_nothing_to_compare_with() {
    let mut case = Case::global();
    case.instruction = "  ".to_owned();
    assert!(na(&case.score(Profile::Corrected).parts.modify).contains("instruction is empty"));
    value(&case.score(Profile::ReleasedCode).parts.modify);
}

#[test]
fn letters_decide_for_the_released_scripts_and_words_for_the_others() {
    for (word, global, addition) in [("wall", true, false), ("small ball", true, false), ("nonesuch sign", false, true)] {
        let mut case = Case::new([word, "dog", "replace", "none", "none", "none", "none"]).found(word, &[CAT]).found("dog", &[DOG]);
        for profile in [Profile::Corrected, Profile::Paper] {
            assert!(!case.score(profile).global, "{word}");
        }
        case.detector.calls.clear();
        let score = case.score(Profile::ReleasedCode);
        assert_eq!(score.global, global, "{word}");
        assert!(!fallbacks(&score, TraceKind::Branch).is_empty(), "{word} is told");
        let looked_for_it = case.detector.calls.iter().any(|(_, phrase)| phrase == word);
        assert_eq!(looked_for_it, !global && !addition, "{word}");
    }
    for word in ["All.", "all", "all of it"] {
        let mut case = Case::new([word, "all", "other", "none", "none", "none", "none"]);
        let score = case.score(Profile::Corrected);
        assert!(score.global);
        assert_eq!(!fallbacks(&score, TraceKind::Branch).is_empty(), word == "all of it", "{word}");
    }
}

#[test]
fn empty_fields_are_none_and_both_none_still_gives_a_score() {
    for fields in [["none", "none", "other", "none", "none", "none", "none"], [""; 7], ["None.", "NONE", "", "", "", "", ""]] {
        let mut case = Case::new(fields);
        for profile in [Profile::Corrected, Profile::Paper] {
            let score = case.score(profile);
            assert!(na(&score.parts.modify).contains("no box"));
            near(value(&score.parts.preserve), 1.0 - 10.0 / 255.0);
            assert!(fallbacks(&score, TraceKind::Boxes).iter().any(|t| t.contains("does not name what is added")));
        }
        assert!(case.detector.calls.is_empty(), "nothing is looked for: {:?}", case.detector.calls);
    }
}

#[test]
fn a_phrase_that_leads_to_itself_has_no_direction() {
    let mut case = Case::new(["cat", "Cat ", "other", "none", "none", "none", "none"]).found("cat", &[CAT]);
    assert!(na(&case.score(Profile::Corrected).parts.modify).contains("same phrase"));
}
