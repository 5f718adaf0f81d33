//! The resizes against Pillow and OpenCV, bit for bit. `tests/golden/generate.py --only resize` made the pictures.

use std::path::{Path, PathBuf};

use editscope::domain::Size;
use editscope::imaging::decode::{DecodeOptions, decode};
use editscope::imaging::resize::{PilFilter, cv2_resize_linear, pil_resize};
use image::RgbImage;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/resize")
}

fn picture(name: &str) -> RgbImage {
    decode(&folder().join(name), &DecodeOptions::default()).expect("a fixture decodes").rgb
}

fn index() -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join("index.json")).expect("the index is there")).expect("the index is JSON")
}

fn size(case: &Value) -> Size {
    let side = |name: &str| u32::try_from(case[name].as_u64().expect("a side is a number")).expect("a side fits");
    Size::new(side("width"), side("height"))
}

#[test]
fn every_small_case_is_exact() {
    let index = index();
    let cases = index["cases"].as_array().expect("cases is a list");
    assert!(cases.len() >= 40, "the fixture has lost cases");
    for case in cases {
        let text = |name: &str| case[name].as_str().expect("a name is text");
        let source = picture(text("source"));
        let out = match text("kind") {
            "pil-bicubic" => pil_resize(&source, size(case), PilFilter::Bicubic),
            "pil-bilinear" => pil_resize(&source, size(case), PilFilter::Bilinear),
            "opencv-bilinear" => cv2_resize_linear(&source, size(case)),
            other => panic!("unknown kind {other}"),
        };
        let expected = picture(text("output"));
        assert_eq!(out.dimensions(), expected.dimensions(), "{case}");
        let worst = out.as_raw().iter().zip(expected.as_raw()).map(|(a, b)| a.abs_diff(*b)).max();
        assert_eq!(worst, Some(0), "{case}");
    }
}

/// FNV-1a, 64 bits (offset basis and prime of the published algorithm).
fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_canvas_is_exact_from_every_size() {
    let index = index();
    let cases = index["canvas500"].as_array().expect("canvas500 is a list");
    assert!(cases.len() >= 8, "the fixture has lost cases");
    for case in cases {
        let Size { width, height } = size(case);
        let source =
            RgbImage::from_fn(width, height, |x, y| image::Rgb([0, 1, 2].map(|c| ((7 * x + 13 * y + 29 * c + (x * y) % 251) % 256) as u8)));
        let out = cv2_resize_linear(&source, Size::BPM500);
        assert_eq!(format!("{:016x}", fnv1a64(out.as_raw())), case["fnv1a64"].as_str().expect("a hash is text"), "{case}");
    }
}
