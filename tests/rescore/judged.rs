//! What is judged without a network, over networks that know what a test tells them.

use editscope::domain::{Bpm500, Detection, ImageSpace, Mask, Outcome, Parse, Profile, Rect, Scale, Size};
use editscope::engine::{Partial, Pending};
use editscope::metrics::bpm::{Canvases, Overrides, PairInput, Settings, judge};
use editscope::metrics::ports::{Detector, ImageTextEncoder, Networks, PortError, Segmenter, TextFeature};
use image::{Rgb, RgbImage};

/// Networks that know what the test says they know.
struct Fakes {
    boxes: Option<Vec<[f32; 4]>>,
    masks: bool,
    features: bool,
}

struct Fake<'a>(&'a Fakes);

impl Detector for Fake<'_> {
    fn detect(&mut self, picture: &RgbImage, phrase: &str) -> Result<Vec<Detection>, PortError> {
        let boxes = self.0.boxes.as_ref().ok_or(PortError::NotComputed { network: "detector" })?;
        let image_from_bpm500 = Scale::<ImageSpace, Bpm500>::stretch(Size::new(picture.width(), picture.height()), Size::BPM500);
        let found = |[x0, y0, x1, y1]: &[f32; 4]| Detection {
            rect_in_image: image_from_bpm500 * Rect::new(*x0, *y0, *x1, *y1),
            phrase: phrase.to_owned(),
            confidence: 0.9,
            tokens: Vec::new(),
        };
        Ok(boxes.iter().map(found).collect())
    }
}

impl Segmenter for Fake<'_> {
    fn segment(&mut self, _: &RgbImage, boxes: &[Rect<Bpm500>]) -> Result<Vec<Mask>, PortError> {
        if !self.0.masks {
            return Err(PortError::NotComputed { network: "segmenter" });
        }
        let fill = |b: &Rect<Bpm500>| Mask::from_fn(Size::BPM500, |x, y| b.contains(editscope::domain::Point::new(x as f32, y as f32)));
        Ok(boxes.iter().map(fill).collect())
    }
}

impl ImageTextEncoder for Fake<'_> {
    fn encode_pictures(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
        if !self.0.features {
            return Err(PortError::NotComputed { network: "image-text encoder" });
        }
        Ok(pictures.iter().map(|p| vec![f32::from(p.get_pixel(0, 0).0[0]), 1.0]).collect())
    }

    fn encode_texts(&mut self, texts: &[&str]) -> Result<Vec<TextFeature>, PortError> {
        Ok(texts.iter().map(|t| TextFeature { values: vec![t.len() as f32, 1.0], tokens_cut: 0 }).collect())
    }
}

/// Grey 100 against a picture whose left half is grey 151 (a distance of 51/255 = 0.2 on half of the pixels).
fn judged(fakes: &Fakes, overrides: &Overrides) -> Partial {
    let source = RgbImage::from_pixel(500, 500, Rgb([100; 3]));
    let edit = RgbImage::from_fn(500, 500, |x, _| Rgb([if x < 250 { 151 } else { 100 }; 3]));
    let mut parse = Parse::default();
    for (name, value) in Parse::FIELDS.into_iter().zip(["cat", "tiger", "replace", "none", "none", "unchanged", "unchanged"]) {
        *parse.field_mut(name).expect("a name of FIELDS") = value.to_owned();
    }
    let canvases = Canvases::new(&source, &edit).expect("pictures with pixels");
    let input = PairInput { source: &source, edit: &edit, instruction: "make the cat a tiger", parse: &parse, overrides };
    let (mut detector, mut segmenter, mut encoder) = (Fake(fakes), Fake(fakes), Fake(fakes));
    let mut networks = Networks { detector: &mut detector, segmenter: &mut segmenter, encoder: &mut encoder };
    judge(&input, &canvases, &Settings::new(Profile::Corrected), &mut networks).expect("nothing fails")
}

const BOX: [f32; 4] = [100.0, 100.0, 200.0, 200.0];

#[test]
fn what_is_known_is_judged_and_the_rest_is_pending() {
    let known = |boxes: bool, masks, features| Fakes { boxes: boxes.then(|| vec![BOX]), masks, features };
    let all = judged(&known(true, true, true), &Overrides::default());
    assert!(all.pending.is_none());
    // Outside of the box's 100 × 100 pixels, 125,000 − 10,000 pixels of 240,000 differ by 0.2.
    let preserve = 1.0 - 0.2 * 115_000.0 / 240_000.0;
    assert!((all.score.parts.preserve.value().expect("judged") - preserve).abs() < 1e-9);

    let without_clip = judged(&known(true, true, false), &Overrides::default());
    assert_eq!(without_clip.pending, Pending { modify: true, ..Pending::default() });
    assert_eq!(without_clip.score.parts.preserve, all.score.parts.preserve);
    assert_eq!(without_clip.score.parts.size, Outcome::Value(1.0));
    assert!(without_clip.score.parts.modify.value().is_none());

    let only_boxes = judged(&known(true, false, false), &Overrides::default());
    assert_eq!(only_boxes.pending, Pending { boxes: false, mask: true, modify: true });
    assert_eq!(only_boxes.score.parts.position, Outcome::Value(1.0));

    let nothing = judged(&known(false, true, true), &Overrides::default());
    assert_eq!(nothing.pending, Pending { boxes: true, mask: true, modify: true });
    assert_eq!(nothing.complete().expect_err("it waits").to_string(), "detector: not computed yet");
}

#[test]
fn a_drawn_mask_needs_no_network_and_ignored_pixels_count_neither_way() {
    let fakes = Fakes { boxes: None, masks: false, features: false };
    // The left half is the edit: nothing outside it differs.
    let left = Mask::from_fn(Size::new(10, 10), |x, _| x < 5);
    let drawn = judged(&fakes, &Overrides { mask: Some(left), ..Overrides::default() });
    assert_eq!(drawn.score.parts.preserve, Outcome::Value(1.0));
    assert_eq!(drawn.pending, Pending { boxes: true, mask: false, modify: true });
    // The mask is the top row of ten; the left half's other nine rows are ignored: what is left does not differ.
    let top = Mask::from_fn(Size::new(10, 10), |_, y| y == 0);
    let ignore = Mask::from_fn(Size::new(10, 10), |x, y| x < 5 && y > 0);
    let drawn = judged(&fakes, &Overrides { mask: Some(top.clone()), ignore: Some(ignore), ..Overrides::default() });
    assert_eq!(drawn.score.parts.preserve, Outcome::Value(1.0));
    // Without ignoring, half of what is outside differs by 0.2.
    let plain = judged(&fakes, &Overrides { mask: Some(top), ..Overrides::default() });
    assert!((plain.score.parts.preserve.value().expect("judged") - 0.9).abs() < 1e-9);
}
