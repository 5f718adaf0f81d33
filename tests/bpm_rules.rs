//! The rules of the metric, each against a hand calculation, over networks that answer as a test tells them (`bpm.md` sections 2-6 and 11).
//!
//! The source is flat grey 100 (1000×500), the edit flat grey 110 (500×500) unless a test says otherwise; boxes are written on the canvas.

use std::collections::HashMap;

use editscope::domain::{Bpm500, Detection, ImageSpace, Mask, Outcome, Parse, Profile, Rect, Scale, Score, Size, TraceKind};
use editscope::metrics::bpm::{Overrides, PairInput, Settings, score_pair};
use editscope::metrics::ports::{Detector, ImageTextEncoder, Networks, PortError, Segmenter, TextFeature};
use image::{Rgb, RgbImage};

type Edges = [f32; 4];

/// The grey of a picture's first pixel tells which picture a network was given.
fn grey(picture: &RgbImage) -> u8 {
    picture.get_pixel(0, 0).0[0]
}

/// Finds what the test put there, by phrase.
#[derive(Default)]
struct FakeDetector {
    found: HashMap<String, Vec<(Edges, f32)>>,
    calls: Vec<(u8, String)>,
}

impl Detector for FakeDetector {
    fn detect(&mut self, picture: &RgbImage, phrase: &str) -> Result<Vec<Detection>, PortError> {
        self.calls.push((grey(picture), phrase.to_owned()));
        let image_from_bpm500 = Scale::<ImageSpace, Bpm500>::stretch(Size::new(picture.width(), picture.height()), Size::BPM500);
        let boxes = self.found.get(phrase).cloned().unwrap_or_default();
        Ok(boxes
            .into_iter()
            .map(|([x0, y0, x1, y1], confidence)| Detection {
                rect_in_image: image_from_bpm500 * Rect::new(x0, y0, x1, y1),
                phrase: phrase.to_owned(),
                confidence,
                tokens: Vec::new(),
            })
            .collect())
    }
}

/// Fills the boxes it is given.
#[derive(Default)]
struct FakeSegmenter {
    calls: Vec<(u8, Vec<Edges>)>,
    /// Answer with this instead.
    wrong: Option<Vec<Mask>>,
}

impl Segmenter for FakeSegmenter {
    fn segment(&mut self, picture: &RgbImage, boxes: &[Rect<Bpm500>]) -> Result<Vec<Mask>, PortError> {
        assert_eq!(picture.dimensions(), (500, 500));
        self.calls.push((grey(picture), boxes.iter().map(Rect::to_array).collect()));
        let inside = |b: &Rect<Bpm500>, x: u32, y: u32| b.contains(editscope::domain::Point::new(x as f32 + 0.5, y as f32 + 0.5));
        Ok(self.wrong.clone().unwrap_or_else(|| boxes.iter().map(|b| Mask::from_fn(Size::BPM500, |x, y| inside(b, x, y))).collect()))
    }
}

/// A picture's feature is its middle pixel and 1; a text's is what the test says, else (0, 0, 0, 1).
#[derive(Default)]
struct FakeEncoder {
    texts: HashMap<String, [f32; 4]>,
    tokens_cut: usize,
    text_calls: Vec<Vec<String>>,
    pictures_seen: Vec<(u32, u32)>,
    wrong_pictures: Option<Vec<Vec<f32>>>,
}

impl ImageTextEncoder for FakeEncoder {
    fn encode_pictures(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
        self.pictures_seen.extend(pictures.iter().map(|p| p.dimensions()));
        let feature = |p: &&RgbImage| {
            let [r, g, b] = p.get_pixel(p.width() / 2, p.height() / 2).0.map(f32::from);
            vec![r, g, b, 1.0]
        };
        Ok(self.wrong_pictures.clone().unwrap_or_else(|| pictures.iter().map(feature).collect()))
    }

    fn encode_texts(&mut self, texts: &[&str]) -> Result<Vec<TextFeature>, PortError> {
        self.text_calls.push(texts.iter().map(|&t| t.to_owned()).collect());
        let feature = |t: &&str| self.texts.get(*t).copied().unwrap_or([0.0, 0.0, 0.0, 1.0]).to_vec();
        Ok(texts.iter().map(|t| TextFeature { values: feature(t), tokens_cut: self.tokens_cut }).collect())
    }
}

