//! What the networks are asked, and what becomes of what they answer.

use editscope::domain::{Detection, Mask, Profile, Rect, Score, Size, TraceKind};
use editscope::metrics::ports::PortError;
use image::RgbImage;

use crate::{CAT, Case, DOG, Edges, fallbacks, na, value};

#[test]
fn each_network_is_asked_once_for_each_thing() {
    let mut case = Case::replace().found("cat", &[CAT]).found("dog", &[DOG]);
    case.score(Profile::Corrected);
    assert_eq!(case.detector.calls, [(100, "cat".to_owned()), (110, "dog".to_owned())]);
    assert_eq!(case.segmenter.calls.len(), 2);
    assert_eq!(case.encoder.text_calls, [["dog", "cat"]]);
    let mut global = Case::global();
    global.score(Profile::Corrected);
    assert!(global.detector.calls.is_empty() && global.segmenter.calls.is_empty());
}

#[test]
fn the_segmenter_is_prompted_as_each_profile_says() {
    let (source, edit) = (100, 110);
    let (cat, dog) = (vec![CAT.0], vec![DOG.0]);
    let full = || Case::replace().found("cat", &[CAT]).found("dog", &[DOG]);
    let no_dog = || Case::replace().found("cat", &[CAT]);
    let no_cat = || Case::replace().found("dog", &[DOG]);
    let removal = || Case::removal().found("cat", &[CAT]);
    let addition = || Case::addition("above").found("house", &[CAT]).found("star", &[DOG]);
    let table = [
        (full(), Profile::Corrected, vec![(source, cat.clone()), (edit, dog.clone())]),
        (full(), Profile::Paper, vec![(source, cat.clone()), (edit, dog.clone())]),
        (full(), Profile::ReleasedCode, vec![(source, cat.clone()), (edit, cat.clone())]),
        (no_dog(), Profile::Corrected, vec![(source, cat.clone()), (edit, cat.clone())]),
        (no_dog(), Profile::Paper, vec![(source, cat.clone())]),
        (no_dog(), Profile::ReleasedCode, vec![]),
        (no_cat(), Profile::Corrected, vec![(edit, dog.clone())]),
        (no_cat(), Profile::Paper, vec![(edit, dog.clone())]),
        (no_cat(), Profile::ReleasedCode, vec![]),
        (removal(), Profile::Corrected, vec![(source, cat.clone()), (edit, cat.clone())]),
        (removal(), Profile::Paper, vec![(source, cat.clone())]),
        (removal(), Profile::ReleasedCode, vec![(source, cat)]),
        (addition(), Profile::Corrected, vec![(edit, dog.clone())]),
        (addition(), Profile::Paper, vec![(edit, dog.clone())]),
        (addition(), Profile::ReleasedCode, vec![(edit, dog)]),
    ];
    for (n, (mut case, profile, expected)) in table.into_iter().enumerate() {
        let score = case.score(profile);
        assert_eq!(case.segmenter.calls, expected, "row {n}, {profile}");
        if expected.is_empty() {
            assert!(!fallbacks(&score, TraceKind::Mask).is_empty(), "row {n}: the empty mask is told");
            assert!(score.mask.unwrap().to_mask().unwrap().is_empty(), "row {n}");
        }
    }
}

#[test]
fn a_person_overrides_boxes_and_mask() {
    let mut case = Case::replace().found("cat", &[CAT]).found("dog", &[DOG]);
    let box_in_source =
        Detection { rect_in_image: Rect::new(600.0, 300.0, 800.0, 400.0), phrase: "cat".into(), confidence: 1.0, tokens: Vec::new() };
    case.overrides.source_boxes = Some(vec![box_in_source.clone()]);
    let score = case.score(Profile::Corrected);
    assert_eq!(score.boxes.source, [box_in_source]);
    assert_eq!(score.candidates.source.len(), 1, "what the detector found is kept beside");
    assert_eq!(score.crop_in_bpm500.map(|c| c.to_array()), Some([275.0, 275.0, 425.0, 425.0]));
    assert_eq!(value(&score.parts.position), 0.0);
    // A mask at image size of the source comes back as it was drawn.
    let drawn = Mask::from_fn(Size::new(1000, 500), |x, y| (x + y) % 2 == 0 && x < 500);
    case.overrides.mask = Some(drawn.clone());
    case.segmenter.calls.clear();
    let score = case.score(Profile::Corrected);
    assert!(case.segmenter.calls.is_empty());
    assert_eq!(score.mask.unwrap().to_mask().unwrap(), drawn);
    let global = {
        let mut global = Case::global();
        global.overrides = case.overrides.clone();
        global.score(Profile::Corrected)
    };
    assert!(global.trace.iter().any(|s| s.text.contains("not used")), "{:?}", global.trace);
}

