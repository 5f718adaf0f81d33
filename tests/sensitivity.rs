//! The curves of how firm a score is, against judging the pair anew at single settings.

use editscope::domain::mask_ops::{dilate, erode};
use editscope::domain::{Bpm500, Detection, ImageSpace, Mask, Outcome, Parse, Point, Profile, Rect, Scale, Size};
use editscope::metrics::bpm::{Canvases, Overrides, PairInput, Partial, Settings, judge, sensitivity};
use editscope::metrics::ports::{Detector, ImageTextEncoder, Networks, PortError, Segmenter, TextFeature};
use image::{Rgb, RgbImage};

/// Three boxes of confidence 0.2, 0.4 and 0.55; masks are discs in their boxes.
struct Fake;

const BOXES: [([f32; 4], f32); 3] =
    [([20.0, 30.0, 180.0, 190.0], 0.2), ([200.0, 60.0, 420.0, 300.0], 0.4), ([90.0, 250.0, 330.0, 470.0], 0.55)];

impl Detector for Fake {
    fn detect(&mut self, picture: &RgbImage, phrase: &str) -> Result<Vec<Detection>, PortError> {
        let image_from_bpm500 = Scale::<ImageSpace, Bpm500>::stretch(Size::new(picture.width(), picture.height()), Size::BPM500);
        let found = |&([x0, y0, x1, y1], confidence): &([f32; 4], f32)| Detection {
            rect_in_image: image_from_bpm500 * Rect::new(x0, y0, x1, y1),
            phrase: phrase.to_owned(),
            confidence,
            tokens: Vec::new(),
        };
        Ok(BOXES.iter().map(found).collect())
    }
}

impl Segmenter for Fake {
    fn segment(&mut self, _: &RgbImage, boxes: &[Rect<Bpm500>]) -> Result<Vec<Mask>, PortError> {
        let disc = |b: &Rect<Bpm500>| {
            let (center, radius) = (b.center(), b.width().min(b.height()) / 2.0);
            Mask::from_fn(Size::BPM500, |x, y| {
                let p = Point::<Bpm500>::new(x as f32 + 0.5, y as f32 + 0.5);
                (p.x - center.x).hypot(p.y - center.y) < radius
            })
        };
        Ok(boxes.iter().map(disc).collect())
    }
}

impl ImageTextEncoder for Fake {
    fn encode_pictures(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
        let mean = |p: &RgbImage, channel: usize| p.pixels().map(|p| f32::from(p.0[channel])).sum::<f32>() / p.pixels().len() as f32;
        Ok(pictures.iter().map(|picture| vec![mean(picture, 0), mean(picture, 1), mean(picture, 2)]).collect())
    }

    fn encode_texts(&mut self, texts: &[&str]) -> Result<Vec<TextFeature>, PortError> {
        Ok(texts.iter().map(|text| TextFeature { values: vec![text.len() as f32, 1.0, 2.0], tokens_cut: 0 }).collect())
    }
}

struct Bench {
    source: RgbImage,
    edit: RgbImage,
    parse: Parse,
    canvases: Canvases,
}

impl Bench {
    fn new() -> Self {
        let source = RgbImage::from_fn(500, 500, |x, y| Rgb([(x * 7 + y * 3) as u8, (x ^ y) as u8, (x + y) as u8]));
        let edit = RgbImage::from_fn(500, 500, |x, y| Rgb([(x * 5) as u8, (y * 3) as u8, (x * y) as u8]));
        let mut parse = Parse::default();
        for (name, value) in Parse::FIELDS.into_iter().zip(["cat", "tiger", "replace", "none", "none", "unchanged", "unchanged"]) {
            *parse.field_mut(name).expect("a name of FIELDS") = value.to_owned();
        }
        let canvases = Canvases::new(&source, &edit).expect("pictures with pixels");
        Self { source, edit, parse, canvases }
    }

    fn with<T>(&self, overrides: &Overrides, ask: impl FnOnce(&PairInput<'_>, &mut Networks<'_>) -> T) -> T {
        let input =
            PairInput { source: &self.source, edit: &self.edit, instruction: "make the cat a tiger", parse: &self.parse, overrides };
        let (mut detector, mut segmenter, mut encoder) = (Fake, Fake, Fake);
        ask(&input, &mut Networks { detector: &mut detector, segmenter: &mut segmenter, encoder: &mut encoder })
    }

    fn judged(&self, box_threshold: f32, overrides: &Overrides) -> Partial {
        let settings = Settings { box_threshold, ..Settings::new(Profile::Corrected) };
        self.with(overrides, |input, networks| judge(input, &self.canvases, &settings, networks)).expect("nothing fails")
    }
}

#[test]
fn each_threshold_gives_what_judging_with_it_gives() {
    let bench = Bench::new();
    let settings = Settings::new(Profile::Corrected);
    let curve = bench.with(&Overrides::default(), |input, networks| {
        sensitivity::by_box_threshold(input, &bench.canvases, &settings, networks).expect("nothing fails")
    });
    assert_eq!((curve.len(), curve[0].at, curve[55].at), (56, 0.05, 0.6));
    // Three boxes, two, one, none; and the steps between them.
    let mut seen = Vec::new();
    for percent in [5, 19, 20, 25, 30, 39, 40, 54, 55, 60] {
        let point = &curve[percent - 5];
        let direct = bench.judged(percent as f32 / 100.0, &Overrides::default()).score;
        assert!((point.at - percent as f64 / 100.0).abs() < 1e-9);
        assert_eq!(point.parts, direct.parts, "at {percent} %");
        assert_eq!(point.mask.as_deref(), direct.mask.as_ref(), "at {percent} %");
        if seen.last() != Some(&direct.parts) {
            seen.push(direct.parts);
        }
    }
    assert!(seen.len() >= 4, "the four choices of boxes differ: {seen:?}");
}

#[test]
fn each_growth_gives_what_judging_with_the_grown_mask_gives() {
    let bench = Bench::new();
    let ignore = Mask::from_fn(Size::new(50, 50), |x, y| x < 20 && y < 9);
    for ignore in [None, Some(ignore)] {
        let now = bench.judged(0.3, &Overrides { ignore: ignore.clone(), ..Overrides::default() });
        let mask = now.mask_in_bpm500.as_ref().expect("boxes were found");
        let parts = &now.score.parts;
        let curve = sensitivity::by_growth(&bench.canvases, (mask, ignore.as_ref()), Profile::Corrected, parts);
        for growth in [-20, -7, 0, 1, 12, 20] {
            let grown = if growth < 0 { erode(mask, -growth as u32) } else { dilate(mask, growth as u32) };
            let direct = bench.judged(0.3, &Overrides { mask: Some(grown), ignore: ignore.clone(), ..Overrides::default() });
            let (direct, point) = (direct.score.parts, &curve[(growth + 20) as usize]);
            assert_eq!(point.at, f64::from(growth));
            let close = |a: &Outcome<f64>, b: &Outcome<f64>| (a.value().expect("judged") - b.value().expect("judged")).abs() < 1e-9;
            assert!(close(&direct.preserve, &point.parts.preserve), "{growth}: {direct:?} instead of {:?}", point.parts);
            assert_eq!((&direct.size, &direct.position, &direct.modify), (&parts.size, &parts.position, &parts.modify));
        }
        assert_eq!(curve[20].parts.preserve.value().map(|value| (value * 1e9).round()), parts.preserve.value().map(|v| (v * 1e9).round()));
    }
}