/// One pair with its fake networks.
struct Case {
    source: RgbImage,
    edit: RgbImage,
    instruction: String,
    parse: Parse,
    overrides: Overrides,
    box_threshold: f32,
    detector: FakeDetector,
    segmenter: FakeSegmenter,
    encoder: FakeEncoder,
}

impl Case {
    /// Fields in the order of `bpm.md` section 1.
    fn new(fields: [&str; 7]) -> Self {
        let mut parse = Parse::default();
        for (name, value) in Parse::FIELDS.into_iter().zip(fields) {
            *parse.field_mut(name).expect("a name of FIELDS") = value.to_owned();
        }
        Self {
            source: RgbImage::from_pixel(1000, 500, Rgb([100; 3])),
            edit: RgbImage::from_pixel(500, 500, Rgb([110; 3])),
            instruction: "do it".to_owned(),
            parse,
            overrides: Overrides::default(),
            box_threshold: 0.3,
            detector: FakeDetector::default(),
            segmenter: FakeSegmenter::default(),
            encoder: FakeEncoder::default(),
        }
    }

    fn replace() -> Self {
        Self::new(["cat", "dog", "replace", "none", "none", "unchanged", "unchanged"])
    }

    fn removal() -> Self {
        Self::new(["cat", "none", "remove", "none", "none", "none", "none"])
    }

    fn addition(position: &str) -> Self {
        Self::new(["none", "house and star", "add", "house", "star", "none", position])
    }

    fn global() -> Self {
        Self::new(["all", "all", "other", "none", "none", "none", "none"])
    }

    fn found(mut self, phrase: &str, boxes: &[(Edges, f32)]) -> Self {
        self.detector.found.insert(phrase.to_owned(), boxes.to_vec());
        self
    }

    fn text(mut self, text: &str, feature: [f32; 4]) -> Self {
        self.encoder.texts.insert(text.to_owned(), feature);
        self
    }

    fn greys(mut self, source: u8, edit: u8) -> Self {
        self.source = RgbImage::from_pixel(500, 500, Rgb([source; 3]));
        self.edit = RgbImage::from_pixel(500, 500, Rgb([edit; 3]));
        self
    }

    fn try_score(&mut self, profile: Profile) -> Result<Score, PortError> {
        let input = PairInput {
            source: &self.source,
            edit: &self.edit,
            instruction: &self.instruction,
            parse: &self.parse,
            overrides: &self.overrides,
        };
        let mut networks = Networks { detector: &mut self.detector, segmenter: &mut self.segmenter, encoder: &mut self.encoder };
        score_pair(&input, &Settings { box_threshold: self.box_threshold, ..Settings::new(profile) }, &mut networks)
    }

    fn score(&mut self, profile: Profile) -> Score {
        let score = self.try_score(profile).expect("the fakes answer");
        for step in &score.trace {
            let mut letters = step.text.chars();
            assert!(letters.next().is_some_and(|c| !c.is_lowercase()) && step.text.ends_with('.'), "no sentence: {}", step.text);
            assert!(step.numbers.values().all(|v| v.is_finite()), "{step:?}");
        }
        score
    }
}

const CAT: (Edges, f32) = ([100.0, 100.0, 200.0, 200.0], 0.9);
const DOG: (Edges, f32) = ([110.0, 100.0, 210.0, 200.0], 0.8);

fn value(outcome: &Outcome<f64>) -> f64 {
    *outcome.value().unwrap_or_else(|| panic!("no value: {outcome:?}"))
}