#[test]
fn the_threshold_moves_boxes_without_losing_candidates() {
    let mut case = Case::replace().found("cat", &[([0.0, 0.0, 50.0, 50.0], 0.3), CAT, ([0.0, 0.0, 9.0, 9.0], 0.06)]).found("dog", &[DOG]);
    let count = |score: &Score| (score.boxes.source.len(), score.candidates.source.len());
    // A confidence must exceed the threshold: 0.3 does not exceed 0.3.
    assert_eq!(count(&case.score(Profile::Corrected)), (1, 3));
    case.box_threshold = 0.29;
    assert_eq!(count(&case.score(Profile::Corrected)), (2, 3));
    case.box_threshold = 0.95;
    let score = case.score(Profile::Corrected);
    assert_eq!(count(&score), (0, 3));
    assert!(fallbacks(&score, TraceKind::Boxes)[0].contains("0.90"), "the best candidate is told");
}

#[test]
fn unequal_sizes_are_told_and_stretched() {
    let told = |case: &mut Case| case.score(Profile::Corrected).trace.iter().any(|s| s.text.contains("1000×500"));
    assert!(told(&mut Case::removal().found("cat", &[CAT])));
    assert!(!told(&mut Case::removal().found("cat", &[CAT]).greys(1, 2)));
}

#[test]
fn texts_are_lower_case_and_trimmed_and_cuts_are_told() {
    let mut case = Case::new([" Red CAT ", "Dog", "replace", "none", "none", "none", "none"]).found("Red CAT", &[CAT]).found("Dog", &[DOG]);
    case.encoder.tokens_cut = 5;
    let score = case.score(Profile::Corrected);
    assert_eq!(case.encoder.text_calls, [["dog", "red cat"]]);
    let told = fallbacks(&score, TraceKind::Direction);
    assert!(told.len() == 2 && told[0].contains('5'), "{told:?}");
}

#[test]
fn boxes_of_no_area_and_outside_the_picture_do_no_harm() {
    let mut flat = Case::replace().found("cat", &[([100.0, 100.0, 100.0, 200.0], 0.9)]).found("dog", &[DOG]);
    for profile in [Profile::Corrected, Profile::Paper] {
        let score = flat.score(profile);
        assert!(na(&score.parts.size).contains("no area") && na(&score.parts.modify).contains("no crop"));
        assert!(!fallbacks(&score, TraceKind::Size).is_empty());
    }
    let mut outside = Case::replace().found("cat", &[([600.0, 600.0, 700.0, 700.0], 0.9)]).found("dog", &[DOG]);
    assert!(na(&outside.score(Profile::Corrected).parts.modify).contains("no crop"));
    let many: Vec<(Edges, f32)> = (0..500u16).map(|i| ([f32::from(i) * 0.5, 0.0, f32::from(i) * 0.5 + 100.0, 100.0], 0.5)).collect();
    let score = Case::replace().found("cat", &many).found("dog", &many).score(Profile::Corrected);
    assert_eq!((score.boxes.edit.len(), value(&score.parts.size), value(&score.parts.position)), (500, 1.0, 0.5));
}

#[test]
fn networks_that_answer_wrongly_are_failures_that_name_them() {
    let case = || Case::replace().found("cat", &[CAT]).found("dog", &[DOG]);
    let failure = |mut case: Case| match case.try_score(Profile::Corrected) {
        Err(PortError::Failed { network, reason }) => format!("{network}: {reason}"),
        other => panic!("should have failed: {other:?}"),
    };
    let mut few = case();
    few.encoder.wrong_pictures = Some(vec![vec![1.0; 4]]);
    assert_eq!(failure(few), "image-text encoder: it returned 1 features of pictures for 2");
    let mut not_finite = case();
    not_finite.encoder.wrong_pictures = Some(vec![vec![1.0, f32::NAN, 0.0, 0.0], vec![1.0; 4]]);
    assert!(failure(not_finite).contains("NaN"));
    let mut no_mask = case();
    no_mask.segmenter.wrong = Some(Vec::new());
    assert_eq!(failure(no_mask), "segmenter: it returned 0 masks for 1 boxes");
    let mut small = case();
    small.segmenter.wrong = Some(vec![Mask::full(Size::new(4, 4))]);
    assert!(failure(small).contains("4×4"));
    let mut nothing = case();
    nothing.source = RgbImage::new(0, 0);
    assert_eq!(failure(nothing), "metric: the source has no pixels");
}

#[test]
fn a_segmenter_that_finds_nothing_is_told() {
    let mut case = Case::removal().found("cat", &[CAT]);
    case.segmenter.wrong = Some(vec![Mask::empty(Size::BPM500)]);
    let score = case.score(Profile::Corrected);
    assert!(fallbacks(&score, TraceKind::Mask).iter().any(|t| t.contains("found nothing in the boxes")));
}

#[test]
fn doubt_and_further_edits_of_a_parse_are_told() {
    let mut case = Case::removal().found("cat", &[CAT]);
    case.parse.doubtful = Some("two verbs".to_owned());
    case.parse.more_edits = true;
    assert_eq!(fallbacks(&case.score(Profile::Corrected), TraceKind::Parse).len(), 2);
}
