//! The whole metric with real networks against the independent reference in Python (`tests/golden/reference/bpm_reference.py`): six
//! pairs, three profiles, the tiny checkpoints of `tests/golden`. `tests/golden/generate.py --only bpm` made the numbers.
//!
//! Budgets: boxes 0.5 px of 500, masks IoU 0.99, parts 1e-3, the overall 1e-2 (it divides by the width of small ranges).
#![cfg(feature = "flex")]

use std::path::{Path, PathBuf};

use editscope::domain::{Detection, ImageSpace, Mask, Outcome, PaperWeights, Parse, Profile, Scale, Score, Size, rle::Rle};
use editscope::engine::{DevicePreference, MemoryCache, ModelSource, Session};
use editscope::imaging::decode::{DecodeOptions, decode};
use editscope::metrics::bpm::{Overrides, PairInput, Settings, combine, fit_range, score_pair};
use image::RgbImage;
use serde_json::Value;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn picture(name: &str) -> RgbImage {
    decode(&golden().join("bpm").join(name), &DecodeOptions::default()).expect("a fixture decodes").rgb
}

/// A part or an overall: a number, or `{"na": why}`.
fn expect_outcome(what: &str, found: &Outcome<f64>, expected: &Value, budget: f64, worst: &mut f64) {
    match (found, expected.as_f64()) {
        (Outcome::Value(found), Some(expected)) => {
            let apart = (found - expected).abs();
            *worst = worst.max(apart);
            assert!(apart <= budget, "{what}: {found} instead of {expected}");
        }
        (Outcome::NotApplicable(_), None) => assert!(expected.get("na").is_some(), "{what}: {expected}"),
        _ => panic!("{what}: {found:?} instead of {expected}"),
    }
}

fn expect_boxes(what: &str, found: &[Detection], size: Size, expected: &Value, worst: &mut f32) {
    let expected = expected.as_array().expect("boxes are a list");
    assert_eq!(found.len(), expected.len(), "{what}: number of boxes");
    let bpm500_from_image = Scale::<editscope::domain::Bpm500, ImageSpace>::stretch(Size::BPM500, size);
    for (n, (found, expected)) in found.iter().zip(expected).enumerate() {
        let rect = (bpm500_from_image * found.rect_in_image).to_array();
        for (edge, expected) in rect.iter().zip(expected["box"].as_array().expect("a box is a list")) {
            let apart = (edge - expected.as_f64().expect("an edge is a number") as f32).abs();
            *worst = worst.max(apart);
            assert!(apart <= 0.5, "{what}: box {n} is {rect:?} instead of {expected}");
        }
        assert_eq!(found.phrase, expected["phrase"].as_str().expect("a phrase is text"), "{what}: phrase of box {n}");
    }
}

#[test]
fn six_pairs_score_as_in_the_reference() {
    let text = std::fs::read_to_string(golden().join("bpm/expected.json")).expect("the fixture is there");
    let expected: Value = serde_json::from_str(&text).expect("the fixture is JSON");
    let mut session = Session::load(&ModelSource::Folder(golden()), DevicePreference::CPU).expect("the tiny checkpoints load");
    let cache = MemoryCache::default();
    let (mut worst_box, mut worst_mask, mut worst_part, mut worst_overall) = (0f32, 1f64, 0f64, 0f64);
    for profile in Profile::ALL {
        let mut scores: Vec<(String, Score)> = Vec::new();
        for pair in expected["pairs"].as_array().expect("pairs is a list") {
            let name = pair["name"].as_str().expect("a name is text");
            let what = format!("{profile} {name}");
            let wanted = &expected["scores"][profile.name()][name];
            let (source, edit) = (picture(pair["source"].as_str().unwrap()), picture(pair["edit"].as_str().unwrap()));
            let parse: Parse = serde_json::from_value(with_origin(&pair["parse"])).expect("a parse has seven fields");
            let overrides = Overrides::default();
            let instruction = pair["instruction"].as_str().unwrap();
            let input = PairInput { source: &source, edit: &edit, instruction, parse: &parse, overrides: &overrides };
            let score = session
                .with_networks(&cache, &|| false, |nets| score_pair(&input, &Settings::new(profile), nets))
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            let size = |p: &RgbImage| Size::new(p.width(), p.height());
            expect_boxes(&format!("{what} source"), &score.boxes.source, size(&source), &wanted["boxes"]["source"], &mut worst_box);
            expect_boxes(&format!("{what} edit"), &score.boxes.edit, size(&edit), &wanted["boxes"]["edit"], &mut worst_box);
            assert_eq!(score.global, wanted["global"].as_bool().unwrap(), "{what}: global");
            if let Ok(rle) = serde_json::from_value::<Rle>(wanted["mask"].clone()) {
                let mask = rle.to_mask().expect("the fixture's mask is one").resized_nearest(size(&source));
                let found = score.mask.as_ref().expect("a local edit has a mask").to_mask().expect("our mask is one");
                if mask.is_empty() {
                    assert!(found.is_empty(), "{what}: the mask should be empty");
                } else {
                    let iou = mask.iou(&found).unwrap_or(0.0);
                    worst_mask = worst_mask.min(iou);
                    assert!(iou >= 0.99, "{what}: mask IoU {iou}");
                }
                assert_ne!(mask, Mask::full(mask.size()), "{what}: a full mask would test nothing");
            }
            if let Some(crop) = wanted["crop"].as_array() {
                let found = score.crop_in_bpm500.expect("there is a crop").to_array();
                for (edge, expected) in found.iter().zip(crop) {
                    assert!((edge - expected.as_f64().unwrap() as f32).abs() <= 1.0, "{what}: crop {found:?} instead of {crop:?}");
                }
            }
            for part in editscope::domain::Parts::NAMES {
                let found = score.parts.get(part).expect("a name of NAMES");
                expect_outcome(&format!("{what} {part}"), found, &wanted["parts"][part], 1e-3, &mut worst_part);
            }
            scores.push((name.to_owned(), score));
        }
        let range = fit_range(profile, scores.iter().map(|(_, score)| score), "six", "6 edits");
        for (name, score) in &scores {
            let overall = combine(score, Some(&range), PaperWeights::default()).overall;
            let wanted = &expected["scores"][profile.name()][name]["overall"];
            expect_outcome(&format!("{profile} {name} overall"), &overall, wanted, 1e-2, &mut worst_overall);
        }
    }
    println!("worst: boxes {worst_box} px of 500, mask IoU {worst_mask}, parts {worst_part:.2e}, overall {worst_overall:.2e}");
    assert!(worst_box > 0.0 && worst_part > 0.0, "nothing was compared");
}

/// The fixture's parse does not say where it comes from.
fn with_origin(parse: &Value) -> Value {
    let mut parse = parse.clone();
    parse["origin"] = "import".into();
    parse
}