fn na(outcome: &Outcome<f64>) -> &str {
    match outcome {
        Outcome::NotApplicable(why) => why,
        other => panic!("should not be applicable: {other:?}"),
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
}

fn fallbacks(score: &Score, kind: TraceKind) -> Vec<&str> {
    score.trace.iter().filter(|s| s.fallback && s.kind == kind).map(|s| s.text.as_str()).collect()
}

#[test]
fn a_replacement_is_scored_as_by_hand() {
    // Picture direction (10, 10, 10, 0); text direction (3, 4, 0, 0): cosine (30 + 40) / (√300·5) = 70 / 86.6025 = 0.808290.
    let mut case =
        Case::replace().found("cat", &[CAT]).found("dog", &[DOG]).text("dog", [3.0, 4.0, 0.0, 1.0]).text("cat", [0.0, 0.0, 0.0, 1.0]);
    let score = case.score(Profile::Corrected);
    near(value(&score.parts.modify), 0.808_290_4);
    near(value(&score.parts.preserve), 1.0 - 10.0 / 255.0);
    assert_eq!((value(&score.parts.size), value(&score.parts.position)), (1.0, 1.0));
    // The crop: centre (150, 150), half sides 75.
    assert_eq!(score.crop_in_bpm500.map(|c| c.to_array()), Some([75.0, 75.0, 225.0, 225.0]));
    assert_eq!(case.encoder.pictures_seen, [(150, 150), (150, 150)]);
    // Boxes are told in the pixels of each picture: the source is twice as wide as the canvas.
    assert_eq!(score.boxes.source[0].rect_in_image.to_array(), [200.0, 100.0, 400.0, 200.0]);
    assert_eq!(score.boxes.edit[0].rect_in_image.to_array(), DOG.0);
    // The mask has the size of the source: the union of 100..210 × 100..200, twice as wide.
    let mask = score.mask.expect("a local edit has a mask").to_mask().expect("it is one");
    assert_eq!((mask.size(), mask.count()), (Size::new(1000, 500), 2 * 110 * 100));
    assert!(score.trace.iter().all(|step| !step.fallback), "{:?}", score.trace);
}

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
fn a_missing_box_is_not_applicable_or_forgiven() {
    for (case, side) in [(Case::replace().found("dog", &[DOG]), "source"), (Case::replace().found("cat", &[CAT]), "edited")] {
        let mut case = case;
        let score = case.score(Profile::Corrected);
        assert!(na(&score.parts.size).contains(side) && na(&score.parts.position).contains(side));
        for profile in [Profile::Paper, Profile::ReleasedCode] {
            let score = case.score(profile);
            assert_eq!((value(&score.parts.size), value(&score.parts.position)), (1.0, 1.0), "{profile}");
        }
        assert_eq!(fallbacks(&case.score(Profile::Paper), TraceKind::Size).len(), 1);
    }
}

#[test]
fn modify_without_a_source_box() {
    let mut case = Case::replace().found("dog", &[DOG]).text("dog", [1.0, 0.0, 0.0, 0.0]);
    for profile in [Profile::Corrected, Profile::Paper] {
        assert!(na(&case.score(profile).parts.modify).contains("source"));
    }
    // Released: cosine of the whole edit (110, 110, 110, 1) with (1, 0, 0, 0) = 110 / √36301 = 0.577342.
    let score = case.score(Profile::ReleasedCode);
    near(value(&score.parts.modify), 110.0 / 36_301f64.sqrt());
    assert!(score.crop_in_bpm500.is_none());
    assert!(fallbacks(&score, TraceKind::Modify)[0].contains("whole edited picture"));
}

#[test]
fn modify_without_an_edited_box() {
    let mut case = Case::replace().found("cat", &[CAT]).text("dog", [1.0, 0.0, 0.0, 1.0]);
    // Corrected and paper crop by the source: cosine of (10, 10, 10, 0) and (1, 0, 0, 0) = 1/√3.
    for profile in [Profile::Corrected, Profile::Paper] {
        near(value(&case.score(profile).parts.modify), 1.0 / 3f64.sqrt());
    }
    let score = case.score(Profile::ReleasedCode);
    assert_eq!(value(&score.parts.modify), 0.0);
    assert!(fallbacks(&score, TraceKind::Modify)[0].contains("store a modify of 0"));
    let mut addition = Case::addition("none").found("house", &[CAT]);
    assert!(na(&addition.score(Profile::Corrected).parts.modify).contains("edited"));
    assert_eq!(value(&addition.score(Profile::ReleasedCode).parts.modify), 0.0);
}

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
fn the_reference_of_a_relation_is_the_best_box_or_the_first() {
    // The first source box is far away, the best one is where the dog is.
    let mut case = Case::replace().found("cat", &[([400.0, 400.0, 500.0, 500.0], 0.4), CAT]).found("dog", &[DOG]);
    assert_eq!(value(&case.score(Profile::Corrected).parts.position), 1.0);
    let mut added = Case::addition("unchanged").found("house", &[([400.0, 400.0, 500.0, 500.0], 0.4), CAT]).found("star", &[DOG]);
    assert_eq!(value(&added.score(Profile::Paper).parts.position), 1.0);
    assert_eq!(value(&added.score(Profile::ReleasedCode).parts.position), 0.0);
}

#[test]
fn of_several_edited_boxes_all_some_or_none_satisfy() {
    let big = |x: f32| ([x, 100.0, x + 130.0, 200.0], 0.5);
    let mut case = Case::new(["cat", "cat", "change size", "none", "none", "bigger", "none"]);
    case.detector.found.insert("cat".to_owned(), vec![CAT]);
    let mut with = |boxes: &[(Edges, f32)], profile| {
        case.overrides.edit_boxes = Some(
            boxes
                .iter()
                .map(|&([x0, y0, x1, y1], confidence)| Detection {
                    rect_in_image: Rect::new(x0, y0, x1, y1),
                    phrase: String::new(),
                    confidence,
                    tokens: Vec::new(),
                })
                .collect(),
        );
        value(&case.score(profile).parts.size)
    };
    assert_eq!(with(&[big(0.0), big(200.0)], Profile::Corrected), 1.0);
    assert_eq!(with(&[big(0.0), DOG], Profile::Corrected), 0.5);
    assert_eq!(with(&[DOG, DOG], Profile::Paper), 0.0);
    // The released scripts look at the first box of each image only.
    assert_eq!(with(&[big(0.0), DOG], Profile::ReleasedCode), 1.0);
    assert_eq!(with(&[DOG, big(0.0)], Profile::ReleasedCode), 0.0);
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
fn identical_pictures_have_no_direction() {
    let mut case = Case::replace().found("cat", &[CAT]).found("dog", &[CAT]).text("dog", [1.0, 0.0, 0.0, 0.0]).greys(80, 80);
    // Even if the network answered equal pictures with noise.
    case.encoder.wrong_pictures = Some(vec![vec![1.0, 0.0, 0.0, 0.0], vec![1.001, 0.0, 0.0, 0.0]]);
    for profile in [Profile::Corrected, Profile::Paper] {
        let score = case.score(profile);
        assert!(na(&score.parts.modify).contains("nothing changed in the crop"));
        assert_eq!(value(&score.parts.preserve), 1.0);
    }
    let score = case.score(Profile::ReleasedCode);
    assert_eq!((value(&score.parts.modify), value(&score.parts.preserve)), (0.0, 0.0));
    assert!(value(&score.parts.preserve).is_sign_positive());
}

#[test]
fn a_phrase_that_leads_to_itself_has_no_direction() {
    let mut case = Case::new(["cat", "Cat ", "other", "none", "none", "none", "none"]).found("cat", &[CAT]);
    assert!(na(&case.score(Profile::Corrected).parts.modify).contains("same phrase"));
}

#[test]
fn the_distance_is_real_or_wraps() {
    for (source, edit, real, wrapped) in [(100, 116, 16.0 / 255.0, 0.0), (0, 255, 1.0, 1.0 / 255.0), (0, 15, 15.0 / 255.0, 15.0 / 255.0)] {
        let mut case = Case::removal().greys(source, edit);
        near(value(&case.score(Profile::Corrected).parts.preserve), 1.0 - real);
        near(value(&case.score(Profile::ReleasedCode).parts.preserve), -wrapped);
    }
}

#[test]
fn a_mask_of_everything_leaves_nothing_to_preserve() {
    let mut case = Case::replace().found("cat", &[([0.0, 0.0, 500.0, 500.0], 0.9)]).found("dog", &[DOG]);
    for profile in [Profile::Corrected, Profile::Paper] {
        assert!(na(&case.score(profile).parts.preserve).contains("whole picture"));
    }
    assert_eq!(value(&case.score(Profile::ReleasedCode).parts.preserve), 0.0);
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
fn swapping_the_pictures_turns_modify_round_and_keeps_preserve() {
    let case = || Case::replace().found("cat", &[CAT]).found("dog", &[CAT]).text("dog", [3.0, 4.0, 0.0, 0.0]);
    for profile in Profile::ALL {
        let (there, back) = (case().greys(100, 121).score(profile), case().greys(121, 100).score(profile));
        near(value(&there.parts.modify), -value(&back.parts.modify));
        near(value(&there.parts.preserve), value(&back.parts.preserve));
        assert!(value(&there.parts.modify) > 0.1);
    }
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
