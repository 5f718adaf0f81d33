//! The rules of the metric, each against a hand calculation, over networks that answer as a test tells them (`bpm.md` sections 2-6 and 11).
//!
//! The source is flat grey 100 (1000×500), the edit flat grey 110 (500×500) unless a test says otherwise; boxes are written on the canvas.

mod fields;
mod networks;

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
fn swapping_the_pictures_turns_modify_round_and_keeps_preserve() {
    let case = || Case::replace().found("cat", &[CAT]).found("dog", &[CAT]).text("dog", [3.0, 4.0, 0.0, 0.0]);
    for profile in Profile::ALL {
        let (there, back) = (case().greys(100, 121).score(profile), case().greys(121, 100).score(profile));
        near(value(&there.parts.modify), -value(&back.parts.modify));
        near(value(&there.parts.preserve), value(&back.parts.preserve));
        assert!(value(&there.parts.modify) > 0.1);
    }
}
